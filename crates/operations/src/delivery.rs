//! When a timer that is due interrupts a program that computes: the program reads the clock without an end, and sees a gap.

use rustix::time::{ClockId, clock_gettime};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

/// One timer.
pub struct Delivery {
    /// From due until the program stood still (ns).
    pub until_interrupted: u64,
    /// How long it stood still (ns).
    pub interruption: u64,
}

/// From now until a timer is due.
const AHEAD: u64 = 30_000;
/// How long its interrupt is waited for.
const BEHIND: u64 = 60_000;
/// Two readings as far apart had something between them.
const GAP: u64 = 300;

/// Sets so many timers, one after the other. Those whose gap is not seen are left out.
pub fn measure(count: usize) -> Vec<Delivery> {
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::empty()).expect("there are timers");
    (0..count)
        .filter_map(|nth| {
            // Not in step with the tick.
            let due = now() + AHEAD + (nth as u64 % 8) * 1_000;
            let at = Itimerspec {
                it_interval: Timespec::default(),
                it_value: Timespec {
                    tv_sec: (due / 1_000_000_000).cast_signed(),
                    tv_nsec: (due % 1_000_000_000).cast_signed(),
                },
            };
            timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &at).expect("it can be set");
            first_gap(due)
        })
        .collect()
}

fn first_gap(due: u64) -> Option<Delivery> {
    let mut last = now();
    while last < due + BEHIND {
        let next = now();
        if next > due && next - last > GAP {
            return Some(Delivery {
                until_interrupted: last.saturating_sub(due),
                interruption: next - last.max(due),
            });
        }
        last = next;
    }
    None
}

fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}
