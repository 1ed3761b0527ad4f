//! Bisections of measurements that are made up.

use super::*;
use crate::search::List;
use std::cell::RefCell;
use std::sync::Mutex;
use worstcase_base::progress::Silent;
use worstcase_contract::{Nanos, Venue};
use worstcase_plan::Subjects;

fn question(good: &str, bad: &str) -> BisectionQuestion {
    BisectionQuestion {
        source: "made up".into(),
        good: good.into(),
        bad: bad.into(),
        criterion: "20%".into(),
        experiment: Experiment::usual(Venue::Lab, Subjects::Kernels(Vec::new())),
    }
}

fn measured(us: u64) -> CandidateOutcome {
    CandidateOutcome::Measured(vec![KernelFigure {
        cell: "none: fork, wakeup".into(),
        value: Some(Nanos(us * 1000)),
        digests: vec![us.to_string()],
    }])
}

fn names(n: usize) -> Vec<String> {
    (0..n).map(|i| i.to_string()).collect()
}

fn begin(folder: &Path, n: usize) -> Result<Bisection, BisectError> {
    let question = question("0", &(n - 1).to_string());
    Bisection::begin(folder, question, KernelCriterion::worse("20%").unwrap(), || {
        Ok(names(n))
    })
}

fn number(candidate: &str) -> usize {
    candidate.parse().unwrap()
}

#[test]
fn it_ends_with_the_first_bad_one_and_the_one_before() {
    let dir = tempfile::tempdir().unwrap();
    let mut bisection = begin(dir.path(), 20).unwrap();
    let jump = |name: &str| Ok::<_, BisectError>(measured(if number(name) >= 13 { 100 } else { 30 }));
    let ending = bisection.run(&List(names(20)), &Silent, jump).unwrap();
    assert_eq!(
        (ending.first.candidate.as_str(), ending.before.candidate.as_str()),
        ("13", "12")
    );
    assert!(ending.steps.len() <= 2 + 5, "{}", ending.steps.len());
    assert!(ending.or_one_of.is_empty());
}

#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl Progress for Lines {
    fn line(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_string());
    }
}

#[test]
fn every_step_is_told_when_it_begins_and_with_its_result_and_done_ones_with_their_result_alone() {
    let dir = tempfile::tempdir().unwrap();
    let list = || {
        vec!["/k/6.1.1", "/k/6.1.2", "/k/6.1.3", "/k/6.1.4"]
            .into_iter()
            .map(String::from)
            .collect::<Vec<_>>()
    };
    let begin = || {
        let question = question("6.1.1", "6.1.4");
        let mut bisection = Bisection::begin(dir.path(), question, KernelCriterion::worse("20%").unwrap(), || {
            Ok(list())
        })
        .unwrap();
        bisection.set_ends(["/k/6.1.1".into(), "/k/6.1.4".into()]);
        bisection
    };
    let run = || {
        let lines = Lines::default();
        let measure = |name: &str| {
            Ok::<_, BisectError>(match name {
                "/k/6.1.2" => CandidateOutcome::Cannot("does not boot".into()),
                "/k/6.1.1" => measured(30),
                _ => measured(100),
            })
        };
        begin().run(&List(list()), &lines, measure).unwrap();
        lines.0.into_inner().unwrap()
    };
    let results = [
        "6.1.1: good, max 30.0 us (none: fork, wakeup)",
        "6.1.4: bad, max 100 us (none: fork, wakeup)",
        "6.1.2: skipped, does not boot",
        "6.1.3: bad, max 100 us (none: fork, wakeup)",
    ];
    let (begins, done): (Vec<String>, Vec<String>) = run().into_iter().partition(|l| l.contains(": measuring"));
    assert_eq!(done, results);
    assert_eq!(begins[..2], ["6.1.1: measuring", "6.1.4: measuring"]);
    assert!(
        begins[2].starts_with("6.1.2: measuring; 3 may be the first, about 2 more steps, "),
        "{begins:?}"
    );
    assert!(begins[3].ends_with(" left") && begins.len() == 4, "{begins:?}");
    assert_eq!(run(), results[..2]);
}

