//! Classes of demand: which option meets which, the first that does, and its cost.

use super::View;
use super::grid::{Grid, Group};
use super::ranking::Prices;
use super::terminal::{Style, WIDTH, row_label, units, width};
use serde::Serialize;
use serde_json::{Value, json};
use worstcase_base::duration;
use worstcase_base::format::{micros, plain};
use worstcase_plan::Demand;
use worstcase_results::demands::{Judged, in_words, judged};
use worstcase_results::record::{Record, SubjectId};
use worstcase_results::verdict::Outcome;

/// What is said above the table.
pub const HEADING: &str = "Classes of demand: who meets them with the largest latency under all loads";

/// All classes, as they are shown.
#[derive(Debug, Serialize)]
pub struct Demands {
    /// Of the largest latencies.
    unit: String,
    /// In the study's order.
    classes: Vec<Class>,
    /// In the run's order.
    options: Vec<DemandOption>,
}

#[derive(Debug, Serialize)]
struct Class {
    /// Its name and its limit.
    title: String,
    /// Who meets it first, at what cost.
    answer: String,
    why: String,
}

#[derive(Debug, Serialize)]
struct DemandOption {
    label: String,
    /// Its largest latency, in microseconds.
    max: String,
    /// Costs over the first option's.
    hackbench: String,
    switch: String,
    /// Whether it meets each class.
    met: Vec<Met>,
}

#[derive(Debug, Serialize)]
struct Met {
    outcome: Outcome,
    words: &'static str,
}

impl Demands {
    /// Of a run whose study has demands and which has a subject.
    pub fn of(view: &View) -> Option<Demands> {
        let all = judged(view.plan, view.records);
        let first = all.first().filter(|class| !class.subjects.is_empty())?;
        let prices = Prices::of(view.records, &first.subjects[0].subject);
        let option = |nth: usize| {
            let verdict = &first.subjects[nth];
            let (hackbench, switch) = prices.of_subject(&verdict.subject);
            DemandOption {
                label: label(view.records, &verdict.subject),
                max: match verdict.evidence.cells {
                    0 => "-".into(),
                    _ => micros(verdict.evidence.max_ns),
                },
                hackbench,
                switch,
                met: all.iter().map(|class| class.subjects[nth].outcome).map(met).collect(),
            }
        };
        let class = |class: &Judged| Class {
            title: title(&class.demand),
            answer: answer(class, view.records, &prices),
            why: class.demand.why.clone(),
        };
        Some(Demands {
            unit: units(view.records.iter().map(|r| &r.subject)).join(", "),
            classes: all.iter().map(class).collect(),
            options: (0..first.subjects.len()).map(option).collect(),
        })
    }
}

fn met(outcome: Outcome) -> Met {
    Met {
        outcome,
        words: in_words(outcome),
    }
}

fn label(records: &[Record], id: &SubjectId) -> String {
    let subject = records.iter().map(|r| &r.subject).find(|s| s.id() == *id);
    subject.map_or_else(|| id.to_string(), row_label)
}

/// `audio: 5 ms for 2 wake-ups`.
fn title(demand: &Demand) -> String {
    let limit = duration::show(demand.limit);
    match demand.wakeups {
        1 => format!("{}: {limit}", demand.name),
        n => format!("{}: {limit} for {n} wake-ups", demand.name),
    }
}

fn answer(class: &Judged, records: &[Record], prices: &Prices) -> String {
    if let Some(id) = &class.lowest {
        let of = class.subjects.iter().find(|v| v.subject == *id);
        let max = of.map_or_else(String::new, |v| micros(v.evidence.max_ns));
        let cost = match prices.of_subject(id) {
            (hackbench, switch) if hackbench == "-" && switch == "-" => "its cost was not measured".to_string(),
            (hackbench, switch) => format!("hackbench {hackbench}, switch {switch}"),
        };
        return format!("{} meets it first, with at most {max}; {cost}.", label(records, id));
    }
    let is_open = |v: &&worstcase_results::verdict::Verdict| v.outcome == Outcome::Inconclusive;
    match class.subjects.iter().find(is_open) {
        None => "No option meets it.".into(),
        Some(v) => {
            let why = v.reasons.first().map_or("", String::as_str);
            format!("No option is shown to meet it: {}: {why}.", label(records, &v.subject))
        }
    }
}

/// As a table and a line for each class, if there are demands.
pub(super) fn lines(view: &View, style: Style) -> Vec<String> {
    let Some(demands) = Demands::of(view) else {
        return Vec::new();
    };
    let row = |option: &DemandOption| {
        let fixed = [&option.max, &option.hackbench, &option.switch].map(String::clone);
        let met = option.met.iter().map(|met| met.words.to_string());
        fixed.into_iter().chain(met).collect()
    };
    let fixed = ["max", "hackbench", "switch"].map(String::from);
    let grid = Grid {
        heading: "option".into(),
        labels: demands.options.iter().map(|o| plain(&o.label)).collect(),
        columns: fixed
            .into_iter()
            .chain(demands.classes.iter().map(|c| plain(&c.title)))
            .collect(),
        groups: vec![Group {
            title: String::new(),
            cells: demands.options.iter().map(row).collect(),
        }],
    };
    let mut lines = vec![style.bold(&plain(&format!("{HEADING} ({})", demands.unit)))];
    lines.extend(grid.render(width(WIDTH)).into_iter().skip(1));
    for class in &demands.classes {
        lines.push(plain(&format!("{}: {}", class.title, class.answer)));
        lines.push(format!("  why: {}", plain(&class.why)));
    }
    lines
}

/// The demands of a study, of which nothing is measured.
pub fn of_study(demands: &[Demand], style: Style) -> Vec<String> {
    let mut lines = vec![style.bold("Classes of demand, which a run is judged by")];
    for demand in demands {
        lines.push(plain(&format!("  {}", title(demand))));
        lines.push(format!("    why: {}", plain(&demand.why)));
    }
    lines
}

/// For programs: each class with its verdicts and the cost of the first option that meets it.
pub(super) fn json(view: &View) -> Vec<Value> {
    let all = judged(view.plan, view.records);
    let first = all.first().and_then(|class| class.subjects.first());
    let prices = first.map(|v| Prices::of(view.records, &v.subject));
    let one = |class: &Judged| {
        let cost = class.lowest.as_ref().zip(prices.as_ref()).map(|(id, prices)| {
            let (hackbench, switch) = prices.factors(id);
            json!({ "hackbench": hackbench, "switch": switch })
        });
        let mut value = json!(class);
        value["cost"] = json!(cost);
        value
    };
    all.iter().map(one).collect()
}
