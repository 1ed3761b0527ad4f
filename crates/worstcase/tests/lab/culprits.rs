//! Ground truth for `worstcase explain`: culprits planted from user space (crates/culprit), each known by construction, and
//! what the breakdowns of the latest samples must say of them under every preemption model that they concern.

use crate::controller::{Controller, GENERIC, RT, folder, shared};
use crate::planted_module;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use worstcase_analysis::breakdown::cause::{Cause, Mechanism};
use worstcase_analysis::breakdown::spans::{ExplainedSample, Span, SpanKind};

/// Bytes of one copy; the kernel copies eight with each instruction.
pub const BYTES: u64 = 1 << 20;
pub const COPY_NS: u64 = BYTES / 8;
/// Instructions of a busy thread, hence ns.
pub const BUSY_NS: u64 = 100_000;
pub const SOCKETS: u64 = 200;
/// Delivering to one socket (a clone, the filters, the queue) is more than so many instructions.
pub const DELIVERY_NS: u64 = 200;
/// Each page takes some hundred instructions.
const MEBIBYTES: u64 = 8;
const TIMERS: u64 = 3_000;
/// Going on to the next timer of a red-black tree takes at least so many.
const NEXT_TIMER_NS: u64 = 10;

/// Instructions of a filter. Each is tried for some hundred system calls, of two kinds.
pub const FILTER: u64 = 100;
pub const TRIED_NS: u64 = 4_000;

const EVERY: [&str; 3] = ["none", "full", "rt"];

/// A breakdown as `--json` gives it.
#[derive(serde::Deserialize)]
pub struct BreakdownAsJson {
    pub sample: ExplainedSample,
    pub cause: Cause,
    pub spans: Vec<Span>,
}

/// The culprits' program, built once: static, as the guest has no libraries.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| built("x86_64-unknown-linux-gnu"))
}

/// The same for arm64, where programs for it can be built.
pub fn program_of_arm64() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| built("aarch64-unknown-linux-gnu"))
}

fn built(triple: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("culprit");
    let status = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["build", "--quiet", "--locked", "--package", "worstcase-culprit"])
        .args(["--profile", "guest", "--target", triple, "--target-dir"])
        .arg(&target)
        .env("CARGO_ENCODED_RUSTFLAGS", "-Ctarget-feature=+crt-static")
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .status();
    assert!(status.unwrap().success(), "the culprits' program could not be built");
    target.join(triple).join("guest/worstcase-culprit")
}

/// The words that put all into a machine by which samples are made late here: the program, and the modules. One subject for all
/// of them is booted once for each preemption model.
pub fn added() -> String {
    format!(
        "--add {}:/culprit --add {}:/planted.ko --add {}:/hostile.ko",
        program().display(),
        planted_module::module().display(),
        planted_module::hostile().display()
    )
}

/// Measures under a culprit and explains; `chosen` are explain's words for which samples.
fn breakdowns(preempt: &str, probe: &str, culprit: &str, chosen: &str) -> Vec<BreakdownAsJson> {
    let add = added();
    let kernel = match preempt {
        "rt" => RT.to_string(),
        model => format!("{GENERIC} --preempt {model}"),
    };
    let folder = folder();
    let cell = format!("--kernel {kernel} --probe {probe} --samples 200 --seeds 1 {add}");
    explained(&cell, &format!("cmd:/culprit {culprit}"), &add, chosen, folder.path())
}

/// Measures a cell under a load, with what was added, in a folder, and explains the samples that `chosen` names.
pub fn explained(cell: &str, load: &str, add: &str, chosen: &str, folder: &Path) -> Vec<BreakdownAsJson> {
    let run = folder.join("run");
    let mut measure = shared().run(cell, &run);
    measure.arg("--load").arg(load);
    measure.assert().success();
    told_of(&run, &format!("{add} {chosen}"))
}

/// The breakdowns of a run, with these words.
pub fn told_of(run: &Path, words: &str) -> Vec<BreakdownAsJson> {
    told_by(shared(), run, words)
}

