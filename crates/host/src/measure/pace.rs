//! When a measurement begins, and how often its samples are collected.

use super::MeasureError;
use crate::loads::RunningHostLoad;
use crate::message::Message;
use crate::spec::HostSpec;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use worstcase_contract::Nanos;
use worstcase_instruments::sys::clock;

/// Sends a message to the controller.
pub(crate) type Say<'a> = dyn FnMut(&Message) -> io::Result<()> + 'a;

/// How often samples are collected.
pub(super) const COLLECT: Duration = Duration::from_millis(50);
/// The first due time is this long after all threads are ready.
pub(super) const LEAD: Nanos = Nanos::from_millis(20);

/// Waits until the load works, and then for its warm-up.
pub(super) fn warm_up(
    spec: &HostSpec,
    load: &mut RunningHostLoad,
    stop: &AtomicBool,
    say: &mut Say<'_>,
) -> Result<(), MeasureError> {
    load.wait_for_work()?;
    say(&Message::WarmUp { length: spec.warmup })?;
    pause(spec.warmup, stop);
    Ok(())
}

/// Sleeps for `length`, or until `stop`.
fn pause(length: Nanos, stop: &AtomicBool) {
    let end = clock::monotonic() + length;
    while clock::monotonic() < end && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(COLLECT.min(Duration::from_nanos(end.saturating_sub(clock::monotonic()).0)));
    }
}
