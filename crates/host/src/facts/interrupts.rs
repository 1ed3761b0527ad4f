//! The CPUs that device interrupts go to.

use super::tree::FileTree;
use crate::CpuList;
use serde::Serialize;

/// Device interrupts.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Interrupts {
    /// Interrupts with a number of their own.
    pub lines: Vec<Irq>,
    /// The CPUs for new interrupts (a hexadecimal mask).
    pub default_mask: Option<String>,
    /// Whether irqbalance runs, which moves interrupts between CPUs.
    pub irqbalance: Option<bool>,
}

/// A device interrupt.
#[derive(Clone, Debug, Serialize)]
pub struct Irq {
    /// Its number.
    pub number: u32,
    /// Its controller, and the device or driver.
    pub name: String,
    /// The CPUs it may go to.
    pub allowed: Option<CpuList>,
    /// The CPUs it does go to.
    pub(crate) effective: Option<CpuList>,
    /// How often it came since boot.
    pub count: u64,
}

/// The names under which architectures ask for the interrupt of a CPU's own timer, where that has a number.
pub(crate) const CPU_TIMERS: [&str; 3] = ["arch_timer", "riscv-timer", "twd"];
/// Other interrupts that each CPU has for itself, though they have numbers.
const OWN: [&str; 2] = ["arm-pmu", "vtimer"];

impl Irq {
    /// Whether it is a device's, and no interrupt that each CPU has for itself.
    pub(crate) fn is_of_device(&self) -> bool {
        let last = self.name.rsplit(' ').next().unwrap_or_default();
        !CPU_TIMERS.contains(&last) && !OWN.contains(&last)
    }

    /// The CPUs it goes to, or may go to.
    pub fn cpus(&self) -> Option<&CpuList> {
        let effective = self.effective.as_ref().filter(|cpus| !cpus.is_empty());
        effective.or(self.allowed.as_ref())
    }
}

/// The file with an interrupt's CPUs.
pub(crate) fn affinity_file(irq: u32) -> String {
    format!("proc/irq/{irq}/smp_affinity_list")
}

pub(super) fn read(tree: &FileTree) -> Interrupts {
    let table = tree.text("proc/interrupts").unwrap_or_default();
    let columns = table
        .lines()
        .next()
        .map_or(0, |head| head.split_ascii_whitespace().count());
    Interrupts {
        lines: table
            .lines()
            .skip(1)
            .filter_map(|row| line(tree, row, columns))
            .collect(),
        default_mask: tree.text("proc/irq/default_smp_affinity"),
        irqbalance: runs(tree, "irqbalance"),
    }
}

/// A row: number, a count for each CPU, controller and names. A row that begins with letters is no device interrupt.
fn line(tree: &FileTree, row: &str, columns: usize) -> Option<Irq> {
    let (number, rest) = row.split_once(':')?;
    let number = number.trim().parse().ok()?;
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    let (counts, names) = words.split_at_checked(columns)?;
    Some(Irq {
        number,
        name: names.join(" "),
        allowed: tree.value(&affinity_file(number)),
        effective: tree.value(&format!("proc/irq/{number}/effective_affinity_list")),
        count: counts.iter().filter_map(|count| count.parse::<u64>().ok()).sum(),
    })
}

/// Whether a process of this name runs; `None` if processes cannot be seen.
fn runs(tree: &FileTree, name: &str) -> Option<bool> {
    let processes = tree.numbers("proc", "");
    let named = |pid: &u32| tree.text(&format!("proc/{pid}/comm")).is_some_and(|comm| comm == name);
    (!processes.is_empty()).then(|| processes.iter().any(named))
}
