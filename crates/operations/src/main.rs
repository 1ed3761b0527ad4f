//! Runs operations in short batches: on a machine it tells how long each took, in a lab machine the plugin counts what
//! each consists of. The same bytes do both.
//!
//! ```text
//! batch     one operation, some times, between two marks     cold     caches filled with something else
//! fixture   what operations work on                          machine  a place of its own; PID 1 of a lab machine
//! delivery  when a timer that is due interrupts a program    operations  the list
//! ```
//!
//! `worstcase-operations CPU ROUNDS` prints a line for each operation: name, class, use, times, windows, and the ns of
//! each round. `worstcase-operations marks` prints the addresses between which the plugin counts.

mod batch;
mod cold;
mod delivery;
mod fixture;
mod machine;
mod memory;
mod operations;
mod pointers;
mod process;

use batch::{Batch, operation_begin, operation_end};
use cold::Evictor;
use fixture::Fixture;
use operations::{Operation, all};
use std::io::Write;
use std::time::Duration;

/// Rounds in a lab machine: a tick of its timer falls into few of them.
const LAB_ROUNDS: usize = 5;
/// The kernel stops real-time threads that never sleep.
const REST: Duration = Duration::from_millis(20);
/// Part of a batch that runs unmeasured before each.
const WARM_UP: u32 = 8;
/// Wake-ups of which the delivery is told.
const DELIVERIES: usize = 200;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    match &words[1..] {
        _ if std::process::id() == 1 => {
            machine::begin_as_init();
            report(&measure(LAB_ROUNDS, Duration::ZERO));
            machine::power_off();
        }
        [word] if word == "marks" => println!(
            "{:#x} {:#x}",
            operation_begin as *const () as usize, operation_end as *const () as usize
        ),
        [cpu, rounds] => match (cpu.parse(), rounds.parse()) {
            (Ok(cpu), Ok(rounds)) => on_this_machine(cpu, rounds),
            _ => fail("usage: worstcase-operations CPU ROUNDS"),
        },
        _ => fail("usage: worstcase-operations CPU ROUNDS"),
    }
}

fn fail(what: &str) -> ! {
    eprintln!("{what}");
    std::process::exit(2)
}

fn on_this_machine(cpu: usize, rounds: usize) {
    if let Err(reason) = machine::begin(cpu) {
        eprintln!("{reason}");
        std::process::exit(3);
    }
    let measured = measure(rounds, REST);
    for wake in delivery::measure(DELIVERIES) {
        println!("delivery {} {}", wake.until_interrupted, wake.interruption);
    }
    report(&measured);
}

/// What one operation's rounds gave.
struct Measured {
    operation: Operation,
    /// Marked windows of a round.
    windows: u32,
    /// ns of each round.
    rounds: Vec<u64>,
}

fn measure(rounds: usize, rest: Duration) -> Vec<Measured> {
    let mut fixture = Fixture::new();
    let mut evictor = Evictor::new();
    let mut all: Vec<Measured> = all()
        .into_iter()
        .map(|operation| Measured {
            operation,
            windows: 0,
            rounds: Vec::with_capacity(rounds),
        })
        .collect();
    for _ in 0..2 {
        for measured in &all {
            (measured.operation.run)(&mut fixture, &mut Batch::unmarked(measured.operation.times));
        }
    }
    for _ in 0..rounds {
        for (number, measured) in all.iter_mut().enumerate() {
            let operation = &measured.operation;
            let warm_up = operation.times.div_ceil(WARM_UP);
            (operation.run)(&mut fixture, &mut Batch::unmarked(warm_up));
            let evictor = operation.is_cold.then_some(&mut evictor);
            let mut batch = Batch::marked(number, operation.times, evictor);
            (operation.run)(&mut fixture, &mut batch);
            measured.windows = batch.windows;
            measured.rounds.push(batch.ns);
        }
        if !rest.is_zero() {
            std::thread::sleep(rest);
        }
    }
    all
}

fn report(all: &[Measured]) {
    let mut out = std::io::stdout().lock();
    for measured in all {
        let Operation {
            name,
            class,
            held_out,
            times,
            ..
        } = &measured.operation;
        let purpose = if *held_out { "held-out" } else { "fit" };
        let rounds: Vec<String> = measured.rounds.iter().map(u64::to_string).collect();
        let windows = measured.windows;
        let _ = writeln!(
            out,
            "operation {name} {class} {purpose} {times} {windows} {}",
            rounds.join(" ")
        );
    }
    let _ = writeln!(out, "done");
}
