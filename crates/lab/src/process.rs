//! A QEMU process: its arguments, its end, and that it never outlives us.

use super::LabError;
use super::confine::Confinement;
use super::qmp::Qmp;
use super::watchdog::{Limits, Watchdog};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A running QEMU with its QMP session; killed when dropped.
pub struct Process {
    child: Child,
    /// The machine protocol.
    pub qmp: Qmp,
}

/// The number under which QEMU has the file of the devices' state; no other file of a starting process has it.
pub const STATE_FD: i32 = 200;

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
                end(&mut child);
                Err(error)
            }
        }
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
            Err(LabError::Qemu(format!("QEMU ended with {status}")))
        }
    }

    /// Asks QEMU to end, and waits for it.
    pub fn quit(mut self) -> Result<(), LabError> {
        self.qmp.execute("quit", serde_json::json!({}))?;
        self.wait()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        end(&mut self.child);
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
    if let Ok(mut file) = File::open(path) {
        // What cannot be read is not shown.
        let _ = file.read_to_end(&mut bytes);
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|l| !l.is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
