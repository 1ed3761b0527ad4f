use super::*;

const PROBE: u64 = 0x10;
const IN_PROBE: Thread = thread(PROBE, Role::Below);

const fn thread(task: u64, role: Role) -> Thread {
    Thread { task, role }
}

/// All sections of a kind as (from, to, count, total).
fn sites(tracker: &Tracker, kind: Kind) -> Vec<(u64, u64, u64, u64)> {
    let sites = tracker.summary().filter_map(|row| match row {
        Row::Site(s) if s.kind == kind => Some((s.from, s.to, s.count, s.total)),
        _ => None,
    });
    sites.collect()
}

#[test]
fn interrupts_come_one_instruction_after_sti() {
    let mut t = Tracker::in_user(true, IN_PROBE);
    t.cli(10, 1);
    t.sti(20, 2);
    t.cli(30, 3);
    t.sti(40, 4);
    t.cli(41, 5);
    t.set_interrupts(50, 6, true);
    assert_eq!(sites(&t, Kind::InterruptsOff), [(1, 2, 1, 11), (3, 6, 1, 20)]);
    assert_eq!(sites(&t, Kind::NonPreemptible), [(1, 2, 1, 11), (3, 6, 1, 20)]);
}

#[test]
fn an_interrupt_taken_behind_sti_ends_the_section() {
    let mut t = Tracker::in_user(true, IN_PROBE);
    t.cli(10, 1);
    t.sti(20, 2);
    t.enter(21, 7);
    t.leave(100, 8, true, true);
    assert_eq!(sites(&t, Kind::InterruptsOff), [(1, 2, 1, 11), (7, 8, 1, 79)]);
}

#[test]
fn the_union_goes_on_while_either_is_off() {
    let mut t = Tracker::in_user(true, IN_PROBE);
    t.count(10, 1, Word::Bits32(0x8000_0001));
    t.cli(20, 2);
    t.count(30, 3, Word::Bits32(0x8000_0000));
    t.set_interrupts(40, 4, true);
    assert_eq!(sites(&t, Kind::PreemptionOff), [(1, 3, 1, 20)]);
    assert_eq!(sites(&t, Kind::InterruptsOff), [(2, 4, 1, 20)]);
    assert_eq!(sites(&t, Kind::NonPreemptible), [(1, 4, 1, 30)]);
}

#[test]
fn a_poll_cuts_only_where_it_could_answer() {
    let mut t = Tracker::in_user(true, IN_PROBE);
    t.count(10, 1, Word::Bits32(1));
    t.poll(20, 9, false);
    t.cli(30, 2);
    t.poll(40, 9, false);
    t.set_interrupts(50, 3, true);
    t.count(60, 4, Word::Bits32(0x0001_0001));
    t.poll(70, 9, false);
    t.count(75, 4, Word::Bits32(0x0000_0101));
    t.poll(77, 9, false);
    t.count(80, 5, Word::Bits32(1));
    t.count(90, 6, Word::Bits32(0));
    assert_eq!(sites(&t, Kind::NonPreemptible), [(1, 9, 1, 10), (9, 6, 1, 70)]);
    assert_eq!(sites(&t, Kind::PreemptionOff), [(1, 6, 1, 80)]);
}

#[test]
fn a_kernel_that_does_not_preempt_holds_off_from_entry_to_exit() {
    let mut t = Tracker::in_user(false, IN_PROBE);
    t.enter(10, 1);
    t.sti(20, 2);
    t.poll(50, 3, false);
    t.leave(90, 4, true, false);
    assert_eq!(sites(&t, Kind::InterruptsOff), [(1, 2, 1, 11)]);
    assert_eq!(sites(&t, Kind::NonPreemptible), [(1, 3, 1, 40), (3, 4, 1, 40)]);
}

#[test]
fn nested_interrupts_are_told_apart() {
    let mut t = Tracker::in_user(true, IN_PROBE);
    t.count(0, 1, Word::Bits32(1));
    t.enter(1000, 2);
    t.count(1010, 2, Word::Bits32(0x0001_0001));
    t.count(1510, 2, Word::Bits32(1));
    t.leave(1520, 3, true, true);
    t.count(2000, 4, Word::Bits32(0));
    let long: Vec<_> = t
        .tally()
        .take_fresh()
        .filter_map(|row| match row {
            Row::Section(section) if section.kind == Kind::NonPreemptible => Some(section),
            _ => None,
        })
        .collect();
    assert_eq!((long[0].length, long[0].nested), (2000, 500));
    assert_eq!(t.tally().take_fresh().count(), 0);
}

/// Behind a hard interrupt at 10 soft interrupts begin at 30, ask with interrupts off at 80, and again at 180, and end.
fn soft_interrupts(t: &mut Tracker, others: u32) {
    let kernel = t.kernel;
    t.enter(10, 1);
    t.count(20, 1, Word::Bits32(others + 0x1_0000));
    t.count(25, 1, Word::Bits32(others));
    t.count(30, 1, Word::Bits32(others + 0x100));
    t.sti(40, 2);
    t.poll(50, 3, false);
    for (off, ask) in [(70, 80), (170, 180)] {
        t.cli(off, 4);
        t.poll(ask, 5, true);
        t.sti(ask + 10, 2);
    }
    t.cli(200, 4);
    t.count(210, 6, Word::Bits32(others));
    t.leave(220, 7, true, kernel);
    t.count(230, 8, Word::Bits32(0));
}

