//! Records of the probes with parameters: what is kept, shown and judged.

use crate::fixture::{host, plan_of, raw, result, spec, subject};
use worstcase_contract::RawRecord;
use worstcase_contract::bench::{
    Details, InversionDetails, RemoteDetails, SendTimes, ShootdownDetails, SwitchAgain, SwitchDetails, SwitchRepetition,
};
use worstcase_contract::{CellSpec, Nanos};
use worstcase_report::terminal::Style;
use worstcase_report::{ReportView, terminal};
use worstcase_results::record::explanations::NOTHING_EXPLAINED;
use worstcase_results::record::{CellResult, Record};
use worstcase_results::verdict::{Criterion, Outcome, Verdict, verdicts};

fn of_probe(probe: &str, seed: u64, periods: u32) -> CellSpec {
    CellSpec {
        probe: probe.parse().unwrap(),
        period: Nanos(3_150_000),
        periods,
        ..spec("idle", seed)
    }
    .for_probe()
}

/// Ten repetitions of 1 000 hops; the overhead of the last is larger than what it is taken from.
fn switch(probe: &str) -> RawRecord {
    switch_of(probe, 1)
}

/// Each seed a hundredth slower than the one before.
fn switch_of(probe: &str, seed: u64) -> RawRecord {
    let totals: Vec<u64> = (0..10).map(|i| 1_980_000 + seed * 20_000 + i * 10_000).collect();
    let repetition = |(i, total): (usize, &u64)| SwitchRepetition {
        total: Nanos(*total),
        hot: Nanos(if i == 9 { 2_100_000 } else { 500_000 }),
        cold: Nanos(600_000),
        voluntary: 1_000,
        involuntary: 3,
        migrations: None,
    };
    let mut raw = raw(
        &of_probe(probe, seed, 10),
        &totals.iter().map(|t| t / 1_000).collect::<Vec<_>>(),
    );
    raw.details = Some(Details::Switch(SwitchDetails {
        hops: 1_000,
        repetitions: totals.iter().enumerate().map(repetition).collect(),
        again: Vec::new(),
    }));
    raw
}

fn inversion(protocol: &str, seed: u64, inverted: u32) -> RawRecord {
    let mut raw = raw(&of_probe(&format!("inversion:2+{protocol}"), seed, 400), &[60_000; 400]);
    raw.details = Some(Details::Inversion(InversionDetails {
        section: Nanos(50_000),
        middle: Nanos(1_000_000),
        contended: 400,
        inverted,
    }));
    raw
}

/// Four hundred wake-ups of 4 us and more, each seed 1 us slower than the one before.
fn remote(seed: u64) -> RawRecord {
    let latencies: Vec<u64> = (0..400).map(|i| 3_000 + seed * 1_000 + i).collect();
    let mut raw = raw(&of_probe("remote+pipe", seed, 400), &latencies);
    raw.details = Some(Details::Remote(RemoteDetails {
        send: Some(SendTimes {
            min: Nanos(1_000),
            median: Nanos(1_000 + seed * 100),
            max: Nanos(9_000 + seed),
        }),
        awake: seed as u32,
        seen: None,
    }));
    raw
}

fn shootdown(threads: u32, nanos: u64) -> RawRecord {
    let mut raw = raw(&of_probe(&format!("shootdown:{threads}"), 1, 200), &[nanos; 200]);
    raw.details = Some(Details::Shootdown(ShootdownDetails {
        threads,
        pages: 16,
        all_ran: 199,
    }));
    raw
}

fn shown(all: &[CellResult]) -> String {
    let records: Vec<Record> = all.iter().map(|r| r.record.clone()).collect();
    let plan = plan_of(all);
    terminal::run(
        &ReportView {
            plan: &plan,
            dir: "RUN".as_ref(),
            records: &records,
            explanations: &NOTHING_EXPLAINED,
            quantities: &[],
            verdicts: None,
        },
        Style::PLAIN,
    )
}

