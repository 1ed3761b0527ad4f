//! The moments at which QEMU asks: at its start, when it has made a CPU, whenever it has translated a block, at its end.

use crate::api::Block;
use crate::scheduler::{self, Settings};
use crate::untimed::Counted;
use crate::{args, census, count, decode, events, modules, progress, record, untimed, watch};
use std::ffi::{c_int, c_uint};
use std::io;
use std::path::Path;
use worstcase_logs::machine::{DEFAULT_QUANTUM, MOST_CPUS};

/// The machine that QEMU is about to run.
pub(crate) struct QemuInfo {
    /// The guest's architecture, in QEMU's words.
    pub(crate) target: String,
    /// A whole machine, not a single program.
    pub(crate) whole_system: bool,
    /// Virtual CPUs at the start.
    pub(crate) cpus: c_int,
}

/// Sets the plugin up; a failure is one line for the user, and QEMU does not start.
pub(crate) fn install(machine: &QemuInfo, arguments: &[String]) -> Result<(), String> {
    let args = args::parse(arguments).map_err(|e| e.to_string())?;
    if machine.target != "x86_64" || !machine.whole_system {
        return Err(format!("measures x86_64 machines, not {}", machine.target));
    }
    let cpus = usize::try_from(machine.cpus).unwrap_or(0);
    if !(1..=MOST_CPUS).contains(&cpus) {
        return Err(format!("schedules 1 to {MOST_CPUS} CPUs, the machine has {cpus}"));
    }
    if let Some(cpu) = args.follow.filter(|cpu| *cpu >= cpus) {
        return Err(format!("follow={cpu}: the machine has {cpus} CPUs"));
    }
    let unwritable = |path: &Path| {
        let path = path.display().to_string();
        move |e: io::Error| format!("cannot write {path}: {e}")
    };
    let log = match &args.log {
        Some(path) => Some(events::Log::create(path).map_err(unwritable(path))?),
        None => None,
    };
    if let Some(path) = &args.progress {
        progress::start(path).map_err(unwritable(path))?;
    }
    watch::start(log, args.timer_entry);
    untimed::set(args.untimed);
    if let Some(replay) = args.replay {
        record::start(replay)?;
    }
    if let Some(asked) = args.census {
        census::start(asked)?;
    }
    if let Some(asked) = args.modules {
        modules::start(asked);
    }
    scheduler::set(Settings {
        cpus,
        quantum: args.quantum.unwrap_or(DEFAULT_QUANTUM.0.cast_signed()),
        kicks: args.kicks,
        follow: args.follow,
        disk: args.disk,
        port: args.port,
    });
    Ok(())
}

/// A CPU was made. Before the first one exists a part of QEMU 7.2 is not there yet.
pub(crate) fn cpu_made(number: c_uint) {
    if number == 0
        && let Err(why) = scheduler::take_over()
    {
        eprintln!("worstcase-plugin: cannot schedule this QEMU's CPUs: {why}");
        std::process::exit(1);
    }
}

/// Instruments one freshly translated block.
pub(crate) fn translated(block: &Block) {
    progress::begin();
    scheduler::begin_kicks();
    let instructions = block.instructions();
    let counted = instructions.first().map_or(Counted::Usually, |first| {
        untimed::observe(block, first.vaddr(), instructions.len())
    });
    if counted == Counted::Never {
        return;
    }
    let classes: Vec<_> = instructions.iter().map(|i| decode::classify(i.bytes())).collect();
    let placements = count::place(&classes);
    record::observe(block, &instructions);
    // Callbacks come first: those of one instruction then run before its own additions, on every QEMU.
    watch::observe(&instructions, &placements);
    census::observe(block, &instructions, &placements);
    if counted == Counted::Here {
        return;
    }
    for (instruction, placement) in instructions.iter().zip(&placements) {
        if placement.before > 0 {
            instruction.add_when_started(placement.before.into());
        }
        if let Some(access) = placement.after {
            instruction.add_one_after(access);
        }
    }
}

/// QEMU ends.
pub(crate) fn finish() {
    watch::finish();
    record::finish();
    census::finish();
}
