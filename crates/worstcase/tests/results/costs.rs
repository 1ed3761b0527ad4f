//! `worstcase explain --costs` as far as it goes without a replay: of what it cannot be told.

use crate::fixture::{host_raw, on_cpu, write_cells};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

#[test]
fn only_the_lab_tells_what_a_path_consists_of() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("host");
    write_cells(&run, &[on_cpu(0, &host_raw(1, &[1_000, 2_000, 9_000]))]);
    let mut command = Command::cargo_bin("worstcase").unwrap();
    command.args(["explain", "--costs"]).arg(&run);
    let one_line =
        contains("what its paths consist of (--costs, --on-machine) cannot be told: it was not measured in the lab");
    command
        .assert()
        .code(2)
        .stdout("")
        .stderr(one_line.and(contains('\n').count(1)));
    let mut both = Command::cargo_bin("worstcase").unwrap();
    both.args(["explain", "--costs", "--all"]).arg(&run);
    both.assert().code(2).stdout("").stderr(contains("cannot be used with"));
}
