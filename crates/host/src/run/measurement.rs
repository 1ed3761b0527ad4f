//! One measurement from outside: the process that measures, its messages, its end.

use crate::HostSpec;
use crate::loads::{LoadPlace, Traces};
use crate::message::{Done, Message};
use crate::{HostError, Journal};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Who looks on.
pub trait Watch {
    /// Something to know before it begins.
    fn note(&mut self, note: &str);
    /// A measurement begins: the `nth` of `of`.
    fn begin(&mut self, nth: usize, of: usize, spec: &HostSpec);
    /// It says something.
    fn message(&mut self, spec: &HostSpec, message: &Message);
    /// It ended.
    fn end(&mut self);
}

/// How often one looks whether the user wants an end.
const LOOK: Duration = Duration::from_millis(50);

/// Runs one measurement; when `stop` becomes true it ends early, with what was taken until then.
pub fn measure(
    spec: &HostSpec,
    journal: &mut Journal,
    stop: &AtomicBool,
    watch: &mut dyn Watch,
) -> Result<Done, HostError> {
    let failed = |e: std::io::Error| HostError::Worker(e.to_string());
    let mut child = start().map_err(failed)?;
    journal.end_group(child.id())?;
    let place = LoadPlace {
        work_dir: spec.work_dir.clone(),
        cgroup: spec.cgroup.clone(),
        cpus: spec.load_cpus.clone(),
    };
    journal.will_load(&Traces::of(&spec.load, &place, child.id() as i32))?;
    let mut input = child.stdin.take().expect("its input is a pipe");
    let mut line = serde_json::to_vec(spec).expect("plain values are serialised");
    line.push(b'\n');
    input.write_all(&line).map_err(failed)?;
    // Held until the user wants an end, or it ends by itself.
    let input = Mutex::new(Some(input));
    let ended = AtomicBool::new(false);
    let said = std::thread::scope(|scope| {
        scope.spawn(|| close_on(stop, &ended, &input));
        let _end = SetAtEnd(&ended);
        listen(&mut child, spec, watch)
    });
    drop(input);
    let status = child.wait().map_err(failed)?;
    match said.map_err(failed)? {
        Some(Message::Done(done)) => Ok(*done),
        Some(Message::Failed { reason, missing: true }) => Err(HostError::Missing(reason)),
        Some(Message::Failed { reason, .. }) => Err(HostError::Measurement(reason)),
        _ => Err(HostError::Worker(format!("it ended without a result ({status})"))),
    }
}

/// Sets a flag, after a panic too: or the scope would wait for ever for the thread that looks at it.
struct SetAtEnd<'a>(&'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn start() -> std::io::Result<Child> {
    Command::new("/proc/self/exe")
        .arg("host-worker")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // Ctrl-C is for the controller, which asks for an orderly end.
        .process_group(0)
        .spawn()
}

fn close_on(stop: &AtomicBool, ended: &AtomicBool, input: &Mutex<Option<ChildStdin>>) {
    while !ended.load(Ordering::Relaxed) {
        if stop.load(Ordering::Relaxed) {
            input.lock().unwrap_or_else(PoisonError::into_inner).take();
            return;
        }
        std::thread::sleep(LOOK);
    }
}

/// Hands on what it says; the last message.
fn listen(child: &mut Child, spec: &HostSpec, watch: &mut dyn Watch) -> std::io::Result<Option<Message>> {
    let output = child.stdout.take().expect("its output is a pipe");
    let mut last = None;
    for line in BufReader::new(output).lines() {
        let message: Message = serde_json::from_str(&line?).map_err(std::io::Error::other)?;
        watch.message(spec, &message);
        last = Some(message);
    }
    Ok(last)
}
