//! Censuses as JSON, schema `worstcase-census/2`; times in ns.

use serde::Serialize;
use worstcase_analysis::census::diff::SectionDifference;
use worstcase_analysis::census::ensemble::CensusEnsemble;
use worstcase_analysis::census::findings::{Findings, SCHEMA};

/// One cell.
pub fn cell(findings: &Findings) -> String {
    text(findings)
}

/// Two cells side by side.
pub fn diff(before: &Findings, after: &Findings, differences: &[SectionDifference]) -> String {
    #[derive(Serialize)]
    struct Diff<'a> {
        schema: &'static str,
        before: &'a Findings,
        after: &'a Findings,
        differences: &'a [SectionDifference],
    }
    text(&Diff {
        schema: SCHEMA,
        before,
        after,
        differences,
    })
}

/// Every subject, load and probe over its seeds.
pub fn ensembles(all: &[CensusEnsemble]) -> String {
    #[derive(Serialize)]
    struct CensusRun<'a> {
        schema: &'static str,
        ensembles: &'a [CensusEnsemble],
    }
    text(&CensusRun {
        schema: SCHEMA,
        ensembles: all,
    })
}

fn text(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("findings are plain data");
    text.push('\n');
    text
}
