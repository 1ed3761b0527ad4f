//! Entries into a CPU, in the forms for people and for programs.

use super::*;
use crate::table::testing::assert_in_every_form;
use std::collections::BTreeMap;

fn line(cause: &str, sent_by: Option<&str>, count: u64) -> EntryLine {
    EntryLine {
        kind: "reschedule",
        cause: cause.into(),
        name: Some("a name".into()),
        sent_by: sent_by.map(String::from),
        chain: vec!["try_to_wake_up".into()],
        count: Some(count),
        total_ns: Some(count * 1_500),
        worst_ns: Some(2_345),
        remedy: "keep its sender elsewhere".into(),
        is_excluded: false,
    }
}

fn answer(lines: Vec<EntryLine>) -> IsolationAnswer {
    IsolationAnswer {
        kernel: "6.12".into(),
        began_ns: 0,
        time_ns: 10_000_000_000,
        is_ended_early: false,
        judgement: None,
        cpus: vec![IsolatedCpu {
            cpu: 3,
            sentence: "CPU 3 was left.".into(),
            program: None,
            is_occupied: true,
            entries: 1,
            judged: 1,
            lines,
            tick: BTreeMap::new(),
            lost: 0,
            smis: Some(0),
            smis_not_known: None,
            stolen_ns: None,
        }],
        notes: Vec::new(),
    }
}

#[test]
fn what_stands_below_a_row_begins_where_its_cause_does() {
    for count in [7, 1_234_567_890_123] {
        let text = terminal(
            &answer(vec![line("a reschedule interrupt", Some("sh (7)"), count)]),
            Style::PLAIN,
        );
        let at = |words: &str| text.lines().find_map(|line| line.find(words)).unwrap();
        assert_eq!(at("a reschedule interrupt"), at("cause"), "{text}");
        assert_eq!(at("sent by sh"), at("cause") + 2, "{text}");
        assert_eq!(at("remedy: "), at("cause") + 2, "{text}");
    }
}

#[test]
fn each_column_is_in_every_form() {
    let answer = answer(vec![line("one", Some("sh (7)"), 7), line("one", None, 3)]);
    let document: serde_json::Value = serde_json::from_str(&json(&answer)).unwrap();
    let rows: Vec<EntryRow> = answer.cpus[0].lines.iter().map(EntryRow::of_line).collect();
    assert_in_every_form(&table(&rows, answer.time_ns), &document["cpus"][0]["lines"]);
    assert_eq!(document["cpus"][0]["lines"][0]["sent_by"], "sh (7)");
}
