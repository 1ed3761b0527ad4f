//! Whether this machine is a guest, and the time that its host took.

use super::tree::FileTree;
use serde::Serialize;

/// A hypervisor, if any.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Virtualization {
    /// Whether the processor reports a hypervisor; `None` where it cannot.
    pub hypervisor: Option<bool>,
    /// The hypervisor's name for itself, where something tells.
    pub name: Option<String>,
    /// Time since boot in which CPUs of this machine were ready and the host ran something else (s, all CPUs together).
    pub steal_s: Option<f64>,
    /// The same as a share of all CPUs' time (%).
    pub steal_percent: Option<f64>,
    /// The share while the facts were read (%), where it was measured.
    pub steal_now_percent: Option<f64>,
}

pub(super) fn read(tree: &FileTree, steal_now_percent: Option<f64>) -> Virtualization {
    let info = tree.text("proc/cpuinfo").unwrap_or_default();
    let mut flags = info.lines().filter(|line| line.starts_with("flags"));
    let flag = flags
        .next()
        .map(|line| line.split_ascii_whitespace().any(|word| word == "hypervisor"));
    let told = tree.exists("sys/hypervisor/type") || device_tree(tree).is_some();
    let hypervisor = flag.or(told.then_some(true));
    let times = tree
        .text("proc/stat")
        .and_then(|text| CpuTimes::parse(text.lines().next()?));
    Virtualization {
        hypervisor,
        name: hypervisor.filter(|below| *below).and_then(|_| name(tree)),
        // In hundredths of a second, whatever HZ is.
        steal_s: times.as_ref().map(|t| t.steal as f64 / 100.0),
        steal_percent: times.as_ref().and_then(CpuTimes::steal_percent),
        steal_now_percent,
    }
}

/// What a device tree says of a hypervisor; QEMU's machine `virt` names itself.
fn device_tree(tree: &FileTree) -> Option<String> {
    let first = |file: &str| {
        let text = tree.text(&format!("proc/device-tree/{file}"))?;
        Some(text.split('\0').next().unwrap_or_default().to_string())
    };
    first("hypervisor/compatible").or_else(|| first("compatible").filter(|name| name == "linux,dummy-virt"))
}

fn name(tree: &FileTree) -> Option<String> {
    let dmi = |file: &str| tree.text(&format!("sys/class/dmi/id/{file}"));
    if let Some(kind) = tree.text("sys/hypervisor/type") {
        return Some(kind);
    }
    if let Some(kind) = device_tree(tree) {
        return Some(kind);
    }
    if let Some(vendor) = dmi("sys_vendor") {
        let product = dmi("product_name").unwrap_or_default();
        return Some(format!("{vendor} {product}").trim().to_string());
    }
    let clocks = tree.text("sys/devices/system/clocksource/clocksource0/available_clocksource")?;
    let known = [("kvm-clock", "KVM"), ("hyperv", "Hyper-V"), ("xen", "Xen")];
    let mut found = known.into_iter().filter(|(clock, _)| clocks.contains(clock));
    Some(format!("{} (its clock source is there)", found.next()?.1))
}

/// A CPU's time by use, in ticks of /proc/stat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CpuTimes {
    pub total: u64,
    pub idle: u64,
    pub(crate) steal: u64,
}

impl CpuTimes {
    /// A line `cpu... user nice system idle iowait irq softirq steal ...`.
    pub(crate) fn parse(line: &str) -> Option<CpuTimes> {
        let numbers: Option<Vec<u64>> = line.split_ascii_whitespace().skip(1).map(|n| n.parse().ok()).collect();
        let numbers = numbers.filter(|n| n.len() >= 8)?;
        Some(CpuTimes {
            // Guest time, which follows steal, is part of user time already.
            total: numbers[..8].iter().sum(),
            idle: numbers[3] + numbers[4],
            steal: numbers[7],
        })
    }

    pub fn since(self, before: CpuTimes) -> CpuTimes {
        CpuTimes {
            total: self.total.saturating_sub(before.total),
            idle: self.idle.saturating_sub(before.idle),
            steal: self.steal.saturating_sub(before.steal),
        }
    }

    pub(crate) fn steal_percent(&self) -> Option<f64> {
        (self.total > 0).then(|| 100.0 * self.steal as f64 / self.total as f64)
    }

    pub(crate) fn busy_percent(&self) -> Option<f64> {
        let busy = self.total.saturating_sub(self.idle);
        (self.total > 0).then(|| 100.0 * busy as f64 / self.total as f64)
    }
}