#[test]
fn a_net_cost_below_zero_is_shown_with_its_interval() {
    let of_seed =
        |seed| ["switch:2x0", "switch:2x16k"].map(|probe| result(&subject("6.1", "full"), &switch_of(probe, seed)));
    insta::assert_snapshot!(shown(&(1..=5).flat_map(of_seed).collect::<Vec<_>>()));
}

#[test]
fn details_that_do_not_fit_the_samples_are_refused() {
    let change = |change: fn(&mut SwitchDetails)| {
        let mut raw = switch("switch:2x0");
        let Some(Details::Switch(details)) = &mut raw.details else {
            panic!("of switch");
        };
        change(details);
        CellResult::new(subject("6.1", "full"), &raw, &[], None).map(|_| ())
    };
    assert!(change(|_| ()).is_ok());
    assert!(change(|d| d.repetitions.truncate(d.repetitions.len() - 1)).is_err());
    assert!(change(|d| d.hops = 0).is_err());
    assert!(change(|d| d.again = vec![again(3)]).is_err(), "nobody asked for it");
    let mut none = switch("switch:2x0");
    none.details = None;
    let error = CellResult::new(subject("6.1", "full"), &none, &[], None).unwrap_err();
    assert!(error.to_string().contains("details"), "{error}");
}

/// A repetition measured again: 1.5 us a hop, of which 1 us is the switch.
fn again(index: u32) -> SwitchAgain {
    SwitchAgain {
        index,
        tries: 2,
        still_off: index == 9,
        repetition: SwitchRepetition {
            total: Nanos(1_500_000),
            hot: Nanos(500_000),
            cold: Nanos(600_000),
            voluntary: 1_000,
            involuntary: 3,
            migrations: None,
        },
    }
}

fn with_again(again: Vec<SwitchAgain>) -> RawRecord {
    let mut raw = switch("switch:2x0+again1");
    let Some(Details::Switch(details)) = &mut raw.details else {
        panic!("of switch");
    };
    details.again = again;
    raw
}

#[test]
fn what_is_measured_again_has_an_order_and_a_place() {
    assert!(is_kept(&with_again(vec![again(3), again(9)])));
    assert!(!is_kept(&with_again(vec![again(9), again(3)])));
    assert!(!is_kept(&with_again(vec![again(3), again(3)])));
    assert!(!is_kept(&with_again(vec![again(10)])));
}

