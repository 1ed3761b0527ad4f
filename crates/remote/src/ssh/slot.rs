//! One connection to a machine: it measures a cell at a time.

use super::command::SshMachine;
use super::hosts::Host;
use super::message::{ControllerAsk, Hello, MeasuredCell, PROTOCOL, WorkerAnswer, WorkerTask, read, write};
use crate::RemoteError;
use crate::executable::Executable;
use std::io::BufReader;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use worstcase_base::ExitKind;
use worstcase_base::tail::ByteTail;

/// How long ssh may take to end after its connection has.
const END: Duration = Duration::from_secs(2);

/// A worker that waits for cells; it ends when this is dropped.
pub(crate) struct Slot {
    host: Host,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// The last lines of the worker's standard error.
    said: Arc<Mutex<String>>,
    reads: Option<JoinHandle<()>>,
    /// What the worker said about itself.
    pub(crate) hello: Hello,
}

/// Why a cell was not measured.
pub(crate) enum Unmeasured {
    /// The connection is lost: another slot may measure the cell.
    Lost(RemoteError),
    /// The cell failed on that machine.
    Failed(RemoteError),
}

impl Slot {
    /// Starts a worker, which must have this version.
    pub(crate) fn open(host: &Host, executable: &Executable, version: &str) -> Result<Slot, RemoteError> {
        let remote = SshMachine::new(host)?;
        let mut arguments = vec!["lab-worker".to_string()];
        if let Some(qemu) = &host.qemu {
            arguments.extend(["--qemu".into(), qemu.clone()]);
        }
        let mut command = remote.command(&remote.worstcase(executable, &arguments));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| remote.no_ssh(&e))?;
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let errors = child.stderr.take().expect("piped");
        let said = Arc::new(Mutex::new(String::new()));
        let last = said.clone();
        let reads = std::thread::spawn(move || {
            ByteTail::default().follow(errors, |tail| {
                if let Some(line) = tail.last_line() {
                    *last.lock().expect("no holder panics") = line;
                }
            });
        });
        let mut slot = Slot {
            host: host.clone(),
            input: child.stdin.take(),
            child,
            output,
            said,
            reads: Some(reads),
            hello: Hello {
                protocol: PROTOCOL,
                version: String::new(),
                machine: host.name.clone(),
                cpus: 1,
            },
        };
        let answer: WorkerAnswer = read(&mut slot.output).map_err(|e| slot.lost(&e))?;
        match answer {
            WorkerAnswer::Hello(hello) if hello.protocol == PROTOCOL && hello.version == version => slot.hello = hello,
            WorkerAnswer::Hello(hello) => {
                let reason = format!(
                    "worstcase there is {}, here {version}; install the same there",
                    hello.version
                );
                return Err(remote.wrong(reason));
            }
            WorkerAnswer::Failed(failure) => return Err(remote.wrong(failure.message)),
            _ => return Err(remote.wrong("worstcase there answers something else".into())),
        }
        Ok(slot)
    }

    /// The machine's name, as the user gave it.
    pub(crate) fn name(&self) -> &str {
        &self.host.name
    }

    /// Measures a cell; `file` gives the files that are missing there.
    pub(crate) fn measure(
        &mut self,
        work: &WorkerTask,
        file: impl Fn(&str) -> Result<Vec<u8>, RemoteError>,
    ) -> Result<MeasuredCell, Unmeasured> {
        let mut ask = ControllerAsk::Measure(work.clone());
        loop {
            self.say(&ask)?;
            match read(&mut self.output) {
                Ok(WorkerAnswer::Done(measured)) => return Ok(measured),
                Ok(WorkerAnswer::Failed(failure)) => {
                    return Err(Unmeasured::Failed(RemoteError::Failed {
                        machine: self.host.name.clone(),
                        message: failure.message,
                        exit: ExitKind::of(failure.exit).unwrap_or(ExitKind::Measured),
                    }));
                }
                Ok(WorkerAnswer::Needs(digests)) => {
                    let mut files = digests.iter().map(|digest| file(digest).map_err(Unmeasured::Failed));
                    let Some(last) = files.next_back() else {
                        return Err(self.wrong("it needs nothing"));
                    };
                    let before: Vec<Vec<u8>> = files.collect::<Result<_, _>>()?;
                    for bytes in before {
                        self.say(&ControllerAsk::File(bytes))?;
                    }
                    ask = ControllerAsk::File(last?);
                }
                Ok(WorkerAnswer::Hello(_)) => return Err(self.wrong("it began anew")),
                Err(error) => return Err(Unmeasured::Lost(self.lost(&error))),
            }
        }
    }

    fn say(&mut self, ask: &ControllerAsk) -> Result<(), Unmeasured> {
        let input = self.input.as_mut().expect("open until it is dropped");
        write(input, ask).map_err(|error| Unmeasured::Lost(self.lost(&error)))
    }

    fn wrong(&self, what: &str) -> Unmeasured {
        Unmeasured::Lost(RemoteError::Host {
            host: self.host.name.clone(),
            reason: format!("worstcase there answers something else: {what}"),
        })
    }

    /// The error for a connection that ended: the last words of ssh, or of worstcase there.
    fn lost(&mut self, error: &std::io::Error) -> RemoteError {
        self.wait_a_little();
        self.close();
        let code = self.child.wait().ok().and_then(|status| status.code());
        let said = self.said.lock().expect("no holder panics").clone();
        let remote = match SshMachine::new(&self.host) {
            Ok(remote) => remote,
            Err(error) => return error,
        };
        match (code, said.is_empty()) {
            (Some(0), true) => remote.wrong(format!("worstcase there answers something else: {error}")),
            (_, true) => remote.error(code, &error.to_string()),
            (_, false) => remote.error(code, said.trim_start_matches("worstcase: ")),
        }
    }

    /// Waits for ssh to end: after its output has ended, its exit code comes soon and says why.
    fn wait_a_little(&mut self) {
        drop(self.input.take());
        let begin = Instant::now();
        while begin.elapsed() < END && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn close(&mut self) {
        drop(self.input.take());
        // ssh has ended already, or has nothing more to say.
        let _ = self.child.kill();
        if let Some(reads) = self.reads.take() {
            let _ = reads.join();
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.close();
        let _ = self.child.wait();
    }
}
