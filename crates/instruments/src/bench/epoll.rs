//! `epoll`: how long a thread takes to wake up that waits in epoll_wait for an event counter.
//!
//! ```text
//! sleeper (the probe's CPU)         says that it is about to wait; epoll_wait; now = clock; sample = now - before; reads the counter
//! waker   (the same, or another)    sleeps until the round is due; before = clock; adds to the counter; after = clock
//! ```
//! It is [`remote`](super::remote) with another way to wait. On the same CPU the waker has the priority below the sleeper's: the
//! sleeper runs before the waker's own system call returns, and what the waking costs includes that.

use super::rights::first_cpu;
use super::waking;
use super::way::Way;
use super::{BenchError, BenchResult, Instrumented, Observer, RemoteDetails, Request};
use crate::sys::epoll::Epoll;
use crate::sys::eventfd::EventFd;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A thread that waits for an event counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EpollWait {
    /// The thread that wakes it is on another CPU.
    pub across: bool,
}

impl fmt::Display for EpollWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.across { "epoll+across" } else { "epoll" })
    }
}

/// There is a lower one for the thread that wakes.
const LEAST_PRIORITY: u8 = 2;

impl Instrumented for EpollWait {
    type Details = RemoteDetails;

    fn has_helpers(&self) -> bool {
        self.across
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
fn check(what: &EpollWait, request: &Request<'_>) -> Result<(), BenchError> {
    if what.across {
        waking::check_cpus(what, request)?;
    } else if request.priority < LEAST_PRIORITY {
        return Err(BenchError::Limit(format!(
            "{what}: the thread that wakes has the priority below the probe's, which is {}: give a priority of {LEAST_PRIORITY} or more",
            request.priority
        )));
    }
    waking::check_rounds(&what.to_string(), request)
}

/// Takes the samples.
fn measure(
    what: &EpollWait,
    request: &Request<'_>,
    observer: &mut dyn Observer,
) -> Result<BenchResult<RemoteDetails>, BenchError> {
    check(what, request)?;
    let counter = EventFd::without_waiting().map_err(BenchError::system("cannot make an event counter"))?;
    let epoll = Epoll::of(&counter).map_err(BenchError::system("cannot make an epoll instance"))?;
    let way = Way::Epoll(epoll, counter);
    let own = [first_cpu(request)?];
    let (cpus, waker) = match what.across {
        true => (request.cpus, request.priority),
        false => (&own[..], request.priority - 1),
    };
    let request = Request { cpus, ..*request };
    waking::play(way, &request, waker, observer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_logs::Nanos;

    const REQUEST: Request<'_> = Request {
        repetitions: 3,
        start: Nanos(0),
        period: Nanos::from_millis(1),
        priority: 1,
        cpus: &[0],
        seed: 0,
        folder: None,
        is_watched: false,
    };

    #[test]
    fn what_the_machine_cannot_do_is_refused() {
        let refused = |across, request: &Request<'_>| check(&EpollWait { across }, request).unwrap_err().to_string();
        assert!(refused(false, &REQUEST).contains("give a priority of 2 or more"));
        assert!(refused(true, &REQUEST).contains("epoll+across wakes a thread on another CPU"));
        let short = Request {
            priority: 50,
            period: Nanos(1_000),
            ..REQUEST
        };
        assert!(check(&EpollWait { across: false }, &short).is_err());
    }

    #[test]
    fn it_is_named_as_it_is_asked_for() {
        for text in ["epoll", "epoll+across"] {
            assert_eq!(crate::bench::testing::named::<EpollWait>(text).to_string(), text);
        }
    }
}
