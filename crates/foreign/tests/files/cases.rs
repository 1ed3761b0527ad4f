//! Files as people paste them: two runs in one, what others put before the lines, what a tool says against itself.

use super::{foreign, latency};
use std::fs;
use worstcase_contract::Nanos;
use worstcase_foreign::{ImportFacts, read, records};
use worstcase_results::record::{Beyond, Quantity, Record, Rounding};

/// Imports a text; the error without the file's name.
pub(super) fn imported(text: &str, unit: Option<Nanos>) -> Result<Vec<Record>, String> {
    let dir = tempfile();
    let path = dir.join("pasted.txt");
    fs::write(&path, text).unwrap();
    let cells = read(&path, None, unit).and_then(|source| records(vec![source], &ImportFacts::default()));
    fs::remove_dir_all(&dir).unwrap();
    match cells {
        Ok(cells) => Ok(cells.into_iter().map(|cell| cell.record).collect()),
        Err(error) => {
            let said = error.to_string();
            assert_eq!(said.lines().count(), 1, "{said}");
            Err(said.split_once("pasted.txt: ").unwrap().1.to_string())
        }
    }
}

fn tempfile() -> std::path::PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let nth = NEXT.fetch_add(1, Ordering::Relaxed);
    let dir = std::env::temp_dir().join(format!("worstcase-cases-{}-{nth}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// Number of samples and maximum in us of each record.
pub(super) fn maxima(records: &[Record]) -> Vec<(u64, u64)> {
    let of = |record: &Record| {
        let latency = record.summary(Quantity::Latency);
        latency.map_or((0, 0), |s| (s.count, s.max_ns / 1_000))
    };
    records.iter().map(of).collect()
}

fn seeds(records: &[Record]) -> Vec<u64> {
    records.iter().map(|record| record.cell.seed).collect()
}

pub(super) fn doubts(record: &Record) -> String {
    record.warnings.join("; ")
}

const LINES: &str = "T: 0 ( 611) P:80 I:1000 C:   5000 Min:      3 Act:    5 Avg:    6 Max:     712
T: 1 ( 612) P:80 I:1500 C:   3333 Min:      4 Act:    9 Avg:    7 Max:      88
";
const HISTOGRAM: &str = "# /dev/cpu_dma_latency set to 0us
# Histogram
000005 000700\t000000
000006 002000\t000811
000010 000300\t001900
000044 000000\t000003
000130 000000\t000002
# Min Latencies: 00005 00006
# Avg Latencies: 00006 00008
# Max Latencies: 00010 00733
# Histogram Overflows: 00000 00004
# Histogram Overflow at cycle number:
# Thread 0:
# Thread 1: 00311 00420 00990 01011
";

#[test]
fn a_histogram_of_2_10_has_no_total_and_no_rows_of_zeros() {
    let records = imported(HISTOGRAM, None).unwrap();
    assert_eq!(latency(&records[0]), (3_000, 5_000, 6_000, Some(6_000), 10_000));
    assert_eq!(maxima(&records), [(3_000, 10), (2_720, 733)]);
    let beyond = Beyond {
        from_ns: 131_000,
        count: 4,
    };
    assert_eq!(foreign(&records[1]).beyond[&Quantity::Latency], beyond);
    assert!(doubts(&records[0]).is_empty() && doubts(&records[1]).contains("fell out"));
    // Without a row it does not go from its minimum to its maximum any more.
    let cut = HISTOGRAM.replacen("000010 000300\t001900\n", "", 1);
    assert!(imported(&cut, None).unwrap_err().contains("lines are missing"));
    // A row of zeros is of a version that prints the total, too.
    let cut = HISTOGRAM.replacen("000005", "000004 000000\t000000\n000005", 1);
    assert!(imported(&cut, None).unwrap_err().contains("ends without '# Total:'"));
    let strange = HISTOGRAM.replacen("000010", "[ 81.2] usb 1-1: new device\n000010", 1);
    assert!(imported(&strange, None).unwrap_err().starts_with("line 5: "));
}

const OSLAT: &str = "oslat V 2.10
Total runtime: \t\t4 seconds
Global bias set to 0.020 (us)
Test completed.

        Core:\t 2 3
Counter Freq:\t 3100 3100 (MHz)
  0.220 (us):\t 9000000 9100000
  0.420 (us):\t 77 0
  0.620 (us):\t 5 14 (including overflows)
     Minimum:\t 0.020 0.020 (us)
     Average:\t 0.033 0.034 (us)
     Maximum:\t 47.910 102.250 (us)
     Max-Min:\t 47.890 102.230 (us)
    Duration:\t 4.001 4.001 (sec)

";

#[test]
fn oslat_with_narrow_buckets_has_two_units_in_its_json() {
    let json = r#"{ "cmdline:": "oslat -c 2-3 -D 4 -b 4 --bias -W 200 --json=o.json", "rt_test_version:": "2.10",
        "num_threads": 2, "thread": {
        "0": { "cpu": 2, "freq": 3100, "min": 20, "avg": 0.033, "max": 47910, "duration": 4.001,
               "histogram": { "0.220": 9000000, "0.420": 77, "0.620": 5 } },
        "1": { "cpu": 3, "freq": 3100, "min": 20, "avg": 0.034, "max": 102250, "duration": 4.001,
               "histogram": { "0.220": 9100000, "0.620": 14 } } } }"#;
    for text in [OSLAT, json] {
        let records = imported(text, None).unwrap();
        let first = records[0].summary(Quantity::Latency).unwrap();
        assert_eq!((first.count, first.min_ns, first.max_ns), (9_000_082, Some(20), 47_910));
        assert_eq!((first.mean_ns, first.median_ns), (Some(33), Some(220)), "{text}");
        assert_eq!(records[1].summary(Quantity::Latency).unwrap().max_ns, 102_250);
        assert_eq!(records[1].cell.cpu, Some(3));
        let of = foreign(&records[1]);
        assert_eq!((of.resolution_ns, of.rounding), (1, Rounding::Up));
        assert_eq!(
            (
                of.beyond[&Quantity::Latency].from_ns,
                of.beyond[&Quantity::Latency].count
            ),
            (620, 14)
        );
    }
}

#[test]
fn oslat_s_old_heading_is_known_also_in_the_log_of_a_pod() {
    let old = "oslat V 1.10\n\n        Core:\t 4 6\n    CPU Freq:\t 2100 2100 (Mhz)\n    001 (us):\t 5000 5100\n    \
               002 (us):\t 0 7\n    003 (us):\t 2 0 (including overflows)\n     Minimum:\t 1 1 (us)\n     Average:\t 1.000 \
               1.001 (us)\n     Maximum:\t 3 2 (us)\n     Max-Min:\t 2 1 (us)\n    Duration:\t 9.001 9.001 (sec)\n\n";
    let pod = format!("##### environment ####\nHOSTNAME=x\ncmd to run: oslat -D 9 --cpu-list 4,6\n{old}");
    for text in [old, &pod] {
        let records = imported(text, None).unwrap();
        assert_eq!(maxima(&records), [(5_002, 3), (5_107, 2)]);
        assert_eq!((records[0].cell.cpu, records[1].cell.cpu), (Some(4), Some(6)));
        assert_eq!(foreign(&records[0]).version.as_deref(), Some("1.10"));
    }
}

#[test]
fn several_runs_in_a_file_are_several_runs() {
    let idle = LINES.replace("( 61", "( 71").replace("712", " 41").replace("88", "13");
    let records = imported(&format!("=== stress\n{LINES}=== idle\n{idle}"), None).unwrap();
    assert_eq!(maxima(&records), [(5_000, 712), (3_333, 88), (5_000, 41), (3_333, 13)]);
    assert_eq!(seeds(&records), [1, 1, 2, 2]);
    assert_eq!(foreign(&records[2]).notes[0], "run 2 of 2 in the file, from line 5 on");

    let quiet = HISTOGRAM.replace("00733", "00131").replace("00004\n", "00001\n");
    let records = imported(&format!("loaded\n{HISTOGRAM}\nidle\n{quiet}"), None).unwrap();
    assert_eq!(maxima(&records), [(3_000, 10), (2_720, 733), (3_000, 10), (2_717, 131)]);

    let second = OSLAT.replace("102.250", "0.610").replace("47.910", "0.600");
    let records = imported(&format!("{OSLAT}{second}"), None).unwrap();
    let all: Vec<u64> = records
        .iter()
        .map(|r| r.summary(Quantity::Latency).unwrap().max_ns)
        .collect();
    assert_eq!(all, [47_910, 102_250, 600, 610]);

    // Of two tools, and of one tool in two forms.
    let records = imported(&format!("{OSLAT}{LINES}"), None).unwrap();
    assert_eq!(
        (foreign(&records[0]).tool.as_str(), foreign(&records[2]).tool.as_str()),
        ("oslat", "cyclictest")
    );
    let records = imported(&format!("{HISTOGRAM}{LINES}"), None).unwrap();
    assert_eq!(maxima(&records), [(3_000, 10), (2_720, 733), (5_000, 712), (3_333, 88)]);
    // Processes in containers have the same numbers.
    for (from, to) in [("712", "700"), ("712", "713"), ("5000", "4999")] {
        let error = imported(&format!("{LINES}{}", LINES.replace(from, to)), None).unwrap_err();
        assert!(
            error.starts_with("line 3: ") && error.contains("of two runs"),
            "{error}"
        );
    }
    let later = LINES
        .replace("5000", "5001")
        .replace("712", "720")
        .replace("3333", "3334");
    assert_eq!(
        maxima(&imported(&format!("{LINES}{later}"), None).unwrap()),
        [(5_001, 720), (3_334, 88)]
    );
    let error = imported(&format!("{LINES}{}", HISTOGRAM.split_once('\n').unwrap().1), None).unwrap_err();
    assert!(
        error.starts_with("line 1: ") && error.contains("of two runs"),
        "{error}"
    );
}

#[test]
fn documents_one_after_the_other_are_runs() {
    let json = |max: u64| {
        format!(
            "{{\"cmdline:\": \"cyclictest -q\", \"thread\": {{ \"0\": {{ \"cycles\": 20, \"min\": 2, \"max\": {max}, \
             \"avg\": 3.0, \"cpu\": 0 }} }} }}\n"
        )
    };
    for text in [
        format!("{}{}", json(55), json(9)),
        format!("=== first\n{}=== second\n{}", json(55), json(9)),
        format!("[\n{},\n{}]\n", json(55).trim_end(), json(9)),
    ] {
        let records = imported(&text, None).unwrap();
        assert_eq!(
            (maxima(&records), seeds(&records)),
            (vec![(20, 55), (20, 9)], vec![1, 2]),
            "{text}"
        );
    }
}

#[test]
fn a_cut_run_before_a_whole_one_is_not_left_out() {
    let (begin, _) = HISTOGRAM.split_once("# Max").unwrap();
    let error = imported(&format!("{begin}{HISTOGRAM}"), None).unwrap_err();
    assert!(error.contains("ends without '# Max Latencies:'"), "{error}");
}

const TOP: &str = "                                     Timer Latency
  0 00:00:09   |          IRQ Timer Latency (us)        |         Thread Timer Latency (us)
CPU COUNT      |      cur       min       avg       max |      cur       min       avg       max
  0 #9012      |       14         0         1        33 |      604         3         7       604
  1 #9013      |        1         0         1         4 |        -         -         -         -
---------------|----------------------------------------|---------------------------------------
ALL #18025 e0  |                    0         1        33 |                    3         7       604
";

#[test]
fn screens_of_one_run_are_one_and_another_run_is_another() {
    let before = TOP
        .replace("00:00:09", "00:00:08")
        .replace("#901", "#801")
        .replace("604", "310");
    let records = imported(&format!("{before}{TOP}"), None).unwrap();
    assert_eq!(
        (maxima(&records), seeds(&records)),
        (vec![(9_012, 604), (0, 0)], vec![1, 1])
    );
    let records = imported(&format!("{TOP}{before}"), None).unwrap();
    assert_eq!(maxima(&records), [(9_012, 604), (0, 0), (8_012, 310), (0, 0)]);
}

#[test]
fn what_rtla_missed_is_a_doubt() {
    let hist = "# RTLA timerlat histogram\n# Time unit is microseconds (us)\n# Duration:   0 00:00:09\nIndex   IRQ-000   \
                Thr-000\n2          9000      8000 \n5             0      1000 \nover:         0         0 \ncount:     \
                9000      9000 \nmin:          2         2 \navg:          2         2 \nmax:          2         5 \n";
    for (said, text) in [
        ("733 (2.10%) events missed, results might not be accurate", hist),
        ("unknown number of events missed, results might not be accurate", hist),
        ("733 (2.10%) events missed, results might not be accurate", TOP),
    ] {
        let records = imported(&format!("{text}{said}\n"), None).unwrap();
        assert!(
            records
                .iter()
                .all(|record| doubts(record).contains(&format!("rtla: {said}"))),
            "{records:?}"
        );
        assert!(records[0].lost().is_none());
    }
    let records = imported(TOP, None).unwrap();
    assert_eq!(
        (
            doubts(&records[0]).as_str(),
            doubts(&records[1]).contains("it took no sample")
        ),
        ("", true)
    );
}

#[test]
fn a_thread_without_a_sample_stays_and_is_a_doubt() {
    let text = "T: 0 ( 830) P:70 I:1000 C:   4001 Min:     11 Act:   20 Avg:   25 Max:     990
T: 1 ( 831) P:70 I:9001000 C:      0 Min:1000000 Act:    0 Avg:    0 Max:       0
";
    let json = r#"{"cmdline:": "cyclictest -q -t2", "resolution_in_ns": 0, "thread": {
        "0": { "histogram": { }, "cycles": 4001, "min": 11, "max": 990, "avg": 25.11, "cpu": 0 },
        "1": { "histogram": { }, "cycles": 0, "min": 1000000, "max": 0, "avg": -nan, "cpu": 1 } } }
