//! Sections that do a counted piece of work again and again: their length grows with a number that the load decides, so that
//! no run has seen the longest.

use super::top::OwnedSection;
use serde::Serialize;

/// A function of the kernel that works through everything that there is, without letting a wake-up in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LoadCounted {
    /// The function.
    pub function: &'static str,
    /// What it works through, in plural.
    pub what: &'static str,
}

/// The functions of the kernels that the lab boots, 5.10 to 7.3.
const COUNTED: [LoadCounted; 16] = [
    counted("rcu_do_batch", "RCU callbacks that are due"),
    counted("free_pcppages_bulk", "pages in a CPU's list of free pages"),
    counted("__rmqueue_pcplist", "pages that a CPU's list is filled with"),
    counted("rmqueue_bulk", "pages that a CPU's list is filled with"),
    counted("tlb_remove_table_rcu", "page tables that are freed together"),
    counted("reclaim_list_global", "areas of vmalloc that were freed"),
    counted("purge_vmap_node", "areas of vmalloc that were freed"),
    counted("__purge_vmap_area_lazy", "areas of vmalloc that were freed"),
    counted("vmalloc_info_show", "areas of vmalloc"),
    counted("__hrtimer_run_queues", "timers that are due at once"),
    counted("__run_timers", "timers that are due at once"),
    counted("__wake_up_common", "waiters"),
    counted("__udp4_lib_mcast_deliver", "sockets of one address"),
    counted("seccomp_cache_prepare_bitmap", "instructions of a system call filter"),
    counted("do_seccomp", "instructions of a system call filter"),
    counted("timer_list_show", "timers that are set"),
];

const fn counted(function: &'static str, what: &'static str) -> LoadCounted {
    LoadCounted { function, what }
}

impl OwnedSection {
    /// The counted work that it is about: that of the innermost function of the table on the calls that most of it has in
    /// common, else of one that took most of it itself, or called what did.
    pub fn counted(&self) -> Option<LoadCounted> {
        let common = self.common.iter().rev().map(|frame| frame.function.as_str());
        let ends = [&self.from, &self.to].map(String::as_str);
        // At the head of the list stands what took most.
        let most = self.functions.first().into_iter();
        let most = most.flat_map(|share| [Some(share.function.as_str()), share.caller.as_deref()]);
        common.chain(most.flatten()).chain(ends).find_map(counted_work)
    }
}

/// The row of a function, whatever the compiler made of it.
pub(crate) fn counted_work(function: &str) -> Option<LoadCounted> {
    let name = function.split('.').next().unwrap_or(function);
    COUNTED.iter().find(|row| row.function == name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breakdown::spans::FunctionShare;
    use crate::breakdown::stacks::{FrameKind, StackFrame};
    use crate::census::testing::owned;
    use worstcase_contract::Nanos;

    #[test]
    fn work_is_known_by_the_calls_in_common_and_by_what_took_most() {
        let whose = |section: &OwnedSection| section.counted().map(|row| row.function);
        assert_eq!(whose(&owned("free_pages", "shm_close", 9_000)), None);
        assert_eq!(
            whose(&owned("free_pcppages_bulk", "free_unref_page_list", 9_000)),
            Some("free_pcppages_bulk")
        );
        let mut section = owned("a", "b", 9_000);
        section.functions = vec![FunctionShare {
            function: "__free_one_page".into(),
            caller: Some("free_pcppages_bulk.constprop.0".into()),
            total_ns: Nanos(8_000),
            self_ns: Nanos(8_000),
        }];
        assert_eq!(whose(&section), Some("free_pcppages_bulk"));
        section.common = ["handle_softirqs", "rcu_do_batch", "inode_free"]
            .map(|function| StackFrame {
                function: function.into(),
                module: None,
                kind: FrameKind::Function,
                source: None,
            })
            .to_vec();
        assert_eq!(whose(&section), Some("rcu_do_batch"));
    }
}
