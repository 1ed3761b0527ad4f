//! Files of every tool, whole and damaged.

mod cases;
mod changed;
mod peers;
mod written;

use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use worstcase_contract::Nanos;
use worstcase_contract::bench::Details;
use worstcase_foreign::{ForeignFormat, ImportError, ImportFacts, read, records};
use worstcase_results::record::{Beyond, Foreign, MOST, Quantity, Record, Rounding};
use worstcase_results::stats::Percentile;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn import_given(names: &[&str], given: &ImportFacts) -> Vec<Record> {
    let sources = names
        .iter()
        .map(|name| read(&data(name), None, None).unwrap())
        .collect();
    let cells = records(sources, given).unwrap();
    cells.into_iter().map(|cell| cell.record).collect()
}

fn import(name: &str) -> Vec<Record> {
    import_given(&[name], &ImportFacts::default())
}

fn foreign(record: &Record) -> &Foreign {
    record.foreign.as_ref().unwrap()
}

fn lacks(record: &Record, what: &str) -> bool {
    foreign(record).lacks.iter().any(|lack| lack.contains(what))
}

/// Count, minimum, mean, median and maximum of the latency, in ns.
fn latency(record: &Record) -> (u64, u64, u64, Option<u64>, u64) {
    let s = record.summary(Quantity::Latency).unwrap();
    (s.count, s.min_ns.unwrap(), s.mean_ns.unwrap(), s.median_ns, s.max_ns)
}

fn all_files() -> Vec<PathBuf> {
    let files = fs::read_dir(data("")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| !path.ends_with("README.md")).collect();
    files.sort();
    files
}

#[test]
fn lines_of_threads_tell_ends_and_no_distribution() {
    let records = import("cyclictest-lines.txt");
    assert_eq!(latency(&records[0]), (2_000, 20_000, 49_000, None, 1_594_000));
    assert_eq!(latency(&records[1]), (1_341, 29_000, 53_000, None, 249_000));
    let periods: Vec<u64> = records.iter().map(|r| r.cell.period_ns).collect();
    assert_eq!((periods, records[0].cell.priority), (vec![1_000_000, 1_500_000], 90));
    assert!(lacks(&records[0], "the distribution") && lacks(&records[0], "the kernel"));
    // The first was late by more than a period, the second never.
    assert_eq!((records[0].missed(), records[1].missed()), (None, Some(0)));
    assert!(records.iter().all(|r| !r.has_samples() && r.self_cost.is_none()));
}

#[test]
fn of_a_terminal_the_last_screen_counts() {
    let records = import("cyclictest-terminal.txt");
    assert_eq!(latency(&records[0]), (2_000, 21_000, 57_000, None, 15_947_000));
    assert_eq!(records.len(), 2);
}

#[test]
fn a_histogram_tells_percentiles_until_its_end() {
    let records = import("cyclictest-histogram.txt");
    assert_eq!(latency(&records[0]), (3_000, 21_000, 55_000, Some(46_000), 6_053_000));
    let s = records[0].summary(Quantity::Latency).unwrap();
    assert_eq!(s.percentiles_ns.get(&Percentile::P99), Some(&133_000));
    let beyond = Beyond {
        from_ns: 200_000,
        count: 15,
    };
    assert_eq!(foreign(&records[0]).beyond.get(&Quantity::Latency), Some(&beyond));
    assert_eq!((s.histogram(), s.held().unwrap().len()), (None, 2_985));
    assert_eq!(
        (foreign(&records[0]).resolution_ns, foreign(&records[0]).rounding),
        (1_000, Rounding::Down)
    );
    assert!(lacks(&records[0], "the interval") && lacks(&records[0], "CPUs of the threads"));
}

#[test]
fn a_histogram_that_lost_all_tells_no_percentile() {
    // With -H, whose further column is of all threads.
    let records = import("cyclictest-overflow.txt");
    assert_eq!(records.len(), 2);
    assert_eq!(latency(&records[1]), (1_000, 23_000, 54_000, None, 1_341_000));
    let s = records[1].summary(Quantity::Latency).unwrap();
    assert!(s.percentiles_ns.is_empty() && s.held().is_none());
}

