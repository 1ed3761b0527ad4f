//! The commands of README and docs that measure this machine, or look at what was measured on it.

use crate::commands::{Place, copy, do_all};
use assert_cmd::Command;
use std::fs;
use std::os::unix::fs::PermissionsExt;

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
