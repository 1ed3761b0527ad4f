//! A long interrupt: many timers that expire at once.

use super::threads::compute;
use super::timers::{allow_files, arm};
use std::convert::Infallible;
use std::io;
use std::os::fd::OwnedFd;
use worstcase_contract::Nanos;
use worstcase_instruments::sys::clock;

/// Until the timers expire: enough to arm them, and not the probe's period, so that the two walk past each other.
const AHEAD: Nanos = Nanos(1_004_300);

/// Lets so many timers expire together, and computes meanwhile.
pub(crate) fn run(timers: u32) -> io::Result<Infallible> {
    allow_files(u64::from(timers) + 64)?;
    let timers: Vec<OwnedFd> = (0..timers).map(|_| super::timers::timer()).collect::<io::Result<_>>()?;
    let mut due = clock::monotonic();
    loop {
        due = due + AHEAD;
        for timer in &timers {
            arm(timer, due)?;
        }
        while clock::monotonic() < due {
            compute(1_000);
        }
    }
}
