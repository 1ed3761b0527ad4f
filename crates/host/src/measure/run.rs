//! One measurement: the load, the probe, the end.

use super::MeasureError;
use super::bench;
use super::every::EverySample;
use super::pace::Say;
use super::session;
use super::watch::SegmentSummaries;
use crate::loads::RunningHostLoad;
use crate::message::Message;
use crate::spec::HostSpec;
use std::sync::atomic::AtomicBool;
use worstcase_contract::Probe;
use worstcase_instruments::sys::signal;

/// Measures. The process must have one thread until the load is forked; then `after_load` is called, and threads may be made.
/// `stop` ends it early, and keeps the samples so far.
pub fn run(
    spec: &HostSpec,
    stop: &AtomicBool,
    say: &mut Say<'_>,
    after_load: impl FnOnce(),
) -> Result<(), MeasureError> {
    let mut load = RunningHostLoad::start(&spec.load, spec.seed, &spec.load_place())?;
    // SIGALRM is blocked in every thread from now on, except where a measuring thread waits for it.
    signal::block(&[signal::SIGALRM]);
    after_load();
    let measured = match (spec.probe, spec.segments) {
        (Probe::Bench(bench), _) => bench::measure(spec, bench, &mut load, stop, say),
        (_, Some(segments)) => session::measure(spec, &mut load, stop, say, || {
            Ok(SegmentSummaries::open(spec, segments))
        }),
        (_, None) => session::measure(spec, &mut load, stop, say, || EverySample::open(spec)),
    };
    let stopped = load.stop();
    let done = measured?;
    stopped?;
    say(&Message::Done(Box::new(done)))?;
    Ok(())
}
