//! One measurement from outside: the measuring process, its messages, its end.

use crate::HostSpec;
use crate::loads::Traces;
use crate::message::{MeasurementEnd, Message};
use crate::{HostError, Journal};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use worstcase_contract::Probe;

/// Observes measurements.
pub trait MeasurementObserver {
    /// A note before a measurement begins.
    fn note(&mut self, note: &str);
    /// A measurement begins: the `nth` of `of`.
    fn begin(&mut self, _nth: usize, _of: usize, _spec: &HostSpec) {}
    /// The measurement sends a message.
    fn message(&mut self, _spec: &HostSpec, _message: &Message) {}
    /// The measurement ended.
    fn end(&mut self) {}
}

/// How often it is checked whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(50);
/// How long the measuring process may be silent after the user stopped it: its load may have to wait for a slow disk.
const PATIENCE: Duration = Duration::from_secs(60);
/// The same for a probe that reports only between two steps, which may be long.
const PATIENCE_WITH_STEPS: Duration = Duration::from_secs(600);

/// Runs one measurement; when `stop` becomes true it ends early, with what was taken until then.
pub fn measure(
    spec: &HostSpec,
    journal: &mut Journal,
    stop: &AtomicBool,
    watch: &mut dyn MeasurementObserver,
) -> Result<MeasurementEnd, HostError> {
    let failed = |e: std::io::Error| HostError::Worker(e.to_string());
    let mut child = start().map_err(failed)?;
    journal.end_group(child.id())?;
    journal.will_load(&Traces::of(&spec.load, &spec.load_place(), child.id() as i32))?;
    let mut input = child.stdin.take().expect("its input is a pipe");
    let mut line = serde_json::to_vec(spec).expect("plain values are serialised");
    line.push(b'\n');
    input.write_all(&line).map_err(failed)?;
    let output = child.stdout.take().expect("its output is a pipe");
    let (ended, heard) = (AtomicBool::new(false), AtomicU64::new(0));
    let patience = patience(spec);
    let (said, killed) = std::thread::scope(|scope| {
        let ending = ProcessEnder {
            group: child.id(),
            stop,
            ended: &ended,
            heard: &heard,
            patience,
        };
        let ending = scope.spawn(move || ending.see_to(input));
        let said = {
            let _end = SetAtEnd(&ended);
            listen(output, spec, watch, &heard)
        };
        (said, ending.join().unwrap_or(false))
    });
    let status = child.wait().map_err(failed)?;
    if killed {
        let seconds = patience.as_secs();
        watch.note(&format!(
            "the measuring process said nothing for {seconds} s after it was asked to end, and was killed: what it took is lost"
        ));
    }
    match said.map_err(failed)? {
        Some(Message::Done(done)) => Ok(*done),
        Some(Message::Failed {
            reason, missing: true, ..
        }) => Err(HostError::Missing(reason)),
        Some(Message::Failed {
            reason, storage: true, ..
        }) => Err(HostError::Storage(reason)),
        Some(Message::Failed { reason, .. }) => Err(HostError::Measurement(reason)),
        _ => Err(HostError::Worker(format!("it ended without a result ({status})"))),
    }
}

/// Sets a flag, also after a panic; otherwise the scope would wait forever for the thread that reads it.
struct SetAtEnd<'a>(&'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn start() -> std::io::Result<Child> {
    // With file capabilities a process is not dumpable, and then its child may not use paths through its descriptors.
    // Who would trace it needs its capabilities as before. Best effort: else the child says what it cannot do.
    let _ = set_dumpable_behavior(DumpableBehavior::Dumpable);
    Command::new("/proc/self/exe")
        .arg("host-worker")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // Ctrl-C must reach the controller alone, which then asks for an orderly end.
        .process_group(0)
        .spawn()
}

/// How long the process may be silent after it was asked to end. A sleeping thread ends with its interval.
fn patience(spec: &HostSpec) -> Duration {
    let usual = match spec.probe {
        Probe::Bench(_) => PATIENCE_WITH_STEPS,
        _ => PATIENCE,
    };
    usual + 2 * Duration::from_nanos(spec.interval.0)
}

/// Ends a measuring process when the user wants to stop.
struct ProcessEnder<'a> {
    group: u32,
    /// Set when the user wants to stop.
    stop: &'a AtomicBool,
    /// Set when the process has ended.
    ended: &'a AtomicBool,
    /// The number of messages from the process.
    heard: &'a AtomicU64,
    patience: Duration,
}

impl ProcessEnder<'_> {
    /// Holds the process's standard input open until the user wants to stop, or the process ends by itself. Closing it asks
    /// the process to end. Kills a process that is silent for too long after that; says whether it did.
    fn see_to(&self, input: impl Send) -> bool {
        while !self.stop.load(Ordering::Relaxed) {
            if self.ended.load(Ordering::Relaxed) {
                return false;
            }
            std::thread::sleep(LOOK);
        }
        drop(input);
        let (mut since, mut heard) = (Instant::now(), self.heard.load(Ordering::Relaxed));
        while !self.ended.load(Ordering::Relaxed) {
            let now = self.heard.load(Ordering::Relaxed);
            if now != heard {
                (since, heard) = (Instant::now(), now);
            }
            if since.elapsed() > self.patience {
                let group = rustix::process::Pid::from_raw(self.group.cast_signed());
                // The group may be gone by now.
                let _ = group.map(|group| rustix::process::kill_process_group(group, rustix::process::Signal::KILL));
                return true;
            }
            std::thread::sleep(LOOK);
        }
        false
    }
}

/// Passes on the process's messages; gives the last one.
fn listen(
    output: impl Read,
    spec: &HostSpec,
    watch: &mut dyn MeasurementObserver,
    heard: &AtomicU64,
) -> std::io::Result<Option<Message>> {
    let mut last = None;
    for line in BufReader::new(output).lines() {
        let message: Message = serde_json::from_str(&line?).map_err(std::io::Error::other)?;
        heard.fetch_add(1, Ordering::Relaxed);
        watch.message(spec, &message);
        last = Some(message);
    }
    Ok(last)
}
