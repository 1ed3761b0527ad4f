//! Opens the trace, follows it for a while, closes it.

use super::counters::{InterruptionCounters, Smis, busy};
use super::follow::Follow;
use super::occupant::Occupant;
use super::senders::{EntrySender, QueuedFunction, Senders};
use super::tally::{CauseBySender, DurationFigures, EntryCause, EntryGap, EntryTally, ProgramRun};
use super::threads::{KnownThreads, kind_of};
use crate::cpus::Cpus;
use crate::trace::entered::EntryTrace;
use crate::trace::wakeup_cost::WakeupCost;
use crate::trace::{TracedChange, TracingError};
use crate::{CpuList, HostError, MachineFacts};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use worstcase_contract::Nanos;
use worstcase_instruments::sys::{affinity, clock, sched};

/// Which CPUs a thread of ours keeps busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occupy {
    /// CPUs on which no program runs.
    Idle,
    /// All.
    All,
    /// None.
    None,
}

/// What to observe.
#[derive(Clone, Debug)]
pub struct IsolationRequest {
    /// The CPUs.
    pub cpus: CpuList,
    /// For how long.
    pub time: Nanos,
    /// Which CPUs are kept busy.
    pub occupy: Occupy,
    /// To which processes the CPUs belong; none: on each CPU to the one that runs longest.
    pub programs: Option<Vec<u32>>,
}

/// What entered one CPU.
#[derive(Clone, Debug)]
pub struct CpuEntries {
    /// The CPU.
    pub cpu: u32,
    /// The program that runs there: its name and process id; none if nothing ran.
    pub program: Option<(String, u32)>,
    /// The program is our occupant.
    pub is_occupied: bool,
    /// Causes with their senders.
    pub rows: Vec<CauseBySender>,
    /// Groups of equal entries.
    pub gaps: Vec<EntryGap>,
    /// How often the kernel checked whether the tick can stop: by the bits of what needed it; 0 where it stopped.
    pub ticks: BTreeMap<u32, u64>,
    /// Events that the kernel could not keep.
    pub lost: u64,
    /// Interrupts of the firmware.
    pub smis: Smis,
    /// Time that the hypervisor took, where it reports it.
    pub stolen: Option<Nanos>,
}

/// What entered the CPUs.
#[derive(Clone, Debug)]
pub struct ObservedEntries {
    /// Each CPU.
    pub cpus: Vec<CpuEntries>,
    /// When counting began, on CLOCK_MONOTONIC.
    pub began: Nanos,
    /// How long the CPUs were observed.
    pub time: Nanos,
    /// The user ended it early.
    pub is_ended_early: bool,
    /// The user named the program.
    pub is_program_named: bool,
    /// Call chains of senders, innermost address first; a sender refers to its chain by index.
    pub chains: Vec<Vec<u64>>,
    /// The kernel reports who calls a function on another CPU.
    pub tells_callers: bool,
    /// The kernel reports who sends an interrupt without a function.
    pub tells_senders: bool,
    /// Senders are reported through probes in the kernel's functions.
    pub uses_probes: bool,
    /// Notes about how it was observed.
    pub notes: Vec<String>,
}

/// Time between opening the trace and counting: by then the interrupts that opening sends to the CPUs have arrived.
const SETTLE: Duration = Duration::from_millis(300);
/// Time between two reads of the rings.
const LOOK: Duration = Duration::from_millis(50);
/// How long worstcase looks for programs that run on a CPU already.
const LOOK_FOR_PROGRAMS: Duration = Duration::from_millis(500);
/// The CPU share from which a program counts as running there.
const BUSY: f64 = 0.05;
/// The real-time priority of a thread that measures what the trace costs: that of probes.
const PRIORITY: u8 = 90;
/// Limit for different call chains.
const CHAINS: usize = 1 << 14;

