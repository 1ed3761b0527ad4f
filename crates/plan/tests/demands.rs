//! Classes of demand in study files: what is read of them, and what is said of those that are wrong.

mod written;

use worstcase_contract::Nanos;
use worstcase_plan::Demand;
use worstcase_plan::study::{built_in, load};
use written::read;

const STUDY: &str = r#"schema = "worstcase-study/4"
name = "mine"
title = "t"
question = "q"
source = "our own"
[full]
kernels = [{ kernel = "debian:6.1", preempt = ["none"] }]
loads = ["idle"]
probes = ["wakeup"]
seeds = 5
[[demand]]
name = "audio"
limit = "5ms"
wakeups = 2
why = "Two halves."
[[demand]]
name = "control"
limit = "100us"
why = "A loop."
"#;

fn said_of(from: &str, to: &str) -> String {
    written::said_of(STUDY, from, to)
}

#[test]
fn wakeups_share_a_limit() {
    let study = read(STUDY).unwrap();
    let told = |demand: &Demand| (demand.name.clone(), demand.limit, demand.wakeups, demand.each());
    assert_eq!(
        study.demands.iter().map(told).collect::<Vec<_>>(),
        [
            ("audio".into(), Nanos(5_000_000), 2, Nanos(2_500_000)),
            ("control".into(), Nanos(100_000), 1, Nanos(100_000))
        ]
    );
    let json = serde_json::to_string(&study.demands).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Demand>>(&json).unwrap(), study.demands);
    assert!(json.contains("\"limit_ns\":5000000"), "{json}");
}

#[test]
fn wrong_demands_are_told_with_their_line() {
    for (from, to, said) in [
        (
            "limit = \"5ms\"",
            "",
            "line 11: [[demand]] has no 'limit': write e.g. limit = \"5ms\"",
        ),
        ("limit = \"5ms\"", "limit = \"5\"", "line 13: '5' is not a duration"),
        ("limit = \"5ms\"", "limit = \"0ms\"", "line 13: "),
        ("wakeups = 2", "wakeups = 0", "line 14: wakeups is 1 to 100, not 0"),
        (
            "name = \"audio\"",
            "name = \" \"",
            "line 11: [[demand]] has no 'name': say what needs it",
        ),
        (
            "why = \"A loop.\"",
            "",
            "line 16: [[demand]] has no 'why': say in a sentence where the limit is from",
        ),
        (
            "name = \"control\"",
            "name = \"audio\"",
            "line 16: two demands are called 'audio'; name each once",
        ),
        ("wakeups = 2", "periods = 2", "line 14: unknown field `periods`"),
    ] {
        let error = said_of(from, to);
        assert!(error.starts_with(said), "{error}");
    }
}

#[test]
fn the_flavours_are_judged_by_what_uses_need() {
    let study = load("kernel-flavours").unwrap();
    let told: Vec<(&str, u64)> = study
        .demands
        .iter()
        .map(|d| (d.name.as_str(), d.each().0 / 1_000))
        .collect();
    assert_eq!(
        told,
        [
            ("desktop", 100_000),
            ("demanding desktop", 10_000),
            ("audio", 2_500),
            ("control", 100)
        ]
    );
    for demand in built_in().flat_map(|study| study.demands) {
        assert!(demand.why.ends_with('.') && demand.why.len() > 30, "{demand:?}");
    }
}