#[test]
fn verbose_samples_are_kept_one_by_one() {
    let given = ImportFacts {
        interval: Some(Nanos::from_millis(2)),
        load: Some("idle".into()),
    };
    let records = import_given(&["cyclictest-verbose.txt"], &given);
    assert_eq!(latency(&records[0]), (100, 32_000, 49_360, Some(46_000), 72_000));
    assert_eq!((records[0].samples.rows, records[0].missed()), (100, Some(0)));
    assert_eq!(
        (records[0].cell.load.as_str(), records[0].cell.period_ns),
        ("idle", 2_000_000)
    );
    assert!(records[0].has_samples() && !lacks(&records[0], "what ran beside"));
}

#[test]
fn json_tells_the_machine_and_the_command() {
    let [first, .., second] = &import_given(
        &["cyclictest.json", "cyclictest-histogram.json"],
        &ImportFacts::default(),
    )[..] else {
        panic!("several threads");
    };
    let of = foreign(first);
    assert_eq!(
        (of.tool().as_str(), of.began.unwrap().to_string().as_str()),
        ("cyclictest 2.40", "2026-11-23T02:38:38Z")
    );
    assert_eq!((first.subject.kernel.release.as_str(), first.cell.seed), ("6.18.44", 1));
    assert_eq!(
        (first.cell.period_ns, first.cell.priority, first.cell.cpu),
        (1_000_000, 90, Some(0))
    );
    // The same kernel: the second file is the next seed. Its threads have one interval, as with every histogram.
    assert_eq!(
        (second.cell.seed, second.cell.period_ns, second.cell.cpu),
        (2, 1_000_000, Some(1))
    );
    let beyond = foreign(second).beyond[&Quantity::Latency];
    assert_eq!((beyond.from_ns, beyond.count), (30_000, 1_978));
}

#[test]
fn oslat_rounds_up_and_its_last_bucket_holds_what_is_longer() {
    let (text, json) = (import("oslat.txt"), import("oslat.json"));
    for records in [&text, &json] {
        assert_eq!(records[0].cell.probe, "oslat");
        let (count, min, mean, median, max) = latency(&records[0]);
        assert_eq!((count, min, median, max), (47_565_073, 1_000, Some(1_000), 24_085_000));
        assert!((1_034..=1_035).contains(&mean), "{mean}");
        let beyond = foreign(&records[0]).beyond[&Quantity::Latency];
        assert_eq!((beyond.from_ns, beyond.count), (32_000, 542));
        assert_eq!(foreign(&records[0]).rounding, Rounding::Up);
        assert_eq!(
            (records[1].observation_time(), records[1].missed()),
            (Nanos::from_millis(2_999), None)
        );
    }
}

#[test]
fn jitterdebugger_samples_every_period() {
    let records = import("jitterdebugger.json");
    assert_eq!(latency(&records[1]), (1_915, 14_000, 46_160, Some(41_000), 2_704_000));
    assert_eq!(foreign(&records[1]).beyond[&Quantity::Latency].count, 4);
    assert_eq!(records[1].missed(), Some(0));
    assert_eq!(
        latency(&import("jitterdebugger.txt")[1]),
        (986, 15_000, 49_940, None, 618_000)
    );
    let raw = import("jitterdebugger.raw");
    assert_eq!((raw[0].samples.rows, raw[1].samples.rows), (124, 76));
    assert!(raw[0].observation_time() > Nanos::from_millis(120));
}

#[test]
fn timerlat_has_two_latencies_and_maybe_a_third() {
    let records = import("timerlat-hist.txt");
    assert_eq!(latency(&records[1]), (10_001, 2_000, 2_000, Some(3_000), 63_000));
    let irq = records[1].summary(Quantity::IrqLatency).unwrap();
    // The only one that is in no bin is the largest, and known.
    assert_eq!(
        (irq.count, irq.max_ns, irq.histogram().unwrap().len()),
        (10_001, 12_000, 10_001)
    );
    assert_eq!(records[1].observation_time(), Nanos::from_millis(10_000));
    assert_eq!(records[1].summary(Quantity::AfterIrq), None);

    let records = import("timerlat-top-user.txt");
    let probes: Vec<&str> = records.iter().map(|r| r.cell.probe.as_str()).collect();
    assert_eq!(probes, ["timerlat", "timerlat-user", "timerlat", "timerlat-user"]);
    assert_eq!(latency(&records[1]), (3_001, 4_000, 10_000, None, 33_000));
}

#[test]
fn an_analysis_is_kept_as_it_is() {
    let records = import("timerlat-top.txt");
    let notes = &foreign(&records[0]).notes;
    assert_eq!((notes[0].as_str(), notes.len()), ("rtla timerlat hit stop tracing", 9));
    assert!(notes[8].contains("41.96 us (100%)"), "{notes:?}");
}