/// Observes. `each` gets the elapsed time and the number of entries so far, some twenty times a second.
pub fn observe(
    asked: &IsolationRequest,
    stop: &AtomicBool,
    mut each: impl FnMut(Nanos, u64),
) -> Result<ObservedEntries, HostError> {
    let facts = MachineFacts::of(std::path::Path::new("/"));
    Cpus::of(&facts).check(&asked.cpus)?;
    let all = facts.cpu.online.clone().unwrap_or_else(|| asked.cpus.clone());
    let mut notes = Vec::new();
    let others = all.without(&asked.cpus);
    match others.is_empty() {
        true => notes.push("worstcase itself runs on the CPUs that it observes, as there is no other".into()),
        false => {
            let others: Vec<u32> = others.iter().collect();
            if let Err(e) = affinity::set(&others) {
                notes.push(format!("worstcase itself may run on the CPUs that it observes: {e}"));
            }
        }
    }
    let occupied = occupied(asked);
    let occupant = (!occupied.is_empty()).then(|| Occupant::start(&occupied)).transpose()?;
    let cost = wakeups_without(&asked.cpus);
    let mut trace = EntryTrace::open(&asked.cpus, &all).map_err(|e: TracingError| HostError::Missing(e.to_string()))?;
    if let (Some(cost), Some(cpu)) = (cost.and_then(WakeupCost::end), asked.cpus.iter().next()) {
        notes.push(format!("the trace {cost}, on CPU {cpu} before counting began"));
    }
    let known = KnownThreads::of_machine();
    std::thread::sleep(SETTLE);
    let before: Vec<InterruptionCounters> = asked.cpus.iter().map(InterruptionCounters::read).collect();
    std::thread::sleep(LOOK);
    let begin = clock::monotonic();
    let mut following = Following::new(&asked.cpus, begin, known);
    let end = begin + asked.time;
    loop {
        let now = clock::monotonic();
        let is_last = now >= end || stop.load(Ordering::Relaxed);
        following.take(&mut trace, now.min(end));
        each(now.min(end) - begin, following.entries());
        if is_last {
            break;
        }
        std::thread::sleep(LOOK.min(Duration::from_nanos((end - now).0 + 1)));
    }
    let until = clock::monotonic().min(end);
    // Closes the trace before anything else interrupts the CPUs.
    let (tells_callers, tells_senders, uses_probes) = (trace.tells_callers, trace.tells_senders, trace.uses_probes);
    drop(trace);
    let counted: Vec<_> = asked
        .cpus
        .iter()
        .zip(before)
        .map(|(cpu, before)| InterruptionCounters::read(cpu).since(before))
        .collect();
    let owners = CpuOwners {
        occupant: occupant.as_ref().map(Occupant::id),
        occupied,
        named: asked.programs.clone(),
    };
    Ok(ObservedEntries {
        cpus: following.finish(until, &owners, counted),
        began: begin,
        time: until - begin,
        is_ended_early: until < end,
        is_program_named: asked.programs.is_some(),
        chains: following.chains.all,
        tells_callers,
        tells_senders,
        uses_probes,
        notes,
    })
}

/// Wake-ups on the first of the CPUs, before anybody else there.
fn wakeups_without(cpus: &CpuList) -> Option<WakeupCost> {
    let cpu = cpus.iter().next()?;
    WakeupCost::begin(move || {
        affinity::set(&[cpu])?;
        sched::Policy::fifo(PRIORITY).apply()
    })
}

/// The CPUs that are to be kept busy.
fn occupied(asked: &IsolationRequest) -> CpuList {
    match asked.occupy {
        Occupy::None => CpuList::default(),
        Occupy::All => asked.cpus.clone(),
        Occupy::Idle => {
            let read = || fs::read_to_string("/proc/stat").unwrap_or_default();
            let before = read();
            std::thread::sleep(LOOK_FOR_PROGRAMS);
            let after = read();
            let is_idle = |cpu: &u32| busy(&before, &after, *cpu).is_none_or(|share| share < BUSY);
            asked.cpus.iter().filter(is_idle).collect()
        }
    }
}

