//! The words about a made-up bisection.

use super::*;
use worstcase_bisect::figures::KernelFigure;

fn step(candidate: &str, us: u64, word: CandidateWord) -> BisectionStep {
    let figure = |cell: &str, us: u64| KernelFigure {
        cell: cell.into(),
        value: Some(Nanos(us * 1000)),
        digests: vec![us.to_string(), "x".into()],
    };
    BisectionStep {
        candidate: candidate.into(),
        word,
        why: (word == CandidateWord::Skipped).then(|| "does not boot".into()),
        figures: match word {
            CandidateWord::Skipped => Vec::new(),
            _ => vec![figure("none: idle, wakeup", 5), figure("none: fork, wakeup", us)],
        },
    }
}

fn shown_lines(name: [&str; 2], commit: Option<&Commit>) -> [String; 3] {
    let before = step(name[1], 30, CandidateWord::Good);
    let first_bad = step(name[0], 120, CandidateWord::Bad);
    let ending = BisectionEnding {
        first_bad: first_bad.clone(),
        or_one_of: Vec::new(),
        before: before.clone(),
        steps: vec![before, step("x", 0, CandidateWord::Skipped), first_bad],
    };
    let reverted = Ok(step("y", 31, CandidateWord::Good));
    let found = ShownBisection {
        ending: &ending,
        criterion: "20%".parse().unwrap(),
        ends: ["a", "b"],
        commit,
        names: name,
        measured_with: "QEMU 7.2",
        breakdown: Some("cause"),
        reverted: commit.map(|_| &reverted),
        commands: &["worstcase bisect --good a --bad b".into()],
    };
    [found.terminal(), markdown(&found), mail(&found)]
}

#[test]
fn versions_of_packages() {
    let name = |n: u32| format!("debian:6.12@6.12.{n}-2~bpo12+1");
    let [terminal, markdown, mail] = shown_lines([&name(74), &name(73)], None);
    assert!(
        terminal.starts_with(
            "the first bad kernel is debian:6.12@6.12.74-2~bpo12+1: max 30.0 -> 120 us (none: fork, wakeup)"
        )
    );
    let lines: Vec<&str> = terminal.lines().collect();
    assert_eq!(
        lines[3],
        "none: fork, wakeup     30.0    120  x4.00  1 of 2 seeds identical"
    );
    assert!(
        lines[4].ends_with("identical") && lines[4].contains("x1.00"),
        "{terminal}"
    );
    assert!(terminal.contains("x: does not boot"));
    assert!(
        markdown.contains("2 were measured, 1 could not be")
            && markdown.contains("| none: fork, wakeup | 30.0 | 120 |")
    );
    assert!(mail.contains("#regzbot introduced: v6.12.73..v6.12.74\n"), "{mail}");
    assert!(mail.starts_with("To: regressions@lists.linux.dev\nSubject: [REGRESSION] latency: max 30.0 -> 120 us"));
}

#[test]
fn a_commit() {
    let commit = Commit {
        id: "a84e47c0b1c2d3e4f5a84e47c0b1c2d3e4f5a84e".into(),
        subject: "fork: keep\nBcc: all".into(),
        author: "A <a@example.com>".into(),
        date: "2026-11-24".into(),
        describe: String::new(),
    };
    let [terminal, _, mail] = shown_lines(["a84e47c0b1c2", "b"], Some(&commit));
    assert!(terminal.contains("reverted") && terminal.contains("31.0"), "{terminal}");
    assert!(mail.contains("#regzbot introduced: a84e47c0b1c2d3e4f5a84e47c0b1c2d3e4f5a84e\n"));
    assert!(
        mail.contains("Cc: A <a@example.com>\n") && !mail.contains("\nBcc"),
        "{mail}"
    );
}

#[test]
fn upstream_versions_in_names() {
    let of = [
        "debian:6.12@6.12.74-2",
        "/k/linux-image-6.1.0-5-amd64_6.1.9-1_amd64.deb",
        "/k/bzImage-3",
        "/k/6.12.3+x",
    ];
    assert_eq!(
        of.map(upstream),
        [
            Some("v6.12.74".into()),
            Some("v6.1.9".into()),
            None,
            Some("v6.12.3".into())
        ]
    );
}
