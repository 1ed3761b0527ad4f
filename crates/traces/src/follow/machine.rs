//! From events to what each CPU ran, and what each thread did.

use super::calls::Call;
use super::cpu::{Activity, Cpu, Raiser};
use super::notes::{CpuNote, StolenTime};
use super::task::{ExpiredTimer, SetTimer, Task};
use super::waits::Wait;
use super::{FollowRequest, IdleState};
use crate::events::{CpuContext, ENDED, ShortName, TracedChange, TracedThread};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use syscalls::Sysno;
use worstcase_contract::Nanos;

/// Threads that are remembered, with those that have ended.
const MOST_TASKS: usize = 50_000;
/// Timers that are remembered, with those that have expired.
const MOST_TIMERS: usize = 100_000;

/// Signals that stop who has no handler of them: SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU.
const STOPS: std::ops::RangeInclusive<u32> = 19..=22;

/// An event without its call chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub at: Nanos,
    pub cpu: u32,
    pub tid: u32,
    pub what: TracedChange,
}

/// All CPUs and threads.
#[derive(Debug, Default)]
pub(super) struct Machine {
    cpus: BTreeMap<u32, Cpu>,
    tasks: HashMap<u32, Task>,
    /// The program's threads.
    program: HashSet<u32>,
    timers: HashMap<u64, SetTimer>,
    /// What each timer was set to when it expired last.
    expired: HashMap<u64, SetTimer>,
    /// Times in which a CPU's events were lost.
    losses: VecDeque<(Nanos, Nanos)>,
    /// Times in which a hypervisor took a CPU's time.
    stolen: VecDeque<StolenTime>,
    /// Events that are missing though the kernel does not say so: a thread ran that was not switched to.
    pub holes: u64,
    /// When the last event came.
    pub last: Nanos,
    /// Nothing before this is kept.
    pub pruned: Nanos,
    /// Names of each CPU's idle states, by their numbers.
    idle_states: BTreeMap<u32, Vec<ShortName>>,
}

impl Machine {
    pub fn new(request: &FollowRequest) -> Machine {
        let mut machine = Machine {
            idle_states: request.idle_states.clone(),
            ..Machine::default()
        };
        request.program.iter().for_each(|tid| machine.adopt(*tid));
        machine
    }

    fn adopt(&mut self, tid: u32) {
        self.program.insert(tid);
        self.task_mut(tid).is_own = true;
    }

    pub fn task(&self, tid: u32) -> Option<&Task> {
        self.tasks.get(&tid)
    }

    fn task_mut(&mut self, tid: u32) -> &mut Task {
        self.tasks.entry(tid).or_insert_with(|| Task::new(tid))
    }

    pub fn cpu(&self, cpu: u32) -> Option<&Cpu> {
        self.cpus.get(&cpu)
    }

    /// The idle state of this number.
    pub fn idle_state(&self, cpu: u32, number: u32) -> IdleState {
        let name = self.idle_states.get(&cpu).and_then(|names| names.get(number as usize));
        IdleState {
            number,
            name: name.copied().unwrap_or_default(),
        }
    }

    /// Times within this one in which events were lost.
    pub fn losses(&self, from: Nanos, to: Nanos) -> impl Iterator<Item = (Nanos, Nanos)> {
        let within = self.losses.iter().filter(move |(a, b)| *a < to && *b > from);
        within.map(move |(a, b)| ((*a).max(from), (*b).min(to)))
    }

    /// What was seen of these CPUs from `from` to `to` besides what they ran.
    pub fn notes(&self, cpus: &BTreeSet<u32>, from: Nanos, to: Nanos) -> Vec<CpuNote> {
        let frequencies = cpus.iter().filter_map(|number| {
            let steps = self.cpu(*number)?.frequencies(from, to);
            (!steps.is_empty()).then_some(CpuNote::Frequencies { cpu: *number, steps })
        });
        let stolen = self.stolen.iter().filter(|stolen| cpus.contains(&stolen.cpu));
        let within = stolen.filter(|stolen| stolen.from < to && stolen.to > from);
        frequencies.chain(within.copied().map(CpuNote::Stolen)).collect()
    }

