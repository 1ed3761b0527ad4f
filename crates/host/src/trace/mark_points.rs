//! The tracepoints behind [`super::marks`], and how their records are read.

use super::events::{CpuContext, ShortName, TracedThread};
use super::format::{EventFormat, FieldPlace};
use super::marks::{CallbackKind, EntryMark};
use super::points::Decoder;
use super::probes::Function;
use worstcase_contract::Nanos;

/// Where the fields are that a mark is made from.
#[derive(Clone, Copy, Debug)]
pub enum MarkRecord {
    Fixed(EntryMark),
    Device {
        irq: FieldPlace,
        name: Option<FieldPlace>,
    },
    Soft {
        vector: FieldPlace,
        enters: bool,
    },
    Begin {
        part: CallbackKind,
        of: Option<FieldPlace>,
        function: FieldPlace,
    },
    EndCall {
        call: FieldPlace,
    },
    Switch {
        tid: FieldPlace,
        priority: FieldPlace,
        comm: FieldPlace,
    },
    Nmi {
        length: FieldPlace,
    },
    Tick {
        success: FieldPlace,
        dependency: FieldPlace,
    },
    Calls {
        cpu: FieldPlace,
        call: FieldPlace,
        function: FieldPlace,
    },
    Sends {
        cpu: FieldPlace,
    },
    Wakes {
        tid: FieldPlace,
    },
    Queues {
        work: FieldPlace,
    },
    Named {
        tid: FieldPlace,
        name: FieldPlace,
        flags: Option<FieldPlace>,
    },
    Function(Function),
}

/// clone(2): the new thread is of the same process (CLONE_THREAD).
const THREAD: i64 = 0x10000;

impl Decoder for MarkRecord {
    type Output = EntryMark;

    fn lost(since: Nanos, count: u64) -> EntryMark {
        EntryMark::Lost { since, count }
    }

    fn decode_function(&self, arguments: [u64; 2]) -> Option<EntryMark> {
        match self {
            MarkRecord::Function(function) => Some(function.mark(arguments)),
            _ => None,
        }
    }

    fn decode(&self, record: &[u8]) -> Option<EntryMark> {
        let enter_or_exit = |enters: bool, context| match enters {
            true => EntryMark::Enter(context),
            false => EntryMark::Exit(context),
        };
        let number = |field: &FieldPlace| field.number(record);
        Some(match self {
            MarkRecord::Fixed(mark) => *mark,
            MarkRecord::Function(_) => return None,
            MarkRecord::Device { irq, name } => {
                let text = name.map(|f| f.text(record).unwrap_or_default()).unwrap_or_default();
                let (irq, enters) = (number(irq)? as u32, name.is_some());
                let name = ShortName::new(text);
                enter_or_exit(enters, CpuContext::Device { irq, name })
            }
            MarkRecord::Soft { vector, enters } => enter_or_exit(*enters, CpuContext::Soft(number(vector)? as u8)),
            MarkRecord::Begin { part, of, function } => EntryMark::Begin {
                part: *part,
                of: of.map_or(Some(0), |f| f.number(record))? as u64,
                function: number(function)? as u64,
            },
            MarkRecord::EndCall { call } => EntryMark::End {
                part: CallbackKind::Call,
                of: number(call)? as u64,
            },
            MarkRecord::Switch { tid, priority, comm } => EntryMark::Switch(TracedThread {
                tid: number(tid)? as u32,
                priority: number(priority)? as i32,
                comm: ShortName::new(comm.text(record)?),
            }),
            MarkRecord::Nmi { length } => EntryMark::Nmi {
                length: Nanos(number(length)? as u64),
            },
            MarkRecord::Tick { success, dependency } => EntryMark::Tick {
                stops: number(success)? != 0,
                needed_by: number(dependency)? as u32,
            },
            MarkRecord::Calls { cpu, call, function } => EntryMark::Calls {
                cpu: number(cpu)? as u32,
                call: number(call)? as u64,
                function: number(function)? as u64,
            },
            MarkRecord::Sends { cpu } => EntryMark::Sends {
                cpu: number(cpu)? as u32,
            },
            MarkRecord::Wakes { tid } => EntryMark::Wakes {
                tid: number(tid)? as u32,
            },
            MarkRecord::Queues { work } => EntryMark::Queues {
                work: number(work)? as u64,
            },
            MarkRecord::Named { tid, name, flags } => EntryMark::Named {
                tid: number(tid)? as u32,
                name: ShortName::new(name.text(record)?),
                is_new: flags.and_then(|f| f.number(record)).map(|flags| flags & THREAD != 0),
            },
        })
    }
}

