//! Takes the samples of one probe of `worstcase_cell::bench` on this machine and prints what it tells.
//!
//! `cargo run --release -p worstcase-cell --example bench -- switch:2x16k 10 0` (probe, repetitions, CPUs)

use std::process::ExitCode;
use worstcase_cell::bench::{BenchResult, Details, Observer, Request};
use worstcase_contract::names;
use worstcase_instruments::record::Sample;
use worstcase_logs::Nanos;

struct Unobserved;

impl Observer for Unobserved {
    fn sample(&mut self, _sample: Sample) {}

    fn wants_end(&mut self) -> bool {
        false
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(taken) => {
            print(&taken);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<BenchResult<Details>, String> {
    let [probe, repetitions, cpus @ ..] = arguments else {
        return Err("usage: bench PROBE REPETITIONS [CPU]...".into());
    };
    let number = |text: &String| text.parse::<u32>().map_err(|_| format!("'{text}' is not a number"));
    let bench = names::parse(probe).map_err(|e| e.to_string())?;
    let cpus = cpus.iter().map(number).collect::<Result<Vec<u32>, String>>()?;
    let request = Request {
        repetitions: number(repetitions)?,
        start: Nanos(0),
        period: Nanos::from_millis(1),
        priority: 50,
        cpus: &cpus,
        ..Request::default()
    };
    bench.check_machine(&request).map_err(|e| e.to_string())?;
    bench.measure(&request, &mut Unobserved).map_err(|e| e.to_string())
}

fn print(taken: &BenchResult<Details>) {
    for sample in &taken.samples {
        println!("{} {}", sample.index, sample.latency);
    }
    match &taken.details {
        Details::Switch(details) => {
            let each = |time: Nanos| time.0 as f64 / details.hops as f64;
            println!(
                "# {} hops; ns a hop: total, hot, cold; voluntary, involuntary, moves",
                details.hops
            );
            for r in &details.repetitions {
                let (total, hot, cold) = (each(r.total), each(r.hot), each(r.cold));
                let (voluntary, involuntary, moves) = (r.voluntary, r.involuntary, r.migrations);
                println!("# {total:.1} {hot:.1} {cold:.1} {voluntary} {involuntary} {moves:?}");
            }
        }
        other => println!("# {other:?}"),
    }
    for warning in &taken.warnings {
        println!("WARNING: {warning}");
    }
}
