//! The moments at which QEMU asks: at its start, when it has made a CPU, whenever it has translated a block, at its end.

use crate::api::Block;
use crate::census;
#[cfg(not(feature = "guest-arm64"))]
use crate::costs;
use crate::count::Place;
use crate::scheduler::{self, Settings};
use crate::untimed::{self, Code};
use crate::{arch, args, events, modules, progress, record, watch};
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
    #[cfg(feature = "guest-arm64")]
    args::refuse_what_is_not_there(arguments).map_err(|e| e.to_string())?;
    let args = args::parse(arguments).map_err(|e| e.to_string())?;
    if machine.target != arch::target!() || !machine.whole_system {
        return Err(format!(
            concat!("measures ", arch::target!(), " machines, not {}"),
            machine.target
        ));
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
    #[cfg(feature = "guest-arm64")]
    watch::set_vectors(args.vectors);
    untimed::set(args.untimed);
    if let Some(replay) = args.replay {
        record::start(replay)?;
    }
    if let Some(asked) = args.census {
        census::start(asked)?;
    }
    #[cfg(not(feature = "guest-arm64"))]
    if let Some(asked) = args.costs {
        if cpus > 1 {
            return Err(format!("costs= counts on one CPU, the machine has {cpus}"));
        }
        costs::start(asked)?;
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
    if number != 0 {
        return;
    }
    let end = |what: &str, why: String| {
        eprintln!("worstcase-plugin: cannot {what}: {why}");
        std::process::exit(1);
    };
    if let Err(why) = scheduler::take_over() {
        end("schedule this QEMU's CPUs", why);
    }
    #[cfg(not(feature = "guest-arm64"))]
    if let Err(why) = costs::find() {
        end("count costs", why);
    }
}

/// Instruments one freshly translated block.
pub(crate) fn translated(block: &Block) {
    progress::begin();
    scheduler::begin_kicks();
    let instructions = block.instructions();
    let Some(first) = instructions.first() else {
        return;
    };
    let code = untimed::observe(block, first.vaddr(), instructions.len());
    if code == Code::Own {
        return;
    }
    let places = Place::of_block(instructions.len(), code == Code::Shared);
    #[cfg(not(feature = "guest-arm64"))]
    costs::observe(block, &instructions, places.clone());
    record::observe(block, &instructions, places.clone());
    watch::observe(&instructions, places.clone());
    census::observe(block, &instructions, places);
}

/// QEMU ends.
pub(crate) fn finish() {
    watch::finish();
    record::finish();
    modules::list();
    census::finish();
    #[cfg(not(feature = "guest-arm64"))]
    costs::finish();
}
