//! Runs one cell on this machine and prints its accounting.
//!
//! `cargo run --release -p worstcase-cell --example cell -- "probe=wakeup period_ns=1000000 periods=1000 seed=1 warmup_ns=0 priority=98 load=shm"`

use std::process::ExitCode;
use worstcase_cell::loads::LoadEnvironment;
use worstcase_cell::order::{CellOrder, PolicyOrder};
use worstcase_cell::{RawRecord, probes};
use worstcase_contract::loads::LOADS;
use worstcase_contract::{CellSpec, Venue};
use worstcase_instruments::loads::Surroundings;

fn main() -> ExitCode {
    worstcase_instruments::child_main();
    let text: Vec<String> = std::env::args().skip(1).collect();
    let spec = text.join(" ").parse::<CellSpec>();
    let order = spec.and_then(|spec| spec.order(Venue::Host)).map_err(|e| e.to_string());
    let env = LoadEnvironment {
        surroundings: Surroundings {
            placement: None,
            work_dir: std::env::temp_dir(),
            owns_machine: false,
        },
        policy: PolicyOrder::default(),
        program: Vec::new(),
        bodies: &[],
        begin: None,
        when_warm: None,
    };
    let run = |order: CellOrder| probes::run(&order, &env).map_err(|e| e.to_string());
    match order.and_then(run) {
        Ok(record) => {
            print(&record);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("cell: {error}\nloads:");
            for load in &LOADS {
                eprintln!("  {:30} {}", load.usage(), load.about);
            }
            ExitCode::FAILURE
        }
    }
}

fn print(record: &RawRecord) {
    let mut latencies: Vec<u64> = record.samples.iter().map(|s| s.latency.0).collect();
    latencies.sort_unstable();
    let at = |n: usize| latencies.get(n).copied().unwrap_or(0);
    let (taken, missed) = (record.samples.len(), record.missed());
    println!("{}", record.spec);
    println!("expected {} = taken {taken} + missed {missed}", record.expected);
    println!(
        "latency ns: min {} median {} max {}",
        at(0),
        at(taken / 2),
        at(taken.saturating_sub(1))
    );
    println!("own cost: {:?}", record.self_cost);
    for work in &record.work {
        println!("work: {} {}", work.count, work.unit);
    }
    for (key, value) in &record.environment {
        println!("{key}: {value}");
    }
    for warning in &record.warnings {
        println!("WARNING: {warning}");
    }
}
