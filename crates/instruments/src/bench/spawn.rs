//! `spawn`: what a new process costs, in lmbench's three steps (lat_proc).
//!
//! ```text
//! fork   forks a child that ends at once, and waits for it
//! exec   forks a child that executes a program that ends at once, and waits for it
//! sh     forks a child that executes `sh -c PROGRAM`, and waits for it
//! ```
//! Program and shell are the system's, `/bin/true` and `/bin/sh`. Where a machine has none, as the lab's has not, they are
//! this very program: a shell then forks, executes what `-c` names, and waits.

use super::spelling::words;
use super::{BenchError, BenchResult, Instrumented, Marks, Observer, Request, SpawnDetails, limits};
use crate::sys::process::{self, Exit, Waited};
use crate::sys::{affinity, clock, signal};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use worstcase_logs::Nanos;

/// A new process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Spawn {
    /// How much of it.
    pub step: Step,
}

/// How much of a new process is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Step {
    /// A copy that ends.
    Fork,
    /// One that executes a program.
    Exec,
    /// One that has a shell execute it.
    Sh,
}

words!(Step: Fork "fork", Exec "exec", Sh "sh");

impl fmt::Display for Spawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "spawn+{}", self.step.word())
    }
}

/// By these arguments a program that carries this probe knows that it is to be a shell, or to end at once.
const SHELL: &str = "--worstcase-spawn-shell";
pub(crate) const NOTHING: &str = "--worstcase-spawn-nothing";
const OWN: &str = "/proc/self/exe";

const TRUE: &str = "/bin/true";
const SH: &str = "/bin/sh";

/// The system could not execute it, as shells say it.
const NOT_EXECUTED: i32 = 127;

/// Ends the process if it was started as a shell or to end at once.
pub(crate) fn child_main() {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(first) if first == NOTHING => process::exit_now(0),
        Some(first) if first == SHELL => {
            let done = run(&Program::own());
            process::exit_now(i32::from(done.is_err()));
        }
        _ => {}
    }
}

/// Something to execute.
struct Program {
    path: &'static str,
    arguments: Vec<String>,
}

impl Program {
    fn own() -> Program {
        Program {
            path: OWN,
            arguments: vec![NOTHING.into()],
        }
    }

    /// What a step executes on this machine; nothing is executed by `fork`.
    fn of(step: Step) -> Option<Program> {
        let exist = |paths: &[&str]| paths.iter().all(|path| Path::new(path).exists());
        let (path, arguments): (_, &[&str]) = match step {
            Step::Fork => return None,
            Step::Exec if exist(&[TRUE]) => (TRUE, &[]),
            Step::Sh if exist(&[SH, TRUE]) => (SH, &["-c", TRUE]),
            Step::Exec => return Some(Program::own()),
            Step::Sh => (OWN, &[SHELL, "-c"]),
        };
        Some(Program {
            path,
            arguments: arguments.iter().map(ToString::to_string).collect(),
        })
    }
}

impl Instrumented for Spawn {
    type Details = SpawnDetails;

    fn check(&self, _request: &Request<'_>) -> Result<(), BenchError> {
        check(self)
    }

    fn measure(
        &self,
        request: &Request<'_>,
        observer: &mut dyn Observer,
    ) -> Result<BenchResult<SpawnDetails>, BenchError> {
        measure(self, request, observer)
    }
}

/// Refuses what this machine cannot do.
fn check(what: &Spawn) -> Result<(), BenchError> {
    limits::meet(what, limits::tasks(2))
}

/// Takes the samples.
fn measure(
    what: &Spawn,
    request: &Request<'_>,
    observer: &mut dyn Observer,
) -> Result<BenchResult<SpawnDetails>, BenchError> {
    check(what)?;
    if !request.cpus.is_empty() {
        affinity::set(request.cpus).map_err(BenchError::system("cannot run on these CPUs"))?;
    }
    let program = Program::of(what.step);
    let mut marks = Marks::new(request.repetitions);
    // Once without a sample: whatever is made or touched at the first use is there from now on.
    once(program.as_ref())?;
    clock::sleep_until(request.start);
    marks.begin();
    for _ in 0..request.repetitions {
        if observer.wants_end() {
            break;
        }
        let took = once(program.as_ref())?;
        observer.sample(marks.sample(took));
    }
    marks.end();
    Ok(BenchResult {
        samples: marks.samples(),
        details: SpawnDetails {
            program: program.map(|program| match program.path {
                OWN => "worstcase's own".into(),
                path => path.into(),
            }),
        },
        warnings: Vec::new(),
    })
}

/// Makes a process and waits for its end; how long that took.
#[inline(always)]
fn once(program: Option<&Program>) -> Result<Nanos, BenchError> {
    let before = clock::monotonic();
    match program {
        None => wait_for(process::fork(signal::SIGKILL, || 0)).map(drop)?,
        Some(program) => run(program)?,
    }
    Ok(clock::monotonic().saturating_sub(before))
}

#[inline(always)]
fn run(program: &Program) -> Result<(), BenchError> {
    let child = process::fork(signal::SIGKILL, || {
        process::exec(program.path, &program.arguments);
        NOT_EXECUTED
    });
    match wait_for(child)? {
        Exit::Code(0) => Ok(()),
        Exit::Code(NOT_EXECUTED) => Err(BenchError::Missing(format!("cannot execute {}", program.path))),
        exit => Err(BenchError::Books(format!("{} ended with {exit}", program.path))),
    }
}

#[inline(always)]
fn wait_for(child: std::io::Result<process::Pid>) -> Result<Exit, BenchError> {
    let child = child.map_err(BenchError::system("cannot fork"))?;
    match process::wait(child, true).map_err(BenchError::system("cannot wait for a child"))? {
        Waited::Ended(_, exit) => Ok(exit),
        other => Err(BenchError::Books(format!("waiting for a child gave {other:?}"))),
    }
}
