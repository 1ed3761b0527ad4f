//! Reports as a person reads them.

use crate::fixture::{latencies, plan, plan_of, raw, result, results, spec, subject};
use worstcase_contract::Nanos;
use worstcase_contract::Probe;
use worstcase_report::cell::{GatheredSamples, details};
use worstcase_report::terminal::Style;
use worstcase_report::{ReportView, csv, json, markdown, terminal};
use worstcase_results::record::explanations::NOTHING_EXPLAINED;
use worstcase_results::record::{CellResult, Quantity, Record, RunPlan, SubjectMachine};
use worstcase_results::verdict::{Criterion, verdicts};

fn records(results: &[CellResult]) -> Vec<Record> {
    results.iter().map(|r| r.record.clone()).collect()
}

fn table(plan: &RunPlan, records: &[Record], limit: Option<u64>) -> String {
    let criterion = limit.map(|ns| Criterion::new(Nanos(ns)));
    let view = ReportView {
        plan,
        dir: "RUN".as_ref(),
        records,
        explanations: &NOTHING_EXPLAINED,
        quantities: &[],
        verdicts: criterion.map(|c| (c, verdicts(&plan.cells, records, &c))),
    };
    terminal::run(&view, Style::PLAIN)
}

#[test]
fn the_table_of_a_run() {
    let text = table(&plan(), &records(results()), Some(100_000));
    assert!(text.lines().all(|l| l.chars().count() <= 120), "too wide");
    insta::assert_snapshot!(text, @r#"
    How late is a periodic process?

    0 of 1 published claim holds now, 1 is not told.
      not told       The worst response under shm is longer without preemption.
                     - published: no preemption above rt: of 3 and 3 seeds there is no interval; measure 4 or more of
                     each (not told)

    Verdict: is every latency within 100 us? (times are virtual us at 1000 MIPS)
      6.1.0-50-amd64.none   FAIL          216.729 virtual us (procread, wakeup, seed 1, sample 417); 3 of 9 cells are above
                                          172 of 9 000 periods are above, 1.91 %
      6.1.0-50-amd64.full   PASS          at most 76.310 virtual us in 9 000 samples, 9 cells, 2.259 s observed
      6.1.0-50-rt-amd64.rt  PASS          at most 6.057 virtual us in 9 000 samples, 9 cells, 2.259 s observed

    wakeup, latency: timer due to user code (virtual us at 1000 MIPS)
    each figure rests on: seeds 3; samples 3 000; observation time 753 ms

                           ------------------- shm -------------------   ---------------- procread -----------------
    subject                median   p99   max    of seeds  above limit   median   p99   max    of seeds  above limit
    6.1.0-50-amd64 none      2.42  76.2  83.7  83.4..83.7            0     2.44   197   217    216..217  172, 5.73 %
    6.1.0-50-amd64 full      2.41  69.5  76.3  76.0..76.3            0     2.40  3.94  4.11  4.09..4.11            0
    6.1.0-50-rt-amd64 rt     2.40  4.49  4.71  4.69..4.71            0     2.40  5.13  5.42  5.39..5.42            0

                           ------------------ fork -------------------
    subject                median   p99   max    of seeds  above limit
    6.1.0-50-amd64 none      2.40  26.5  28.9  28.7..28.9            0
    6.1.0-50-amd64 full      2.40  8.63  9.27  9.20..9.27            0
    6.1.0-50-rt-amd64 rt     2.40  5.70  6.06  6.02..6.06            0

    median, p99: the median over the seeds of each seed's value. max: the highest of all seeds;
    of seeds: lowest..highest maximum of a seed. A maximum grows with the observation time.
    Missed: none of 27 000 periods.

    Then and now: published figures, of the machines of their time, and ours
    Only the order of figures and the factors between them compare; a factor is to the first figure of a claim.

    not told: The worst response under shm is longer without preemption.
      figure                   then  factor then  now, virtual us at 1000 MIPS         factor now
      rt               about 200 us         1.00                          4.71               1.00
      no preemption   about 1000 us   about 5.00                          83.5  17.8 (17.7..17.8)
      published: no preemption above rt: of 3 and 3 seeds there is no interval; measure 4 or more of each (not told)
      why: It is an example.
      source: An Article, table 1
    "#);
}

#[test]
fn a_run_that_is_not_finished() {
    let all = results();
    let text = table(&plan_of(all), &records(&all[..4]), None);
    insta::assert_snapshot!(text, @r#"
    How late is a periodic process?
    4 of 27 cells are measured; to go on: worstcase study run preemption-models --quick --output RUN

    0 of 1 published claim holds now, 1 is not asked here.
      not asked      The worst response under shm is longer without preemption.
                     - not in this run: rt; the study's full form has all cells

    wakeup, latency: timer due to user code (virtual us at 1000 MIPS)
    each figure rests on: seeds 1..3; samples 1 000..3 000; observation time 251 ms..753 ms

                          ------------ shm -------------   -------- procread --------
    subject               median   p99   max    of seeds   median  p99  max  of seeds
    6.1.0-50-amd64 none     2.42  76.2  83.7  83.4..83.7     2.42  197  217  one seed

    median, p99: the median over the seeds of each seed's value. max: the highest of all seeds;
    of seeds: lowest..highest maximum of a seed. A maximum grows with the observation time.
    Missed: none of 4 000 periods.

    Then and now: published figures, of the machines of their time, and ours
    Only the order of figures and the factors between them compare; a factor is to the first figure of a claim.

    not asked: The worst response under shm is longer without preemption.
      figure                   then  factor then  now, virtual us at 1000 MIPS  factor now
      rt               about 200 us         1.00                             -           -
      no preemption   about 1000 us   about 5.00                          83.5           -
      not in this run: rt; the study's full form has all cells
      why: It is an example.
      source: An Article, table 1
    "#);
}

#[test]
fn the_response_probe_shows_both_parts() {
    let response = worstcase_contract::CellSpec {
        probe: Probe::Response,
        ..spec("blockread", 1)
    };
    let all = vec![result(&subject("6.1", "rt"), &raw(&response, &latencies(1, 40_000)))];
    insta::assert_snapshot!(table(&plan_of(&all), &records(&all), None), @r#"
    How late is a periodic process?

    0 of 1 published claim holds now, 1 is not asked here.
      not asked      The worst response under shm is longer without preemption.
                     - not in this run: rt, no preemption; the study's full form has all cells

    response, irq_latency: timer due to timer interrupt (virtual us at 1000 MIPS)
    each figure rests on: seeds 1; samples 1 000; observation time 251 ms

              --------- blockread ----------
    subject   median    p99    max  of seeds
    6.1 rt     0.116  0.457  0.492  one seed

    response, after_irq: timer interrupt to user code (virtual us at 1000 MIPS)
    each figure rests on: seeds 1; samples 1 000; observation time 251 ms

              -------- blockread ---------
    subject   median   p99   max  of seeds
    6.1 rt      2.29  36.1  39.5  one seed

    median, p99: the median over the seeds of each seed's value. max: the highest of all seeds;
    of seeds: lowest..highest maximum of a seed. A maximum grows with the observation time.
    Missed: none of 1 000 periods.

    Then and now: published figures, of the machines of their time, and ours
    Only the order of figures and the factors between them compare; a factor is to the first figure of a claim.
    "#);
}

#[test]
fn machines_of_different_speed_name_their_clock() {
    let mut slow = subject("6.1", "rt");
    if let SubjectMachine::Lab(lab) = &mut slow.machine {
        lab.machine.mips = 500;
    }
    let of = |s| result(s, &raw(&spec("shm", 1), &latencies(1, 40_000)));
    let all = vec![of(&subject("6.1", "rt")), of(&slow)];
    let text = table(&plan_of(&all), &records(&all), None);
    assert!(text.contains("6.1 rt [virtual us at 1000 MIPS]"), "{text}");
    assert!(text.contains("6.1 rt 500mips [virtual us at 500 MIPS]"), "{text}");
}

#[test]
fn losses_and_warnings_are_said() {
    let mut lossy = raw(&spec("shm", 1), &latencies(1, 40_000));
    lossy.samples.drain(10..13);
    lossy.warnings.push("memory could not be \x1b[2Jlocked".into());
    let all = vec![result(&subject("6.1", "rt"), &lossy)];
    let text = table(&plan_of(&all), &records(&all), None);
    assert!(text.contains("Missed: 3 of 1 000 periods, in 1 cell"), "{text}");
    assert!(
        text.contains("Warning in 1 of 1 cells: memory could not be \u{fffd}[2Jlocked"),
        "{text}"
    );
}

#[test]
fn one_cell_in_detail() {
    let values = latencies(1, 83_712);
    let result = result(&subject("6.1.0-50-amd64", "none"), &raw(&spec("shm", 1), &values));
    let mut gathered = GatheredSamples::default();
    let mut reader =
        worstcase_results::record::parquet::SamplesReader::new(bytes::Bytes::from(result.samples)).unwrap();
    while let Some(group) = reader.next_group().unwrap() {
        group.into_iter().for_each(|row| gathered.add(row));
    }
    let mut record = result.record;
    record.digest = "sha256:[digest]".into();
    insta::assert_snapshot!(details(&record, &gathered, Style::PLAIN), @r#"
    6.1.0-50-amd64.none.shm.wakeup.s1
      kernel       debian:6.1: 6.1.0-50-amd64 #1 SMP Debian 6.1.1
      preemption   none (asked for: none)
      machine      lab: QEMU emulator version 7.2.22, -cpu max,-erms,-fsrm, 1000 MIPS, 1024 MB
      cmdline      nokaslr preempt=none
      load         shm
      work         1 234 rounds
      probe        wakeup, every 251 us, priority 98, seed 1
      accounting   1 000 expected = 1 000 taken + 0 missed + 0 lost (longest missed run 0, at the ends 0)
      observed     251 ms
      executed     251 000 000 instructions
      self-cost    clock read 25 ns, empty sample 61 ns, CPU 1.2 ms, faults 0 minor, 0 major
      digest       sha256:[digest]
      machine says clocksource = tsc

    latency: timer due to user code (virtual us at 1000 MIPS)
      min 2.400  mean 8.093  median 2.409  p90 21.579  p99 76.181  max 83.712 (sample 417)

    irq_latency: timer due to timer interrupt (virtual us at 1000 MIPS)
      min 0.116  mean 0.172  median 0.116  p90 0.307  p99 0.853  max 0.929 (sample 417)

    after_irq: timer interrupt to user code (virtual us at 1000 MIPS)
      min 2.284  mean 7.920  median 2.293  p90 21.272  p99 75.328  max 82.783 (sample 417)

    Histogram (virtual us at 1000 MIPS, count on a log scale)
          2.00 to     3.00         683  ################################################
          3.00 to     5.00          96  #################################
          5.00 to     7.00          33  #########################
          7.00 to     10.0          30  #########################
          10.0 to     15.0          28  ########################
          15.0 to     20.0          20  ######################
          20.0 to     30.0          36  ##########################
          30.0 to     50.0          32  #########################
          50.0 to     70.0          26  ########################
          70.0 to      100          16  ####################

    Worst samples (virtual us at 1000 MIPS)
      sample   latency      due at
      417       83.712  3.104667 s
      886       81.712  3.222386 s
      29        81.540  3.007279 s
      981       80.922  3.246231 s
      829       80.646  3.208079 s
    "#);
}

#[test]
fn data_for_programs() {
    let all = results();
    let (plan, records) = (plan(), records(all));
    let criterion = Criterion::new(Nanos(100_000));
    let view = ReportView {
        plan: &plan,
        dir: "RUN".as_ref(),
        records: &records,
        explanations: &NOTHING_EXPLAINED,
        quantities: &[Quantity::Latency],
        verdicts: Some((criterion, verdicts(&plan.cells, &records, &criterion))),
    };
    let json: serde_json::Value = serde_json::from_str(&json::run(&view)).unwrap();
    assert_eq!(json["schema"], "worstcase-show/10");
    assert_eq!(json["ensembles"].as_array().unwrap().len(), 9);
    let worst = &json["ensembles"][1];
    assert_eq!(worst["load"], "procread");
    assert_eq!(worst["max_ns"], 216_729);
    assert_eq!(worst["time_unit"], "virtual ns at 1000 MIPS");
    assert_eq!(worst["max_of_seeds"]["median_interval"]["coverage"], 0.75);
    assert_eq!(json["verdict"]["subjects"][0]["outcome"], "FAIL");
    assert_eq!(json["verdict"]["subjects"][2]["outcome"], "PASS");

    let text = markdown::run(&view);
    for expected in [
        "| subject | load | median | p99 | max | of seeds | seeds | samples | observed | missed | lost |",
        "| 6.1.0-50-amd64 none | procread | 2.44 | 197 | 217 | 216..217 | 3 | 3 000 | 753 ms | 0 | 0 |",
        "| 6.1.0-50-amd64.full | PASS |",
        "- Missed: none of 27 000 periods.",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }

    let csv = csv::run(&view).unwrap();
    assert_eq!(csv.lines().count(), 1 + 27);
    let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let max = headers.iter().position(|h| h == "max_ns").unwrap();
    let largest = reader.records().map(|r| r.unwrap()[max].parse::<u64>().unwrap()).max();
    assert_eq!(largest, Some(216_729));
}
