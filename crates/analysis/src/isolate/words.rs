//! Causes and senders in words.

use crate::breakdown::roles::{FunctionRole, innermost_call, is_way_to_cpus, role};
use std::collections::BTreeMap;
use worstcase_host::isolate::{EntryCause, EntrySender};
use worstcase_host::trace::{CpuContext, ShortName};
use worstcase_lab::execution::Symbols;

/// Kinds of causes: what `--exclude` takes, beside names of functions, devices and threads.
pub const KINDS: [(&str, &str); 14] = [
    ("tick", "the scheduler's tick"),
    ("timer", "timer interrupts for other timers"),
    ("call", "functions that other CPUs call here"),
    ("reschedule", "interrupts after which a thread is chosen"),
    ("irq-work", "work that runs in an interrupt of its own"),
    ("vector", "other interrupts of the processor"),
    ("device", "interrupts of devices"),
    ("soft", "soft interrupts"),
    ("work", "work items of workqueues"),
    ("thread", "other threads"),
    ("fault", "page faults of the CPU's own program"),
    ("nmi", "non-maskable interrupts"),
    ("smi", "interrupts of the firmware"),
    ("steal", "time that the hypervisor takes"),
];

/// The functions of the tick: `tick_nohz_handler` from Linux 6.9 on.
const TICKS: [&str; 4] = [
    "tick_sched_timer",
    "tick_nohz_handler",
    "tick_handle_periodic",
    "tick_nohz_lowres_handler",
];

/// Begins of functions on the way from code that wants a thread or work to run to the code that makes it run.
const WAY: [&str; 35] = [
    "__flush_smp",
    "__mod_timer",
    "__queue_",
    "__resched_curr",
    "__smp_call",
    "__swait",
    "__traceiter_",
    "__ttwu",
    "__wake_up",
    "activate_task",
    "autoremove_wake",
    "check_preempt",
    "complete",
    "default_wake",
    "do_perf_",
    "enqueue_",
    "ep_autoremove_wake",
    "ep_poll_callback",
    "insert_work",
    "kick_pool",
    "kthread_queue_work",
    "mod_delayed_work",
    "perf_",
    "pollwake",
    "queue_delayed_work",
    "queue_work",
    "resched_curr",
    "select_task_rq",
    "swake_up",
    "trace_",
    "try_to_wake_up",
    "ttwu_",
    "update_curr",
    "wake_",
    "wakeup_preempt",
];

/// Functions that call those of timers. If one of them is innermost, the timer's function has jumped away.
const TIMERS: [&str; 4] = ["__hrtimer_run_queues", "__run_timers", "call_timer_fn", "expire_timers"];

/// A cause in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CauseText {
    /// One of [`KINDS`].
    pub(crate) kind: &'static str,
    /// The cause as readers see it.
    pub(crate) text: String,
    /// The function, device or thread in it.
    pub(crate) name: Option<String>,
    /// The duration is known.
    pub(crate) is_timed: bool,
}

/// Gives names to addresses.
pub(crate) struct AddressNames<'a> {
    pub(crate) names: &'a Symbols,
    /// The call chains of senders, by number.
    pub(crate) chains: &'a [Vec<u64>],
}

