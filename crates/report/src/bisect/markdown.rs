//! A bisection as Markdown: for a bug report or a merge request.

use super::ShownBisection;
use crate::markup::{commands, text};
use crate::table::markdown::figures;
use crate::table::{ColumnKind, Table, field, name};
use worstcase_bisect::bisection::BisectionStep;
use worstcase_bisect::search::CandidateWord;

/// The text.
pub fn markdown(found: &ShownBisection) -> String {
    let mut out = vec!["### worstcase bisect".to_string(), String::new()];
    out.push(format!("**{}**", text(&found.sentence())));
    out.push(String::new());
    if let Some(commit) = found.commit {
        out.push(format!("- commit {} ({})", text(&commit.id), text(&commit.subject)));
        out.push(format!("- by {}, {}", text(&commit.author), text(&commit.date)));
    }
    let [good, bad] = found.ends;
    out.push(format!(
        "- good: {}; bad: {}; bad is: {}",
        text(good),
        text(bad),
        text(&found.criterion.to_string())
    ));
    out.push(format!("- {}; {}", found.count(), text(found.measured_with)));
    out.push(String::new());
    out.extend(figures(&found.table()));
    out.push(String::new());
    if let Some(Err(why)) = found.reverted {
        out.extend([
            format!("The bad end with the commit reverted: {}", text(why)),
            String::new(),
        ]);
    }
    if let Some(breakdown) = found.breakdown {
        out.extend(["Why, before and after:".to_string(), String::new()]);
        out.extend([
            "```text".to_string(),
            breakdown.trim_end().replace("```", "'''"),
            "```".into(),
            String::new(),
        ]);
    }
    out.extend(["<details><summary>Steps</summary>".to_string(), String::new()]);
    out.extend(figures(&steps(found)));
    out.extend([String::new(), "</details>".to_string(), String::new()]);
    out.push(commands(found.commands));
    out.push(String::new());
    out.join("\n")
}

/// Every candidate, in the order in which they were measured.
fn steps(found: &ShownBisection) -> Table {
    let measure = found.criterion.measure();
    let fields = [
        name("kernel", "kernel", |step: &BisectionStep| step.candidate.clone()),
        field(ColumnKind::Text, "is", "is", |step: &BisectionStep| match step.word {
            CandidateWord::Good => "good".to_string(),
            CandidateWord::Bad => "bad".to_string(),
            CandidateWord::Skipped => format!("skipped: {}", step.why.as_deref().unwrap_or_default()),
        }),
        field(ColumnKind::Text, "figures", "figures", move |step: &BisectionStep| {
            worstcase_bisect::figures::line(&step.figures, measure)
        }),
    ];
    Table::new("steps", "", &fields, &found.ending.steps)
}