#[test]
fn osnoise_has_gaps() {
    let records = import("osnoise-top.txt");
    let gaps = records[0].accounting.gaps().unwrap();
    assert_eq!(
        (gaps.observed_ns, gaps.noise_ns, gaps.max_single_ns),
        (53_100_000_000, 304_896_000, 56_000)
    );
    assert_eq!(
        (
            records[0].cell.probe.as_str(),
            records[0].environment["osnoise IRQ"].as_str()
        ),
        ("noise", "53111")
    );
    assert!(records[0].summary(Quantity::Latency).is_none() && lacks(&records[0], "single gaps"));
    let records = import("osnoise-hist.txt");
    assert_eq!(latency(&records[0]), (55_215, 0, 2_100, Some(0), 30_000));
    assert_eq!(foreign(&records[0]).resolution_ns, 10_000);
}

#[test]
fn nanoseconds_are_taken_as_such() {
    let source = read(&data("cyclictest-lines.txt"), "cyclictest".parse().ok(), Some(Nanos(1))).unwrap();
    let cells = records(vec![source], &ImportFacts::default()).unwrap();
    assert_eq!(latency(&cells[0].record).4, 1_594);
}

fn refused(name: &str, content: &[u8], format: Option<ForeignFormat>) -> String {
    let dir = std::env::temp_dir().join(format!("worstcase-foreign-{}-{name}", std::process::id()));
    fs::write(&dir, content).unwrap();
    let error = read(&dir, format, None).unwrap_err().to_string();
    fs::remove_file(&dir).unwrap();
    assert!(error.lines().count() == 1 && error.contains(name), "{error}");
    error
}

#[test]
fn what_cannot_be_imported_is_one_line() {
    for (name, content, says) in [
        ("empty", "", "no output of a known tool"),
        (
            "other",
            "hello\n",
            "--format says which it is of: cyclictest, timerlat,",
        ),
        (
            "cut-json",
            "{ \"cmdline:\": \"cyclictest -m\", \"thread\": {",
            "it was cut",
        ),
        ("no-end", "# Histogram\n000001 000003\n", "ends without '# Total:'"),
        (
            "short-row",
            "# Histogram\n000001 000003\t000001\n000002 000003\n",
            "line 3: a row",
        ),
        (
            "sum",
            "# Histogram\n000001 000003\n# Total: 4\n# Min Latencies: 1\n# Avg Latencies: 1\n# Max Latencies: 1\n# Histogram Overflows: 0\n",
            "does not add up to its total of 4",
        ),
        (
            "line",
            "T: 0 (1) P:90 I:1000 C:  20 Min:    1\n",
            "does not go on to 'Max:'",
        ),
        (
            "columns",
            "# RTLA timerlat histogram\nIndex IRQ-000 Thr-000\n0 1\n",
            "line 3: 2 columns in place of 3",
        ),
        (
            "summary",
            "# RTLA timerlat histogram\nIndex IRQ-000\n0 1\n",
            "it has no 'count:' of IRQ-000",
        ),
        ("header", "# RTLA timerlat histogram\n0 1\n", "no line 'Index ...'"),
        (
            "none",
            "# RTLA osnoise histogram\nIndex\nover: 0\n",
            "its columns are not known",
        ),
        (
            "no-newline",
            "T: 0 (1) P:90 I:1000 C:  20 Min:    1 Act:    2 Avg:    1 Max:      1",
            "may be cut",
        ),
        (
            "core",
            "        Core:\t 0 1\nCounter Freq:\t 1 1 (Mhz)\n    001 (us):\t 5\n     Minimum:\t 1 1 (us)\n     Average:\t 1 1 (us)\n     Maximum:\t 1 1 (us)\n    Duration:\t 1 1 (sec)\n",
            "bucket 1 has no column",
        ),
    ] {
        let error = refused(name, content.as_bytes(), None);
        assert!(error.contains(says), "{name}: {error}");
    }
    let error = refused("forced", b"hello\n", "oslat".parse().ok());
    assert!(error.contains("holds no result of oslat"), "{error}");
    let error = refused("bytes", b"\xff\xfe", "cyclictest".parse().ok());
    assert!(error.contains("byte 1 is not UTF-8"), "{error}");
}

