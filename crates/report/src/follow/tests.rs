use super::*;
use crate::style::Style;
use serde_json::Value;
use worstcase_traces::events::TracedThread;
use worstcase_traces::follow::{
    Behind, BlockedThread, CpuNote, CycleWait, Doing, ExplainedCycle, LateCause, NotedCycles, Part, PartCause,
    StolenTime, WokenBy,
};

fn thread(tid: u32, comm: &str, priority: i32) -> TracedThread {
    TracedThread {
        tid,
        priority,
        comm: comm.into(),
    }
}

/// A cycle of ctl that waits for logger, which hog keeps from running. A name holds what no file may hold.
fn cycle() -> ExplainedCycle {
    let (ctl, logger, hog) = (
        thread(10, "ctl", 49),
        thread(11, "log\x1b[31m;er", 120),
        thread(12, "hog", 79),
    );
    let blocked = BlockedThread {
        thread: ctl,
        call: None,
        on_lock: true,
        handler: None,
    };
    let part = |from, to, via: &[&BlockedThread], thread, what| Part {
        from: Nanos(from),
        to: Nanos(to),
        cause: PartCause {
            via: via.iter().map(|blocked| (*blocked).clone()).collect(),
            thread,
            what,
        },
        cpu: Some(0),
    };
    let behind = Doing::Ready {
        is_woken: false,
        behind: Behind::Higher(hog),
    };
    ExplainedCycle {
        times: CycleTimes {
            index: 7,
            release: Nanos(1_000_000),
            start: Nanos(1_010_000),
            end: Nanos(1_900_000),
            execution: Nanos(100_000),
            interference: Nanos(0),
            blocked: Nanos(800_000),
            unexplained: Nanos(0),
        },
        parts: vec![
            part(1_000_000, 1_100_000, &[], ctl, Doing::User),
            part(1_100_000, 1_800_000, &[&blocked], logger, behind),
            part(1_800_000, 1_900_000, &[&blocked], logger, Doing::Code),
        ],
        notes: vec![
            CpuNote::Frequencies {
                cpu: 0,
                steps: vec![(Nanos(1_000_000), 2_400_000), (Nanos(1_200_000), 800_000)],
            },
            CpuNote::Stolen(StolenTime {
                cpu: 0,
                from: Nanos(0),
                to: Nanos(15_000_000),
                time: Nanos(10_000_000),
            }),
        ],
    }
}

fn followed() -> Followed {
    let cycle = cycle();
    Followed {
        mark: None,
        changes: Vec::new(),
        is_off_grid: false,
        thread: Some(thread(10, "ctl", 49)),
        cpus: vec![1],
        wait: Some(CycleWait {
            tid: 10,
            call: worstcase_traces::follow::CallKind {
                number: 230,
                object: None,
                operation: 1,
            },
            by: Some(WokenBy::Timer {
                function: 1,
                timer: None,
            }),
            period: Some(Nanos(500_000)),
            is_relative: false,
            is_exact: true,
            clock: Some(1),
        }),
        cycles: vec![cycle.times],
        missed: 1,
        at_once: 0,
        limit: Nanos(500_000),
        late: 1,
        noted: NotedCycles { stolen: 1, slowed: 1 },
        causes: vec![LateCause {
            cause: cycle.parts[1].cause.clone(),
            cycles: 1,
            usual: Nanos(0),
            longest: Nanos(700_000),
            worst: Some(cycle.clone()),
        }],
        slowest: vec![cycle],
        wanted: None,
        usual: Vec::new(),
        unexplained: Nanos(0),
        waits: Vec::new(),
        events: 4,
        lost: 0,
        holes: 0,
        length: Nanos(2_000_000),
        forgotten: 0,
    }
}

fn report(followed: &Followed) -> FollowReport<'_> {
    FollowReport {
        followed,
        names: &|_| None,
        facts: ThreadHabits::default(),
        deadline: None,
        shown: 1,
        trace: None,
        notes: Vec::new(),
    }
}

#[test]
fn the_answer_comes_first_then_the_cause_and_the_cycle_whose_lines_add_up() {
    let followed = followed();
    let text = terminal(&report(&followed), Style::PLAIN);
    let first = text.lines().next().unwrap();
    assert_eq!(
        first,
        "1 of 1 cycle of ctl ends later than 500 us, the period, after its release; 1 period was missed."
    );
    for part in [
        "1  because ctl waited for a lock of the kernel, held by",
        "The worst of the first cause:",
        "Cycle 7: 900.000 us",
        "(800.000)",
        "was preempted while hog (thread 12, RT 20) ran",
        "In 1 late cycle a hypervisor took time from the CPUs.",
        "In 1 late cycle a CPU did not run at its highest frequency.",
        "note: CPU 0 did not run at its highest frequency: 2400 MHz from 0 us on, 800 MHz from 200",
        "note: a hypervisor took about 10 ms from CPU 0 between 0.000000 and 0.015000 s;",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains('\x1b'), "{text}");
}

#[test]
fn without_a_cycle_the_waits_that_were_seen_are_told() {
    let none = Followed {
        thread: None,
        wait: None,
        cycles: Vec::new(),
        causes: Vec::new(),
        slowest: Vec::new(),
        ..followed()
    };
    let text = terminal(&report(&none), Style::PLAIN);
    assert!(text.starts_with("No cycles:"), "{text}");
    assert!(text.contains("Waits that were seen:\n      none"), "{text}");
    assert_eq!(json(&report(&none))["cycle"], Value::Null);
}

#[test]
fn a_cycle_is_read_back_from_the_document_and_written_as_stacks_and_as_a_trace() {
    let followed = followed();
    let document = json(&report(&followed));
    assert_eq!(document["schema"], json::SCHEMA);
    let lines: CycleLines = serde_json::from_value(document["causes"][0]["worst"].clone()).unwrap();
    let whole = CycleLines::of(&cycle(), &|_| None);
    assert_eq!(lines, whole);

    let folded = lines.folded();
    let sum: u64 = folded
        .lines()
        .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(sum, whole.response_ns.0);
    assert_eq!(folded.lines().count(), 3, "{folded}");
    // One frame for each thread, whatever is in a name.
    let frames: Vec<usize> = folded.lines().map(|line| line.split(';').count()).collect();
    assert_eq!(frames, [1, 2, 2], "{folded}");
    assert!(!folded.contains('\x1b'), "{folded}");

    let trace: Value = serde_json::from_str(&lines.trace()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let slices = events.iter().filter(|event| event["ph"] == "X");
    assert_eq!(slices.count(), whole.parts.len());
    assert_eq!(
        events.iter().filter(|event| event["ph"] == "M").count(),
        2,
        "a track for each thread"
    );
}
