//! The tracepoints behind [`super::marks`], and how their records are read.

use super::events::{Context, Name, Thread};
use super::format::{Field, Format};
use super::marks::{Mark, Part};
use super::points::Decoder;
use super::probes::Function;
use worstcase_contract::Nanos;

/// Where the fields are that a mark is made from.
#[derive(Clone, Copy, Debug)]
pub enum Record {
    Fixed(Mark),
    Device {
        irq: Field,
        name: Option<Field>,
    },
    Soft {
        vector: Field,
        enters: bool,
    },
    Begin {
        part: Part,
        of: Option<Field>,
        function: Field,
    },
    EndCall {
        call: Field,
    },
    Switch {
        tid: Field,
        priority: Field,
        comm: Field,
    },
    Nmi {
        length: Field,
    },
    Tick {
        success: Field,
        dependency: Field,
    },
    Calls {
        cpu: Field,
        call: Field,
        function: Field,
    },
    Sends {
        cpu: Field,
    },
    Wakes {
        tid: Field,
    },
    Queues {
        work: Field,
    },
    Named {
        tid: Field,
        name: Field,
        flags: Option<Field>,
    },
    Function(Function),
}

/// clone(2): the new thread is of the same process (CLONE_THREAD).
const THREAD: i64 = 0x10000;

impl Decoder for Record {
    type What = Mark;

    fn lost(since: Nanos, count: u64) -> Mark {
        Mark::Lost { since, count }
    }

    fn what_of_function(&self, arguments: [u64; 2]) -> Option<Mark> {
        match self {
            Record::Function(function) => Some(function.mark(arguments)),
            _ => None,
        }
    }

    fn what(&self, record: &[u8]) -> Option<Mark> {
        let enter_or_exit = |enters: bool, context| match enters {
            true => Mark::Enter(context),
            false => Mark::Exit(context),
        };
        let number = |field: &Field| field.number(record);
        Some(match self {
            Record::Fixed(mark) => *mark,
            Record::Function(_) => return None,
            Record::Device { irq, name } => {
                let text = name.map(|f| f.text(record).unwrap_or_default()).unwrap_or_default();
                let (irq, enters) = (number(irq)? as u32, name.is_some());
                let name = Name::new(text);
                enter_or_exit(enters, Context::Device { irq, name })
            }
            Record::Soft { vector, enters } => enter_or_exit(*enters, Context::Soft(number(vector)? as u8)),
            Record::Begin { part, of, function } => Mark::Begin {
                part: *part,
                of: of.map_or(Some(0), |f| f.number(record))? as u64,
                function: number(function)? as u64,
            },
            Record::EndCall { call } => Mark::End {
                part: Part::Call,
                of: number(call)? as u64,
            },
            Record::Switch { tid, priority, comm } => Mark::Switch(Thread {
                tid: number(tid)? as u32,
                priority: number(priority)? as i32,
                comm: Name::new(comm.text(record)?),
            }),
            Record::Nmi { length } => Mark::Nmi {
                length: Nanos(number(length)? as u64),
            },
            Record::Tick { success, dependency } => Mark::Tick {
                stops: number(success)? != 0,
                needed_by: number(dependency)? as u32,
            },
            Record::Calls { cpu, call, function } => Mark::Calls {
                cpu: number(cpu)? as u32,
                call: number(call)? as u64,
                function: number(function)? as u64,
            },
            Record::Sends { cpu } => Mark::Sends {
                cpu: number(cpu)? as u32,
            },
            Record::Wakes { tid } => Mark::Wakes {
                tid: number(tid)? as u32,
            },
            Record::Queues { work } => Mark::Queues {
                work: number(work)? as u64,
            },
            Record::Named { tid, name, flags } => Mark::Named {
                tid: number(tid)? as u32,
                name: Name::new(name.text(record)?),
                is_new: flags.and_then(|f| f.number(record)).map(|flags| flags & THREAD != 0),
            },
        })
    }
}

/// Which tracepoints there are.
pub mod points {
    use super::{Context, Format, Mark, Part, Record};
    use crate::CpuList;
    use crate::trace::TraceError;
    use crate::trace::perf::Source;
    use crate::trace::points::Point;
    use crate::trace::tracefs::Tracefs;

    /// Tells who calls a function on another CPU; from Linux 6.5 on.
    pub const CALLS: &str = "csd/csd_queue_cpu";
    /// Tells who sends an interrupt; from Linux 6.4 on.
    pub const SENDS: &str = "ipi/ipi_send_cpu";

    /// More CPUs than this are filtered by range.
    const LISTED: usize = 8;

