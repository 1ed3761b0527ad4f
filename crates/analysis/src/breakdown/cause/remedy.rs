//! The change that would remove a cause, with the maximum of another subject of the run in which the cause is
//! removed.

use crate::breakdown::spans::{ExplainedSample, Mechanism, Peer, Since, Span, SpanKind, preempts};
use worstcase_base::format::micros;
use worstcase_contract::Nanos;

/// A probe that waits this long for a thread of lower priority waits for the share of each second that ordinary
/// threads have.
const SHARE: Nanos = Nanos(1_000_000);

/// The remedy in words. It cites the run's other subjects if they show it. `by` is the cause's
/// longest span.
pub(crate) fn remedy(sample: &ExplainedSample, mechanism: Mechanism, by: &Span, peers: &[Peer]) -> String {
    let words = match sample.preempt.as_str() {
        _ if sample.since == Since::DueWithSlack && mechanism == Mechanism::OtherThread => {
            "ordinary threads take turns: a better nice level or fewer busy threads shorten the wait, a real-time policy (--policy fifo) ends it"
        }
        _ if sample.since == Since::DueWithSlack && mechanism == Mechanism::WakeUpPath => {
            "nothing stands in the way: up to 50 us are the timer slack of an ordinary thread, which prctl(PR_SET_TIMERSLACK, 1) or a real-time policy (--policy fifo) ends"
        }
        _ if matches!(by.what, SpanKind::OtherThread { server: Some(_), .. }) => {
            "no priority is above the fair server, which keeps a share of each second for ordinary threads where a real-time one leaves them too little: let the real-time threads of this CPU sleep, or end the share (/sys/kernel/debug/sched/fair_server/cpuN/runtime)"
        }
        _ if mechanism == Mechanism::OtherThread && sample.latency_ns >= SHARE => {
            "give the waiting thread a priority above this one; if it has that, a real-time thread never sleeps, and the kernel keeps a share of each second for the others: let that thread sleep, or end the share (sched_rt_runtime_us=-1; from 6.12 on the fair server, /sys/kernel/debug/sched/fair_server/cpuN/runtime)"
        }
        _ if mechanism == Mechanism::LockOwner && by.task.comm.starts_with("irq/") => {
            "give the handler's thread a priority above that of the thread which it wakes (--chrt irq/N=99): it then gives the lock back before that one runs"
        }
        rt if rt.starts_with("rt") => words_for_rt(mechanism),
        model if !preempts(model) => words_without_preemption(mechanism),
        _ => words(mechanism),
    };
    let shown = cited(sample, mechanism, peers);
    let maxima = shown
        .iter()
        .map(|p| format!("{} has a maximum of {}", p.subject, micros(p.maximum)));
    match maxima.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => words.to_string(),
        maxima => format!(
            "{words}; under this load {maxima} instead of {} us",
            micros(sample.latency_ns)
        ),
    }
}

/// The subjects to cite: the best of those that the words speak of, and the best of all if it is far better.
fn cited<'p>(sample: &ExplainedSample, mechanism: Mechanism, peers: &'p [Peer]) -> Vec<&'p Peer> {
    if mechanism == Mechanism::WakeUpPath {
        return Vec::new();
    }
    let better = |p: &&Peer| p.maximum < sample.latency_ns && p.preempt != sample.preempt;
    let spoken_of = |p: &&Peer| match mechanism {
        Mechanism::NoReschedulePoint => p.preempt == "full",
        _ => p.preempt.starts_with("rt"),
    };
    let best = |fits: &dyn Fn(&&Peer) -> bool| {
        let those = peers.iter().filter(better).filter(fits);
        those.min_by_key(|p| p.maximum)
    };
    let spoken_of = best(&spoken_of);
    let of_all = match mechanism {
        Mechanism::NoReschedulePoint => best(&|p| preempts(&p.preempt)),
        // For this mechanism, another model is not better because it preempts.
        Mechanism::PreemptionOff if !preempts(&sample.preempt) => None,
        _ => best(&|_| true),
    };
    let is_far_better = |p: &&Peer| spoken_of.is_none_or(|s| p.maximum.0 * 2 < s.maximum.0);
    spoken_of.into_iter().chain(of_all.filter(is_far_better)).collect()
}

