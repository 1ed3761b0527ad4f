//! `make install`, and the version that is told.

use assert_cmd::cargo::cargo_bin;
use std::path::Path;
use std::process::Command;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn make(target: &str, destdir: &Path, program: &Path) -> (bool, String) {
    let output = Command::new("make")
        .current_dir(root())
        .args([target, "PREFIX=/usr"])
        .arg(format!("DESTDIR={}", destdir.display()))
        .arg(format!("WORSTCASE={}", program.display()))
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), error)
}

#[test]
fn program_manual_and_completions_are_put_in_place_and_taken_away() {
    let dir = tempfile::tempdir().unwrap();
    let program = cargo_bin("worstcase");
    let (done, error) = make("install", dir.path(), &program);
    assert!(done, "{error}");
    let places = [
        "bin/worstcase",
        "share/man/man1/worstcase.1",
        "share/man/man1/worstcase-import.1",
        "share/bash-completion/completions/worstcase",
        "share/zsh/site-functions/_worstcase",
        "share/fish/vendor_completions.d/worstcase.fish",
        "share/doc/worstcase/LICENSE",
        "share/doc/worstcase/licences.txt",
    ];
    for place in places {
        let path = dir.path().join("usr").join(place);
        assert!(path.metadata().is_ok_and(|m| m.len() > 0), "{}", path.display());
    }
    let (done, error) = make("uninstall", dir.path(), &program);
    assert!(done, "{error}");
    let left = places
        .iter()
        .filter(|place| dir.path().join("usr").join(place).exists());
    assert_eq!(left.count(), 0);

    let (done, error) = make("install", dir.path(), &dir.path().join("nothing"));
    assert!(!done && error.contains("give 'make build' first"), "{error}");
}

#[test]
fn the_version_has_the_commit_where_there_is_one_and_digests_of_what_results_depend_on() {
    let output = Command::new(cargo_bin("worstcase")).arg("--version").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let version = format!("worstcase {}", env!("CARGO_PKG_VERSION"));
    let (first, carried) = said.trim_end().split_once('\n').unwrap();
    assert!(
        carried.starts_with("of lab results: guest ") && carried.contains("plugin-v4.so "),
        "{carried}"
    );
    let rest = first.strip_prefix(&version).unwrap();
    let commit = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')'));
    let is_commit = |text: &str| text.len() == 12 && text.chars().all(|c| c.is_ascii_hexdigit());
    assert!(rest.is_empty() || commit.is_some_and(is_commit), "{said}");
}
