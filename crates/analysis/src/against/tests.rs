//! Made-up spans against made-up paths of the lab; lengths of the first cases were seen.

use super::judge::Judge;
use super::paths::LabPaths;
use super::*;
use crate::breakdown::spans::{AtDue, Cause, CodePlace, FunctionShare, KernelTask, OffBy};
use crate::breakdown::stacks::{FrameKind, StackFrame};
use crate::breakdown::testing::sample;
use crate::census::CellCensus;
use crate::census::findings::findings;
use crate::census::testing::{A, B, INTERRUPT, length, moment, owned, site, taken};
use crate::census::top::{TopList, list};
use worstcase_contract::census::Kind;
use worstcase_lab::execution::{Symbol, Symbols};

/// The address of another function.
const BATCH: u64 = A + 0x1000;

/// What the lab's kernel has.
const FUNCTIONS: [&str; 8] = [
    "memcpy",
    "vsnprintf",
    "filemap_remove_folio",
    "truncate_inode_folio",
    "free_pcppages_bulk",
    "free_unref_page_list",
    "folio_lruvec_lock_irqsave",
    "seq_read_iter",
];

fn frame(function: &str) -> StackFrame {
    StackFrame {
        function: function.into(),
        module: None,
        kind: FrameKind::Function,
        source: None,
    }
}

fn chain(functions: &[&str]) -> Vec<StackFrame> {
    functions.iter().map(|function| frame(function)).collect()
}

/// Sections of these lengths. With interrupts off: `folio_lruvec_lock_irqsave`, half as long one of a timer's interrupt, a
/// fifth `filemap_remove_folio`. Non-preemptible: the system call of `seq_read_iter`, in which `vsnprintf` runs.
fn lab(interrupts_off: u64, non_preemptible: u64) -> LabPaths {
    let mut taken: CellCensus = taken();
    taken.census.lengths = vec![
        length(Kind::InterruptsOff, interrupts_off, 1),
        length(Kind::NonPreemptible, non_preemptible, 1),
    ];
    let half = interrupts_off / 2;
    taken.census.sites = vec![
        site(Kind::InterruptsOff, INTERRUPT, INTERRUPT, 1, half, half, half),
        site(Kind::NonPreemptible, A, B, 1, non_preemptible, non_preemptible, 0),
        site(
            Kind::NonPreemptible,
            A,
            BATCH,
            1,
            non_preemptible / 4,
            non_preemptible / 4,
            0,
        ),
    ];
    taken.symbols = Symbols::new(
        [
            (A, "handle_softirqs"),
            (B, "finish_task_switch"),
            (BATCH, "rcu_do_batch"),
            (INTERRUPT, "asm_sysvec_apic_timer_interrupt"),
        ]
        .map(|(address, name)| Symbol {
            address,
            name: name.into(),
            module: None,
        })
        .to_vec(),
    );
    taken.moments = vec![moment(0, 10_000, 6_000)];
    let mut reads = owned("entry_SYSCALL_64", "exit_to_user_mode_loop", non_preemptible);
    reads.inside = Some("seq_read_iter".into());
    reads.common = chain(&["do_syscall_64", "vfs_read", "seq_read_iter"]);
    reads.functions = vec![FunctionShare {
        function: "vsnprintf".into(),
        caller: Some("seq_printf".into()),
        total_ns: Nanos(9),
        self_ns: Nanos(9),
    }];
    let off = vec![
        owned("folio_lruvec_lock_irqsave", "folio_batch_move_lru", interrupts_off),
        owned("filemap_remove_folio", "filemap_remove_folio", interrupts_off / 5),
    ];
    let lists = vec![
        list(vec![reads], Nanos(0)),
        TopList::default(),
        list(off, Nanos(0)),
        TopList::default(),
    ];
    let functions = FUNCTIONS.map(String::from).into();
    LabPaths::of_census(&findings(&taken, lists, usize::MAX).unwrap(), functions, 0)
}