fn words(mechanism: Mechanism) -> &'static str {
    match mechanism {
        Mechanism::InterruptsOff => {
            "no preemption model ends a stretch with interrupts off; PREEMPT_RT has fewer of them, because spin_lock_irqsave leaves interrupts on there"
        }
        Mechanism::PreemptionOff => {
            "PREEMPT_RT makes most spin locks preemptible; otherwise the section itself has to be shorter"
        }
        Mechanism::NoReschedulePoint => "preempt=full takes the CPU at any instruction where no lock is held",
        Mechanism::OtherThread => "give the waiting thread a priority above this one, if it may wait",
        Mechanism::LockOwner => "shorten what the owner does under the lock, or do not share it",
        Mechanism::Waits => {
            "a thread with a deadline must not wait there; for memory, even locked memory: transparent huge pages are put together by khugepaged while it waits (/sys/kernel/mm/transparent_hugepage/enabled, or prctl(PR_SET_THP_DISABLE))"
        }
        Mechanism::SoftInterrupt => {
            "threaded soft interrupts (PREEMPT_RT, or threadirqs for part of them) let a thread of higher priority pass"
        }
        Mechanism::OtherTimer => {
            "shorten that function, or move its work to a thread: PREEMPT_RT does so with timers that are not marked hard"
        }
        Mechanism::OtherInterrupt => {
            "threaded interrupts (PREEMPT_RT, threadirqs), or the device's interrupts on another CPU"
        }
        Mechanism::NotWoken => "look at what runs the timer's function, and at what runs before that",
        Mechanism::OtherCpus => {
            "keep memory mapped instead of unmapping it, or keep the process's threads off the other CPUs: only CPUs that have its memory in use are called"
        }
        Mechanism::WakeUpPath => "nothing stands in the way: only a shorter path or a faster CPU is quicker",
        Mechanism::Unexplained => {
            "nothing of the kernel tells: on a virtual machine its host has to give it CPUs of their own; on a bare one it is firmware or idle states (worstcase host doctor; --probe noise counts such gaps)"
        }
    }
}

/// On a kernel that does not preempt, the first thought is how a preempting kernel would behave.
fn words_without_preemption(mechanism: Mechanism) -> &'static str {
    match mechanism {
        Mechanism::PreemptionOff => {
            "preempt=full waits for the end of this section, too; PREEMPT_RT makes most spin locks preemptible, but no raw ones; otherwise the section itself has to be shorter"
        }
        other => words(other),
    }
}

