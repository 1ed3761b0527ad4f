//! cyclictest: its JSON, its histograms, its lines of a thread each, and its verbose samples.

mod json;
mod options;
mod text;

pub(crate) use json::json;
pub(crate) use text::is_text;
pub(crate) use text::text;

use super::measured::{Overrun, ThreadSeries};
use worstcase_contract::Nanos;
use worstcase_results::record::Quantity;

const TOOL: &str = "cyclictest";

/// A thread's series, if it took samples.
fn series(
    cpu: u32,
    period: Option<Nanos>,
    priority: Option<u8>,
    values: Option<super::measured::SeriesValues>,
) -> ThreadSeries {
    let mut series = ThreadSeries::new("wakeup", cpu, Overrun::Skips);
    series.period = period;
    series.priority = priority;
    series
        .quantities
        .extend(values.map(|values| (Quantity::Latency, values)));
    series
}
