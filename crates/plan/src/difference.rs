//! Differences between two experiments.

use crate::parameters::{self, ParameterOwner, typed};
use crate::{Experiment, Part, PlannedSubject, Subjects, Venue};
use std::fmt;
use worstcase_contract::Nanos;

/// The first field in which two experiments differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExperimentDifference {
    /// The field, as a study file names it.
    pub field: String,
    /// Its value in the first.
    pub first: String,
    /// Its value in the second.
    pub second: String,
}

impl fmt::Display for ExperimentDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} there, {} here)", self.field, self.first, self.second)
    }
}

/// A field, and its value as it is shown.
type ShownField = (&'static str, String);

impl Experiment {
    /// The first field in which the other experiment differs; none if both measure the same cells in the same way.
    pub fn difference(&self, other: &Experiment) -> Option<ExperimentDifference> {
        let heads = first_of(&self.head(), &other.head());
        heads.or_else(|| {
            let several = self.parts.len() > 1;
            self.parts
                .iter()
                .zip(&other.parts)
                .enumerate()
                .find_map(|(nth, (a, b))| {
                    let found = first_of(&a.fields(self), &b.fields(other))?;
                    Some(match several {
                        true => ExperimentDifference {
                            field: format!("{} of part {}", found.field, nth + 1),
                            ..found
                        },
                        false => found,
                    })
                })
        })
    }

    /// The fields that belong to no part.
    fn head(&self) -> Vec<ShownField> {
        let mut fields = vec![
            ("venue", self.venue.to_string()),
            ("criterion", optional(self.criterion)),
        ];
        for parameter in parameters::all(self.venue) {
            if let ParameterOwner::Experiment(field) = &parameter.owner {
                fields.push((parameter.key, shown((field.get)(self), "none")));
            }
        }
        fields.push(("number of parts", self.parts.len().to_string()));
        fields
    }
}

impl Part {
    fn fields(&self, experiment: &Experiment) -> Vec<ShownField> {
        let mut fields = Vec::new();
        if let Subjects::Kernels(subjects) = &self.subjects {
            fields.push(("kernels", shown(subjects.iter().map(subject).collect(), "none")));
        }
        for parameter in parameters::all(experiment.venue) {
            if let ParameterOwner::Part(field) = &parameter.owner {
                let values = match parameter.key {
                    "probes" => self.probe_names(experiment.venue),
                    _ => (field.get)(self),
                };
                fields.push((parameter.key, shown(values, "usual")));
            }
        }
        fields
    }

    /// The probes' names: different words may stand for the same probes.
    fn probe_names(&self, venue: Venue) -> Vec<String> {
        match self.probes(venue) {
            Ok(probes) => probes.iter().map(ToString::to_string).collect(),
            Err(_) => self.probes.clone(),
        }
    }
}

fn subject(subject: &PlannedSubject) -> String {
    let optional = if subject.optional { " if it has it" } else { "" };
    format!("{} {}{optional} ({})", subject.kernel, subject.preempt, subject.machine)
}

fn optional(value: Option<Nanos>) -> String {
    value.map_or("none".into(), typed)
}

fn shown(values: Vec<String>, without: &str) -> String {
    match values.join(", ") {
        nothing if nothing.is_empty() => without.into(),
        values => values,
    }
}

fn first_of(a: &[ShownField], b: &[ShownField]) -> Option<ExperimentDifference> {
    let differing = a.iter().zip(b).find(|(a, b)| a != b)?;
    let ((field, first), (_, second)) = differing;
    Some(ExperimentDifference {
        field: field.to_string(),
        first: first.clone(),
        second: second.clone(),
    })
}

#[cfg(test)]
mod tests {
    use crate::experiment::tests::{host, lab};
    use crate::{CellLength, Experiment, PreemptChoice, Subjects, Venue};
    use worstcase_contract::Nanos;

    fn first_difference(change: impl FnOnce(&mut Experiment)) -> String {
        let mut other = lab();
        change(&mut other);
        lab().difference(&other).unwrap().to_string()
    }

    #[test]
    fn the_field_that_differs_is_named_with_both_values() {
        assert_eq!(lab().difference(&lab()), None);
        assert_eq!(
            first_difference(|e| e.criterion = Some(Nanos(100_000))),
            "criterion (none there, 100us here)"
        );
        assert_eq!(
            first_difference(|e| e.parts[0].loads.push("shm+fork".parse().unwrap())),
            "loads (idle there, idle, shm+fork here)"
        );
        assert_eq!(
            first_difference(|e| e.parts[0].timing.length = Some(CellLength::Time(Nanos(1_000_000)))),
            "samples (400 there, usual here)"
        );
        assert_eq!(
            first_difference(|e| {
                let Subjects::Kernels(kernels) = &mut e.parts[0].subjects else {
                    unreachable!()
                };
                kernels[0].preempt = PreemptChoice::All;
            }),
            "kernels (debian:6.1 none (1000 MIPS, 1024 MB, CPU rome) there, debian:6.1 all (1000 MIPS, 1024 MB, CPU rome) here)"
        );
        let mut host_there = host();
        host_there.venue = Venue::Host;
        assert_eq!(
            lab().difference(&host_there).unwrap().to_string(),
            "venue (lab there, host here)"
        );
    }

    #[test]
    fn words_that_stand_for_the_same_probes_are_the_same() {
        let (mut one, mut two) = (lab(), lab());
        one.parts[0].probes = vec!["switch:2/4x0".into()];
        two.parts[0].probes = vec!["switch:2x0".into(), "switch:4x0".into()];
        assert_eq!(one.difference(&two), None);
    }

    #[test]
    fn a_part_is_named_by_its_number() {
        let mut other = lab();
        other.parts.push(other.parts[0].clone());
        assert_eq!(
            lab().difference(&other).unwrap().to_string(),
            "number of parts (1 there, 2 here)"
        );
        let mut third = other.clone();
        third.parts[1].timing.warmup = Nanos(0);
        assert_eq!(
            other.difference(&third).unwrap().to_string(),
            "warmup of part 2 (100ms there, 0ns here)"
        );
    }
}