"#;
    for text in [text, json] {
        let records = imported(text, None).unwrap();
        assert_eq!(maxima(&records), [(4_001, 990), (0, 0)]);
        assert!(doubts(&records[0]).is_empty());
        assert_eq!(doubts(&records[1]), "wakeup, CPU or thread 1: it took no sample");
    }
}

#[test]
fn what_stands_before_every_line_is_no_harm() {
    for before in [
        "> ",
        "    ",
        "2026-02-03T04:05:06.7890123Z ",
        "2026-02-03T04:05:06.789012345Z stdout F ",
        "Feb  3 04:05:06 box run[77]: ",
        "[   61.123456] ",
        "job\tStep\t2026-02-03T04:05:06.7890123Z ",
    ] {
        for (text, expected) in [
            (LINES, vec![(5_000, 712), (3_333, 88)]),
            (HISTOGRAM, vec![(3_000, 10), (2_720, 733)]),
        ] {
            let prefixed: String = text.lines().map(|line| format!("{before}{line}\n")).collect();
            assert_eq!(
                imported(&prefixed, None).map(|records| maxima(&records)),
                Ok(expected),
                "{before}"
            );
        }
        let prefixed: String = TOP.lines().map(|line| format!("{before}{line}\n")).collect();
        assert_eq!(maxima(&imported(&prefixed, None).unwrap())[0], (9_012, 604), "{before}");
    }
    for text in [
        format!("```\n{LINES}```\n"),
        LINES.replace('\n', "\r\n"),
        LINES.trim_end().to_string(),
        format!("\u{feff}{LINES}"),
    ] {
        assert_eq!(
            maxima(&imported(&text, None).unwrap()),
            [(5_000, 712), (3_333, 88)],
            "{text}"
        );
    }
    assert_eq!(maxima(&imported(HISTOGRAM.trim_end(), None).unwrap()).len(), 2);
    assert_eq!(maxima(&imported(OSLAT.trim_end(), None).unwrap()).len(), 2);
}

