//! A bisection as Markdown: for a bug report or a merge request.

use super::{ShownBisection, ToldLoad};
use crate::markup::{commands, text};
use crate::table::markdown::figures;
use crate::table::{ColumnKind, Table, field, name};
use worstcase_bisect::bisection::BisectionStep;

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
        "- good: {}; bad: {}; {}",
        text(good),
        text(bad),
        text(&found.criterion.to_string())
    ));
    out.push(format!("- {}; {}", found.count(), text(found.measured_with)));
    out.extend(found.loads.iter().map(|load| format!("- {}", text(&load.sentence()))));
    out.push(String::new());
    out.extend(figures(&found.table()));
    out.push(String::new());
    if let Some(Err(why)) = found.reverted {
        out.extend([
            format!("The newer end with the commit reverted: {}", text(why)),
            String::new(),
        ]);
    }
    if let Some(breakdown) = found.breakdown {
        out.extend(["Why, before and after:".to_string(), String::new()]);
        out.extend([fenced("text", breakdown), String::new()]);
    }
    for source in found.loads.iter().filter_map(ToldLoad::source) {
        out.push(format!("<details><summary>{}</summary>\n", text(&source.file)));
        out.push(format!("{}\n\n</details>\n", fenced("", &source.text)));
    }
    out.extend(["<details><summary>Steps</summary>".to_string(), String::new()]);
    out.extend(figures(&steps(found)));
    out.extend([String::new(), "</details>".to_string(), String::new()]);
    out.push(commands(found.commands));
    if let Some(narrower) = found.narrower {
        out.push(format!("\nTo narrow it down: {}", text(narrower)));
    }
    out.push(String::new());
    out.join("\n")
}

/// Foreign text that stays what it is.
fn fenced(language: &str, text: &str) -> String {
    format!("```{language}\n{}\n```", text.trim_end().replace("```", "'''"))
}

/// Every candidate, in the order in which they were measured.
fn steps(found: &ShownBisection) -> Table {
    let criterion = found.criterion;
    let measure = criterion.measure();
    let fields = [
        name("kernel", "kernel", |step: &BisectionStep| step.candidate.clone()),
        field(ColumnKind::Text, "is", "is", move |step: &BisectionStep| {
            let why = step.why.as_ref().map_or(String::new(), |why| format!(": {why}"));
            format!("{}{why}", criterion.said(step.word))
        }),
        field(ColumnKind::Text, "figures", "figures", move |step: &BisectionStep| {
            worstcase_bisect::figures::line(&step.figures, measure)
        }),
    ];
    Table::new("steps", "", &fields, &found.ending.steps)
}
