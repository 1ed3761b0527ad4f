//! A QEMU process: its arguments, its end, and that it never outlives worstcase.

use super::LabError;
use super::confine::{Confinement, User};
use super::handed::Handed;
use super::qmp::Qmp;
use super::watchdog::{MachineLimits, Watchdog};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use worstcase_base::child::ends_with_us;
use worstcase_base::interrupt::LastWork;

/// A running QEMU with its QMP session; killed when dropped.
pub(crate) struct Process {
    group: ProcessGroup,
    /// The QMP session.
    pub(crate) qmp: Qmp,
}

/// Limit for every file that a machine writes, whatever its kernel prints on its console.
const LONGEST_FILE: libc::rlim_t = 8 << 30;

/// Limit for a machine's address space. It needs its guest's memory, at most 2 GiB, 1 GiB for translated code, and half a GiB
/// for itself; a replay needs some more.
const MOST_MEMORY: libc::rlim_t = 8 << 30;

/// How a QEMU is started.
pub(crate) struct QemuLaunch<'a> {
    /// The program, and the user it runs as.
    pub qemu: &'a QemuProgram,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its working folder: file names without a folder are relative to it.
    pub folder: &'a Path,
    /// The files that it inherits.
    pub(crate) handed: &'a [&'a Handed],
    /// The files that it may write to.
    pub(crate) writable: Vec<PathBuf>,
    /// Its standard error.
    pub stderr: Stdio,
    /// The file in which the plugin writes the progress, if there is a plugin.
    pub progress: Option<&'a Path>,
    /// The limits of the machine.
    pub limits: MachineLimits,
}

/// QEMU's executable, or a program that executes QEMU.
#[derive(Clone, Debug)]
pub struct QemuProgram {
    /// Its absolute path.
    pub path: PathBuf,
    /// The user it runs as.
    pub(crate) user: User,
}

impl QemuProgram {
    /// A command that starts it confined, with an empty environment and in a process group of its own.
    pub fn command(&self, writable: &[PathBuf], handed: &[i32]) -> Result<Command, LabError> {
        let mut command = Command::new(&self.path);
        command.env_clear().process_group(0);
        // Results must not depend on the environment, so the plugin and QEMU get no other variable.
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        let confinement = Confinement::to(self.user, writable)?;
        let handed = handed.to_vec();
        // SAFETY: between fork and exec only async-signal-safe calls are made: fcntl, setrlimit, and what `enter` calls.
        // The inherited files are borrowed until the process has started.
        unsafe {
            command.pre_exec(move || {
                handed.iter().try_for_each(|number| Handed::keep_over_exec(*number))?;
                for (what, most) in [
                    (libc::RLIMIT_CORE, 0),
                    (libc::RLIMIT_FSIZE, LONGEST_FILE),
                    (libc::RLIMIT_AS, MOST_MEMORY),
                ] {
                    let limit = libc::rlimit {
                        rlim_cur: most,
                        rlim_max: most,
                    };
                    // A lower limit of the system stays.
                    libc::setrlimit(what, &raw const limit);
                }
                confinement.enter()
            });
        }
        // A change of user clears this setting, so it comes last.
        ends_with_us(&mut command, Signal::KILL);
        Ok(command)
    }
}

