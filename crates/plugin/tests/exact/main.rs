//! Exactness against the truth: a bare-metal guest whose clock is the instruction count.
//!
//! Under `-icount shift=N` the guest's time-stamp counter is virtual time: instructions << N while the CPU does not
//! idle. `guest.s` reads it around pieces of code that fault, trap and talk to devices in the middle of blocks, and
//! marks each reading. The plugin's count must differ between two readings by exactly as much as the clock.
//!
//! Needs QEMU (`WORSTCASE_QEMU`, or `qemu-system-x86_64` of the PATH) and fails without it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use worstcase_costs::log::{self, CountedStretch};
use worstcase_costs::{CostEvent, EventCounts};
use worstcase_logs::trace::{self, Event, EventKind};

core::arch::global_asm!(include_str!("guest.s"), options(att_syntax));

unsafe extern "C" {
    static worstcase_guest_start: u8;
    static worstcase_guest_end: u8;
    static worstcase_guest_tick: u8;
    static worstcase_guest_round: u8;
}

/// Where the image is loaded; `BASE` in guest.s.
const BASE: u64 = 0x10_0000;
/// Cases of a round, of which there are two.
const ROUND: usize = 24;
/// Marks of a run: Begin, the rounds, End.
const MARKS: usize = 2 + 2 * ROUND;
/// Calls of the watched entry, in two rounds.
const TICKS: usize = 200;
/// Instructions of the entry, and of what is left of a round after it.
const TICK: u64 = 2;
const REST: u64 = 2;

fn image() -> &'static [u8] {
    let (start, end) = (&raw const worstcase_guest_start, &raw const worstcase_guest_end);
    // SAFETY: guest.s puts both labels around one constant object of this executable.
    unsafe { std::slice::from_raw_parts(start, end.offset_from_unsigned(start)) }
}

fn tick_address() -> u64 {
    address(&raw const worstcase_guest_tick)
}

fn address(label: *const u8) -> u64 {
    BASE + (label as u64 - &raw const worstcase_guest_start as u64)
}

fn qemu() -> PathBuf {
    std::env::var_os("WORSTCASE_QEMU").map_or_else(|| "qemu-system-x86_64".into(), PathBuf::from)
}

/// QEMU's major and minor version; the reason why these tests cannot pass without QEMU stands here.
fn qemu_version() -> (u32, u32) {
    let out = Command::new(qemu())
        .arg("--version")
        .output()
        .unwrap_or_else(|e| panic!("this test needs QEMU, and {} does not run: {e}", qemu().display()));
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    text.split_whitespace()
        .find_map(|word| {
            let mut parts = word.split('.').map(|part| part.parse().ok());
            Some((parts.next()??, parts.next()??))
        })
        .unwrap_or_else(|| panic!("no version in {text:?}"))
}

/// The plugin for this QEMU, built as worstcase's build script builds it.
fn plugin() -> &'static Path {
    static PLUGIN: OnceLock<PathBuf> = OnceLock::new();
    PLUGIN.get_or_init(|| {
        let api = match qemu_version() {
            (..10, _) => "api-v1",
            (10, _) | (11, 0) => "api-v4",
            _ => "api-v7",
        };
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(api);
        let status = Command::new(env!("CARGO"))
            .args(["build", "-q", "-p", "worstcase-plugin", "--profile", "plugin"])
            .args(["--no-default-features", "--features", api, "--target-dir"])
            .arg(&target)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .expect("cargo runs");
        assert!(status.success(), "the plugin does not build");
        target.join("plugin/libworstcase_plugin.so")
    })
}

/// Starts the guest with these plugin arguments and further QEMU arguments.
fn run(dir: &Path, plugin_args: &str, shift: u32, more: &[&str]) -> Output {
    let kernel = dir.join("guest.img");
    std::fs::write(&kernel, image()).unwrap();
    let console = format!("file,id=out,path={}", dir.join("clock").display());
    let mut words = std::ffi::OsString::from(plugin());
    words.push(plugin_args);
    Command::new("timeout")
        .arg("3600")
        .arg(qemu())
        .args("-machine q35 -nodefaults -no-user-config -display none -no-reboot -m 64 -cpu max -seed 1".split(' '))
        .args([
            "-rtc",
            "base=2026-01-01,clock=vm",
            "-icount",
            &format!("shift={shift},sleep=off"),
        ])
        .args(["-chardev", &console, "-device", "isa-debugcon,iobase=0xe9,chardev=out"])
        .args(["-device", "isa-debug-exit,iobase=0xf4", "-kernel"])
        .arg(&kernel)
        .arg("-plugin")
        .arg(words)
        .args(more)
        .output()
        .expect("timeout (coreutils) runs")
}

