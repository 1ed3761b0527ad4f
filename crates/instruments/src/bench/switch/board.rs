//! What the members tell, in memory that they share with who measures.

use crate::bench::BenchError;
use crate::sys::memory::Mapping;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use worstcase_logs::Nanos;

/// Words at the beginning, then those of each member.
const TROUBLE: usize = 0;
const TURN: usize = 1;
const TOTAL: usize = 2;
const HOT: usize = 3;
const COLD: usize = 4;
const MEMBERS: usize = 8;
const WORDS: usize = 4;

/// What a member was doing when something failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Policy,
    Pin,
    Memory,
    Thread,
    Pass,
    Tell,
    Order,
}

impl Step {
    const ALL: [Step; 7] = [
        Step::Policy,
        Step::Pin,
        Step::Memory,
        Step::Thread,
        Step::Pass,
        Step::Tell,
        Step::Order,
    ];

    fn doing(self) -> &'static str {
        match self {
            Step::Policy => "a member of the ring taking SCHED_OTHER",
            Step::Pin => "keeping a member of the ring on its CPU",
            Step::Memory => "a member of the ring mapping its working set",
            Step::Thread => "starting a thread of the ring",
            Step::Pass => "a member of the ring passing the token",
            Step::Tell => "a member of the ring telling that it is done",
            Step::Order => "a member of the ring looking whether it is its turn",
        }
    }

    /// The system's answer with what was tried.
    pub(super) fn failed(self) -> impl Fn(io::Error) -> Trouble {
        move |error| Trouble {
            step: self,
            errno: error.raw_os_error().unwrap_or(libc::EIO),
        }
    }
}

/// Why a member gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    step: Step,
    errno: i32,
}

impl Trouble {
    /// The token came to a member whose turn it is not.
    pub(super) const ORDER: Trouble = Trouble {
        step: Step::Order,
        errno: 0,
    };
}

impl From<Trouble> for BenchError {
    fn from(trouble: Trouble) -> BenchError {
        match trouble.step {
            Step::Order => BenchError::Books("the token came to a member of the ring whose turn it was not".into()),
            step => BenchError::System {
                doing: step.doing(),
                source: io::Error::from_raw_os_error(trouble.errno),
            },
        }
    }
}

/// The times of the two ways to pass a token alone, and of the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    Total,
    Hot,
    Cold,
}

impl Time {
    fn word(self) -> usize {
        match self {
            Time::Total => TOTAL,
            Time::Hot => HOT,
            Time::Cold => COLD,
        }
    }
}

/// What a member tells in the end, all for the timed laps (moves: since one lap earlier).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Account {
    pub hops: u64,
    pub voluntary: u64,
    pub involuntary: u64,
    pub migrations: Option<u64>,
}

/// The shared memory.
pub(super) struct Board(Mapping);

impl Board {
    pub(super) fn new(members: usize) -> io::Result<Board> {
        Ok(Board(Mapping::shared((MEMBERS + members * WORDS) * size_of::<u64>())?))
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        &self.0.words()[at]
    }

    /// Tells of a failure; the first one stays.
    pub(super) fn report(&self, trouble: Trouble) {
        let value = (trouble.step as u64 + 1) << 32 | u64::from(trouble.errno as u32);
        let _ = self
            .word(TROUBLE)
            .compare_exchange(0, value, Ordering::SeqCst, Ordering::SeqCst);
    }

    pub(super) fn trouble(&self) -> Option<Trouble> {
        let value = self.word(TROUBLE).load(Ordering::SeqCst);
        let step = usize::try_from(value >> 32).ok()?.checked_sub(1)?;
        Some(Trouble {
            step: Step::ALL[step],
            errno: value as u32 as i32,
        })
    }

    /// Takes the next turn if it is `expected`.
    pub(super) fn take_turn(&self, expected: u64) -> Result<(), Trouble> {
        match self.word(TURN).fetch_add(1, Ordering::SeqCst) == expected {
            true => Ok(()),
            false => Err(Trouble::ORDER),
        }
    }

    pub(super) fn set(&self, time: Time, value: Nanos) {
        self.word(time.word()).store(value.0, Ordering::SeqCst);
    }

    pub(super) fn get(&self, time: Time) -> Nanos {
        Nanos(self.word(time.word()).load(Ordering::SeqCst))
    }

    /// A member's account; what it does not know is stored as 0, everything else plus 1.
    pub(super) fn set_account(&self, member: usize, account: Account) {
        let values = [
            Some(account.hops),
            Some(account.voluntary),
            Some(account.involuntary),
            account.migrations,
        ];
        for (at, value) in values.into_iter().enumerate() {
            let stored = value.map_or(0, |v| v + 1);
            self.word(MEMBERS + member * WORDS + at).store(stored, Ordering::SeqCst);
        }
    }

    /// A member's account, if it has given one.
    pub(super) fn account(&self, member: usize) -> Option<Account> {
        let value = |at| {
            let stored = self.word(MEMBERS + member * WORDS + at).load(Ordering::SeqCst);
            stored.checked_sub(1)
        };
        Some(Account {
            hops: value(0)?,
            voluntary: value(1)?,
            involuntary: value(2)?,
            migrations: value(3),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_trouble_is_told_in_words() {
        let board = Board::new(2).unwrap();
        assert_eq!(board.trouble(), None);
        for step in [Step::Pin, Step::Memory] {
            board.report(step.failed()(io::Error::from_raw_os_error(libc::EINVAL)));
        }
        let error = BenchError::from(board.trouble().unwrap()).to_string();
        assert!(
            error.starts_with("keeping a member of the ring on its CPU: Invalid argument"),
            "{error}"
        );
        for (at, step) in Step::ALL.into_iter().enumerate() {
            assert_eq!(step as usize, at);
        }
    }

    #[test]
    fn turns_come_one_after_the_other() {
        let board = Board::new(2).unwrap();
        assert_eq!(board.take_turn(0), Ok(()));
        assert_eq!(board.take_turn(1), Ok(()));
        assert_eq!(board.take_turn(1), Err(Trouble::ORDER));
    }

    #[test]
    fn accounts_are_kept_apart() {
        let board = Board::new(2).unwrap();
        let account = |n, migrations| Account {
            hops: n,
            voluntary: n + 1,
            involuntary: 0,
            migrations,
        };
        board.set_account(1, account(7, None));
        assert_eq!((board.account(0), board.account(1)), (None, Some(account(7, None))));
        board.set_account(0, account(3, Some(0)));
        assert_eq!(board.account(0), Some(account(3, Some(0))));
    }
}
