//! The table of tracepoints: what each reports and which purposes use it.

use crate::events::{ARGUMENTS, CallbackKind, CpuContext, TracedChange, TracedThread};
use crate::format::RecordFields;
use crate::purpose::Purpose;
use worstcase_contract::Nanos;

/// Makes a change from a record's fields, in the order in which the row names them; `None` if the record is too short.
pub type MakeChange = fn(RecordFields<'_>) -> Option<TracedChange>;

/// A tracepoint.
pub struct TracePointRow {
    /// `system/name`.
    pub name: &'static str,
    /// There is no trace without it; other tracepoints may be missing in a kernel.
    pub needed: bool,
    /// The fields that are read.
    pub fields: &'static [&'static str],
    /// What a record tells.
    pub make: MakeChange,
    /// For which purposes, and how.
    pub uses: &'static [TracePointUse],
}

/// How a tracepoint is used for a purpose.
#[derive(Clone, Copy)]
pub struct TracePointUse {
    /// The purposes for which it is used.
    pub of: fn(&Purpose) -> bool,
    /// Which records are wanted.
    pub passes: RecordFilter,
    /// With the kernel's call chain.
    pub chain: bool,
}

/// The records that the kernel keeps.
#[derive(Clone, Copy)]
pub enum RecordFilter {
    /// All.
    All,
    /// One of these fields is one of the purpose's threads.
    Threads(&'static [&'static str]),
    /// The field is one of the purpose's CPUs.
    Cpus(&'static str),
    /// The same, and this expression holds.
    CpusIf(&'static str, &'static str),
    /// Made by the purpose's threads, or by those that they start: its counters belong to these threads.
    Program,
}

/// The use for a purpose that gets every record.
const fn every(of: fn(&Purpose) -> bool) -> TracePointUse {
    TracePointUse {
        of,
        passes: RecordFilter::All,
        chain: false,
    }
}

const fn filtered(of: fn(&Purpose) -> bool, passes: RecordFilter) -> TracePointUse {
    TracePointUse { passes, ..every(of) }
}

/// The use for the threads of the program that is followed.
const fn of_program() -> TracePointUse {
    filtered(follow, RecordFilter::Program)
}

impl TracePointUse {
    const fn with_chain(self) -> TracePointUse {
        TracePointUse { chain: true, ..self }
    }
}

const fn response(purpose: &Purpose) -> bool {
    matches!(purpose, Purpose::Response { .. })
}

const fn recorder(purpose: &Purpose) -> bool {
    matches!(purpose, Purpose::Recorder { .. })
}

const fn noise(purpose: &Purpose) -> bool {
    matches!(purpose, Purpose::Noise)
}

const fn entries(purpose: &Purpose) -> bool {
    matches!(purpose, Purpose::Entries)
}

const fn sends(purpose: &Purpose) -> bool {
    matches!(purpose, Purpose::Sends { .. })
}

const fn follow(purpose: &Purpose) -> bool {
    matches!(purpose, Purpose::Follow { .. })
}

const fn any_but_sends(purpose: &Purpose) -> bool {
    !sends(purpose)
}

/// Purposes that need interrupts.
pub const fn interrupts(purpose: &Purpose) -> bool {
    noise(purpose) || recorder(purpose) || entries(purpose) || follow(purpose)
}

const fn timer_functions(purpose: &Purpose) -> bool {
    recorder(purpose) || entries(purpose) || follow(purpose)
}

/// Reports who calls a function on another CPU; since Linux 6.5.
pub const CALLS: &str = "csd/csd_queue_cpu";
/// Reports who sends an interrupt; since Linux 6.4.
pub const SENDS: &str = "ipi/ipi_send_cpu";

/// The states in which a thread waits: all bits below TASK_REPORT_MAX. A preempted thread has that bit or none.
const WAITS: i64 = 0xff;
/// The state of a CPU that leaves an idle state (PWR_EVENT_EXIT).
const NO_STATE: u32 = u32::MAX;
/// The system of the tracepoints of idle states and frequencies.
const POWER: &str = "power/";
/// Flag of clone(2): the new thread belongs to the same process (CLONE_THREAD).
const THREAD: i64 = 0x10000;

