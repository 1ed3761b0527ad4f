//! What a load can do to a result: it is root in the machine, beside the probe. What the plugin saw tells.

use crate::controller::{GENERIC, entries, folder, shared};
use crate::culprits::added;
use crate::failures::{failure, one_line};
use assert_cmd::Command;
use std::path::Path;

fn cell(culprit: &str, more: &str, run: &Path) -> Command {
    let add = added();
    let samples = if more.contains("--samples") {
        ""
    } else {
        "--samples 200"
    };
    let words = format!("--kernel {GENERIC} --preempt none --seeds 1 {add} {samples} {more}");
    let mut command = shared().run(&words, run);
    command.arg("--load").arg(format!("cmd:/culprit {culprit}"));
    command
}

/// It must not become a result, however often it is asked for.
fn is_refused(culprit: &str, more: &str, says: &[&str]) {
    let folder = folder();
    for _ in 0..2 {
        let run = folder.path().join("run");
        one_line(cell(culprit, more, &run), 4, says);
        assert_eq!(
            entries(&run.join("cells")),
            Vec::<String>::new(),
            "no result is written"
        );
    }
}

/// Half of what it was in the record; the mark stored what it was.
#[test]
fn samples_that_a_load_halves_are_no_result() {
    // On two CPUs the load has one of its own, and the probe is earlier.
    for (least, more) in [(4150, ""), (3840, "--cpus 2")] {
        let says = [
            " ns in the record, and was ",
            " ns when it was taken",
            "the record is forged or broken",
            "seed 1",
        ];
        is_refused(&format!("halve {least}"), more, &says);
    }
}

/// The probe itself takes what is too little, since it is told another due time; the machine's clock tells. (`wakeup` has its
/// due time in a register.)
#[test]
fn due_times_that_a_load_moves_are_no_result() {
    // By most of what the due time was moved by: the probe may have been on its way already.
    let says = ["does not fit the machine's own clock by 1", " ns: the record is forged"];
    is_refused("hurry 2000", "--probe response --samples 1000", &says);
}

#[test]
fn a_record_that_a_load_sends_is_no_result() {
    let folder = folder();
    let told = |culprit: &str, more: &str| {
        let run = folder.path().join(format!("{culprit} {more}"));
        failure(cell(culprit, more, &run), 4).line
    };
    for culprit in ["record 0", "record 1", "record 140"] {
        let early = told(culprit, "");
        assert!(early.contains("a record came before its load was warm"), "{early}");
    }
    // On a machine that does not stop there: before the first sample, and in the midst of them.
    is_refused(
        "record 1",
        "--cpus 2",
        &["the record has 200 samples, and 0 were taken"],
    );
    is_refused("record 140", "--cpus 2", &["the record has 200 samples, and "]);
    // The probe's own record comes behind it.
    let both = told("record 0", "--cpus 2");
    assert!(both.contains("the record is damaged"), "{both}");
}
