//! Symbols of a subject's running kernel, and the places of its tasks.
//!
//! The guest knows its symbols, with the addresses of modules that a load needs while it runs. A short fork of the
//! snapshot sends them, once for each subject and set of modules; then the cache keeps them.

use super::LabError;
use super::fork::{Fork, PluginRequest};
use super::kernel_facts;
use super::kernel_memory::{self, KernelMemory};
use super::prepared::Prepared;
use super::snapshot::MachineSnapshot;
use super::tracer;
use super::watchdog::BOOT;
use super::watchdog::MachineLimits;
use crate::execution::Symbols;
use std::ops::Range;
use worstcase_base::cache::Cache;
use worstcase_base::digest::Digest;
use worstcase_cell::order::Order;
use worstcase_contract::census::facts::Facts;
use worstcase_contract::loads::LoadSpec;
use worstcase_contract::symbols::SymbolTable;
use worstcase_contract::window::ask::{CodeRanges, ModulePlaces, TaskPlaces};
use worstcase_kernels::debuginfo::BuildId;

const AREA: &str = "symbols";

/// What names of functions that take spin locks and give them back begin with.
const LOCKS: [&str; 6] = [
    "_raw_spin_",
    "_raw_read_",
    "_raw_write_",
    "__raw_spin_",
    "__raw_read_",
    "__raw_write_",
];

/// The message about damaged symbols.
const AGAIN: &str = "the symbols are read again";

/// The fork loads modules and writes some MiB of text, which takes less than a boot.
const LIMITS: MachineLimits = MachineLimits::new(BOOT, None);

/// The facts about a kernel that a replay needs.
#[derive(Clone, Debug)]
pub struct KernelSymbols {
    /// Symbols of its code.
    pub code: Symbols,
    /// The CPU that a replay follows.
    pub(super) cpu: u32,
    /// The places of its tasks, and of that CPU's current task.
    pub tasks: TaskPlaces,
    /// Offset of the effective priority in a task.
    prio: u64,
    /// The places of its modules, if they can be found.
    pub modules: Option<ModulePlaces>,
    table: SymbolTable,
}

impl KernelSymbols {
    /// Takes the symbols from the cache, or asks a fork of the snapshot.
    pub fn obtain(
        cache: &Cache,
        prepared: &Prepared,
        snapshot: &MachineSnapshot,
        load: &str,
    ) -> Result<KernelSymbols, LabError> {
        let arch = prepared.subject.machine.arch();
        let load: LoadSpec = load.parse().map_err(|e| LabError::Request(format!("{e}")))?;
        let modules = load.modules().into_iter().map(str::to_string).collect();
        let order = Order::Symbols(modules)
            .encode()
            .map_err(|e| LabError::Request(e.to_string()))?;
        let key = Digest::new("worstcase-symbols/2")
            .text(&prepared.key)
            .bytes(&order)
            .hex();
        let folder = cache.keep(AREA, &key, AGAIN, |building| {
            let fork = Fork {
                prepared,
                snapshot,
                warm: None,
                order: &order,
                asked: &PluginRequest::default(),
                limits: LIMITS,
                what: format!("{}, symbols", prepared.subject.label()),
            };
            let scratch = tempfile::tempdir_in(building).map_err(LabError::io(building))?;
            let message = fork.run(scratch.path())?;
            SymbolTable::decode(&message).map_err(|e| fork.no_result(scratch.path(), e.to_string()))?;
            let path = building.join("symbols");
            std::fs::write(&path, message).map_err(LabError::io(&path))
        })?;
        let path = folder.join("symbols");
        let message = worstcase_base::files::read(&path).map_err(LabError::io(&path))?;
        let table = SymbolTable::decode(&message).map_err(|e| LabError::Damaged {
            folder,
            reason: e.to_string(),
            again: AGAIN,
        })?;
        let memory = KernelMemory::open(&snapshot.memory())?;
        let cpu = prepared.subject.machine.smp.probe_cpu();
        let places = kernel_memory::places(&memory, &table, cpu, arch).map_err(unreadable(prepared))?;
        Ok(KernelSymbols {
            code: Symbols::from(&table)
                .of(arch)
                .with_system_calls(kernel_memory::system_calls(&memory, &places.tasks, &table)),
            modules: places.modules,
            tasks: places.tasks,
            prio: places.prio,
            cpu,
            table,
        })
    }

    /// Makes replays follow this CPU.
    pub fn follow(&mut self, prepared: &Prepared, snapshot: &MachineSnapshot, cpu: u32) -> Result<(), LabError> {
        let memory = KernelMemory::open(&snapshot.memory())?;
        let arch = prepared.subject.machine.arch();
        let places = kernel_memory::places(&memory, &self.table, cpu, arch).map_err(unreadable(prepared))?;
        (self.cpu, self.tasks) = (cpu, places.tasks);
        Ok(())
    }

    /// Makes a census tell no thread's priority. It compares a number of each task with that of the thread that measures, which
    /// is the first process: no other thread has so small an id.
    pub fn leave_priorities(&mut self) {
        self.prio = self.tasks.pid;
    }

    /// The plugin's arguments with the places of tasks and the CPU to follow.
    pub(super) fn follow_arguments(&self, prepared: &Prepared) -> String {
        match prepared.subject.machine.smp.probe_cpu() == self.cpu {
            true => String::new(),
            false => format!(",follow={}", self.cpu),
        }
    }

    /// The plugin's argument with the code of the kernel's lock functions; empty if it has none.
    pub(super) fn locks_argument(&self) -> String {
        let is_lock = |name: &str| LOCKS.iter().any(|own| name.starts_with(own));
        let mut code: Vec<(u64, &str)> = self.table.code().map(|symbol| (symbol.address, symbol.name)).collect();
        code.sort_unstable();
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for pair in code.windows(2).filter(|pair| is_lock(pair[0].1)) {
            let (from, to) = (pair[0].0, pair[1].0);
            match ranges.last_mut() {
                Some(last) if last.end == from => last.end = to,
                _ => ranges.push(from..to),
            }
        }
        let locks: CodeRanges = ranges.into_iter().collect();
        match locks.is_empty() {
            true => String::new(),
            false => format!(",locks={locks}"),
        }
    }

    /// The plugin's arguments with the code of the kernel's tracer, which takes no time; empty if it is not known.
    pub(super) fn untimed_arguments(&self) -> String {
        let tracer = tracer::code(&self.table);
        // Without the tracer's own code nothing is shared with it.
        match tracer.own.is_empty() || tracer.shared.is_empty() {
            true => String::new(),
            false => format!(",untimed={},shared={}", tracer.own, tracer.shared),
        }
    }

    /// The build-id of the running kernel; none if it is not where kernels keep it.
    pub fn build_id(&self, snapshot: &MachineSnapshot) -> Result<Option<BuildId>, LabError> {
        let memory = KernelMemory::open(&snapshot.memory())?;
        Ok(kernel_memory::build_id(&memory, &self.tasks, &self.table))
    }

    /// The facts about the kernel that a census needs.
    pub fn facts(&self, prepared: &Prepared, snapshot: &MachineSnapshot) -> Result<Facts, LabError> {
        let memory = KernelMemory::open(&snapshot.memory())?;
        let (subject, places) = (&prepared.subject, &self.tasks);
        kernel_facts::find(&memory, &self.table, places, self.prio, self.cpu, subject).map_err(unreadable(prepared))
    }
}

fn unreadable(prepared: &Prepared) -> impl FnOnce(String) -> LabError {
    let kernel = prepared.subject.kernel.label.clone();
    |reason| LabError::Unreadable { kernel, reason }
}
