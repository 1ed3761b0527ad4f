//! Interrupts that a CPU has for itself, on machines whose kernel has no tracepoints of vectors: all but x86. There the timer's
//! interrupt and those from other CPUs have a number, and are traced as those of devices are.

use super::events::{CpuContext, TracedChange};
use crate::facts::FileTree;
use crate::facts::interrupts::CPU_TIMERS;

/// The name under which arm asks for the interrupts by which one CPU calls another.
const FROM_CPUS: &str = "IPI";
/// What /proc/interrupts says of these, and the vector of x86 that does the same.
const MEANT: [(&str, &str); 4] = [
    ("Rescheduling", "reschedule"),
    ("Function call", "call_function"),
    ("IRQ work", IRQ_WORK),
    ("Timer broadcast", "timer_broadcast"),
];
const IRQ_WORK: &str = "irq_work";

/// The numbers of these interrupts, and what each is.
#[derive(Debug, Default, PartialEq)]
pub(super) struct OwnInterrupts(Vec<(u32, CpuContext)>);

impl OwnInterrupts {
    pub(super) fn read(tree: &FileTree) -> OwnInterrupts {
        let mut numbers = tree.numbers("sys/kernel/irq", "");
        numbers.sort_unstable();
        let named = |irq: &u32, names: &[&str]| {
            let actions = tree.text(&format!("sys/kernel/irq/{irq}/actions"));
            actions.is_some_and(|actions| actions.split(',').any(|name| names.contains(&name)))
        };
        let timers = numbers.iter().filter(|irq| named(irq, &CPU_TIMERS));
        let mut all: Vec<_> = timers.map(|irq| (*irq, CpuContext::Timer)).collect();
        let table = tree.text("proc/interrupts").unwrap_or_default();
        // The table counts them from 0, and has no numbers.
        for (nth, irq) in numbers.iter().filter(|irq| named(irq, &[FROM_CPUS])).enumerate() {
            let row = format!("{FROM_CPUS}{nth}:");
            let told = table.lines().find(|line| line.trim_start().starts_with(&row));
            let meant = MEANT
                .iter()
                .find(|(words, _)| told.is_some_and(|line| line.contains(words)));
            all.extend(meant.map(|(_, stem)| (*irq, CpuContext::Vector((*stem).into()))));
        }
        OwnInterrupts(all)
    }

    /// The filter that the timer's interrupts pass; none where none is known.
    pub(super) fn timer(&self) -> Option<String> {
        let of_timer = self.0.iter().filter(|(_, context)| *context == CpuContext::Timer);
        let each: Vec<_> = of_timer.map(|(irq, _)| format!("irq == {irq}")).collect();
        (!each.is_empty()).then(|| each.join(" || "))
    }

    /// The filter that only devices' interrupts pass.
    pub(super) fn devices(&self) -> String {
        let each: Vec<_> = self.0.iter().map(|(irq, _)| format!("irq != {irq}")).collect();
        each.join(" && ")
    }

    /// The filters of interrupts from other CPUs, and the change at their `entry` or exit. Perf asks for work by one of them,
    /// whose exit it may not sample on x86 either.
    pub(super) fn sent_by_cpus(&self, entry: bool) -> impl Iterator<Item = (String, TracedChange)> {
        self.0.iter().filter_map(move |(irq, context)| {
            let CpuContext::Vector(_) = context else { return None };
            let change = match (entry, *context == CpuContext::Vector(IRQ_WORK.into())) {
                (true, _) => TracedChange::Enter(*context),
                (false, true) => return None,
                (false, false) => TracedChange::Exit(*context),
            };
            Some((format!("irq == {irq}"), change))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_timers_interrupt_and_those_from_other_cpus_are_found_by_their_names() {
        let dir = tempfile::tempdir().unwrap();
        for (irq, actions) in [
            (1, "IPI\n"),
            (2, "IPI\n"),
            (3, "IPI\n"),
            (11, "arch_timer\n"),
            (12, "arm-pmu\n"),
        ] {
            let folder = dir.path().join(format!("sys/kernel/irq/{irq}"));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("actions"), actions).unwrap();
        }
        let table = "           CPU0       CPU1\n 11:   7   8   GICv3  27 Level   arch_timer\n\
                     IPI0:  1  2       Rescheduling interrupts\nIPI1:  3  4       Function call interrupts\n\
                     IPI2:  0  0       CPU stop interrupts\n";
        fs::create_dir_all(dir.path().join("proc")).unwrap();
        fs::write(dir.path().join("proc/interrupts"), table).unwrap();
        let own = OwnInterrupts::read(&FileTree::at(dir.path()));
        assert_eq!(own.timer().as_deref(), Some("irq == 11"));
        assert_eq!(own.devices(), "irq != 11 && irq != 1 && irq != 2");
        let reschedule = TracedChange::Enter(CpuContext::Vector("reschedule".into()));
        assert_eq!(own.sent_by_cpus(true).next(), Some(("irq == 1".into(), reschedule)));
        assert_eq!(own.sent_by_cpus(false).count(), 2);
        assert_eq!(OwnInterrupts::default().timer(), None);
    }

    #[test]
    fn the_end_of_work_that_perf_asks_for_is_not_sampled() {
        let own = OwnInterrupts(vec![(6, CpuContext::Vector(IRQ_WORK.into()))]);
        assert_eq!(
            (own.sent_by_cpus(true).count(), own.sent_by_cpus(false).count()),
            (1, 0)
        );
    }
}
