//! From what the CPU does to sections: a state, and for each kind the section that is open.
//!
//! Times are instructions completed. Every step is called in the order of time.

use super::tally::Tally;
use super::word::Word;
use worstcase_logs::census::Kind;
use worstcase_logs::census::log::{Row, Section};
use worstcase_logs::units::Instructions;

/// What a thread is to a wake-up of the probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Its priority is the probe's or higher.
    Above,
    /// It gives the CPU away as soon as it is asked to: the idle loop.
    Idle,
    /// It handles soft interrupts that were left to it.
    SoftInterrupts,
    /// The probe, or a thread that it preempts.
    Below,
}

/// A thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    /// Its address in the kernel's memory.
    pub(crate) task: u64,
    /// What it is.
    pub(crate) role: Role,
}

#[derive(Clone, Copy)]
struct Open {
    start: u64,
    nested: u64,
    from: u64,
    task: u64,
}

/// Where a section ends if nothing goes against it.
#[derive(Clone, Copy)]
struct End {
    now: u64,
    nested: u64,
    at: u64,
}

/// A question of a soft interrupt that would have ended it, but not the section around it.
struct Asked {
    end: End,
    /// The soft interrupt's own end.
    over: Option<End>,
}

/// The state and what was found so far.
pub(crate) struct Tracker {
    preemptible: bool,
    /// The CPU's flag, and until when `sti` delays what it allows.
    interrupts: bool,
    shadow_ends: Option<(u64, u64)>,
    delayed: bool,
    /// The kernel's count, once it was written.
    pub(crate) word: Word,
    pub counted: bool,
    /// Not in user mode.
    pub(crate) kernel: bool,
    /// The last interrupt or exception came in user mode.
    from_user: bool,
    /// A hard interrupt was handled since interrupts went off.
    after_hard_interrupt: bool,
    /// What soft interrupts return to could be preempted.
    soft_interrupts_leave: bool,
    thread: Thread,
    /// The scheduler began; it ends the section unless it goes on with a thread above the probe.
    scheduled: Option<End>,
    /// In the open non-preemptible section.
    asked: Vec<Asked>,
    nested_since: Option<u64>,
    nested: u64,
    open: [Option<Open>; Kind::ALL.len()],
    tally: Tally,
}

impl Tracker {
    /// In user mode: interrupts on, nothing held.
    pub(crate) fn in_user(preemptible: bool, thread: Thread) -> Tracker {
        Tracker {
            preemptible,
            interrupts: true,
            shadow_ends: None,
            delayed: false,
            word: Word::Bits32(0),
            counted: false,
            kernel: false,
            from_user: false,
            after_hard_interrupt: false,
            soft_interrupts_leave: false,
            thread,
            scheduled: None,
            asked: Vec::new(),
            nested_since: None,
            nested: 0,
            open: [None; Kind::ALL.len()],
            tally: Tally::default(),
        }
    }

    /// In the kernel, which is about to halt the CPU: interrupts and the kernel's count as they are.
    pub(crate) fn at_halt(
        preemptible: bool,
        thread: Thread,
        word: Word,
        interrupts: bool,
        now: u64,
        at: u64,
    ) -> Tracker {
        let mut tracker = Tracker {
            kernel: true,
            word,
            interrupts,
            ..Tracker::in_user(preemptible, thread)
        };
        tracker.update(now, at);
        tracker
    }

    /// The CPU's interrupt flag.
    pub(crate) fn interrupts(&self) -> bool {
        self.interrupts
    }

    /// `cli` at this address is complete.
    pub(crate) fn cli(&mut self, now: u64, at: u64) {
        if self.shadow_ends.is_some_and(|(end, _)| now <= end) {
            self.shadow_ends = None;
        }
        self.set_interrupts(now, at, false);
    }

    /// `sti` at this address is complete; interrupts come after one more instruction.
    pub(crate) fn sti(&mut self, now: u64, at: u64) {
        self.settle(now);
        if !self.interrupts {
            self.interrupts = true;
            self.delayed = true;
            self.after_hard_interrupt = false;
            self.shadow_ends = Some((now + 1, at));
        }
    }

