//! Digests the code whose results are kept in the cache: other code may come to other results.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// The code that decides who owns a section of a census, and when the probe slept.
const DECIDES: [&str; 9] = [
    "crates/analysis/src",
    "crates/lab/src",
    "crates/contract/src",
    "crates/instruments/src",
    "crates/io/src",
    "crates/wires/src",
    "crates/cell/src",
    "crates/logs/src",
    "crates/costs/src",
];

fn main() {
    let here = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let workspace = Path::new(&here).join("../..");
    let mut digest = Sha256::new();
    for folder in DECIDES {
        let folder = workspace.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        add_sources(&folder, &mut digest);
    }
    // Crates that decode instructions have their part in it, too.
    let lock = workspace.join("Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    digest.update(std::fs::read(lock).expect("the workspace has a lock file"));
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
