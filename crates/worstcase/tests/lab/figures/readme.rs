//! The README's table, breakdown and picture.

use super::{is_written, root};
use crate::controller::{folder, shared};
use std::fs;
use std::path::Path;

const BEGIN: &str = "wakeup, latency: ";

/// The demo, by the Makefile's own command.
fn measured(run: &Path) {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    let (_, command) = makefile.split_once("$(WORSTCASE) lab run").unwrap();
    let (words, _) = command.split_once("--output demo-run").unwrap();
    let words = words.replace("\\\n", "");
    let mut command = shared().worstcase("lab run --jobs 2");
    command.args(words.split_whitespace()).arg("--output").arg(run);
    command.assert().success();
}

/// The lines from the table's title to the end of its last block.
fn table(text: &str) -> String {
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.starts_with(BEGIN)).collect();
    let is_its_own = |at: usize| match lines[at] {
        "```" => false,
        // Between two blocks of columns there is one.
        "" => at == 2 || lines.get(at + 1).is_some_and(|next| next.starts_with(' ')),
        _ => true,
    };
    let length = (0..lines.len()).take_while(|at| is_its_own(*at)).count();
    lines[..length].join("\n")
}

/// The breakdown as the README has it: without where everything stood, and with two functions of a span.
fn shortened(breakdown: &str) -> String {
    let paragraphs = breakdown.trim_end().split("\n\n");
    let kept: Vec<&str> = paragraphs.filter(|p| !p.starts_with("When the timer")).collect();
    let mut functions = 0;
    let is_kept = |line: &&str| {
        let is_span = !line.starts_with(&" ".repeat(20)) || line.trim_start().starts_with("6.1");
        functions = if is_span {
            0
        } else {
            functions + usize::from(line.contains('%'))
        };
        is_span || (line.contains('%') && functions <= 2)
    };
    let text = kept.join("\n\n");
    text.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
}

/// The block of code behind this sentence's end.
fn block<'a>(text: &'a str, behind: &str) -> &'a str {
    let block = text.split_once(behind).and_then(|(_, rest)| rest.split("```\n").nth(1));
    block.unwrap_or_else(|| panic!("no block behind '{behind}'")).trim_end()
}

fn command_output(words: &str, run: &Path) -> String {
    let output = shared().worstcase(words).arg(run).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_readme_is_of_this_version() {
    let folder = folder();
    let run = folder.path().join("demo");
    measured(&run);
    let now = table(&command_output("show", &run));
    assert!(now.lines().count() > 10, "{now}");
    shared()
        .worstcase("plot --picture percentiles-wakeup-latency")
        .arg(&run)
        .arg("--output")
        .arg(folder.path().join("figures"))
        .assert()
        .success();
    let drawn = fs::read_dir(folder.path().join("figures"))
        .unwrap()
        .flatten()
        .next()
        .unwrap();
    let drawn = fs::read_to_string(drawn.path()).unwrap();
    let (readme, picture) = (root().join("README.md"), root().join("docs/images/demo.svg"));
    let text = fs::read_to_string(&readme).unwrap();
    let (there, explained) = (table(&text), block(&text, "adds lines of source code:"));
    let breakdown = shortened(&command_output("explain", &run));
    if is_written() {
        let text = text.replace(&there, &now).replace(explained, &breakdown);
        fs::write(&readme, text).unwrap();
        fs::write(&picture, drawn).unwrap();
        worstcase_skips::skip!("what differs is written, not compared");
    }
    if let Some(why) = super::of_another_machine(&run, "") {
        worstcase_skips::skip!(why);
    }
    assert_eq!(there, now, "scripts/figures writes the README's table anew");
    assert_eq!(explained, breakdown, "and its breakdown");
    assert!(
        fs::read_to_string(&picture).unwrap() == drawn,
        "scripts/figures draws {} anew",
        picture.display()
    );
}