/// All tracepoints but those of `irq_vectors`, which differ from kernel to kernel. The timer's are here, because
/// nothing works without them.
pub const TABLE: &[TracePointRow] = &[
    TracePointRow {
        name: "irq_vectors/local_timer_entry",
        needed: true,
        fields: &[],
        make: |_| Some(TracedChange::Enter(CpuContext::Timer)),
        uses: &[
            every(|purpose| any_but_sends(purpose) && !recorder(purpose)),
            every(recorder).with_chain(),
        ],
    },
    TracePointRow {
        name: "irq_vectors/local_timer_exit",
        needed: true,
        fields: &[],
        make: |_| Some(TracedChange::Exit(CpuContext::Timer)),
        uses: &[every(any_but_sends)],
    },
    TracePointRow {
        name: "sched/sched_switch",
        needed: true,
        fields: &[
            "prev_pid",
            "prev_prio",
            "prev_comm",
            "prev_state",
            "next_pid",
            "next_prio",
            "next_comm",
        ],
        make: |f| {
            Some(TracedChange::Switch {
                from: thread(f, 0)?,
                asleep: f.number(3)? & WAITS != 0,
                to: thread(f, 4)?,
            })
        },
        uses: &[
            filtered(response, RecordFilter::Threads(&["prev_pid", "next_pid"])),
            every(interrupts),
        ],
    },
    TracePointRow {
        name: "sched/sched_waking",
        needed: true,
        fields: &["pid"],
        make: |f| {
            Some(TracedChange::Waking {
                tid: f.number(0)? as u32,
            })
        },
        uses: &[
            filtered(
                |purpose| response(purpose) || recorder(purpose),
                RecordFilter::Threads(&["pid"]),
            ),
            filtered(sends, RecordFilter::Cpus("target_cpu")).with_chain(),
            every(follow),
        ],
    },
    TracePointRow {
        name: "sched/sched_migrate_task",
        needed: false,
        fields: &["pid", "dest_cpu"],
        make: |f| {
            Some(TracedChange::Migrate {
                tid: f.number(0)? as u32,
                to: f.number(1)? as u32,
            })
        },
        uses: &[every(recorder)],
    },
    TracePointRow {
        name: "irq/irq_handler_entry",
        needed: false,
        fields: &["irq", "name"],
        make: |f| {
            Some(TracedChange::Enter(CpuContext::Device {
                irq: f.number(0)? as u32,
                name: f.name(1).unwrap_or_default(),
            }))
        },
        uses: &[every(interrupts)],
    },
    TracePointRow {
        name: "irq/irq_handler_exit",
        needed: false,
        fields: &["irq"],
        make: |f| {
            Some(TracedChange::Exit(CpuContext::Device {
                irq: f.number(0)? as u32,
                name: Default::default(),
            }))
        },
        uses: &[every(interrupts)],
    },
    TracePointRow {
        name: "irq/softirq_entry",
        needed: false,
        fields: &["vec"],
        make: |f| Some(TracedChange::Enter(CpuContext::Soft(f.number(0)? as u8))),
        uses: &[every(interrupts)],
    },
    TracePointRow {
        name: "irq/softirq_exit",
        needed: false,
        fields: &["vec"],
        make: |f| Some(TracedChange::Exit(CpuContext::Soft(f.number(0)? as u8))),
        uses: &[every(interrupts)],
    },
    TracePointRow {
        name: "nmi/nmi_handler",
        needed: false,
        fields: &["delta_ns"],
        make: |f| {
            Some(TracedChange::Nmi {
                length: Nanos(f.number(0)? as u64),
            })
        },
        uses: &[every(interrupts)],
    },
    TracePointRow {
        name: "timer/hrtimer_expire_entry",
        needed: false,
        fields: &["hrtimer", "function"],
        make: |f| Some(TracedChange::Enter(timer_function(f.number(0)?, f.number(1)?))),
        uses: &[every(timer_functions)],
    },
    TracePointRow {
        name: "timer/hrtimer_expire_exit",
        needed: false,
        fields: &["hrtimer"],
        make: |f| Some(TracedChange::Exit(timer_function(f.number(0)?, 0))),
        uses: &[every(timer_functions)],
    },
    TracePointRow {
        name: "timer/timer_expire_entry",
        needed: false,
        fields: &["timer", "function"],
        make: |f| Some(TracedChange::Enter(timer_function(f.number(0)?, f.number(1)?))),
        uses: &[every(entries)],
    },
    TracePointRow {
        name: "timer/timer_expire_exit",
        needed: false,
        fields: &["timer"],
        make: |f| Some(TracedChange::Exit(timer_function(f.number(0)?, 0))),
        uses: &[every(entries)],
    },
    TracePointRow {
        name: "timer/tick_stop",
        needed: false,
        fields: &["success", "dependency"],
        make: |f| {
            Some(TracedChange::Tick {
                stops: f.number(0)? != 0,
                needed_by: f.number(1)? as u32,
            })
        },
        uses: &[every(entries)],
    },
    TracePointRow {
        name: "csd/csd_function_entry",
        needed: false,
        fields: &["csd", "func"],
        make: |f| begin(CallbackKind::Call, f.number(0)?, f.number(1)?),
        uses: &[every(entries)],
    },
    TracePointRow {
        name: "csd/csd_function_exit",
        needed: false,
        fields: &["csd"],
        make: |f| end(CallbackKind::Call, f.number(0)?),
        uses: &[every(entries)],
    },
    TracePointRow {
        name: "workqueue/workqueue_execute_start",
        needed: false,
        fields: &["work", "function"],
        make: |f| begin(CallbackKind::Work, f.number(0)?, f.number(1)?),
        uses: &[every(entries)],
    },
    TracePointRow {
        name: "workqueue/workqueue_execute_end",
        needed: false,
        fields: &["work"],
        make: |f| end(CallbackKind::Work, f.number(0)?),
        uses: &[every(entries)],
    },
    TracePointRow {
        name: "rcu/rcu_invoke_callback",
        needed: false,
        fields: &["rhp", "func"],
        make: |f| begin(CallbackKind::RcuCallback, f.number(0)?, f.number(1)?),
        uses: &[every(entries)],
    },
    TracePointRow {
        name: "exceptions/page_fault_user",
        needed: false,
        fields: &[],
        make: |_| Some(TracedChange::PageFault),
        uses: &[every(entries), of_program()],
    },
    TracePointRow {
        name: "exceptions/page_fault_kernel",
        needed: false,
        fields: &[],
        make: |_| Some(TracedChange::PageFault),
        uses: &[of_program()],
    },
    TracePointRow {
        name: "lock/contention_begin",
        needed: false,
        fields: &[],
        make: |_| Some(TracedChange::LockWait),
        uses: &[of_program()],
    },
    TracePointRow {
        name: "lock/contention_end",
        needed: false,
        fields: &[],
        make: |_| Some(TracedChange::LockTaken),
        uses: &[of_program()],
    },
    TracePointRow {
        name: "signal/signal_deliver",
        needed: false,
        fields: &["sig", "sa_handler"],
        make: |f| {
            Some(TracedChange::SignalTaken {
                signal: f.number(0)? as u32,
                // SIG_DFL is 0, SIG_IGN 1.
                has_handler: f.number(1)? as u64 > 1,
            })
        },
        uses: &[of_program()],
    },
    TracePointRow {
        name: "signal/signal_generate",
        needed: false,
        fields: &["pid", "sig"],
        make: |f| {
            Some(TracedChange::SignalSent {
                tid: f.number(0)? as u32,
                signal: f.number(1)? as u32,
            })
        },
        uses: &[every(follow)],
    },
    TracePointRow {
        name: "irq/softirq_raise",
        needed: false,
        fields: &["vec"],
        make: |f| {
            Some(TracedChange::Raise {
                vector: f.number(0)? as u8,
            })
        },
        uses: &[every(follow)],
    },
    TracePointRow {
        name: "timer/hrtimer_start",
        needed: true,
        fields: &["hrtimer", "function", "softexpires", "expires"],
        make: |f| {
            Some(TracedChange::TimerSet {
                timer: f.number(0)? as u64,
                function: f.number(1)? as u64,
                earliest: Nanos(f.number(2)? as u64),
                latest: Nanos(f.number(3)? as u64),
            })
        },
        uses: &[every(follow)],
    },
    TracePointRow {
        name: "raw_syscalls/sys_enter",
        needed: false,
        fields: &["id", "args"],
        make: |f| {
            let mut arguments = [0; ARGUMENTS];
            for (nth, argument) in arguments.iter_mut().enumerate() {
                *argument = f.word(1, nth)?;
            }
            Some(TracedChange::SysEnter {
                call: f.number(0)? as u32,
                arguments,
            })
        },
        uses: &[filtered(recorder, RecordFilter::Threads(&["common_pid"])), of_program()],
    },
    TracePointRow {
        name: "raw_syscalls/sys_exit",
        needed: false,
        fields: &["id", "ret"],
        make: |f| {
            Some(TracedChange::SysExit {
                call: f.number(0)? as u32,
                result: f.number(1)?,
            })
        },
        uses: &[filtered(recorder, RecordFilter::Threads(&["common_pid"])), of_program()],
    },
    TracePointRow {
        name: CALLS,
        needed: false,
        fields: &["cpu", "csd", "func"],
        make: |f| {
            Some(TracedChange::Calls {
                cpu: f.number(0)? as u32,
                call: f.number(1)? as u64,
                function: f.number(2)? as u64,
            })
        },
        uses: &[filtered(sends, RecordFilter::Cpus("cpu")).with_chain()],
    },
    TracePointRow {
        name: SENDS,
        needed: false,
        fields: &["cpu"],
        make: |f| {
            Some(TracedChange::Sends {
                cpu: f.number(0)? as u32,
            })
        },
        uses: &[filtered(sends, RecordFilter::CpusIf("cpu", "callback == 0")).with_chain()],
    },
    TracePointRow {
        name: "workqueue/workqueue_queue_work",
        needed: false,
        fields: &["work"],
        make: |f| {
            Some(TracedChange::Queues {
                work: f.number(0)? as u64,
            })
        },
        uses: &[every(sends).with_chain()],
    },
    TracePointRow {
        name: "task/task_newtask",
        needed: false,
        fields: &["pid", "comm", "clone_flags"],
        make: |f| {
            Some(TracedChange::Named {
                tid: f.number(0)? as u32,
                name: f.name(1)?,
                is_new: Some(f.number(2)? & THREAD != 0),
            })
        },
        uses: &[every(|purpose| sends(purpose) || follow(purpose))],
    },
    TracePointRow {
        name: "task/task_rename",
        needed: false,
        fields: &["pid", "newcomm"],
        make: |f| {
            Some(TracedChange::Named {
                tid: f.number(0)? as u32,
                name: f.name(1)?,
                is_new: None,
            })
        },
        uses: &[every(|purpose| sends(purpose) || follow(purpose))],
    },
    TracePointRow {
        name: "power/cpu_idle",
        needed: false,
        fields: &["state"],
        make: |f| {
            let state = f.number(0)? as u32;
            Some(TracedChange::IdleState {
                state: (state != NO_STATE).then_some(state),
            })
        },
        uses: &[every(follow)],
    },
    TracePointRow {
        name: "power/cpu_frequency",
        needed: false,
        fields: &["state", "cpu_id"],
        make: |f| {
            Some(TracedChange::Frequency {
                khz: f.number(0)? as u32,
                cpu: f.number(1)? as u32,
            })
        },
        uses: &[every(follow)],
    },
];

