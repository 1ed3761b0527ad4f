//! A ring of fresh processes, or of threads of a fresh process.

use super::alone::Alone;
use super::board::{Board, Step, Time, Trouble};
use super::crew::Crew;
use super::link::Links;
use super::member::{self, MemberPosition, STACK};
use super::plan::Plan;
use crate::bench::{BenchError, Observer, SwitchRepetition};
use crate::record::Sample;
use crate::sys::process;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use worstcase_logs::Nanos;

/// A ring that has its time, and has still to end.
pub(super) struct Running {
    crew: Crew,
    board: Board,
    // Kept until all have ended.
    _links: Links,
}

/// The time of all hops; nothing if an end is wanted.
pub(super) fn measure(plan: &Plan, observer: &mut dyn Observer) -> Result<Option<(Running, Nanos)>, BenchError> {
    let board = Board::new(plan.members).map_err(BenchError::system("mapping shared memory"))?;
    let links = Links::new(plan).map_err(BenchError::system("making what the token is passed through"))?;
    let place = MemberPosition {
        plan,
        links: &links,
        board: &board,
    };
    let mut crew = Crew::new()?;
    if plan.threads {
        crew.start(&board, |done| threads(place, done))?;
    } else {
        for follower in 1..plan.members {
            crew.start(&board, |_| member::follow(place, follower))?;
        }
        // The last one: from now on there is nothing to do here that could disturb it.
        crew.start(&board, |done| member::lead(place, done))?;
    }
    crew.complete();
    if !crew.wait_until_done(&board, observer)? {
        return Ok(None);
    }
    let total = board.get(Time::Total);
    let running = Running {
        crew,
        board,
        _links: links,
    };
    Ok(Some((running, total)))
}

/// All members in this process, which is ended by the first of them that fails.
fn threads(place: MemberPosition<'_>, done: &File) -> Result<(), Trouble> {
    std::thread::scope(|scope| {
        for follower in 1..place.plan.members {
            std::thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, move || follow_or_end(place, follower))
                .map_err(|error| {
                    // Those that run already would wait for ever for the token.
                    place.board.report(Step::Thread.failed()(error));
                    process::exit_now(1)
                })?;
        }
        member::lead(place, done).map_err(|trouble| {
            place.board.report(trouble);
            process::exit_now(1)
        })
    })
}

fn follow_or_end(place: MemberPosition<'_>, follower: usize) {
    match catch_unwind(AssertUnwindSafe(|| member::follow(place, follower))) {
        Ok(Ok(())) => {}
        Ok(Err(trouble)) => {
            place.board.report(trouble);
            process::exit_now(1)
        }
        Err(_) => process::exit_now(101),
    }
}

/// Asks for no end: closing takes one lap without work.
struct Unobserved;

impl Observer for Unobserved {
    fn sample(&mut self, _sample: Sample) {}

    fn wants_end(&mut self) -> bool {
        false
    }
}

impl Running {
    /// Lets all members end, and adds up what they tell.
    pub(super) fn finish(mut self, plan: &Plan, total: Nanos, alone: Alone) -> Result<SwitchRepetition, BenchError> {
        self.crew.wait_until_ended(&self.board, &mut Unobserved)?;
        let mut sum = SwitchRepetition {
            total,
            hot: alone.hot,
            cold: alone.cold,
            voluntary: 0,
            involuntary: 0,
            migrations: Some(0),
        };
        for member in 0..plan.members {
            let told = self.board.account(member);
            let account = told.filter(|account| account.hops == plan.laps).ok_or_else(|| {
                BenchError::Books(format!(
                    "member {member} of the ring passed {:?} timed tokens on, not {}",
                    told.map(|account| account.hops),
                    plan.laps
                ))
            })?;
            sum.voluntary += account.voluntary;
            sum.involuntary += account.involuntary;
            sum.migrations = sum.migrations.zip(account.migrations).map(|(a, b)| a + b);
        }
        Ok(sum)
    }
}
