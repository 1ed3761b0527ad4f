//! Records what was executed as intervals, cut where the interrupt flag changes.

use super::walk::Walker;
use super::{FrameEvent, StackInterval};
use crate::breakdown::decode::Flag;
use crate::breakdown::stacks::FrameKind;
use worstcase_plan::Arch;

impl Walker<'_, '_> {
    /// Writes the executed instructions down, cut where the interrupt flag changes.
    pub(super) fn emit(&mut self, block: usize, start: u64, end: u64, executed: usize) {
        let mut from = start;
        let decoded = &self.blocks[block];
        for &(number, flag) in &decoded.flags {
            if number >= executed {
                break;
            }
            let after = (start + number as u64 + 1).min(end);
            self.interval(from, after);
            from = after;
            self.here = decoded.starts[number];
            self.change_flag(flag, after);
        }
        self.interval(from, end);
    }

    pub(super) fn change_flag(&mut self, flag: Flag, count: u64) {
        let before = self.irqs;
        self.irqs = match flag {
            Flag::Off => {
                self.clis.push(before);
                Some(false)
            }
            Flag::On => {
                self.clis.clear();
                Some(true)
            }
            Flag::Restored => self.clis.pop().unwrap_or_else(|| self.inherited().unwrap_or(before)),
        };
        match self.irqs {
            Some(false) if before != Some(false) => self.mark(count, FrameEvent::IrqsOff),
            Some(true) if before != Some(true) => self.mark(count, FrameEvent::IrqsOn),
            _ => {}
        }
    }

    /// What the flag was before the fault that a kernel of arm64 handles: its handler goes on with that.
    fn inherited(&self) -> Option<Option<bool>> {
        let entry = self.thread.frames.iter().rev().find(|f| f.kind.is_entry())?;
        (self.names.arch() == Arch::Arm64 && entry.kind == FrameKind::Exception).then_some(entry.irqs)
    }

    pub(super) fn interval(&mut self, start: u64, end: u64) {
        let Some((stack, site)) = self.thread.top().map(|f| (f.node, f.site)) else {
            return;
        };
        if start >= end {
            return;
        }
        let (irqs, pid) = (self.irqs, self.pid);
        match self.walk.intervals.last_mut() {
            Some(last) if last.stack == stack && last.irqs == irqs && last.pid == pid && last.end == start => {
                last.end = end;
            }
            _ => self.walk.intervals.push(StackInterval {
                start,
                end,
                stack,
                site,
                irqs,
                pid,
            }),
        }
    }
}