#[test]
fn a_bisection_that_was_killed_goes_on_and_measures_nothing_twice() {
    let jump = |name: &str| measured(if number(name) >= 13 { 100 } else { 30 });
    let whole = {
        let dir = tempfile::tempdir().unwrap();
        let measure = |name: &str| Ok::<_, BisectError>(jump(name));
        begin(dir.path(), 20)
            .unwrap()
            .run(&List(names(20)), &Silent, measure)
            .unwrap()
    };
    for killed_at in 0..whole.steps.len() {
        let dir = tempfile::tempdir().unwrap();
        let all = RefCell::new(Vec::new());
        let dies = |name: &str| {
            if all.borrow().len() == killed_at {
                return Err(BisectError::Request("killed".into()));
            }
            all.borrow_mut().push(name.to_string());
            Ok(jump(name))
        };
        begin(dir.path(), 20)
            .unwrap()
            .run(&List(names(20)), &Silent, dies)
            .unwrap_err();
        let lives = |name: &str| {
            all.borrow_mut().push(name.to_string());
            Ok::<_, BisectError>(jump(name))
        };
        let ending = begin(dir.path(), 20)
            .unwrap()
            .run(&List(names(20)), &Silent, lives)
            .unwrap();
        assert_eq!(ending, whole);
        assert_eq!(
            all.into_inner(),
            whole.steps.iter().map(|s| s.candidate.clone()).collect::<Vec<_>>()
        );
    }
}

/// Bisects ten kernels, of which those from `from` on have another figure.
fn bisected(
    criterion: KernelCriterion,
    before: u64,
    after: u64,
    from: usize,
) -> (Result<BisectionEnding, BisectError>, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let mut bisection = Bisection::begin(dir.path(), question("0", "9"), criterion, || Ok(names(10))).unwrap();
    let measure = |name: &str| Ok::<_, BisectError>(measured(if number(name) >= from { after } else { before }));
    let lines = Lines::default();
    let ending = bisection.run(&List(names(10)), &lines, measure);
    (ending, lines.0.into_inner().unwrap())
}

#[test]
fn alike_ends_are_told_with_figures_and_the_other_direction() {
    let said = |before: u64, after: u64, criterion: KernelCriterion| {
        bisected(criterion, before, after, 9).0.unwrap_err().to_string()
    };
    let limit = || KernelCriterion::limit("max > 200us").unwrap();
    let both = said(300, 400, limit());
    assert!(
        both.starts_with("both ends are bad: 0 has max 300 us (none: fork, wakeup), 9 has max 400 us"),
        "{both}"
    );
    assert!(said(100, 90, limit()).starts_with("both ends are good: "));
    let faster = said(100, 30, KernelCriterion::worse("20%").unwrap());
    assert!(
        faster.ends_with("is bad; take --better 'max 20%' (and another folder: --output)"),
        "{faster}"
    );
    let slower = said(30, 100, KernelCriterion::better("20%").unwrap());
    assert!(slower.starts_with("both ends are not better: "), "{slower}");
    assert!(
        slower.ends_with("is better; take --worse 'max 20%' (and another folder: --output)"),
        "{slower}"
    );
}

#[test]
fn the_first_better_one_is_found_by_a_limit_and_by_a_percentage() {
    for (criterion, words) in [
        (KernelCriterion::limit("max > 50us").unwrap(), ["bad", "good"]),
        (KernelCriterion::better("20%").unwrap(), ["not better", "better"]),
    ] {
        for from in 1..10 {
            let (ending, lines) = bisected(criterion, 100, 30, from);
            let ending = ending.unwrap();
            assert_eq!(ending.sought, SoughtChange::Better);
            assert_eq!(number(&ending.first.candidate), from);
            assert_eq!(number(&ending.before.candidate), from - 1);
            assert!(
                lines.contains(&format!("0: {}, max 100 us (none: fork, wakeup)", words[0])),
                "{lines:?}"
            );
            assert!(
                lines.contains(&format!("9: {}, max 30.0 us (none: fork, wakeup)", words[1])),
                "{lines:?}"
            );
            let told = "9 is better than 0, the older one: the first better one is searched";
            assert!(lines.iter().any(|line| line == told), "{lines:?}");
        }
    }
    let (ending, lines) = bisected(KernelCriterion::worse("20%").unwrap(), 30, 100, 4);
    assert_eq!(ending.unwrap().sought, SoughtChange::Worse);
    assert!(!lines.iter().any(|line| line.contains("better")), "{lines:?}");
}