    /// Takes an event; they come in order of time. Gives the wait that it ends, if it ends one of the program.
    pub fn feed(&mut self, event: &Event) -> Option<Wait> {
        let Event { at, cpu, tid, what } = *event;
        self.last = self.last.max(at);
        match what {
            TracedChange::Lost { since, .. } => {
                self.lose(cpu, since, at);
                return None;
            }
            TracedChange::Frequency { cpu, khz } => {
                self.cpus.entry(cpu).or_default().set_frequency(at, khz);
                return None;
            }
            TracedChange::Stolen { until: to, time } => {
                self.stolen.push_back(StolenTime {
                    cpu,
                    from: at,
                    to,
                    time,
                });
                return None;
            }
            _ => {}
        }
        self.find_hole(event);
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.events += 1;
        }
        let mut ended = None;
        let on = self.cpus.entry(cpu).or_default();
        on.last = at;
        match what {
            TracedChange::Switch { from, asleep, to } => self.switch(at, cpu, from, asleep, to),
            TracedChange::Waking { tid } => {
                let waker = on.waker(at);
                self.task_mut(tid).wakes(at, waker);
                return None;
            }
            TracedChange::Enter(context) => {
                on.contexts.enter(context);
                on.idle_state = None;
                if let CpuContext::TimerFunction { timer, function } = context {
                    let set = self.timers.get(&timer).copied();
                    if let Some(set) = set {
                        self.expired.insert(timer, set);
                    }
                    on.expired = Some(ExpiredTimer {
                        set,
                        timer,
                        function,
                        entered: at,
                        cpu,
                    });
                }
            }
            TracedChange::IdleState { state } => on.idle_state = state,
            TracedChange::Exit(context) => on.leave(&context),
            TracedChange::Raise { vector } => {
                let raiser = Raiser {
                    thread: on.thread.unwrap_or_default(),
                    contexts: on.contexts.all().to_vec(),
                };
                on.raised.insert(vector, raiser);
                return None;
            }
            TracedChange::TimerSet {
                timer,
                function,
                earliest,
                latest,
            } => {
                let set = SetTimer {
                    timer,
                    function,
                    earliest,
                    latest,
                };
                self.timers.insert(timer, set);
                if on.contexts.all().is_empty()
                    && let Some(task) = self.tasks.get_mut(&tid)
                    && task.call.is_some()
                {
                    task.set.get_or_insert(set);
                }
                return None;
            }
            TracedChange::SysEnter { call, arguments } => self.enter_call(at, tid, call, arguments),
            TracedChange::SysExit { call, result } => ended = self.leave_call(at, tid, call, result),
            TracedChange::PageFault => {
                self.begin(at, cpu, Some(Activity::Fault));
                return None;
            }
            TracedChange::LockWait | TracedChange::LockTaken => {
                if !on.contexts.all().is_empty() {
                    return None;
                }
                self.task_mut(tid).on_lock = what == TracedChange::LockWait;
            }
            TracedChange::SignalSent { tid, signal } => {
                let by = on.thread;
                let senders = &mut self.task_mut(tid).senders;
                match by {
                    Some(by) => senders.insert(signal, by),
                    None => senders.remove(&signal),
                };
                return None;
            }
            TracedChange::SignalTaken { signal, has_handler } => {
                let task = self.task_mut(tid);
                task.handler = has_handler.then_some(signal);
                task.stopped = (!has_handler && STOPS.contains(&signal)).then_some(signal);
            }
            TracedChange::Named {
                tid: named,
                name,
                is_new,
            } => {
                let task = self.task_mut(named);
                task.thread.comm = name;
                if is_new.is_some() {
                    task.is_made(at);
                }
                if is_new.is_some() && self.program.contains(&tid) {
                    self.adopt(named);
                }
                return None;
            }
            TracedChange::Mark => return self.program.contains(&tid).then(|| Wait::mark(tid, at)),
            _ => return None,
        }
        self.begin(at, cpu, None);
        ended
    }

    /// Notes what the CPU does from now on.
    fn begin(&mut self, at: Nanos, cpu: u32, what: Option<Activity>) {
        let Some(on) = self.cpus.get_mut(&cpu) else { return };
        let thread = on.thread.unwrap_or_default();
        let activity = match (what, on.contexts.innermost(), self.tasks.get(&thread.tid)) {
            (Some(what), ..) => what,
            (None, Some(context), _) => Activity::Context(context),
            (None, None, _) if thread.tid == 0 => Activity::Idle(on.idle_state),
            (None, None, Some(task)) if task.is_own => match (task.on_lock, task.call, task.handler) {
                (true, call, _) => Activity::KernelLock(call),
                (false, Some(call), _) => Activity::Call(call),
                (false, None, Some(signal)) => Activity::Handler(signal),
                (false, None, None) => Activity::User,
            },
            (None, None, _) => Activity::Code,
        };
        on.begin(at, thread, activity);
    }

    fn switch(&mut self, at: Nanos, cpu: u32, from: TracedThread, asleep: bool, to: TracedThread) {
        if from.tid != 0 {
            self.task_mut(from.tid).leaves(at, from, asleep);
        }
        if to.tid != 0 {
            self.task_mut(to.tid).runs(at, cpu, to);
        }
        if let Some(on) = self.cpus.get_mut(&cpu) {
            on.switch(from.tid, to);
        }
    }

    fn enter_call(&mut self, at: Nanos, tid: u32, number: u32, arguments: [u64; crate::events::ARGUMENTS]) {
        let task = self.task_mut(tid);
        if number == Sysno::rt_sigreturn.id() as u32 {
            task.handler = None;
        }
        task.call = Some(Call {
            number,
            arguments,
            entered: at,
        });
        task.set = None;
        task.was_blocked = false;
        task.woken = None;
    }

    fn leave_call(&mut self, at: Nanos, tid: u32, number: u32, result: i64) -> Option<Wait> {
        let task = self.task_mut(tid);
        let call = task.call.take().filter(|call| call.number == number)?;
        let (woken, set) = (task.woken.take(), task.set.take());
        let mut past = None;
        match woken.as_ref().and_then(|waker| waker.timer) {
            Some(timer) => {
                task.woken_by.insert(call.kind(), timer.timer);
            }
            None if woken.is_none() && set.is_none() => past = task.woken_by.get(&call.kind()).copied(),
            None => {}
        }
        Some(Wait {
            tid,
            call,
            returned: at,
            result,
            was_blocked: task.was_blocked,
            woken,
            set,
            past: past.and_then(|timer| self.expired.get(&timer).copied()),
            is_mark: false,
        })
    }

    /// Events of a CPU are missing. What any thread did is not known, because it can have run there.
    fn lose(&mut self, cpu: u32, since: Nanos, at: Nanos) {
        let on = self.cpus.entry(cpu).or_default();
        if since > Nanos(0) {
            self.losses.push_back((since, at));
            on.forget(since);
            self.tasks.values_mut().for_each(|task| task.forget(since));
        }
        on.thread = None;
        on.last = at;
    }

    /// Every event names the current thread: one that was not switched to is a hole.
    fn find_hole(&mut self, event: &Event) {
        let Event { at, cpu, tid, .. } = *event;
        let on = self.cpus.entry(cpu).or_default();
        if tid == ENDED || on.thread.is_some_and(|thread| thread.tid == tid) {
            return;
        }
        let since = on.last;
        let ready = self.tasks.get(&tid).and_then(Task::ready_since);
        if let (Some(0), Some(ready)) = (on.thread.map(|thread| thread.tid), ready) {
            return self.came_from_idle(cpu, tid, since.max(ready));
        }
        let before = on.thread.replace(TracedThread {
            tid,
            ..TracedThread::default()
        });
        if let Some(before) = before {
            self.holes += 1;
            on.forget(since);
            if before.tid != 0
                && let Some(task) = self.tasks.get_mut(&before.tid)
            {
                task.forget(since);
            }
        }
        if tid == 0 {
            return;
        }
        let task = self.tasks.entry(tid).or_insert_with(|| Task::new(tid));
        task.forget(since);
        let thread = task.thread;
        task.runs(at, cpu, thread);
        if let Some(on) = self.cpus.get_mut(&cpu) {
            on.thread = Some(thread);
        }
    }

    /// A thread that was ready runs on a CPU that was idle: some kernels do not report the switch.
    fn came_from_idle(&mut self, cpu: u32, tid: u32, at: Nanos) {
        self.holes += 1;
        let Some(task) = self.tasks.get_mut(&tid) else { return };
        let (thread, call) = (task.thread, task.call);
        task.runs(at, cpu, thread);
        if let Some(on) = self.cpus.get_mut(&cpu) {
            on.switch(0, thread);
            on.begin(at, thread, Activity::FromIdle(call));
        }
    }

    /// Forgets what ended before an instant.
    pub fn prune(&mut self, before: Nanos) {
        self.pruned = self.pruned.max(before);
        self.cpus.values_mut().for_each(|cpu| cpu.prune(before));
        self.tasks.values_mut().for_each(|task| task.prune(before));
        self.forget_old();
        while self.losses.front().is_some_and(|(_, to)| *to <= before) {
            self.losses.pop_front();
        }
        while self.stolen.front().is_some_and(|stolen| stolen.to <= before) {
            self.stolen.pop_front();
        }
    }

    /// Of very many threads and timers forgets those that nothing was heard of for longest.
    fn forget_old(&mut self) {
        if self.tasks.len() > MOST_TASKS {
            let mut heard: Vec<Nanos> = self.tasks.values().map(Task::since).collect();
            let middle = heard.len() / 2;
            let (_, oldest, _) = heard.select_nth_unstable(middle);
            let oldest = *oldest;
            self.tasks.retain(|_, task| task.is_own || task.since() > oldest);
        }
        for timers in [&mut self.timers, &mut self.expired] {
            if timers.len() > MOST_TIMERS {
                timers.retain(|_, timer| timer.latest > self.pruned);
            }
        }
    }

    /// How many stretches are kept.
    pub fn len(&self) -> usize {
        let of_tasks: usize = self.tasks.values().map(Task::len).sum();
        of_tasks + self.cpus.values().map(Cpu::len).sum::<usize>()
    }
}
