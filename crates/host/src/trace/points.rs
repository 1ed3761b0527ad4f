//! Which tracepoints a purpose needs, with which filter, and how their records become events.

use super::TracingError;
use super::events::{CpuContext, ShortName, TracedChange, TracedThread};
use super::format::{EventFormat, FieldPlace};
use super::perf::CounterSource;
use super::tracefs::Tracefs;
use super::tracer::Purpose;
use worstcase_contract::Nanos;

/// From a record to what it tells.
pub trait Decoder: Copy {
    /// What records tell.
    type Output;

    /// What a record tells; `None` if it is too short.
    fn decode(&self, record: &[u8]) -> Option<Self::Output>;

    /// What a function's beginning with these arguments tells.
    fn decode_function(&self, _arguments: [u64; 2]) -> Option<Self::Output> {
        None
    }

    /// Records are missing since then; 0 of them if the ring was full and the kernel has not said so yet.
    fn lost(since: Nanos, count: u64) -> Self::Output;
}

/// A tracepoint or function that is to be opened.
#[derive(Clone, Debug)]
pub struct TracePoint<D = Decode> {
    /// `system/name`, or the function.
    pub name: String,
    /// As perf knows it.
    pub source: CounterSource,
    /// What may pass; everything if empty.
    pub filter: String,
    /// With the kernel's call chain.
    pub chain: bool,
    /// From record to event.
    pub decode: D,
}

/// Where the fields are that an event is made from.
#[derive(Clone, Copy, Debug)]
pub enum Decode {
    Fixed(TracedChange),
    Device {
        irq: FieldPlace,
        name: Option<FieldPlace>,
    },
    Soft {
        vector: FieldPlace,
        enters: bool,
    },
    TimerFunction {
        timer: FieldPlace,
        function: Option<FieldPlace>,
    },
    Waking {
        tid: FieldPlace,
    },
    Switch(SwitchFields),
    Migrate {
        tid: FieldPlace,
        to: FieldPlace,
    },
    System {
        call: FieldPlace,
        enters: bool,
    },
    Nmi {
        length: FieldPlace,
    },
}

/// Fields of `sched_switch`.
#[derive(Clone, Copy, Debug)]
pub struct SwitchFields {
    from: ThreadFields,
    state: FieldPlace,
    to: ThreadFields,
}

#[derive(Clone, Copy, Debug)]
struct ThreadFields {
    tid: FieldPlace,
    priority: FieldPlace,
    comm: FieldPlace,
}

impl ThreadFields {
    fn read(&self, record: &[u8]) -> Option<TracedThread> {
        Some(TracedThread {
            tid: self.tid.number(record)? as u32,
            priority: self.priority.number(record)? as i32,
            comm: ShortName::new(self.comm.text(record)?),
        })
    }
}

/// The states in which a thread waits: all bits below TASK_REPORT_MAX; a preempted one has that bit or none.
const WAITS: i64 = 0xff;

impl Decoder for Decode {
    type Output = TracedChange;

    fn lost(since: Nanos, count: u64) -> TracedChange {
        TracedChange::Lost { since, count }
    }

    fn decode(&self, record: &[u8]) -> Option<TracedChange> {
        let enter_or_exit = |enters: bool, context| {
            if enters {
                TracedChange::Enter(context)
            } else {
                TracedChange::Exit(context)
            }
        };
        Some(match self {
            Decode::Fixed(what) => *what,
            Decode::Device { irq, name } => {
                let text = name.map(|f| f.text(record).unwrap_or_default()).unwrap_or_default();
                let irq = irq.number(record)? as u32;
                let context = CpuContext::Device {
                    irq,
                    name: ShortName::new(text),
                };
                enter_or_exit(name.is_some(), context)
            }
            Decode::Soft { vector, enters } => enter_or_exit(*enters, CpuContext::Soft(vector.number(record)? as u8)),
            Decode::TimerFunction { timer, function } => {
                let context = CpuContext::TimerFunction {
                    timer: timer.number(record)? as u64,
                    function: function.map_or(Some(0), |f| f.number(record))? as u64,
                };
                enter_or_exit(function.is_some(), context)
            }
            Decode::Waking { tid } => TracedChange::Waking {
                tid: tid.number(record)? as u32,
            },
            Decode::Switch(fields) => TracedChange::Switch {
                from: fields.from.read(record)?,
                asleep: fields.state.number(record)? & WAITS != 0,
                to: fields.to.read(record)?,
            },
            Decode::Migrate { tid, to } => TracedChange::Migrate {
                tid: tid.number(record)? as u32,
                to: to.number(record)? as u32,
            },
            Decode::System { call, enters } => {
                let call = call.number(record)? as u32;
                if *enters {
                    TracedChange::SysEnter { call }
                } else {
                    TracedChange::SysExit { call }
                }
            }
            Decode::Nmi { length } => TracedChange::Nmi {
                length: Nanos(length.number(record)? as u64),
            },
        })
    }
}