/// The same with the kernels of a controller.
pub fn told_by(controller: &Controller, run: &Path, words: &str) -> Vec<BreakdownAsJson> {
    let mut explain = controller.worstcase(&format!("explain --json {words}"));
    let done = explain.arg(run).assert().success();
    let said = serde_json::from_slice::<serde_json::Value>(&done.get_output().stdout).unwrap();
    match said.is_array() {
        true => serde_json::from_value(said).unwrap(),
        false => vec![serde_json::from_value(said).unwrap()],
    }
}

/// The breakdowns of the latest samples of a cell, the latest first.
fn latest(preempt: &str, probe: &str, culprit: &str) -> Vec<BreakdownAsJson> {
    let breakdowns = breakdowns(preempt, probe, culprit, "--all -k 2");
    assert_eq!(breakdowns.len(), 2);
    breakdowns
}

impl BreakdownAsJson {
    /// That the first cause is this mechanism, with these words in its sentence, and took so long.
    #[track_caller]
    pub fn names_cause(&self, mechanism: Mechanism, names: &[&str], ns: std::ops::RangeInclusive<u64>) {
        let (sample, cause) = (&self.sample, &self.cause);
        let what = format!("{} {}: {}", sample.preempt, sample.load, cause.sentence);
        assert_eq!(cause.mechanism, mechanism, "{what}");
        for name in names {
            assert!(cause.sentence.contains(name), "no '{name}' in {what}");
        }
        assert!(ns.contains(&cause.length_ns.0), "not {ns:?} ns: {what}");
    }

    /// That a name is nowhere in the first cause, and the sample not as late as the culprit could make it.
    #[track_caller]
    fn acquits(&self, name: &str, ns: u64) {
        let (sample, cause) = (&self.sample, &self.cause);
        let what = format!("{} {}: {}", sample.preempt, sample.load, cause.sentence);
        assert!(!cause.sentence.contains(name), "'{name}' is named: {what}");
        assert!(sample.latency_ns.0 < ns, "as late as {ns} ns: {what}");
    }

    /// Time in functions themselves whose names begin so, of all that spans list.
    fn time_in(&self, begin: &str) -> u64 {
        let functions = self.spans.iter().flat_map(|s| &s.functions);
        let named = functions.filter(|f| f.function.starts_with(begin));
        named.map(|f| f.self_ns.0).sum()
    }
}

#[test]
fn a_long_copy_is_a_stretch_without_a_reschedule_point() {
    let copy = format!("copy {BYTES}");
    let breakdowns = latest("none", "wakeup", &copy);
    for breakdown in &breakdowns {
        // Freeing the copied message follows in the same stretch.
        let names = ["in sendto(2)", "copy_user_generic_string"];
        breakdown.names_cause(Mechanism::NoReschedulePoint, &names, COPY_NS * 9 / 10..=COPY_NS * 5 / 4);
    }
    let copied = breakdowns[0].time_in("copy_user_generic_string");
    assert!((COPY_NS * 9 / 10..=COPY_NS + 100).contains(&copied), "{copied} ns");
    for preempt in ["full", "rt"] {
        for breakdown in latest(preempt, "wakeup", &copy) {
            assert_ne!(breakdown.cause.mechanism, Mechanism::NoReschedulePoint);
            breakdown.acquits("copy_user", COPY_NS);
        }
    }
}

/// Each call takes longer than the window before the due time: what began it is long gone.
#[test]
fn the_system_call_is_known_however_long_ago_it_began() {
    let breakdowns = breakdowns("none", "wakeup", &format!("calls {MEBIBYTES}"), "--all -k 60");
    let kept_by_a_task = [
        Mechanism::NoReschedulePoint,
        Mechanism::PreemptionOff,
        Mechanism::InterruptsOff,
    ];
    let late = breakdowns
        .iter()
        .filter(|b| kept_by_a_task.contains(&b.cause.mechanism));
    let calls: Vec<Option<&str>> = late.map(|b| b.cause.system_call.as_deref()).collect();
    // Those that take longest; which of the shorter ones is met is chance.
    for call in ["mmap", "madvise", "munmap"] {
        assert!(calls.contains(&Some(call)), "no {call}(2) in {calls:?}");
    }
    assert!(!calls.contains(&None), "a call is not known: {calls:?}");
}