/// An event that waits to be taken: events of all CPUs are taken in order of time.
#[derive(Clone, Copy, Debug)]
struct WaitingEvent {
    at: Nanos,
    cpu: u32,
    tid: u32,
    what: TracedChange,
    chain: u32,
}

#[derive(Debug, Default)]
struct Chains {
    numbers: HashMap<Vec<u64>, u32>,
    all: Vec<Vec<u64>>,
}

impl Chains {
    fn number(&mut self, chain: &[u64]) -> u32 {
        if let Some(number) = self.numbers.get(chain) {
            return *number;
        }
        if self.all.len() >= CHAINS {
            return u32::MAX;
        }
        self.all.push(chain.to_vec());
        let number = self.all.len() as u32 - 1;
        self.numbers.insert(chain.to_vec(), number);
        number
    }
}

#[derive(Debug)]
struct Following {
    cpus: Vec<Follow>,
    senders: Senders,
    threads: KnownThreads,
    chains: Chains,
    waiting: Vec<WaitingEvent>,
    /// Events before this time are not counted.
    from: Nanos,
    /// Events that other CPUs lost, so that some senders are not known.
    lost_elsewhere: u64,
}

impl Following {
    fn new(cpus: &CpuList, from: Nanos, threads: KnownThreads) -> Following {
        Following {
            cpus: cpus.iter().map(|cpu| Follow::new(cpu, from)).collect(),
            senders: Senders::default(),
            threads,
            chains: Chains::default(),
            waiting: Vec::new(),
            from,
            lost_elsewhere: 0,
        }
    }

    fn entries(&self) -> u64 {
        self.cpus.iter().map(|cpu| cpu.tally.entries()).sum()
    }

    /// Takes the events of all CPUs until `now`, in order of time.
    fn take(&mut self, trace: &mut EntryTrace, now: Nanos) {
        let (waiting, chains) = (&mut self.waiting, &mut self.chains);
        trace.drain(|event| {
            waiting.push(WaitingEvent {
                at: event.at,
                cpu: event.cpu,
                tid: event.tid,
                what: event.what,
                chain: match event.chain.is_empty() {
                    true => u32::MAX,
                    false => chains.number(event.chain),
                },
            });
        });
        self.waiting.sort_by_key(|w| w.at);
        let due = self.waiting.partition_point(|w| w.at <= now);
        let due: Vec<WaitingEvent> = self.waiting.drain(..due).collect();
        for waiting in due {
            self.feed(&waiting);
        }
        self.threads.forget_names();
    }

    fn feed(&mut self, waiting: &WaitingEvent) {
        let WaitingEvent {
            at,
            cpu,
            tid,
            what,
            chain,
        } = *waiting;
        let sender = |threads: &mut KnownThreads| EntrySender {
            chain,
            thread: kind_of(threads.get(tid).name),
        };
        match what {
            TracedChange::Calls { cpu, call, function } => {
                let sender = sender(&mut self.threads);
                self.senders.call(cpu, call, QueuedFunction { function, sender });
            }
            TracedChange::CallsMany { function } => {
                let sender = sender(&mut self.threads);
                self.senders.call_many(cpu, QueuedFunction { function, sender });
            }
            TracedChange::Sends { cpu } => self.senders.interrupt(cpu, sender(&mut self.threads)),
            TracedChange::Waking { tid } => self.senders.wake(tid, sender(&mut self.threads)),
            TracedChange::Queues { work } => self.senders.work(work, sender(&mut self.threads)),
            TracedChange::Named {
                tid: named,
                name,
                is_new,
            } => self.threads.learn(named, name, is_new.map(|same| same.then_some(tid))),
            what => match self.cpus.iter_mut().find(|follow| follow.cpu() == cpu) {
                Some(follow) => {
                    let threads = &mut self.threads;
                    follow.feed(at, tid, what, &mut self.senders, |tid| threads.get(tid));
                }
                None => {
                    if let TracedChange::Lost { since, count } = what
                        && since > Nanos(0)
                        && at >= self.from
                    {
                        self.lost_elsewhere += count.max(1);
                    }
                }
            },
        }
    }

