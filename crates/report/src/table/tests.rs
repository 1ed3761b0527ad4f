//! One table in every form.

use super::{ColumnKind, Table, TableField, TableValue, csv, field, json, markdown, name, page::ScriptTable, terminal};
use crate::style::Style;
use serde_json::json;
use worstcase_results::verdict::Outcome;

struct MeasuredRow {
    subject: &'static str,
    load: &'static str,
    max_ns: Option<u64>,
}

const ALL: [MeasuredRow; 3] = [
    MeasuredRow {
        subject: "a|b",
        load: "shm",
        max_ns: Some(12_345),
    },
    MeasuredRow {
        subject: "a|b",
        load: "fork",
        max_ns: None,
    },
    MeasuredRow {
        subject: "rt",
        load: "fork",
        max_ns: Some(800),
    },
];

fn fields() -> Vec<TableField<MeasuredRow>> {
    vec![
        name("place.subject", "subject", |m: &MeasuredRow| m.subject),
        name("place.load", "load", |m: &MeasuredRow| m.load),
        field(ColumnKind::Time, "max_ns", "max", |m: &MeasuredRow| m.max_ns),
        field(ColumnKind::Time, "within", "within", |m: &MeasuredRow| match m.max_ns {
            Some(max) => TableValue::Between(0.0, max as f64, None),
            None => TableValue::Absent("one seed"),
        }),
        field(ColumnKind::Outcome, "verdict", "verdict", |m: &MeasuredRow| {
            match m.max_ns {
                Some(1_000..) => Outcome::Fail,
                _ => Outcome::Pass,
            }
        }),
        field(ColumnKind::Count, "never", "never", |_: &MeasuredRow| None::<u64>).optional(),
        field(ColumnKind::Count, "samples", "samples", |_: &MeasuredRow| 1_000_u64).wide(),
    ]
}

fn table() -> Table {
    Table::new("t", "a title", &fields(), &ALL).with(vec!["above".into()], vec!["below".into()])
}

#[test]
fn text_of_rows() {
    insta::assert_snapshot!(terminal::lines(&table(), Style::PLAIN).join("\n"), @r"
    a title
    above
    subject  load     max    within  verdict
    a|b      shm     12.3   0..12.3  FAIL
    a|b      fork       -  one seed  PASS
    rt       fork   0.800  0..0.800  PASS
    below
    ");
}

#[test]
fn text_of_groups() {
    let lines = terminal::lines(&table().across("place.load"), Style::PLAIN);
    insta::assert_snapshot!(lines[3..].join("\n"), @r"
              -------- shm ---------   --------- fork ---------
    subject    max   within  verdict     max    within  verdict
    a|b       12.3  0..12.3  FAIL          -  one seed  PASS
    rt           -        -  -         0.800  0..0.800  PASS
    below
    ");
}

/// Before columns go below, names that say nothing new in each row go above.
#[test]
fn names_that_all_rows_share_stand_above_where_it_is_narrow() {
    let rows = &ALL[1..];
    let mut table = Table::new("t", "", &fields(), rows);
    table
        .rows
        .iter_mut()
        .for_each(|row| row[0] = "a subject's long name".into());
    table.rows[0][1] = "shm".into();
    insta::assert_snapshot!(terminal::figures(&table, 40).join("\n"), @r"
    subject a subject's long name
    load     max    within  verdict
    shm        -  one seed  PASS
    fork   0.800  0..0.800  PASS
    ");
    assert!(terminal::figures(&table, 120)[0].starts_with("subject "));
    assert!(terminal::figures(&table, 120)[0].contains("  load "));
}

#[test]
fn of_many_rows_a_terminal_shows_the_first_and_the_sum() {
    let mut table = table();
    table.terminal_rows = Some(1);
    let text = terminal::figures(&table, 120).join("\n");
    assert!(
        text.contains("shm") && text.contains("rt") && !text.contains("one seed"),
        "{text}"
    );
    assert!(markdown::figures(&table).join("\n").contains("one seed"));
}

#[test]
fn for_programs() {
    insta::assert_snapshot!(csv::text(&table()).unwrap(), @r"
    place.subject,place.load,max_ns,within.low,within.high,verdict,never,samples
    a|b,shm,12345,0,12345,FAIL,,1000
    a|b,fork,,,,PASS,,1000
    rt,fork,800,0,800,PASS,,1000
    ");
    let expected = json!({
        "place": { "subject": "a|b", "load": "fork" },
        "max_ns": null,
        "within": null,
        "verdict": "PASS",
        "never": null,
        "samples": 1_000,
    });
    assert_eq!(json::rows(&table())[1], expected);
}

#[test]
fn for_pull_requests() {
    insta::assert_snapshot!(markdown::lines(&table()).join("\n"), @r"
    **a title**

    above  

    | subject | load | max | within | verdict | samples |
    | --- | --- | ---: | ---: | --- | ---: |
    | a&#124;b | shm | 12.3 | 0..12.3 | FAIL | 1 000 |
    | a&#124;b | fork | - | one seed | PASS | 1 000 |
    | rt | fork | 0.800 | 0..0.800 | PASS | 1 000 |

    below  
    ");
    let fields = [
        field(ColumnKind::Words, "a", "a", |(): &()| {
            TableValue::Decisive(Box::new("x".into()))
        }),
        field(ColumnKind::Text, "b", "b", |(): &()| {
            TableValue::Lines(vec!["<1>".into(), "2".into()])
        }),
    ];
    let lines = markdown::figures(&Table::new("t", "", &fields, &[()]));
    assert_eq!(lines[2], "| **x** | &#60;1><br>2 |");
}

#[test]
fn for_the_page() {
    let page = serde_json::to_value(ScriptTable::new(&table())).unwrap();
    assert_eq!(
        page["rows"][0],
        json!({
            "subject": "a|b", "load": "shm", "probe": null,
            "cells": ["a|b", "shm", "12.3", "0..12.3", { "outcome": "FAIL", "word": "FAIL" }, "1 000"],
        })
    );
    assert_eq!(
        page["columns"][2],
        json!({ "title": "max", "number": true, "subject": false })
    );
}
