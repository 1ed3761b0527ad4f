//! A report as one page that works offline: the answer first, then pictures, numbers, breakdowns, and the measured systems.
//!
//! ```text
//! Run, Record, Picture, Breakdown -> RunPart       part: all statements about a run, as plain data
//!     answer    the verdicts, in words
//!     extremes  where they are smallest and largest, in words
//!     facts     the measured systems
//!     breakdown     spans and a flame graph
//!     cycle     a followed program and its worst cycle
//!     drawn     the pictures of a small page
//! RunPart -> page                              embed: as JSON, which no parser takes for anything else
//! ```
//! `page/` has the page itself: HTML, CSS and our scripts, with ECharts before them where a picture needs it. Everything foreign is data there.

mod answer;
mod breakdown;
mod cycle;
mod drawn;
mod embed;
mod extremes;
mod facts;
mod labels;
mod noise;
mod part;

pub use breakdown::BreakdownPart;
pub use cycle::CyclePart;
pub use part::{PageParts, RunPart};

use serde::Serialize;

/// The form of the data in the page.
const SCHEMA: &str = "worstcase-report/5";

/// Apache ECharts with its notice, under the Apache License 2.0; put there by the build script.
const ECHARTS: &str = include_str!(concat!(env!("OUT_DIR"), "/echarts.min.js"));
const SHELL: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
/// The scripts, each behind the scripts that it needs.
const SCRIPTS: [&str; 17] = [
    include_str!("page/dom.js"),
    include_str!("page/colours.js"),
    include_str!("page/filters.js"),
    include_str!("page/tables.js"),
    include_str!("page/charts.js"),
    include_str!("page/dots.js"),
    include_str!("page/curves.js"),
    include_str!("page/heat.js"),
    include_str!("page/io.js"),
    include_str!("page/pictures.js"),
    include_str!("page/flame.js"),
    include_str!("page/breakdowns.js"),
    include_str!("page/cycles.js"),
    include_str!("page/facts.js"),
    include_str!("page/claims.js"),
    include_str!("page/sections.js"),
    include_str!("page/main.js"),
];

#[derive(Serialize)]
struct ReportPage<'a> {
    schema: &'static str,
    tool_version: &'static str,
    runs: &'a [RunPart],
}

/// The page.
pub fn page(runs: &[RunPart]) -> String {
    let data = embed::json(&ReportPage {
        schema: SCHEMA,
        tool_version: env!("CARGO_PKG_VERSION"),
        runs,
    });
    let title = match runs {
        [one] => one.title().to_string(),
        _ => format!("{} runs of worstcase", runs.len()),
    };
    let ours = format!("'use strict';(() => {{\n{}\n}})();", SCRIPTS.join("\n"));
    let library = match runs.iter().any(RunPart::needs_library) {
        true => ECHARTS,
        false => "",
    };
    let scripts = format!("{} {}", embed::allowed(library), embed::allowed(&ours));
    let title = embed::text(&title);
    let parts = [
        ("TITLE", title.as_str()),
        ("SCRIPTS", &scripts),
        ("STYLE", STYLE),
        ("ECHARTS", library),
        ("DATA", &data),
        ("SCRIPT", &ours),
    ];
    filled(SHELL, &parts)
}

/// The shell with each `{{NAME}}` replaced once, in order; inserted text is not read again.
fn filled(shell: &str, parts: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(shell.len() + parts.iter().map(|(_, text)| text.len()).sum::<usize>());
    let mut rest = shell;
    for (name, text) in parts {
        let (before, after) = rest.split_once(&format!("{{{{{name}}}}}")).expect("the shell names it");
        out.push_str(before);
        out.push_str(text);
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_do_not_end_their_element() {
        for script in SCRIPTS.into_iter().chain([ECHARTS]) {
            let script = script.to_lowercase();
            assert!(!script.contains("</script") && !script.contains("<!--") && !script.contains('\r'));
        }
    }

    #[test]
    fn all_of_the_shell_is_filled() {
        assert!(!page(&[]).contains("{{"));
    }

    #[test]
    fn what_is_put_in_is_not_looked_at_again() {
        assert_eq!(filled("a{{X}}b{{Y}}c", &[("X", "{{Y}}"), ("Y", "2")]), "a{{Y}}b2c");
    }
}
