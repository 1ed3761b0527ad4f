//! The ranking: the first subject that meets the limit, the next ones, and the throughput that each costs.

use super::ReportView;
use super::probes::hackbench::{self, HackbenchPoint};
use super::probes::switch::{self, SwitchPoint};
use super::table::{ColumnKind, Table, TableValue, cost, field, name};
use crate::labels::row_label;
use worstcase_results::record::{Record, SubjectId};
use worstcase_results::verdict::{Outcome, Verdict};

/// A subject's verdict with its cost.
struct RankedOption<'a> {
    verdict: &'a Verdict,
    label: String,
    /// Times of hackbench and of a hop of switch over the first option's.
    factors: (Option<f64>, Option<f64>),
}

/// The table of a run that judges several subjects and knows the cost of each; else nothing.
pub(super) fn table(view: &ReportView) -> Option<Table> {
    let (_, verdicts) = view.verdicts.as_ref()?;
    if verdicts.len() < 2 {
        return None;
    }
    let prices = Prices::of(view.records, &verdicts[0].subject);
    if !verdicts.iter().all(|v| prices.knows(&v.subject)) {
        return None;
    }
    let label = |id: &SubjectId| {
        let subject = view.records.iter().map(|r| &r.subject).find(|s| s.id() == *id);
        subject.map_or_else(|| id.to_string(), row_label)
    };
    let option = |verdict| {
        let verdict: &Verdict = verdict;
        RankedOption {
            verdict,
            label: label(&verdict.subject),
            factors: prices.factors(&verdict.subject),
        }
    };
    let options: Vec<RankedOption> = verdicts.iter().map(option).collect();
    let answer = match verdicts.iter().find(|v| v.outcome == Outcome::Pass) {
        Some(v) => format!("The first option that passes is {}.", label(&v.subject)),
        None => "No option passes.".to_string(),
    };
    let fields = [
        name("subject", "subject", |o: &RankedOption| o.verdict.subject.to_string()).programs(),
        name("label", "option", |o: &RankedOption| o.label.clone()),
        field(ColumnKind::Outcome, "verdict", "verdict", |o: &RankedOption| {
            TableValue::from(o.verdict.outcome)
        }),
        field(ColumnKind::Time, "max_ns", "max", |o: &RankedOption| {
            o.verdict.evidence.max_ns
        }),
        field(ColumnKind::Factor, "hackbench", "hackbench", |o: &RankedOption| {
            o.factors.0
        }),
        field(ColumnKind::Factor, "switch", "switch", |o: &RankedOption| o.factors.1),
    ];
    let title = "Ranking: the cost is time, of hackbench and of a hop of switch, as multiples of the first option's";
    Some(Table::new("ranking", title, &fields, &options).with(Vec::new(), vec![answer]))
}

/// The throughput that subjects cost, relative to one of them.
pub(super) struct Prices {
    first: SubjectId,
    switches: Vec<SwitchPoint>,
    hackbenches: Vec<HackbenchPoint>,
}

impl Prices {
    /// Over `first`.
    pub(super) fn of(records: &[Record], first: &SubjectId) -> Prices {
        Prices {
            first: first.clone(),
            switches: switch::points(records),
            hackbenches: hackbench::points(records),
        }
    }

    /// Whether a cost of it was measured.
    fn knows(&self, id: &SubjectId) -> bool {
        let mut places = self
            .switches
            .iter()
            .map(|p| &p.place)
            .chain(self.hackbenches.iter().map(|p| &p.place));
        places.any(|place| place.subject == *id)
    }

    /// Times of hackbench and of a hop of switch, over the first's.
    pub(super) fn factors(&self, id: &SubjectId) -> (Option<f64>, Option<f64>) {
        (
            shared(&self.hackbenches, &self.first, id, of_hackbench),
            shared(&self.switches, &self.first, id, of_switch),
        )
    }

    /// The same in words.
    pub(super) fn of_subject(&self, id: &SubjectId) -> (String, String) {
        let (hackbench, switch) = self.factors(id);
        let shown = |factor: Option<f64>| factor.map_or("-".into(), cost);
        (shown(hackbench), shown(switch))
    }
}

/// The title of a point: its subject, its name, and its time.
type PointTitle<P> = fn(&P) -> (&SubjectId, String, f64);

fn of_hackbench(p: &HackbenchPoint) -> (&SubjectId, String, f64) {
    let name = format!("{} {:?}", p.place.load, p.work);
    (&p.place.subject, name, p.total.figures().mean)
}

fn of_switch(p: &SwitchPoint) -> (&SubjectId, String, f64) {
    let name = format!("{} {:?}", p.place.load, p.ring);
    (&p.place.subject, name, p.raw.figures().trimmed_mean)
}

/// The geometric mean of `id`'s times over `first`'s, of the points that both have.
fn shared<P>(all: &[P], first: &SubjectId, id: &SubjectId, of: PointTitle<P>) -> Option<f64> {
    let of_first: Vec<(String, f64)> = all
        .iter()
        .map(of)
        .filter(|(subject, ..)| *subject == first)
        .map(|(_, name, time)| (name, time))
        .collect();
    let ratios = all
        .iter()
        .map(of)
        .filter(|(subject, ..)| *subject == id)
        .filter_map(|(_, name, time)| {
            let (_, base) = of_first.iter().find(|(other, _)| *other == name)?;
            Some((time / base).ln())
        });
    let ratios: Vec<f64> = ratios.collect();
    (!ratios.is_empty()).then(|| (ratios.iter().sum::<f64>() / ratios.len() as f64).exp())
}
