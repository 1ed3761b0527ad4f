//! What must be told of each planted delay.

use super::told::MustTell;
use worstcase_analysis::breakdown::cause::Mechanism::{self, *};

const fn row(
    planted: &'static str,
    preempt: &'static str,
    mechanisms: &'static [Mechanism],
    names: &'static [&'static str],
    helps: &'static [&'static str],
) -> MustTell {
    MustTell {
        planted,
        preempt,
        mechanisms,
        names,
        helps,
    }
}

const AS_LATE: &str = "rt is as late under this load";

/// On one CPU, under PREEMPT_RT and under models that take the CPU from code of the kernel.
pub(super) const ALONE: &[MustTell] = &[
    row(
        "planted timer",
        "full",
        &[OtherTimer],
        &["planted_timer"],
        &["shorten that function"],
    ),
    row(
        "planted tasklet",
        "full",
        &[SoftInterrupt],
        &["planted_tasklet"],
        &["threaded soft interrupts", "rt has a maximum of"],
    ),
    row(
        "planted preempt",
        "full",
        &[PreemptionOff],
        &["planted_preempt", "kept preemption off"],
        &[AS_LATE],
    ),
    row(
        "sections raw",
        "full",
        &[PreemptionOff],
        &["planted_raw", "held a spin lock"],
        &["if its lock is no raw one", AS_LATE],
    ),
    row(
        "sections raw",
        "rt",
        &[PreemptionOff],
        &["planted_raw", "held a spin lock"],
        &["under a raw spin lock"],
    ),
    row(
        "sections lock",
        "full",
        &[PreemptionOff],
        &["planted_lock", "held a spin lock"],
        &["PREEMPT_RT", "rt has a maximum of"],
    ),
    row(
        "sections rwlock",
        "full",
        &[PreemptionOff],
        &["planted_rwlock", "held a spin lock"],
        &["rt has a maximum of"],
    ),
    row(
        "sections irqsave",
        "full",
        &[InterruptsOff],
        &["planted_irqsave"],
        &["not under a raw lock", AS_LATE],
    ),
    row(
        "sections irqsave",
        "rt",
        &[InterruptsOff],
        &["planted_irqsave"],
        &["this is PREEMPT_RT already"],
    ),
    row(
        "sections irqsoff",
        "full",
        &[InterruptsOff],
        &["planted_irqsoff"],
        &["only if a local lock", AS_LATE],
    ),
    row(
        "sections irqsoff",
        "rt",
        &[InterruptsOff],
        &["planted_irqsoff"],
        &["this is PREEMPT_RT already"],
    ),
    row(
        "sections bh",
        "full",
        &[PreemptionOff],
        &["planted_bh"],
        &["local_bh_disable()", "rt has a maximum of"],
    ),
    row(
        "sections trylock",
        "full",
        &[PreemptionOff],
        &["planted_trylock", "held a spin lock"],
        &[AS_LATE],
    ),
    row(
        "sections hand",
        "full",
        &[PreemptionOff],
        &["planted_after", "held a spin lock"],
        &[AS_LATE],
    ),
    row(
        "sections hand",
        "rt",
        &[PreemptionOff],
        &["planted_after", "held a spin lock"],
        &["has to be shorter"],
    ),
    row(
        "waits mutex",
        "full",
        &[Waits],
        &[
            "planted_needs_mutex",
            "for a mutex",
            "gave it back in planted_owns_mutex",
        ],
        &["lends its owner no priority"],
    ),
    row(
        "waits mutex",
        "rt",
        &[LockOwner],
        &["planted_needs_mutex", "inherited", "planted_owns_mutex"],
        &["shorten what the owner does"],
    ),
    row(
        "waits rtmutex",
        "full",
        &[LockOwner],
        &["planted_needs_rtmutex", "inherited", "planted_owns_rtmutex"],
        &["shorten what the owner does"],
    ),
    row(
        "waits rwsem",
        "full",
        &[Waits],
        &["reader-writer semaphore", "gave it back in planted_owns_rwsem"],
        &["lends its owner no priority"],
    ),
    row(
        "waits completion",
        "full",
        &[Waits],
        &[
            "planted_needs_completion",
            "for a completion",
            "in planted_owns_completion",
        ],
        &["who completes it"],
    ),
    row(
        "deferred irqwork",
        "full",
        &[OtherInterrupt],
        &["irq_work", "planted_work"],
        &["not marked hard", "rt has a maximum of"],
    ),
    row(
        "deferred hardwork",
        "full",
        &[OtherInterrupt],
        &["irq_work", "planted_work"],
        // What rt's own maximum is hangs on the phase.
        &["not marked hard"],
    ),
    row(
        "deferred hardwork",
        "rt",
        &[OtherInterrupt],
        &["irq_work", "planted_work"],
        &["marked hard"],
    ),
    row(
        "deferred rcu",
        "full",
        &[SoftInterrupt],
        &["rcu_do_batch", "planted_work"],
        &["threaded soft interrupts", "rt has a maximum of"],
    ),
    row(
        "deferred thread",
        "full",
        &[OtherThread],
        &["planted", "ran first"],
        &["higher priority of the two"],
    ),
    row(
        "waits between",
        "full",
        &[Waits],
        &[
            "for a mutex",
            "gave it back in planted_owns_between",
            "between",
            "kept that one from running",
        ],
        &["above the thread that kept it from running"],
    ),
    row(
        "waits exitwork",
        "full",
        &[ExitWork],
        &["planted_exitwork"],
        &["done by another thread"],
    ),
    row(
        "waits exitwork",
        "rt",
        &[ExitWork],
        &["planted_exitwork"],
        &["done by another thread"],
    ),
    row(
        "waits taskwork",
        "full",
        &[PreemptionOff],
        &["planted_taskwork", "held a spin lock"],
        &[AS_LATE],
    ),
    row(
        "waits signal",
        "full",
        &[PreemptionOff],
        &["planted_signal", "held a spin lock"],
        &[AS_LATE],
    ),
    row(
        "waits signal",
        "rt",
        &[PreemptionOff],
        &["planted_signal", "held a spin lock"],
        &["under a raw spin lock"],
    ),
    row(
        "deferred release",
        "full",
        &[PreemptionOff],
        &["planted_release", "held a spin lock", "in close(2)"],
        &[AS_LATE],
    ),
    row(
        "deferred release",
        "rt",
        &[PreemptionOff],
        &["planted_release", "held a spin lock", "in close(2)"],
        &["under a raw spin lock"],
    ),
];

