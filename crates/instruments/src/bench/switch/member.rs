//! What a member of the ring does. Every one of them goes through the same laps:
//!
//! ```text
//! warm-up laps | a lap in which each notes its moves | one in which each notes its switches | timed laps | one to close
//! ```
//! Member 0 starts each lap and reads the clock, before its first timed token leaves and after the last one came back.

use super::board::{Board, Step, Time, Trouble};
use super::ledger::Ledger;
use super::link::Links;
use super::plan::Plan;
use super::work::{self, WorkingSets};
use crate::bench::link::Link;
use crate::sys::{affinity, clock, sched};
use std::fs::File;
use std::io::Write;

/// Bytes of a thread's stack.
pub(super) const STACK: usize = 64 * 1024;

/// What a member is given.
#[derive(Clone, Copy)]
pub(super) struct MemberPosition<'a> {
    pub plan: &'a Plan,
    pub links: &'a Links,
    pub board: &'a Board,
}

/// Makes the calling thread what every member is: SCHED_OTHER, on its CPU.
pub(super) fn become_member(plan: &Plan, member: usize) -> Result<(), Trouble> {
    sched::Policy::OTHER.apply().map_err(Step::Policy.failed())?;
    match plan.cpu_of(member) {
        Some(cpu) => affinity::set(&[cpu]).map_err(Step::Pin.failed()),
        None => Ok(()),
    }
}

struct Member<'a> {
    place: MemberPosition<'a>,
    input: Link<'a>,
    output: Link<'a>,
    set: WorkingSets,
    ledger: Ledger<'a>,
}

impl<'a> Member<'a> {
    fn new(place: MemberPosition<'a>, member: usize) -> Result<Member<'a>, Trouble> {
        let members = place.plan.members;
        become_member(place.plan, member)?;
        Ok(Member {
            place,
            input: place.links.get((member + members - 1) % members),
            output: place.links.get(member),
            set: WorkingSets::new(1, place.plan.size).map_err(Step::Memory.failed())?,
            ledger: Ledger::new(place.board, member, members),
        })
    }

    #[inline(always)]
    fn send(&self) -> Result<(), Trouble> {
        self.output.send().map_err(Step::Pass.failed())
    }

    #[inline(always)]
    fn receive(&self) -> Result<(), Trouble> {
        self.input.receive().map_err(Step::Pass.failed())
    }

    #[inline(always)]
    fn work(&self) {
        self.set.read(0);
        if self.place.plan.spin.0 > 0 {
            work::spend(self.place.plan.spin);
        }
    }
}

/// Member 0. `done` is told when the time is known.
pub(super) fn lead(place: MemberPosition<'_>, done: &File) -> Result<(), Trouble> {
    let mut own = Member::new(place, 0)?;
    // Not inlined: warm-up and timed laps are the same instructions.
    #[inline(never)]
    fn laps(own: &Member<'_>, laps: u64) -> Result<u64, Trouble> {
        for _ in 0..laps {
            own.send()?;
            own.receive()?;
            own.work();
        }
        Ok(laps)
    }
    laps(&own, place.plan.warmup)?;
    own.ledger.take_turn()?;
    own.ledger.note_moves();
    laps(&own, 1)?;
    own.ledger.take_turn()?;
    laps(&own, 1)?;
    own.ledger.note_switches();
    let begin = clock::monotonic();
    let hops = laps(&own, place.plan.laps)?;
    let end = clock::monotonic();
    own.ledger.close(hops, 0);
    place.board.set(Time::Total, end - begin);
    let mut done = done;
    done.write_all(&[0]).map_err(Step::Tell.failed())?;
    own.ledger.take_turn()?;
    own.send()?;
    own.receive()
}

/// Every other member.
pub(super) fn follow(place: MemberPosition<'_>, member: usize) -> Result<(), Trouble> {
    let mut own = Member::new(place, member)?;
    #[inline(never)]
    fn hops(own: &Member<'_>, hops: u64) -> Result<u64, Trouble> {
        for _ in 0..hops {
            own.receive()?;
            own.work();
            own.send()?;
        }
        Ok(hops)
    }
    hops(&own, place.plan.warmup)?;
    own.receive()?;
    own.ledger.take_turn()?;
    own.ledger.note_moves();
    own.work();
    own.send()?;
    own.receive()?;
    own.ledger.take_turn()?;
    own.ledger.note_switches();
    own.work();
    own.send()?;
    let hops = hops(&own, place.plan.laps)?;
    own.receive()?;
    own.ledger.take_turn()?;
    own.ledger.close(hops, 1);
    own.send()
}