fn machine() -> HostSide {
    HostSide {
        steal_ns: Some(Nanos(10_000_000)),
        ordinary_ns: Nanos(12_000),
        cpus: 2,
        slowest_ps: SLOWEST_PS,
    }
}

fn span(what: SpanKind, length: u64, comm: &str) -> Span {
    Span {
        what,
        task: KernelTask {
            pid: 80,
            comm: comm.into(),
        },
        ..Span::unexplained(Nanos(0), Nanos(length), None)
    }
}

fn irqs_off(function: &str, caller: &str, length: u64, comm: &str) -> Span {
    let on = CodePlace {
        function: function.into(),
        caller: Some(caller.into()),
        ..CodePlace::default()
    };
    let what = SpanKind::IrqsOff {
        off: None,
        on: Some(on),
        by: OffBy::NotSeen,
    };
    Span {
        chain: chain(&[caller, function]),
        ..span(what, length, comm)
    }
}

fn judged(lab: &LabPaths, span: &Span) -> Judgement {
    let judge = Judge {
        lab,
        machine: &machine(),
        is_same_model: true,
        has_fewer_cpus: true,
    };
    judge.of(span, true)
}

fn why(lab: &LabPaths, span: &Span) -> NotSeenReason {
    let judged = judged(lab, span);
    assert_eq!(judged.answer, LabAnswer::NotSeen, "{}", judged.words);
    assert!(judged.words.starts_with("no path is named") || judged.words.starts_with("not seen in the lab: "));
    judged.why.unwrap()
}

#[test]
fn three_milliseconds_are_not_five_thousand_instructions() {
    let judged = judged(
        &lab(4_980, 240_000),
        &irqs_off("memcpy", "vsnprintf", 3_332_858, "load-procread"),
    );
    assert_eq!(judged.answer, LabAnswer::Longer);
    assert_eq!(judged.allows_ns, Some(Nanos(10_956)));
    assert_eq!(
        judged.words,
        "longer here than the lab's longest such section with interrupts off allows (4 980 instructions, \
         folio_lruvec_lock_irqsave -> folio_batch_move_lru, at most 11.0 us; the lab has none at this place): not this path, \
         the CPU was stopped or slowed; steal of this record: 10000 us"
    );
}

#[test]
fn nor_are_140_us_fifteen_thousand_even_with_a_wait_for_the_other_cpu() {
    let lab = lab(15_500, 124_000);
    let off = |length| irqs_off("filemap_remove_folio", "truncate_inode_folio", length, "load-shm");
    assert_eq!(judged(&lab, &off(140_444)).answer, LabAnswer::Longer);
    // 34.1 us, and twice that.
    assert_eq!(why(&lab, &off(68_200)), NotSeenReason::OtherCpus);
    assert_eq!(judged(&lab, &off(68_201)).answer, LabAnswer::Longer);
    assert_eq!(why(&lab, &off(34_100)), NotSeenReason::ShorterAtPlace);
    let agrees = judged(&lab, &off(6_820));
    assert_eq!((agrees.answer, agrees.is_at_place), (LabAnswer::Agrees, true));
    assert_eq!(
        agrees.words,
        "agrees: 3 100 instructions in the lab, filemap_remove_folio -> filemap_remove_folio"
    );
    let judge = Judge {
        lab: &lab,
        machine: &machine(),
        is_same_model: true,
        has_fewer_cpus: false,
    };
    assert_eq!(
        judge.of(&off(68_200), true).answer,
        LabAnswer::Longer,
        "it has as many CPUs"
    );
}

