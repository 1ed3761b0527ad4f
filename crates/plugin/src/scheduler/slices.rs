//! Which CPU runs next, from where to where: the decisions, apart from QEMU.
//!
//! Each CPU has a clock of its own. The CPU whose clock is the lowest runs until it is a quantum ahead of the next one, or
//! until a timer is due. Timers run when the slowest awake CPU has reached them. While all sleep, time goes on to the next
//! timer. A slice that QEMU interrupts from outside (another thread wants something) goes on as if nothing had been: only
//! what the guest does ends it.

use std::time::Duration;

/// Virtual time in ns.
pub(crate) type Time = i64;

/// A CPU that is alone runs so long at most before the scheduler looks again.
const ALONE: Time = 1_000_000_000;
/// Timers in a row that wake nobody, before QEMU's other threads are let in.
const IDLE_STEPS: u32 = 64;
const LET_OTHERS_IN: Duration = Duration::from_micros(100);

/// QEMU as the scheduler sees it.
pub(crate) trait Machine {
    /// The number of CPUs.
    fn cpus(&self) -> usize;
    /// Whether something is to be done before any CPU may run: the machine is to stop, or work waits for a CPU.
    fn interrupted(&self) -> bool;
    /// Whether a CPU sleeps and nothing wakes it.
    fn is_idle(&self, cpu: usize) -> bool;
    /// What the virtual clock shows from now on.
    fn set_clock(&mut self, now: Time);
    /// How far the next timer is, if there is one.
    fn deadline(&self) -> Option<Time>;
    /// Runs the timers that are due.
    fn run_timers(&mut self);
    /// Lets a CPU run for at most so many ns.
    fn run(&mut self, cpu: usize, most: Time) -> Ran;
}

/// What came of letting a CPU run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    /// How far its clock went on.
    pub(crate) time: Time,
    /// It gave up the rest of its slice: it waits in a loop for another CPU, or has sent one an interrupt.
    pub(crate) yields: bool,
    /// Why it stopped.
    pub(crate) exit: Exit,
}

/// Why a CPU stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Time to look again; or it was interrupted.
    Any,
    /// QEMU's caller has to see this result.
    Special(i32),
}

/// What the caller is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Back {
    /// Do what is to be done, and call again.
    Again,
    /// A CPU stopped for this.
    Special(i32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slice {
    cpu: usize,
    end: Time,
}

/// The clocks of all CPUs, and the slice that runs.
#[derive(Debug)]
pub(crate) struct Slices {
    quantum: Time,
    clocks: Vec<Time>,
    asleep: Vec<bool>,
    now: Time,
    last: usize,
    open: Option<Slice>,
    idle_steps: u32,
}

impl Slices {
    /// All clocks show `now`.
    pub(crate) fn new(quantum: Time, now: Time, machine: &impl Machine) -> Slices {
        let cpus = machine.cpus();
        Slices {
            quantum,
            clocks: vec![now; cpus],
            asleep: (0..cpus).map(|cpu| machine.is_idle(cpu)).collect(),
            now,
            last: 0,
            open: None,
            idle_steps: 0,
        }
    }

    /// Runs CPUs until QEMU has to do something else.
    pub(crate) fn run(&mut self, machine: &mut impl Machine) -> Back {
        while !machine.interrupted() {
            let Some(slice) = self.slice(machine) else {
                if self.sleep(machine) {
                    continue;
                }
                break;
            };
            let Some(slice) = slice else { continue };
            let cpu = slice.cpu;
            let ran = machine.run(cpu, slice.end - self.clocks[cpu]);
            self.clocks[cpu] += ran.time;
            self.now = self.clocks[cpu];
            self.last = cpu;
            self.open = (!ran.yields).then_some(slice);
            if let Exit::Special(code) = ran.exit {
                return Back::Special(code);
            }
            if ran.time == 0 {
                break;
            }
        }
        // Only for QEMU to see: `now` stays what the guest's doing has made it, whenever this happens.
        let awake = self.clocks.iter().zip(&self.asleep).filter(|(_, asleep)| !**asleep);
        if let Some((slowest, _)) = awake.min() {
            machine.set_clock(*slowest);
        }
        Back::Again
    }

    /// The slice to run, if a CPU is awake; none within it if timers had to run first.
    #[expect(clippy::option_option, reason = "all asleep, look again, run")]
    fn slice(&mut self, machine: &mut impl Machine) -> Option<Option<Slice>> {
        let goes_on = |slice: &Slice| self.clocks[slice.cpu] < slice.end && !machine.is_idle(slice.cpu);
        let (cpu, mut end) = match self.open.take().filter(goes_on) {
            Some(slice) => (slice.cpu, slice.end),
            None => self.choose(machine)?,
        };
        self.idle_steps = 0;
        let at = self.clocks[cpu];
        self.now = at;
        machine.set_clock(at);
        match machine.deadline() {
            Some(0) => {
                // A slice that had run ahead ends here: its timer is for the slowest CPU to reach.
                if self.slowest(machine) == Some(at) {
                    machine.run_timers();
                }
                return Some(None);
            }
            Some(ns) => end = end.min(at + ns),
            None => {}
        }
        Some(Some(Slice { cpu, end }))
    }

    /// The awake CPU with the lowest clock, and how far it may run.
    fn choose(&mut self, machine: &impl Machine) -> Option<(usize, Time)> {
        let cpus = self.clocks.len();
        let mut best: Option<usize> = None;
        let mut next = None;
        for cpu in (1..=cpus).map(|k| (self.last + k) % cpus) {
            if machine.is_idle(cpu) {
                self.asleep[cpu] = true;
                continue;
            }
            if std::mem::take(&mut self.asleep[cpu]) {
                self.clocks[cpu] = self.clocks[cpu].max(self.now);
            }
            let clock = self.clocks[cpu];
            match best {
                None => best = Some(cpu),
                Some(other) if clock < self.clocks[other] => {
                    next = Some(self.clocks[other]);
                    best = Some(cpu);
                }
                Some(_) => next = Some(next.map_or(clock, |next: Time| next.min(clock))),
            }
        }
        let best = best?;
        let at = self.clocks[best];
        let end = next.map_or(at + ALONE, |next| next + self.quantum);
        Some((best, end.max(at + 1)))
    }

    fn slowest(&self, machine: &impl Machine) -> Option<Time> {
        let awake = (0..self.clocks.len()).filter(|cpu| !machine.is_idle(*cpu));
        awake.map(|cpu| self.clocks[cpu]).min()
    }

    /// All CPUs sleep: on to the next timer. False if there is none, or others are to be let in.
    fn sleep(&mut self, machine: &mut impl Machine) -> bool {
        self.now = self.clocks.iter().copied().fold(self.now, Time::max);
        machine.set_clock(self.now);
        let Some(ns) = machine.deadline() else {
            return false;
        };
        self.now += ns;
        machine.set_clock(self.now);
        machine.run_timers();
        self.idle_steps += 1;
        if self.idle_steps > IDLE_STEPS {
            std::thread::sleep(LET_OTHERS_IN);
            return false;
        }
        true
    }
}

#[cfg(test)]
mod tests;
