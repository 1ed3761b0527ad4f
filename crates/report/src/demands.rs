//! Classes of demand: the options that meet each class, the first option that does, and its cost.

use super::ReportView;
use super::ranking::Prices;
use super::table::json::rows;
use super::table::{ColumnKind, Table, TableValue, field, name};
use crate::labels::{row_label, units};
use crate::style::Style;
use serde_json::{Value, json};
use worstcase_base::duration;
use worstcase_base::format::{micros, plain};
use worstcase_contract::Nanos;
use worstcase_plan::Demand;
use worstcase_results::demands::{JudgedDemand, in_words, judged};
use worstcase_results::record::{Record, SubjectId};
use worstcase_results::verdict::Outcome;

/// The line above the table.
const HEADING: &str = "Classes of demand: who meets them with the largest latency under all loads";

/// A subject and its cost.
struct DemandOption {
    subject: SubjectId,
    label: String,
    max: Option<Nanos>,
    /// Times of hackbench and of a hop of switch over the first option's.
    factors: (Option<f64>, Option<f64>),
    /// Whether it meets each class.
    met: Vec<Outcome>,
}

/// The table of a run whose study has demands and which has a subject: a column for each class, an answer for each
/// below.
pub(super) fn table(view: &ReportView) -> Option<Table> {
    let all = judged(view.plan, view.records);
    let first = all.first().filter(|class| !class.subjects.is_empty())?;
    let prices = Prices::of(view.records, &first.subjects[0].subject);
    let option = |nth: usize| {
        let verdict = &first.subjects[nth];
        DemandOption {
            subject: verdict.subject.clone(),
            label: label(view.records, &verdict.subject),
            max: (verdict.evidence.cells > 0).then_some(verdict.evidence.max_ns),
            factors: prices.factors(&verdict.subject),
            met: all.iter().map(|class| class.subjects[nth].outcome).collect(),
        }
    };
    let options: Vec<DemandOption> = (0..first.subjects.len()).map(option).collect();
    let mut fields = vec![
        name("subject", "subject", |o: &DemandOption| o.subject.to_string()).programs(),
        name("label", "option", |o: &DemandOption| o.label.clone()),
        field(ColumnKind::Time, "max_ns", "max", |o: &DemandOption| o.max),
        field(ColumnKind::Factor, "hackbench", "hackbench", |o: &DemandOption| {
            o.factors.0
        }),
        field(ColumnKind::Factor, "switch", "switch", |o: &DemandOption| o.factors.1),
    ];
    fields.extend(all.iter().enumerate().map(|(nth, class)| {
        field(
            ColumnKind::Outcome,
            class.demand.name.clone(),
            title(&class.demand),
            move |o: &DemandOption| TableValue::Judged(o.met[nth], in_words(o.met[nth])),
        )
    }));
    let note = |class: &JudgedDemand| {
        [
            format!("{}: {}", title(&class.demand), answer(class, view.records, &prices)),
            format!("  why: {}", class.demand.why),
        ]
    };
    let units = units(view.records.iter().map(|r| &r.subject)).join(", ");
    let table = Table::new("demands", format!("{HEADING} ({units})"), &fields, &options);
    Some(table.with(Vec::new(), all.iter().flat_map(note).collect()))
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

fn answer(class: &JudgedDemand, records: &[Record], prices: &Prices) -> String {
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

/// The demands of a study that has no measurements.
pub fn of_study(demands: &[Demand], style: Style) -> Vec<String> {
    let mut lines = vec![style.bold("Classes of demand, which a run is judged by")];
    for demand in demands {
        lines.push(plain(&format!("  {}", title(demand))));
        lines.push(format!("    why: {}", plain(&demand.why)));
    }
    lines
}

/// For programs: the options, which are the rows of the table, and each class with its verdicts.
pub(super) fn json(view: &ReportView) -> Value {
    match judged(view.plan, view.records)[..] {
        [] => Value::Null,
        ref classes => json!({ "options": table(view).map(|table| rows(&table)), "classes": classes }),
    }
}
