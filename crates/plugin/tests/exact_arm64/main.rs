//! Exactness on arm64: the same as `tests/exact` shows on x86-64, with a bare-metal guest of its own.
//!
//! The counter runs at 1 GHz, so it is virtual time in ns: instructions << N under `-icount shift=N` while the CPU does not idle.
//! What the guest read is what its marks stored, which the plugin's log has.
//!
//! Needs `qemu-system-aarch64` (or `WORSTCASE_QEMU_ARM64`) and `aarch64-linux-gnu-gcc`, which assembles the guest.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;
use worstcase_logs::trace::{self, Event, EventKind};
use worstcase_skips::or_skip;

/// Where the guest's code begins, in the memory of QEMU's `virt` board.
const BASE: &str = "0x40080000";
/// Cases of a round, of which there are two.
const ROUND: usize = 19;
/// Marks of a run: Begin, the rounds, End.
const MARKS: usize = 2 + 2 * ROUND;
/// Calls of the watched entry, in two rounds, and the instructions from one to the next.
const TICKS: usize = 200;
const TICK: u64 = 5;
/// Instructions from an interrupt's vector to its handler: two branches and a store.
const TO_HANDLER: u64 = 3;
const COMPILER: &str = "gcc-aarch64-linux-gnu";
const EMULATOR: &str = "qemu-system-arm";

fn qemu() -> PathBuf {
    std::env::var_os("WORSTCASE_QEMU_ARM64").map_or_else(|| "qemu-system-aarch64".into(), PathBuf::from)
}

/// QEMU's major and minor version.
fn qemu_version() -> Result<(u32, u32), String> {
    let out = Command::new(qemu()).arg("--version").output();
    let out = out.map_err(|e| format!("{} does not run: {e}", qemu().display()))?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let version = text.split_whitespace().find_map(|word| {
        let mut parts = word.split('.').map(|part| part.parse().ok());
        Some((parts.next()??, parts.next()??))
    });
    version.ok_or_else(|| format!("no version in {text:?}"))
}

/// The plugin for this QEMU.
fn plugin() -> &'static Path {
    static PLUGIN: OnceLock<PathBuf> = OnceLock::new();
    PLUGIN.get_or_init(|| {
        let api = match qemu_version() {
            Ok((..10, _)) => "api-v1",
            Ok((10, _) | (11, 0)) => "api-v4",
            _ => "api-v7",
        };
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("arm64-{api}"));
        let status = Command::new(env!("CARGO"))
            .args(["build", "-q", "-p", "worstcase-plugin", "--profile", "plugin"])
            .args(["--no-default-features", "--features"])
            .arg(format!("{api},guest-arm64"))
            .arg("--target-dir")
            .arg(&target)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .expect("cargo runs");
        assert!(status.success(), "the plugin does not build");
        target.join("plugin/libworstcase_plugin.so")
    })
}

/// The guest, assembled.
struct Guest {
    folder: TempDir,
    tick: u64,
    vectors: u64,
    handler: u64,
}

impl Guest {
    fn assemble() -> Result<Guest, String> {
        let folder = TempDir::new().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exact_arm64/guest.s");
        let image = folder.path().join("guest");
        let text = format!("-Wl,-Ttext={BASE}");
        let made = Command::new("aarch64-linux-gnu-gcc")
            .args(["-nostdlib", "-static", "-Wl,--build-id=none", &text, "-o"])
            .args([&image, &source])
            .status();
        let made = made.map_err(|e| format!("aarch64-linux-gnu-gcc does not run: {e}"))?;
        assert!(made.success(), "the guest is not assembled");
        let names = Command::new("aarch64-linux-gnu-nm").arg(&image).output().unwrap();
        let names = String::from_utf8(names.stdout).unwrap();
        let address = |name: &str| {
            let line = names.lines().find(|line| line.ends_with(name)).unwrap();
            u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
        };
        Ok(Guest {
            tick: address("worstcase_tick"),
            vectors: address("worstcase_vectors"),
            handler: address("worstcase_handler"),
            folder,
        })
    }

    fn run(&self, plugin_args: &str, shift: u32, more: &[&str]) -> Output {
        let mut words = OsString::from(plugin());
        words.push(plugin_args);
        Command::new("timeout")
            .arg("3600")
            .arg(qemu())
            .args(
                "-machine virt,gic-version=2 -cpu cortex-a72,cntfrq=1000000000 -nodefaults -no-user-config".split(' '),
            )
            .args("-display none -no-reboot -m 64 -seed 1 -rtc base=2026-01-01,clock=vm -icount".split(' '))
            .arg(format!("shift={shift},sleep=off"))
            .arg("-kernel")
            .arg(self.folder.path().join("guest"))
            .arg("-plugin")
            .arg(words)
            .args(more)
            .output()
            .expect("timeout (coreutils) runs")
    }