/// Runs the guest to its end; its clock readings and the plugin's events.
fn measure(shift: u32, more: &[&str]) -> (Vec<u64>, Vec<Event>) {
    measure_with("", shift, more)
}

fn measure_with(arguments: &str, shift: u32, more: &[&str]) -> (Vec<u64>, Vec<Event>) {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let args = format!(",timer_entry={:#x},log={}{arguments}", tick_address(), log.display());
    let out = run(dir.path(), &args, shift, more);
    assert!(
        out.status.code() == Some(3),
        "the guest did not power off: {:?} {}",
        out.status,
        String::from_utf8_lossy(&out.stderr)
    );
    let clock = std::fs::read(dir.path().join("clock")).unwrap();
    let clock = clock
        .chunks_exact(8)
        .map(|w| u64::from_le_bytes(w.try_into().unwrap()))
        .collect();
    (clock, trace::decode(&std::fs::read(log).unwrap()).unwrap())
}

/// Runs and compares.
fn check(shift: u32, more: &[&str]) {
    let (clock, events) = measure(shift, more);
    assert_eq!(clock.len(), MARKS);

    // Every mark has its clock reading just before it, and the marks come in order.
    let of = |kind| events.iter().filter(move |e| e.kind == kind);
    let reads: Vec<_> = of(EventKind::UserTsc).collect();
    let is_mark = |e: &&Event| !matches!(e.kind, EventKind::UserTsc | EventKind::TimerEntry);
    let marks: Vec<_> = events.iter().filter(is_mark).collect();
    assert_eq!((reads.len(), marks.len()), (MARKS, MARKS));
    assert_eq!(marks[0].kind, EventKind::MarkBegin);
    assert!(marks[1..MARKS - 1].iter().all(|e| e.kind == EventKind::MarkSample));
    assert_eq!(marks[MARKS - 1].kind, EventKind::MarkEnd);
    // Each stores the clock that was read just before it, which is virtual time.
    let args = |events: &[&Event]| events.iter().map(|e| e.arg).collect::<Vec<_>>();
    assert_eq!(args(&marks), clock, "what was stored");
    assert_eq!(args(&reads), clock, "what was read");

    let mut wrong = Vec::new();
    for i in 1..MARKS {
        let counted = (reads[i].count.0 - reads[i - 1].count.0) << shift;
        let truth = clock[i] - clock[i - 1];
        if counted != truth {
            wrong.push((i, counted, truth));
        }
    }
    assert!(wrong.is_empty(), "(mark, counted, clock): {wrong:?}");

    for (i, (mark, read)) in marks.iter().zip(&reads).enumerate() {
        // rdtsc, shl, or, the no-op, the store; case 21's store faults: its handler's twelve instructions too.
        let expected = if [21, 21 + ROUND].contains(&i) { 4 + 12 } else { 4 };
        assert_eq!(mark.count.0 - read.count.0, expected, "mark {i}");
    }

    // Case 24: its timer is due 1000 ns after it was set, among some tens of instructions.
    for mark in [24, 24 + ROUND] {
        let took = clock[mark] - clock[mark - 1];
        assert!((1_000..1_000 + (40 << shift)).contains(&took), "mark {mark}: {took} ns");
    }

    let ticks: Vec<_> = of(EventKind::TimerEntry).collect();
    assert_eq!(ticks.len(), TICKS);
    assert!(ticks.iter().all(|e| e.arg == tick_address()));
    for round in ticks.chunks(TICKS / 2) {
        assert!(round.windows(2).all(|pair| pair[1].count.0 - pair[0].count.0 == 5));
    }
}

#[test]
fn the_count_is_the_clock() {
    check(0, &[]);
}

#[test]
fn the_count_is_the_clock_at_another_speed() {
    check(3, &[]);
}

/// Every instruction in a block of its own, so that each is a block's last.
#[test]
fn the_count_is_the_clock_one_instruction_a_block() {
    if qemu_version().0 < 10 {
        check(0, &["-singlestep"]);
    } else {
        check(0, &["-accel", "tcg,one-insn-per-tb=on"]);
    }
}

