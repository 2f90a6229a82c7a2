//! The extension module `turntape._native`: conversions between Python and [`turntape_core`], nothing else.

mod arguments;
mod classes;
mod data;
mod decoder;
mod errors;
mod events;
mod functions;
mod instance;
mod messages;
mod sse;

use pyo3::prelude::*;

/// The Rust core behind the public names of turntape.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<sse::SseDecoder>()?;
    module.add_class::<decoder::StreamDecoder>()?;
    module.add_function(wrap_pyfunction!(sse::encode_sse, module)?)?;
    module.add_function(wrap_pyfunction!(functions::decode, module)?)?;
    module.add_function(wrap_pyfunction!(functions::decode_message, module)?)?;
    module.add_function(wrap_pyfunction!(functions::decode_many, module)?)?;
    module.add_function(wrap_pyfunction!(functions::parse_response, module)?)?;
    module.add_function(wrap_pyfunction!(functions::assemble, module)?)?;
    module.add_function(wrap_pyfunction!(functions::detect_dialect, module)?)?;
    module.add_function(wrap_pyfunction!(arguments::check_arguments, module)?)?;
    module.add_function(wrap_pyfunction!(arguments::complete_arguments, module)?)?;
    Ok(())
}