#[test]
fn a_thread_of_higher_priority_runs_first() {
    for preempt in EVERY {
        // Enough to have both: those that it is switched in before, and those whose timer interrupts it.
        for breakdown in breakdowns(preempt, "wakeup", &format!("above {BUSY_NS}"), "--all -k 10") {
            let length = BUSY_NS * 9 / 10..=BUSY_NS + 10_000;
            breakdown.names_cause(Mechanism::OtherThread, &["planted-above"], length);
        }
    }
}

#[test]
fn a_lock_owner_that_inherits_priority_runs_first() {
    for preempt in EVERY {
        for breakdown in latest(preempt, "wakeup", &format!("inherit {BUSY_NS}")) {
            let length = BUSY_NS / 2..=BUSY_NS + BUSY_NS / 4;
            breakdown.names_cause(Mechanism::OtherThread, &["planted-owner"], length);
        }
    }
}

#[test]
fn a_lock_owner_that_inherits_nothing_does_not() {
    for preempt in EVERY {
        for breakdown in latest(preempt, "wakeup", &format!("invert {BUSY_NS}")) {
            breakdown.acquits("planted-owner", BUSY_NS / 5);
        }
    }
}

#[test]
fn soft_interrupts_run_first() {
    let flood = format!("flood {SOCKETS}");
    for preempt in ["none", "full"] {
        for breakdown in latest(preempt, "wakeup", &flood) {
            let length = SOCKETS * DELIVERY_NS..=u64::MAX;
            breakdown.names_cause(Mechanism::SoftInterrupt, &["__udp4_lib_rcv"], length);
        }
    }
    for breakdown in latest("rt", "wakeup", &flood) {
        breakdown.acquits("udp", SOCKETS * DELIVERY_NS);
    }
}

/// The timer of `response` expires in the thread ktimers, which needs the lock of soft interrupts. A thread without
/// priority holds it while it receives the flood, and inherits ktimers' priority.
#[test]
fn the_owner_of_the_lock_that_a_wake_up_needs_runs_first() {
    for breakdown in latest("rt", "response", &format!("flood {SOCKETS}")) {
        let length = SOCKETS * DELIVERY_NS..=u64::MAX;
        breakdown.names_cause(Mechanism::LockOwner, &["culprit (", "__udp4_lib_rcv"], length);
        let waits = |span: &Span| matches!(&span.what, SpanKind::OtherThread { task, owns_lock: false, .. } if task.comm == "ktimers/0");
        assert!(breakdown.spans.iter().any(waits), "ktimers is not seen to try first");
    }
}

#[test]
fn interrupts_are_off_while_timers_are_walked() {
    for preempt in ["full", "rt"] {
        for breakdown in latest(preempt, "wakeup", &format!("timers {TIMERS}")) {
            let length = TIMERS * NEXT_TIMER_NS..=u64::MAX;
            breakdown.names_cause(Mechanism::InterruptsOff, &["print_cpu", "rb_next"], length);
        }
    }
}

/// The lock's holder is named, and the function under it that takes the time: all of it is in that one. (Who called it is known only
/// where the system call began after the log.)
#[test]
fn interrupts_are_off_while_a_filter_of_system_calls_is_tried() {
    for breakdown in latest("full", "wakeup", &format!("filters {FILTER}")) {
        let names = [
            "us: do_seccomp",
            "kept interrupts off, for culprit",
            "in seccomp(2), most of it in seccomp_cache_prepare_bitmap",
        ];
        breakdown.names_cause(Mechanism::InterruptsOff, &names, FILTER * TRIED_NS..=u64::MAX);
    }
}

/// printk keeps preemption off while it writes a line out, with interrupts off for part of that. The latest samples were
/// due before it, the sample at 30 % within the part with interrupts off.
#[test]
fn interrupts_are_off_while_a_serial_port_is_written() {
    let console = "console 900";
    for breakdown in latest("none", "wakeup", console) {
        breakdown.names_cause(
            Mechanism::PreemptionOff,
            &["vprintk_emit", "in write(2)", "serial8250_console_write"],
            30_000..=u64::MAX,
        );
    }
    for breakdown in breakdowns("none", "wakeup", console, "--sample p30") {
        breakdown.names_cause(
            Mechanism::InterruptsOff,
            &["console_emit_next_record"],
            9_000..=u64::MAX,
        );
    }
}
