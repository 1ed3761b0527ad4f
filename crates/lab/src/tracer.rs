//! Where the code of the kernel's tracer is, and code that it shares with the rest of the kernel.
//!
//! kernel/trace is linked in one piece, so what lies between its functions is its own. The functions that write one event each
//! lie where the event is.

use std::ops::Range;
use worstcase_contract::symbols::SymbolTable;
use worstcase_contract::window::ask::CodeRanges;

/// Functions of kernel/trace, one of each file that events run through.
const WITHIN: [&str; 8] = [
    "trace_clock_local",
    "ring_buffer_lock_reserve",
    "trace_event_buffer_lock_reserve",
    "trace_event_buffer_commit",
    "trace_find_filtered_pid",
    "trace_event_ignore_this_pid",
    "ftrace_syscall_enter",
    "event_triggers_call",
];
/// All of it is less.
const LARGEST: u64 = 2 << 20;
/// What the functions elsewhere begin with.
const ELSEWHERE: [&str; 8] = [
    "trace_event_raw_event_",
    "__traceiter_",
    "__trace_trigger_soft_disabled",
    "ktime_get_mono_fast_ns",
    "syscall_trace_enter",
    "syscall_exit_work",
    "syscall_trace_exit",
    "trace_syscall_",
];
/// Of which events: all that a program is followed by.
const EVENTS: [&str; 12] = [
    "sched_",
    "hrtimer_",
    "timer_",
    "irq_",
    "softirq",
    "sys_",
    "x86_",
    "local_timer_",
    "signal_",
    "cpu",
    "page_fault_",
    "task_",
];

/// Code that the tracer runs through as other code does: how functions are called and return, and what events are written by.
const SHARED: [&str; 12] = [
    "__x86_indirect_",
    "__x86_return_thunk",
    "its_return_thunk",
    "retbleed_return_thunk",
    "srso_",
    "__rcu_read_lock",
    "__rcu_read_unlock",
    "memcpy",
    "__memcpy",
    "strncpy",
    "strscpy",
    "sized_strscpy",
];

/// Where it is.
pub(crate) struct TracerCode {
    /// The tracer's own.
    pub(crate) own: CodeRanges,
    /// What it shares.
    pub(crate) shared: CodeRanges,
}

/// Finds both.
pub(crate) fn code(table: &SymbolTable) -> TracerCode {
    let is_shared = |name: &str| SHARED.iter().any(|begin| name.starts_with(begin));
    let spans = spans(table, |name| {
        WITHIN.contains(&name) || is_elsewhere(name) || is_shared(name)
    });
    let shared = spans.iter().filter(|(name, _)| is_shared(name));
    TracerCode {
        own: own(&spans),
        shared: shared.map(|(_, span)| span.clone()).collect(),
    }
}

fn own(spans: &[(&str, Range<u64>)]) -> CodeRanges {
    let own = spans.iter().filter(|(name, _)| WITHIN.contains(name));
    let own: Vec<&Range<u64>> = own.map(|(_, span)| span).collect();
    let first = own.iter().map(|span| span.start).min();
    let last = own.iter().map(|span| span.end).max();
    let whole = first.zip(last).map(|(first, last)| first..last);
    let whole = whole.filter(|whole| whole.end - whole.start < LARGEST);
    let elsewhere = spans.iter().filter(|(name, _)| is_elsewhere(name));
    let elsewhere = elsewhere.map(|(_, span)| span.clone());
    whole.into_iter().chain(elsewhere).collect()
}

fn is_elsewhere(name: &str) -> bool {
    ELSEWHERE.iter().any(|begin| {
        name.strip_prefix(begin).is_some_and(|rest| {
            let is_of_event = begin.ends_with("event_") || *begin == "__traceiter_";
            !is_of_event || EVENTS.iter().any(|event| rest.starts_with(event))
        })
    })
}

/// The wanted functions of the kernel itself.
fn spans(table: &SymbolTable, is_wanted: impl Fn(&str) -> bool) -> Vec<(&str, Range<u64>)> {
    let of_kernel = table.code().filter(|symbol| symbol.module.is_none());
    let mut code: Vec<(u64, &str)> = of_kernel.map(|symbol| (symbol.address, symbol.name)).collect();
    code.sort_unstable();
    let mut spans = Vec::new();
    for (place, (begin, name)) in code.iter().enumerate().filter(|(_, (_, name))| is_wanted(name)) {
        let mut after = code[place..].iter().map(|(address, _)| *address);
        if let Some(end) = after.find(|address| address > begin) {
            spans.push((*name, *begin..end));
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    const KALLSYMS: &str = "\
0000000000001000 t trace_event_raw_event_sched_switch
0000000000001100 t trace_event_raw_event_ext4_sync_file
0000000000001200 T __schedule
0000000000001800 t syscall_trace_enter.constprop.0
0000000000002000 T trace_clock_local
0000000000002100 t rb_commit
0000000000002200 T event_triggers_call
0000000000002300 T bpf_prog_run
0000000000002400 T srso_return_thunk
0000000000002410 T srso_safe_ret
0000000000002420 T start_thread
0000000000003000 D ring_buffer_lock_reserve
0000000000004000 t trace_event_raw_event_sched_x\t[m]
";

    #[test]
    fn the_tracer_is_one_piece_and_the_functions_of_events() {
        assert_eq!(
            code(&SymbolTable::from_kallsyms(KALLSYMS)).own.to_string(),
            "0x2000-0x2300+0x1000-0x1100+0x1800-0x2000"
        );
        assert_eq!(
            code(&SymbolTable::from_kallsyms(KALLSYMS)).shared.to_string(),
            "0x2400-0x2410+0x2410-0x2420"
        );
    }

    #[test]
    fn pieces_that_are_too_far_apart_are_left_out() {
        let far = KALLSYMS.replace("00002200", "90002200").replace("00002300", "90002300");
        assert_eq!(
            code(&SymbolTable::from_kallsyms(&far)).own.to_string(),
            "0x1000-0x1100+0x1800-0x2000"
        );
        assert_eq!(code(&SymbolTable::from_kallsyms("")).own.to_string(), "");
    }
}
