//! Which round begins when: pure functions, no clock.

use super::Request;
use worstcase_logs::Nanos;

/// Round `index` begins at `start + index * period`, for `index < count`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounds {
    /// Beginning of the first.
    pub start: Nanos,
    /// Distance of two.
    pub period: Nanos,
    /// How many.
    pub count: u32,
}

impl Rounds {
    /// Those of a request.
    pub(crate) fn of(request: &Request<'_>) -> Rounds {
        Rounds {
            start: request.start,
            period: request.period,
            count: request.repetitions,
        }
    }

    /// When a round begins.
    pub fn due(&self, index: u32) -> Nanos {
        Nanos(self.start.0 + u64::from(index) * self.period.0)
    }

    /// The first round from `from` on whose beginning is not past; those before it are missed.
    pub fn next(&self, from: u32, now: Nanos) -> Option<u32> {
        let past = now.saturating_sub(self.start).0.div_ceil(self.period.0);
        let index = u64::from(from).max(past);
        u32::try_from(index).ok().filter(|index| *index < self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUNDS: Rounds = Rounds {
        start: Nanos(1_000),
        period: Nanos(100),
        count: 10,
    };

    #[test]
    fn in_time_every_round_is_played() {
        assert_eq!(ROUNDS.next(0, Nanos(0)), Some(0));
        assert_eq!(ROUNDS.next(0, Nanos(1_000)), Some(0));
        assert_eq!(ROUNDS.next(1, Nanos(1_050)), Some(1));
        assert_eq!(ROUNDS.next(1, Nanos(1_100)), Some(1));
        assert_eq!(ROUNDS.due(1), Nanos(1_100));
    }

    #[test]
    fn a_beginning_that_is_past_is_missed() {
        assert_eq!(ROUNDS.next(0, Nanos(1_001)), Some(1));
        assert_eq!(ROUNDS.next(1, Nanos(1_101)), Some(2));
        assert_eq!(ROUNDS.next(3, Nanos(1_850)), Some(9));
    }

    #[test]
    fn after_the_last_there_is_none() {
        assert_eq!(ROUNDS.next(10, Nanos(1_000)), None);
        assert_eq!(ROUNDS.next(3, Nanos(1_901)), None);
        assert_eq!(ROUNDS.next(0, Nanos(u64::MAX)), None);
    }
}
