//! Which parts of a study this machine can run: a study is written for all machines, and some have fewer CPUs.

use crate::MachineFacts;
use crate::cpus::Cpus;
use worstcase_contract::Probe;
use worstcase_contract::probe::CpuNeed;
use worstcase_plan::{Experiment, Subjects};

/// Leaves out runs of hackbench on more CPUs than this process may use; says which.
pub fn leave_out(experiment: &mut Experiment) -> Vec<String> {
    let available = Cpus::of(&MachineFacts::of("/".as_ref())).usual().len();
    leave_out_of(experiment, available)
}

fn leave_out_of(experiment: &mut Experiment, available: usize) -> Vec<String> {
    let mut left_out = Vec::new();
    for part in &mut experiment.parts {
        let cpus = match &part.subjects {
            Subjects::Cpus(Some(cpus)) => cpus.len(),
            _ => available,
        };
        let keep = |word: String| match Probe::expand(&word) {
            Ok(all) if all.iter().any(|probe| wanted(probe) > cpus) => {
                let (kept, out): (Vec<Probe>, Vec<Probe>) = all.into_iter().partition(|probe| wanted(probe) <= cpus);
                let words = |all: Vec<Probe>| all.iter().map(ToString::to_string).collect::<Vec<_>>();
                let out = words(out).join(", ");
                left_out.push(format!("left out, {cpus} CPUs may be used here: {out}"));
                words(kept)
            }
            // A word that is no probe is refused later, where it is run.
            _ => vec![word],
        };
        part.probes = std::mem::take(&mut part.probes).into_iter().flat_map(keep).collect();
    }
    experiment.parts.retain(|part| !part.probes.is_empty());
    left_out
}

/// CPUs that a probe asks for.
fn wanted(probe: &Probe) -> usize {
    match probe.cpus() {
        CpuNeed::Exactly(cpus) => cpus,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_plan::{StudyVariant, Venue, study};

    #[test]
    fn hackbench_on_more_cpus_than_there_are_is_left_out() {
        let plan = study::plan("scheduler-scaling", Venue::Host, StudyVariant::Full).unwrap();
        for cpus in [1, 2, 4, 8] {
            let mut experiment = plan.experiment.clone();
            let left_out = leave_out_of(&mut experiment, cpus);
            assert_eq!(left_out.is_empty(), cpus == 8, "{left_out:?}");
            let probes = experiment.parts.iter().flat_map(|part| &part.probes);
            let most = probes
                .flat_map(|word| Probe::expand(word).unwrap())
                .map(|probe| wanted(&probe));
            assert_eq!(most.max(), Some(cpus));
        }
    }
}
