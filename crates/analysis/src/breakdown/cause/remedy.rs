//! The change that would remove a cause, with the maxima of the run's other subjects: of those in which the cause is removed, and
//! of those that the words advise and that are as late.

mod words;

use crate::breakdown::spans::{ExplainedSample, Mechanism, Peer, Span, SpanKind, preempts};
use words::Advises;
use worstcase_base::format::micros;
use worstcase_contract::Nanos;

/// A path that takes more than so many times the quickest sample is not the usual one.
const LONG_PATH: u64 = 3;
/// A subject is as late from so many percent of the sample on.
const AS_LATE: u64 = 80;

/// The remedy in words. It cites the run's other subjects if they show it. `by` is the cause's longest span, `total` all its time,
/// `floor` the quickest sample.
pub(crate) fn remedy(
    sample: &ExplainedSample,
    mechanism: Mechanism,
    by: &Span,
    (floor, total): (Nanos, Nanos),
    peers: &[Peer],
) -> String {
    let is_slack = by.what == SpanKind::TimerSlack;
    if mechanism == Mechanism::WakeUpPath && is_long_path(floor, total) && !is_slack {
        return format!(
            "not the usual path, which takes {} us at its quickest here: look at what its longest part ran",
            micros(floor)
        );
    }
    let (words, advises) = words::of(sample, mechanism, by);
    let late = as_late(sample, advises, peers);
    let shown = cited(sample, mechanism, peers);
    let maximum = |p: &Peer| format!("{} has a maximum of {}", p.subject, micros(p.maximum));
    let maxima: Vec<String> = shown.into_iter().map(maximum).collect();
    let better = match maxima.is_empty() {
        true => String::new(),
        false => format!(
            "; under this load {} instead of {} us",
            maxima.join(", "),
            micros(sample.latency_ns)
        ),
    };
    let no_better = late.map_or(String::new(), |late| {
        format!(
            "; in this run {} is as late under this load, {} us",
            late.subject,
            micros(late.maximum)
        )
    });
    words + &better + &no_better
}

/// Whether the path of a wake-up is longer than it usually is.
pub(crate) fn is_long_path(floor: Nanos, total: Nanos) -> bool {
    floor.0 > 0 && total.0 > LONG_PATH * floor.0
}

/// The best subject with the model that the words advise, if it is as late as this one.
fn as_late<'p>(sample: &ExplainedSample, advises: Advises, peers: &'p [Peer]) -> Option<&'p Peer> {
    let is_advised = |p: &&Peer| match advises {
        Advises::Nothing => false,
        Advises::Full => p.preempt == "full",
        Advises::Rt => p.preempt.starts_with("rt"),
    };
    let best = peers.iter().filter(is_advised).min_by_key(|p| p.maximum)?;
    (best.maximum.0 * 100 >= sample.latency_ns.0 * AS_LATE).then_some(best)
}

/// The subjects to cite: the best of those that the words speak of, and the best of all if it is far better.
fn cited<'p>(sample: &ExplainedSample, mechanism: Mechanism, peers: &'p [Peer]) -> Vec<&'p Peer> {
    if mechanism == Mechanism::WakeUpPath {
        return Vec::new();
    }
    let better = |p: &&Peer| p.maximum.0 * 100 < sample.latency_ns.0 * AS_LATE && p.preempt != sample.preempt;
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
        Mechanism::PreemptionOff if !sample.is_of_preempting_kernel() => None,
        _ => best(&|_| true),
    };
    let is_far_better = |p: &&Peer| spoken_of.is_none_or(|s| p.maximum.0 * 2 < s.maximum.0);
    spoken_of.into_iter().chain(of_all.filter(is_far_better)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breakdown::spans::{CodePlace, KernelTask, Since, SpanKind};
    use crate::breakdown::testing::sample;
    use worstcase_contract::policy::ProbePolicy;

    const NOTHING: (Nanos, Nanos) = (Nanos(0), Nanos(0));

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
        remedy(&sample(preempt, 165_000), mechanism, &by("load-shm"), NOTHING, &peers)
    }

    #[test]
    fn what_helps_in_this_run_is_cited_and_what_does_not() {
        let said = remedy_text("none", Mechanism::NoReschedulePoint);
        assert!(
            said.ends_with(
                "6.1 rt has a maximum of 7.60 instead of 165 us; in this run 6.1 full is as late under this load, 148 us"
            ),
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
    fn a_lazy_kernel_lets_its_own_code_run_on_before_an_ordinary_thread() {
        let of = |preempt: &str, since| ExplainedSample {
            since,
            ..sample(preempt, 6_100_000)
        };
        for (preempt, since, preempts) in [
            ("lazy", Since::DueWithSlack, false),
            ("rt lazy", Since::DueWithSlack, false),
            ("full", Since::DueWithSlack, true),
            ("lazy", Since::Due, true),
            ("voluntary", Since::Due, false),
        ] {
            assert_eq!(of(preempt, since).is_of_preempting_kernel(), preempts, "{preempt}");
        }
    }

    #[test]
    fn a_boot_parameter_is_no_advice_for_a_model_that_was_compiled_in() {
        for mechanism in [Mechanism::NoReschedulePoint, Mechanism::PreemptionOff] {
            let sample = ExplainedSample {
                preempt_fixed: true,
                ..sample("voluntary", 165_000)
            };
            let said = remedy(&sample, mechanism, &by("load-shm"), NOTHING, &[]);
            assert!(
                said.starts_with("a kernel built with CONFIG_PREEMPT") && !said.contains("preempt=full"),
                "{said}"
            );
        }
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
        let advice = |comm| remedy(&sample("rt", 15_000), Mechanism::LockOwner, &by(comm), NOTHING, &[]);
        assert!(advice("irq/7-parport0").contains("--chrt irq/N=99"));
        assert!(advice("rcuc/0").starts_with("shorten"));
    }

    #[test]
    fn an_ordinary_thread_is_told_of_turns_and_of_its_slack() {
        let ordinary = ExplainedSample {
            since: Since::DueWithSlack,
            ..sample("lazy", 31_000_000)
        };
        let advice = |mechanism| remedy(&ordinary, mechanism, &by("load-cpu"), NOTHING, &[]);
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
    fn slack_is_told_of_however_quick_another_sample_was() {
        let ordinary = ExplainedSample {
            since: Since::DueWithSlack,
            ..sample("lazy", 62_000)
        };
        let advice = |what| {
            let longest = Span { what, ..by("load-cpu") };
            let times = (Nanos(15_000), Nanos(59_000));
            remedy(&ordinary, Mechanism::WakeUpPath, &longest, times, &[])
        };
        assert!(advice(SpanKind::TimerSlack).contains("PR_SET_TIMERSLACK"));
        assert!(advice(SpanKind::Schedule).starts_with("not the usual path"));
    }

    #[test]
    fn a_long_wait_for_another_thread_may_be_for_the_share_of_ordinary_ones() {
        let advice = |latency, by: &Span| remedy(&sample("full", latency), Mechanism::OtherThread, by, NOTHING, &[]);
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
