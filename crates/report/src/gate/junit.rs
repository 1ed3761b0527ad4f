//! The gate as JUnit XML: a suite for each subject, a test case for each cell. Worse is a failure, inconclusive an error.

use super::{ShownGate, why};
use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};
use worstcase_base::format::plain;
use worstcase_results::verdict::Outcome;

/// The document.
pub fn document(shown: &ShownGate) -> Result<String, SerializeError> {
    let mut report = Report::new("worstcase gate");
    let mut subjects: Vec<&str> = shown.gate.cells.iter().map(|c| c.subject.as_str()).collect();
    subjects.sort_unstable();
    subjects.dedup();
    for subject in subjects {
        let mut suite = TestSuite::new(plain(subject));
        for cell in shown.gate.cells.iter().filter(|c| c.subject.as_str() == subject) {
            suite.add_test_case(case(
                subject,
                &cell.how.name(),
                cell.outcome,
                &why(cell, &shown.gate.limits),
            ));
        }
        report.add_test_suite(suite);
    }
    let mut of_run = TestSuite::new("run");
    if !shown.gate.reasons.is_empty() {
        of_run.add_test_case(case("run", "finished", Outcome::Inconclusive, &shown.gate.reasons));
    }
    if let Some((criterion, verdicts, _)) = &shown.criterion {
        for verdict in verdicts {
            let name = criterion.words();
            of_run.add_test_case(case(
                verdict.subject.as_str(),
                &name,
                verdict.outcome,
                &verdict.with_reservations(),
            ));
        }
    }
    if !of_run.test_cases.is_empty() {
        report.add_test_suite(of_run);
    }
    report.to_string()
}

fn case(subject: &str, name: &str, outcome: Outcome, why: &[String]) -> TestCase {
    let lines: Vec<String> = why.iter().map(|line| plain(line)).collect();
    let kind = match outcome {
        Outcome::Pass => None,
        Outcome::Fail => Some(NonSuccessKind::Failure),
        Outcome::Inconclusive => Some(NonSuccessKind::Error),
    };
    let status = kind.map_or_else(TestCaseStatus::success, |kind| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_type(outcome.to_string());
        status.set_message(lines.first().cloned().unwrap_or_default());
        status.set_description(lines.join("\n"));
        status
    });
    let mut case = TestCase::new(plain(name), status);
    case.set_classname(plain(subject));
    if outcome == Outcome::Pass {
        case.set_system_out(lines.join("\n"));
    }
    case
}