#[test]
fn what_the_lab_did_not_run_is_not_refuted() {
    let lab = lab(4_980, 240_000);
    let of_another = irqs_off("filemap_get", "read", 3_000_000, "rustc");
    assert_eq!(why(&lab, &of_another), NotSeenReason::OtherCode("filemap_get".into()));
    let of_another = irqs_off("free_unref_page_list", "memcpy", 3_000_000, "rustc");
    assert_eq!(why(&lab, &of_another), NotSeenReason::OtherProgram("rustc (80)".into()));
    let known = irqs_off("memcpy", "vsnprintf", 3_000_000, "rustc");
    assert_eq!(judged(&lab, &known).answer, LabAnswer::Longer, "the lab ran vsnprintf");
    let call = Span {
        what: SpanKind::NoReschedulePoint,
        ..known
    };
    assert_eq!(why(&lab, &call), NotSeenReason::OtherProgram("rustc (80)".into()));
    let elsewhere = irqs_off("memcpy", "vsnprintf", 9_000, "load-procread");
    assert_eq!(why(&lab, &elsewhere), NotSeenReason::NotAtPlace);
}

#[test]
fn what_grows_with_a_number_is_not_refuted() {
    let lab = lab(4_980, 20_000);
    let rcu = Span {
        chain: chain(&["RCU"]),
        ..span(SpanKind::SoftIrq, 921_759, "load-rcu")
    };
    let shorter = Span {
        length_ns: Nanos(9_000),
        ..rcu.clone()
    };
    assert_eq!(judged(&lab, &shorter).answer, LabAnswer::Agrees);
    assert_eq!(
        why(&lab, &rcu),
        NotSeenReason::Grows("the work of RCU that is due".into())
    );
    let pages = irqs_off("free_unref_page_list", "free_pcppages_bulk", 900_000, "load-shm");
    assert_eq!(
        why(&lab, &pages),
        NotSeenReason::Grows("pages in a CPU's list of free pages".into())
    );
}

#[test]
fn a_system_call_agrees_with_the_section_around_it() {
    let lab = lab(4_980, 240_000);
    let read = |length| Span {
        chain: chain(&["vfs_read", "seq_read_iter", "seq_printf", "vsnprintf", "memcpy"]),
        ..span(SpanKind::NoReschedulePoint, length, "load-procread")
    };
    let agrees = judged(&lab, &read(200_000));
    assert_eq!(agrees.answer, LabAnswer::Agrees, "{}", agrees.words);
    assert!(
        agrees.words.contains("240 000 instructions in the lab"),
        "{}",
        agrees.words
    );
    assert_eq!(judged(&lab, &read(2_000_000)).answer, LabAnswer::Longer);
    let judge = Judge {
        lab: &lab,
        machine: &machine(),
        is_same_model: false,
        has_fewer_cpus: true,
    };
    assert_eq!(judge.of(&read(2_000_000), true).why, Some(NotSeenReason::OtherModel));
    assert_eq!(
        judge
            .of(&irqs_off("memcpy", "vsnprintf", 3_000_000, "load-x"), true)
            .answer,
        LabAnswer::Longer
    );
}

#[test]
fn the_machine_s_own_part_belongs_to_the_path() {
    let lab = lab(4_980, 240_000);
    // 6 000 instructions are 13.2 us, an ordinary wake-up 12.
    assert_eq!(
        judged(&lab, &span(SpanKind::Schedule, 25_200, "load-x")).answer,
        LabAnswer::Agrees
    );
    let slow = judged(&lab, &span(SpanKind::LeaveIdle, 25_201, "swapper/0"));
    assert_eq!(slow.answer, LabAnswer::Longer);
    assert!(
        slow.words
            .contains("such wake-up path allows (6 000 instructions, at most 25.2 us with the cell's median)"),
        "{}",
        slow.words
    );
    let interrupt = |entry: &str, length| {
        let what = SpanKind::OtherIrq { entry: entry.into() };
        judged(&lab, &span(what, length, "load-x"))
    };
    // 2 490 instructions are 5.5 us, 4 980 are 11.
    assert_eq!(interrupt("local_timer", 17_000).answer, LabAnswer::Agrees);
    assert_eq!(interrupt("posix_timer_fn", 17_000).answer, LabAnswer::Agrees);
    assert_eq!(interrupt("local_timer", 90_000).answer, LabAnswer::Longer);
    assert_eq!(
        interrupt("call_function_single", 90_000).why,
        Some(NotSeenReason::NotAtPlace)
    );
    assert_eq!(interrupt("irq 33 eth0", 90_000).why, Some(NotSeenReason::NotAtPlace));
}

