//! Forms of tools that do not run here, written by hand as their sources print them.

use super::cases::{doubts, imported, maxima};
use super::{foreign, lacks};
use worstcase_contract::Nanos;
use worstcase_results::record::{Quantity, Record};
use worstcase_results::stats::Percentile;

fn refused(text: &str) -> String {
    imported(text, None).unwrap_err()
}

fn only(text: &str) -> Record {
    let mut records = imported(text, None).unwrap();
    assert_eq!(records.len(), 1, "{records:?}");
    records.remove(0)
}

const HWLAT: &str = include_str!("../data/hwlatdetect.txt");

#[test]
fn hwlatdetect_tells_the_longest_gap() {
    let record = only(HWLAT);
    assert_eq!(maxima(std::slice::from_ref(&record)), [(2, 91)]);
    assert_eq!(record.observation_time(), Nanos::from_millis(36_000));
    assert!(foreign(&record).notes.iter().any(|note| note == "SMIs during run: 2"));
    let quiet =
        HWLAT.split_once("Max Lat").unwrap().0.to_string() + "Max Latency: Below threshold\nSamples recorded: 0\n";
    assert!(only(&quiet).summary(Quantity::Latency).is_none());
    assert!(refused(&HWLAT.replace("ts: 1790000031.110200300, inner:91, outer:0\n", "")).contains("lines are missing"));
    let missing = "Traceback (most recent call last):\nDetectorNotAvailable: ('hwlat', 'hwlat tracer not available')\n";
    assert!(refused(missing).contains("line 2: hwlatdetect measured nothing"));
}

const SCHBENCH: &str = include_str!("../data/schbench.txt");

#[test]
fn schbench_s_last_print_counts() {
    let before = SCHBENCH
        .replace("runtime 20", "runtime 10")
        .replace("60010", "30001")
        .replace("60100", "30002");
    let records = imported(&format!("{before}{SCHBENCH}"), None).unwrap();
    assert_eq!(maxima(&records), [(60_010, 3_120), (60_100, 61_080)]);
    let s = records[0].summary(Quantity::Latency).unwrap();
    assert_eq!((s.min_ns, s.mean_ns, s.median_ns), (Some(1_000), None, Some(9_000)));
    assert_eq!(s.percentile(Percentile::P99_9), Some(Nanos(2_010_000)));
    assert_eq!(records[1].cell.probe, "schbench-request");
    assert_eq!(records[0].observation_time(), Nanos::from_millis(20_000));
    assert!(refused("Latency percentiles (usec)\n\t50.0000th: 7\n").contains("no number of samples"));
    assert!(refused(SCHBENCH.split_once("\t  min").unwrap().0).contains("the file was cut"));
}

#[test]
fn linuxcnc_tells_no_number_of_samples() {
    let text = include_str!("../data/linuxcnc.txt");
    let records = imported(text, None).unwrap();
    let all: Vec<(&str, u64)> = records
        .iter()
        .map(|r| (r.cell.probe.as_str(), r.summary(Quantity::Latency).unwrap().max_ns))
        .collect();
    assert_eq!(all, [("linuxcnc-base", 16_000), ("linuxcnc-servo", 20_900)]);
    assert!(lacks(&records[0], "number of samples") && doubts(&records[0]).contains("how many samples"));
}

const XENOMAI: &str = include_str!("../data/xenomai.txt");

#[test]
fn xenomai_s_line_of_all_counts() {
    let record = only(XENOMAI);
    let s = record.summary(Quantity::Latency).unwrap();
    assert_eq!(
        (s.count, s.min_ns, s.mean_ns, s.max_ns),
        (4_000, None, Some(1_506), 11_020)
    );
    assert!(doubts(&record).contains("3 overruns") && doubts(&record).contains("1 mode switches"));
    assert_eq!(
        (record.cell.period_ns, record.observation_time()),
        (500_000, Nanos::from_millis(2_000))
    );
    assert!(refused(XENOMAI.split_once("RTS").unwrap().0).contains("without its line 'RTS|'"));
    assert_eq!(imported(&format!("{XENOMAI}{XENOMAI}"), None).unwrap().len(), 2);
}

const OSNOISE: &str = include_str!("../data/osnoise-tracer.txt");

