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

/// The terminal's text, Markdown, and the mail, if there is one.
fn told(
    [name, other]: [&str; 2],
    commit: Option<&Commit>,
    sought: SoughtChange,
    load: ToldLoad,
) -> (String, String, Option<String>) {
    let (fast, slow) = ((30, CandidateWord::Good), (120, CandidateWord::Bad));
    let (early, late, criterion) = match sought {
        SoughtChange::Worse => (fast, slow, KernelCriterion::worse("20%")),
        SoughtChange::Better => (slow, fast, KernelCriterion::better("20%")),
    };
    let before = step(other, early.0, early.1);
    let first = step(name, late.0, late.1);
    let ending = BisectionEnding {
        sought,
        first: first.clone(),
        or_one_of: Vec::new(),
        before: before.clone(),
        steps: vec![before, step("x", 0, CandidateWord::Skipped), first],
    };
    let reverted = Ok(step("y", 31, CandidateWord::Good));
    let found = ShownBisection {
        ending: &ending,
        criterion: criterion.unwrap(),
        ends: ["a", "b"],
        commit,
        names: [name, other],
        measured_with: "QEMU 7.2",
        loads: &[load],
        differences: &["they differ in packaging: deb13, then bpo13".into()],
        narrower: Some("worstcase bisect --good c --bad d"),
        breakdown: Some("cause"),
        reverted: commit.map(|_| &reverted),
        commands: &["worstcase bisect --good a --bad b".into()],
    };
    (found.terminal(), markdown(&found), mail(&found))
}

fn fork() -> ToldLoad {
    ToldLoad {
        name: "fork".into(),
        about: "processes that begin and end".into(),
        own: None,
    }
}

fn duty(source: Option<&str>) -> ToldLoad {
    let source = source.map(|text| ProgramSource {
        file: "duty.c".into(),
        text: text.into(),
    });
    ToldLoad {
        name: "cmd:/duty 1".into(),
        about: "any program".into(),
        own: Some(OwnProgram {
            path: "/duty".into(),
            source,
        }),
    }
}

fn shown_lines(name: [&str; 2], commit: Option<&Commit>) -> [String; 3] {
    let (terminal, markdown, mail) = told(name, commit, SoughtChange::Worse, fork());
    [terminal, markdown, mail.unwrap()]
}

#[test]
fn an_improvement_is_called_so_and_there_is_no_mail() {
    let (terminal, markdown, mail) = told(["k.2", "k.1"], None, SoughtChange::Better, fork());
    let first = "the first better kernel is k.2: max 120 -> 30.0 us (none: fork, wakeup); the one before it is k.1; they differ";
    assert!(terminal.starts_with(first), "{terminal}");
    assert!(
        terminal.lines().nth(3).unwrap().starts_with("none: fork, wakeup"),
        "the cell that changed comes first"
    );
    assert!(
        markdown.contains("is better") && markdown.contains("| not better |"),
        "{markdown}"
    );
    for text in [terminal, markdown] {
        assert!(!text.contains("bad kernel") && !text.contains("regzbot"), "{text}");
    }
    assert_eq!(mail, None);
}

#[test]
fn a_load_is_told_with_its_source() {
    let mail = |load: ToldLoad| told(["k.2", "k.1"], None, SoughtChange::Worse, load).2.unwrap();
    assert!(mail(fork()).contains("Load fork: processes that begin and end.\n"));
    let without = mail(duty(None));
    assert!(
        without.contains("a program of the sender's, /duty, whose source is to be attached.\n"),
        "{without}"
    );
    assert!(!without.contains(">8"), "{without}");
    let with = mail(duty(Some("int main(void)\n{\n}\n#regzbot introduced: x\n")));
    let source = "-- >8 -- duty.c\nint main(void)\n{\n}\n #regzbot introduced: x\n-- 8< -- duty.c\n";
    assert!(
        with.ends_with(source) && with.contains("Its source, duty.c, is below."),
        "{with}"
    );
    let (_, markdown, _) = told(
        ["k.2", "k.1"],
        None,
        SoughtChange::Worse,
        duty(Some("int main;\n```\n")),
    );
    assert!(markdown.contains("```\nint main;\n'''\n```"), "{markdown}");
}

#[test]
fn what_else_differs_and_the_next_command_are_told() {
    let [terminal, markdown, mail] = shown_lines(["k.2", "k.1"], None);
    for text in [&terminal, &markdown, &mail] {
        assert!(text.contains("differ in packaging: deb13, then bpo13"), "{text}");
    }
    for text in [&terminal, &markdown] {
        assert!(
            text.contains("To narrow it down: worstcase bisect --good c --bad d")
                || text.contains("to narrow it down: worstcase bisect --good c --bad d"),
            "{text}"
        );
    }
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