/// Bytes and time of a work with files, in ns.
fn io(record: &Record) -> (u64, u64) {
    match &record.details {
        Some(Details::Io(io)) => (io.bytes, io.elapsed.0),
        other => panic!("{}: {other:?}", record.id),
    }
}

fn probes(records: &[Record]) -> Vec<&str> {
    records.iter().map(|r| r.cell.probe.as_str()).collect()
}

#[test]
fn fio_s_jobs_are_works_of_ours_where_they_are_the_same() {
    let records = import("fio.json");
    assert_eq!(probes(&records), ["io:64m+write", "io:32m+randread+direct"]);
    let told = json("fio.json");
    for (record, (job, direction)) in records.iter().zip([(0, "write"), (1, "read")]) {
        let told = &told["jobs"][job][direction];
        let number = |of: &serde_json::Value| of.as_u64().unwrap();
        let s = record.summary(Quantity::Latency).unwrap();
        assert_eq!(s.count, number(&told["total_ios"]));
        assert_eq!(
            (s.min_ns, s.max_ns),
            (Some(number(&told["clat_ns"]["min"])), number(&told["clat_ns"]["max"]))
        );
        assert_eq!(s.held().unwrap().len(), s.count);
        assert_eq!(
            io(record),
            (number(&told["io_bytes"]), number(&told["runtime"]) * 1_000_000)
        );
        let median = number(&told["clat_ns"]["percentile"]["50.000000"]);
        assert_eq!(s.median_ns, Some(median));
    }
    assert_eq!(foreign(&records[0]).tool(), "fio 3.33");
    assert_eq!(foreign(&records[0]).rounding, Rounding::Middle);
    assert!(lacks(&records[0], "how many requests waited"));
}

fn json(name: &str) -> serde_json::Value {
    serde_json::from_slice(&fs::read(data(name)).unwrap()).unwrap()
}

#[test]
fn fio_without_bins_tells_some_percentiles() {
    let records = import("fio-plain.json");
    let s = records[0].summary(Quantity::Latency).unwrap();
    let told = &json("fio-plain.json")["jobs"][0]["read"]["clat_ns"]["percentile"];
    assert_eq!(s.median_ns, told["50.000000"].as_u64());
    assert_eq!(
        s.percentiles_ns.get(&Percentile::P99),
        told["99.000000"].as_u64().as_ref()
    );
    assert_eq!(
        s.percentiles_ns.get(&Percentile::P99_99),
        None,
        "too few samples bear it"
    );
    assert!(s.held().is_none() && lacks(&records[0], "some percentiles"));
}

#[test]
fn what_only_fio_does_keeps_its_name() {
    let records = import("fio-mixed.json");
    let name = |direction| format!("fio-mixed-{direction}");
    assert_eq!(
        probes(&records),
        [name("read"), name("write"), name("read"), name("write")]
    );
    let jobs: Vec<Option<u32>> = records.iter().map(|r| r.cell.cpu).collect();
    assert_eq!(jobs, [0, 0, 1, 1].map(Some));
    assert!(records.iter().all(|r| r.details.is_none()));
    let notes = &foreign(&records[0]).notes;
    assert!(notes.iter().any(|note| note.starts_with("mixed, write: ")), "{notes:?}");
    assert!(
        notes.iter().any(|note| note.contains("from the submission on (clat)")),
        "{notes:?}"
    );
}

#[test]
fn fio_s_text_is_told_what_to_do() {
    let path = std::env::temp_dir().join(format!("worstcase-foreign-fio-{}", std::process::id()));
    fs::write(&path, "seq: (g=0): rw=write\nfio-3.33\nStarting 1 process\n").unwrap();
    let error = read(&path, None, None).unwrap_err().to_string();
    assert!(error.contains("--output-format=json+"), "{error}");
    // What fio says before its JSON is no harm.
    let before = ["fio: a word\n", &fs::read_to_string(data("fio.json")).unwrap()].concat();
    fs::write(&path, before).unwrap();
    let source = read(&path, None, None).unwrap();
    assert_eq!(records(vec![source], &ImportFacts::default()).unwrap().len(), 2);
    fs::remove_file(&path).unwrap();
}

