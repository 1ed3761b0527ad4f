//! Who holds which spin lock: each lock is followed by its address, as the kernel's lock functions write to it.

use super::frames::{FrameEvent, FrameMark, WindowWalk};
use super::roles::FunctionRole;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use worstcase_lab::execution::Execution;

/// Two writes of one call of a lock function are at most so many instructions apart.
const ONE_CALL: u64 = 64;

/// A lock function writes to a lock.
#[derive(Clone, Copy, Debug)]
struct LockUse {
    lock: u64,
    role: FunctionRole,
    at: FrameMark,
}

/// Which spin locks each thread of a window holds, and how long.
#[derive(Clone, Debug, Default)]
pub(crate) struct LockHolds {
    of_thread: HashMap<u32, Vec<LockHold>>,
}

/// A lock that a thread holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeldLock {
    /// It was taken here.
    Taken(FrameMark),
    /// It was taken before the window.
    Earlier,
}

/// How long a thread holds a lock.
#[derive(Clone, Copy, Debug)]
struct LockHold {
    lock: HeldLock,
    until: u64,
    /// The latest end of this one and of those that began before.
    latest: u64,
}

impl LockHold {
    fn new(lock: HeldLock, until: u64) -> LockHold {
        LockHold { lock, until, latest: 0 }
    }

    fn from(&self) -> u64 {
        match self.lock {
            HeldLock::Taken(mark) => mark.count,
            HeldLock::Earlier => 0,
        }
    }
}

impl LockHolds {
    /// Those of an execution.
    pub(crate) fn of(execution: &Execution, walk: &WindowWalk) -> LockHolds {
        let uses = uses(execution, walk);
        // Who did not get a lock that he tried tries again, or takes it; who got it gives it back.
        let mut next: HashMap<(u32, u64), FunctionRole> = HashMap::new();
        let mut got: Vec<bool> = uses
            .iter()
            .rev()
            .map(|u| next.insert((u.at.pid, u.lock), u.role) == Some(FunctionRole::SpinUnlock))
            .collect();
        got.reverse();
        let mut of_thread: HashMap<u32, Vec<LockHold>> = HashMap::new();
        // The holds of a lock that last; an empty list for one that was used.
        let mut open: HashMap<(u32, u64), Vec<usize>> = HashMap::new();
        for (u, got) in uses.iter().zip(got) {
            let holds = of_thread.entry(u.at.pid).or_default();
            let is_first = !open.contains_key(&(u.at.pid, u.lock));
            let open = open.entry((u.at.pid, u.lock)).or_default();
            match u.role {
                FunctionRole::SpinTry if !got => {}
                FunctionRole::SpinUnlock => match open.pop() {
                    Some(number) => holds[number].until = u.at.count,
                    None if is_first => holds.push(LockHold::new(HeldLock::Earlier, u.at.count)),
                    None => {}
                },
                _ => {
                    open.push(holds.len());
                    holds.push(LockHold::new(HeldLock::Taken(u.at), u64::MAX));
                }
            }
        }
        for holds in of_thread.values_mut() {
            holds.sort_by_key(LockHold::from);
            let mut latest = 0;
            for hold in holds {
                latest = hold.until.max(latest);
                hold.latest = latest;
            }
        }
        LockHolds { of_thread }
    }

    /// The lock that a thread holds for most of a range; of several that which was taken first.
    pub(crate) fn held(&self, pid: u32, range: Range<u64>) -> Option<HeldLock> {
        let holds = self.of_thread.get(&pid)?;
        let begun = &holds[..holds.partition_point(|hold| hold.from() < range.end)];
        let part = |hold: &LockHold| {
            let end = hold.until.min(range.end);
            end.saturating_sub(hold.from().max(range.start))
        };
        let last = begun.iter().rev().take_while(|hold| hold.latest > range.start);
        let within = last.filter(|hold| part(hold) > 0);
        let most = within.max_by_key(|hold| (part(hold), Reverse(hold.from())));
        most.map(|hold| hold.lock)
    }
}

