use super::*;
use crate::isolate::senders::QueuedFunction;
use crate::isolate::tally::{CauseBySender, DurationFigures, EntryGap};

const PROGRAM: u32 = 10;
const WORKER: u32 = 20;
const OTHER: u32 = 30;

fn known(tid: u32) -> Known {
    let kind = match tid {
        0 => ThreadKind::Idle,
        WORKER => ThreadKind::Kernel,
        tid => ThreadKind::Program(tid),
    };
    Known {
        kind,
        name: "asked".into(),
    }
}

fn sender(chain: u32) -> EntrySender {
    EntrySender {
        chain,
        thread: "load".into(),
    }
}

fn switch(tid: u32, name: &str) -> TracedChange {
    TracedChange::Switch {
        from: TracedThread::default(),
        asleep: false,
        to: TracedThread {
            tid,
            priority: 120,
            comm: name.into(),
        },
    }
}

fn timer(timer: u64, function: u64) -> CpuContext {
    CpuContext::TimerFunction { timer, function }
}

const CALL: fn() -> CpuContext = || CpuContext::Vector("call_function".into());
const RESCHEDULE: fn() -> CpuContext = || CpuContext::Vector("reschedule".into());

fn begin(part: CallbackKind, of: u64, function: u64) -> TracedChange {
    TracedChange::Begin { part, of, function }
}

fn end(part: CallbackKind, of: u64) -> TracedChange {
    TracedChange::End { part, of }
}

fn followed(events: &[(u64, u32, TracedChange)], senders: &mut Senders) -> Follow {
    let mut follow = Follow::new(1, Nanos(1_000));
    for (at, tid, what) in events {
        follow.feed(Nanos(*at), *tid, *what, senders, known);
    }
    follow.finish(Nanos(1_000_000), senders);
    follow
}

type Shown = Vec<(EntryCause, Option<u32>, u64, u64, u64)>;

fn rows(follow: Follow) -> (Shown, Vec<(Vec<u32>, u64, u64)>) {
    let (rows, gaps) = follow.tally.finish();
    let row = |row: &CauseBySender| {
        let DurationFigures { count, total, worst } = row.figures;
        (row.cause, row.sender.map(|s| s.chain), count, total.0, worst.0)
    };
    let gap = |gap: EntryGap| (gap.rows, gap.figures.count, gap.figures.worst.0);
    (rows.iter().map(row).collect(), gaps.into_iter().map(gap).collect())
}

#[test]
fn an_interrupt_has_the_functions_of_its_timers_and_brings_its_soft_interrupt() {
    let soft = CpuContext::Soft(9);
    let follow = followed(
        &[
            (2_000, PROGRAM, TracedChange::Enter(CpuContext::Timer)),
            (2_100, PROGRAM, TracedChange::Enter(timer(5, 0x70))),
            (2_400, PROGRAM, TracedChange::Exit(timer(5, 0))),
            (2_500, PROGRAM, TracedChange::Enter(timer(6, 0x80))),
            (2_700, PROGRAM, TracedChange::Exit(timer(6, 0))),
            (3_000, PROGRAM, TracedChange::Exit(CpuContext::Timer)),
            (3_200, PROGRAM, TracedChange::Enter(soft)),
            (3_900, PROGRAM, TracedChange::Exit(soft)),
        ],
        &mut Senders::default(),
    );
    let (rows, gaps) = rows(follow);
    // The interrupt's own time counts for the first timer.
    let expected = vec![
        (EntryCause::Timer { function: 0x70 }, None, 1, 300 + 500, 800),
        (EntryCause::Timer { function: 0x80 }, None, 1, 200, 200),
        (EntryCause::Soft { vector: 9, function: 0 }, None, 1, 700, 700),
    ];
    assert_eq!(rows, expected);
    assert_eq!(gaps, [(vec![0, 1, 2], 1, 1_900)]);
}

#[test]
fn two_interrupts_one_after_the_other_are_two_entries_and_a_nested_one_is_none() {
    let follow = followed(
        &[
            (2_000, PROGRAM, TracedChange::Enter(CALL())),
            (2_500, PROGRAM, TracedChange::Exit(CALL())),
            (2_600, PROGRAM, TracedChange::Enter(CpuContext::Timer)),
            (2_700, PROGRAM, TracedChange::Enter(RESCHEDULE())),
            (2_800, PROGRAM, TracedChange::Exit(RESCHEDULE())),
            (3_000, PROGRAM, TracedChange::Exit(CpuContext::Timer)),
        ],
        &mut Senders::default(),
    );
    let (rows, gaps) = rows(follow);
    assert_eq!(rows[1], (EntryCause::Reschedule, None, 1, 100, 100));
    assert_eq!(rows[2], (EntryCause::Timer { function: 0 }, None, 1, 300, 300));
    assert_eq!(gaps, [(vec![0], 1, 500), (vec![2, 1], 1, 400)]);
}