#[test]
fn what_stands_before_some_lines_is_refused_with_the_line() {
    let second = LINES.replacen("T: 1", "> T: 1", 1);
    let error = imported(&second, None).unwrap_err();
    assert!(error.starts_with("line 2: '>' stands before a result"), "{error}");
    let error = imported(&HISTOGRAM.replacen("000044", "| 000044", 1), None).unwrap_err();
    assert!(error.starts_with("line 6: "), "{error}");
    let error = imported(&LINES.trim_end()[..LINES.len() - 2], None).unwrap_err();
    assert!(error.contains("may be cut"), "{error}");
}

#[test]
fn nanoseconds_are_known_by_their_blanks_or_asked_for() {
    let ns = "T: 0 ( 533) P:80 I:1000 C:   2000 Min:  13100 Act:   15200 Avg:   16000 Max:  777000\n";
    assert_eq!(
        latency(&imported(ns, None).unwrap()[0]),
        (2_000, 13_100, 16_000, None, 777_000)
    );
    let squeezed = ns.split_whitespace().collect::<Vec<_>>().join(" ") + "\n";
    let error = imported(&squeezed, None).unwrap_err();
    assert!(error.contains("--nanoseconds, or --microseconds"), "{error}");
    assert_eq!(latency(&imported(&squeezed, Some(Nanos(1))).unwrap()[0]).4, 777_000);
    assert_eq!(
        latency(&imported(&squeezed, Some(Nanos(1_000))).unwrap()[0]).4,
        777_000_000
    );
    let histogram = HISTOGRAM
        .replace("0000", "0130")
        .replace("Min Latencies: 00005 00006", "Min Latencies: 13005 13006");
    assert!(imported(&histogram, None).is_err());
}
