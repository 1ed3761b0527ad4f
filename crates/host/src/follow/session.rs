//! Opens the trace, feeds the analysis, ends.

use super::cpu_watch::CpuWatch;
use super::facts::{ProgramFacts, file_of};
use super::function;
use super::started::{HeldProgram, ProgramExit, StartedProgram};
use super::target::FollowTarget;
use crate::facts::FileTree;
use crate::isolate::threads::threads_of;
use crate::trace::program::ReadyTrace;
use crate::trace::{TraceRecorder, TracedMark, TracingError};
use crate::{CpuList, HostError, MachineFacts, machine};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::Serialize;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use worstcase_base::duration;
use worstcase_contract::Nanos;
use worstcase_instruments::sys::{affinity, clock, usage};
use worstcase_traces::follow::{CycleTimes, FollowRequest, Followed, Follower, WantedThread, WantedWait};

/// What is asked of a session.
#[derive(Clone, Debug)]
pub struct SessionRequest {
    /// The program.
    pub target: FollowTarget,
    /// The thread; none: the one that the target tells, or that is found.
    pub thread: Option<WantedThread>,
    /// What ends a cycle; found by itself if not named.
    pub wait: Option<WantedWait>,
    /// When a cycle is late.
    pub deadline: Option<Nanos>,
    /// For how long; none: until the program ends.
    pub time: Option<Nanos>,
    /// What a command writes to standard output goes to standard errors.
    pub is_output_to_errors: bool,
}

/// What came out.
pub struct FollowSession {
    /// The cycles.
    pub followed: Followed,
    /// The program, as it was seen last.
    pub program: ProgramFacts,
    /// What the trace took.
    pub cost: TraceCost,
    /// Time that a hypervisor took from the CPUs on which the thread ran, if that is known.
    pub steal: Option<Nanos>,
    /// Whether the kernel held real-time threads back, if that is known.
    pub throttled: Option<bool>,
    /// How long the program was followed.
    pub time: Nanos,
    /// Why that ended.
    pub end: SessionEnd,
    /// Notes about how it was followed.
    pub notes: Vec<String>,
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// Its time was over.
    Time,
    /// The program ended; how is known of a command only.
    Program(Option<ProgramExit>),
    /// The user ended it.
    Asked,
    /// A cycle was late.
    Late,
    /// As many cycles as are kept were seen.
    Full,
}

/// What a trace takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TraceCost {
    /// What recorded.
    pub recorder: TraceRecorder,
    /// Events of all CPUs.
    pub events: u64,
    /// Events that the kernel could not keep.
    pub lost: u64,
    /// Bytes that the kernel wrote.
    pub bytes: u64,
    /// CPU time of worstcase itself.
    pub cpu_ns: Nanos,
    /// For how long.
    pub time_ns: Nanos,
    /// So much longer a system call of the program takes, with its two events; measured here before it was followed.
    pub call_ns: Option<Nanos>,
    /// Events of the thread whose cycles these are, a cycle.
    pub events_a_cycle: u64,
}

impl TraceCost {
    /// Events a second.
    pub fn events_a_second(&self) -> f64 {
        self.a_second(self.events)
    }

    /// Bytes a second.
    pub fn bytes_a_second(&self) -> f64 {
        self.a_second(self.bytes)
    }

    /// How much longer a cycle is by the events of its own thread: a call has two.
    pub fn a_cycle(&self) -> Option<Nanos> {
        Some(Nanos(self.call_ns?.0 * self.events_a_cycle / 2))
    }

    /// The share of one CPU that worstcase itself used.
    pub fn cpu_share(&self) -> f64 {
        self.a_second(self.cpu_ns.0) / 1e9
    }

    fn a_second(&self, n: u64) -> f64 {
        n as f64 * 1e9 / self.time_ns.0.max(1) as f64
    }
}

/// Time between two reads of the rings.
pub(super) const LOOK: Nanos = Nanos::from_millis(15);
/// So long at most events are read after the end that were recorded before it.
const CATCH_UP: Nanos = Nanos::from_millis(1_000);
/// A command's threads are looked at first after so long: by then it has made some.
const FIRST_FACTS: Nanos = Nanos::from_millis(200);
/// And then so often.
const FACTS: Nanos = Nanos::from_millis(1000);

/// How far a session is.
#[derive(Clone, Copy, Debug)]
pub struct SessionState {
    /// For so long the program has been followed.
    pub time: Nanos,
    /// So many events came.
    pub events: u64,
    /// The program.
    pub process: u32,
    /// The first cycle that was later than the deadline since the last state.
    pub late: Option<CycleTimes>,
}

