//! Tool arguments.

use pyo3::prelude::*;
use turntape_core::arguments::{self, Invalid};
use turntape_core::json::MAX_ARGUMENT_DEPTH;

/// Say why tool arguments cannot be used: a reason and a sentence, None where they can.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn check_arguments(text: &str) -> Option<(&'static str, String)> {
    let invalid = arguments::check(text).err()?;
    let detail = match invalid {
        Invalid::Malformed(error) => error.to_string(),
        Invalid::TooDeep => format!("more than {MAX_ARGUMENT_DEPTH} levels"),
        Invalid::NotAnObject => "JSON, but no object".to_owned(),
    };
    Some((invalid.as_str(), detail))
}

/// Return JSON text of what can be shown of unfinished tool arguments.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn complete_arguments(text: &str) -> String {
    arguments::complete(text)
}
