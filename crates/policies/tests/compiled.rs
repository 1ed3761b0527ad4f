//! What is carried is what the source says.

use std::path::Path;
use std::process::Command;

const OBJECTS: [&str; 4] = [
    "o-n.bpf.o",
    "o-1.bpf.o",
    "tests/o-1-without-expired.bpf.o",
    "tests/example.bpf.o",
];
/// The compiler that made them, and its tool.
const COMPILER: [(&str, &str); 2] = [("clang-19", "19.1.7"), ("llvm-strip-19", "19.1.7")];

#[test]
fn the_objects_are_their_sources() {
    let is_here = |(tool, version): &(&str, &str)| {
        let said = Command::new(tool).arg("--version").output();
        said.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).contains(version))
    };
    if !COMPILER.iter().all(is_here) {
        worstcase_skips::skip!(
            "clang-19 and llvm-strip-19 of version 19.1.7 are not here",
            "clang-19 llvm-19"
        );
    }
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let script = crate_folder.join("../../scripts/policies");
    assert!(Command::new(script).arg(folder.path()).status().unwrap().success());
    for object in OBJECTS {
        let [made, carried] =
            [folder.path(), &crate_folder.join("bpf")].map(|at| std::fs::read(at.join(object)).unwrap());
        assert!(
            made == carried,
            "{object} is not what scripts/policies makes of its source"
        );
    }
}