/// The tracepoints for a purpose. Those of the scheduler and the timer interrupt must exist, others may be missing.
pub fn points(tracefs: &Tracefs, purpose: &Purpose) -> Result<Vec<TracePoint>, TracingError> {
    let of = PointFinder { tracefs };
    let mut points = of.timer(matches!(purpose, Purpose::Recorder { .. }))?;
    match purpose {
        Purpose::Response { tids } => {
            points.push(of.waking(tids)?);
            points.push(of.switch(&any(&["prev_pid", "next_pid"], tids))?);
        }
        Purpose::Noise => {
            points.extend(of.interrupts()?);
            points.push(of.switch("")?);
        }
        Purpose::Recorder { tids } => {
            points.extend(of.interrupts()?);
            points.push(of.switch("")?);
            points.push(of.waking(tids)?);
            points.extend(of.timer_functions()?);
            points.extend(of.system_calls(tids)?);
        }
    }
    Ok(points)
}

/// More threads than this are filtered by range: others within it pass, and nobody minds.
const LISTED: usize = 8;

/// `a == 1 || b == 1 || ...`
fn any(fields: &[&str], tids: &[u32]) -> String {
    let (Some(least), Some(most)) = (tids.iter().min(), tids.iter().max()) else {
        return String::new();
    };
    let each = fields.iter().flat_map(|field| match tids.len() > LISTED {
        true => vec![format!("({field} >= {least} && {field} <= {most})")],
        false => tids.iter().map(|tid| format!("{field} == {tid}")).collect(),
    });
    each.collect::<Vec<_>>().join(" || ")
}

/// The timer's has its own place; the kernel does not let perf sample the end of irq_work, which perf itself uses.
const LEFT_OUT: [&str; 2] = ["local_timer", "irq_work"];

struct PointFinder<'t> {
    tracefs: &'t Tracefs,
}