#[test]
fn an_interrupt_that_does_not_come_is_held_back_or_the_cpu_is_stopped() {
    let lab = lab(4_980, 240_000);
    let unexplained = |length| span(SpanKind::Unexplained, length, "load-x");
    assert_eq!(judged(&lab, &unexplained(3_000_000)).answer, LabAnswer::Longer);
    // 11 us, and an ordinary wake-up.
    assert_eq!(why(&lab, &unexplained(22_956)), NotSeenReason::NoPath);
    assert_eq!(why(&lab, &unexplained(33_912)), NotSeenReason::OtherCpus);
    assert_eq!(judged(&lab, &unexplained(33_913)).answer, LabAnswer::Longer);
    let unknown = span(SpanKind::Unexplained, 3_000_000, "");
    assert!(matches!(why(&lab, &unknown), NotSeenReason::OtherProgram(_)));
    let judge = Judge {
        lab: &lab,
        machine: &HostSide {
            steal_ns: None,
            ..machine()
        },
        is_same_model: true,
        has_fewer_cpus: true,
    };
    assert_eq!(
        judge.of(&unexplained(3_000_000), false).why,
        Some(NotSeenReason::NoPath)
    );
    let words = judge.of(&unexplained(3_000_000), true).words;
    assert!(words.ends_with("; steal is not counted here"), "{words}");
}

#[test]
fn threads_are_known_by_their_names() {
    let what = |comm: &str| SpanKind::OtherThread {
        task: KernelTask {
            pid: 9,
            comm: comm.into(),
        },
        owns_lock: false,
        wait: None,
        server: None,
    };
    assert_eq!(
        why(&lab(4_980, 9), &span(what("migration/1"), 9_000, "migration/1")),
        NotSeenReason::NoneOfKind
    );
}

#[test]
fn a_breakdown_is_judged_by_the_longest_span_of_its_cause() {
    let spans = vec![
        irqs_off("memcpy", "vsnprintf", 3_000_000, "load-procread"),
        Span {
            start_ns: Nanos(3_000_000),
            ..span(SpanKind::WakeUp, 4_000, "load-procread")
        },
        Span {
            start_ns: Nanos(3_004_000),
            ..span(SpanKind::Unexplained, 5_000_000, "load-procread")
        },
    ];
    let cause = Cause {
        mechanism: Mechanism::InterruptsOff,
        function: None,
        caller: None,
        source: None,
        system_call: None,
        length_ns: Nanos(3_000_000),
        sentence: String::new(),
        remedy: String::new(),
    };
    let breakdown = Breakdown::new(sample("none", 8_004_000), AtDue::default(), cause, spans, Vec::new()).unwrap();
    let side = LabSide {
        run: "lab".into(),
        subject: "6.18".into(),
        preempt: "none".into(),
        load: "procread".into(),
        cells: Vec::new(),
        cpus: 1,
    };
    let told = Confrontation::of(breakdown, &lab(4_980, 240_000), &side, &machine());
    let answers: Vec<LabAnswer> = told.judgements.iter().map(|judged| judged.answer).collect();
    assert_eq!(answers, [LabAnswer::Longer, LabAnswer::Agrees, LabAnswer::NotSeen]);
    let summary = summary(&told);
    assert!(
        summary.starts_with("3000 us, interrupts off in memcpy (called by vsnprintf): longer here than"),
        "{summary}"
    );
}