impl AddressNames<'_> {
    fn function(&self, address: u64) -> Option<String> {
        let found = (address != 0).then(|| self.names.lookup(address).map(|s| s.name.clone()));
        found.map(|name| name.unwrap_or_else(|| format!("{address:#x}")))
    }

    /// The cause in words.
    pub(crate) fn cause(&self, cause: &EntryCause) -> CauseText {
        let told = |kind, lead: &str, name: Option<String>| CauseText {
            kind,
            text: match &name {
                Some(name) => format!("{lead}: {name}"),
                None => lead.to_string(),
            },
            name,
            is_timed: true,
        };
        match cause {
            EntryCause::Timer { function } => {
                let name = self.function(*function);
                let is_tick = name.as_ref().is_some_and(|name| TICKS.contains(&name.as_str()));
                told(if is_tick { "tick" } else { "timer" }, "timer interrupt", name)
            }
            EntryCause::Call { function } => told("call", "call from another CPU", self.function(*function)),
            EntryCause::Reschedule => told("reschedule", "reschedule from another CPU", None),
            EntryCause::IrqWork => CauseText {
                is_timed: false,
                ..told("irq-work", "irq work", None)
            },
            EntryCause::Vector(name) => told("vector", "interrupt", Some(name.to_string())),
            EntryCause::Device { irq, name } => CauseText {
                name: Some(name.to_string()),
                ..told("device", "device interrupt", Some(format!("{irq} {name}")))
            },
            EntryCause::Soft { vector, function } => {
                let lead = format!("soft interrupt {}", CpuContext::Soft(*vector));
                CauseText {
                    name: self.function(*function).or(Some(CpuContext::Soft(*vector).to_string())),
                    ..told("soft", &lead, self.function(*function))
                }
            }
            EntryCause::Thread {
                name: ShortName::EMPTY, ..
            } => told("thread", "thread that has ended", None),
            EntryCause::Thread { name, function: 0 } => CauseText {
                name: Some(name.to_string()),
                ..told("thread", &format!("thread {name}"), None)
            },
            EntryCause::Thread { name, function } => told("work", &format!("thread {name}"), self.function(*function)),
            EntryCause::PageFault => CauseText {
                is_timed: false,
                ..told("fault", "page fault of the program itself", None)
            },
            EntryCause::Nmi => told("nmi", "non-maskable interrupt", None),
        }
    }

    /// A sender's functions, innermost first.
    pub(crate) fn chain(&self, sender: EntrySender) -> Vec<String> {
        let chain = self.chains.get(sender.chain as usize);
        let addresses = chain.into_iter().flatten().filter(|address| !is_marker(**address));
        // A return address may be the first of the next function. Where a probe begins a chain, as on arm, it is none.
        let is_start = |address: u64| self.names.lookup(address).is_some_and(|found| found.address == address);
        let names = addresses.enumerate().filter_map(|(nth, address)| {
            let is_probed = nth == 0 && is_start(*address);
            self.function(address.wrapping_sub(u64::from(!is_probed)))
        });
        names.collect()
    }

    /// `F, T in S(2)`; none if nothing is known.
    pub(crate) fn sender(&self, sender: EntrySender) -> Option<String> {
        let chain = self.chain(sender);
        let is_way = |name: &String| is_way_to_cpus(name) || WAY.iter().any(|start| name.starts_with(start));
        let wanted = chain.iter().find(|name| !is_way(name)).cloned();
        if wanted.as_ref().is_some_and(|name| TIMERS.contains(&name.as_str())) {
            return Some("a timer".into());
        }
        let plays = |roles: &[FunctionRole]| {
            chain
                .iter()
                .any(|name| role(name).is_some_and(|role| roles.contains(&role)))
        };
        let is_interrupt = plays(&[FunctionRole::InterruptEntry, FunctionRole::SoftIrq]);
        let thread = match (is_interrupt, sender.thread.to_string()) {
            // The thread that it interrupted is not to blame.
            (true, _) => "an interrupt".to_string(),
            (_, name) if name.is_empty() => "a thread that has ended".into(),
            (_, name) => name,
        };
        let call = innermost_call(chain.iter().map(String::as_str)).filter(|_| !is_interrupt);
        let call = match call {
            Some(call) => format!(" in {call}(2)"),
            None if !is_interrupt && plays(&[FunctionRole::ExceptionEntry]) => " in a page fault".into(),
            None => String::new(),
        };
        match wanted {
            Some(function) => Some(format!("{function}, {thread}{call}")),
            None => (!sender.thread.to_string().is_empty()).then_some(thread),
        }
    }
}

/// perf puts numbers between the contexts of a chain.
fn is_marker(address: u64) -> bool {
    address >= u64::MAX - 4095
}

/// The dependencies on the tick, by the bits of the kernel's TICK_DEP_MASK.
const NEEDS: [&str; 6] = [
    "posix-timer",
    "perf-events",
    "sched",
    "clock-unstable",
    "rcu",
    "rcu-exp",
];

/// How often the kernel checked whether the tick can stop, by the dependency that needed it.
pub(crate) fn needs(ticks: &BTreeMap<u32, u64>) -> BTreeMap<&'static str, u64> {
    let mut needs = BTreeMap::new();
    for (mask, count) in ticks {
        let bit = NEEDS.get(mask.trailing_zeros() as usize).copied();
        let name = if *mask == 0 { "stopped" } else { bit.unwrap_or("other") };
        *needs.entry(name).or_default() += count;
    }
    needs
}
