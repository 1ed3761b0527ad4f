//! A followed program for programs.

use super::habits::habits;
use super::lines::CycleLines;
use super::terminal::sentences;
use super::{FIGURES, FollowReport, ThreadHabits, spread};
use serde_json::{Value, json};
use worstcase_contract::Nanos;
use worstcase_traces::follow::words::{policy, sentence};
use worstcase_traces::follow::{CycleWait, Followed, advice, in_any_run};

/// The form of the document.
pub const SCHEMA: &str = "worstcase-follow/1";

/// Cycles that are kept with all their parts.
const KEPT: usize = 10;

/// What is kept beside the record of a program that ran in the lab.
pub fn kept(followed: &Followed, deadline: Option<Nanos>) -> String {
    let report = FollowReport {
        followed,
        names: &|_| None,
        facts: ThreadHabits::default(),
        deadline,
        shown: KEPT,
        trace: None,
        notes: Vec::new(),
    };
    format!("{:#}\n", json(&report))
}

/// The whole answer.
pub fn json(report: &FollowReport<'_>) -> Value {
    let followed = report.followed;
    let figures: serde_json::Map<String, Value> = FIGURES
        .iter()
        .map(|figure| {
            let [median, high, highest] = spread(&followed.cycles, figure.of);
            let value = json!({"median_ns": median.0, "p99_ns": high.0, "highest_ns": highest.0});
            (figure.name.to_string(), value)
        })
        .collect();
    let causes: Vec<Value> = followed
        .causes
        .iter()
        .map(|cause| {
            json!({
                "cycles": cause.cycles,
                "sentence": sentence(&cause.cause, report.names),
                "in_any_run": sentence(&in_any_run(&cause.cause), report.names),
                "change": advice(&cause.cause),
                "usual_ns": cause.usual.0,
                "longest_ns": cause.longest.0,
                "worst": cause.worst.as_ref().map(|worst| CycleLines::of(worst, report.names)),
            })
        })
        .collect();
    let usual: Vec<Value> = followed
        .usual
        .iter()
        .map(|part| {
            json!({
                "sentence": sentence(&part.cause, report.names),
                "in_any_run": sentence(&in_any_run(&part.cause), report.names),
                "cycles": part.cycles,
                "median_ns": part.median.0,
                "sum_ns": part.sum.0,
            })
        })
        .collect();
    json!({
        "schema": SCHEMA,
        "sentences": sentences(report),
        "thread": followed.thread.map(|thread| json!({
            "tid": thread.tid,
            "name": thread.comm.to_string(),
            "policy": policy(&thread),
        })),
        "cycle": followed.wait.as_ref().map(|wait| of_wait(wait, followed)),
        "cycles": followed.cycles.len(),
        "missed": followed.missed,
        "at_once": followed.at_once,
        "limit_ns": followed.limit.0,
        "deadline_ns": report.deadline.map(|deadline| deadline.0),
        "late": followed.late,
        "causes": causes,
        "figures": figures,
        "slowest": followed.slowest.iter().take(report.shown).map(|cycle| CycleLines::of(cycle, report.names)).collect::<Vec<_>>(),
        "parts": usual,
        "habits": habits(followed, &report.facts),
        "trace": {
            "length_ns": followed.length.0,
            "lost": followed.lost,
            "not_reported": followed.holes,
            "unexplained_ns": followed.unexplained.0,
        },
        "notes": report.notes,
    })
}

fn of_wait(wait: &CycleWait, followed: &Followed) -> Value {
    json!({
        "call": followed.mark.clone().unwrap_or_else(|| wait.call.to_string()),
        "period_ns": wait.period.map(|period| period.0),
        "relative": wait.is_relative,
        "changes": followed.changes.iter().map(|change| json!({
            "at_ns": change.at.0,
            "from_ns": change.from.0,
            "to_ns": change.to.0,
        })).collect::<Vec<_>>(),
        "off_grid": followed.is_off_grid,
    })
}
