//! How this extension was built, as `build.rs` and the compiler know it.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The facts by their names in `turntape.BuildInfo`.
#[pyfunction]
pub(crate) fn build_facts(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let facts = PyDict::new(py);
    let features: Vec<&str> = env!("TURNTAPE_BUILD_TARGET_FEATURES")
        .split(',')
        .filter(|feature| !feature.is_empty())
        .collect();
    facts.set_item("version", env!("CARGO_PKG_VERSION"))?;
    facts.set_item("profile", env!("TURNTAPE_BUILD_PROFILE"))?;
    facts.set_item("pgo", env!("TURNTAPE_BUILD_PGO") == "true")?;
    facts.set_item("debug_assertions", cfg!(debug_assertions))?;
    facts.set_item("target", env!("TURNTAPE_BUILD_TARGET"))?;
    facts.set_item("target_features", features)?;
    facts.set_item("rustc", env!("TURNTAPE_BUILD_RUSTC"))?;
    facts.set_item("abi3", cfg!(Py_LIMITED_API))?;
    facts.set_item("free_threaded", cfg!(Py_GIL_DISABLED))?;
    Ok(facts)
}
