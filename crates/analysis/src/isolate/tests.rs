use super::*;
use worstcase_host::isolate::{CauseBySender, EntryCause, EntryGap, EntrySender};
use worstcase_lab::execution::Symbol;
use worstcase_results::verdict::Outcome;

const FLUSH: u64 = 0x1000;
const TICK: u64 = 0x2000;
const SECOND: u64 = 1_000_000_000;

fn names() -> Symbols {
    let all = [
        (FLUSH, "flush_tlb_func"),
        (TICK, "tick_nohz_handler"),
        (0x3000, "smp_call_function_many_cond"),
        (0x4000, "flush_tlb_mm_range"),
        (0x5000, "__x64_sys_munmap"),
        (0x6000, "asm_sysvec_apic_timer_interrupt"),
        (0x7000, "call_timer_fn"),
        (0x8000, "asm_exc_page_fault"),
        (0x9000, "end"),
    ];
    let symbol = |(address, name): (u64, &str)| Symbol {
        address,
        name: name.into(),
        module: None,
    };
    Symbols::new(all.into_iter().map(symbol).collect())
}

fn figures(count: u64, total: u64, worst: u64) -> DurationFigures {
    DurationFigures {
        count,
        total: Nanos(total),
        worst: Nanos(worst),
    }
}

fn sender(chain: u32) -> Option<EntrySender> {
    Some(EntrySender {
        chain,
        thread: "load".into(),
    })
}

/// One CPU with three rows: flushes of two senders, ticks.
fn observed() -> ObservedEntries {
    let flush = |chain, count| CauseBySender {
        cause: EntryCause::Call { function: FLUSH },
        sender: sender(chain),
        figures: figures(count, count * 1_000, 2_000),
    };
    let tick = CauseBySender {
        cause: EntryCause::Timer { function: TICK },
        sender: None,
        figures: figures(4, 4_000, 1_500),
    };
    let gap = |rows: &[u32], count| EntryGap {
        rows: rows.to_vec(),
        figures: figures(count, count * 1_000, 1_000),
    };
    ObservedEntries {
        cpus: vec![CpuEntries {
            cpu: 2,
            program: Some(("mine".into(), 7)),
            is_occupied: false,
            rows: vec![flush(0, 20), tick, flush(1, 8)],
            gaps: vec![gap(&[0], 20), gap(&[1], 3), gap(&[1, 2], 1), gap(&[2], 7)],
            ticks: BTreeMap::from([(4, 3), (0, 1)]),
            lost: 0,
            smis: Smis::Count(0),
            stolen: None,
        }],
        began: Nanos(5 * SECOND),
        time: Nanos(60 * SECOND),
        is_ended_early: false,
        is_program_named: false,
        // The second is the first with other code of the same functions.
        chains: vec![
            vec![u64::MAX - 127, 0x3005, 0x4005, 0x5005],
            vec![u64::MAX - 127, 0x3009, 0x4009, 0x5009],
        ],
        tells_callers: true,
        tells_senders: true,
        uses_probes: false,
        notes: Vec::new(),
    }
}

fn isolation_answer(observed: &ObservedEntries, criterion: Option<u64>, excluded: &[&str]) -> IsolationAnswer {
    let machine = IsolatedMachine {
        tickless: Some("2-3".parse().unwrap()),
        ..IsolatedMachine::default()
    };
    let excluded: Vec<String> = excluded.iter().map(ToString::to_string).collect();
    answer(observed, &names(), &machine, criterion, &excluded)
}

#[test]
fn the_sentence_and_the_lines() {
    let answer = isolation_answer(&observed(), None, &[]);
    let cpu = &answer.cpus[0];
    assert_eq!(
        cpu.sentence,
        "CPU 2 was entered 31 times in 60 s; 27 of them began with call from another CPU: flush_tlb_func, \
         sent by flush_tlb_mm_range, load in munmap(2)"
    );
    let [flush, tick] = &cpu.lines[..] else {
        panic!("{:?}", cpu.lines)
    };
    assert_eq!(
        (flush.kind, flush.count, flush.total_ns, flush.worst_ns),
        ("call", Some(28), Some(28_000), Some(2_000))
    );
    assert_eq!(
        flush.chain,
        ["smp_call_function_many_cond", "flush_tlb_mm_range", "__x64_sys_munmap"]
    );
    assert!(
        flush.remedy.starts_with("keep threads of the same process"),
        "{}",
        flush.remedy
    );
    assert_eq!((tick.kind, tick.count), ("tick", Some(4)));
    assert!(tick.remedy.starts_with("more than one thread"), "{}", tick.remedy);
    assert_eq!(cpu.tick, BTreeMap::from([("sched", 3), ("stopped", 1)]));
}

#[test]
fn nothing_entered() {
    let mut observed = observed();
    observed.cpus[0].rows.clear();
    observed.cpus[0].gaps.clear();
    let answer = isolation_answer(&observed, Some(0), &[]);
    assert_eq!(answer.cpus[0].sentence, "CPU 2 was not entered in 60 s");
    assert_eq!(answer.judgement.unwrap().outcome, Outcome::Pass);
}

#[test]
fn why_the_tick_did_not_stop() {
    let tick = |tickless: Option<&str>| {
        let machine = IsolatedMachine {
            tickless: tickless.map(|list| list.parse().unwrap()),
            ..IsolatedMachine::default()
        };
        let answer = answer(&observed(), &names(), &machine, None, &[]);
        answer.cpus[0].lines[1].remedy.clone()
    };
    assert!(tick(None).contains("CONFIG_NO_HZ_FULL"));
    assert!(tick(Some("3")).contains("nohz_full=CPUS"));
    assert!(tick(Some("2")).contains("more than one thread"));
}

