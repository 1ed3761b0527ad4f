//! All forms show the same, for every probe with parameters.

use super::{PROBES, tables};
use crate::picture::testing::{cell, of_bench, plan, subject};
use crate::table::testing::{assert_in_every_form, is_of_key, member, shown};
use crate::table::{Audience, ColumnKind, Table, TableValue, json};
use crate::{ReportView, csv as cells_csv, json as document};
use serde_json::{Value, json};
use worstcase_contract::bench::Details;
use worstcase_results::record::Record;
use worstcase_results::record::explanations::NOTHING_EXPLAINED;

/// A record of each probe, with every figure that it can have.
fn records() -> Vec<Record> {
    let times = json!({ "min_ns": 1_001, "median_ns": 2_002, "max_ns": 3_003 });
    let repetition =
        json!({ "total_ns": 9_009, "hot_ns": 404, "cold_ns": 505, "voluntary": 6, "involuntary": 7, "migrations": 8 });
    let all = [
        (
            "switch:2x16k+again1",
            json!({ "switch": { "hops": 1, "repetitions": [repetition],
                "again": [{ "index": 0, "tries": 2, "still_off": false, "repetition": repetition }] } }),
        ),
        (
            "hackbench:2+pipes",
            json!({ "hackbench": { "processes": 80, "messages": 100, "message_latency": [[11_000, 3], [12_000, 1]],
                "runs": [{ "total_ns": 1_234_000_000, "cpu_ns": 2_345_000_000_u64, "voluntary": 5, "involuntary": 6, "moves": 77 }] } }),
        ),
        (
            "inversion:2+inherit",
            json!({ "inversion": { "section_ns": 50_000, "middle_ns": 1_000_000, "contended": 400, "inverted": 3 } }),
        ),
        ("remote+pipe", json!({ "remote": { "send": times, "awake": 4 } })),
        ("irq", json!({ "irq": { "send": times, "awake": 4, "seen": times } })),
        (
            "pick:8",
            json!({ "pick": { "tasks": 8, "turns": 90, "same": 1, "fewest": 10, "most": 13 } }),
        ),
        ("spawn+exec", json!({ "spawn": { "program": "/bin/true" } })),
        (
            "io:1m+write",
            json!({ "io": { "bytes": 4_096_000, "elapsed_ns": 2_000_000_000_u64, "sync_ns": 1_000_000_000, "file_system": "ext4",
                "begun_ns": 0, "longest_from_ns": 0, "device": { "name": "vda", "scheduler": "none", "schedulers": ["none", "bfq"],
                    "rotational": false, "requests": 64, "device_queue": null, "reads": 1, "writes": 1, "read_bytes": 1,
                    "written_bytes": 1, "busy_ns": 1_000_000_000, "in_queue_ns": 3_000_000_000_u64, "looks": 10, "with_one": 10,
                    "with_several": 5, "most": 7 },
                "beside": { "read_bytes": 1_000_000, "written_bytes": 2_000_000, "seeks": 300 } } }),
        ),
        (
            "shootdown:1",
            json!({ "shootdown": { "threads": 1, "pages": 16, "all_ran": 199 } }),
        ),
    ];
    let record = |(probe, details): (&str, Value)| {
        let details: Details = serde_json::from_value(details).unwrap_or_else(|e| panic!("{probe}: {e}"));
        of_bench(
            cell(subject("6.1", "full"), "idle", 1, 200, &[(0, 5_000)]).record,
            probe,
            details,
        )
    };
    all.map(record).to_vec()
}

fn with_view<T>(records: &[Record], show: impl Fn(&ReportView) -> T) -> T {
    let plan = plan(records.iter());
    show(&ReportView {
        plan: &plan,
        dir: "RUN".as_ref(),
        records,
        explanations: &NOTHING_EXPLAINED,
        quantities: &[],
        verdicts: None,
    })
}

#[test]
fn each_column_of_each_probe_is_in_every_form() {
    let records = records();
    for (probe, tables) in PROBES {
        let tables = with_view(&records, tables);
        assert!(!tables.is_empty(), "{probe}");
        let document: Value = serde_json::from_str(&with_view(&records, document::run)).unwrap();
        let cells = with_view(&records, cells_csv::run).unwrap();
        let header: Vec<&str> = cells.lines().next().unwrap().split(',').collect();
        for table in &tables {
            // A view has its columns in the whole table of the same key.
            let rows = match table.is_view {
                true => json::rows(table),
                false => document[table.key].clone(),
            };
            assert_in_every_form(table, &rows);
            for (column, _) in shown(table) {
                let key = &column.key;
                let row = &document[table.key][0];
                assert!(member(row, key).is_some(), "{probe}: {key} in JSON: {row:#}");
                let of_cell = key.trim_start_matches("place.");
                let is_of_several = table.key == "io_schedulers" && column.kind == ColumnKind::Name;
                let named = |field: &&str| is_of_key(field, key) || *field == of_cell;
                assert!(
                    is_of_several || of_cell == "subject" || header.iter().any(named),
                    "{probe}: {key} in the cells' CSV: {header:?}"
                );
            }
        }
    }
}

/// A form that leaves a value out fails the test above.
#[test]
fn the_cells_csv_has_what_only_a_probe_counts() {
    let csv = with_view(&records(), cells_csv::run).unwrap();
    let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let rows: Vec<::csv::StringRecord> = reader.records().map(|row| row.unwrap()).collect();
    let of = |probe: &str, key: &str| {
        let at = |key: &str| {
            header
                .iter()
                .position(|other| other == key)
                .unwrap_or_else(|| panic!("{key}: {header:?}"))
        };
        let row = rows.iter().find(|row| row[at("probe")].starts_with(probe)).unwrap();
        row[at(key)].to_string()
    };
    assert_eq!(of("hackbench", "moves_a_run"), "77");
    assert_eq!(of("hackbench", "cpu_ns.mean"), "2345000000");
    assert_eq!(of("shootdown", "all_ran"), "199");
    assert_eq!(of("spawn", "program"), "/bin/true");
    assert_eq!(of("switch", "again.values"), "1");
    assert_eq!(of("spawn", "all_ran"), "", "another probe's");
}

/// The columns of dashes that people see.
fn empty_columns(record: &Record) -> Vec<String> {
    let tables = with_view(std::slice::from_ref(record), tables);
    let of_table = |table: &Table| {
        let is_empty = |at: &usize| table.rows.iter().all(|row| row[*at] == TableValue::NONE);
        let empty = table.shown(Audience::Wide).into_iter().filter(is_empty);
        empty.map(|at| table.columns[at].key.clone()).collect::<Vec<_>>()
    };
    tables.iter().flat_map(of_table).collect()
}

/// What a record may lack is no column of dashes; percentiles of few samples are.
#[test]
fn a_figure_that_no_record_has_takes_no_column() {
    for mut record in records() {
        let probe = record.cell.probe.clone();
        let of_few = empty_columns(&record);
        let details = serde_json::to_value(&record.details).unwrap();
        let (kind, figures) = details.as_object().unwrap().iter().next().unwrap();
        for figure in figures.as_object().unwrap().keys() {
            let mut lacking = figures.clone();
            lacking.as_object_mut().unwrap().remove(figure);
            if let Ok(details) = serde_json::from_value(json!({ kind.as_str(): lacking })) {
                record.details = details;
                let mut empty = empty_columns(&record);
                empty.retain(|column| !of_few.contains(column));
                assert_eq!(empty, [] as [&str; 0], "{probe} without {figure}");
            }
        }
    }
}
