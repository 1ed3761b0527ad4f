//! Groups of senders and receivers: how long message passing takes (the method of Rusty Russell's hackbench).
//!
//! ```text
//! limits   what it needs, and whether this machine has it
//! shared    what senders and receivers of a run share, and what each of them does
//! crew     the children: started, watched, reaped, ended
//! run      one run, timed
//! latency  how long each message took, as a histogram
//! ```
//! Each of a group's senders sends each of its messages to every receiver of the group in turn; a receiver has one UNIX
//! stream socket or pipe that all senders of its group write to. A sample is the time of one run: from the start
//! signal, given when all report ready, until all have ended and are reaped (threads: joined).

mod crew;
mod latency;
mod limits;
mod parameters;
mod run;
mod shared;

pub use parameters::{Hackbench, Transport};

use super::{BenchError, BenchResult, HackbenchDetails, Instrumented, Marks, Observer, Request};
use crate::sys::rlimit::Resource;
use crate::sys::{affinity, clock};
use latency::Histogram;

/// What is to be done, and where.
struct Plan {
    what: Hackbench,
    /// Everybody may run on these, or has one of them; empty: where the caller may.
    cpus: Vec<u32>,
}

impl Plan {
    fn new(what: &Hackbench, request: &Request<'_>) -> Result<Plan, BenchError> {
        let mut cpus = request.cpus.to_vec();
        if (what.cpus > 0 || what.pinned) && cpus.is_empty() {
            cpus = affinity::current().map_err(BenchError::system("asking for the CPUs"))?;
        }
        if what.cpus > 0 {
            if cpus.len() < what.cpus.into() {
                return Err(BenchError::Limit(format!(
                    "{what} asks for {} CPUs, and may run on {} here: ask for +cpus{}",
                    what.cpus,
                    cpus.len(),
                    cpus.len()
                )));
            }
            cpus.truncate(what.cpus.into());
        }
        Ok(Plan { what: *what, cpus })
    }
}

impl Hackbench {
    fn receivers(&self) -> usize {
        usize::from(self.groups) * usize::from(self.pairs)
    }

    fn tasks(&self) -> usize {
        2 * self.receivers()
    }

    fn messages_of_a_receiver(&self) -> u64 {
        u64::from(self.pairs) * u64::from(self.messages)
    }

    fn all_messages(&self) -> u64 {
        self.receivers() as u64 * self.messages_of_a_receiver()
    }

    /// Bytes that the kernel never mixes with what another sender writes to the same channel: PIPE_BUF, and what
    /// AF_UNIX surely puts in one buffer.
    fn whole(&self) -> u32 {
        match self.transport {
            Transport::Pipes => 4 << 10,
            Transport::Sockets => 32 << 10,
        }
    }
}

impl Instrumented for Hackbench {
    type Details = HackbenchDetails;

    fn is_spread(&self) -> bool {
        true
    }

    fn check(&self, request: &Request<'_>) -> Result<(), BenchError> {
        check(self, request)
    }

    fn measure(
        &self,
        request: &Request<'_>,
        observer: &mut dyn Observer,
    ) -> Result<BenchResult<HackbenchDetails>, BenchError> {
        measure(self, request, observer)
    }
}

/// Refuses what this machine cannot do.
fn check(what: &Hackbench, request: &Request<'_>) -> Result<(), BenchError> {
    Plan::new(what, request)?;
    if what.latency && what.pairs > 1 && what.size > what.whole() {
        return Err(BenchError::Limit(format!(
            "{what}: through {} several senders' messages of more than {} bytes mix, and with them the times they carry: \
             ask for smaller ones, for one sender, or without +latency",
            what.transport.word(),
            what.whole()
        )));
    }
    limits::check(what)
}

/// Does `request.repetitions` runs.
fn measure(
    what: &Hackbench,
    request: &Request<'_>,
    observer: &mut dyn Observer,
) -> Result<BenchResult<HackbenchDetails>, BenchError> {
    let plan = Plan::new(what, request)?;
    let mut marks = Marks::new(request.repetitions);
    let mut histogram = Histogram::new();
    let mut runs = Vec::with_capacity(request.repetitions as usize);
    let mut early = 0;
    let files = limits::open_files_needed(what);
    let _raised = Resource::Files
        .raise(files)
        .map_err(BenchError::system("raising the limit of open files"))?;

    clock::sleep_until(request.start);
    marks.begin();
    for _ in 0..request.repetitions {
        if observer.wants_end() {
            break;
        }
        let Some(ran) = run::run(&plan, &mut marks, &mut histogram, observer)? else {
            break;
        };
        early += ran.early;
        runs.push(ran.run);
        observer.sample(ran.sample);
    }
    marks.end();

    let mut warnings = limits::warnings(what);
    if early > 0 {
        warnings.push(format!(
            "{early} messages came before they were sent and count as 0: the clock is not sound"
        ));
    }
    let messages = what.all_messages();
    if what.latency && histogram.total() != messages * runs.len() as u64 {
        return Err(BenchError::Books(format!(
            "{} latencies of {} messages",
            histogram.total(),
            messages * runs.len() as u64
        )));
    }
    Ok(BenchResult {
        samples: marks.samples(),
        details: HackbenchDetails {
            processes: what.tasks() as u32,
            messages,
            runs,
            message_latency: what.latency.then(|| histogram.into_list()),
        },
        warnings,
    })
}
