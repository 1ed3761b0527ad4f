//! A start that failed leaves nothing in the way of the corrected command.

use crate::program::copy_to;
use crate::setup::{MACHINE, a_setting};
use assert_cmd::cargo::cargo_bin;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::PoisonError;
use tempfile::TempDir;

const NOBODY: u32 = 65_534;

/// What cannot be done, its exit code, and whether that needs a user without rights. OUT is the folder.
const STARTS: [(&str, i32, bool); 9] = [
    ("host run --time 1s --load cmd:/no/such -o OUT", 4, false),
    ("host run --time 1s --load cmd:/no/such -o OUT/below", 4, false),
    ("host run --time 1s --probe response -o OUT", 3, true),
    ("host run --on no-such-host.invalid --time 1s -o OUT", 3, false),
    ("host watch --time 1s --load cmd:/no/such -o OUT", 4, false),
    ("host isolate --cpus 0 --time 100ms -o OUT", 3, true),
    ("host follow --time 100ms -o OUT -- /no/such", 3, false),
    ("host follow --time 100ms -o OUT -- true", 3, true),
    (
        "host try --switch false --back true --time 1s --rounds 1 -o OUT",
        2,
        false,
    ),
];

fn types(words: &str, folder: &TempDir, without_rights: bool) -> Output {
    let out = folder.path().join("out").display().to_string();
    let program = match without_rights {
        true => folder.path().join("worstcase"),
        false => cargo_bin("worstcase"),
    };
    if without_rights {
        // Where the tests run from may not be for everybody.
        copy_to(&program);
    }
    let mut command = Command::new(program);
    command.args(words.replace("OUT", &out).split_whitespace());
    command.env("WORSTCASE_STATE", folder.path().join("state"));
    if without_rights {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.current_dir(folder.path()).output().unwrap()
}

fn folder(without_rights: bool) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    if without_rights {
        std::os::unix::fs::chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    folder
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

#[test]
fn a_start_that_failed_leaves_no_folder() {
    worstcase_skips::needs_root!();
    // What another test sets meanwhile is nothing that can be set.
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut wrong = Vec::new();
    // Where there is nothing to be set, no right is missing.
    let (setting, code) = a_setting().map_or(("timer-migration".into(), 2), |setting| (setting, 3));
    let of_a_setting = format!("host try --only {setting} --time 1s --rounds 1 -o OUT");
    let starts = STARTS.into_iter().chain([(of_a_setting.as_str(), code, true)]);
    for (words, code, without_rights) in starts {
        let folder = folder(without_rights);
        let output = types(words, &folder, without_rights);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.code() != Some(code)
            || is_there(&folder.path().join("out"))
            || said.matches("run as root").count() > 1
        {
            wrong.push(format!("{words}: {}: {said}", output.status));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_folder_that_was_there_stays_and_the_corrected_command_takes_it() {
    let folder = folder(false);
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    let failed = types(
        "host run --time 100ms --cpus 0 --load cmd:/no/such -o OUT",
        &folder,
        false,
    );
    assert!(!failed.status.success());
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
    let corrected = types(
        "host run --time 100ms --cpus 0 --warmup 10ms --load idle -o OUT",
        &folder,
        false,
    );
    assert!(
        corrected.status.success(),
        "{}",
        String::from_utf8_lossy(&corrected.stderr)
    );
    assert!(is_there(&out.join("cells")));
}