#[test]
fn the_state_tells_what_is_searched_and_another_form_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let better = || KernelCriterion::better("20%").unwrap();
    let begin = || Bisection::begin(dir.path(), question("0", "9"), better(), || Ok(names(10)));
    let measure = |name: &str| Ok::<_, BisectError>(measured(100 - 9 * number(name) as u64));
    begin().unwrap().run(&List(names(10)), &Silent, measure).unwrap();
    let path = dir.path().join(STATE);
    let state = fs::read_to_string(&path).unwrap();
    assert!(
        state.contains(r#""sought": "better""#) && state.contains(SCHEMA),
        "{state}"
    );
    fs::write(&path, state.replace(SCHEMA, "worstcase-bisect/1")).unwrap();
    let said = begin().unwrap_err().to_string();
    assert!(
        said.contains("of another form than worstcase-bisect/2") && said.contains("aside"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_measured_is_skipped_but_for_an_end() {
    let dir = tempfile::tempdir().unwrap();
    let run = |cannot: &[usize]| {
        let folder = dir.path().join(cannot.len().to_string());
        let measure = |name: &str| {
            Ok::<_, BisectError>(match number(name) {
                place if cannot.contains(&place) => CandidateOutcome::Cannot("does not boot".into()),
                place => measured(if place >= 5 { 100 } else { 30 }),
            })
        };
        begin(&folder, 10).unwrap().run(&List(names(10)), &Silent, measure)
    };
    let ending = run(&[4, 5]).unwrap();
    assert_eq!(
        (ending.first.candidate.as_str(), &ending.or_one_of[..]),
        ("6", &["4".to_string(), "5".into()][..])
    );
    assert_eq!(ending.before.candidate, "3");
    let error = run(&[9]).unwrap_err().to_string();
    assert_eq!(error, "9, which is an end, cannot be measured: does not boot");
    assert_eq!(run(&[]).unwrap().first.candidate, "5");
}

#[test]
fn another_question_has_another_folder() {
    let dir = tempfile::tempdir().unwrap();
    drop(begin(dir.path(), 10).unwrap());
    let error = begin(dir.path(), 11).unwrap_err().to_string();
    assert!(error.contains("differs in its bad end"), "{error}");
    let held = begin(dir.path(), 10).unwrap();
    assert!(matches!(begin(dir.path(), 10), Err(BisectError::Busy(_))));
    drop(held);
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("file"), "").unwrap();
    assert!(
        begin(other.path(), 10)
            .unwrap_err()
            .to_string()
            .contains("something else")
    );
}

#[test]
fn a_kill_while_the_first_state_is_written_leaves_a_folder_to_begin_in() {
    let dir = tempfile::tempdir().unwrap();
    // The unfinished file that a kill leaves on a file system without O_TMPFILE.
    let left = format!("{UNFINISHED}0123");
    fs::write(dir.path().join(left), "{\"schema\": \"wor").unwrap();
    begin(dir.path(), 20).unwrap();
    assert!(dir.path().join(STATE).exists());
}

#[test]
fn a_damaged_state_is_damage_and_no_failure_of_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    drop(begin(dir.path(), 20).unwrap());
    let whole = fs::read(dir.path().join(STATE)).unwrap();
    for damage in [&whole[..whole.len() / 2], b"", b"{}"] {
        fs::write(dir.path().join(STATE), damage).unwrap();
        let error = begin(dir.path(), 20).unwrap_err();
        assert_eq!(error.exit(), worstcase_base::ExitKind::Usage);
        let said = error.to_string();
        assert!(
            said.contains("bisect.json is damaged") && said.contains("aside"),
            "{said}"
        );
    }
}
