//! The same passing and reading by one process: what of a hop is not the switch.
//!
//! It sends to itself through as many links as the ring has. It reads either always the same working set (`hot`), or as
//! many as the ring has members in turn (`cold`). It does not spend the CPU time that members spend, but reads the CPU clock as often.

use super::board::{Board, Step, Time, Trouble};
use super::crew::Crew;
use super::link::Links;
use super::member::{MemberPosition, STACK, become_member};
use super::plan::Plan;
use super::work::{self, WorkingSets};
use crate::bench::{BenchError, Observer};
use crate::sys::clock;
use worstcase_logs::Nanos;

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alone {
    pub hot: Nanos,
    pub cold: Nanos,
}

/// Measures in a process of its own; nothing if an end is wanted.
pub(super) fn measure(plan: &Plan, observer: &mut dyn Observer) -> Result<Option<Alone>, BenchError> {
    let board = Board::new(0).map_err(BenchError::system("mapping shared memory"))?;
    let links = Links::new(plan).map_err(BenchError::system("making what the token is passed through"))?;
    let place = MemberPosition {
        plan,
        links: &links,
        board: &board,
    };
    let mut crew = Crew::new()?;
    crew.start(&board, |_| pass(place))?;
    crew.complete();
    match crew.wait_until_ended(&board, observer)? {
        true => Ok(Some(Alone {
            hot: board.get(Time::Hot),
            cold: board.get(Time::Cold),
        })),
        false => Ok(None),
    }
}

fn pass(place: MemberPosition<'_>) -> Result<(), Trouble> {
    become_member(place.plan, 0)?;
    if place.plan.threads {
        // Another thread, which sleeps: system calls of a process with several threads cost more.
        std::thread::Builder::new()
            .stack_size(STACK)
            .spawn(|| clock::sleep_until(Nanos(u64::MAX / 2)))
            .map_err(Step::Thread.failed())?;
    }
    let sets = WorkingSets::new(place.plan.members, place.plan.size).map_err(Step::Memory.failed())?;
    for (time, step) in [(Time::Hot, 0), (Time::Cold, 1)] {
        laps(place, &sets, step, place.plan.laps_before())?;
        let begin = clock::monotonic();
        laps(place, &sets, step, place.plan.laps)?;
        place.board.set(time, clock::monotonic() - begin);
    }
    Ok(())
}

/// `step` is how many sets further the next member's is.
#[inline(never)]
fn laps(place: MemberPosition<'_>, sets: &WorkingSets, step: usize, laps: u64) -> Result<(), Trouble> {
    for _ in 0..laps {
        for member in 0..place.plan.members {
            let link = place.links.get(member);
            link.send().map_err(Step::Pass.failed())?;
            link.receive().map_err(Step::Pass.failed())?;
            sets.read(member * step);
            if place.plan.spin.0 > 0 {
                work::spend(Nanos(0));
            }
        }
    }
    Ok(())
}