/// The instances of the kernel's trace by which a program is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowInstance {
    /// What every thread does.
    All,
    /// What the program's threads do.
    Program,
}

impl FollowInstance {
    /// Both.
    pub const BOTH: [FollowInstance; 2] = [FollowInstance::All, FollowInstance::Program];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            FollowInstance::All => "all",
            FollowInstance::Program => "program",
        }
    }
}

/// The tracepoints of the table by which a program is followed; [`VECTORS`] are in `All`.
pub fn followed() -> impl Iterator<Item = (FollowInstance, &'static TracePointRow)> {
    let purpose = Purpose::Follow { tids: Vec::new() };
    TABLE.iter().filter_map(move |row| {
        let used = row.uses.iter().find(|used| (used.of)(&purpose))?;
        match used.passes {
            RecordFilter::Program => Some((FollowInstance::Program, row)),
            _ => Some((FollowInstance::All, row)),
        }
    })
}

/// The same in the lab, whose machines have neither idle states nor frequencies.
pub fn followed_in_lab() -> impl Iterator<Item = (FollowInstance, &'static TracePointRow)> {
    followed().filter(|(_, row)| !row.name.starts_with(POWER))
}

/// The system of the tracepoints of interrupt vectors.
pub const VECTORS: &str = "irq_vectors";

