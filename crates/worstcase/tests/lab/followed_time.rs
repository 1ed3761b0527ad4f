//! What it costs a program of the lab that it is followed: it measures itself, followed and not.

use crate::controller::{GENERIC, folder, shared};
use crate::failures::failure;
use std::path::Path;
use std::process::Command;
use worstcase_results::record::Run;

/// The calls that it makes in each cycle.
const CALLS: u64 = 20;

/// Both numbers behind the words, in ns.
fn own_times(text: &str) -> (u64, u64) {
    let (_, own) = text.split_once("OWN woken ").unwrap_or_else(|| panic!("{text}"));
    let mut numbers = own.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty());
    let mut next = || numbers.next().unwrap().parse().unwrap();
    (next(), next())
}

fn followed(program: &Path, run: &Path) -> (u64, u64) {
    let words = format!("--kernel {GENERIC} --preempt full --seed 1 --load idle --time 200ms");
    let mut command = shared().run(&format!("{words} --program {}", program.display()), run);
    command.args(["--program-args", &CALLS.to_string()]).assert().success();
    let records = Run::open(run).unwrap().records().unwrap();
    own_times(&records[0].console.join("\n"))
}

fn alone(program: &Path, run: &Path) -> (u64, u64) {
    let words = format!("--kernel {GENERIC} --preempt full --seed 1 --probe wakeup --priority 40 --time 300ms");
    let mut command = shared().run(&format!("{words} --add {}", program.display()), run);
    command.args(["--load", &format!("cmd:/usr/bin/own_time {CALLS} fails")]);
    let failed = failure(command, 4);
    own_times(&format!("{}\n{}", failed.line, failed.console))
}

/// The tracer's own code takes no time: what is left is how the kernel goes there, and its reads of the clock.
#[test]
fn a_program_that_is_followed_is_nearly_as_fast_as_alone() {
    let folder = folder();
    let program = folder.path().join("own_time");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/own_time.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-static", "-O2", "-o"]).args([&program, &source]);
    assert!(compiler.status().expect("cc is there, as Rust needs it").success());
    let (woken, ended) = followed(&program, &folder.path().join("followed"));
    let (alone_woken, alone_ended) = alone(&program, &folder.path().join("alone"));
    // With the tracer's time it was 6 050 longer, and 1 490 a call.
    assert!(
        woken > alone_woken && woken - alone_woken < 700,
        "{woken} {alone_woken}"
    );
    let (call, alone_call) = ((ended - woken) / CALLS, (alone_ended - alone_woken) / CALLS);
    assert!(call > alone_call && call - alone_call < 80, "{call} {alone_call}");
}
