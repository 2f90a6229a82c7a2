//! Tells the extension how it was built: see `turntape.build_info`.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    // Py_LIMITED_API and Py_GIL_DISABLED, as PyO3 itself was built.
    pyo3_build_config::use_pyo3_cfgs();
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    for (name, value) in [
        ("PROFILE", profile()),
        ("TARGET", variable("TARGET")),
        ("TARGET_FEATURES", variable("CARGO_CFG_TARGET_FEATURE")),
        ("RUSTC", compiler()),
        ("PGO", is_guided().to_string()),
    ] {
        println!("cargo:rustc-env=TURNTAPE_BUILD_{name}={value}");
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// The name of Cargo's profile, which stands only in the path: `…/<profile>/build/<package>/out`. The
/// variable `PROFILE` tells what it inherits from.
fn profile() -> String {
    let out = variable("OUT_DIR");
    let folder = Path::new(&out)
        .ancestors()
        .nth(3)
        .and_then(Path::file_name)
        .and_then(|name| name.to_str());
    match folder {
        // The one profile whose folder has another name.
        Some("debug") => "dev".to_owned(),
        Some(name) => name.to_owned(),
        None => variable("PROFILE"),
    }
}

/// The version of the compiler, as it gives it itself.
fn compiler() -> String {
    let output = Command::new(variable("RUSTC")).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.unwrap_or_default().trim().to_owned()
}

/// Whether a recorded profile guides the optimiser.
fn is_guided() -> bool {
    let flags = variable("CARGO_ENCODED_RUSTFLAGS");
    flags
        .split('\u{1f}')
        .any(|flag| flag.trim_start_matches("-C").starts_with("profile-use"))
}
