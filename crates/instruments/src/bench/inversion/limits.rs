//! What this machine refuses: rounds that come too fast, mutexes without a protocol.

use super::priorities::Priorities;
use crate::bench::{BenchError, Inversion, Protocol, Request, rights};
use crate::sys::mutex::{Mutex, OwnerPriority};
use std::fs;
use worstcase_logs::Nanos;

/// Hand-overs, beside the work, that a round has room for.
const SWITCHES: Nanos = Nanos::from_micros(200);

/// Real-time processes get `runtime` of every `period`, then the kernel stops them.
#[derive(Clone, Copy, Debug)]
struct Throttle {
    runtime: Nanos,
    period: Nanos,
}

impl Throttle {
    /// Of this kernel; `None` where there is none.
    fn read() -> Option<Throttle> {
        let setting = |name: &str| -> Option<i64> {
            let text = fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok()?;
            text.trim().parse().ok()
        };
        let micros = |value: i64| u64::try_from(value).ok().map(Nanos::from_micros);
        Some(Throttle {
            runtime: micros(setting("sched_rt_runtime_us")?)?,
            period: micros(setting("sched_rt_period_us")?)?,
        })
    }
}

/// Refuses what cannot be measured here.
pub(super) fn check(what: &Inversion, request: &Request<'_>) -> Result<(), BenchError> {
    let priorities = Priorities::new(what.depth, request.priority)?;
    check_period(what.section + what.middle, request.period, Throttle::read())?;
    rights::take_policy(priorities.high).map(drop)?;
    make_mutex(what.protocol, &priorities).map(drop)
}

/// In any stretch of the throttle's length the work is at most half of what it allows, and one round more.
fn check_period(work: Nanos, period: Nanos, throttle: Option<Throttle>) -> Result<(), BenchError> {
    let mut least = Nanos(2 * work.0);
    if let Some(throttle) = throttle {
        if 2 * work.0 > throttle.runtime.0 {
            return Err(BenchError::Limit(format!(
                "section and middle are {work} together, and the kernel stops real-time threads after {} of every {}: at most half of that, or `sysctl kernel.sched_rt_runtime_us=-1`",
                throttle.runtime, throttle.period
            )));
        }
        least.0 = (u128::from(least.0) * u128::from(throttle.period.0)).div_ceil(throttle.runtime.0.into()) as u64;
    }
    least.0 = (least + SWITCHES).0.next_multiple_of(1_000);
    if period < least {
        return Err(BenchError::Limit(format!(
            "a period of {period} is too short for section and middle, {work} together: --interval {}us at least",
            least.0 / 1_000
        )));
    }
    Ok(())
}

/// A mutex of this protocol.
pub(super) fn make_mutex(protocol: Protocol, priorities: &Priorities) -> Result<Mutex, BenchError> {
    let owner = match protocol {
        Protocol::None => OwnerPriority::Own,
        Protocol::Inherit => OwnerPriority::Inherited,
        Protocol::Protect => OwnerPriority::Ceiling(priorities.high),
    };
    Mutex::new(owner).map_err(|e| match e.raw_os_error() {
        Some(libc::ENOTSUP) => BenchError::Missing(format!(
            "no mutex with '{}' here ({e}): the kernel needs CONFIG_FUTEX_PI",
            protocol.word()
        )),
        _ => BenchError::system("cannot make a mutex")(e),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Option<Throttle> = Some(Throttle {
        runtime: Nanos::from_millis(950),
        period: Nanos::from_millis(1_000),
    });

    fn refused(work: Nanos, period: Nanos, throttle: Option<Throttle>) -> String {
        check_period(work, period, throttle).unwrap_err().to_string()
    }

    #[test]
    fn the_shortest_period_is_said_and_enough() {
        let work = Nanos::from_micros(1_050);
        for (throttle, least) in [(None, 2_300), (USUAL, 2_411)] {
            let error = refused(work, Nanos(least * 1_000 - 1), throttle);
            assert!(error.contains(&format!("--interval {least}us at least")), "{error}");
            assert!(check_period(work, Nanos::from_micros(least), throttle).is_ok());
        }
    }

    #[test]
    fn work_beyond_the_throttle_is_refused_whatever_the_period() {
        let long = Nanos::from_millis(10_000);
        assert!(refused(Nanos::from_millis(476), long, USUAL).contains("sched_rt_runtime_us=-1"));
        assert!(check_period(Nanos::from_millis(475), long, USUAL).is_ok());
        assert!(check_period(Nanos::from_millis(2_000), long, None).is_ok());
    }

    /// Rounds as fast as allowed, seen through every window of the throttle's length: it never stops them.
    #[test]
    fn the_shortest_period_stays_below_the_throttle() {
        for work in [1, 50, 300, 475] {
            let work = Nanos::from_millis(work);
            let error = refused(work, Nanos(0), USUAL);
            let digits = error
                .split("--interval ")
                .nth(1)
                .and_then(|rest| rest.split("us").next());
            let period = Nanos::from_micros(digits.unwrap().parse().unwrap());
            // The worst window begins with a round.
            let length = Nanos::from_millis(1_000);
            let whole = length.0 / period.0;
            let busy = whole * work.0 + work.0.min(length.0 % period.0);
            assert!(busy <= Nanos::from_millis(950).0, "{work} every {period}");
        }
    }
}
