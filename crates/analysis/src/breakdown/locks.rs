//! Who holds which spin lock: each lock is followed by its address, as the kernel's lock functions write to it.

use super::frames::{FrameEvent, FrameMark, WindowWalk};
use super::roles::FunctionRole;
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

/// The uses of all spin locks within a window, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct LockUses(Vec<LockUse>);

/// A lock that a thread holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeldLock {
    /// It was taken here.
    Taken(FrameMark),
    /// It was taken before the window, or by what the window does not show, and is given back here.
    Earlier(FrameMark),
}

impl LockUses {
    /// Those of an execution.
    pub(crate) fn of(execution: &Execution, walk: &WindowWalk) -> LockUses {
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
            let mut address = 0;
            execution.for_each_address(write.count.0..write.count.0 + 1, |found| address = found);
            uses.push(LockUse {
                lock: write.lock,
                role,
                at: FrameMark {
                    count: write.count.0,
                    what: FrameEvent::Enter(role),
                    address,
                    stack: ran.stack,
                    site: ran.site,
                    pid: ran.pid,
                },
            });
        }
        LockUses(uses)
    }

    /// The lock that a thread has held longest at an instruction.
    pub(crate) fn held(&self, pid: u32, count: u64) -> Option<HeldLock> {
        let own: Vec<&LockUse> = self.0.iter().filter(|u| u.at.pid == pid).collect();
        let (before, after) = own.split_at(own.partition_point(|u| u.at.count < count));
        let earlier = after.iter().enumerate().find(|(i, u)| {
            let is_first = |of: &[&LockUse]| of.iter().all(|other| other.lock != u.lock);
            u.role == FunctionRole::SpinUnlock && is_first(&after[..*i]) && is_first(before)
        });
        if let Some((_, given)) = earlier {
            return Some(HeldLock::Earlier(given.at));
        }
        let mut held: Vec<&LockUse> = Vec::new();
        for (i, u) in before.iter().enumerate() {
            let is_own = |other: &&&LockUse| other.lock == u.lock;
            match u.role {
                FunctionRole::SpinLock => held.push(u),
                // Who did not get it tries again, or takes it; who got it gives it back.
                FunctionRole::SpinTry => {
                    let next = before[i + 1..].iter().chain(after).find(is_own);
                    if next.is_some_and(|next| next.role == FunctionRole::SpinUnlock) {
                        held.push(u);
                    }
                }
                _ => {
                    if let Some(taken) = held.iter().rposition(|taken| taken.lock == u.lock) {
                        held.remove(taken);
                    }
                }
            }
        }
        held.first().map(|u| HeldLock::Taken(u.at))
    }
}

const LOCKS: [FunctionRole; 3] = [FunctionRole::SpinLock, FunctionRole::SpinTry, FunctionRole::SpinUnlock];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breakdown::frames::walk;
    use crate::breakdown::testing::SyntheticMachine;

    /// The function that took the lock which is held longest at an instruction; `given in` if it was taken earlier.
    fn held(m: &SyntheticMachine, count: u64) -> Option<String> {
        let (execution, symbols) = m.execution();
        let walk = walk(&execution, &symbols);
        let name = |mark: FrameMark| {
            let caller = walk.stacks.caller(mark.stack).unwrap();
            walk.stacks.frame(caller).function.clone()
        };
        LockUses::of(&execution, &walk).held(7, count).map(|held| match held {
            HeldLock::Taken(at) => name(at),
            HeldLock::Earlier(at) => format!("given in {}", name(at)),
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
        m.call("before").lock(0xa0).calls("_raw_spin_lock", 3).ret();
        m.call("after").lock(0xb0).calls("_raw_spin_lock", 3);
        m.lock(0xa0).calls("_raw_spin_unlock", 3).work(100);
        let at = m.count;
        m.lock(0xb0).calls("_raw_spin_unlock", 3).ret();
        assert_eq!(held(&m, at).as_deref(), Some("after"));
        assert_eq!(held(&m, m.count), None);
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
    fn a_lock_that_the_window_does_not_show_is_seen_when_it_is_given_back() {
        let mut m = machine();
        m.call("owner").work(50);
        let at = m.count;
        m.lock(0xb0)
            .calls("_raw_spin_lock", 3)
            .lock(0xa0)
            .calls("_raw_spin_unlock", 3)
            .ret();
        assert_eq!(held(&m, at).as_deref(), Some("given in owner"));
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