#[test]
fn three_verdicts() {
    let outcome = |observed: &ObservedEntries, most, excluded: &[&str]| {
        let judgement = isolation_answer(observed, Some(most), excluded).judgement.unwrap();
        assert!(!judgement.reasons.is_empty());
        judgement.outcome
    };
    let whole = observed();
    assert_eq!(outcome(&whole, 31, &[]), Outcome::Pass);
    assert_eq!(outcome(&whole, 30, &[]), Outcome::Fail);
    // A flush came within one of the ticks.
    assert_eq!(outcome(&whole, 28, &["tick"]), Outcome::Pass);
    assert_eq!(outcome(&whole, 27, &["tick"]), Outcome::Fail);
    assert_eq!(outcome(&whole, 4, &["flush_tlb_func"]), Outcome::Pass);
    assert_eq!(outcome(&whole, 0, &["flush_tlb_func", "tick"]), Outcome::Pass);
    let mut doubtful = observed();
    doubtful.cpus[0].lost = 1;
    assert_eq!(outcome(&doubtful, 31, &[]), Outcome::Inconclusive);
    assert_eq!(
        outcome(&doubtful, 30, &[]),
        Outcome::Fail,
        "what was lost can only be more"
    );
    let mut early = observed();
    early.is_ended_early = true;
    assert_eq!(outcome(&early, 31, &[]), Outcome::Inconclusive);
    let mut stolen = observed();
    stolen.cpus[0].stolen = Some(Nanos(10_000_000));
    assert_eq!(outcome(&stolen, 31, &[]), Outcome::Inconclusive);
    assert_eq!(outcome(&stolen, 31, &["steal"]), Outcome::Pass);
    let mut firmware = observed();
    firmware.cpus[0].smis = Smis::Count(2);
    assert_eq!(outcome(&firmware, 32, &[]), Outcome::Fail);
    assert_eq!(outcome(&firmware, 31, &["smi"]), Outcome::Pass);
}

#[test]
fn a_sender_is_who_wanted_it() {
    let names = names();
    let sent = |chain: &[u64], thread: &str| {
        let words = words::AddressNames {
            names: &names,
            chains: &[chain.to_vec()],
        };
        words.sender(EntrySender {
            chain: 0,
            thread: thread.into(),
        })
    };
    let said = |chain: &[u64], thread| sent(chain, thread).unwrap_or_default();
    assert_eq!(
        said(&[0x3001, 0x4001, 0x5001], "a"),
        "flush_tlb_mm_range, a in munmap(2)"
    );
    assert_eq!(
        said(&[0x3001, 0x4001, 0x8001], "a"),
        "flush_tlb_mm_range, a in a page fault"
    );
    assert_eq!(
        said(&[0x3001, 0x4001, 0x6001, 0x5001], "a"),
        "flush_tlb_mm_range, an interrupt"
    );
    assert_eq!(said(&[0x4001], ""), "flush_tlb_mm_range, a thread that has ended");
    // The first instruction of a function that is probed, and no return into it.
    assert_eq!(said(&[0x4000, 0x5001], "a"), "flush_tlb_mm_range, a in munmap(2)");
    assert_eq!(said(&[0x7001, 0x6001], "a"), "a timer");
    assert_eq!(sent(&[], ""), None);
}

#[test]
fn a_named_program_that_did_not_run_there_gives_no_pass() {
    let named = |program: Option<(String, u32)>| ObservedEntries {
        is_program_named: true,
        cpus: vec![CpuEntries {
            program,
            ..observed().cpus.remove(0)
        }],
        ..observed()
    };
    let judged = |observed: &ObservedEntries| isolation_answer(observed, Some(1_000), &[]);
    assert_eq!(
        judged(&named(Some(("mine".into(), 7)))).judgement.unwrap().outcome,
        Outcome::Pass
    );
    let answer = judged(&named(None));
    assert_eq!(answer.judgement.unwrap().outcome, Outcome::Inconclusive);
    assert!(answer.notes[0].contains("did not run on CPU 2"), "{:?}", answer.notes);
}

#[test]
fn a_barrier_that_reaches_other_processes_is_told_from_one_that_does_not() {
    let names = |functions: &[&str]| functions.iter().map(ToString::to_string).collect::<Vec<_>>();
    let told = words::CauseText {
        kind: "call",
        text: "call from another CPU: ipi_mb".into(),
        name: Some("ipi_mb".into()),
        is_timed: true,
    };
    let on = &observed().cpus[0];
    let remedy = |chain: Option<&[String]>| remedies::remedy(&told, chain, on, &IsolatedMachine::default());
    let private = remedy(Some(&names(&["membarrier_private_expedited", "__x64_sys_membarrier"])));
    assert!(
        private.contains("in the same process") && !private.contains("GLOBAL"),
        "{private}"
    );
    let global = remedy(Some(&names(&["membarrier_global_expedited", "__x64_sys_membarrier"])));
    assert!(
        global.contains("REGISTER_GLOBAL_EXPEDITED") && !global.contains("same process"),
        "{global}"
    );
    let unknown = remedy(None);
    assert!(
        unknown.contains("same process") && unknown.contains("GLOBAL_EXPEDITED"),
        "{unknown}"
    );
}