    /// An instruction that loads the flags is complete.
    pub(crate) fn set_interrupts(&mut self, now: u64, at: u64, on: bool) {
        self.settle(now);
        self.interrupts = on;
        self.delayed &= on;
        self.after_hard_interrupt &= !on;
        self.update(now, at);
    }

    /// An interrupt or exception begins.
    pub(crate) fn enter(&mut self, now: u64, at: u64) {
        self.settle(now);
        self.from_user = !self.kernel;
        self.kernel = true;
        self.set_interrupts(now, at, false);
    }

    /// The kernel is left, or an interrupt within it.
    pub(crate) fn leave(&mut self, now: u64, at: u64, interrupts: bool, kernel: bool) {
        self.settle(now);
        self.kernel = kernel;
        self.set_interrupts(now, at, interrupts);
    }

    /// The kernel's count was written.
    pub fn count(&mut self, now: u64, at: u64, word: Word) {
        self.settle(now);
        if word.in_interrupt() != self.word.in_interrupt() {
            match self.nested_since.take() {
                Some(since) => self.nested += now - since,
                None => self.nested_since = Some(now),
            }
        }
        if word.in_soft_interrupt() && !self.word.in_soft_interrupt() {
            self.soft_interrupts_leave = self.returns_to_preemptible(word.beside_soft_interrupt());
        }
        if self.word.in_soft_interrupt() && !word.in_soft_interrupt() {
            let over = self.end(now, at);
            let open = self.asked.iter_mut().rev().take_while(|asked| asked.over.is_none());
            open.for_each(|asked| asked.over = Some(over));
        }
        self.after_hard_interrupt |= word.in_hard_interrupt();
        self.word = word;
        self.counted = true;
        self.update(now, at);
    }

    /// Whether soft interrupts that begin now, with these other reasons not to preempt, return to where the CPU could be
    /// given away. They come behind a hard interrupt, or from a thread that allows them again and holds a count of its own
    /// meanwhile.
    fn returns_to_preemptible(&self, others: u64) -> bool {
        match self.thread.role {
            Role::Idle => true,
            _ if self.after_hard_interrupt => self.from_user || (self.preemptible && others == 0),
            Role::SoftInterrupts if others == 0 => true,
            _ => self.preemptible && others <= 1,
        }
    }

    /// The kernel asks whether it is to reschedule, where it would; `leaving` if this code of a soft interrupt would leave the
    /// rest for later. All other code of interrupts goes on to its end.
    pub(crate) fn poll(&mut self, now: u64, at: u64, leaving: bool) {
        self.settle(now);
        if self.thread.role == Role::Above || self.word.in_hard_interrupt() {
            return;
        }
        let off_since = self.open[Kind::InterruptsOff as usize].map(|open| open.start);
        if !self.word.in_soft_interrupt() {
            if off_since.is_none() {
                self.cut(now, at);
            }
        } else if leaving {
            // A timer that is due with interrupts off is not seen by this question, but by the next.
            let unseen = now - off_since.unwrap_or(now);
            let mut end = self.end(now, at);
            end.now -= unseen;
            end.nested -= unseen;
            if self.soft_interrupts_leave {
                self.cut_at(end);
            } else {
                self.asked.push(Asked { end, over: None });
            }
        }
    }

    /// The CPU halts: an interrupt ends that, now or once interrupts are on.
    pub(crate) fn cut(&mut self, now: u64, at: u64) {
        self.settle(now);
        self.cut_at(self.end(now, at));
    }

    /// The scheduler begins.
    pub(crate) fn schedule(&mut self, now: u64, at: u64) {
        self.settle(now);
        self.go_on_below();
        self.scheduled = Some(self.end(now, at));
    }