/// With PREEMPT_RT in force, PREEMPT_RT is no advice.
fn words_for_rt(mechanism: Mechanism) -> &'static str {
    match mechanism {
        Mechanism::InterruptsOff => {
            "this is PREEMPT_RT already, and no preemption model ends a stretch with interrupts off: the stretch itself has to be shorter"
        }
        Mechanism::PreemptionOff => {
            "this is PREEMPT_RT already: the section is under a raw spin lock or keeps preemption off itself, and has to be shorter"
        }
        Mechanism::SoftInterrupt | Mechanism::NotWoken => {
            "on PREEMPT_RT soft timers, such as those of signals, wait for a thread (ktimers): give it a higher priority, or sleep with clock_nanosleep, which the interrupt itself ends"
        }
        Mechanism::OtherTimer => {
            "this is PREEMPT_RT already, and this timer is marked hard: shorten its function, or move its work to a thread"
        }
        Mechanism::OtherInterrupt => {
            "this is PREEMPT_RT already, and this interrupt is not threaded there: put the device's interrupts on another CPU"
        }
        other => words(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breakdown::spans::{CodePlace, KernelTask};
    use crate::breakdown::testing::sample;
    use worstcase_contract::policy::ProbePolicy;

    fn by(comm: &str) -> Span {
        Span {
            task: KernelTask {
                pid: 7,
                comm: comm.into(),
            },
            ..Span::unexplained(Nanos(0), Nanos(1), None)
        }
    }

    fn remedy_text(preempt: &str, mechanism: Mechanism) -> String {
        let peer = |preempt: &str, maximum| Peer {
            subject: format!("6.1 {preempt}"),
            preempt: preempt.into(),
            maximum: Nanos(maximum),
        };
        let peers = [peer("voluntary", 90_000), peer("full", 148_000), peer("rt", 7_600)];
        remedy(&sample(preempt, 165_000), mechanism, &by("load-shm"), &peers)
    }

    #[test]
    fn the_model_of_the_words_is_cited_and_a_far_better_one() {
        let said = remedy_text("none", Mechanism::NoReschedulePoint);
        assert!(
            said.ends_with("6.1 full has a maximum of 148, 6.1 rt has a maximum of 7.60 instead of 165 us"),
            "{said}"
        );
    }

    #[test]
    fn full_is_no_advice_for_a_section_that_it_waits_for() {
        let said = remedy_text("none", Mechanism::PreemptionOff);
        assert!(said.starts_with("preempt=full waits"), "{said}");
        assert!(said.contains("6.1 rt") && !said.contains("6.1 full"), "{said}");
    }

    #[test]
    fn preempt_rt_is_no_advice_where_it_is_in_force() {
        for mechanism in [
            Mechanism::InterruptsOff,
            Mechanism::PreemptionOff,
            Mechanism::OtherTimer,
            Mechanism::OtherInterrupt,
        ] {
            assert!(remedy_text("full", mechanism).contains("PREEMPT_RT"));
            assert!(remedy_text("rt", mechanism).starts_with("this is PREEMPT_RT already"));
        }
        assert!(remedy_text("rt", Mechanism::NotWoken).contains("ktimers"));
    }

    #[test]
    fn a_handlers_thread_that_holds_the_lock_shall_be_more_urgent() {
        let advice = |comm| remedy(&sample("rt", 15_000), Mechanism::LockOwner, &by(comm), &[]);
        assert!(advice("irq/7-parport0").contains("--chrt irq/N=99"));
        assert!(advice("rcuc/0").starts_with("shorten"));
    }

    #[test]
    fn an_ordinary_thread_is_told_of_turns_and_of_its_slack() {
        let ordinary = ExplainedSample {
            since: Since::DueWithSlack,
            ..sample("lazy", 31_000_000)
        };
        let advice = |mechanism| remedy(&ordinary, mechanism, &by("load-cpu"), &[]);
        assert!(advice(Mechanism::OtherThread).starts_with("ordinary threads take turns"));
        assert!(advice(Mechanism::WakeUpPath).contains("PR_SET_TIMERSLACK"));
        assert!(advice(Mechanism::InterruptsOff).contains("PREEMPT_RT"));
        for mechanism in [Mechanism::OtherThread, Mechanism::WakeUpPath] {
            let advice = advice(mechanism);
            let (_, named) = advice.split_once("--policy ").unwrap();
            let (policy, _) = named.split_once(')').unwrap();
            assert!(policy.parse::<ProbePolicy>().is_ok(), "{policy}");
        }
    }

    #[test]
    fn a_long_wait_for_another_thread_may_be_for_the_share_of_ordinary_ones() {
        let advice = |latency, by: &Span| remedy(&sample("full", latency), Mechanism::OtherThread, by, &[]);
        let unknown = by("load-shm");
        assert!(advice(50_000_000, &unknown).contains("from 6.12 on the fair server"));
        assert!(!advice(500_000, &unknown).contains("fair_server"));
        let served = Span {
            what: SpanKind::OtherThread {
                task: unknown.task.clone(),
                owns_lock: false,
                wait: None,
                server: Some(CodePlace::default()),
            },
            ..unknown
        };
        assert!(advice(500_000, &served).starts_with("no priority is above the fair server"));
    }
}