impl PointFinder<'_> {
    fn format(&self, name: &str) -> Result<EventFormat, TracingError> {
        EventFormat::parse(name, &self.tracefs.text(&format!("events/{name}/format"))?)
    }

    fn needed(&self, name: &'static str) -> Result<EventFormat, TracingError> {
        let (system, own) = name.split_once('/').unwrap_or((name, ""));
        match self.tracefs.names(system).iter().any(|n| n == own) {
            true => self.format(name),
            false => Err(TracingError::NoTracepoint(name)),
        }
    }

    fn point(format: &EventFormat, name: &str, decode: Decode) -> TracePoint {
        TracePoint {
            name: name.to_string(),
            source: CounterSource::Tracepoint(format.id),
            filter: String::new(),
            chain: false,
            decode,
        }
    }

    /// A tracepoint that may be missing.
    fn optional(
        &self,
        name: &'static str,
        decode: impl Fn(&EventFormat) -> Result<Decode, TracingError>,
    ) -> Result<Option<TracePoint>, TracingError> {
        let format = match self.needed(name) {
            Err(TracingError::NoTracepoint(_)) => return Ok(None),
            other => other?,
        };
        Ok(Some(Self::point(&format, name, decode(&format)?)))
    }

    fn timer(&self, chain: bool) -> Result<Vec<TracePoint>, TracingError> {
        let point = |name: &'static str, what| Ok(Self::point(&self.needed(name)?, name, Decode::Fixed(what)));
        let mut entry: TracePoint = point("irq_vectors/local_timer_entry", TracedChange::Enter(CpuContext::Timer))?;
        entry.chain = chain;
        Ok(vec![
            entry,
            point("irq_vectors/local_timer_exit", TracedChange::Exit(CpuContext::Timer))?,
        ])
    }

    fn waking(&self, tids: &[u32]) -> Result<TracePoint, TracingError> {
        let name = "sched/sched_waking";
        let format = self.needed(name)?;
        let tid = format.field("pid")?;
        Ok(TracePoint {
            filter: any(&["pid"], tids),
            ..Self::point(&format, name, Decode::Waking { tid })
        })
    }

    fn switch(&self, filter: &str) -> Result<TracePoint, TracingError> {
        let name = "sched/sched_switch";
        let format = self.needed(name)?;
        let thread = |tid, priority, comm| {
            Ok::<_, TracingError>(ThreadFields {
                tid: format.field(tid)?,
                priority: format.field(priority)?,
                comm: format.field(comm)?,
            })
        };
        let decode = Decode::Switch(SwitchFields {
            from: thread("prev_pid", "prev_prio", "prev_comm")?,
            state: format.field("prev_state")?,
            to: thread("next_pid", "next_prio", "next_comm")?,
        });
        Ok(TracePoint {
            filter: filter.to_string(),
            ..Self::point(&format, name, decode)
        })
    }

    /// All that can take the CPU from a thread, but for the timer interrupt.
    fn interrupts(&self) -> Result<Vec<TracePoint>, TracingError> {
        let mut points = Vec::new();
        for own in self.tracefs.names("irq_vectors") {
            let context = |stem: &str| CpuContext::Vector(stem.into());
            let what = match (own.strip_suffix("_entry"), own.strip_suffix("_exit")) {
                (Some(stem), _) | (_, Some(stem)) if LEFT_OUT.contains(&stem) => continue,
                (Some(stem), _) => TracedChange::Enter(context(stem)),
                (_, Some(stem)) => TracedChange::Exit(context(stem)),
                _ => continue,
            };
            let name = format!("irq_vectors/{own}");
            points.push(Self::point(&self.format(&name)?, &name, Decode::Fixed(what)));
        }
        let soft = |enters| {
            move |format: &EventFormat| {
                let vector = format.field("vec")?;
                Ok(Decode::Soft { vector, enters })
            }
        };
        let optional = [
            self.optional("irq/irq_handler_entry", |format| {
                let (irq, name) = (format.field("irq")?, Some(format.field("name")?));
                Ok(Decode::Device { irq, name })
            })?,
            self.optional("irq/irq_handler_exit", |format| {
                let irq = format.field("irq")?;
                Ok(Decode::Device { irq, name: None })
            })?,
            self.optional("irq/softirq_entry", soft(true))?,
            self.optional("irq/softirq_exit", soft(false))?,
            self.optional("nmi/nmi_handler", |format| {
                let length = format.field("delta_ns")?;
                Ok(Decode::Nmi { length })
            })?,
        ];
        points.extend(optional.into_iter().flatten());
        Ok(points)
    }

    fn timer_functions(&self) -> Result<impl Iterator<Item = TracePoint>, TracingError> {
        let optional = [
            self.optional("timer/hrtimer_expire_entry", |format| {
                let (timer, function) = (format.field("hrtimer")?, Some(format.field("function")?));
                Ok(Decode::TimerFunction { timer, function })
            })?,
            self.optional("timer/hrtimer_expire_exit", |format| {
                let timer = format.field("hrtimer")?;
                Ok(Decode::TimerFunction { timer, function: None })
            })?,
            self.optional("sched/sched_migrate_task", |format| {
                let (tid, to) = (format.field("pid")?, format.field("dest_cpu")?);
                Ok(Decode::Migrate { tid, to })
            })?,
        ];
        Ok(optional.into_iter().flatten())
    }

    /// The system calls of these threads alone.
    fn system_calls(&self, tids: &[u32]) -> Result<Vec<TracePoint>, TracingError> {
        if tids.is_empty() {
            return Ok(Vec::new());
        }
        let decode = |enters| {
            move |format: &EventFormat| {
                let call = format.field("id")?;
                Ok(Decode::System { call, enters })
            }
        };
        let optional = [
            self.optional("raw_syscalls/sys_enter", decode(true))?,
            self.optional("raw_syscalls/sys_exit", decode(false))?,
        ];
        let filtered = optional.into_iter().flatten().map(|point| TracePoint {
            filter: any(&["common_pid"], tids),
            ..point
        });
        Ok(filtered.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::any;

    #[test]
    fn filters_name_threads_or_their_range() {
        assert_eq!(any(&["pid"], &[]), "");
        assert_eq!(any(&["prev_pid", "next_pid"], &[7]), "prev_pid == 7 || next_pid == 7");
        let many: Vec<u32> = (100..120).collect();
        assert_eq!(any(&["pid"], &many), "(pid >= 100 && pid <= 119)");
    }
}
