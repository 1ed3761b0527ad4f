//! `jitter`: Realfeel's instrument, the periodic interrupt of the real-time clock, as a process sees it that reads /dev/rtc.
//!
//! sample = instant after the return of read() - due time of the interrupt that it returned for; what differs from one to
//! the next is the jitter. The kernel makes these interrupts with a timer, whose next due time it tells in
//! /proc/timer_list: due times are known to the nanosecond. read() tells how many interrupts came since the last one;
//! those beyond the first are missed periods.

use super::recorder::Recorder;
use std::fs;
use std::io;
use worstcase_instruments::schedule::Schedule;
use worstcase_instruments::sys::clock;
use worstcase_instruments::sys::rtc::Rtc;
use worstcase_logs::Nanos;

/// So many periods from switching the clock on there is nothing left to do but wait.
const GET_READY: u64 = 8;
/// The function of the kernel's timer.
const TIMER: &str = "rtc_pie_update_irq";
/// What the kernel writes before a timer's due time.
const DUE: &str = "# expires at ";

/// The probe; the clock is switched on while it measures.
pub(super) struct Jitter(Recorder);

impl Jitter {
    pub fn new(recorder: Recorder) -> Jitter {
        Jitter(recorder)
    }

    pub fn recorder(&mut self) -> &mut Recorder {
        &mut self.0
    }

    pub(crate) fn into_recorder(self) -> Recorder {
        self.0
    }

    /// Takes all samples. The first one is due some periods after the schedule's start: at a tick of the clock.
    pub fn measure(&mut self) -> io::Result<()> {
        let Schedule { start, interval, .. } = self.0.schedule();
        clock::sleep_until(start - interval);
        let mut ticks = Ticks::switch_on(interval)?;
        let first = ticks.skip_until(start + Nanos(GET_READY * interval.0))?;
        self.0.restart(first);
        self.0.begin();
        while self.0.next_due().is_some() {
            let interrupts = ticks.rtc.wait()?;
            let now = clock::monotonic();
            self.0.take(now);
            self.0.advance(interrupts.saturating_sub(1));
        }
        self.0.end();
        Ok(())
    }

    /// The shortest of `turns` reads of an interrupt that has come already.
    pub(crate) fn empty_sample(&mut self, turns: usize) -> io::Result<Nanos> {
        let interval = self.0.schedule().interval;
        let mut rtc = Rtc::open(interval)?;
        let mut shortest = Nanos(u64::MAX);
        for _ in 0..turns.min(self.0.schedule().periods as usize) {
            self.0.restart(Nanos(1));
            clock::sleep_until(clock::monotonic() + Nanos(2 * interval.0));
            let before = clock::monotonic();
            rtc.wait()?;
            let now = clock::monotonic();
            self.0.take(now);
            shortest = shortest.min(now - before);
        }
        Ok(shortest)
    }
}

/// The clock, with the due time of the next interrupt that nobody has read.
struct Ticks {
    rtc: Rtc,
    next: Nanos,
    interval: Nanos,
}

impl Ticks {
    fn switch_on(interval: Nanos) -> io::Result<Ticks> {
        let before = clock::monotonic();
        let rtc = Rtc::open(interval)?;
        let after = clock::monotonic();
        let list = fs::read_to_string("/proc/timer_list")?;
        let due = due_time(&list)
            .ok_or_else(|| io::Error::other(format!("/proc/timer_list names no timer of the function {TIMER}")))?;
        let next = first_tick(due, interval, before, after).ok_or_else(|| {
            io::Error::other(format!(
                "switching the RTC on took {}, longer than a period of {interval}: take a longer --interval",
                after - before
            ))
        })?;
        Ok(Ticks { rtc, next, interval })
    }

    /// Reads all interrupts due before `end`; the due time of the next one.
    fn skip_until(&mut self, end: Nanos) -> io::Result<Nanos> {
        while self.next < end {
            let interrupts = self.rtc.wait()?;
            self.next = self.next + Nanos(interrupts * self.interval.0);
        }
        Ok(self.next)
    }
}

/// When the kernel's timer for the clock is due next.
fn due_time(timer_list: &str) -> Option<Nanos> {
    let mut lines = timer_list.lines().skip_while(|line| !line.contains(TIMER));
    let line = lines.nth(1)?;
    let time = line.trim_start().strip_prefix(DUE)?.split(['-', ' ']).next()?;
    time.parse().ok().map(Nanos)
}

/// The first due time of a timer that was started between these two instants, for a period later, if it can be only one.
fn first_tick(due: Nanos, interval: Nanos, before: Nanos, after: Nanos) -> Option<Nanos> {
    let earliest = before + interval;
    let periods = due.0.checked_sub(earliest.0)? / interval.0;
    let first = Nanos(due.0 - periods * interval.0);
    (after - before < interval && first <= after + interval).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_when_its_timer_is_due() {
        let list = "active timers:\n #0: <0000000000000000>, tick_nohz_handler, S:01\n # expires at 4000000-4000000 nsecs [in 1 to 1 nsecs]\n \
                    #1: <0000000000000000>, rtc_pie_update_irq, S:01\n # expires at 1234567-1234567 nsecs [in 9 to 9 nsecs]\n";
        assert_eq!(due_time(list), Some(Nanos(1_234_567)));
        assert_eq!(due_time("#1: <0>, rtc_pie_update_irq, S:01"), None);
        assert_eq!(due_time(""), None);
    }

    #[test]
    fn the_first_tick_is_found_from_any_later_one() {
        // Started at 1050, every 100.
        for due in [1_150, 1_250, 9_950] {
            let first = first_tick(Nanos(due), Nanos(100), Nanos(1_020), Nanos(1_060));
            assert_eq!(first, Some(Nanos(1_150)), "{due}");
        }
        assert_eq!(first_tick(Nanos(1_150), Nanos(100), Nanos(1_020), Nanos(1_130)), None);
        assert_eq!(first_tick(Nanos(1_170), Nanos(100), Nanos(1_020), Nanos(1_060)), None);
    }
}