    /// The plugin's events of a run to the end.
    fn measure(&self, plugin_args: &str, shift: u32, more: &[&str]) -> Vec<Event> {
        let log = self.folder.path().join("log");
        let out = self.run(&format!(",log={}{plugin_args}", log.display()), shift, more);
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(
            out.status.success(),
            "the guest did not power off: {:?} {said}",
            out.status
        );
        trace::decode(&std::fs::read(log).unwrap()).unwrap()
    }

    /// Runs and compares.
    fn check(&self, shift: u32, more: &[&str]) {
        let events = self.measure(&format!(",timer_entry={:#x}", self.tick), shift, more);
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
        assert_eq!(args(&reads), args(&marks), "what was read, and stored");

        let truth = |i: usize| marks[i].arg - marks[i - 1].arg;
        let counted = |i: usize| (reads[i].count.0 - reads[i - 1].count.0) << shift;
        let wrong: Vec<_> = (1..MARKS).filter(|i| counted(*i) != truth(*i)).collect();
        assert!(wrong.is_empty(), "of marks {wrong:?} the count is not the clock");
        // The read, two moves, the store.
        assert!(std::iter::zip(&marks, &reads).all(|(mark, read)| mark.count.0 - read.count.0 == 3));

        let ticks: Vec<_> = of(EventKind::TimerEntry).collect();
        assert_eq!(ticks.len(), TICKS);
        for round in ticks.chunks(TICKS / 2) {
            assert!(round.windows(2).all(|pair| pair[1].count.0 - pair[0].count.0 == TICK));
        }
    }
}

#[test]
fn the_count_is_the_clock() {
    let version = or_skip!(qemu_version(), EMULATOR);
    let guest = or_skip!(Guest::assemble(), COMPILER);
    guest.check(0, &[]);
    guest.check(3, &[]);
    // Every instruction in a block of its own, so that each is a block's last.
    match version {
        (..10, _) => guest.check(0, &["-singlestep"]),
        _ => guest.check(0, &["-accel", "tcg,one-insn-per-tb=on"]),
    }
}

/// A handler is told of with the count at which its interrupt began.
#[test]
fn an_interrupt_begins_at_its_vector() {
    or_skip!(qemu_version(), EMULATOR);
    let guest = or_skip!(Guest::assemble(), COMPILER);
    let counts = |vectors: String| {
        let events = guest.measure(&format!(",timer_entry={:#x}{vectors}", guest.handler), 0, &[]);
        let entries = events.into_iter().filter(|e| e.kind == EventKind::TimerEntry);
        entries.map(|e| e.count.0).collect::<Vec<_>>()
    };
    let handlers = counts(String::new());
    assert!(handlers.len() > ROUND);
    let vectors = counts(format!(",vectors={:#x}", guest.vectors));
    assert!(std::iter::zip(&handlers, &vectors).all(|(handler, vector)| handler - vector == TO_HANDLER));
    assert_eq!(vectors.len(), handlers.len());
}

#[test]
fn a_log_changes_nothing() {
    or_skip!(qemu_version(), EMULATOR);
    let guest = or_skip!(Guest::assemble(), COMPILER);
    let kicked = guest.measure(",kicks=7", 0, &[]);
    assert_eq!(guest.measure("", 0, &[]), kicked);
}

/// The units of `arch/arm64`, and of what is over them: the workspace's own tests are those of x86-64.
#[test]
fn its_units_pass() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("arm64-units");
    let status = Command::new(env!("CARGO"))
        .args(["test", "-q", "--locked", "-p", "worstcase-plugin", "--lib"])
        .args(["--no-default-features", "--features", "api-v1,guest-arm64"])
        .arg("--target-dir")
        .arg(&target)
        .args(["--", "--skip", "scheduler::"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo runs");
    assert!(status.success());
}

#[test]
fn what_is_not_there_is_one_line() {
    or_skip!(qemu_version(), EMULATOR);
    let guest = or_skip!(Guest::assemble(), COMPILER);
    for name in ["costs=", "port="] {
        let out = guest.run(&format!(",{name}x"), 0, &[]);
        assert_eq!(out.status.code(), Some(1));
        let said = String::from_utf8_lossy(&out.stderr);
        let expected = format!("worstcase-plugin: {name} is not there for arm64 machines yet");
        assert!(said.lines().any(|line| line == expected), "{said}");
    }
}
