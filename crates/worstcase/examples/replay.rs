//! Replays the worst samples of one cell, shows what ran, and what the replay cost:
//! `replay KERNEL PREEMPT LOAD PERIODS [PERIOD_US [QEMU]]`.

#![allow(clippy::disallowed_methods, reason = "tests write where they like")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::Instant;
use worstcase_base::progress::Silent;
use worstcase_contract::Probe;
use worstcase_contract::{CellSpec, Nanos};
use worstcase_kernels::ResolveOptions;
use worstcase_lab::boot;
use worstcase_lab::cell::{self, CellRun};
use worstcase_lab::execution::{Execution, Symbols};
use worstcase_lab::matrix::LabMatrix;
use worstcase_lab::qemu::Qemus;
use worstcase_lab::replay::{Counted, LEAD, replay, replay_each};
use worstcase_lab::symbols::KernelSymbols;
use worstcase_plan::{CpuModel, PlannedCell, VirtualMachine};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [kernel, preempt, load, periods] = words.get(1..5).ok_or("KERNEL PREEMPT LOAD PERIODS")? else {
        unreachable!("four words")
    };
    let planned = PlannedCell {
        kernel: kernel.clone(),
        preempt: preempt.clone(),
        machine: VirtualMachine {
            cpu: match kernel.ends_with("/arm64") {
                true => CpuModel::CortexA72,
                false => CpuModel::default(),
            },
            ..VirtualMachine::default()
        },
        spec: CellSpec {
            probe: Probe::Wakeup,
            load: load.clone(),
            period: Nanos::from_micros(words.get(5).map_or(Ok(251), |p| p.parse())?),
            periods: periods.parse()?,
            seed: 1,
            warmup: Nanos::from_millis(100),
            priority: 98,
        },
    };
    let options = ResolveOptions::from_cache(&Silent)?;
    let cache = &options.cache;
    let qemus = Qemus::new(words.get(6).map(Path::new), cache, &Silent);
    let matrix = LabMatrix::prepare(std::slice::from_ref(&planned), &Default::default(), &qemus, &options)?;
    let prepared = matrix.subject(&matrix.cells()[0]);
    let snapshot = boot::obtain(cache, prepared, None)?;
    let run = CellRun {
        prepared,
        snapshot: &snapshot,
        spec: &planned.spec,
        limit: None,
    };
    let scratch = tempfile::tempdir()?;
    let begin = || (Instant::now(), children_cpu());
    let timed = |what: &str, (instant, cpu): (Instant, f64)| {
        let elapsed = instant.elapsed().as_secs_f64();
        println!("{what}: {elapsed:.2} s, QEMU's CPU time {:.2} s", children_cpu() - cpu);
    };
    let start = begin();
    let raw = cell::execute(&run, scratch.path())?;
    timed("cell", start);
    let start = begin();
    let symbols = KernelSymbols::obtain(cache, prepared, &snapshot, load)?;
    timed("symbols", start);
    println!("tasks {}", symbols.tasks);

    let mut worst: Vec<usize> = (0..raw.record.samples.len()).collect();
    worst.sort_by_key(|i| std::cmp::Reverse(raw.record.samples[*i].latency));
    let start = begin();
    let executions = replay(
        cache,
        &run,
        &raw,
        &symbols,
        &worst[..1.min(worst.len())],
        LEAD,
        Counted::Nothing,
    )?
    .executions;
    timed("replay of the worst", start);
    for execution in &executions {
        show(execution, &symbols.code);
    }
    let start = begin();
    let all: Vec<usize> = (0..raw.record.samples.len()).collect();
    let (mut steps, mut odd) = (0, 0);
    replay_each(cache, &run, &raw, &symbols, &all, LEAD, |_, execution, _| {
        steps += execution.steps.len();
        odd += misfits(&execution);
        Ok(())
    })?;
    timed("replay of all", start);
    println!("{steps} steps; {odd} counts that do not fit their block");
    Ok(())
}

/// CPU time of the QEMUs that have ended, in seconds (proc_pid_stat(5): cutime and cstime, in ticks of 10 ms).
fn children_cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields
        .skip(13)
        .take(2)
        .filter_map(|f| f.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

/// Steps that executed nothing, or more than their block holds.
fn misfits(execution: &Execution) -> usize {
    let fits = |i: usize| {
        let executed = execution.span(i).end - execution.span(i).start;
        let block = &execution.blocks[execution.steps[i].block as usize];
        (1..=block.lengths.len() as u64).contains(&executed)
    };
    (0..execution.steps.len()).filter(|i| !fits(*i)).count()
}

fn show(execution: &Execution, symbols: &Symbols) {
    println!(
        "latency {}, timer entry {:?} after due, {} steps of {} blocks from {} before due to {} after the sample, {} misfits",
        execution.latency,
        execution.timer_entry.map(|e| e.0 - execution.due.0),
        execution.steps.len(),
        execution.blocks.len(),
        execution.due.0 as i64 - execution.steps[0].count.0 as i64,
        execution.end.0 - execution.sample.0,
        misfits(execution),
    );
    for task in &execution.tasks {
        println!(
            "  {:>8} {:>5} {}",
            task.count.0 as i64 - execution.due.0 as i64,
            task.pid,
            task.comm
        );
    }
    println!("  {} writes to locks", execution.lock_writes.len());
    for context in &execution.contexts {
        println!(
            "  {:>8} {} {}",
            context.count.0 as i64 - execution.due.0 as i64,
            context.system_call.and_then(|n| symbols.system_call(n)).unwrap_or("-"),
            if context.preempt_off { "preempt off" } else { "" }
        );
    }
    let mut by_function: BTreeMap<&str, u64> = BTreeMap::new();
    for (i, step) in execution.steps.iter().enumerate() {
        if step.count < execution.due {
            continue;
        }
        let address = execution.blocks[step.block as usize].address;
        let name = match symbols.lookup(address) {
            Some(symbol) if address >= 1 << 47 => symbol.name.as_str(),
            _ => "user",
        };
        *by_function.entry(name).or_default() += execution.span(i).end - execution.span(i).start;
    }
    let mut rows: Vec<_> = by_function.into_iter().collect();
    rows.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    for (name, n) in rows.iter().take(14) {
        println!("  {n:>8} {name}");
    }
}