    /// Another thread has the CPU, or the one that has it another priority.
    pub(crate) fn runs(&mut self, now: u64, at: u64, thread: Thread) {
        self.settle(now);
        if thread.role == Role::Above {
            self.scheduled = None;
        } else {
            self.go_on_below();
        }
        if self.thread.task != thread.task {
            self.close(Kind::HigherPriority, now, at);
        }
        self.thread = thread;
        self.update(now, at);
    }

    /// The thread that has the CPU.
    pub(crate) fn thread(&self) -> Thread {
        self.thread
    }

    /// What was found.
    pub(crate) fn tally(&mut self) -> &mut Tally {
        &mut self.tally
    }

    /// Everything by place and by length.
    pub(crate) fn summary(&self) -> impl Iterator<Item = Row> {
        self.tally.summary()
    }

    /// Ends the shadow of an `sti` that is over by now.
    fn settle(&mut self, now: u64) {
        if let Some((end, at)) = self.shadow_ends
            && end <= now
        {
            self.shadow_ends = None;
            self.delayed = false;
            self.update(end, at);
        }
    }

    /// The scheduler did not go on with a thread above the probe: it could have gone on with the probe.
    fn go_on_below(&mut self) {
        if let Some(end) = self.scheduled.take() {
            self.cut_at(end);
        }
    }

    fn update(&mut self, now: u64, at: u64) {
        let off = !self.interrupts || self.delayed;
        let counted = !self.word.is_preemptible();
        let above = self.thread.role == Role::Above;
        let held = off || counted || above || (self.kernel && !self.preemptible);
        if !held {
            self.go_on_below();
        }
        for (kind, is) in Kind::ALL.into_iter().zip([off, counted, held, above]) {
            match (self.open[kind as usize].is_some(), is) {
                (false, true) => self.begin(kind, self.end(now, at)),
                (true, false) => self.close(kind, now, at),
                _ => {}
            }
        }
    }

    fn end(&self, now: u64, at: u64) -> End {
        let nested = self.nested + self.nested_since.map_or(0, |since| now - since);
        End { now, nested, at }
    }

    fn cut_at(&mut self, end: End) {
        let kind = Kind::NonPreemptible;
        if self.open[kind as usize].is_some_and(|open| open.start <= end.now) {
            self.close_at(kind, end);
            self.begin(kind, end);
        }
    }

    fn begin(&mut self, kind: Kind, end: End) {
        self.open[kind as usize] = Some(Open {
            start: end.now,
            nested: end.nested,
            from: end.at,
            task: self.thread.task,
        });
    }

    fn close(&mut self, kind: Kind, now: u64, to: u64) {
        self.close_at(kind, self.end(now, to));
    }

    fn close_at(&mut self, kind: Kind, end: End) {
        let Some(mut open) = self.open[kind as usize].take() else {
            return;
        };
        if kind == Kind::NonPreemptible {
            // An end that is known later only comes before what was asked meanwhile: that is of the next section.
            let asked = std::mem::take(&mut self.asked).into_iter();
            let (asked, of_the_next): (Vec<_>, Vec<_>) = asked.partition(|asked| asked.end.now <= end.now);
            self.asked = of_the_next;
            for Asked { end: asked, over } in asked {
                // From the question on, only what followed the soft interrupt would have been left to wait for.
                if let Some(over) = over {
                    let rest = (end.now - over.now, end.nested - over.nested);
                    self.add(kind, open, asked, rest);
                    open.start = asked.now;
                    open.nested = asked.nested;
                    open.from = asked.at;
                }
            }
        }
        self.add(kind, open, end, (0, 0));
    }

    /// A section and what would have followed it, in all and of it nested.
    fn add(&mut self, kind: Kind, open: Open, end: End, (rest, nested_rest): (u64, u64)) {
        self.tally.add(Section {
            kind,
            start: Instructions(open.start),
            length: end.now - open.start + rest,
            nested: end.nested - open.nested + nested_rest,
            from: open.from,
            to: end.at,
            task: open.task,
        });
    }
}

#[cfg(test)]
mod tests;
