//! What the probe needs of this machine.

use super::plan::Plan;
use crate::bench::limits;
use crate::bench::{BenchError, Switch, Via};
use crate::sys::memory::page_size;

/// Files that are open for other reasons while the ring runs, beside those open now.
const SPARE_FILES: u64 = 16;
/// Bytes that a process takes beside its working set: stacks, page tables, copied pages.
const PER_PROCESS: u64 = 128 << 10;

/// Refuses what this machine has too little of.
pub(super) fn check(what: &Switch, plan: &Plan) -> Result<(), BenchError> {
    let demands = limits::tasks(plan.members as u64 + 1).into_iter();
    limits::meet(
        what,
        demands.chain([limits::open_files(files(plan)), limits::memory(memory(plan))]),
    )
}

/// Files that must be allowed to be open at once.
pub(super) fn files(plan: &Plan) -> u64 {
    let each = match plan.via {
        Via::Pipe => 2,
        Via::Eventfd => 1,
        Via::Futex => 0,
    };
    // Threads look at their own moves, each with a file of its own.
    let own = if plan.threads { plan.members as u64 } else { 1 };
    each * plan.members as u64 + own + limits::open_now() + SPARE_FILES
}

/// Bytes at most, roughly: each member's working set twice, for the ring and for one process alone.
fn memory(plan: &Plan) -> u64 {
    let set = plan.size.next_multiple_of(page_size()) as u64;
    plan.members as u64 * (2 * set + PER_PROCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::named;

    fn plan(text: &str) -> Plan {
        Plan::new(&named(text), &[])
    }

    #[test]
    fn memory_is_that_of_the_working_sets() {
        assert_eq!(memory(&plan("switch:4096x64m")) >> 20, 524_800);
    }

    #[test]
    fn files_are_those_of_the_links() {
        let more = |via: &str| files(&plan(&format!("switch:1002x0{via}"))) - files(&plan(&format!("switch:2x0{via}")));
        assert_eq!((more(""), more("+eventfd"), more("+futex")), (2000, 1000, 0));
    }
}
