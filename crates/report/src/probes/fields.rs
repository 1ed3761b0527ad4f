//! Columns that several probes have.

use crate::ReportView;
use crate::table::{ColumnKind, TableField, field, name};
use worstcase_base::distinct;
use worstcase_contract::Nanos;
use worstcase_contract::bench::SendTimes;
use worstcase_results::record::SubjectId;
use worstcase_results::stats::points::{PointName, RoundFigures};
use worstcase_results::stats::{SeedValues, ValueFigures};

/// The clocks of these points' subjects.
pub(super) fn units<'a>(view: &ReportView, places: impl Iterator<Item = &'a PointName>) -> String {
    let unit = |place: &PointName| unit(view, &place.subject);
    distinct(places.map(unit)).join(", ")
}

fn unit(view: &ReportView, subject: &SubjectId) -> String {
    let found = view.records.iter().find(|r| r.subject.id() == *subject);
    found.map_or(String::new(), |r| r.subject.time_unit())
}

/// Subject and load by name, and for programs how many seeds a point rests on.
pub(super) fn place<P: 'static>(place: fn(&P) -> &PointName) -> Vec<TableField<P>> {
    vec![
        name("place.subject", "subject", move |p| place(p).subject.to_string()),
        name("place.load", "load", move |p| place(p).load.clone()),
        field(ColumnKind::Count, "place.seeds", "seeds", move |p| place(p).seeds).programs(),
    ]
}

/// A probe with all its parameters, which people read in words of their own.
pub(super) fn probe<P: 'static>(bench: impl Fn(&P) -> String + 'static) -> TableField<P> {
    name("probe", "probe", bench).programs()
}

/// The columns of every probe that plays rounds; `heading` says what a round is.
pub(super) fn rounds<P: 'static>(rounds: fn(&P) -> &RoundFigures, heading: &str) -> Vec<TableField<P>> {
    let time = |key: &str, heading: &str, time: fn(&RoundFigures) -> Option<Nanos>| {
        field(ColumnKind::Time, key, heading, move |p| time(rounds(p)))
    };
    vec![
        time("min_ns", "min", |r| r.min),
        time("median_ns", "median", |r| r.median),
        time("p99_ns", "p99", |r| r.p99),
        time("max_ns", "max", |r| r.max),
        field(ColumnKind::Count, "rounds", heading, move |p| rounds(p).count),
    ]
}

/// The columns for the cost of waking to the waking thread.
pub(super) fn sending<P: 'static>(
    send: fn(&P) -> Option<SendTimes>,
    key: &str,
    headings: [&str; 3],
) -> Vec<TableField<P>> {
    let time = |member: &str, heading: &str, time: fn(SendTimes) -> Nanos| {
        field(ColumnKind::Time, format!("{key}.{member}"), heading, move |p| {
            send(p).map(time)
        })
    };
    vec![
        time("min_ns", headings[0], |s| s.min),
        time("median_ns", headings[1], |s| s.median),
        time("max_ns", headings[2], |s| s.max),
    ]
}

/// All figures of values; people see only those that have headings here.
pub(super) fn figures<P: 'static>(
    key: &str,
    kind: ColumnKind,
    values: fn(&P) -> Option<&SeedValues>,
    shown: &[(&str, &str)],
) -> Vec<TableField<P>> {
    let member = |member: &'static str, kind: ColumnKind, figure: fn(ValueFigures) -> crate::table::TableValue| {
        let heading = shown
            .iter()
            .find(|(shown, _)| *shown == member)
            .map(|(_, heading)| *heading);
        let all = field(
            kind,
            format!("{key}.{member}"),
            heading.unwrap_or(member),
            move |p: &P| values(p).map(|values| figure(values.figures())),
        );
        match heading {
            Some(_) => all,
            None => all.programs(),
        }
    };
    vec![
        member("trimmed_mean", kind, |f| f.trimmed_mean.into()),
        member("mean", kind, |f| f.mean.into()),
        member("median", kind, |f| f.median.into()),
        member("interval", kind, |f| match f.interval {
            Some((low, high, coverage)) => crate::table::TableValue::Between(low, high, Some(coverage)),
            None => crate::table::TableValue::Absent("one seed"),
        }),
        member("min", kind, |f| f.min.into()),
        member("max", kind, |f| f.max.into()),
        member("count", ColumnKind::Count, |f| f.count.into()),
        member("seeds", ColumnKind::Count, |f| f.seeds.into()),
    ]
}