    fn finish(&mut self, until: Nanos, owners: &CpuOwners, counted: Vec<(Smis, Option<Nanos>)>) -> Vec<CpuEntries> {
        let lost_elsewhere = self.lost_elsewhere;
        let senders = &mut self.senders;
        let each = std::mem::take(&mut self.cpus).into_iter().zip(counted);
        each.map(|(mut follow, (smis, stolen))| {
            follow.finish(until, senders);
            let cpu = follow.cpu();
            let is_occupied = owners.occupied.contains(cpu);
            let owner = owners.of(cpu, &follow.programs);
            let program = owner.and_then(|own| Some((follow.programs.get(&own)?.name.to_string(), own)));
            for (process, found) in &follow.programs {
                match Some(*process) == owner {
                    true => count_faults(&mut follow.tally, found),
                    false => count_runs(&mut follow.tally, found),
                }
            }
            let (rows, gaps) = follow.tally.finish();
            CpuEntries {
                cpu,
                program,
                is_occupied,
                rows,
                gaps,
                ticks: follow.ticks,
                lost: follow.lost + lost_elsewhere,
                smis,
                stolen,
            }
        })
        .collect()
    }
}

/// Which process a CPU belongs to.
#[derive(Debug)]
struct CpuOwners {
    occupant: Option<u32>,
    occupied: CpuList,
    named: Option<Vec<u32>>,
}

impl CpuOwners {
    /// The occupant, else that of the named ones that ran longest there, else of all.
    fn of(&self, cpu: u32, programs: &BTreeMap<u32, ProgramRun>) -> Option<u32> {
        let is_named = |process: &u32| self.named.as_ref().is_none_or(|named| named.contains(process));
        let candidates = programs.iter().filter(|(process, _)| is_named(process));
        let longest = candidates.max_by_key(|(_, program)| program.runs.total);
        let occupant = self.occupant.filter(|_| self.occupied.contains(cpu));
        occupant.or(longest.map(|(process, _)| *process))
    }
}

/// The page faults of the CPU's own program are entries.
fn count_faults(tally: &mut EntryTally, program: &ProgramRun) {
    if program.faults > 0 {
        let figures = DurationFigures {
            count: program.faults,
            ..DurationFigures::default()
        };
        tally.enter_alike(EntryCause::PageFault, None, figures);
    }
}

/// Runs of another program on the CPU are entries.
fn count_runs(tally: &mut EntryTally, program: &ProgramRun) {
    if program.runs.count > 0 {
        let cause = EntryCause::Thread {
            name: program.name,
            function: 0,
        };
        tally.enter_alike(cause, program.sender, program.runs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_belongs_to_the_named_program_and_else_to_the_one_that_ran_longest() {
        let ran = |total| ProgramRun {
            runs: DurationFigures {
                total: Nanos(total),
                ..DurationFigures::default()
            },
            ..ProgramRun::default()
        };
        let programs = BTreeMap::from([(7, ran(100)), (8, ran(900)), (9, ran(300))]);
        let owners = |named: Option<&[u32]>, occupied: &str| CpuOwners {
            occupant: Some(5),
            occupied: occupied.parse().unwrap(),
            named: named.map(<[u32]>::to_vec),
        };
        let of = |owners: CpuOwners| owners.of(1, &programs);
        assert_eq!(of(owners(None, "2")), Some(8));
        assert_eq!(of(owners(None, "1")), Some(5));
        assert_eq!(of(owners(Some(&[7, 9]), "2")), Some(9));
        assert_eq!(of(owners(Some(&[6]), "2")), None, "it did not run there");
    }
}
