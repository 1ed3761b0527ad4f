//! The ladder: from the first subject to the last, which one meets the limit first, and what each costs in throughput.

use super::View;
use super::format::plain;
use super::grid::{Grid, Group};
use super::terminal::{Style, row_label};
use crate::record::SubjectId;
use crate::stats::points::{self, HackbenchPoint, SwitchPoint};
use crate::verdict::Outcome;

/// Widest line of a table.
const WIDTH: usize = 120;

/// Of a run that judges several subjects and has a price of each; else nothing.
pub fn lines(view: &View, style: Style) -> Vec<String> {
    let Some((_, verdicts)) = &view.verdicts else {
        return Vec::new();
    };
    let (switches, hackbenches) = (points::switches(view.records), points::hackbenches(view.records));
    let priced = |id: &SubjectId| {
        switches.iter().any(|p| p.place.subject == *id) || hackbenches.iter().any(|p| p.place.subject == *id)
    };
    if verdicts.len() < 2 || !verdicts.iter().all(|v| priced(&v.subject)) {
        return Vec::new();
    }
    let first = &verdicts[0].subject;
    let row = |id: &SubjectId, outcome: Outcome| {
        let max = verdicts
            .iter()
            .find(|v| v.subject == *id)
            .map_or(0, |v| v.evidence.max_ns.0);
        vec![
            outcome.to_string(),
            super::format::micros(worstcase_probe::Nanos(max)),
            price(shared(&hackbenches, first, id, of_hackbench)),
            price(shared(&switches, first, id, of_switch)),
        ]
    };
    let label = |id: &SubjectId| {
        let subject = view.records.iter().map(|r| &r.subject).find(|s| s.id() == *id);
        subject.map_or_else(|| id.to_string(), row_label)
    };
    let grid = Grid {
        heading: "rung".into(),
        labels: verdicts.iter().map(|v| label(&v.subject)).collect(),
        columns: ["verdict", "max", "hackbench", "switch"].map(String::from).to_vec(),
        groups: vec![Group {
            title: String::new(),
            cells: verdicts.iter().map(|v| row(&v.subject, v.outcome)).collect(),
        }],
    };
    let mut lines = vec![
        style.bold("Ladder: the price is time, of hackbench and of a hop of switch, as multiples of the first rung's"),
    ];
    lines.extend(grid.render(WIDTH).into_iter().skip(1));
    lines.push(match verdicts.iter().find(|v| v.outcome == Outcome::Pass) {
        Some(rung) => plain(&format!("The first rung that passes is {}.", label(&rung.subject))),
        None => "No rung passes.".to_string(),
    });
    lines
}

fn price(ratio: Option<f64>) -> String {
    ratio.map_or("-".into(), |ratio| format!("x{ratio:.2}"))
}

/// What a point is called, whose it is, and its time.
type Of<P> = fn(&P) -> (&SubjectId, String, f64);

fn of_hackbench(p: &HackbenchPoint) -> (&SubjectId, String, f64) {
    let name = format!("{} {:?}", p.place.load, p.work);
    (&p.place.subject, name, p.total.figures().mean)
}

fn of_switch(p: &SwitchPoint) -> (&SubjectId, String, f64) {
    let name = format!("{} {:?}", p.place.load, p.ring);
    (&p.place.subject, name, p.raw.figures().trimmed_mean)
}

/// The geometric mean of `id`'s times over `first`'s, of the points that both have.
fn shared<P>(all: &[P], first: &SubjectId, id: &SubjectId, of: Of<P>) -> Option<f64> {
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
