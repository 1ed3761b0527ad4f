//! Claims in study files: what is read of them, and what is said of those that are wrong.

mod written;

use worstcase_plan::study::claim::{Compare, PublishedValue, Relation, Statistic};
use worstcase_plan::study::{built_in, load};
use worstcase_plan::{Claim, NOT_ONE_UNIT, PreemptChoice, PreemptName};
use written::read;

const STUDY: &str = r#"schema = "worstcase-study/4"
name = "mine"
title = "t"
question = "q"
source = "me"
[full]
kernels = [{ kernel = "debian:6.1", preempt = ["none", "full"] }, { kernel = "debian:6.12", preempt = ["all"] }]
loads = ["shm", "idle"]
probes = ["wakeup", "switch:2/4x0"]
seeds = 5
[host]
loads = ["idle"]
probes = ["switch:2/4x0"]
seeds = 5
[[claim]]
says = "The worst latency is so."
source = "An Article, table 2"
why = "It is so."
cell = { kernel = "debian:6.1", load = "shm", probe = "wakeup", statistic = "max" }
[[claim.figure]]
of = "kernel A"
value = 1.5
unit = "ms"
relation = "at most"
cell = { preempt = "full" }
[[claim.figure]]
of = "kernel B"
value = 9
unit = "s"
cell = { preempt = "none" }
[[claim]]
says = "A switch is so."
compare = "factor"
source = "Another Article"
why = "It is so, too."
cell = { kernel = "debian:6.12", preempt = "lazy", load = "idle", statistic = "mean" }
host = { load = "idle", statistic = "mean", quantity = "net_cold" }
[[claim.figure]]
of = "2"
value = 1
unit = "us"
cell = { probe = "switch:2x0" }
host = { probe = "switch:2x0" }
[[claim.figure]]
of = "4"
value = 2
unit = "us"
cell = { probe = "switch:4x0" }
host = { probe = "switch:4x0" }
"#;

fn said_of(from: &str, to: &str) -> String {
    written::said_of(STUDY, from, to)
}