#[test]
fn trimmed_and_untrimmed_stand_side_by_side_with_what_was_measured_again() {
    // Totals of 2.00 to 2.09 us less 0.5, and one with an overhead of 2.1; a tenth at each end is one value.
    let plain = shown(&[result(&subject("6.1", "full"), &with_again(Vec::new()))]);
    let row = |text: &str| {
        let of = |line: &&str| line.contains(" switch:2x0+again1 ");
        let line = text.lines().find(of).unwrap_or_else(|| panic!("{text}"));
        line.split_whitespace().skip(3).map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(row(&plain), ["1.53", "1.39", "-0.010", "1.58", "10", "0"]);
    assert!(plain.contains("the lab's values are exact"), "{plain}");
    // The last, which was off, in place of the first; what was first is not forgotten.
    let host = host("desk");
    let shown = shown(&[result(&host, &with_again(vec![again(9)]))]);
    assert_eq!(row(&shown), ["1.53", "1.49", "1.00", "1.58", "10", "1", "1.39", "1.58"]);
    assert!(
        shown.contains(
            "Measured again: 1 values more than 1 % off the median of their seed, 2 times in all; still off: 1."
        ),
        "{shown}"
    );
}

fn is_kept(raw: &RawRecord) -> bool {
    CellResult::new(subject("6.1", "full"), raw, &[], None).is_ok()
}

#[test]
fn more_rounds_than_samples_are_refused() {
    let remote = |change: fn(&mut RemoteDetails)| {
        let mut raw = remote(1);
        let Some(Details::Remote(details)) = &mut raw.details else {
            panic!("of remote");
        };
        change(details);
        is_kept(&raw)
    };
    assert!(remote(|d| d.awake = 400));
    assert!(!remote(|d| d.awake = 401));
    assert!(!remote(|d| d.send = None));
    assert!(!remote(|d| d.send.as_mut().unwrap().median = Nanos(1)));
    let shootdown = |change: fn(&mut ShootdownDetails)| {
        let mut raw = shootdown(1, 5_000);
        let Some(Details::Shootdown(details)) = &mut raw.details else {
            panic!("of shootdown");
        };
        change(details);
        is_kept(&raw)
    };
    assert!(shootdown(|d| d.all_ran = 200));
    assert!(!shootdown(|d| d.all_ran = 201));
    assert!(!shootdown(|d| d.threads = 2));
    assert!(!shootdown(|d| d.pages = 64));
}

#[test]
fn probes_of_two_cpus_are_shown_with_what_they_counted() {
    let of = |raw: &RawRecord| result(&subject("6.1", "full"), raw);
    let mut all: Vec<_> = (1..=3).map(|seed| of(&remote(seed))).collect();
    all.extend([of(&shootdown(0, 2_000)), of(&shootdown(1, 5_000))]);
    let text = shown(&all);
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = text.lines().map(words).collect();
    for expected in [
        "6.1.full idle pipe 4.00 5.20 - 6.40 1 200 1.00 1.20 9.00 6",
        "6.1.full idle 0 16 2.00 2.00 - 2.00 200 199",
        "6.1.full idle 1 16 5.00 5.00 - 5.00 200 199",
    ] {
        assert!(lines.iter().any(|line| line == expected), "{expected}:\n{text}");
    }
}

#[test]
fn a_remote_wake_up_is_judged_and_an_unmapping_is_not() {
    let with = |slow| (1..=3).map(remote).chain([shootdown(1, slow)]);
    assert_eq!(judge(with(5_000)).outcome, Outcome::Pass);
    assert_eq!(judge(with(500_000)).outcome, Outcome::Pass);
    assert_eq!(judge([shootdown(1, 5_000)]).outcome, Outcome::Inconclusive);
    let mut late = remote(2);
    late.samples[7].latency = Nanos(100_001);
    assert_eq!(judge([remote(1), late, remote(3)]).outcome, Outcome::Fail);
}

fn judge(raws: impl IntoIterator<Item = RawRecord>) -> Verdict {
    let all: Vec<_> = raws
        .into_iter()
        .map(|raw| result(&subject("6.1", "rt"), &raw))
        .collect();
    let records: Vec<Record> = all.iter().map(|r| r.record.clone()).collect();
    verdicts(&plan_of(&all).cells, &records, &Criterion::new(Nanos(100_000))).remove(0)
}

#[test]
fn inheritance_that_works_passes() {
    let with_control = |seed| [inversion("inherit", seed, 0), inversion("none", seed, 400)];
    assert_eq!(judge((1..=3).flat_map(with_control)).outcome, Outcome::Pass);
}

#[test]
fn one_inverted_round_is_a_fail() {
    let verdict = judge((1..=3).map(|seed| inversion("inherit", seed, u32::from(seed == 2))));
    assert_eq!(verdict.outcome, Outcome::Fail);
    insta::assert_snapshot!(verdict.reasons.join("\n"), @"1 of 400 rounds inverted: a less urgent thread ran while the most urgent one waited, so 'inherit' does not work (idle, inversion:2+inherit, seed 2)");
}

#[test]
fn a_control_that_does_not_invert_says_nothing() {
    let verdict = judge((1..=3).flat_map(|seed| [inversion("inherit", seed, 0), inversion("none", seed, 399)]));
    assert_eq!(verdict.outcome, Outcome::Inconclusive);
    assert!(
        verdict.reasons[0].contains("only 399 of 400 rounds inverted"),
        "{:?}",
        verdict.reasons
    );
}

#[test]
fn a_price_is_not_judged() {
    let verdict = judge([switch("switch:2x0")]);
    assert_eq!(verdict.outcome, Outcome::Inconclusive);
    assert!(
        verdict.reasons.iter().any(|r| r.starts_with("nothing to judge")),
        "{:?}",
        verdict.reasons
    );
}
