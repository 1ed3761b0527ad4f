//! Claims and whether they hold, from records to what people and programs read.

use crate::fixture::{host_raw, latencies, on_cpu, plan_of, raw, result, spec, subject};
use worstcase_contract::Nanos;
use worstcase_plan::Subjects;
use worstcase_plan::study::claim::{ClaimFigure, Compare, Statistic};
use worstcase_report::terminal::Style;
use worstcase_report::{ReportView, json, terminal};
use worstcase_results::claims::causes::{ClaimCause, to_explain};
use worstcase_results::claims::{ClaimVerdict, judged};
use worstcase_results::record::explanations::NOTHING_EXPLAINED;
use worstcase_results::record::explanations::RunExplanations;
use worstcase_results::record::{CellResult, Record, Run, RunPlan};

/// Cells under shm of which none's are so many times as late as rt's.
fn cells(seeds: u64, factor: u64) -> Vec<CellResult> {
    let of = |label: &'static str, preempt: &'static str, factor: u64| {
        (1..=seeds).map(move |seed| {
            let late: Vec<u64> = latencies(seed, 10_000).iter().map(|ns| ns * factor).collect();
            result(&subject(label, preempt), &raw(&spec("shm", seed), &late))
        })
    };
    of("6.1", "none", factor).chain(of("6.1-rt", "rt", 1)).collect()
}

fn records(results: &[CellResult]) -> Vec<Record> {
    results.iter().map(|r| r.record.clone()).collect()
}

fn verdict(plan: &RunPlan, records: &[Record]) -> (ClaimVerdict, Vec<String>) {
    let [claim] = judged(plan, records).try_into().unwrap();
    (claim.verdict, claim.reasons())
}

fn view<'a>(plan: &'a RunPlan, records: &'a [Record]) -> ReportView<'a> {
    ReportView {
        plan,
        dir: "RUN".as_ref(),
        records,
        explanations: &NOTHING_EXPLAINED,
        quantities: &[],
        verdicts: None,
    }
}

fn shown(results: &[CellResult]) -> String {
    let text = terminal::run(&view(&plan_of(results), &records(results)), Style::PLAIN);
    let (before, from) = text.split_once("Then and now").unwrap();
    let (_, first) = before.split_once("\n\n").unwrap();
    let (first, _) = first.split_once("\n\n").unwrap();
    format!("{first}\n---{from}")
}

