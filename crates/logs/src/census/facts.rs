//! What the plugin has to know of a kernel to follow its state: one line each, `name value...`, numbers in hexadecimal.

use crate::window::ask::TaskPlaces;
use std::fmt::{self, Write};
use std::ops::Range;
use std::str::FromStr;

/// Of one kernel and preemption model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Address of `__preempt_count` as instructions name it, relative to gs; on arm64 the count's offset in a task.
    pub preempt_offset: u64,
    /// Virtual address of that count on the one CPU; of no use on arm64.
    pub preempt_virtual: u64,
    /// Physical address of that count on the one CPU; of no use on arm64.
    pub preempt_physical: u64,
    /// Whether the count is laid out as from 7.3 on; of no use on x86-64, where instructions tell.
    pub count_is_long: bool,
    /// Address of the pointer to the current task as instructions name it, relative to gs; of no use on arm64.
    pub current_offset: u64,
    /// Where that pointer and the tasks are.
    pub tasks: TaskPlaces,
    /// Offset in a task of its priority in force, lent by others included; the smaller, the higher.
    pub prio: u64,
    /// Bits of a task's flags that ask for rescheduling; 0 if it is not known how this kernel polls them.
    pub resched_mask: u64,
    /// Whether the kernel can be preempted wherever its count is 0.
    pub preemptible: bool,
    /// First instructions of interrupts and exceptions.
    pub entries: Vec<u64>,
    /// Stubs of device interrupts.
    pub stubs: Vec<Range<u64>>,
    /// The scheduler.
    pub schedule: Vec<u64>,
    /// Functions that reschedule, if asked to, when the count is 0.
    pub points: Vec<u64>,
    /// Functions that read the flags without rescheduling.
    pub bystanders: Vec<Range<u64>>,
    /// Functions of soft interrupts that read the flags to leave the rest of their work for later.
    pub leaving: Vec<Range<u64>>,
}

/// A text that is no list of facts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the facts of the kernel, line {line}: '{text}' is not understood")]
pub struct FactsError {
    line: usize,
    text: String,
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |all: &[u64]| {
            all.iter().fold(String::new(), |mut text, n| {
                let _ = write!(text, " {n:x}");
                text
            })
        };
        let ranges = |all: &[Range<u64>]| {
            all.iter().fold(String::new(), |mut text, r| {
                let _ = write!(text, " {:x}-{:x}", r.start, r.end);
                text
            })
        };
        writeln!(f, "preempt_offset {:x}", self.preempt_offset)?;
        writeln!(f, "preempt_virtual {:x}", self.preempt_virtual)?;
        writeln!(f, "preempt_physical {:x}", self.preempt_physical)?;
        writeln!(f, "count_is_long {:x}", u8::from(self.count_is_long))?;
        writeln!(f, "current_offset {:x}", self.current_offset)?;
        writeln!(f, "tasks {}", self.tasks)?;
        writeln!(f, "prio {:x}", self.prio)?;
        writeln!(f, "resched_mask {:x}", self.resched_mask)?;
        writeln!(f, "preemptible {:x}", u8::from(self.preemptible))?;
        writeln!(f, "entries{}", list(&self.entries))?;
        writeln!(f, "stubs{}", ranges(&self.stubs))?;
        writeln!(f, "schedule{}", list(&self.schedule))?;
        writeln!(f, "points{}", list(&self.points))?;
        writeln!(f, "bystanders{}", ranges(&self.bystanders))?;
        writeln!(f, "leaving{}", ranges(&self.leaving))
    }
}

impl FromStr for Facts {
    type Err = FactsError;

    fn from_str(text: &str) -> Result<Facts, FactsError> {
        let mut facts = Facts::default();
        for (i, line) in text.lines().enumerate() {
            facts.line(line).ok_or_else(|| FactsError {
                line: i + 1,
                text: line.to_string(),
            })?;
        }
        Ok(facts)
    }
}

impl Facts {
    fn line(&mut self, line: &str) -> Option<()> {
        let (name, values) = line.split_once(' ').unwrap_or((line, ""));
        let one = || hex(values);
        let list = || values.split_whitespace().map(hex).collect::<Option<Vec<u64>>>();
        let ranges = || values.split_whitespace().map(range).collect::<Option<Vec<_>>>();
        match name {
            "preempt_offset" => self.preempt_offset = one()?,
            "preempt_virtual" => self.preempt_virtual = one()?,
            "preempt_physical" => self.preempt_physical = one()?,
            "count_is_long" => self.count_is_long = one()? != 0,
            "current_offset" => self.current_offset = one()?,
            "tasks" => self.tasks = values.parse().ok()?,
            "prio" => self.prio = one()?,
            "resched_mask" => self.resched_mask = one()?,
            "preemptible" => self.preemptible = one()? != 0,
            "entries" => self.entries = list()?,
            "stubs" => self.stubs = ranges()?,
            "schedule" => self.schedule = list()?,
            "points" => self.points = list()?,
            "bystanders" => self.bystanders = ranges()?,
            "leaving" => self.leaving = ranges()?,
            _ => return None,
        }
        Some(())
    }
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

fn range(text: &str) -> Option<Range<u64>> {
    let (from, to) = text.split_once('-')?;
    Some(hex(from)?..hex(to)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_back() {
        let facts = Facts {
            preempt_offset: 0x1f948,
            preempt_virtual: 0xffff_8880_0fc1_f948,
            preempt_physical: 0xfc1_f948,
            count_is_long: true,
            current_offset: 0x1f940,
            tasks: TaskPlaces {
                current: 0xfc1_f940,
                direct_map: 0xffff_8880_0000_0000,
                pid: 0x9a0,
                comm: 0xbc0,
                stack: 0x20,
                preempt_count: 0xfc1_f948,
                page_table: 0x261_0000,
                per_cpu: 8,
                image: 0xffff_ffff_8000_0000,
                page_bits: 12,
                regs: 0,
            },
            prio: 0x6c,
            resched_mask: 8,
            preemptible: true,
            entries: vec![0xffff_ffff_8100_0000, 1],
            stubs: vec![16..32, 48..64],
            schedule: vec![5],
            points: vec![],
            bystanders: vec![1..2, 3..4],
            leaving: vec![5..6, 7..9],
        };
        assert_eq!(facts.to_string().parse(), Ok(facts));
        assert!("entries x".parse::<Facts>().unwrap_err().to_string().contains("line 1"));
        assert!("nothing 1".parse::<Facts>().is_err());
    }
}
