//! The commands of README and docs that measure this machine, or look at what was measured on it.

use crate::commands::{Place, copy, do_all};
use crate::setup::{MACHINE, a_setting};
use assert_cmd::Command;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::PoisonError;

#[test]
fn the_documents_commands_do_on_this_machine_what_they_say() {
    worstcase_skips::needs_root!();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = folder.path().join("fill-and-query");
    fs::write(&program, "#!/bin/sh\ntouch \"$WORSTCASE_READY\"\nwhile :; do :; done\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let worstcase = || Command::cargo_bin("worstcase").unwrap();
    let mut measured = worstcase();
    let words = "host run --quiet --probe response --load fork --cpus 0 --time 300ms --warmup 50ms -o measured";
    measured.args(words.split(' ')).current_dir(&folder).assert().success();
    copy(folder.path(), "measured", &["mine"]);
    do_all(Place::Host, folder.path(), worstcase);
}

#[test]
fn the_documents_commands_that_change_settings_do_what_they_say() {
    worstcase_skips::needs_root!();
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    if a_setting().is_none() {
        worstcase_skips::skip!("every setting is as it should be");
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    do_all(Place::Settings, folder.path(), || {
        Command::cargo_bin("worstcase").unwrap()
    });
}