/// Follows. `each` gets the state some fifty times a second, and says whether to go on.
pub fn follow(
    request: &SessionRequest,
    stop: &AtomicBool,
    mut each: impl FnMut(&SessionState) -> ControlFlow<()>,
) -> Result<FollowSession, HostError> {
    let facts = MachineFacts::of(Path::new("/"));
    let online = facts.cpu.online.clone().unwrap_or_default();
    let mut notes = Vec::new();
    let mut ours = OwnPlace::new(online);
    let cpus: Vec<u32> = ours.online.iter().collect();
    let untraced = |e: TracingError| HostError::Missing(e.to_string());
    let ready = match request.wait.as_ref().map(mark).transpose()?.flatten() {
        Some(mark) => ReadyTrace::with_mark(&cpus, &mark)?,
        None => ReadyTrace::new(&cpus, TraceRecorder::Tracefs),
    };
    let call_ns = ready.call_ns;
    notes.extend(ready.note.clone());
    let (mut program, (mut trace, is_whole), thread) = match &request.target {
        FollowTarget::Running { process, thread } => {
            let program = FollowedProgram::running(*process)?;
            let begun = ready.begin(|| threads_of(*process).collect()).map_err(untraced)?;
            (program, begun, thread.clone())
        }
        FollowTarget::Command(command) => {
            let held = HeldProgram::start(command, request.is_output_to_errors)?;
            let begun = ready.begin(|| vec![held.id()]).map_err(untraced)?;
            // It may end at once.
            let watched = FollowedProgram::running(held.id())?;
            (watched.released(held)?, begun, WantedThread::Found)
        }
    };
    if trace.tids.is_empty() {
        return Err(HostError::Argument(format!("process {} has ended", program.process)));
    }
    if !is_whole {
        notes.push("the program starts threads all the time: some of them may not be seen as its own".into());
    }
    let stolen = machine::steal(&cpus);
    let tree = FileTree::at(Path::new("/"));
    let is_guest = facts.virtualization.hypervisor == Some(true);
    let mut watch = CpuWatch::new(&cpus, is_guest, clock::monotonic());
    let mut follower = Follower::new(FollowRequest {
        program: trace.tids.clone(),
        thread: request.thread.clone().unwrap_or(thread),
        wait: request.wait.clone(),
        deadline: request.deadline,
        cycle: None,
        idle_states: watch.idle_states(&tree),
    });
    watch.frequencies(&tree).iter().for_each(|event| follower.feed(event));
    let (began, used) = (clock::monotonic(), usage::own_process());
    let until = request.time.map(|time| began + time);
    let mut known = ProgramFacts::of(program.process);
    ours.leave(&known);
    let mut next_facts = program.command.is_some().then_some(began + FIRST_FACTS);
    let mut events = 0;
    let mut ended: Option<(Nanos, SessionEnd)> = None;
    let (now, end) = loop {
        let now = clock::monotonic();
        let end = match ended {
            None => program
                .end(until.is_some_and(|until| now >= until), stop)
                .map(|end| (now, end)),
            Some(_) => ended,
        };
        watch.stolen(now).iter().for_each(|event| follower.feed(event));
        let (fresh, reached) = trace.drain(|event| follower.feed(event));
        events += fresh;
        follower.complete(watch.known(reached));
        let state = SessionState {
            time: now.saturating_sub(began),
            events,
            process: program.process,
            late: follower.take_late(),
        };
        let end = match each(&state) {
            ControlFlow::Break(()) => Some(end.unwrap_or((now, SessionEnd::Late))),
            ControlFlow::Continue(()) if follower.is_full() => Some(end.unwrap_or((now, SessionEnd::Full))),
            ControlFlow::Continue(()) => end,
        };
        if let Some((at, end)) = end
            && (!trace.is_behind() || now >= at + CATCH_UP)
        {
            break (at, end);
        }
        ended = end;
        if next_facts.is_some_and(|next| now >= next) {
            next_facts = Some(now + FACTS);
            known.look_again();
            ours.leave(&known);
        }
        if !trace.is_behind() {
            program.wait(until.map_or(LOOK, |until| LOOK.min(until.saturating_sub(now))));
        }
    };
    if let Some(since) = trace.leave_rest(|event| follower.feed(event)) {
        notes.push(format!(
            "more happened than could be read in time: nothing is known of the last {}; give worstcase a CPU of its own",
            duration::about(clock::monotonic().saturating_sub(since))
        ));
    }
    // Its facts may have been read before it was executed.
    if let FollowTarget::Command(command) = &request.target
        && let Some(name) = command.first().and_then(|command| file_of(command))
    {
        known.name = name;
    }
    let time = now.saturating_sub(began);
    let mut cost = TraceCost {
        recorder: trace.recorder(),
        events,
        lost: trace.lost(),
        bytes: trace.bytes(),
        cpu_ns: (usage::own_process() - used).cpu,
        time_ns: time,
        call_ns,
        events_a_cycle: 0,
    };
    notes.extend(trace.end());
    // A command that still runs ends here, before its cycles are told.
    drop(program);
    let followed = follower.finish();
    cost.events_a_cycle = followed.events / (followed.cycles.len() as u64).max(1);
    let taken = machine::steal_between(&stolen, &machine::steal(&cpus));
    let of_thread = cpus.iter().zip(taken).filter(|(cpu, _)| followed.cpus.contains(cpu));
    let worst = followed
        .cycles
        .iter()
        .map(CycleTimes::response)
        .max()
        .unwrap_or_default();
    let unseen = followed.wait.and_then(|wait| wait.period).unwrap_or(time);
    Ok(FollowSession {
        steal: of_thread
            .map(|(_, taken)| taken.map(|time| time.0))
            .sum::<Option<u64>>()
            .map(Nanos),
        throttled: machine::may_be_throttled(worst, unseen),
        followed,
        program: known,
        cost,
        time,
        end,
        notes,
    })
}