#[test]
fn the_same_order_holds_and_another_does_not() {
    insta::assert_snapshot!(shown(&cells(5, 3)), @r#"
    1 of 1 published claim holds now.
      holds          The worst response under shm is longer without preemption.
    ---: published figures, of the machines of their time, and ours
    Only the order of figures and the factors between them compare; a factor is to the first figure of a claim.

    holds: The worst response under shm is longer without preemption.
      figure                   then  factor then  now, virtual us at 1000 MIPS         factor now
      rt               about 200 us         1.00                          9.98               1.00
      no preemption   about 1000 us   about 5.00                          29.9  3.00 (2.98..3.02)
      published: no preemption above rt: factor 3.00 (2.98..3.02) (as claimed)
      why: It is an example.
      source: An Article, table 1
    "#);
    insta::assert_snapshot!(shown(&cells(5, 1)), @r#"
    0 of 1 published claim holds now, 1 does not.
      does not hold  The worst response under shm is longer without preemption.
                     - published: no preemption above rt: factor 1.00 (0.994..1.01) (not so)
    ---: published figures, of the machines of their time, and ours
    Only the order of figures and the factors between them compare; a factor is to the first figure of a claim.

    does not hold: The worst response under shm is longer without preemption.
      figure                   then  factor then  now, virtual us at 1000 MIPS          factor now
      rt               about 200 us         1.00                          9.98                1.00
      no preemption   about 1000 us   about 5.00                          9.98  1.00 (0.994..1.01)
      published: no preemption above rt: factor 1.00 (0.994..1.01) (not so)
      why: It is an example.
      source: An Article, table 1
    "#);
}

#[test]
fn a_run_that_lacks_cells_says_which() {
    let all = cells(5, 3);
    let mut plan = plan_of(&all);
    let of = |figure: &ClaimFigure| figure.cell.as_ref()?.subject.clone();
    let subjects = plan.claims[0].figures.iter().filter_map(of).collect();
    plan.experiment.parts[0].subjects = Subjects::Kernels(subjects);
    let (verdict_of_half, reasons) = verdict(&plan, &records(&all[..5]));
    assert_eq!(verdict_of_half, ClaimVerdict::NotAsked);
    let again = "give the run's command again: it measures what is missing";
    assert_eq!(reasons, [format!("not in this run: rt; {again}")]);
    let (_, reasons) = verdict(&plan, &[]);
    assert_eq!(reasons, [format!("not in this run: rt, no preemption; {again}")]);
    // The quick form has not all cells of the full one.
    let mut other = plan.clone();
    other.experiment.parts[0].loads = vec!["fork".parse().unwrap()];
    let (_, reasons) = verdict(&other, &records(&all[5..]));
    assert_eq!(
        reasons,
        ["not in this run: no preemption; the study's full form has all cells"]
    );
    // The study has changed.
    other.study.as_mut().unwrap().variant = worstcase_plan::StudyVariant::Full;
    let (_, reasons) = verdict(&other, &records(&all[5..]));
    assert_eq!(
        reasons,
        ["not in this run: no preemption; it was planned without them; run the study again"]
    );
    // It has all cells, of too few samples for the statistic; of noise it may be none.
    let mut rare = plan.clone();
    for figure in &mut rare.claims[0].figures {
        figure.cell.as_mut().unwrap().statistic = Statistic::P999;
    }
    let (_, reasons) = verdict(&rare, &records(&all));
    assert_eq!(
        reasons,
        ["measured, and no sample tells it (of noise: no gap): rt, no preemption"]
    );
    // So many seeds are too few for an interval.
    let few = [&all[..3], &all[5..]].concat();
    let three = [&few[..3], &few[3..6]].concat();
    assert_eq!(
        verdict(&plan, &records(&few)).0,
        ClaimVerdict::Holds,
        "three and five are enough"
    );
    assert_eq!(verdict(&plan, &records(&three)).0, ClaimVerdict::NotTold);
}

#[test]
fn every_load_of_a_figure_has_to_be_there() {
    let all = cells(5, 3);
    let mut plan = plan_of(&all);
    let cell = plan.claims[0].figures[0].cell.as_mut().unwrap();
    cell.loads.push("fork".into());
    assert_eq!(verdict(&plan, &records(&all)).0, ClaimVerdict::NotAsked);
    // With it the larger of both counts.
    let fork = |seed| {
        result(
            &subject("6.1-rt", "rt"),
            &raw(&spec("fork", seed), &latencies(seed, 900_000)),
        )
    };
    let with: Vec<CellResult> = all.into_iter().chain((1..=5).map(fork)).collect();
    let [claim] = judged(&plan, &records(&with)).try_into().unwrap();
    assert_eq!(claim.ours[0].as_ref().unwrap().of_seeds.last(), Some(&900_000.0));
    assert_eq!(claim.verdict, ClaimVerdict::DoesNotHold);
}

#[test]
fn a_claim_without_cells_or_of_another_venue_is_not_asked() {
    let all = cells(5, 3);
    let mut plan = plan_of(&all);
    plan.experiment.venue = worstcase_plan::Venue::Host;
    let (other, reasons) = verdict(&plan, &records(&all));
    assert_eq!(
        (other, reasons[0].as_str()),
        (ClaimVerdict::NotAsked, "the study asks it of the lab, not of a host")
    );
    plan.claims[0].figures.iter_mut().for_each(|figure| figure.cell = None);
    let (none, reasons) = verdict(&plan, &records(&all));
    assert_eq!(
        (none, reasons[0].as_str()),
        (ClaimVerdict::NotAsked, "It is an example.")
    );
}

#[test]
fn a_host_has_a_value_of_each_cpu_and_seed() {
    let of = |cpu: u32, seed: u64| on_cpu(cpu, &host_raw(seed, &[1_000, 2_000 + 10 * seed + u64::from(cpu)]));
    let all: Vec<CellResult> = [0, 1]
        .into_iter()
        .flat_map(|cpu| [1, 2].map(|seed| of(cpu, seed)))
        .collect();
    let mut plan = plan_of(&all);
    plan.experiment.venue = worstcase_plan::Venue::Host;
    for (nth, statistic) in [Statistic::Min, Statistic::Max].into_iter().enumerate() {
        let figure = &mut plan.claims[0].figures[nth];
        let mut cell = figure.cell.take().unwrap();
        (cell.subject, cell.loads, cell.statistic) = (None, vec!["idle".into()], statistic);
        figure.host = Some(cell);
    }
    let [claim] = judged(&plan, &records(&all)).try_into().unwrap();
    assert_eq!(claim.verdict, ClaimVerdict::Holds, "{:?}", claim.pairs);
    assert_eq!(
        claim.ours[1].as_ref().unwrap().of_seeds,
        [2_010.0, 2_011.0, 2_020.0, 2_021.0]
    );
}

#[test]
fn statistics_are_of_each_seed() {
    let all = cells(5, 3);
    let mut plan = plan_of(&all);
    let all = records(&all);
    let mut value = |statistic| {
        plan.claims[0].figures[1].cell.as_mut().unwrap().statistic = statistic;
        let [claim] = judged(&plan, &all).try_into().unwrap();
        claim.ours[1].as_ref().map(|ours| ours.of_seeds[0])
    };
    let summary = |of: fn(&worstcase_results::record::Summary) -> u64| {
        let values = all[..5].iter().map(|r| of(r.summary.latency.as_ref().unwrap()));
        values.min().map(|ns| ns as f64)
    };
    assert_eq!(value(Statistic::Min), summary(|s| s.min_ns.unwrap()));
    assert_eq!(value(Statistic::Mean), summary(|s| s.mean_ns.unwrap()));
    assert_eq!(value(Statistic::P50), summary(|s| s.median_ns.unwrap()));
    assert_eq!(value(Statistic::Max), summary(|s| s.max_ns));
    assert_eq!(value(Statistic::Spread), summary(|s| s.max_ns - s.min_ns.unwrap()));
    assert!(value(Statistic::P99) > value(Statistic::P90));
    assert_eq!(value(Statistic::P999), None, "1 000 samples do not bear it");
}

#[test]
fn programs_get_verdict_factors_and_interval() {
    let all = cells(5, 3);
    let (plan, records) = (plan_of(&all), records(&all));
    let json: serde_json::Value = serde_json::from_str(&json::run(&view(&plan, &records))).unwrap();
    let claim = &json["claims"][0];
    assert_eq!(claim["verdict"], "holds");
    assert_eq!(claim["compare"], "rank");
    assert_eq!(
        (&claim["origin"]["source"], &claim["why"]),
        (&"An Article, table 1".into(), &"It is an example.".into())
    );
    let pair = &claim["pairs"][0];
    assert_eq!(
        (&pair["of"], &pair["to"], &pair["verdict"]),
        (&0.into(), &1.into(), &"agrees".into())
    );
    assert_eq!(claim["figures"][1]["ours"]["largest_in"], "6.1.none.shm.wakeup.s1");
    assert_eq!(claim["figures"][0]["said"]["value"]["value"], 200.0);
    assert_eq!(claim["figures"][0]["said"]["value"]["relation"], "about");
    assert_eq!(claim["figures"][0]["cell"]["subject"]["preempt"], "rt");
    assert_eq!(claim["figures"][1]["ours"]["subject"], "6.1.none");
    assert_eq!(claim["figures"][1]["ours"]["of_seeds"].as_array().unwrap().len(), 5);
    assert_eq!(claim["figures"][1]["ours"]["time_unit"], "virtual ns at 1000 MIPS");
    let factor = &claim["figures"][1]["factor_now"];
    let number = |key: &str| factor[key].as_f64().unwrap();
    assert!(
        number("low") < number("best") && number("best") < number("high"),
        "{factor}"
    );
    assert!(number("coverage") >= 0.95);
    assert_eq!(claim["figures"][1]["factor_then"]["low"], 1_000.0 / 1.25 / 250.0);
}

/// Of few samples above the limit the order is told; of none on both sides nothing is.
#[test]
fn a_share_above_a_limit_is_compared() {
    let late = |label, preempt, late: usize| {
        (1..=5).map(move |seed| {
            let mut all = latencies(seed, 10_000);
            all.iter_mut().take(late).for_each(|ns| *ns = 90_000);
            result(&subject(label, preempt), &raw(&spec("shm", seed), &all))
        })
    };
    let share = |none: usize, rt: usize, compare: Compare| {
        let all: Vec<CellResult> = late("6.1", "none", none).chain(late("6.1-rt", "rt", rt)).collect();
        let mut plan = plan_of(&all);
        let claim = &mut plan.claims[0];
        claim.compare = compare;
        for figure in &mut claim.figures {
            figure.cell.as_mut().unwrap().statistic = Statistic::Above(Nanos(50_000));
        }
        let [claim] = judged(&plan, &records(&all)).try_into().unwrap();
        let values: Vec<f64> = claim.ours.iter().flatten().map(|ours| ours.value).collect();
        (claim.verdict, values)
    };
    let (verdict, values) = share(100, 0, Compare::Rank);
    assert_eq!(verdict, ClaimVerdict::Holds);
    assert_eq!(values[0], 0.0);
    assert!(values[1] > 5.0 && values[1] < 15.0, "{values:?}");
    assert_eq!(share(0, 100, Compare::Rank).0, ClaimVerdict::DoesNotHold);
    assert_eq!(share(0, 0, Compare::NotBelow).0, ClaimVerdict::Holds);
}

/// Of a claim that does not hold the larger figure is explained, and the cause stands below it wherever the claim does.
#[test]
fn why_a_claim_does_not_hold_is_kept_with_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let all = cells(5, 3);
    let mut plan = plan_of(&all);
    assert_eq!(to_explain(&judged(&plan, &records(&all))), []);
    plan.claims[0].figures.reverse();
    plan.claims[0].compare = Compare::Rises;
    let [asked] = to_explain(&judged(&plan, &records(&all))).try_into().unwrap();
    assert_eq!(
        (asked.figure.as_str(), asked.cell.as_str()),
        ("no preemption", "6.1.none.shm.wakeup.s1")
    );
    let at = dir.path().join("run");
    let run = Run::create(&at, plan).unwrap();
    all.iter().for_each(|result| run.write_cell(result).unwrap());
    assert_eq!(run.explanations().unwrap(), RunExplanations::default());
    let cause = ClaimCause {
        claim: asked.claim,
        figure: asked.figure,
        cell: asked.cell,
        sample: 7,
        cause: "20 of 30 us: planted ran first".into(),
    };
    let all = RunExplanations {
        claims: vec![cause],
        entered: Vec::new(),
    };
    run.keep_explanations(all.clone()).unwrap();
    drop(run);
    let run = Run::open(&at).unwrap();
    assert_eq!(run.explanations().unwrap(), all);
    let show = |words: &[&str]| {
        let mut show = assert_cmd::Command::cargo_bin("worstcase").unwrap();
        let done = show.arg("show").arg(&at).args(words).assert();
        let output = done.get_output().clone();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    assert!(
        show(&[])
            .1
            .contains("- why no preemption: 20 of 30 us: planted ran first")
    );
    let json: serde_json::Value = serde_json::from_str(&show(&["--json"]).1).unwrap();
    assert_eq!(json["claims"][0]["causes"][0]["sample"], 7);
    std::fs::write(
        at.join("explanations.json"),
        "{\"schema\":\"worstcase-explanations/9\",\"claims\":[],\"entered\":[]}",
    )
    .unwrap();
    let (code, _, said) = show(&[]);
    assert_eq!(code, Some(2));
    assert!(
        said.contains("explanations.json is damaged: it is no 'worstcase-explanations/1'; put "),
        "{said}"
    );
}
