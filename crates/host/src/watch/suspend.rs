//! Detects suspends: the clock that counts suspended time is then ahead of the one that does not.

use rustix::time::{ClockId, clock_gettime};
use worstcase_contract::Nanos;

/// A smaller difference may be the time between reading the two clocks.
const LEAST: Nanos = Nanos(500_000_000);

/// How far the boot-time clock is ahead.
pub(crate) struct Sleeps {
    ahead: Nanos,
}

impl Sleeps {
    /// Counts from now on.
    pub fn new() -> Sleeps {
        Sleeps { ahead: ahead() }
    }

    /// How long the machine was suspended since the last call.
    pub fn since(&mut self) -> Option<Nanos> {
        self.step(ahead())
    }

    fn step(&mut self, ahead: Nanos) -> Option<Nanos> {
        let slept = ahead.saturating_sub(self.ahead);
        self.ahead = ahead;
        (slept >= LEAST).then_some(slept)
    }
}

fn ahead() -> Nanos {
    let read = |clock| {
        let time = clock_gettime(clock);
        Nanos(time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned())
    };
    // In this order the time between the two readings looks like a suspend, never like a negative time.
    let monotonic = read(ClockId::Monotonic);
    read(ClockId::Boottime).saturating_sub(monotonic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_is_told_once_and_readings_are_no_sleep() {
        let mut sleeps = Sleeps { ahead: Nanos(7) };
        assert_eq!(sleeps.step(Nanos(20_000_000)), None);
        let hour = Nanos(3_600_000_000_000);
        assert_eq!(sleeps.step(hour), Some(Nanos(hour.0 - 20_000_000)));
        assert_eq!(sleeps.step(hour), None);
        assert_eq!(Sleeps::new().since(), None);
    }
}
