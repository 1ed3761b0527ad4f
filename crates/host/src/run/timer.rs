//! Chooses the timer that wakes a measuring thread: the requested one, if possible, or the probe's default.

use crate::{HostError, MachineFacts};
use worstcase_contract::{Nanos, Probe};
use worstcase_instruments::sys::rtc;
use worstcase_plan::{Method, PreemptName, SchedulingPolicy, TimerKind};

/// The facts of a machine that decide.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    has_rtc: bool,
    /// Whether the RTC's timer runs in a thread. To switch the RTC off the kernel waits for that thread in a loop that
    /// does not sleep: a reader of higher priority, killed at the wrong moment, keeps that thread from its CPU forever.
    in_threads: bool,
}

impl Clocks {
    pub(crate) fn of(facts: &MachineFacts) -> Clocks {
        Clocks {
            has_rtc: rtc::device().is_some(),
            in_threads: facts.kernel.preemption.model == Some(PreemptName::Rt),
        }
    }

    /// The timer for this many measuring threads.
    pub fn choose(self, method: &Method, probe: Probe, interval: Nanos, cpus: usize) -> Result<TimerKind, HostError> {
        let can_hang = self.in_threads && method.policy != Some(SchedulingPolicy::Other);
        let wrong = |what: &str| Err(HostError::Argument(what.to_string()));
        let timer = method.timer.unwrap_or(match probe {
            Probe::Response => TimerKind::Posix,
            Probe::Jitter if self.has_rtc && cpus == 1 && !can_hang => TimerKind::Rtc,
            _ => TimerKind::Nanosleep,
        });
        match timer {
            TimerKind::Setitimer if cpus > 1 => {
                wrong("--timer setitimer: a process has one, so name one CPU with --cpus")
            }
            TimerKind::Rtc if cpus > 1 => wrong("--timer rtc: there is one clock, so name one CPU with --cpus"),
            TimerKind::Rtc if probe != Probe::Jitter => {
                wrong("--timer rtc: its interrupts have no due times; use --probe jitter")
            }
            TimerKind::Rtc if !self.has_rtc => wrong("--timer rtc: this machine has no /dev/rtc; use another timer"),
            TimerKind::Rtc if can_hang => wrong(
                "--timer rtc: with PREEMPT_RT a real-time thread that is killed while it reads the clock can hang its CPU; \
                 add --policy other, or use another timer",
            ),
            TimerKind::Rtc if rtc::hz(interval).is_none() => wrong(&format!(
                "--interval: the RTC does not tick every {interval}; the nearest is {}, or take --timer nanosleep",
                rtc::nearest(interval)
            )),
            timer => Ok(timer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Clocks = Clocks {
        has_rtc: true,
        in_threads: false,
    };
    const RT: Clocks = Clocks {
        in_threads: true,
        ..USUAL
    };
    const REALFEEL: Nanos = Nanos(488_281);

    fn asked(timer: Option<TimerKind>, policy: Option<SchedulingPolicy>) -> Method {
        Method {
            timer,
            policy,
            ..Method::usual(worstcase_plan::Venue::Host)
        }
    }

    #[test]
    fn jitter_takes_the_rtc_where_it_can() {
        let usual = |clocks: Clocks, policy, cpus| {
            let method = asked(None, policy);
            clocks.choose(&method, Probe::Jitter, REALFEEL, cpus).unwrap()
        };
        assert_eq!(usual(USUAL, None, 1), TimerKind::Rtc);
        assert_eq!(usual(USUAL, None, 2), TimerKind::Nanosleep);
        assert_eq!(usual(RT, None, 1), TimerKind::Nanosleep);
        assert_eq!(usual(RT, Some(SchedulingPolicy::Other), 1), TimerKind::Rtc);
    }

    #[test]
    fn what_a_timer_cannot_do_is_refused_with_the_remedy() {
        let refused = |clocks: Clocks, timer, probe, interval, cpus| {
            let result = clocks.choose(&asked(Some(timer), None), probe, interval, cpus);
            result.unwrap_err().to_string()
        };
        let rtc = |clocks, probe, interval, cpus| refused(clocks, TimerKind::Rtc, probe, interval, cpus);
        let none = Clocks {
            has_rtc: false,
            ..USUAL
        };
        assert!(rtc(none, Probe::Jitter, REALFEEL, 1).contains("no /dev/rtc"));
        assert!(rtc(USUAL, Probe::Jitter, REALFEEL, 2).contains("--cpus"));
        assert!(rtc(USUAL, Probe::Wakeup, REALFEEL, 1).contains("--probe jitter"));
        assert!(rtc(USUAL, Probe::Jitter, Nanos(300_000), 1).contains("the nearest is 300030 ns"));
        assert!(rtc(RT, Probe::Jitter, REALFEEL, 1).contains("--policy other"));
        assert!(refused(USUAL, TimerKind::Setitimer, Probe::Response, REALFEEL, 2).contains("--cpus"));
    }
}