#[test]
fn the_osnoise_tracer_s_periods_add_up() {
    let records = imported(OSNOISE, None).unwrap();
    let gaps = records[0].accounting.gaps().unwrap();
    assert_eq!(
        (gaps.observed_ns, gaps.noise_ns, gaps.max_single_ns),
        (2_000_000_000, 2_500_000, 21_000)
    );
    assert_eq!(
        (records[0].cell.cpu, records[0].environment["osnoise IRQ"].as_str()),
        (Some(1), "2003")
    );
    assert_eq!(records.len(), 2);
    assert!(refused(&OSNOISE.replace("     0      0\n", "\n")).starts_with("line 8: "));
}

const TIMERLAT: &str = include_str!("../data/timerlat-tracer.txt");

#[test]
fn the_timerlat_tracer_s_samples_are_kept() {
    let record = only(TIMERLAT);
    let irq = record.summary(Quantity::IrqLatency).unwrap();
    let thread = record.summary(Quantity::Latency).unwrap();
    assert_eq!(
        (irq.count, irq.max_ns, thread.count, thread.max_ns),
        (3, 2_833, 3, 11_700)
    );
    assert_eq!((record.accounting.lost(), record.samples.rows), (1, 3));
    let report = "cpus=2
          <idle>-0     [001]    54.029328: timerlat:             seq:7 context:0 timer_latency:810
            rcuc-12    [001]    54.029330: sched_switch:         rcuc:12 [94] S ==> swapper/1:0 [120]
           <...>-868   [001]    54.029339: timerlat:             seq:7 context:1 timer_latency:4123
";
    let record = only(report);
    let (irq, thread) = (record.summary(Quantity::IrqLatency), record.summary(Quantity::Latency));
    assert_eq!(
        (irq.unwrap().max_ns, thread.unwrap().max_ns, record.cell.cpu),
        (810, 4_123, Some(1))
    );
    let lost = TIMERLAT.replacen("          <idle>", "CPU:0 [LOST 12 EVENTS]\n          <idle>", 2);
    assert!(doubts(&only(&lost)).contains("[LOST 12 EVENTS]"));
}

const RTEVAL: &str = include_str!("../data/rteval.xml");

#[test]
fn rteval_s_cores_have_histograms() {
    let records = imported(RTEVAL, None).unwrap();
    assert_eq!(maxima(&records), [(4, 9), (0, 0)]);
    let s = records[0].summary(Quantity::Latency).unwrap();
    assert_eq!((s.mean_ns, s.median_ns), (Some(4_250), Some(3_000)));
    assert_eq!(
        (records[0].subject.kernel.release.as_str(), records[0].cell.priority),
        ("6.6.30-rt30", 95)
    );
    assert!(doubts(&records[1]).contains("no sample"));
    assert!(refused(&RTEVAL.replace("<samples>4</samples>", "<samples>5</samples>")).contains("lines are missing"));
    assert!(refused(RTEVAL.split_once("</rteval>").unwrap().0).contains("the file was cut"));
}

#[test]
fn stress_ng_s_processes_are_told_apart() {
    let one = |pid: u32, max: u64| {
        format!(
            "stress-ng: info:  [{pid}] cyclic: sched SCHED_RR: 100000 ns delay, 5000 samples\nstress-ng: info:  [{pid}] \
             cyclic:   mean: 900.50 ns, mode: 800 ns\nstress-ng: info:  [{pid}] cyclic:   min: 700 ns, max: {max} ns, \
             std.dev. 3.1\n"
        )
    };
    let run = format!(
        "stress-ng: info:  [1] dispatching hogs: 2 cyclic\n{}{}",
        one(8, 44_000),
        one(9, 71_000)
    );
    let records = imported(&run, None).unwrap();
    assert_eq!(maxima(&records), [(5_000, 44), (5_000, 71)]);
    let records = imported(&format!("{run}{}", run.replace("71000", "3000")), None).unwrap();
    assert_eq!(maxima(&records), [(5_000, 44), (5_000, 71), (5_000, 44), (5_000, 3)]);
}

#[test]
fn trace_dat_is_told_what_to_do() {
    let path = std::env::temp_dir().join(format!("worstcase-trace-dat-{}", std::process::id()));
    std::fs::write(&path, b"\x17\x08\x44tracing6\0\0\x08\xff\xfe").unwrap();
    let error = worstcase_foreign::read(&path, None, None).unwrap_err().to_string();
    std::fs::remove_file(&path).unwrap();
    assert!(error.contains("trace-cmd report FILE"), "{error}");
}
