//! Waking a thread, from its own CPU or another.

use super::fields::{place, probe, rounds, sending, units};
use crate::ReportView;
use crate::table::{ColumnKind, Table, TableField, field, name};
use worstcase_contract::bench::{Bench, Details, SendTimes};
use worstcase_results::record::Record;
use worstcase_results::stats::median;
use worstcase_results::stats::points::{self, PointName, RoundFigures};

/// The time to wake a thread, from another CPU or by an interrupt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RemotePoint {
    /// The name of the point.
    pub place: PointName,
    /// The kind of wake-up.
    pub(crate) bench: Bench,
    /// The number and the times of the rounds.
    pub rounds: RoundFigures,
    /// The cost to the waking thread: shortest and longest, and the median of the seeds' medians.
    pub send: SendTimes,
    /// Rounds in which the thread did not sleep when it was woken.
    pub awake: u64,
    /// The time from a pulse until the kernel saw it, if the device tells.
    pub seen: Option<SendTimes>,
}

/// The points of `remote` and `epoll`.
pub(super) fn points(records: &[Record]) -> Vec<RemotePoint> {
    points::points(records, |place, bench, of| match of[0].details {
        Some(Details::Remote(_)) => point(place, bench, of),
        _ => None,
    })
}

pub(super) fn point(place: PointName, bench: Bench, records: &[&Record]) -> Option<RemotePoint> {
    let details = || {
        records.iter().filter_map(|r| match &r.details {
            Some(Details::Remote(d) | Details::Irq(d)) => Some(d),
            _ => None,
        })
    };
    let over = |times: Vec<SendTimes>| {
        Some(SendTimes {
            min: times.iter().map(|s| s.min).min()?,
            median: median::of(times.iter().map(|s| s.median))?,
            max: times.iter().map(|s| s.max).max()?,
        })
    };
    Some(RemotePoint {
        place,
        bench,
        rounds: points::rounds(records)?,
        send: over(details().filter_map(|d| d.send).collect())?,
        awake: details().map(|d| u64::from(d.awake)).sum(),
        seen: over(details().filter_map(|d| d.seen).collect()),
    })
}

/// The columns of every wake-up by another thread; `irq` adds to them.
pub(super) fn columns(woken_by: TableField<RemotePoint>) -> Vec<TableField<RemotePoint>> {
    let mut all = place(|p: &RemotePoint| &p.place);
    all.extend([probe(|p: &RemotePoint| p.bench.to_string()), woken_by]);
    all.extend(rounds(|p: &RemotePoint| &p.rounds, "rounds"));
    all.extend(sending(
        |p: &RemotePoint| Some(p.send),
        "send",
        ["send min", "send median", "send max"],
    ));
    all.push(field(ColumnKind::Count, "awake", "awake", |p: &RemotePoint| p.awake));
    all
}

pub fn tables(view: &ReportView) -> Vec<Table> {
    let points = points(view.records);
    if points.is_empty() {
        return Vec::new();
    }
    let title = format!(
        "woken by another thread until it runs ({}); what the call cost that woke it; rounds in which it did not sleep",
        units(view, points.iter().map(|p| &p.place))
    );
    let woken_by = name("woken_by", "woken by", |p: &RemotePoint| {
        p.bench.to_string().trim_start_matches("remote+").to_string()
    });
    vec![Table::new("remote", title, &columns(woken_by), &points)]
}
