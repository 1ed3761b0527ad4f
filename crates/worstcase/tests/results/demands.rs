//! Classes of demand: who meets them, first and at what cost.

use crate::fixture::{plan_of, raw, result, spec, subject};
use worstcase_contract::Nanos;
use worstcase_contract::RawRecord;
use worstcase_contract::bench::{Details, HackbenchDetails, HackbenchRun};
use worstcase_plan::Demand;
use worstcase_report::terminal::Style;
use worstcase_report::{ReportView, json, terminal};
use worstcase_results::record::explanations::NOTHING_EXPLAINED;
use worstcase_results::record::{CellResult, Record, RunPlan};

fn hackbench(millis: u64) -> RawRecord {
    let spec = worstcase_contract::CellSpec {
        probe: "hackbench:1".parse().unwrap(),
        periods: 1,
        ..spec("idle", 1)
    }
    .for_probe();
    let total = Nanos::from_millis(millis);
    let mut raw = raw(&spec, &[total.0]);
    raw.details = Some(Details::Hackbench(HackbenchDetails {
        processes: 50,
        messages: 100,
        runs: vec![HackbenchRun {
            total,
            cpu: total,
            voluntary: 1,
            involuntary: 1,
            moves: None,
        }],
        message_latency: None,
    }));
    raw
}

/// Each seed of each load with this worst sample (ns), and a cost.
fn option(label: &str, preempt: &str, worst: [u64; 2], cost: u64) -> Vec<CellResult> {
    let subject = subject(label, preempt);
    let cells = ["idle", "shm"].into_iter().zip(worst);
    let cell = |(load, worst): (&'static str, u64)| {
        let subject = subject.clone();
        (1..=3).map(move |seed| {
            let mut values = vec![5_000; 1_000];
            values[500] = worst;
            result(&subject, &raw(&spec(load, seed), &values))
        })
    };
    let price = result(&subject, &hackbench(cost));
    cells.flat_map(cell).chain([price]).collect()
}

fn demand(name: &str, limit: u64, wakeups: u32) -> Demand {
    Demand {
        name: name.into(),
        limit: Nanos(limit),
        wakeups,
        why: "It is an example.".into(),
    }
}

fn plan(results: &[CellResult]) -> RunPlan {
    let mut plan = plan_of(results);
    plan.claims.clear();
    plan.demands = vec![
        demand("desktop", 100_000_000, 1),
        demand("audio", 5_000_000, 2),
        demand("control", 100_000, 1),
        demand("laser", 10_000, 1),
    ];
    plan
}

fn ladder() -> Vec<CellResult> {
    let mut all = option("6.1", "none", [20_000, 15_402_000], 100);
    all.extend(option("6.1", "full", [30_000, 2_500_000], 110));
    all.extend(option("6.1-rt", "rt", [40_000, 70_000], 150));
    all
}

fn shown(plan: &RunPlan, results: &[CellResult]) -> (String, serde_json::Value) {
    let records: Vec<Record> = results.iter().map(|r| r.record.clone()).collect();
    let view = ReportView {
        plan,
        dir: "RUN".as_ref(),
        records: &records,
        explanations: &NOTHING_EXPLAINED,
        quantities: &[],
        verdicts: None,
    };
    let text = terminal::run(&view, Style::PLAIN);
    let from = text.find("Classes of demand").map_or("", |at| &text[at..]);
    (from.to_string(), serde_json::from_str(&json::run(&view)).unwrap())
}

#[test]
fn the_lowest_rung_that_meets_a_demand_stands_beside_its_cost() {
    let all = ladder();
    let (text, json) = shown(&plan(&all), &all);
    insta::assert_snapshot!(text);
    let demands = json["demands"]["classes"].as_array().unwrap();
    let lowest: Vec<&serde_json::Value> = demands.iter().map(|d| &d["lowest"]).collect();
    assert_eq!(
        lowest,
        ["6.1.none", "6.1.full", "6.1-rt.rt", ""]
            .map(|id| match id {
                "" => serde_json::Value::Null,
                id => id.into(),
            })
            .iter()
            .collect::<Vec<_>>()
    );
    assert_eq!(
        (&demands[1]["limit_ns"], &demands[1]["each_ns"]),
        (&5_000_000.into(), &2_500_000.into())
    );
    assert_eq!(demands[1]["subjects"][0]["outcome"], "FAIL");
    assert_eq!(demands[1]["subjects"][0]["evidence"]["max_ns"], 15_402_000);
    let options = json["demands"]["options"].as_array().unwrap();
    let lowest = options.iter().find(|o| o["subject"] == demands[2]["lowest"]).unwrap();
    let cost = lowest["hackbench"].as_f64().unwrap();
    assert!((cost - 1.5).abs() < 1e-9, "{cost}");
}

/// Nothing is met by cells that were not measured.
#[test]
fn what_was_not_measured_is_not_shown_to_be_met() {
    let all = ladder();
    let plan = plan(&all);
    let (text, json) = shown(&plan, &all[..3]);
    let class = &json["demands"]["classes"][0];
    assert_eq!(
        (&class["subjects"][0]["outcome"], &class["lowest"]),
        (&"INCONCLUSIVE".into(), &serde_json::Value::Null)
    );
    assert!(text.contains("No option is shown to meet it"), "{text}");
    let mut without = plan;
    without.demands.clear();
    let (text, json) = shown(&without, &all);
    assert_eq!((text.as_str(), &json["demands"]), ("", &serde_json::Value::Null));
}
