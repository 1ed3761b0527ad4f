//! Files that the distribution's tools wrote: what is imported is what they say themselves.

use super::{data, foreign, import, io, lacks};
use worstcase_foreign::{ImportFacts, read, records};
use worstcase_results::record::{Quantity, Record};
use worstcase_results::stats::Percentile;

/// Number of samples and maximum in ns of each record.
fn said(records: &[Record]) -> Vec<(u64, u64)> {
    let of = |record: &Record| {
        record
            .summary(Quantity::Latency)
            .map_or((record.accounting.taken(), 0), |s| (s.count, s.max_ns))
    };
    records.iter().map(of).collect()
}

/// A file, and the numbers and maxima that its tool tells in it.
const FILES: &[(&str, &[(u64, u64)])] = &[
    ("pmqtest.txt", &[(500, 72_000)]),
    ("pmqtest.json", &[(500, 72_000)]),
    ("ptsematest.json", &[(500, 325_000)]),
    ("svsematest.json", &[(500, 38_000)]),
    ("sigwaittest.json", &[(500, 832_000)]),
    ("signaltest.txt", &[(500, 507_000), (500, 10_162_000)]),
    ("signaltest.json", &[(500, 507_000), (500, 10_162_000)]),
    ("cyclicdeadline.txt", &[(401, 1_100_000)]),
    ("cyclicdeadline.json", &[(401, 1_100_000)]),
    ("pi_stress.txt", &[(97_088, 0)]),
    ("pi_stress.json", &[(97_088, 0)]),
    ("stress-ng.txt", &[(10_000, 158_565)]),
    ("stress-ng-rr.txt", &[(10_000, 3_980_376)]),
    ("cyclictest-ns.txt", &[(1_000, 3_568_361), (679, 93_556)]),
    ("cyclictest-histfile.txt", &[(1_000, 860_000), (1_000, 440_000)]),
    (
        "oslat-zero-omit.txt",
        &[(27_333_001, 20_046_000), (27_708_453, 56_054_000)],
    ),
];

#[test]
fn what_the_tools_say_is_imported() {
    for (name, expected) in FILES {
        assert_eq!(said(&import(name)), *expected, "{name}");
    }
}

#[test]
fn pairs_have_the_cpu_of_the_one_that_wakes() {
    for name in ["pmqtest.txt", "pmqtest.json"] {
        let records = import(name);
        assert_eq!((records[0].cell.cpu, records[0].cell.priority), (Some(0), 80), "{name}");
        assert_eq!((records[0].cell.probe.as_str(), records[0].missed()), ("pmqtest", None));
    }
    assert_eq!(foreign(&import("pmqtest.json")[0]).tool(), "pmqtest 2.40");
    assert_eq!(
        import("signaltest.json")[1].cell.cpu,
        Some(1),
        "a thread each, though all of one CPU"
    );
}

#[test]
fn a_text_that_three_tools_print_alike_is_asked_for() {
    let error = read(&data("ptsematest.txt"), None, None).unwrap_err().to_string();
    assert!(
        error.contains("line 1: ptsematest, svsematest and sigwaittest print this alike"),
        "{error}"
    );
    let source = read(&data("ptsematest.txt"), "ptsematest".parse().ok(), None).unwrap();
    let cells = records(vec![source], &ImportFacts::default()).unwrap();
    assert_eq!(said(&[cells[0].record.clone()]), [(500, 325_000)]);
}

#[test]
fn stress_ng_tells_percentiles_and_that_it_kept_too_few() {
    let records = import("stress-ng.txt");
    let s = records[0].summary(Quantity::Latency).unwrap();
    assert_eq!(
        (s.min_ns, s.mean_ns, s.median_ns),
        (Some(8_071), Some(20_660), Some(15_953))
    );
    assert_eq!(s.percentile(Percentile::P99_9).unwrap().0, 138_436);
    assert!(
        records[0].warnings[0].contains("kept 10000 of 24695 samples"),
        "{:?}",
        records[0].warnings
    );
}

#[test]
fn fio_s_json_counts_where_its_text_stands_beside_it() {
    let records = import("fio-both.txt");
    assert_eq!(records.len(), 1);
    assert_eq!(said(&records)[0].1, 23_678_832);
    assert_eq!(foreign(&records[0]).tool(), "fio 3.33");
    assert!(io(&records[0]).0 > 0);
}

#[test]
fn perf_tells_each_task_and_what_it_lost() {
    let records = import("perf-sched.txt");
    let largest = said(&records).into_iter().map(|(_, max)| max).max();
    let switches: u64 = records.iter().map(|record| record.accounting.taken()).sum();
    assert_eq!((records.len(), largest, switches), (21, Some(16_091_000), 481));
    assert!(
        records
            .iter()
            .all(|record| record.warnings.iter().any(|w| w.contains("context switch bugs")))
    );
    assert!(lacks(&records[0], "the CPUs of a task"));
}
