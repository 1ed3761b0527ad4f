//! Delays a real-time process in a way that is known beforehand, until it is killed: ground truth for `worstcase explain`
//! and `worstcase census`.
//!
//! It runs in a lab machine, as root: `--add culprit:/culprit --load 'cmd:/culprit NAME NUMBER'`. `NUMBER` is the size of
//! what it does, so that a test knows how long the delay must be.
//!
//! | name | number | what it does |
//! | --- | --- | --- |
//! | `copy` | bytes | system calls of which each copies so many bytes in one go |
//! | `above` | instructions | a thread of priority 99 that computes for so long, 200 us apart |
//! | `flood` | sockets | broadcasts over loopback, each delivered to so many sockets by one soft interrupt |
//! | `inherit` | instructions | a thread without priority computes for so long under a mutex that priority 99 wants, and inherits it |
//! | `invert` | instructions | the same with a mutex that hands no priority on |
//! | `timers` | timers | reads of /proc/timer_list, which walks to each of so many timers with interrupts off |
//! | `expire` | timers | so many timers that expire in one interrupt, again and again |
//! | `truncate` | MiB | truncations of a file, whose pages' tree is freed through RCU |
//! | `cgroups` | groups | removals of control groups, freed through RCU |
//! | `areas` | areas | exits of processes with so many areas of memory |
//! | `filters` | instructions | processes that install a system call filter of so many instructions |
//! | `console` | characters | writes of lines of so many characters to a serial console |
//! | `calls` | MiB | system calls that work on so much memory: mmap, mprotect, madvise, munmap |
//!
//! Some do not delay it, but attack: they forge what it measured, which must be found, or take all that the machine has:
//!
//! | name | number | what it does |
//! | --- | --- | --- |
//! | `halve` | ns | halves each number from this one to 250 more in the memory of all other processes: samples |
//! | `hurry` | ns | adds so much to each instant of the next 300 us in the memory of all other processes: due times |
//! | `forks` | forks | a process that forks so often, as each of its children does |
//! | `memory` | MiB | takes so much memory, and again, without end |
//! | `record` | ms | sends a record of its own through the machine's debug port, and powers off so much later; 0 for never |
//!
//! `culprit insmod FILE PARAMETER=VALUE...` loads a kernel module, such as the one of `module/`, and does nothing more.

mod areas;
mod bomb;
mod calls;
mod cgroups;
mod console;
mod copy;
mod expire;
mod filters;
mod flood;
mod forge;
mod insmod;
mod mutex;
mod threads;
mod timers;
mod truncate;

use std::convert::Infallible;
use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [name, first, parameters @ ..] = &words[..] else {
        eprintln!("usage: culprit NAME NUMBER, or culprit insmod FILE PARAMETER=VALUE...");
        return ExitCode::from(2);
    };
    let result = match name.as_str() {
        "insmod" => insmod::run(first, parameters),
        _ => match first.parse::<u32>() {
            Ok(number) if parameters.is_empty() => by_number(name, number),
            _ => Err(io::Error::other(format!(
                "needs one number, not '{}'",
                words[1..].join(" ")
            ))),
        },
    };
    match result {
        Ok(never) => match never {},
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn by_number(name: &str, number: u32) -> io::Result<Infallible> {
    match name {
        "copy" => copy::run(number as usize),
        "above" => threads::above(number),
        "flood" => flood::run(number),
        "inherit" => mutex::run::<mutex::Inheriting>(number),
        "invert" => mutex::run::<mutex::Plain>(number),
        "timers" => timers::run(number),
        "expire" => expire::run(number),
        "truncate" => truncate::run(number),
        "cgroups" => cgroups::run(number),
        "areas" => areas::run(number),
        "filters" => filters::run(number),
        "console" => console::run(number as usize),
        "calls" => calls::run(number as usize),
        "halve" => forge::halve(number.into()),
        "hurry" => forge::hurry(number.into()),
        "record" => forge::record(number),
        "forks" => bomb::forks(number),
        "memory" => bomb::memory(number as usize),
        _ => Err(io::Error::other("there is no such culprit")),
    }
}
