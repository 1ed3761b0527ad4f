//! Pacing: so many turns a second, on CLOCK_MONOTONIC.

use crate::sys::clock;
use worstcase_logs::Nanos;

const SECOND: u64 = 1_000_000_000;
/// Turns that were missed are made up for as long as they are not older than this: a stall does not lower the
/// rate, and what follows a long one is no burst.
const MAKE_UP: u64 = SECOND / 10;

/// Tokens for one worker: one falls due every `workers / rate` seconds.
#[derive(Clone, Debug)]
pub struct Pace(Option<Beat>);

#[derive(Clone, Debug)]
struct Beat {
    start: u64,
    rate: u64,
    workers: u64,
    turns: u64,
}

impl Pace {
    /// Turns of worker `worker` of `workers`, which together do `rate` a second; as fast as it can without a rate.
    pub fn new(rate: Option<u32>, worker: u64, workers: u64) -> Pace {
        Pace(rate.map(|rate| Beat {
            start: clock::monotonic().0 + worker * SECOND / u64::from(rate),
            rate: u64::from(rate),
            workers,
            turns: 0,
        }))
    }

    /// For the only worker of a load.
    pub fn alone(rate: Option<u32>) -> Pace {
        Pace::new(rate, 0, 1)
    }

    /// Waits until the next turn is due.
    pub fn wait(&mut self) {
        if let Some(beat) = &mut self.0 {
            let now = clock::monotonic().0;
            let due = beat.next(now);
            if due > now {
                clock::sleep_until(Nanos(due));
            }
        }
    }
}

impl Beat {
    /// When the next turn is due, seen from `now`.
    fn next(&mut self, now: u64) -> u64 {
        let mut due = self.due();
        if now > due + MAKE_UP {
            self.start = now - MAKE_UP;
            self.turns = 0;
            due = self.start;
        }
        self.turns += 1;
        due
    }

    /// Computed from the number of turns, so that no rounding adds up.
    fn due(&self) -> u64 {
        let since = u128::from(self.turns) * u128::from(self.workers) * u128::from(SECOND) / u128::from(self.rate);
        self.start + since as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beat(rate: u64, workers: u64) -> Beat {
        Beat {
            start: 1000 * SECOND,
            rate,
            workers,
            turns: 0,
        }
    }

    #[test]
    fn a_second_holds_as_many_turns_as_the_rate_says() {
        for (rate, workers) in [(3, 1), (1000, 1), (999, 3), (7, 7)] {
            let mut beat = beat(rate, workers);
            let end = beat.start + SECOND;
            let turns = (0..).take_while(|_| beat.next(beat.start) < end).count() as u64;
            assert_eq!(turns, rate.div_ceil(workers), "{rate} by {workers}");
        }
    }

    #[test]
    fn a_short_stall_is_made_up_for_and_a_long_one_is_no_burst() {
        let mut b = beat(1000, 1);
        b.next(b.start);
        let late = b.start + SECOND / 20;
        let made_up = (0..).take_while(|_| b.next(late) <= late).count();
        assert_eq!(made_up, 50);
        let mut b = beat(1000, 1);
        let late = b.start + 60 * SECOND;
        let made_up = (0..).take_while(|_| b.next(late) <= late).count();
        assert_eq!(made_up, 101);
    }
}