#[test]
fn code_that_takes_no_time_moves_neither_clock_nor_count() {
    let range = |address: u64| format!("{:#x}-{:#x}", address, address + 1);
    let untimed = format!(",untimed={}", range(tick_address()));
    let round = range(address(&raw const worstcase_guest_round));
    let (shared, both) = (format!("{untimed},shared={round}"), TICK + REST);
    // What is shared comes after other code here, so it takes its time.
    let other = format!(",untimed={},shared={round}", range(BASE));
    let cases = [
        (0, &untimed, TICK),
        (3, &untimed, TICK),
        (0, &shared, both),
        (3, &shared, both),
        (0, &other, 0),
    ];
    for (shift, untimed, each) in cases {
        let (clock, events) = measure_with(untimed, shift, &[]);
        let (timed, _) = measure(shift, &[]);
        let reads: Vec<&Event> = events.iter().filter(|e| e.kind == EventKind::UserTsc).collect();
        let (mut shorter, mut wrong) = (0, Vec::new());
        for i in 1..MARKS {
            let counted = (reads[i].count.0 - reads[i - 1].count.0) << shift;
            let truth = clock[i] - clock[i - 1];
            shorter += (timed[i] - timed[i - 1]) - (clock[i] - clock[i - 1]);
            if counted != truth {
                wrong.push((i, counted, truth));
            }
        }
        assert!(wrong.is_empty(), "(mark, counted, clock): {wrong:?}");
        assert_eq!(shorter, (each * TICKS as u64) << shift, "{untimed}");
    }
}

#[test]
fn a_log_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "", 0, &[]);
    let without = std::fs::read(dir.path().join("clock")).unwrap();
    let (with, _) = measure(0, &[]);
    assert_eq!(without, with.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>());
}

#[test]
fn bad_arguments_are_one_line() {
    for (args, expected) in [
        (
            ",logs=x",
            "worstcase-plugin: unknown argument 'logs=x' (known: log=PATH, progress=PATH, timer_entry=0xADDRESS, ",
        ),
        (
            ",log=/no/such/folder/log",
            "worstcase-plugin: cannot write /no/such/folder/log: ",
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let out = run(dir.path(), args, 0, &[]);
        assert_eq!(out.status.code(), Some(1));
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert!(stderr.lines().any(|line| line.starts_with(expected)), "{stderr}");
    }
}

/// What the guest consists of between one passing of the watched entry's call and the next.
fn costs(more: &[&str]) -> Vec<CountedStretch> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("costs");
    let round = address(&raw const worstcase_guest_round);
    let asked = format!(",costs={},cost_from={round:#x},cost_to={round:#x}", path.display());
    let (clock, _) = measure_with(&asked, 0, more);
    assert_eq!(clock, measure(0, &[]).0, "counting costs changes nothing");
    log::decode(&std::fs::read_to_string(path).unwrap()).unwrap().stretches
}

#[test]
fn costs_are_the_same_however_blocks_are_cut() {
    let whole = costs(&[]);
    assert_eq!(whole.len(), TICKS - 1);
    let (rounds, between): (Vec<&CountedStretch>, Vec<&CountedStretch>) = whole
        .iter()
        .partition(|stretch| stretch.counts.lab_instructions() == TICK + REST + 1);
    let usual: EventCounts = [(CostEvent::Instruction, TICK + REST + 1)].into_iter().collect();
    // The first one's code is not in the caches yet.
    assert!(
        rounds.iter().skip(1).all(|stretch| stretch.counts == usual),
        "{rounds:?}"
    );
    let [between] = between[..] else {
        panic!("one stretch holds what is between the two rounds: {between:?}");
    };
    // 30 words and 3, of which the first faults once; a round more finds that nothing is left.
    for (event, n) in [
        (CostEvent::StringStart, 2),
        (CostEvent::StringRound, 31 + 4),
        (CostEvent::StringByte, 8 * (30 + 3)),
        (CostEvent::Cpuid, 1),
        (CostEvent::Timestamp, ROUND as u64),
    ] {
        assert_eq!(between.counts[event], n, "{event:?} in {between:?}");
    }
    let cut = match qemu_version().0 {
        ..10 => costs(&["-singlestep"]),
        _ => costs(&["-accel", "tcg,one-insn-per-tb=on"]),
    };
    assert_eq!(cut, whole);
    assert_eq!(costs(&[]), whole, "the same again");
}
