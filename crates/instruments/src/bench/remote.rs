//! `remote`: how long a thread on one CPU takes to wake one on another. How the two do it is in `waking`.

use super::waking;
use super::way::Way;
use super::{BenchError, BenchResult, Instrumented, Observer, RemoteDetails, Request, Via};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A thread that wakes one on another CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Remote {
    /// What it is woken by.
    pub via: Via,
}

impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "remote+{}", self.via.word())
    }
}

impl Instrumented for Remote {
    type Details = RemoteDetails;

    fn has_helpers(&self) -> bool {
        true
    }

    fn check(&self, request: &Request<'_>) -> Result<(), BenchError> {
        check(self, request)
    }

    fn measure(
        &self,
        request: &Request<'_>,
        observer: &mut dyn Observer,
    ) -> Result<BenchResult<RemoteDetails>, BenchError> {
        measure(self, request, observer)
    }
}

/// Refuses what this machine cannot do.
fn check(what: &Remote, request: &Request<'_>) -> Result<(), BenchError> {
    waking::check_cpus(what, request)?;
    waking::check_rounds(&what.to_string(), request)
}

/// Plays the rounds.
fn measure(
    what: &Remote,
    request: &Request<'_>,
    observer: &mut dyn Observer,
) -> Result<BenchResult<RemoteDetails>, BenchError> {
    check(what, request)?;
    let way = Way::new(what.via).map_err(BenchError::system("cannot make what the threads wake each other by"))?;
    waking::play(way, request, request.priority, observer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_logs::Nanos;

    fn remote() -> Remote {
        crate::bench::testing::named("remote+pipe")
    }

    fn refused(cpus: &[u32], period: Nanos) -> String {
        let request = Request {
            repetitions: 1,
            start: Nanos(0),
            period,
            priority: 98,
            cpus,
            ..Request::default()
        };
        check(&remote(), &request).unwrap_err().to_string()
    }

    #[test]
    fn one_cpu_is_not_enough() {
        for cpus in [&[][..], &[3]] {
            let error = refused(cpus, Nanos::from_millis(1));
            assert_eq!(
                error,
                "remote+pipe wakes a thread on another CPU, and there is one CPU only: give it two (lab: --cpus 2; host: --cpus 0,1)"
            );
        }
    }

    #[test]
    fn a_period_in_which_nobody_falls_asleep_is_refused_with_one_that_is_enough() {
        let error = refused(&[0, 1], Nanos(99_999));
        assert!(error.ends_with("--interval 100us at least"), "{error}");
    }
}
