//! `--chrt` on the real machine: a thread of the kernel has another priority as long as it is measured.

use crate::run::{MeasuringController, until};
use crate::setup::MACHINE;
use std::sync::PoisonError;
use worstcase_contract::priorities::ThreadPriorities;
use worstcase_instruments::sys::sched::Policy;

const ASKED: &str = "ksoftirqd/0=1";

/// The thread's scheduling, if this test may change it and nobody has done so before.
fn scheduled() -> Result<impl Fn() -> String, &'static str> {
    let mut threads = ASKED.parse::<ThreadPriorities>().unwrap().threads().unwrap_or_default();
    let (thread, _) = threads.pop().ok_or("there is no ksoftirqd/0")?;
    let now = move || Policy::of(thread.identity.pid).unwrap().to_string();
    match worstcase_skips::is_root() && now() == "other" {
        true => Ok(now),
        false => Err("it needs root, and ksoftirqd/0 as an ordinary thread"),
    }
}

#[test]
fn a_threads_priority_is_set_told_and_set_back() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let scheduled = worstcase_skips::or_skip!(scheduled());
    let controller = MeasuringController::new();
    let mut run = controller
        .command(&["--chrt", ASKED, "--time", "2s", "--cpus", "0"])
        .spawn()
        .unwrap();
    until("the priority is set", || scheduled() == "fifo:1");
    assert!(run.wait().unwrap().success());
    assert_eq!(scheduled(), "other");
    let record = &controller.records()[0];
    assert_eq!(record["origin"]["applied"][0]["id"], ASKED);
}

#[test]
fn a_killed_run_leaves_no_priority_behind() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let scheduled = worstcase_skips::or_skip!(scheduled());
    let controller = MeasuringController::new();
    let mut run = controller
        .command(&["--chrt", ASKED, "--time", "60s", "--cpus", "0"])
        .spawn()
        .unwrap();
    until("the priority is set", || scheduled() == "fifo:1");
    run.kill().unwrap();
    run.wait().unwrap();
    until("the guard sets it back", || scheduled() == "other");
}

#[test]
fn threads_that_are_not_there_are_told_and_nothing_is_measured() {
    let controller = MeasuringController::new();
    let output = controller.run(&["--chrt", "no-such=1", "--time", "100ms"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("--chrt: no thread of this kernel is called 'no-such': there are "),
        "{said}"
    );
}