impl Process {
    /// Starts QEMU.
    pub(crate) fn start(start: QemuLaunch) -> Result<Process, LabError> {
        let handed: Vec<i32> = start.handed.iter().map(|file| file.number()).collect();
        let mut command = start.qemu.command(&start.writable, &handed)?;
        command
            .args(&start.args)
            .current_dir(start.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(start.stderr);
        let mut child = command.spawn().map_err(|source| LabError::QemuStart {
            program: start.qemu.path.clone(),
            source,
        })?;
        let (input, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let watchdog = Watchdog::new(child.id(), start.progress, start.limits);
        let mut group = ProcessGroup::of(child);
        match Qmp::start(input, output, watchdog) {
            Ok(qmp) => Ok(Process { group, qmp }),
            Err(error) => Err(with_status(error, &mut group)),
        }
    }

    /// Talks to QEMU. If QEMU ended meanwhile, the error says how.
    pub(crate) fn talk<T>(&mut self, words: impl FnOnce(&mut Qmp) -> Result<T, LabError>) -> Result<T, LabError> {
        words(&mut self.qmp).map_err(|error| with_status(error, &mut self.group))
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.group.child.id()
    }

    /// Waits until QEMU has ended by itself, as it does after the guest powers off.
    pub fn wait(mut self) -> Result<(), LabError> {
        self.qmp.wait_end()?;
        let status = self.group.end().map_err(|e| LabError::Qemu(e.to_string()))?;
        if status.success() {
            Ok(())
        } else {
            Err(LabError::QemuEnded(how(status)))
        }
    }

    /// Asks QEMU to quit, and waits for it.
    pub(crate) fn quit(mut self) -> Result<(), LabError> {
        self.talk(|qmp| qmp.execute("quit", serde_json::json!({})))?;
        self.wait()
    }
}

/// How long QEMU may take to end after it has closed the session.
const END: Duration = Duration::from_secs(2);

fn with_status(error: LabError, group: &mut ProcessGroup) -> LabError {
    if !matches!(error, LabError::QemuEnded(_)) {
        return error;
    }
    let begin = Instant::now();
    while begin.elapsed() < END {
        if group.has_ended() {
            return match group.end() {
                Ok(status) => LabError::QemuEnded(how(status)),
                Err(e) => LabError::Qemu(e.to_string()),
            };
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    LabError::QemuEnded(": it closed its protocol and goes on".into())
}

/// A program and its children in the same process group, as a wrapper starts QEMU; killed when dropped.
struct ProcessGroup {
    child: Child,
    ended: Option<ExitStatus>,
    /// A wrapper's children do not end with this process.
    _interrupted: LastWork,
}

impl ProcessGroup {
    fn of(child: Child) -> ProcessGroup {
        let group = Pid::from_child(&child);
        ProcessGroup {
            child,
            ended: None,
            _interrupted: LastWork::new(move || {
                let _ = kill_process_group(group, Signal::KILL);
            }),
        }
    }

    fn has_ended(&self) -> bool {
        self.ended.is_some() || self.look(WaitIdOptions::NOHANG).is_some_and(|found| found.is_some())
    }

    /// Waits for the program to end, and kills the others before it reaps the program, so that the group's id is not
    /// used again.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.ended {
            return Ok(status);
        }
        self.look(WaitIdOptions::empty());
        self.kill();
        let status = self.child.wait()?;
        self.ended = Some(status);
        Ok(status)
    }

    fn kill(&self) {
        // An error means that all processes have ended.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }

    fn look(&self, how: WaitIdOptions) -> Option<Option<WaitIdStatus>> {
        let id = WaitId::Pid(Pid::from_child(&self.child));
        waitid(id, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | how).ok()
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if self.ended.is_none() {
            self.kill();
            // An error cannot be reported here.
            let _ = self.end();
        }
    }
}

/// An error if a program that was asked something was killed: its answer may be incomplete.
pub(crate) fn ended_by_itself(status: ExitStatus) -> Result<(), LabError> {
    match status.code() {
        Some(_) => Ok(()),
        None => Err(LabError::QemuEnded(how(status))),
    }
}

/// How the program ended, as part of a sentence.
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

/// The last lines of a file of console or error output, for messages.
pub(crate) fn last_lines(path: &Path, count: usize) -> String {
    let mut bytes = Vec::new();
    // A file that cannot be read is not shown.
    let _ = end_of(path, &mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|l| !l.is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// Bytes of a file's end that are read: a guest may write gigabytes.
const END_BYTES: u64 = 1 << 20;

fn end_of(path: &Path, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    let mut file = worstcase_base::files::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(END_BYTES)))?;
    file.take(END_BYTES).read_to_end(bytes).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn what_a_machine_may_take_is_bounded() {
        let shell = QemuProgram {
            path: "/bin/sh".into(),
            user: User::Caller,
        };
        let mut command = shell.command(&[], &[]).unwrap();
        // ulimit counts memory in KiB, and file sizes in blocks of 512 bytes.
        let output = command
            .args(["-c", "ulimit -v; ulimit -f; ulimit -c"])
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            said,
            format!("{}\n{}\n0\n", 8 << 20, 16 << 20),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    #[test]
    fn of_a_console_without_an_end_the_end_is_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let length = 100 << 30;
        file.as_file()
            .write_all_at(b"first\n\nlast but one  \nlast\n", length)
            .unwrap();
        assert_eq!(last_lines(file.path(), 2), "last but one\nlast");
        let mut bytes = Vec::new();
        end_of(file.path(), &mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, END_BYTES);
    }
}