#[test]
fn bonnie_has_fifty_columns_and_a_repetition_a_line() {
    let records = import("bonnie.csv");
    let set = "putc write+bs8k rewrite getc read+bs8k seeks+seekers4";
    let with_a_file = set.split(' ').map(|work| format!("io:1536m+{work}"));
    let set = "create stat delete rcreate rstat rdelete";
    let all: Vec<String> = with_a_file
        .chain(set.split(' ').map(|work| format!("io+{work}")))
        .collect();
    assert_eq!(probes(&records), [all.clone(), all].concat());
    let seeds: Vec<u64> = records.iter().map(|r| r.cell.seed).collect();
    assert_eq!(seeds, [[1; 12], [2; 12]].concat());
    let longest = |at: usize| {
        records[at]
            .summary(Quantity::Latency)
            .map(|s| (s.count, s.min_ns, s.mean_ns, s.max_ns))
    };
    assert_eq!(longest(0), Some((196_608, None, None, 6_770_000)));
    assert_eq!(longest(5), Some((8_192, None, None, 6_549_000)));
    assert_eq!(longest(11), Some((65_536, None, None, 2_507_000)));
    // 942 988 KiB a second; what is too fast has no time.
    let (bytes, elapsed) = io(&records[1]);
    assert_eq!(bytes, 1_536 << 20);
    assert_eq!((bytes as f64 / 1_024.0 / (elapsed as f64 / 1e9)).round(), 942_988.0);
    assert_eq!(io(&records[4]), (1_536 << 20, 0));
    assert_eq!(io(&records[2]).0, (2 * 1_536) << 20, "read and written");
    assert!(lacks(&records[0], "it has the longest"));
}

#[test]
fn a_line_of_bonnie_s_that_lost_a_column_is_refused() {
    let path = std::env::temp_dir().join(format!("worstcase-foreign-bonnie-{}", std::process::id()));
    let text = fs::read_to_string(data("bonnie.csv")).unwrap();
    fs::write(&path, text.replacen("1536M,,", "1536M,", 1)).unwrap();
    let error = read(&path, None, None).unwrap_err().to_string();
    assert!(error.contains("line 2: 49 columns, where bonnie++ has 50"), "{error}");
    fs::remove_file(&path).unwrap();
}

#[test]
fn hdparm_tells_a_rate() {
    let records = import("hdparm.txt");
    assert_eq!(
        probes(&records),
        [
            "io:256m+cached",
            "io:256m+buffered",
            "hdparm-direct-cached",
            "hdparm-direct"
        ]
    );
    assert_eq!(io(&records[0]), (18_538 << 20, 2_000_000_000));
    assert_eq!(records[1].summary(Quantity::Latency), None);
    assert!(lacks(&records[1], "latencies") && foreign(&records[1]).notes.iter().any(|n| n.contains("/dev/loop0")));
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = read(Path::new("/nowhere/x"), None, None).unwrap_err();
    assert!(
        matches!(error, ImportError::Read { .. }) && error.to_string().contains("/nowhere/x"),
        "{error}"
    );
}

/// Every file, cut anywhere: an error in a line, or records that hold together. Never a panic.
#[test]
fn a_cut_file_is_refused_or_honest() {
    let dir = std::env::temp_dir().join(format!("worstcase-foreign-cut-{}", std::process::id()));
    for path in all_files() {
        let bytes = fs::read(&path).unwrap();
        for end in (0..bytes.len()).step_by(31) {
            fs::write(&dir, &bytes[..end]).unwrap();
            let Ok(source) = read(&dir, None, None) else { continue };
            match records(vec![source], &ImportFacts::default()) {
                Ok(cells) => assert!(cells.iter().all(|cell| cell.record.check().is_ok())),
                Err(e) => assert_eq!(e.to_string().lines().count(), 1, "{} cut at {end}: {e}", path.display()),
            }
        }
    }
    fs::remove_file(&dir).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn a_damaged_file_never_panics(file in 0_usize..24, at: prop::sample::Index, byte: u8, forced in 0_usize..8) {
        let files = all_files();
        let mut bytes = fs::read(&files[file % files.len()]).unwrap();
        let place = at.index(bytes.len());
        bytes[place] = byte;
        let path = std::env::temp_dir().join(format!("worstcase-foreign-damaged-{}", std::process::id()));
        fs::write(&path, &bytes).unwrap();
        for format in [None, Some(ForeignFormat::all().nth(forced).unwrap())] {
            if let Ok(source) = read(&path, format, None) {
                let _ = records(vec![source], &ImportFacts::default());
            }
        }
        fs::remove_file(&path).unwrap();
    }
}

