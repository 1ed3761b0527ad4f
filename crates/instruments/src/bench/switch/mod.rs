//! `switch`: what it costs to switch from one process to another, as lmbench's lat_ctx asks it.
//!
//! A ring of processes (or threads) passes one token; each reads its working set before it passes the token on. The same
//! passing and reading by one process alone is taken beside it: what the ring takes longer is the switch, and what the
//! switch does to the caches.
//!
//! ```text
//! plan    how many laps, decided beforehand          crew    forked processes and their news, all reaped in the end
//! limits  what this machine allows                   ring    the members, in processes or threads of one
//! link    what a token is passed through             member  what each of them does
//! work    the working set, and CPU time to spend     alone   one process that does the same without switching
//! board   what they tell, in shared memory           ledger  switches, moves and order as a member sees them
//! again   repetitions that are too far off
//! ```

mod again;
mod alone;
mod board;
mod crew;
mod ledger;
mod limits;
mod link;
mod member;
mod parameters;
mod plan;
mod ring;
mod work;

pub use parameters::{Placement, Switch, Via};

use super::{BenchError, BenchResult, Instrumented, Marks, Observer, Request, SwitchDetails};
use crate::sys::rlimit::Resource;
use crate::sys::{affinity, clock};
use plan::Plan;

impl Instrumented for Switch {
    type Details = SwitchDetails;

    fn check(&self, request: &Request<'_>) -> Result<(), BenchError> {
        check(self, request)
    }

    fn measure(
        &self,
        request: &Request<'_>,
        observer: &mut dyn Observer,
    ) -> Result<BenchResult<SwitchDetails>, BenchError> {
        measure(self, request, observer)
    }
}

/// Refuses what this machine cannot do.
fn check(what: &Switch, request: &Request<'_>) -> Result<(), BenchError> {
    limits::check(what, &Plan::new(what, request.cpus))
}

/// Measures: each repetition first alone, then a ring of fresh processes.
fn measure(
    what: &Switch,
    request: &Request<'_>,
    observer: &mut dyn Observer,
) -> Result<BenchResult<SwitchDetails>, BenchError> {
    let plan = Plan::new(what, request.cpus);
    let one_cpu = on_one_cpu(request.cpus)?;
    let _raised = Resource::Files
        .raise(limits::files(&plan))
        .map_err(BenchError::system("raising the limit of open files"))?;
    let mut marks = Marks::new(request.repetitions);
    let mut repetitions = Vec::new();
    clock::sleep_until(request.start);
    marks.begin();
    for _ in 0..request.repetitions {
        if observer.wants_end() {
            break;
        }
        let Some(alone) = alone::measure(&plan, observer)? else {
            break;
        };
        let Some((running, total)) = ring::measure(&plan, observer)? else {
            break;
        };
        let value = plan.each(total);
        clock::monotonic();
        let sample = marks.sample(value);
        repetitions.push(running.finish(&plan, total, alone)?);
        observer.sample(sample);
    }
    marks.end();
    let again = again::measure(what.again, &plan, &repetitions, observer)?;
    let mut warnings = Vec::new();
    let few = |r: &&_| one_cpu && plan.switched_too_little(r);
    let suspect = repetitions.iter().filter(few).count();
    if suspect > 0 {
        warnings.push(format!(
            "NOT EVERY HOP SWITCHED: {suspect} of {} repetitions counted fewer switches than 90 % of the hops, though all ran on one CPU",
            repetitions.len()
        ));
    }
    Ok(BenchResult {
        samples: marks.samples(),
        details: SwitchDetails {
            hops: plan.hops(),
            repetitions,
            again,
        },
        warnings,
    })
}

/// Whether all members share a CPU, so that none can get the token without a switch.
fn on_one_cpu(cpus: &[u32]) -> Result<bool, BenchError> {
    match cpus {
        [] => {
            let allowed = affinity::current().map_err(BenchError::system("reading the CPUs that may be used"))?;
            Ok(allowed.len() == 1)
        }
        [first, rest @ ..] => Ok(rest.iter().all(|cpu| cpu == first)),
    }
}