#[test]
fn soft_interrupts_leave_the_rest_for_later_where_they_ask() {
    let mut t = Tracker::in_user(true, IN_PROBE);
    soft_interrupts(&mut t, 0);
    assert_eq!(
        sites(&t, Kind::NonPreemptible),
        [(1, 5, 1, 60), (5, 5, 1, 100), (5, 7, 1, 50)]
    );
    let mut without = Tracker::in_user(false, IN_PROBE);
    soft_interrupts(&mut without, 0);
    assert_eq!(sites(&without, Kind::NonPreemptible), sites(&t, Kind::NonPreemptible));
}

#[test]
fn what_they_return_to_may_have_to_go_on() {
    let mut locked = Tracker::in_user(true, IN_PROBE);
    locked.enter(1, 9);
    locked.count(5, 9, Word::Bits32(1));
    locked.sti(6, 9);
    soft_interrupts(&mut locked, 1);
    // The soft interrupt ends at 210, the section 20 later, however early the soft interrupt is left.
    assert_eq!(
        sites(&locked, Kind::NonPreemptible),
        [(5, 5, 1, 100 + 20), (5, 8, 1, 230 - 170), (9, 5, 1, 70 - 1 + 20)]
    );
    let mut idle = Tracker::in_user(true, IN_PROBE);
    idle.enter(1, 9);
    idle.runs(2, 9, thread(0x20, Role::Idle));
    idle.count(5, 9, Word::Bits32(1));
    idle.sti(6, 9);
    soft_interrupts(&mut idle, 1);
    assert_eq!(sites(&idle, Kind::NonPreemptible).len(), 3);
    // A kernel that does not preempt, in a system call.
    let mut called = Tracker::in_user(false, IN_PROBE);
    called.enter(1, 9);
    called.sti(6, 9);
    soft_interrupts(&mut called, 0);
    called.leave(300, 10, true, false);
    assert_eq!(
        sites(&called, Kind::NonPreemptible),
        [(5, 5, 1, 100 + 90), (5, 10, 1, 300 - 170), (9, 5, 1, 70 - 1 + 90)]
    );
}

/// It is known only later that the scheduler could have gone on with the probe: what was asked meanwhile is of the section that
/// begins there.
#[test]
fn soft_interrupts_in_the_scheduler_ask_in_the_section_that_it_begins() {
    let mut t = Tracker::in_user(false, IN_PROBE);
    t.enter(1, 9);
    t.sti(6, 9);
    t.schedule(8, 2);
    soft_interrupts(&mut t, 0);
    t.runs(300, 3, thread(0x30, Role::Below));
    t.leave(400, 10, true, false);
    assert_eq!(
        sites(&t, Kind::NonPreemptible),
        [
            (2, 5, 1, 70 - 8 + 190),
            (5, 5, 1, 100 + 190),
            (5, 10, 1, 400 - 170),
            (9, 2, 1, 8 - 1)
        ]
    );
}

#[test]
fn a_thread_that_allows_soft_interrupts_again_holds_one_count() {
    for (others, cuts) in [(1, true), (2, false)] {
        let mut t = Tracker::in_user(true, IN_PROBE);
        t.count(10, 1, Word::Bits32(others));
        t.cli(20, 2);
        t.count(30, 3, Word::Bits32(others + 0x100));
        t.sti(40, 4);
        t.poll(50, 5, true);
        t.count(60, 6, Word::Bits32(others));
        t.count(70, 6, Word::Bits32(0));
        let found = sites(&t, Kind::NonPreemptible);
        let to_question = if cuts { 40 } else { 40 + 10 };
        assert_eq!(found[0].3, to_question, "{others}: {found:?}");
    }
}

#[test]
fn a_thread_above_the_probe_is_waited_for() {
    let mut t = Tracker::in_user(true, IN_PROBE);
    t.count(10, 1, Word::Bits32(1));
    t.schedule(20, 2);
    t.runs(30, 3, thread(0x20, Role::Above));
    t.count(40, 4, Word::Bits32(0));
    t.poll(50, 5, false);
    t.count(100, 1, Word::Bits32(1));
    t.schedule(110, 2);
    t.runs(120, 3, thread(0x30, Role::Above));
    t.schedule(210, 2);
    t.runs(220, 3, thread(PROBE, Role::Below));
    t.count(230, 4, Word::Bits32(0));
    // The scheduler that goes on with the same thread could have gone on with the probe.
    t.count(300, 1, Word::Bits32(1));
    t.schedule(310, 2);
    t.count(330, 4, Word::Bits32(0));
    assert_eq!(sites(&t, Kind::HigherPriority), [(3, 3, 2, 190)]);
    assert_eq!(sites(&t, Kind::NonPreemptible), [(1, 2, 2, 210), (2, 4, 2, 40)]);
}
