//! Slurm's own commands: squeue, sbatch, scancel and scontrol. Accounting is not needed.

use crate::RemoteError;
use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};
use worstcase_base::files;
use worstcase_base::tail::ByteTail;

/// A batch system, as the executor sees it.
pub trait Batch: Sync {
    /// The largest number of tasks in an array.
    fn most_tasks(&self) -> Result<usize, RemoteError>;
    /// Submits a script with these arguments of sbatch, and gives the job's number.
    fn submit(&self, arguments: &[String], script: &str) -> Result<String, RemoteError>;
    /// How many tasks of these jobs wait or run.
    fn queue(&self, jobs: &[String]) -> Result<SlurmQueue, RemoteError>;
    /// Cancels these jobs.
    fn cancel(&self, jobs: &[String]) -> Result<(), RemoteError>;
}

/// Tasks that wait and tasks that run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlurmQueue {
    /// Tasks that run, begin or end.
    running: usize,
    /// Tasks that wait.
    pub waiting: usize,
    /// Why they wait, if Slurm says so: `Resources`, `ReqNodeNotAvail`.
    pub reason: String,
}

impl SlurmQueue {
    /// Whether nothing waits or runs.
    pub fn is_empty(&self) -> bool {
        self.running + self.waiting == 0
    }

    /// For the progress line.
    pub fn words(&self) -> String {
        match (self.waiting, self.reason.as_str()) {
            (0, _) => format!("{} tasks run", self.running),
            (waiting, "" | "None") => format!("{} tasks run, {waiting} wait", self.running),
            (waiting, reason) => format!("{} tasks run, {waiting} wait ({reason})", self.running),
        }
    }
}

/// The Slurm cluster that this machine belongs to.
pub struct Slurm;

/// Slurm's default for MaxArraySize.
pub(crate) const USUAL_ARRAY: usize = 1_001;

impl Batch for Slurm {
    fn most_tasks(&self) -> Result<usize, RemoteError> {
        let config = run("scontrol", &["show".into(), "config".into()], None)?;
        let size = value(&config, "MaxArraySize").and_then(|size| size.parse().ok());
        // MaxArraySize is one above the largest index, and indices begin at 0.
        Ok(size.unwrap_or(USUAL_ARRAY).max(1))
    }

    fn submit(&self, arguments: &[String], script: &str) -> Result<String, RemoteError> {
        let said = run("sbatch", arguments, Some(script))?;
        // sbatch --parsable prints NUMBER or NUMBER;CLUSTER.
        let job = said.trim().split(';').next().unwrap_or_default().to_string();
        match job.parse::<u64>() {
            Ok(_) => Ok(job),
            Err(_) => Err(RemoteError::Slurm {
                command: "sbatch".into(),
                said: format!("it gave no job's number but '{}'", said.trim()),
            }),
        }
    }

    fn queue(&self, jobs: &[String]) -> Result<SlurmQueue, RemoteError> {
        let arguments = ["--noheader", "--array", "--format=%T|%r", "--jobs"];
        let mut arguments = arguments.map(String::from).to_vec();
        arguments.push(jobs.join(","));
        match run("squeue", &arguments, None) {
            Ok(text) => Ok(parse(&text)),
            // Slurm forgets a job some time after its end.
            Err(RemoteError::Slurm { said, .. }) if said.contains("Invalid job id") => Ok(SlurmQueue::default()),
            Err(other) => Err(other),
        }
    }

    fn cancel(&self, jobs: &[String]) -> Result<(), RemoteError> {
        run("scancel", jobs, None).map(drop)
    }
}

fn parse(text: &str) -> SlurmQueue {
    let mut queue = SlurmQueue::default();
    for line in text.lines() {
        let (state, reason) = line.trim().split_once('|').unwrap_or((line.trim(), ""));
        match state {
            "" => {}
            "PENDING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD" | "SPECIAL_EXIT" => {
                queue.waiting += 1;
                queue.reason = reason.into();
            }
            // RUNNING, CONFIGURING, COMPLETING, SUSPENDED, and states of jobs that are ending.
            _ => queue.running += 1,
        }
    }
    queue
}

fn value<'a>(config: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = config.lines().filter_map(|line| line.split_once('='));
    lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
}

/// Limit in bytes for what a command prints: a queue has one line per task.
const LONGEST_ANSWER: u64 = 64 << 20;

/// Runs a command; gives what it printed on standard output.
fn run(program: &str, arguments: &[String], input: Option<&str>) -> Result<String, RemoteError> {
    let started = Command::new(program)
        .args(arguments)
        .stdin(input.map_or_else(Stdio::null, |_| Stdio::piped()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let failed = |said: String| RemoteError::Slurm {
        command: program.into(),
        said,
    };
    let mut child = started.map_err(|e| match e.kind() {
        ErrorKind::NotFound => RemoteError::NoProgram {
            program: program.into(),
            remedy: "install Slurm's commands (Debian: slurm-client), or use --executor ssh:HOSTS-FILE",
        },
        _ => failed(e.to_string()),
    })?;
    if let Some((text, mut stdin)) = input.zip(child.stdin.take()) {
        // A command that does not read its input fails, and its exit code and its message say why.
        let _ = stdin.write_all(text.as_bytes());
    }
    let (stdout, stderr) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
    let said = std::thread::spawn(move || ByteTail::of(stderr));
    let mut answer = Vec::new();
    let read = files::all(stdout, LONGEST_ANSWER, &mut answer);
    let status = child.wait().map_err(|e| failed(e.to_string()))?;
    let said = said.join().expect("reading does not panic").text();
    read.map_err(|e| failed(e.to_string()))?;
    if status.success() {
        return Ok(String::from_utf8_lossy(&answer).into_owned());
    }
    let words: Vec<&str> = said.split_whitespace().collect();
    Err(failed(match words.is_empty() {
        true => status.to_string(),
        false => words.join(" "),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_slurm_says_is_understood() {
        let queue = parse("RUNNING|None\nPENDING|Resources\nPENDING|Resources\nCOMPLETING|None\n");
        assert_eq!((queue.running, queue.waiting), (2, 2));
        assert_eq!(queue.words(), "2 tasks run, 2 wait (Resources)");
        assert!(parse("").is_empty());
        let config = "Configuration data as of 2026\nMaxArraySize            = 4001\nMaxJobCount = 10000\n";
        assert_eq!(value(config, "MaxArraySize"), Some("4001"));
    }
}
