//! ssh, and the way a machine is made ready.

use super::hosts::Host;
use crate::RemoteError;
use crate::executable::{AREA, Executable, NAME};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::process::{Command, Stdio};
use worstcase_base::format::shell;
use worstcase_base::tail::ByteTail;

/// The variable that names the ssh to use, with its options: `ssh -F boards.config`.
const SSH: &str = "WORSTCASE_SSH";

/// Nobody can type a password here, and a machine that does not answer must not hang the command.
const OPTIONS: [&str; 9] = [
    "-T",
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=10",
    "-o",
    "ServerAliveInterval=15",
    "-o",
    "ServerAliveCountMax=4",
];

/// Limit in bytes for the answer to one of our commands, which is usually one word.
const LONGEST_ANSWER: u64 = 1 << 20;

/// Exit code of ssh when it cannot connect, or loses the connection.
const CONNECTION: i32 = 255;

/// A machine that ssh reaches.
pub(crate) struct SshMachine<'a> {
    host: &'a Host,
    ssh: Vec<String>,
}

impl<'a> SshMachine<'a> {
    /// The machine, through the user's own ssh.
    pub(crate) fn new(host: &'a Host) -> Result<SshMachine<'a>, RemoteError> {
        let set = std::env::var(SSH).unwrap_or_default();
        let words = shlex::split(&set).filter(|words| !words.is_empty() || set.is_empty());
        let words = words.ok_or_else(|| RemoteError::Choice("ssh".into(), format!("{SSH} is no command: {set}")))?;
        Ok(SshMachine {
            host,
            ssh: if words.is_empty() { vec!["ssh".into()] } else { words },
        })
    }

    /// A command there, for the machine's own `sh`.
    pub(crate) fn command(&self, script: &str) -> Command {
        let mut command = Command::new(&self.ssh[0]);
        command
            .args(&self.ssh[1..])
            .args(OPTIONS)
            .arg("--")
            .arg(&self.host.name);
        command.arg(shell(&["sh".into(), "-c".into(), script.into()]));
        command
    }

    /// Runs a command to its end; gives what it printed on standard output.
    fn run(&self, script: &str, input: Stdio) -> Result<Vec<u8>, RemoteError> {
        let mut command = self.command(script);
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| self.no_ssh(&e))?;
        let (mut output, errors) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
        let said = std::thread::spawn(move || ByteTail::of(errors));
        let mut answer = Vec::new();
        let read = (&mut output).take(LONGEST_ANSWER).read_to_end(&mut answer);
        // A machine that sends more is cut off: its next write fails.
        drop(output);
        let status = child.wait().map_err(|e| self.no_ssh(&e))?;
        let said = said.join().expect("reading does not panic");
        match (status.success(), read) {
            (true, Ok(_)) => Ok(answer),
            _ => {
                let last = said.last_line().unwrap_or_else(|| "it said nothing".into());
                Err(self.error(status.code(), &last))
            }
        }
    }

    /// The error for a command that ended with this code and these last words.
    pub(crate) fn error(&self, code: Option<i32>, said: &str) -> RemoteError {
        let reason = match code {
            Some(CONNECTION) | None => {
                format!(
                    "cannot be reached: {said}; check it with: {} {}",
                    shell(&self.ssh),
                    shell(std::slice::from_ref(&self.host.name))
                )
            }
            Some(126 | 127) => format!(
                "worstcase cannot be executed there: {said}; build it there and name it with worstcase=PATH in the hosts file"
            ),
            Some(code) => format!("it ended with exit code {code}: {said}"),
        };
        self.wrong(reason)
    }

    /// An error about this machine.
    pub(crate) fn wrong(&self, reason: String) -> RemoteError {
        RemoteError::Host {
            host: self.host.name.clone(),
            reason,
        }
    }

    /// The error when ssh cannot be started.
    pub(crate) fn no_ssh(&self, error: &std::io::Error) -> RemoteError {
        match error.kind() {
            ErrorKind::NotFound => RemoteError::NoProgram {
                program: self.ssh[0].clone(),
                remedy: "install it (Debian: openssh-client)",
            },
            _ => self.wrong(format!("{}: {error}", self.ssh[0])),
        }
    }

    /// Copies worstcase to the machine, unless the machine has it.
    pub(crate) fn provide(&self, executable: &Executable) -> Result<(), RemoteError> {
        if self.host.worstcase.is_some() {
            return Ok(());
        }
        let (folder, digest) = (self.cache(), &executable.digest);
        let at = format!("{folder}/{AREA}/{digest}");
        let there = self.run(&format!("if test -x {at}/{NAME}; then echo there; fi"), Stdio::null())?;
        if there == b"there\n" {
            return Ok(());
        }
        let file = File::open(&executable.path).map_err(RemoteError::io(&executable.path))?;
        let script = format!(
            "set -e; umask 077; mkdir -p {at}; cat > {at}/.$$; test $(wc -c < {at}/.$$) -eq {}; chmod 700 {at}/.$$; mv {at}/.$$ {at}/{NAME}",
            executable.bytes
        );
        self.run(&script, file.into()).map(drop)
    }

    /// The command that starts worstcase there with these arguments.
    pub(crate) fn worstcase(&self, executable: &Executable, arguments: &[String]) -> String {
        let folder = self.cache();
        let program = match &self.host.worstcase {
            Some(path) => shell(std::slice::from_ref(path)),
            None => format!("{folder}/{AREA}/{}/{NAME}", executable.digest),
        };
        format!("export WORSTCASE_CACHE={folder}; exec {program} {}", shell(arguments))
    }

    /// The folder of the machine's cache, as its shell finds it.
    fn cache(&self) -> String {
        match &self.host.cache {
            Some(folder) => shell(std::slice::from_ref(folder)),
            None => "\"${XDG_CACHE_HOME:-$HOME/.cache}\"/worstcase".into(),
        }
    }
}
