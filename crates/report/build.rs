//! Puts what the report's page carries where `html` includes it: ECharts, out of the source of a package that Cargo brings.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let out = PathBuf::from(env("OUT_DIR"));
    let workspace = Path::new(&env("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the workspace is there");
    println!("cargo::rerun-if-changed={}", workspace.join("Cargo.lock").display());
    copy_echarts(&workspace, &out);
}

/// The package whose source holds ECharts, where in it, and the feature that makes Cargo bring it.
const ECHARTS: (&str, &str, &str) = (
    "charming",
    "src/asset/echarts-5.5.1.min.js",
    "worstcase-report/echarts-source",
);

/// Cargo is asked where the package lies: it knows, vendored or not, with the network or without.
fn copy_echarts(workspace: &Path, out: &Path) {
    let (package, file, feature) = ECHARTS;
    let metadata = Command::new(env("CARGO"))
        .current_dir(workspace)
        .args(["metadata", "--quiet", "--format-version=1", "--locked"])
        .args(["--features", feature, "--filter-platform", &env("TARGET")])
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .output()
        .expect("cargo runs");
    let said = String::from_utf8_lossy(&metadata.stderr);
    assert!(
        metadata.status.success(),
        "cargo cannot bring the source of {package}: {said}Without a network, `cargo fetch --locked` must have run before"
    );
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).expect("cargo writes JSON");
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let found = packages.find(|p| p["name"] == package);
    let manifest = found.and_then(|p| p["manifest_path"].as_str());
    let folder = Path::new(manifest.expect("Cargo.toml names it")).with_file_name("");
    std::fs::copy(folder.join(file), out.join("echarts.min.js"))
        .unwrap_or_else(|e| panic!("{} of {package} cannot be copied: {e}", file));
}

fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
