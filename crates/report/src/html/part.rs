//! The statements about a run, as the page needs them: final texts and numbers.

use super::answer::ReportAnswer;
use super::breakdown::BreakdownPart;
use super::cycle::CyclePart;
use super::drawn::ShownPicture;
use super::facts::RunFacts;
use super::labels::SubjectLabels;
use crate::ReportView;
use crate::claims::{self, ClaimChart};
use crate::next::{self, ShownStep};
use crate::picture::Picture;
use crate::run_tables;
use crate::table::page::{PageGroup, ScriptTable};
use crate::terminal::losses;
use serde::Serialize;
use worstcase_analysis::breakdown::spans::Mechanism;
use worstcase_base::distinct;
use worstcase_base::format::shell;
use worstcase_results::claims::{JudgedClaim, JudgedPair, judged};
use worstcase_results::record::Venue;

/// The parts of a page beside a run's view.
#[derive(Debug, Default)]
pub struct PageParts {
    /// Its pictures.
    pub pictures: Vec<Picture>,
    /// Whether they are drawings in the page, which is small then, and not drawn by it.
    pub is_small: bool,
    /// Its breakdowns.
    pub breakdowns: Vec<BreakdownPart>,
    /// What was found while programs were followed.
    pub cycles: Vec<CyclePart>,
}

/// A run's section.
#[derive(Debug, Serialize)]
pub struct RunPart {
    title: String,
    venue: &'static str,
    labels: SubjectLabels,
    subjects: Vec<String>,
    loads: Vec<String>,
    probes: Vec<String>,
    answer: ReportAnswer,
    decision: Vec<PageGroup>,
    figures: Vec<PageGroup>,
    pictures: Vec<ShownPicture>,
    breakdowns: Vec<BreakdownPart>,
    cycles: Vec<CyclePart>,
    question: Option<String>,
    claims: Option<ClaimsPart>,
    losses: Vec<String>,
    facts: RunFacts,
    next: Vec<ShownStep>,
    command: String,
    tool_version: String,
}

/// The claims of the study, the answer first.
#[derive(Debug, Serialize)]
struct ClaimsPart {
    heading: &'static str,
    caption: &'static str,
    summary: String,
    claims: Vec<ClaimPart>,
}

/// A claim, whether it holds, and its figures.
#[derive(Debug, Serialize)]
struct ClaimPart {
    says: String,
    verb: &'static str,
    verdict: &'static str,
    notes: Vec<String>,
    terms: Vec<String>,
    pairs: Vec<String>,
    why: String,
    source: String,
    chart: Option<ClaimChart>,
    table: ScriptTable,
}

impl ClaimsPart {
    fn new(view: &ReportView) -> Option<ClaimsPart> {
        let judged = judged(view.plan, view.records);
        let part = |judged: &JudgedClaim| ClaimPart {
            says: judged.claim.says.clone(),
            verb: judged.claim.origin.verb(),
            verdict: judged.verdict.name(),
            notes: claims::notes(judged, &view.explanations.claims),
            terms: judged
                .claim
                .terms
                .iter()
                .map(|term| format!("{}: {}", term.word, term.means))
                .collect(),
            pairs: judged.pairs.iter().map(JudgedPair::words).collect(),
            why: judged.claim.why.clone(),
            source: judged.claim.origin.words(),
            chart: ClaimChart::of(judged),
            table: ScriptTable::new(&claims::table(judged)),
        };
        (!judged.is_empty()).then(|| ClaimsPart {
            heading: claims::heading(&judged),
            caption: claims::CAPTION,
            summary: claims::summary(&judged),
            claims: judged.iter().map(part).collect(),
        })
    }
}

/// A text of a file, whose lines are as long as the file's are.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl RunPart {
    /// The part of a run.
    pub fn new(view: &ReportView, parts: PageParts) -> RunPart {
        let plan = view.plan;
        let loads = distinct(plan.cells.iter().map(|c| c.load.clone()));
        let labels = SubjectLabels::of(plan, view.records);
        let mechanisms: Vec<Mechanism> = parts.breakdowns.iter().map(BreakdownPart::mechanism).collect();
        let of_samples = parts.breakdowns.iter().map(BreakdownPart::cause);
        let causes: Vec<&str> = of_samples
            .chain(parts.cycles.iter().filter_map(CyclePart::cause))
            .collect();
        RunPart {
            title: plan.title.clone(),
            venue: match view.records.first().map(|r| r.subject.venue()) {
                Some(Venue::Host) => "host",
                Some(Venue::Lab) => "lab",
                None => "",
            },
            subjects: distinct(plan.cells.iter().map(|c| c.subject.to_string())),
            loads,
            probes: distinct(plan.cells.iter().map(|c| c.probe.clone())),
            answer: ReportAnswer::of(view, &labels, &causes),
            decision: run_tables::of_decision(view).iter().map(PageGroup::new).collect(),
            figures: run_tables::timed(view)
                .iter()
                .chain(&run_tables::of_probes(view))
                .map(PageGroup::new)
                .collect(),
            pictures: parts
                .pictures
                .into_iter()
                .map(|picture| ShownPicture::new(picture, parts.is_small))
                .collect(),
            breakdowns: parts.breakdowns,
            cycles: parts.cycles,
            question: plan.question.as_deref().map(in_one_line),
            claims: ClaimsPart::new(view),
            losses: match view.records {
                [] => Vec::new(),
                records => losses(records),
            },
            facts: RunFacts::of(view.records, &labels),
            labels,
            // This is the page.
            next: next::shown(
                &next::next(view, &mechanisms)
                    .into_iter()
                    .filter(|s| !s.is_page())
                    .collect::<Vec<_>>(),
            ),
            command: shell(&view.command()),
            tool_version: plan.tool_version.clone(),
        }
    }

    /// Whether the page needs the library for a picture of it.
    pub(super) fn needs_library(&self) -> bool {
        self.pictures.iter().any(ShownPicture::needs_library)
    }

    /// The question.
    pub fn title(&self) -> &str {
        &self.title
    }
}