/// What stands in place of each number of each file in turn: none is one that a tool can have measured.
const NO_NUMBERS: [&str; 12] = [
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775808",
    "4611686018427387905",
    "1e308",
    "1e400",
    "-1",
    "-0.5",
    "NaN",
    "inf",
    "0",
    "",
];

/// Where numbers stand in a text: begin and end.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(begin) = text[at..].find(|c: char| c.is_ascii_digit()).map(|n| at + n) {
        let end = text[begin..].find(|c| !is_digit(c)).map_or(text.len(), |n| begin + n);
        found.push((begin, end));
        at = end;
    }
    found
}

/// Whether a record holds no count or time beyond what can be computed with, and no text that was made of such a number.
fn is_sound(record: &Record) -> bool {
    let json = serde_json::to_value(record).unwrap();
    let periods = record.accounting.periods().map_or(0, |p| p.expected);
    let told = json["foreign"]["notes"].to_string().to_lowercase();
    let is_told = ["nan us", "nan mb", "inf us", "inf mb", "nan %", "inf %"]
        .iter()
        .any(|word| told.contains(word));
    record.check().is_ok() && periods <= MOST && record.observation_time().0 < u64::MAX && !is_told
}

/// Imports bytes; a refusal must be one line.
fn takes(name: &str, bytes: &[u8], nanoseconds: bool) -> bool {
    let path = std::env::temp_dir().join(format!("worstcase-foreign-{}-{name}", std::process::id()));
    fs::write(&path, bytes).unwrap();
    let cells = read(&path, None, nanoseconds.then_some(Nanos(1)))
        .and_then(|source| records(vec![source], &ImportFacts::default()));
    fs::remove_file(&path).unwrap();
    match cells {
        Ok(cells) => {
            assert!(cells.iter().all(|cell| is_sound(&cell.record)), "{name}");
            true
        }
        Err(error) => {
            assert_eq!(error.to_string().lines().count(), 1, "{name}: {error}");
            assert_eq!(error.exit(), worstcase_base::ExitKind::Usage, "{name}: {error}");
            false
        }
    }
}

#[test]
fn no_number_of_a_file_breaks_its_reader() {
    // The rows of a long histogram are alike.
    const ALIKE: usize = 12;
    for path in all_files() {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let name = path.file_name().unwrap().to_str().unwrap();
        let places = numbers(&text);
        let rest = places.len().saturating_sub(ALIKE);
        let step = (rest / ALIKE).max(1);
        let some = places.iter().take(ALIKE).chain(places.iter().skip(ALIKE).step_by(step));
        for (begin, end) in some.chain(places.iter().rev().take(12)) {
            for number in NO_NUMBERS {
                let changed = [&text[..*begin], number, &text[*end..]].concat();
                takes(name, changed.as_bytes(), begin % 2 == 0);
            }
        }
    }
    let raw = fs::read(data("jitterdebugger.raw")).unwrap();
    for at in (0..raw.len() - 8).step_by(92) {
        for number in [u64::MAX, 1 << 63, i64::MAX as u64, 0] {
            let mut changed = raw.clone();
            changed[at..at + 8].copy_from_slice(&number.to_le_bytes());
            takes("raw", &changed, false);
        }
    }
}

#[test]
fn a_number_that_no_tool_measures_is_told() {
    let changed = |name: &str, from: &str, to: &str| {
        let text = fs::read_to_string(data(name)).unwrap();
        assert!(text.contains(from), "{name}");
        text.replacen(from, to, 1)
    };
    for (name, from, to, says) in [
        (
            "cyclictest.json",
            "\"cycles\": 2000",
            "\"cycles\": 18446744073709551615",
            "the number of samples of wakeup, CPU or thread 0 is 18446744073709551615",
        ),
        (
            "jitterdebugger.json",
            "\"15\": 1,",
            "\"15\": 18446744073709551615,",
            "too large to add up",
        ),
        (
            "oslat.json",
            "\"1\": 47563358",
            "\"1\": 9223372036854775808",
            "more than any measurement has",
        ),
        (
            "bonnie.csv",
            ",1536M,",
            ",18446744073709551615,",
            "file size 18446744073709551615 is too large",
        ),
        (
            "timerlat-top.txt",
            "28.13 us",
            "NaN us",
            "its analysis tells a time or share of 'NaN'",
        ),
    ] {
        let error = refused(name, changed(name, from, to).as_bytes(), None);
        assert!(error.contains(says), "{name}: {error}");
    }
}