/// What a tracepoint of [`VECTORS`], without that word, tells; the timer's has a row in the table.
pub fn of_vector(name: &str) -> Option<TracedChange> {
    let context = |stem: &str| CpuContext::Vector(stem.into());
    match (name.strip_suffix("_entry"), name.strip_suffix("_exit")) {
        (Some("local_timer"), _) | (_, Some("local_timer")) => None,
        (Some(stem), _) => Some(TracedChange::Enter(context(stem))),
        (_, Some(stem)) => Some(TracedChange::Exit(context(stem))),
        _ => None,
    }
}

/// A thread's id, priority and name, beginning with this field.
fn thread(f: RecordFields<'_>, from: usize) -> Option<TracedThread> {
    Some(TracedThread {
        tid: f.number(from)? as u32,
        priority: f.number(from + 1)? as i32,
        comm: f.name(from + 2)?,
    })
}

fn timer_function(timer: i64, function: i64) -> CpuContext {
    CpuContext::TimerFunction {
        timer: timer as u64,
        function: function as u64,
    }
}

fn begin(part: CallbackKind, of: i64, function: i64) -> Option<TracedChange> {
    Some(TracedChange::Begin {
        part,
        of: of as u64,
        function: function as u64,
    })
}

fn end(part: CallbackKind, of: i64) -> Option<TracedChange> {
    Some(TracedChange::End { part, of: of as u64 })
}