/// On two, of which the probe has the second.
pub(super) const BESIDE: &[MustTell] = &[
    row(
        "deferred ipi",
        "full",
        &[OtherInterrupt],
        &["call_function", "planted_work", "planted_caller"],
        &["called from another CPU"],
    ),
    row(
        "deferred stop",
        "full",
        &[OtherThread, InterruptsOff],
        &["migration/1", "planted_work"],
        &["no priority is above"],
    ),
    row(
        "sections spins",
        "full",
        &[SpinsForLock],
        &["planted_spins", "another CPU held", "meanwhile CPU 0", "planted_work"],
        &["hold the lock more briefly"],
    ),
];

/// What delays only where code of the kernel keeps the CPU until it gives it away.
pub(super) const UNTIL_GIVEN: &[MustTell] = &[
    row(
        "deferred work",
        "none",
        &[NoReschedulePoint],
        &["planted_item"],
        &["preempt=full takes the CPU"],
    ),
    row(
        "deferred call",
        "none",
        &[NoReschedulePoint],
        &["planted_long", "in close(2)"],
        &["preempt=full takes the CPU"],
    ),
];

/// On one CPU, under a model that leaves the CPU to code of the kernel until it gives it away; and one that counts no section
/// with preemption off, as arm64's of 6.12.
pub(super) const VOLUNTARY: &[MustTell] = &[
    row(
        "planted timer",
        "voluntary",
        &[OtherTimer],
        &["planted_timer"],
        &["shorten that function"],
    ),
    row(
        "planted tasklet",
        "voluntary",
        &[SoftInterrupt],
        &["planted_tasklet"],
        &["threaded soft interrupts", "rt has a maximum of"],
    ),
    row(
        "planted preempt",
        "voluntary",
        &[NoReschedulePoint],
        &["planted_preempt"],
        &[],
    ),
    row("sections raw", "voluntary", &[NoReschedulePoint], &["planted_raw"], &[]),
    row(
        "sections irqsave",
        "voluntary",
        &[InterruptsOff],
        &["planted_irqsave"],
        // Its lock is no function there.
        &[AS_LATE],
    ),
    row(
        "sections irqsoff",
        "voluntary",
        &[InterruptsOff],
        &["planted_irqsoff"],
        &["only if a local lock", AS_LATE],
    ),
    row(
        "waits mutex",
        "voluntary",
        &[NoReschedulePoint],
        &["planted_owns_mutex"],
        &[],
    ),
    row(
        "deferred rcu",
        "voluntary",
        &[SoftInterrupt],
        &["rcu_do_batch", "planted_rcu", "planted_work"],
        &["threaded soft interrupts", "rt has a maximum of"],
    ),
    row(
        "deferred hardwork",
        "voluntary",
        &[OtherInterrupt],
        &["irq_work", "planted_work"],
        &["not marked hard"],
    ),
    row(
        "deferred thread",
        "voluntary",
        &[OtherThread],
        &["planted", "ran first"],
        &["higher priority of the two"],
    ),
    row(
        "deferred call",
        "voluntary",
        &[NoReschedulePoint],
        &["planted_long", "in close(2)"],
        &[],
    ),
    row(
        "waits exitwork",
        "voluntary",
        &[ExitWork],
        &["planted_exitwork"],
        &["done by another thread"],
    ),
];

/// In place of the same rows on arm64, where what waits is called by functions of its own, and not jumped to.
pub(super) const CALLED: &[MustTell] = &[
    row(
        "waits mutex",
        "full",
        &[Waits],
        &["for a mutex", "gave it back in planted_owns_mutex"],
        &["lends its owner no priority"],
    ),
    row(
        "waits completion",
        "full",
        &[Waits],
        &["for a completion", "in planted_owns_completion"],
        &["who completes it"],
    ),
];
