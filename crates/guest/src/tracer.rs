//! Where the code of the kernel's tracer is, and code that it shares with the rest of the kernel.
//!
//! kernel/trace is linked in one piece, so what lies between its functions is its own. The functions that write one event each
//! lie where the event is.

use std::fmt::Write;
use std::ops::Range;

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
const ELSEWHERE: [&str; 7] = [
    "trace_event_raw_event_",
    "__traceiter_",
    "__trace_trigger_soft_disabled",
    "ktime_get_mono_fast_ns",
    "syscall_trace_enter",
    "syscall_exit_work",
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

/// Ranges of addresses, as the plugin takes them.
pub(crate) struct TracerCode {
    /// The tracer's own.
    pub(crate) own: String,
    /// What it shares.
    pub(crate) shared: String,
}

/// Finds both.
pub(crate) fn code(kallsyms: &str) -> TracerCode {
    let functions = functions(kallsyms);
    let spans: Vec<(&str, Range<u64>)> = functions
        .iter()
        .zip(functions.iter().skip(1))
        .map(|(own, next)| (own.1, own.0..next.0))
        .filter(|(_, span)| !span.is_empty())
        .collect();
    let is_shared = |name: &str| SHARED.iter().any(|begin| name.starts_with(begin));
    let shared = spans.iter().filter(|(name, _)| is_shared(name)).map(|(_, span)| span);
    TracerCode {
        own: own(&spans),
        shared: listed(shared),
    }
}

fn own(spans: &[(&str, Range<u64>)]) -> String {
    let own = spans.iter().filter(|(name, _)| WITHIN.contains(name));
    let own: Vec<&Range<u64>> = own.map(|(_, span)| span).collect();
    let first = own.iter().map(|span| span.start).min();
    let last = own.iter().map(|span| span.end).max();
    let whole = first.zip(last).map(|(first, last)| first..last);
    let whole = whole.filter(|whole| whole.end - whole.start < LARGEST);
    let elsewhere = spans
        .iter()
        .filter(|(name, _)| is_elsewhere(name))
        .map(|(_, span)| span);
    listed(whole.iter().chain(elsewhere))
}

fn listed<'a>(ranges: impl Iterator<Item = &'a Range<u64>>) -> String {
    let mut text = String::new();
    for range in ranges {
        let plus = if text.is_empty() { "" } else { "+" };
        write!(text, "{plus}{:#x}-{:#x}", range.start, range.end).expect("writing to a string");
    }
    text
}

fn is_elsewhere(name: &str) -> bool {
    ELSEWHERE.iter().any(|begin| {
        name.strip_prefix(begin).is_some_and(|rest| {
            let is_of_event = begin.ends_with("event_") || *begin == "__traceiter_";
            !is_of_event || EVENTS.iter().any(|event| rest.starts_with(event))
        })
    })
}

/// The kernel's own functions by address.
fn functions(kallsyms: &str) -> Vec<(u64, &str)> {
    let mut functions: Vec<(u64, &str)> = kallsyms
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (address, kind, name) = (words.next()?, words.next()?, words.next()?);
            let is_code = matches!(kind, "t" | "T" | "w" | "W") && words.next().is_none();
            Some((u64::from_str_radix(address, 16).ok()?, name)).filter(|_| is_code)
        })
        .collect();
    functions.sort_unstable();
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    const KALLSYMS: &str = "\
1000 t trace_event_raw_event_sched_switch
1100 t trace_event_raw_event_ext4_sync_file
1200 T __schedule
1800 t syscall_trace_enter.constprop.0
2000 T trace_clock_local
2100 t rb_commit
2200 T event_triggers_call
2300 T bpf_prog_run
2400 T srso_return_thunk
2410 T srso_safe_ret
2420 T start_thread
3000 D ring_buffer_lock_reserve
4000 t trace_event_raw_event_sched_x\t[m]
";

    #[test]
    fn the_tracer_is_one_piece_and_the_functions_of_events() {
        assert_eq!(code(KALLSYMS).own, "0x2000-0x2300+0x1000-0x1100+0x1800-0x2000");
        assert_eq!(code(KALLSYMS).shared, "0x2400-0x2410+0x2410-0x2420");
    }

    #[test]
    fn pieces_that_are_too_far_apart_are_left_out() {
        let far = KALLSYMS.replace("2200", "90000000").replace("2300", "90000100");
        assert_eq!(code(&far).own, "0x1000-0x1100+0x1800-0x2000");
        assert_eq!(code("").own, "");
    }
}
