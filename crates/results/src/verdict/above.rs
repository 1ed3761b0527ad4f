//! How many periods are above a limit: those with a late sample, and those that were missed.

use crate::record::{Quantity, Record};
use serde::Serialize;
use worstcase_base::format::{counted, grouped, percent};
use worstcase_contract::Nanos;

/// Periods above a limit. Counted in histograms: a sample within a thousandth of the limit may be on the wrong side, but the
/// largest is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PeriodsAbove {
    /// Samples above the limit.
    pub late: u64,
    /// Missed periods above the limit, each late by a period less than the one before it.
    pub missed: u64,
    /// All samples, and all missed periods whose latency is known.
    pub of: u64,
}

impl PeriodsAbove {
    /// Of some records, all together; nothing where one does not tell, or counts gaps, which have no periods.
    pub fn of<'a>(
        records: impl IntoIterator<Item = &'a Record>,
        quantity: Quantity,
        limit: Nanos,
    ) -> Option<PeriodsAbove> {
        let each = records
            .into_iter()
            .map(|record| PeriodsAbove::of_one(record, quantity, limit));
        let all: Vec<PeriodsAbove> = each.collect::<Option<_>>()?;
        all.into_iter().reduce(|a, b| PeriodsAbove {
            late: a.late + b.late,
            missed: a.missed + b.missed,
            of: a.of + b.of,
        })
    }

    fn of_one(record: &Record, quantity: Quantity, limit: Nanos) -> Option<PeriodsAbove> {
        record.accounting.periods()?;
        let summary = record.summary(quantity)?;
        if summary.max_ns <= limit.0 {
            return Some(PeriodsAbove {
                of: summary.period_count(),
                ..PeriodsAbove::default()
            });
        }
        let all = summary.histogram()?;
        let samples = summary.samples_held()?;
        let above = all.next_non_equivalent(limit.0);
        let late = samples.count_between(above, u64::MAX).max(1);
        Some(PeriodsAbove {
            late,
            missed: all.count_between(above, u64::MAX).saturating_sub(late),
            of: all.len(),
        })
    }

    /// Both together.
    pub fn count(&self) -> u64 {
        self.late + self.missed
    }

    /// `1 608, 10.7 %`.
    pub fn short(&self) -> String {
        match self.count() {
            0 => "0".into(),
            count => format!("{}, {}", grouped(count), self.percent()),
        }
    }

    /// `1 608 of 15 000 periods are above, 10.7 %: 1 277 late, 331 of the missed`.
    pub fn words(&self) -> String {
        let parts = match self.missed {
            0 => String::new(),
            missed => format!(": {} late, {} of the missed", grouped(self.late), grouped(missed)),
        };
        let are = if self.count() == 1 { "is" } else { "are" };
        let of = counted(self.of, "period");
        format!(
            "{} of {of} {are} above, {}{parts}",
            grouped(self.count()),
            self.percent()
        )
    }

    fn percent(&self) -> String {
        percent(self.count() as f64 / self.of as f64)
    }
}