/// The uses of all spin locks, in order.
fn uses(execution: &Execution, walk: &WindowWalk) -> Vec<LockUse> {
    let mut uses: Vec<LockUse> = Vec::new();
    for write in &execution.lock_writes {
        let Some(ran) = walk.at(write.count.0) else { continue };
        let role = match walk.stacks.role(ran.stack) {
            Some(role) if LOCKS.contains(&role) => role,
            // Where unlocking is no function.
            _ => FunctionRole::SpinUnlock,
        };
        let is_same_call = |last: &LockUse| {
            (last.lock, last.role, last.at.stack) == (write.lock, role, ran.stack)
                && write.count.0 - last.at.count < ONE_CALL
        };
        if uses.last().is_some_and(is_same_call) {
            continue;
        }
        let at = walk.mark(execution, write.count.0, FrameEvent::Enter(role));
        uses.extend(at.map(|at| LockUse {
            lock: write.lock,
            role,
            at,
        }));
    }
    uses
}

const LOCKS: [FunctionRole; 3] = [FunctionRole::SpinLock, FunctionRole::SpinTry, FunctionRole::SpinUnlock];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breakdown::frames::walk;
    use crate::breakdown::testing::SyntheticMachine;

    /// The function that took the lock which is held longest from an instruction on; `earlier` if it is not seen.
    fn held(m: &SyntheticMachine, count: u64) -> Option<String> {
        let (execution, symbols) = m.execution();
        let walk = walk(&execution, &symbols);
        let name = |mark: FrameMark| {
            let caller = walk.stacks.caller(mark.stack).unwrap();
            walk.stacks.frame(caller).function.clone()
        };
        let held = LockHolds::of(&execution, &walk).held(7, count..m.count + 1);
        held.map(|held| match held {
            HeldLock::Taken(at) => name(at),
            HeldLock::Earlier => "earlier".to_string(),
        })
    }

    fn machine() -> SyntheticMachine {
        let mut m = SyntheticMachine::in_user(7, "load");
        m.work(10).syscall().call("__x64_sys_shmdt").work(4);
        m
    }

    #[test]
    fn a_lock_that_was_handed_over_is_held_no_more() {
        let mut m = machine();
        m.call("before").lock(0xa0).calls("_raw_spin_lock", 3);
        let before = m.count;
        m.ret();
        m.call("after").lock(0xb0).calls("_raw_spin_lock", 3);
        m.lock(0xa0).calls("_raw_spin_unlock", 3).work(100);
        let at = m.count;
        m.lock(0xb0).calls("_raw_spin_unlock", 3).ret();
        assert_eq!(held(&m, at).as_deref(), Some("after"));
        assert_eq!(held(&m, before).as_deref(), Some("after"));
    }

    #[test]
    fn a_lock_that_was_only_tried_is_not_held() {
        let mut m = machine();
        m.call("owner").lock(0xa0).calls("_raw_spin_lock", 3);
        m.call("tries")
            .lock(0xb0)
            .calls("_raw_spin_trylock", 3)
            .calls("_raw_spin_unlock", 3);
        m.lock(0xc0).calls("_raw_spin_trylock", 3).ret().work(50);
        let at = m.count;
        m.lock(0xa0).calls("_raw_spin_unlock", 3).ret();
        assert_eq!(held(&m, at).as_deref(), Some("owner"));
        let mut m = machine();
        m.call("tries").lock(0xb0).calls("_raw_spin_trylock", 3).work(50);
        let at = m.count;
        m.calls("_raw_spin_unlock", 3).ret();
        assert_eq!(held(&m, at).as_deref(), Some("tries"));
    }

    #[test]
    fn a_lock_that_was_taken_before_the_window_is_seen_when_it_is_given_back() {
        let mut m = machine();
        m.call("owner").work(50);
        let at = m.count;
        m.lock(0xb0).calls("_raw_spin_lock", 3).calls("_raw_spin_unlock", 3);
        m.lock(0xa0).calls("_raw_spin_unlock", 3).ret();
        assert_eq!(held(&m, at).as_deref(), Some("earlier"));
    }

    #[test]
    fn an_interrupt_gives_back_its_own() {
        let mut m = machine();
        m.call("owner").lock(0xa0).calls("_raw_spin_lock", 3);
        m.interrupt("asm_sysvec_apic_timer_interrupt").call("tick");
        m.lock(0xb0)
            .calls("_raw_spin_lock", 3)
            .work(5)
            .calls("_raw_spin_unlock", 3)
            .ret()
            .iret();
        m.work(5);
        assert_eq!(held(&m, m.count).as_deref(), Some("owner"));
    }
}