#[test]
fn calls_and_interrupts_have_the_sender_that_sent_them() {
    let mut senders = Senders::default();
    let called = |chain| QueuedFunction {
        function: 0x77,
        sender: sender(chain),
    };
    senders.call(1, 0x500, called(1));
    senders.call(2, 0x500, called(2));
    senders.interrupt(1, sender(3));
    let follow = followed(
        &[
            (2_000, PROGRAM, TracedChange::Enter(CALL())),
            (2_100, PROGRAM, begin(CallbackKind::Call, 0x500, 0x77)),
            (2_200, PROGRAM, end(CallbackKind::Call, 0x500)),
            (2_500, PROGRAM, TracedChange::Exit(CALL())),
            (50_000, PROGRAM, TracedChange::Enter(RESCHEDULE())),
            (50_100, PROGRAM, TracedChange::Exit(RESCHEDULE())),
            // The sender of the second is not known.
            (90_000, PROGRAM, TracedChange::Enter(RESCHEDULE())),
            (90_100, PROGRAM, TracedChange::Exit(RESCHEDULE())),
        ],
        &mut senders,
    );
    let (rows, _) = rows(follow);
    let expected = vec![
        (EntryCause::Call { function: 0x77 }, Some(1), 1, 500, 500),
        (EntryCause::Reschedule, Some(3), 1, 100, 100),
        (EntryCause::Reschedule, None, 1, 100, 100),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn a_call_that_was_not_seen_to_begin_is_what_was_queued_last() {
    let mut senders = Senders::default();
    let called = QueuedFunction {
        function: 0x88,
        sender: sender(4),
    };
    senders.call(1, 0x600, called);
    let single = CpuContext::Vector("call_function_single".into());
    let events = [
        (2_000, PROGRAM, TracedChange::Enter(single)),
        (2_500, PROGRAM, TracedChange::Exit(single)),
    ];
    let (rows, _) = rows(followed(&events, &mut senders));
    assert_eq!(rows, [(EntryCause::Call { function: 0x88 }, Some(4), 1, 500, 500)]);
}

#[test]
fn what_a_cpu_calls_itself_did_not_enter_it() {
    let events = [
        (2_000, PROGRAM, begin(CallbackKind::Call, 0, 0x77)),
        (2_500, PROGRAM, end(CallbackKind::Call, 0)),
    ];
    let (rows, gaps) = rows(followed(&events, &mut Senders::default()));
    assert!(rows.is_empty() && gaps.is_empty());
}

#[test]
fn a_worker_has_its_work_with_who_queued_it_even_where_it_sleeps_in_between() {
    let mut senders = Senders::default();
    senders.wake(WORKER, sender(1));
    senders.work(0x900, sender(2));
    let name: ShortName = "kworker".into();
    let follow = followed(
        &[
            (2_000, PROGRAM, TracedChange::Enter(RESCHEDULE())),
            (2_100, PROGRAM, TracedChange::Exit(RESCHEDULE())),
            (2_300, PROGRAM, switch(WORKER, "kworker/1:2")),
            (2_400, WORKER, begin(CallbackKind::Work, 0x900, 0x99)),
            (2_900, WORKER, switch(PROGRAM, "mine")),
            (5_000, PROGRAM, switch(WORKER, "kworker/1:2")),
            (5_200, WORKER, end(CallbackKind::Work, 0)),
            (5_300, WORKER, switch(PROGRAM, "mine")),
        ],
        &mut senders,
    );
    let (rows, gaps) = rows(follow);
    let work = EntryCause::Thread { name, function: 0x99 };
    assert_eq!(rows[0], (EntryCause::Reschedule, None, 1, 100, 100));
    assert_eq!(rows[1], (work, Some(2), 2, 600 + 300, 600));
    assert_eq!(gaps.len(), 2, "the reschedule brought the worker: {gaps:?}");
    assert!(gaps.contains(&(vec![0, 1], 1, 900)));
}

#[test]
fn programs_take_turns_and_their_faults_are_told_apart() {
    let follow = followed(
        &[
            (500, PROGRAM, switch(PROGRAM, "mine")),
            (2_000, PROGRAM, TracedChange::PageFault),
            (3_000, PROGRAM, switch(OTHER, "theirs")),
            (4_500, OTHER, TracedChange::PageFault),
            (4_600, OTHER, TracedChange::PageFault),
            (5_000, OTHER, switch(0, "swapper/1")),
            (9_000, 0, switch(PROGRAM, "mine")),
        ],
        &mut Senders::default(),
    );
    let of = |process: u32| {
        let program = follow.programs[&process];
        (program.runs.count, program.runs.total.0, program.faults)
    };
    assert_eq!(of(PROGRAM), (2, 2_000 + 991_000, 1));
    assert_eq!(of(OTHER), (1, 2_000, 2));
    assert_eq!(follow.tally.entries(), 0);
}

#[test]
fn what_began_before_is_not_counted() {
    let events = [
        (500, PROGRAM, TracedChange::Enter(CpuContext::Timer)),
        (1_500, PROGRAM, TracedChange::Exit(CpuContext::Timer)),
    ];
    let (rows, gaps) = rows(followed(&events, &mut Senders::default()));
    assert!(rows.is_empty() && gaps.is_empty());
}

#[test]
fn work_counts_by_its_own_begin_and_what_is_not_over_by_its_time_so_far() {
    let name: ShortName = "kworker".into();
    let follow = followed(
        &[
            (500, PROGRAM, switch(WORKER, "kworker/1:2")),
            (700, WORKER, begin(CallbackKind::Work, 1, 0x77)),
            (1_500, WORKER, end(CallbackKind::Work, 0)),
            (1_600, WORKER, begin(CallbackKind::Work, 2, 0x88)),
            (1_900, WORKER, end(CallbackKind::Work, 0)),
            (2_000, WORKER, switch(PROGRAM, "mine")),
            (999_000, PROGRAM, switch(WORKER, "kworker/1:2")),
            (999_100, WORKER, begin(CallbackKind::Work, 3, 0x99)),
            (999_600, WORKER, end(CallbackKind::Work, 0)),
        ],
        &mut Senders::default(),
    );
    let (rows, gaps) = rows(follow);
    let work = |function| EntryCause::Thread { name, function };
    assert_eq!(
        rows,
        [(work(0x88), None, 1, 300, 300), (work(0x99), None, 1, 1_000, 1_000)]
    );
    assert_eq!(gaps, [(vec![1], 1, 1_000)]);
}

#[test]
fn a_loss_is_told_and_nothing_is_made_up_across_it() {
    let lost = |since: u64, count| TracedChange::Lost {
        since: Nanos(since),
        count,
    };
    let follow = followed(
        &[
            (1_100, 0, lost(0, 0)),
            (2_000, PROGRAM, TracedChange::Enter(CpuContext::Timer)),
            (9_000, 0, lost(2_000, 7)),
            (9_100, PROGRAM, TracedChange::Exit(CpuContext::Timer)),
            (9_500, PROGRAM, TracedChange::Enter(CpuContext::Timer)),
            (9_700, PROGRAM, TracedChange::Exit(CpuContext::Timer)),
        ],
        &mut Senders::default(),
    );
    assert_eq!(follow.lost, 7);
    let (rows, gaps) = rows(follow);
    assert_eq!(rows, [(EntryCause::Timer { function: 0 }, None, 1, 200, 200)]);
    assert_eq!(gaps.len(), 1);
}

#[test]
fn non_maskable_interrupts_are_not_the_time_of_what_they_interrupt() {
    let follow = followed(
        &[
            (2_000, PROGRAM, TracedChange::Enter(CpuContext::Timer)),
            (2_800, PROGRAM, TracedChange::Nmi { length: Nanos(300) }),
            (3_000, PROGRAM, TracedChange::Exit(CpuContext::Timer)),
            (9_000, PROGRAM, TracedChange::Nmi { length: Nanos(500) }),
        ],
        &mut Senders::default(),
    );
    let (rows, gaps) = rows(follow);
    assert_eq!(rows[0], (EntryCause::Nmi, None, 2, 800, 500));
    assert_eq!(rows[1], (EntryCause::Timer { function: 0 }, None, 1, 700, 700));
    assert_eq!(gaps, [(vec![0], 1, 500), (vec![1, 0], 1, 1_000)]);
}

#[test]
fn the_tick_is_told_with_what_needs_it() {
    let tick = |stops, needed_by| TracedChange::Tick { stops, needed_by };
    let events = [
        (500, PROGRAM, tick(false, 4)),
        (2_000, PROGRAM, tick(false, 4)),
        (3_000, PROGRAM, tick(true, 0)),
    ];
    let follow = followed(&events, &mut Senders::default());
    assert_eq!(follow.ticks, BTreeMap::from([(0, 1), (4, 1)]));
}

#[test]
fn a_thread_that_ends_is_no_other_program() {
    let thread = PROGRAM + 1;
    let same = |tid: u32| match tid {
        tid if tid == thread => known(PROGRAM),
        ENDED => known(ENDED),
        tid => known(tid),
    };
    let mut senders = Senders::default();
    let mut follow = Follow::new(1, Nanos(1_000));
    for (at, tid, what) in [
        (500, PROGRAM, switch(thread, "mine")),
        (2_000, thread, TracedChange::PageFault),
        (3_000, ENDED, TracedChange::Enter(CpuContext::Timer)),
        (3_100, ENDED, TracedChange::Exit(CpuContext::Timer)),
        (4_000, ENDED, switch(PROGRAM, "mine")),
    ] {
        follow.feed(Nanos(at), tid, what, &mut senders, same);
    }
    follow.finish(Nanos(9_000), &mut senders);
    assert_eq!(follow.programs.keys().copied().collect::<Vec<_>>(), [PROGRAM]);
    assert_eq!(follow.programs[&PROGRAM].runs.total, Nanos(8_000));
}
