//! The page's name for each subject.

use crate::picture::data::PictureData;
use serde::Serialize;
use std::collections::BTreeMap;
use worstcase_results::record::{Record, RunPlan, SubjectId};

/// The label of each subject, as in its pictures.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct SubjectLabels(BTreeMap<SubjectId, String>);

impl SubjectLabels {
    pub(super) fn of(plan: &RunPlan, records: &[Record]) -> SubjectLabels {
        let mut labels: BTreeMap<SubjectId, String> = plan
            .cells
            .iter()
            .map(|c| (c.subject.clone(), c.subject.to_string()))
            .collect();
        let data = PictureData::new(plan, records, None);
        labels.extend(data.subjects.into_iter().map(|subject| (subject.id, subject.label)));
        SubjectLabels(labels)
    }

    /// The label of a subject of the run.
    pub fn get(&self, id: &SubjectId) -> String {
        self.0.get(id).cloned().unwrap_or_else(|| id.to_string())
    }
}
