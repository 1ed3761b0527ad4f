//! The interrupts, soft interrupts and timer functions that are open on a CPU, one within the other.

use crate::events::CpuContext;
use std::collections::BTreeMap;

/// Limit for threads that were switched out within a context, as PREEMPT_RT does within soft interrupts.
const SUSPENDED: usize = 64;

/// Those that are open now, innermost last, and those of threads that were switched out within them.
#[derive(Debug, Default)]
pub struct OpenContexts {
    open: Vec<CpuContext>,
    suspended: BTreeMap<u32, Vec<CpuContext>>,
}

impl OpenContexts {
    /// All that are open, innermost last.
    pub fn all(&self) -> &[CpuContext] {
        &self.open
    }

    /// The innermost one.
    pub fn innermost(&self) -> Option<CpuContext> {
        self.open.last().copied()
    }

    /// One begins.
    pub fn enter(&mut self, context: CpuContext) {
        self.open.push(context);
    }

    /// One ends, with all that are open within it. False if it is not open: it began before the first event, or in a loss.
    pub fn leave(&mut self, context: &CpuContext) -> bool {
        let depth = self.open.iter().rposition(|open| open.is_same(context));
        if let Some(depth) = depth {
            self.open.truncate(depth);
        }
        depth.is_some()
    }

    /// The CPU goes over from one thread to another: each has its own.
    pub fn switch(&mut self, from: u32, to: u32) {
        let open = std::mem::take(&mut self.open);
        if !open.is_empty() && self.suspended.len() < SUSPENDED {
            self.suspended.insert(from, open);
        }
        self.open = self.suspended.remove(&to).unwrap_or_default();
    }

    /// It is not known which are open.
    pub fn forget_open(&mut self) {
        self.open.clear();
    }

    /// Nor of any thread.
    pub fn forget(&mut self) {
        self.open.clear();
        self.suspended.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOFT: CpuContext = CpuContext::Soft(3);

    #[test]
    fn an_end_ends_what_is_open_within() {
        let mut contexts = OpenContexts::default();
        contexts.enter(CpuContext::Timer);
        contexts.enter(SOFT);
        assert!(contexts.leave(&CpuContext::Timer));
        assert_eq!(contexts.all(), []);
        assert!(!contexts.leave(&SOFT));
    }

    #[test]
    fn a_thread_that_comes_back_is_in_its_soft_interrupt_again() {
        let mut contexts = OpenContexts::default();
        contexts.enter(SOFT);
        contexts.switch(1, 2);
        assert_eq!(contexts.innermost(), None);
        contexts.switch(2, 1);
        assert_eq!(contexts.innermost(), Some(SOFT));
        contexts.switch(1, 2);
        contexts.forget();
        contexts.switch(2, 1);
        assert_eq!(contexts.innermost(), None);
    }
}
