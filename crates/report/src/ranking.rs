//! The ranking: from the first subject to the last, which one meets the limit first, and what each costs in throughput.

use super::View;
use super::grid::{Grid, Group};
use super::terminal::{Style, row_label, width};
use serde::Serialize;
use worstcase_base::format::{micros, plain};
use worstcase_results::record::{Record, SubjectId};
use worstcase_results::stats::points::{self, HackbenchPoint, SwitchPoint};
use worstcase_results::verdict::{Outcome, Verdict};

/// Widest line of a table.
const WIDTH: usize = 120;

/// What is said above it.
pub const ABOUT: &str = "the cost is time, of hackbench and of a hop of switch, as multiples of the first option's";

/// All options.
#[derive(Debug, Serialize)]
pub struct Ranking {
    /// In order.
    pub options: Vec<RankedOption>,
    /// The first that passes.
    pub answer: String,
}

/// A subject.
#[derive(Debug, Serialize)]
pub struct RankedOption {
    /// Its name.
    pub label: String,
    /// Its verdict.
    pub outcome: Outcome,
    /// Its largest latency, in microseconds.
    pub max: String,
    /// Time of hackbench over the first option's.
    pub hackbench: String,
    /// Time of a hop over the first option's.
    pub switch: String,
}

impl Ranking {
    /// Of a run that judges several subjects and knows the cost of each; else nothing.
    pub fn of(view: &View) -> Option<Ranking> {
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
        let option = |v: &Verdict| {
            let (hackbench, switch) = prices.of_subject(&v.subject);
            RankedOption {
                label: label(&v.subject),
                outcome: v.outcome,
                max: micros(v.evidence.max_ns),
                hackbench,
                switch,
            }
        };
        let answer = match verdicts.iter().find(|v| v.outcome == Outcome::Pass) {
            Some(v) => format!("The first option that passes is {}.", label(&v.subject)),
            None => "No option passes.".to_string(),
        };
        Some(Ranking {
            options: verdicts.iter().map(option).collect(),
            answer,
        })
    }
}

/// What subjects cost in throughput, over what one of them does.
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
            switches: points::switches(records),
            hackbenches: points::hackbenches(records),
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
        (cost(hackbench), cost(switch))
    }
}

/// The ranking as a table, if there is one.
pub fn lines(view: &View, style: Style) -> Vec<String> {
    let Some(ranking) = Ranking::of(view) else {
        return Vec::new();
    };
    let row = |r: &RankedOption| {
        vec![
            r.outcome.to_string(),
            r.max.clone(),
            r.hackbench.clone(),
            r.switch.clone(),
        ]
    };
    let grid = Grid {
        heading: "option".into(),
        labels: ranking.options.iter().map(|r| r.label.clone()).collect(),
        columns: ["verdict", "max", "hackbench", "switch"].map(String::from).to_vec(),
        groups: vec![Group {
            title: String::new(),
            cells: ranking.options.iter().map(row).collect(),
        }],
    };
    let mut lines = vec![style.bold(&format!("Ranking: {ABOUT}"))];
    lines.extend(grid.render(width(WIDTH)).into_iter().skip(1));
    lines.push(plain(&ranking.answer));
    lines
}

fn cost(ratio: Option<f64>) -> String {
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