#[test]
fn figures_of_two_architectures_make_no_claim() {
    let board = r#"{ kernel = "debian:6.1/arm64", preempt = ["none"] }, { kernel = "debian:6.12""#;
    let study = STUDY.replacen(r#"{ kernel = "debian:6.12""#, board, 1);
    read(&study).unwrap();
    let other = r#"cell = { kernel = "debian:6.1/arm64", preempt = "none" }"#;
    let said = written::said_of(&study, r#"cell = { preempt = "none" }"#, other);
    assert!(
        said.contains(NOT_ONE_UNIT) && said.ends_with("make a claim of each"),
        "{said}"
    );
}

#[test]
fn figures_are_values_with_cells() {
    let study = read(STUDY).unwrap();
    let [latency, switch] = study.claims.as_slice() else {
        panic!("{:?}", study.claims);
    };
    assert_eq!((latency.compare, switch.compare), (Compare::Rank, Compare::Factor));
    let a = &latency.figures[0];
    let at_most = PublishedValue::Value {
        value: 1.5,
        unit: "ms".into(),
        relation: Relation::AtMost,
    };
    assert_eq!(a.said, at_most);
    // What a figure does not say of its cell the group says.
    let cell = a.cell.as_ref().unwrap();
    let subject = cell.subject.as_ref().unwrap();
    assert_eq!(
        (subject.kernel.as_str(), subject.preempt),
        ("debian:6.1", PreemptChoice::One(PreemptName::Full))
    );
    assert_eq!(
        (cell.loads.as_slice(), cell.probe.as_str()),
        (["shm".to_string()].as_slice(), "wakeup")
    );
    assert_eq!((cell.quantity.as_str(), cell.statistic), ("latency", Statistic::Max));
    assert_eq!(a.host, None);
    // A kernel in all models has the one that is named; a switch's own quantity is what it costs.
    let cell = switch.figures[1].cell.as_ref().unwrap();
    assert_eq!(
        cell.subject.as_ref().unwrap().preempt,
        PreemptChoice::One(PreemptName::Lazy)
    );
    assert_eq!(cell.to_string(), "mean net, switch:4x0, idle, debian:6.12 lazy");
    assert_eq!(
        switch.figures[0].host.as_ref().unwrap().to_string(),
        "mean net_cold, switch:2x0, idle"
    );
}

#[test]
fn what_is_kept_is_read() {
    for group in built_in().flat_map(|study| study.claims) {
        let json = serde_json::to_string(&group).unwrap();
        assert_eq!(serde_json::from_str::<Claim>(&json).unwrap(), group, "{json}");
    }
}

#[test]
fn built_in_figures_have_cells_or_a_reason() {
    for study in built_in() {
        for group in &study.claims {
            assert!(
                group.why.ends_with('.') && group.why.len() > 25,
                "{}: {}",
                study.name,
                group.says
            );
        }
    }
    let with_cells = |name: &str| {
        let study = load(name).unwrap();
        let groups = study.claims.iter();
        let cells = groups.clone().filter(|group| group.figures[0].cell.is_some()).count();
        (cells, study.claims.len())
    };
    for (name, cells) in [
        ("preemption-models", (10, 13)),
        ("realfeel-jitter", (4, 5)),
        ("scheduler-scaling", (6, 9)),
        ("interrupt-and-switch", (13, 13)),
        ("kernel-flavours", (8, 11)),
        ("io-schedulers", (10, 12)),
        ("kernel-history", (6, 6)),
        ("isolation", (5, 6)),
        ("preemption-today", (9, 9)),
        ("threaded-interrupts", (9, 9)),
        ("policy", (6, 7)),
        ("memory", (7, 7)),
        ("tick-rate", (6, 6)),
    ] {
        assert_eq!(with_cells(name), cells, "{name}");
    }
}

#[test]
fn errors_name_line_and_remedy() {
    let figure_b = "[[claim.figure]]\nof = \"kernel B\"\nvalue = 9\nunit = \"s\"\ncell = { preempt = \"none\" }\n";
    let lines = [
        said_of("load = \"shm\"", "load = \"fork\""),
        said_of(
            "cell = { kernel = \"debian:6.1\", load",
            "cell = { kernel = \"debian:5\", load",
        ),
        said_of("preempt = \"full\" }\n", "preempt = \"rt\" }\n"),
        said_of("{ preempt = \"full\" }", "{ mips = 500 }"),
        said_of("probe = \"switch:2x0\"", "probe = \"switch:8x0\""),
        said_of("probe = \"wakeup\", ", ""),
        said_of("load = \"shm\", ", ""),
        said_of("cell = { preempt = \"full\" }\n", ""),
        said_of("preempt = \"lazy\", ", ""),
        said_of(", statistic = \"max\" }", " }"),
        said_of("\"max\"", "\"p42\""),
        said_of("statistic = \"max\"", "statistic = \"max\", quantity = \"jitter\""),
        said_of("statistic = \"max\"", "statistic = \"max\", subject = \"x\""),
        said_of("host = { load", "host = { mips = 500, load"),
        said_of(figure_b, ""),
        said_of("unit = \"ms\"", "unit = \"kg\""),
        said_of("unit = \"ms\"\n", ""),
        said_of("value = 1.5", "value = -1.5"),
        said_of("value = 1.5\n", ""),
        said_of("value = 1.5", "value = 1.5\nrank = 1"),
        said_of("value = 1.5\nunit = \"ms\"\nrelation = \"at most\"\n", "rank = 1\n"),
        said_of("\"at most\"", "\"roughly\""),
        said_of("source = \"An Article, table 2\"\n", ""),
        said_of("source = \"An Article, table 2\"", "source = \" \""),
        said_of("why = \"It is so.\"\n", ""),
        said_of("says = \"The worst latency is so.\"\n", ""),
        said_of("of = \"kernel A\"\n", ""),
        said_of("value = 9", "value = 0.001"),
        said_of("compare = \"factor\"", "compare = \"size\""),
        said_of(
            "host = { probe = \"switch:2x0\" }\n",
            "host = { probe = \"switch:3x0\" }\n",
        ),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r#"
    line 19: no cell of [full] has 'load' = 'fork'; write one of: 'shm', 'idle'
    line 19: no cell of [full] has 'kernel' = 'debian:5'; write one of: 'debian:6.1', 'debian:6.12'
    line 25: no cell of [full] has 'preempt' = 'rt'; write one of: 'none', 'full'
    line 25: no cell of [full] has 'mips' = '500'; write one of: '1000'
    line 42: no cell of [full] has 'probe' = 'switch:8x0'; write one of: 'wakeup', 'switch:2x0', 'switch:4x0'
    line 25: a cell has no 'probe'; [full] has: 'wakeup', 'switch:2x0', 'switch:4x0'
    line 25: a cell has no 'load'; [full] has: 'shm', 'idle'
    line 19: this cell fits 2 subjects of [full]; name 'preempt' too
    line 42: this cell's kernel is measured in every preemption model; name one with 'preempt'
    line 25: a cell has no 'statistic'; write e.g. statistic = "max"
    line 19: 'statistic' is min, mean, p50, p90, p99, p99.9, max, spread, elapsed, or "above 2us", not 'p42'
    line 25: probe 'wakeup' has no quantity 'jitter' here; it has: latency, irq_latency, after_irq
    line 19: unknown key 'subject'; docs/studies.md has all
    line 37: a host's cell has 'load', 'probe', 'policy', 'nice', 'quantity' and 'statistic' only; the machine is the subject
    line 15: a claim has two figures or more: one alone has no rank and no factor; add a [[claim.figure]]
    line 23: the unit 'kg' does not fit our cell, which is a time; write ns, us, ms or s
    line 20: a 'value' has a 'unit': ns, us, ms or s
    line 22: a value is a number above 0, not -1.5
    line 20: a figure has a 'value' with its 'unit', or where only the order is known a 'rank'
    line 23: a figure has 'value' or 'rank', not both
    line 15: some of these figures have a 'value', some a 'rank'; give all of them the same
    line 24: 'relation' is about, at most, at least, below, over, not 'roughly'
    line 15: [[claim]] has no 'source': name the article, and the table, figure or page if known; or predicted = "2026-11-27" if it is yours
    line 15: [[claim]] has no 'source': name the article, and the table, figure or page if known; or predicted = "2026-11-27" if it is yours
    line 15: [[claim]] has no 'why': say which statistic tests it and why that one, or why it cannot be asked
    line 15: [[claim]] has no 'says': write the claim as a sentence
    line 20: [[claim.figure]] has no 'of': say what it is of
    line 15: these figures are too near each other for a rank; compare = "factor"
    line 33: 'compare' is rank, factor, not below, not above, rises, falls, not 'size'
    line 43: no cell of [host] has 'probe' = 'switch:3x0'; write one of: 'switch:2x0', 'switch:4x0'
    "#);
    let no_host = STUDY.replacen(
        "[host]\nloads = [\"idle\"]\nprobes = [\"switch:2/4x0\"]\nseeds = 5\n",
        "",
        1,
    );
    let error = read(&no_host).unwrap_err().to_string();
    assert!(
        error.ends_with("'host' needs a section [host] in this study; add one or leave it out"),
        "{error}"
    );
    // One of two that share nothing.
    let half = STUDY
        .replacen(
            "cell = { kernel = \"debian:6.1\", load = \"shm\", probe = \"wakeup\", statistic = \"max\" }\n",
            "",
            1,
        )
        .replacen(
            "{ preempt = \"full\" }",
            "{ kernel = \"debian:6.1\", preempt = \"full\", load = \"shm\", probe = \"wakeup\", statistic = \"max\" }",
            1,
        )
        .replacen("cell = { preempt = \"none\" }\n", "", 1);
    let error = read(&half).unwrap_err().to_string();
    assert!(
        error.contains("this figure has no 'cell' and others of its claim have one"),
        "{error}"
    );
}

const POLICIES: &str = r#"schema = "worstcase-study/4"
name = "mine"
title = "t"
question = "q"
source = "me"
[full]
kernels = [{ kernel = "debian:6.1", preempt = ["full"] }]
loads = ["idle"]
probes = ["wakeup"]
seeds = 5
[[full.part]]
policy = "other"
[[full.part]]
policy = "other"
nice = -11
[[full.part]]
[host]
loads = ["idle"]
probes = ["wakeup"]
seeds = 5
[[host.part]]
policy = "deadline"
[[host.part]]
policy = "other"
nice = -11
[[claim]]
says = "The policy decides."
source = "An Article"
compare = "rises"
why = "It is so."
cell = { load = "idle", probe = "wakeup", statistic = "above 2.5ms" }
host = { load = "idle", probe = "wakeup", statistic = "above 2.5ms" }
[[claim.figure]]
of = "A"
cell = { policy = "fifo" }
host = { policy = "deadline" }
[[claim.figure]]
of = "B"
cell = { policy = "other", nice = -11 }
host = { policy = "other" }
"#;

/// In the lab the policy is the subject's, on a host the cell's.
#[test]
fn a_cell_may_be_of_one_policy() {
    let study = read(POLICIES).unwrap();
    let figures = &study.claims[0].figures;
    let told = |nth: usize| {
        let (lab, host) = (figures[nth].cell.as_ref().unwrap(), figures[nth].host.as_ref().unwrap());
        assert_eq!(lab.policy, None);
        (lab.to_string(), host.to_string())
    };
    let a = "above 2.5ms latency, wakeup, idle, debian:6.1 full";
    assert_eq!(
        told(0),
        (a.into(), "above 2.5ms latency, wakeup, idle, deadline".into())
    );
    let b = format!("{a} other-nice-11");
    assert_eq!(told(1), (b, "above 2.5ms latency, wakeup, idle, other:-11".into()));
    let said_of = |from, to| written::said_of(POLICIES, from, to);
    insta::assert_snapshot!([
        said_of("cell = { policy = \"fifo\" }", "cell = {}"),
        said_of("cell = { policy = \"fifo\" }", "cell = { policy = \"other\" }"),
        said_of("cell = { policy = \"fifo\" }", "cell = { policy = \"rr\" }"),
        said_of("host = { policy = \"deadline\" }", "host = {}"),
    ].join("\n"), @r#"
    line 35: a cell has no 'policy'; [full] has: 'other', 'fifo'
    line 35: a cell has no 'nice'; [full] has: '0', '-11'
    line 35: no cell of [full] has 'policy' = 'rr'; write one of: 'other', 'fifo'
    line 36: a cell has no 'policy'; [host] has: 'deadline', 'other'
    "#);
}

#[test]
fn figures_without_cells_may_have_any_unit_but_one() {
    let bare = STUDY
        .replacen(
            "cell = { kernel = \"debian:6.1\", load = \"shm\", probe = \"wakeup\", statistic = \"max\" }\n",
            "",
            1,
        )
        .replacen("cell = { preempt = \"full\" }\n", "", 1)
        .replacen("cell = { preempt = \"none\" }\n", "", 1);
    let mb = bare.replacen("unit = \"ms\"", "unit = \"MB/s\"", 1);
    let error = read(&mb).unwrap_err().to_string();
    assert!(
        error.contains("the unit 'MB/s' does not fit 's' of the same claim"),
        "{error}"
    );
    let both = mb.replacen("unit = \"s\"", "unit = \"MB/s\"", 1);
    assert_eq!(read(&both).unwrap().claims[0].figures[1].said.to_string(), "9 MB/s");
}

/// A run keeps its study's claims.
#[test]
fn a_share_is_read_again_as_it_was_written() {
    for words in ["above 2us", "above 1.5ms", "p99.9"] {
        let statistic: Statistic = words.parse().unwrap();
        assert_eq!(statistic.to_string(), words);
        let json = serde_json::to_string(&statistic).unwrap();
        assert_eq!(serde_json::from_str::<Statistic>(&json).unwrap(), statistic);
    }
}