/// Which tracepoints there are.
pub mod points {
    use super::{CallbackKind, CpuContext, EntryMark, EventFormat, MarkRecord};
    use crate::CpuList;
    use crate::trace::TracingError;
    use crate::trace::perf::CounterSource;
    use crate::trace::points::TracePoint;
    use crate::trace::tracefs::Tracefs;

    /// Tells who calls a function on another CPU; from Linux 6.5 on.
    pub const CALLS: &str = "csd/csd_queue_cpu";
    /// Tells who sends an interrupt; from Linux 6.4 on.
    pub const SENDS: &str = "ipi/ipi_send_cpu";

    /// More CPUs than this are filtered by range.
    const LISTED: usize = 8;

    struct MarkPointFinder<'t> {
        tracefs: &'t Tracefs,
        found: Vec<TracePoint<MarkRecord>>,
    }

    impl MarkPointFinder<'_> {
        fn add(
            &mut self,
            name: &str,
            read: impl FnOnce(&EventFormat) -> Result<MarkRecord, TracingError>,
        ) -> Result<Option<&mut TracePoint<MarkRecord>>, TracingError> {
            let (system, own) = name.split_once('/').unwrap_or((name, ""));
            if !self.tracefs.names(system).iter().any(|n| n == own) {
                return Ok(None);
            }
            let format = EventFormat::parse(name, &self.tracefs.text(&format!("events/{name}/format"))?)?;
            self.found.push(TracePoint {
                name: name.to_string(),
                source: CounterSource::Tracepoint(format.id),
                filter: String::new(),
                chain: false,
                decode: read(&format)?,
            });
            Ok(self.found.last_mut())
        }

        fn needed(
            &mut self,
            name: &'static str,
            read: impl FnOnce(&EventFormat) -> Result<MarkRecord, TracingError>,
        ) -> Result<(), TracingError> {
            match self.add(name, read)? {
                Some(_) => Ok(()),
                None => Err(TracingError::NoTracepoint(name)),
            }
        }

        /// A tracepoint of a sender: with its call chain, and for these CPUs alone.
        fn sender(
            &mut self,
            name: &str,
            filter: String,
            read: impl FnOnce(&EventFormat) -> Result<MarkRecord, TracingError>,
        ) -> Result<(), TracingError> {
            if let Some(point) = self.add(name, read)? {
                (point.filter, point.chain) = (filter, true);
            }
            Ok(())
        }
    }

    /// All that can enter a CPU.
    pub fn entries(tracefs: &Tracefs) -> Result<Vec<TracePoint<MarkRecord>>, TracingError> {
        let mut points = MarkPointFinder {
            tracefs,
            found: Vec::new(),
        };
        points.needed("irq_vectors/local_timer_entry", |_| {
            Ok(MarkRecord::Fixed(EntryMark::Enter(CpuContext::Timer)))
        })?;
        points.needed("sched/sched_switch", |f| {
            Ok(MarkRecord::Switch {
                tid: f.field("next_pid")?,
                priority: f.field("next_prio")?,
                comm: f.field("next_comm")?,
            })
        })?;
        for own in tracefs.names("irq_vectors") {
            let context = |stem: &str| match stem {
                "local_timer" => CpuContext::Timer,
                _ => CpuContext::Vector(stem.into()),
            };
            let mark = match (own.strip_suffix("_entry"), own.strip_suffix("_exit")) {
                // It stands first.
                (Some("local_timer"), _) => continue,
                // The kernel does not let perf sample it: perf itself uses that interrupt.
                (_, Some("irq_work")) => continue,
                (Some(stem), _) => EntryMark::Enter(context(stem)),
                (_, Some(stem)) => EntryMark::Exit(context(stem)),
                _ => continue,
            };
            points.add(&format!("irq_vectors/{own}"), |_| Ok(MarkRecord::Fixed(mark)))?;
        }
        points.add("irq/irq_handler_entry", |f| {
            let (irq, name) = (f.field("irq")?, Some(f.field("name")?));
            Ok(MarkRecord::Device { irq, name })
        })?;
        points.add("irq/irq_handler_exit", |f| {
            let irq = f.field("irq")?;
            Ok(MarkRecord::Device { irq, name: None })
        })?;
        for (name, enters) in [("irq/softirq_entry", true), ("irq/softirq_exit", false)] {
            points.add(name, |f| {
                let vector = f.field("vec")?;
                Ok(MarkRecord::Soft { vector, enters })
            })?;
        }
        let begins = [
            ("timer/hrtimer_expire_entry", CallbackKind::Timer, "hrtimer", "function"),
            ("timer/timer_expire_entry", CallbackKind::Timer, "timer", "function"),
            ("csd/csd_function_entry", CallbackKind::Call, "csd", "func"),
            (
                "workqueue/workqueue_execute_start",
                CallbackKind::Work,
                "work",
                "function",
            ),
            ("rcu/rcu_invoke_callback", CallbackKind::RcuCallback, "rhp", "func"),
        ];
        for (name, part, of, function) in begins {
            points.add(name, |f| {
                let (of, function) = (f.field(of).ok(), f.field(function)?);
                Ok(MarkRecord::Begin { part, of, function })
            })?;
        }
        let ends = [
            ("timer/hrtimer_expire_exit", CallbackKind::Timer),
            ("timer/timer_expire_exit", CallbackKind::Timer),
            ("workqueue/workqueue_execute_end", CallbackKind::Work),
        ];
        for (name, part) in ends {
            points.add(name, |_| Ok(MarkRecord::Fixed(EntryMark::End { part, of: 0 })))?;
        }
        points.add("csd/csd_function_exit", |f| {
            let call = f.field("csd")?;
            Ok(MarkRecord::EndCall { call })
        })?;
        points.add("exceptions/page_fault_user", |_| {
            Ok(MarkRecord::Fixed(EntryMark::PageFault))
        })?;
        points.add("nmi/nmi_handler", |f| {
            let length = f.field("delta_ns")?;
            Ok(MarkRecord::Nmi { length })
        })?;
        points.add("timer/tick_stop", |f| {
            let (success, dependency) = (f.field("success")?, f.field("dependency")?);
            Ok(MarkRecord::Tick { success, dependency })
        })?;
        Ok(points.found)
    }

    /// What a CPU does that makes something enter one of `watched`.
    pub fn sends(tracefs: &Tracefs, watched: &CpuList) -> Result<Vec<TracePoint<MarkRecord>>, TracingError> {
        let mut points = MarkPointFinder {
            tracefs,
            found: Vec::new(),
        };
        points.sender(CALLS, one_of("cpu", watched), |f| {
            Ok(MarkRecord::Calls {
                cpu: f.field("cpu")?,
                call: f.field("csd")?,
                function: f.field("func")?,
            })
        })?;
        let without_function = format!("({}) && callback == 0", one_of("cpu", watched));
        points.sender(SENDS, without_function, |f| {
            let cpu = f.field("cpu")?;
            Ok(MarkRecord::Sends { cpu })
        })?;
        points.sender("sched/sched_waking", one_of("target_cpu", watched), |f| {
            let tid = f.field("pid")?;
            Ok(MarkRecord::Wakes { tid })
        })?;
        points.sender("workqueue/workqueue_queue_work", String::new(), |f| {
            let work = f.field("work")?;
            Ok(MarkRecord::Queues { work })
        })?;
        points.add("task/task_newtask", |f| {
            Ok(MarkRecord::Named {
                tid: f.field("pid")?,
                name: f.field("comm")?,
                flags: Some(f.field("clone_flags")?),
            })
        })?;
        points.add("task/task_rename", |f| {
            Ok(MarkRecord::Named {
                tid: f.field("pid")?,
                name: f.field("newcomm")?,
                flags: None,
            })
        })?;
        Ok(points.found)
    }

    fn one_of(field: &str, cpus: &CpuList) -> String {
        let all: Vec<u32> = cpus.iter().collect();
        match (all.len() > LISTED, all.first(), all.last()) {
            (true, Some(first), Some(last)) => format!("{field} >= {first} && {field} <= {last}"),
            _ => {
                let each: Vec<String> = all.iter().map(|cpu| format!("{field} == {cpu}")).collect();
                each.join(" || ")
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn senders_are_filtered_by_cpu() {
            let filter = |text: &str| one_of("cpu", &text.parse().unwrap());
            assert_eq!(filter("2-3"), "cpu == 2 || cpu == 3");
            assert_eq!(filter("1-9"), "cpu >= 1 && cpu <= 9");
        }
    }
}
