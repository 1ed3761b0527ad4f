//! A QEMU process: its arguments, its end, and that it never outlives us.

use super::LabError;
use super::confine::Confinement;
use super::qmp::Qmp;
use super::watchdog::{Limits, Watchdog};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A running QEMU with its QMP session; killed when dropped.
pub struct Process {
    child: Child,
    /// The machine protocol.
    pub qmp: Qmp,
}

/// The number under which QEMU has the file of the devices' state; no other file of a starting process has it.
pub const STATE_FD: i32 = 200;

/// No file that a machine writes to grows beyond this, whatever its kernel says on its console.
const LONGEST_FILE: libc::rlim_t = 8 << 30;

impl Process {
    /// Starts QEMU within these limits; `progress` is where the plugin, if there is one, tells how far it has come. What
    /// QEMU says on standard error goes to `stderr`. It has `state` open as [`STATE_FD`], and writes to no file but what is
    /// `writable`, or in such a folder.
    pub fn start(
        program: &Path,
        args: &[String],
        writable: &[&Path],
        stderr: Stdio,
        progress: Option<&Path>,
        state: Option<&File>,
        limits: Limits,
    ) -> Result<Process, LabError> {
        let mut command = Command::new(program);
        command
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .env_clear();
        // The plugin and QEMU read no setting from the environment: results must not depend on it.
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        let confinement = Confinement::to(writable)?;
        let parent = std::process::id();
        let state = state.map(AsRawFd::as_raw_fd);
        // SAFETY: between fork and exec only async-signal-safe calls are made: prctl, getppid, dup2, setrlimit, _exit, and
        // what `enter` calls. The file behind `state` is borrowed until the process has started.
        unsafe {
            command.pre_exec(move || {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                if libc::getppid() as u32 != parent {
                    libc::_exit(1);
                }
                if let Some(state) = state
                    && libc::dup2(state, STATE_FD) < 0
                {
                    return Err(std::io::Error::last_os_error());
                }
                let none = libc::rlimit {
                    rlim_cur: 0,
                    rlim_max: 0,
                };
                libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
                let longest = libc::rlimit {
                    rlim_cur: LONGEST_FILE,
                    rlim_max: LONGEST_FILE,
                };
                libc::setrlimit(libc::RLIMIT_FSIZE, &raw const longest);
                confinement.enter()
            });
        }
        let mut child = command
            .spawn()
            .map_err(|e| LabError::Qemu(format!("{}: {e}", program.display())))?;
        let (input, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let watchdog = Watchdog::new(child.id(), progress, limits);
        match Qmp::start(input, output, watchdog) {
            Ok(qmp) => Ok(Process { child, qmp }),
            Err(error) => {
                let error = with_status(error, &mut child);
                end(&mut child);
                Err(error)
            }
        }
    }

    /// Talks with QEMU. When it ended meanwhile, the error tells how.
    pub fn talk<T>(&mut self, words: impl FnOnce(&mut Qmp) -> Result<T, LabError>) -> Result<T, LabError> {
        words(&mut self.qmp).map_err(|error| with_status(error, &mut self.child))
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until QEMU has ended by itself, as it does when the guest powers off.
    pub fn wait(mut self) -> Result<(), LabError> {
        self.qmp.wait_end()?;
        let status = self.child.wait().map_err(|e| LabError::Qemu(e.to_string()))?;
        if status.success() {
            Ok(())
        } else {
            Err(LabError::QemuEnded(how(status)))
        }
    }

    /// Asks QEMU to end, and waits for it.
    pub fn quit(mut self) -> Result<(), LabError> {
        self.talk(|qmp| qmp.execute("quit", serde_json::json!({})))?;
        self.wait()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Who closed the session ends soon; who does not is not waited for.
const END: Duration = Duration::from_secs(2);

fn with_status(error: LabError, child: &mut Child) -> LabError {
    if !matches!(error, LabError::QemuEnded(_)) {
        return error;
    }
    let begin = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return LabError::QemuEnded(how(status)),
            Ok(None) if begin.elapsed() < END => std::thread::sleep(Duration::from_millis(5)),
            _ => return LabError::QemuEnded(": it closed its protocol and goes on".into()),
        }
    }
}

/// How it ended, for a sentence.
fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!(", with exit code {code}"),
        (None, Some(libc::SIGKILL)) => {
            ", by signal 9 (SIGKILL): somebody, or the kernel out of memory, killed it".into()
        }
        (None, Some(libc::SIGBUS)) => ", by signal 7 (SIGBUS): is the disk of the cache full?".into(),
        (None, Some(libc::SIGSYS)) => ", by signal 31 (SIGSYS): its sandbox does not allow what it did".into(),
        (None, Some(libc::SIGXFSZ)) => ", by signal 25 (SIGXFSZ): a file of the machine grew beyond all bounds".into(),
        (None, signal) => format!(", by signal {}", signal.unwrap_or_default()),
    }
}

fn end(child: &mut Child) {
    // Errors mean that it has ended already.
    let _ = child.kill();
    let _ = child.wait();
}

/// The last lines of a file of console or error output, for messages.
pub fn last_lines(path: &Path, count: usize) -> String {
    let mut bytes = Vec::new();
    // What cannot be read is not shown.
    let _ = end_of(path, &mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|l| !l.is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// So much of a file's end is looked at: a guest may write gigabytes.
const END_BYTES: u64 = 1 << 20;

fn end_of(path: &Path, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    let mut file = worstcase_base::files::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(END_BYTES)))?;
    file.take(END_BYTES).read_to_end(bytes).map(drop)
}