/// What is recorded as a mark, if a user names one.
fn mark(wait: &WantedWait) -> Result<Option<TracedMark>, HostError> {
    Ok(match wait {
        WantedWait::Call { .. } => None,
        WantedWait::Function { file, name } => {
            let (file, offset) = function::find(file, name)?;
            Some(TracedMark::Code { file, offset })
        }
        WantedWait::Line(text) => Some(TracedMark::Line(text.clone())),
    })
}

/// The program that is followed.
struct FollowedProgram {
    process: u32,
    /// Readable from its end on.
    handle: OwnedFd,
    command: Option<StartedProgram>,
}

impl FollowedProgram {
    fn running(process: u32) -> Result<FollowedProgram, HostError> {
        let ended = |source| HostError::Argument(format!("process {process} cannot be watched: {source}"));
        let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
        let opened = pid
            .ok_or(rustix::io::Errno::SRCH)
            .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()));
        Ok(FollowedProgram {
            process,
            handle: opened.map_err(ended)?,
            command: None,
        })
    }

    fn released(self, held: HeldProgram) -> Result<FollowedProgram, HostError> {
        Ok(FollowedProgram {
            command: Some(held.release()?),
            ..self
        })
    }

    /// Waits for its end, and says whether that has come.
    fn wait(&self, time: Nanos) -> bool {
        let time = Timespec {
            tv_sec: (time.0 / 1_000_000_000) as _,
            tv_nsec: (time.0 % 1_000_000_000) as _,
        };
        let mut handle = [PollFd::new(&self.handle, PollFlags::IN)];
        // A signal ends the wait, too.
        matches!(poll(&mut handle, Some(&time)), Ok(1..))
    }

    /// Whether it has ended, or is to be followed no more.
    fn end(&mut self, is_time_over: bool, stop: &AtomicBool) -> Option<SessionEnd> {
        if stop.load(Ordering::Relaxed) {
            return Some(SessionEnd::Asked);
        }
        if self.wait(Nanos(0)) {
            return Some(SessionEnd::Program(
                self.command.as_mut().and_then(StartedProgram::exit),
            ));
        }
        is_time_over.then_some(SessionEnd::Time)
    }
}

/// Where this process runs: not where the program does, if there is another CPU.
struct OwnPlace {
    online: CpuList,
    allowed: Vec<u32>,
    now: Vec<u32>,
}

impl OwnPlace {
    fn new(online: CpuList) -> OwnPlace {
        let allowed = affinity::current().unwrap_or_default();
        OwnPlace {
            online,
            now: allowed.clone(),
            allowed,
        }
    }

    /// Leaves the program's CPUs to it.
    fn leave(&mut self, program: &ProgramFacts) {
        let theirs = program.wanted_cpus(&self.online);
        let rest: Vec<u32> = self
            .allowed
            .iter()
            .copied()
            .filter(|cpu| !theirs.contains(*cpu))
            .collect();
        // One that may run everywhere cannot be evaded.
        if !rest.is_empty() && rest != self.now && affinity::set(&rest).is_ok() {
            self.now = rest;
        }
    }
}
