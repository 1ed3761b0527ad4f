//! As Markdown: for a bug report or a merge request.

use super::Found;
use crate::markdown::{commands, table, text};
use worstcase_bisect::search::Word;

/// The text.
pub fn markdown(found: &Found) -> String {
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
    let headings = found.headings();
    let rows: Vec<Vec<String>> = found
        .rows()
        .iter()
        .map(|row| row.iter().map(|cell| text(cell)).collect())
        .collect();
    out.extend(table(&headings, 1, &rows));
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
    let step = |step: &worstcase_bisect::bisection::Step| {
        let word = match step.word {
            Word::Good => "good".to_string(),
            Word::Bad => "bad".to_string(),
            Word::Skipped => format!("skipped: {}", step.why.as_deref().unwrap_or_default()),
        };
        let figures = worstcase_bisect::figures::line(&step.figures, found.criterion.measure());
        vec![text(&step.candidate), text(&word), text(&figures)]
    };
    let steps: Vec<Vec<String>> = found.ending.steps.iter().map(step).collect();
    out.extend(table(&["kernel", "is", "figures"], 3, &steps));
    out.extend([String::new(), "</details>".to_string(), String::new()]);
    out.push(commands(found.commands));
    out.push(String::new());
    out.join("\n")
}