    struct Points<'t> {
        tracefs: &'t Tracefs,
        found: Vec<Point<Record>>,
    }

    impl Points<'_> {
        fn add(
            &mut self,
            name: &str,
            read: impl FnOnce(&Format) -> Result<Record, TraceError>,
        ) -> Result<Option<&mut Point<Record>>, TraceError> {
            let (system, own) = name.split_once('/').unwrap_or((name, ""));
            if !self.tracefs.names(system).iter().any(|n| n == own) {
                return Ok(None);
            }
            let format = Format::parse(name, &self.tracefs.text(&format!("events/{name}/format"))?)?;
            self.found.push(Point {
                name: name.to_string(),
                source: Source::Tracepoint(format.id),
                filter: String::new(),
                chain: false,
                decode: read(&format)?,
            });
            Ok(self.found.last_mut())
        }

        fn needed(
            &mut self,
            name: &'static str,
            read: impl FnOnce(&Format) -> Result<Record, TraceError>,
        ) -> Result<(), TraceError> {
            match self.add(name, read)? {
                Some(_) => Ok(()),
                None => Err(TraceError::NoTracepoint(name)),
            }
        }

        /// A tracepoint of a sender: with its call chain, and for these CPUs alone.
        fn sender(
            &mut self,
            name: &str,
            filter: String,
            read: impl FnOnce(&Format) -> Result<Record, TraceError>,
        ) -> Result<(), TraceError> {
            if let Some(point) = self.add(name, read)? {
                (point.filter, point.chain) = (filter, true);
            }
            Ok(())
        }
    }

    /// All that can enter a CPU.
    pub fn entries(tracefs: &Tracefs) -> Result<Vec<Point<Record>>, TraceError> {
        let mut points = Points {
            tracefs,
            found: Vec::new(),
        };
        points.needed("irq_vectors/local_timer_entry", |_| {
            Ok(Record::Fixed(Mark::Enter(Context::Timer)))
        })?;
        points.needed("sched/sched_switch", |f| {
            Ok(Record::Switch {
                tid: f.field("next_pid")?,
                priority: f.field("next_prio")?,
                comm: f.field("next_comm")?,
            })
        })?;
        for own in tracefs.names("irq_vectors") {
            let context = |stem: &str| match stem {
                "local_timer" => Context::Timer,
                _ => Context::Vector(stem.into()),
            };
            let mark = match (own.strip_suffix("_entry"), own.strip_suffix("_exit")) {
                // It stands first.
                (Some("local_timer"), _) => continue,
                // The kernel does not let perf sample it: perf itself uses that interrupt.
                (_, Some("irq_work")) => continue,
                (Some(stem), _) => Mark::Enter(context(stem)),
                (_, Some(stem)) => Mark::Exit(context(stem)),
                _ => continue,
            };
            points.add(&format!("irq_vectors/{own}"), |_| Ok(Record::Fixed(mark)))?;
        }
        points.add("irq/irq_handler_entry", |f| {
            let (irq, name) = (f.field("irq")?, Some(f.field("name")?));
            Ok(Record::Device { irq, name })
        })?;
        points.add("irq/irq_handler_exit", |f| {
            let irq = f.field("irq")?;
            Ok(Record::Device { irq, name: None })
        })?;
        for (name, enters) in [("irq/softirq_entry", true), ("irq/softirq_exit", false)] {
            points.add(name, |f| {
                let vector = f.field("vec")?;
                Ok(Record::Soft { vector, enters })
            })?;
        }
        let begins = [
            ("timer/hrtimer_expire_entry", Part::Timer, "hrtimer", "function"),
            ("timer/timer_expire_entry", Part::Timer, "timer", "function"),
            ("csd/csd_function_entry", Part::Call, "csd", "func"),
            ("workqueue/workqueue_execute_start", Part::Work, "work", "function"),
            ("rcu/rcu_invoke_callback", Part::RcuCallback, "rhp", "func"),
        ];
        for (name, part, of, function) in begins {
            points.add(name, |f| {
                let (of, function) = (f.field(of).ok(), f.field(function)?);
                Ok(Record::Begin { part, of, function })
            })?;
        }
        let ends = [
            ("timer/hrtimer_expire_exit", Part::Timer),
            ("timer/timer_expire_exit", Part::Timer),
            ("workqueue/workqueue_execute_end", Part::Work),
        ];
        for (name, part) in ends {
            points.add(name, |_| Ok(Record::Fixed(Mark::End { part, of: 0 })))?;
        }
        points.add("csd/csd_function_exit", |f| {
            let call = f.field("csd")?;
            Ok(Record::EndCall { call })
        })?;
        points.add("exceptions/page_fault_user", |_| Ok(Record::Fixed(Mark::PageFault)))?;
        points.add("nmi/nmi_handler", |f| {
            let length = f.field("delta_ns")?;
            Ok(Record::Nmi { length })
        })?;
        points.add("timer/tick_stop", |f| {
            let (success, dependency) = (f.field("success")?, f.field("dependency")?);
            Ok(Record::Tick { success, dependency })
        })?;
        Ok(points.found)
    }

    /// What a CPU does that makes something enter one of `watched`.
    pub fn sends(tracefs: &Tracefs, watched: &CpuList) -> Result<Vec<Point<Record>>, TraceError> {
        let mut points = Points {
            tracefs,
            found: Vec::new(),
        };
        points.sender(CALLS, one_of("cpu", watched), |f| {
            Ok(Record::Calls {
                cpu: f.field("cpu")?,
                call: f.field("csd")?,
                function: f.field("func")?,
            })
        })?;
        let without_function = format!("({}) && callback == 0", one_of("cpu", watched));
        points.sender(SENDS, without_function, |f| {
            let cpu = f.field("cpu")?;
            Ok(Record::Sends { cpu })
        })?;
        points.sender("sched/sched_waking", one_of("target_cpu", watched), |f| {
            let tid = f.field("pid")?;
            Ok(Record::Wakes { tid })
        })?;
        points.sender("workqueue/workqueue_queue_work", String::new(), |f| {
            let work = f.field("work")?;
            Ok(Record::Queues { work })
        })?;
        points.add("task/task_newtask", |f| {
            Ok(Record::Named {
                tid: f.field("pid")?,
                name: f.field("comm")?,
                flags: Some(f.field("clone_flags")?),
            })
        })?;
        points.add("task/task_rename", |f| {
            Ok(Record::Named {
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
