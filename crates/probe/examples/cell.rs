//! Runs one cell on this machine and prints its accounting.
//!
//! `cargo run --release -p worstcase-probe --example cell -- "probe=wakeup period_ns=1000000 periods=1000 seed=1 warmup_ns=0 priority=98 load=shm"`

use std::process::ExitCode;
use worstcase_probe::loads::{LOADS, LoadEnvironment};
use worstcase_probe::policy::ProbePolicy;
use worstcase_probe::{CellSpec, RawRecord, Venue, probes};

fn main() -> ExitCode {
    worstcase_probe::child_main();
    let text: Vec<String> = std::env::args().skip(1).collect();
    let spec = text.join(" ").parse::<CellSpec>().map_err(|e| e.to_string());
    let env = LoadEnvironment {
        placement: None,
        policy: ProbePolicy::default(),
        work_dir: std::env::temp_dir(),
        venue: Venue::Host,
        bodies: &[],
        begin: None,
    };
    match spec.and_then(|spec| probes::run(&spec, &env).map_err(|e| e.to_string())) {
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
