//! Root writes results into a folder of somebody else, who put links in it.

use crate::fixture::write;
use assert_cmd::cargo::cargo_bin;
use std::fs;
use std::os::unix::fs::{lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SOMEBODY: u32 = 12_345;

/// A run, and `theirs/link.svg`, a link of somebody else to a file of root's, `theirs/folder` to a folder of root's.
struct PlantedLinks {
    dir: tempfile::TempDir,
}

impl PlantedLinks {
    fn new() -> PlantedLinks {
        let planted = PlantedLinks {
            dir: tempfile::tempdir().unwrap(),
        };
        write(&planted.path("run"));
        let theirs = planted.path("theirs");
        fs::create_dir(&theirs).unwrap();
        fs::create_dir(planted.path("roots")).unwrap();
        fs::write(planted.path("roots/file"), "root's").unwrap();
        symlink(planted.path("roots/file"), theirs.join("link.svg")).unwrap();
        symlink(planted.path("roots"), theirs.join("folder")).unwrap();
        for name in ["link.svg", "folder", ""] {
            lchown(theirs.join(name), Some(SOMEBODY), None).unwrap();
        }
        planted
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn give(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(cargo_bin("worstcase"));
        let output = command.args(arguments).current_dir(self.dir.path()).output().unwrap();
        assert_eq!(fs::read(self.path("roots/file")).unwrap(), b"root's", "{arguments:?}");
        assert_eq!(fs::read_dir(self.path("roots")).unwrap().count(), 1, "{arguments:?}");
        output
    }
}

#[test]
fn no_command_writes_through_a_link_of_somebody_else() {
    worstcase_skips::needs_root!();
    let planted = PlantedLinks::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../foreign/tests/data/cyclictest.json");
    assert!(Path::new(sample).exists());
    let commands: [&[&str]; 11] = [
        &["report", "run", "-o", "theirs/link.svg"],
        &["report", "run", "-o", "theirs/folder/new"],
        &["gate", "run", "--write-baseline", "theirs/link.svg"],
        &["gate", "run", "--baseline", "baseline", "--junit", "theirs/link.svg"],
        &["gate", "run", "--baseline", "baseline", "--markdown", "theirs/link.svg"],
        &["plot", "run", "-o", "theirs/folder"],
        &["plot", "run", "-o", "theirs/folder/new"],
        &["history", "run", "-o", "theirs/link.svg"],
        &["man", "-o", "theirs/folder"],
        &["import", sample, "-o", "theirs/folder/run"],
        &[
            "host",
            "watch",
            "--time",
            "1s",
            "-o",
            "watch",
            "--textfile",
            "theirs/link.svg",
        ],
    ];
    planted.give(&["gate", "run", "--write-baseline", "baseline"]);
    for command in commands {
        let output = planted.give(command);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{command:?}");
        assert!(
            said.contains("is a link of user 12345, which is not followed; name the place itself"),
            "{command:?}: {said}"
        );
        assert_eq!(said.lines().count(), 1, "{command:?}: {said}");
    }
}

#[test]
fn a_fifo_is_refused_and_a_pipe_is_not() {
    worstcase_skips::needs_root!();
    let planted = PlantedLinks::new();
    let fifo = planted.path("fifo");
    let (mode, kind) = (rustix::fs::Mode::from_raw_mode(0o600), rustix::fs::FileType::Fifo);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, kind, mode, 0).unwrap();
    let output = planted.give(&["report", "run", "-o", "fifo"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("it is a FIFO; name a file, or /dev/stdout"), "{said}");
    let output = planted.give(&["report", "run", "-o", "/dev/stdout"]);
    assert!(output.status.success());
    assert!(output.stdout.starts_with(b"<!"), "{output:?}");
}
