//! `response`: a POSIX interval timer sends SIGALRM; the handler's first instructions read the clock.
//!
//! sample = instant in the handler - due time of the expiry that sent the signal. Expiries that follow before
//! the signal is delivered are counted by the kernel (`si_overrun`) and here as missed periods. The main flow
//! waits in sigsuspend. This is the way in which the study `preemption-models` measured.

use super::recorder::Recorder;
use std::io;
use worstcase_instruments::sys::alarm::{Alarm, OnExpiry};
use worstcase_instruments::sys::clock;
use worstcase_logs::Nanos;

impl OnExpiry for Recorder {
    #[inline(always)]
    fn expired(&mut self, now: Nanos, overrun: u64) {
        // The timer is periodic and has no last expiry: what follows the last period is not ours.
        if self.next_due().is_some() {
            self.take(now);
            self.advance(overrun);
        }
    }
}

/// The probe with its timer made, not yet armed.
pub(super) struct Response(Alarm<Recorder>);

impl Response {
    pub fn new(recorder: Recorder) -> io::Result<Response> {
        Alarm::posix(recorder).map(Response)
    }

    pub fn recorder(&mut self) -> &mut Recorder {
        self.0.state()
    }

    /// Takes all samples of the recorder's schedule.
    pub fn measure(&mut self) -> io::Result<()> {
        let schedule = self.recorder().schedule();
        self.recorder().begin();
        self.0.arm(schedule.start, schedule.interval)?;
        while self.recorder().next_due().is_some() {
            self.0.wait();
        }
        self.recorder().end();
        self.0.disarm()
    }

    /// The shortest of `turns` turns with a timer that is due at once: arming, signal, handler, return.
    pub(crate) fn empty_sample(&mut self, turns: usize) -> io::Result<Nanos> {
        let mut shortest = Nanos(u64::MAX);
        for _ in 0..turns {
            self.recorder().restart(Nanos(1));
            let before = clock::monotonic();
            self.0.arm(Nanos(1), Nanos(0))?;
            self.0.wait();
            shortest = shortest.min(clock::monotonic() - before);
        }
        Ok(shortest)
    }

    /// Deletes the timer and gives the recorder back.
    pub(crate) fn into_recorder(self) -> Recorder {
        self.0.into_state()
    }
}
