//! PID 1 of a lab machine: prepares the guest, stops at the ready point for the snapshot, and after
//! resuming reads its order, measures, sends the record and powers off. It may stop once more when its load is warm.
//!
//! ```text
//! boot -> mounts -> own modules -> scheduler -> settle -> ready message -> stop point | resume -> order -> modules -> probe + load -> record -> power off
//!                                                             (snapshot)
//! measuring: load -> warm-up -> stop point | resume -> order -> probe
//!                              (warm snapshot)
//! ```
//! A fork can also be asked for the kernel's symbols instead of a record (`symbols`).
//! Everything before the stop point is the same for all cells of a subject; nothing before it may depend on the cell.

mod console;
mod disk;
mod fwcfg;
mod gpio;
mod image;
mod kernel_log;
mod modules;
mod mounts;
mod policy;
mod ports;
mod random;
mod ready;
mod stop;
mod symbols;

use disk::Disk;
use policy::Policy;
use worstcase_cell::bench::Bench;
use worstcase_cell::loads::{LoadEnvironment, LoadKind};
use worstcase_cell::order::{CellOrder, Instrument, MachineOrder, Order};
use worstcase_cell::{RawRecord, probes};
use worstcase_instruments::loads::Surroundings;
use worstcase_instruments::priorities;
use worstcase_instruments::sys::process;
use worstcase_logs::Nanos;

/// Anything that keeps the guest from giving a record, in words for the controller.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct GuestError(String);

impl GuestError {
    fn new(what: impl std::fmt::Display) -> Self {
        GuestError(what.to_string())
    }

    /// Joins what was tried with the last system error.
    fn os(what: impl std::fmt::Display) -> Self {
        GuestError(format!("{what}: {}", std::io::Error::last_os_error()))
    }
}

fn main() {
    worstcase_instruments::child_main();
    if std::process::id() != 1 {
        eprintln!("worstcase-guest is the init of a lab machine; worstcase boots it, it is not run by hand");
        std::process::exit(2);
    }
    std::panic::set_hook(Box::new(|panic| console::fail(&format!("the guest panicked: {panic}"))));
    match run() {
        Ok(message) => console::send(&message),
        Err(error) => console::fail(&error.0),
    }
    stop::power_off();
}

/// Gives the message for the controller.
fn run() -> Result<Vec<u8>, GuestError> {
    ports::prepare()?;
    mounts::mount_all()?;
    let has_own_modules = modules::load_own()?;
    let mut policy = Policy::load()?;
    stop::settle();
    let random = random::prepare()?;
    console::send(ready::message(random, policy.as_ref())?.as_bytes());
    let gap = stop::wait_for_resume(has_own_modules)?;
    match order()? {
        Order::Symbols(modules) => symbols::message(&modules),
        Order::Measure(cell, machine) => Ok(measure(&cell, &machine, gap, policy.as_mut())?.encode()),
    }
}

fn order() -> Result<Order, GuestError> {
    Order::decode(&fwcfg::read("opt/worstcase/order")?).map_err(GuestError::new)
}

/// Stops the machine, and gives the cell that it is resumed with.
fn cell_when_warm() -> Result<CellOrder, String> {
    stop::stop_when_warm().map_err(|e| e.0)?;
    match order().map_err(|e| e.0)? {
        Order::Measure(cell, _) => Ok(cell),
        Order::Symbols(_) => Err("symbols are asked for".into()),
    }
}

fn measure(
    cell: &CellOrder,
    machine: &MachineOrder,
    gap: Nanos,
    mut policy: Option<&mut Policy>,
) -> Result<RawRecord, GuestError> {
    process::set_name("probe").map_err(GuestError::new)?;
    modules::load_all(&machine.modules)?;
    let placement = machine.place().map_err(GuestError::new)?;
    if let Instrument::Bench(Bench::Irq(line)) = cell.instrument {
        gpio::simulate(line)?;
        let cpu = placement.as_ref().map_or(0, |place| place.probe);
        worstcase_wires::send_interrupts_to(line, cpu).map_err(GuestError::new)?;
    }
    let priorities = priorities::apply(&machine.priorities).map_err(GuestError::new)?;
    let disk = Disk::start(machine, cell.seed)?;
    let place = LoadEnvironment {
        surroundings: Surroundings {
            work_dir: disk.as_ref().map_or("/tmp", |_| disk::FOLDER).into(),
            owns_machine: true,
            placement,
        },
        bodies: &[(LoadKind::Module, modules::start_load)],
        policy: machine.policy,
        program: machine.program.clone(),
        begin: None,
        when_warm: machine.stops_when_warm.then_some(cell_when_warm as fn() -> _),
    };
    let counted = policy.as_mut().map(|policy| policy.counters()).transpose()?;
    let mut record = probes::run(cell, &place).map_err(GuestError::new)?;
    if let (Some(policy), Some(before)) = (policy, counted) {
        policy.check()?;
        record.counters = policy::between(&before, policy.counters()?);
    }
    if let Some(disk) = &disk {
        disk.tell(&mut record)?;
    }
    record.environment.insert("stop_gap_ns".into(), gap.0.to_string());
    if !priorities.is_empty() {
        let words: Vec<String> = priorities.iter().map(|(name, n)| format!("{name}={n}")).collect();
        record.environment.insert("chrt".into(), words.join(" "));
    }
    Ok(record)
}
