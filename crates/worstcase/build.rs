//! The version as `--version` tells it: with the commit, where this is built from its own repository.

use std::path::Path;
use std::process::Command;

fn main() {
    let version = env!("CARGO_PKG_VERSION");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let told = match commit(&root) {
        Some(commit) => format!("{version} ({commit})"),
        None => version.to_string(),
    };
    println!("cargo::rustc-env=WORSTCASE_VERSION={told}");
    println!("cargo::rerun-if-changed=build.rs");
    // Both change with every commit: the one names the branch, the other is written when the branch moves.
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&root, &["rev-parse", "--git-path", file]) {
            println!("cargo::rerun-if-changed={}", root.join(path).display());
        }
    }
}

/// The commit, if the repository is this source's own and not one that it was unpacked into.
fn commit(root: &Path) -> Option<String> {
    let top = git(root, &["rev-parse", "--show-toplevel"])?;
    let same = Path::new(&top).canonicalize().ok()? == root.canonicalize().ok()?;
    same.then(|| git(root, &["rev-parse", "--short=12", "HEAD"])).flatten()
}

fn git(root: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string())
}
