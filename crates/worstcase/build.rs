//! Builds what runs elsewhere (the guest's init, the QEMU plugin once for each API version) and puts it where
//! `payload.rs` includes it, so that the executable is the whole tool.
//!
//! The guest's bytes are part of every lab result: they must not depend on where the source lies, so paths are remapped.
//!
//! It digests the code whose results are kept in the cache, and
//! puts there what the report's page carries: ECharts, out of the source of a package that Cargo brings.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "x86_64-unknown-linux-gnu";

struct Payload {
    package: &'static str,
    profile: &'static str,
    /// Cargo features, or none.
    features: &'static str,
    rustflags: &'static str,
    built: &'static str,
    file: &'static str,
}

const PAYLOADS: &[Payload] = &[
    Payload {
        package: "worstcase-guest",
        profile: "guest",
        features: "",
        rustflags: "-Ctarget-feature=+crt-static",
        built: "worstcase-guest",
        file: "guest",
    },
    Payload {
        package: "worstcase-plugin",
        profile: "plugin",
        features: "api-v1",
        rustflags: "",
        built: "libworstcase_plugin.so",
        file: "plugin-v1.so",
    },
    Payload {
        package: "worstcase-plugin",
        profile: "plugin",
        features: "api-v4",
        rustflags: "",
        built: "libworstcase_plugin.so",
        file: "plugin-v4.so",
    },
];

fn main() {
    let out = PathBuf::from(env("OUT_DIR"));
    let workspace = Path::new(&env("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the workspace is there");
    for part in [
        "crates/probe",
        "crates/guest",
        "crates/plugin",
        "Cargo.toml",
        "Cargo.lock",
    ] {
        println!("cargo::rerun-if-changed={}", workspace.join(part).display());
    }
    for payload in PAYLOADS {
        build(payload, &workspace, &out);
    }
    copy_echarts(&workspace, &out);
    digest_analysis(&workspace);
}

/// The code that decides who owns a section of a census: its results are kept under the digest of this code.
const ANALYSIS: [&str; 4] = [
    "crates/worstcase/src/census",
    "crates/worstcase/src/story",
    "crates/worstcase/src/lab",
    "crates/probe/src",
];

fn digest_analysis(workspace: &Path) {
    let mut digest = Sha256::new();
    for folder in ANALYSIS {
        let folder = workspace.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        add_sources(&folder, &mut digest);
    }
    // Crates that decode instructions have their part in it, too.
    digest.update(std::fs::read(workspace.join("Cargo.lock")).expect("the workspace has a lock file"));
    let hex: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=WORSTCASE_ANALYSIS={hex}");
}

/// All files below a folder, in the order of their names.
fn add_sources(folder: &Path, digest: &mut Sha256) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a folder can be read").path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add_sources(&path, digest);
        } else {
            let source = std::fs::read(&path).expect("a source can be read");
            digest.update((source.len() as u64).to_le_bytes());
            digest.update(source);
        }
    }
}

/// The package whose source holds ECharts, where in it, and the feature that makes Cargo bring it.
const ECHARTS: (&str, &str, &str) = ("charming", "src/asset/echarts-5.5.1.min.js", "worstcase/echarts-source");

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

fn build(payload: &Payload, workspace: &Path, out: &Path) {
    let cargo_home = home::cargo_home().expect("cargo has a home");
    let flags = [
        payload.rustflags.to_string(),
        format!("--remap-path-prefix={}=/worstcase", workspace.display()),
        format!("--remap-path-prefix={}=/cargo", cargo_home.display()),
        format!("--remap-path-prefix={}=/target", out.display()),
    ];
    // A target folder of its own: cargo holds a lock on the one that this script runs under.
    let target_dir = out.join("payloads");
    let status = Command::new(env("CARGO"))
        .current_dir(workspace)
        .args([
            "build",
            "--quiet",
            "--locked",
            "--package",
            payload.package,
            "--profile",
            payload.profile,
        ])
        .args([
            "--no-default-features",
            "--features",
            payload.features,
            "--target",
            TARGET,
        ])
        .arg("--target-dir")
        .arg(&target_dir)
        .env(
            "CARGO_ENCODED_RUSTFLAGS",
            flags
                .iter()
                .filter(|f| !f.is_empty())
                .cloned()
                .collect::<Vec<_>>()
                .join("\x1f"),
        )
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .status()
        .expect("cargo runs");
    assert!(status.success(), "{} could not be built", payload.package);
    let built = target_dir.join(TARGET).join(payload.profile).join(payload.built);
    std::fs::copy(&built, out.join(payload.file)).expect("the built file can be copied");
}

fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
