//! The command line that asks for an experiment.

use crate::parameters::{self, Parameter, ParameterOwner, ValueCount, typed};
use crate::{Experiment, PlannedSubject, PreemptChoice, StudySource, StudyVariant, Subjects, Venue, VirtualMachine};
use std::path::Path;
use worstcase_base::distinct;

/// The command that measured an experiment, changed to go on where it ended: a host measures anew unless it is
/// told.
pub fn to_go_on(experiment: &Experiment, mut command: Vec<String>) -> Vec<String> {
    if experiment.venue == Venue::Host {
        command.push("--resume".into());
    }
    command
}

/// The words of a command that measures an experiment into `output`.
///
/// Usual values of the venue are left out. Without a study the experiment is that of a command line: it has one part,
/// whose kernels, models and machines are every one with every other.
pub fn command(experiment: &Experiment, study: Option<&StudySource>, output: &Path) -> Vec<String> {
    let mut words = CommandWords(vec!["worstcase".into()]);
    match study {
        Some(study) => of_study(&mut words, experiment, study),
        None => of_experiment(&mut words, experiment),
    }
    words.option("output", output.display());
    words.0
}

struct CommandWords(Vec<String>);

impl CommandWords {
    fn option(&mut self, name: &str, value: impl ToString) {
        self.0.extend([format!("--{name}"), value.to_string()]);
    }

    fn maybe(&mut self, name: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.option(name, value);
        }
    }

    fn parameter(&mut self, parameter: &Parameter, values: Vec<String>) {
        for text in parameter.join(values) {
            match parameter.values {
                ValueCount::OneOrAll if text.is_empty() => self.flag(parameter.flag, true),
                ValueCount::OneOrAll => self.0.push(format!("--{}={text}", parameter.flag)),
                _ => self.option(parameter.flag, text),
            }
        }
    }

    fn flag(&mut self, name: &str, is_set: bool) {
        self.0.extend(is_set.then(|| format!("--{name}")));
    }
}

fn of_study(words: &mut CommandWords, experiment: &Experiment, study: &StudySource) {
    words.0.extend(["study", "run"].map(str::to_string));
    words.0.push(study.study.clone());
    words.flag("quick", study.variant == StudyVariant::Quick);
    words.flag("host", experiment.venue == Venue::Host);
    words.maybe("arch", Some(study.arch).filter(|arch| !arch.is_usual()));
    let chosen = parameters::all(Venue::Host).filter(|p| OF_STUDY_RUN.contains(&p.key));
    for parameter in chosen.filter(|_| experiment.venue == Venue::Host) {
        words.parameter(parameter, values(parameter, experiment));
    }
}

fn of_experiment(words: &mut CommandWords, experiment: &Experiment) {
    let venue = experiment.venue;
    words.0.extend([venue.name().to_string(), "run".to_string()]);
    for part in &experiment.parts {
        if let Subjects::Kernels(kernels) = &part.subjects {
            kernels_of(words, kernels);
        }
    }
    let usual = Experiment::usual_of(venue);
    for parameter in parameters::all(venue) {
        let values = values(parameter, experiment);
        if ALWAYS.contains(&parameter.key) || values != self::values(parameter, &usual) {
            words.parameter(parameter, values);
        }
    }
    words.maybe("criterion", experiment.criterion.map(typed));
}

/// Options that the command gives even with usual values: a year later readers do not know which are usual.
const ALWAYS: [&str; 4] = ["loads", "probes", "seeds", "seed"];

/// The options of `study run` beside the study.
pub const OF_STUDY_RUN: [&str; 2] = ["work_dir", "io_scheduler"];

/// The values of a parameter, as they are typed; none if a machine has the usual value.
fn values(parameter: &Parameter, experiment: &Experiment) -> Vec<String> {
    match &parameter.owner {
        // The kernels' names tell it, and an image is of one.
        ParameterOwner::Machine(_) if parameter.key == "arch" => Vec::new(),
        ParameterOwner::Machine(field) => {
            let is_usual = |machine: &VirtualMachine| {
                let mut usual = VirtualMachine::default();
                usual.set_arch(machine.arch());
                (field.get)(machine) == (field.get)(&usual)
            };
            match experiment.machines().all(is_usual) {
                true => Vec::new(),
                false => distinct(experiment.machines().map(|machine| (field.get)(machine))),
            }
        }
        ParameterOwner::Part(field) => experiment.parts.iter().flat_map(|part| (field.get)(part)).collect(),
        ParameterOwner::Experiment(field) => (field.get)(experiment),
    }
}

fn kernels_of(words: &mut CommandWords, subjects: &[PlannedSubject]) {
    for kernel in distinct(subjects.iter().map(|s| s.kernel.clone())) {
        words.option("kernel", kernel);
    }
    let models = distinct(subjects.iter().map(|s| s.preempt));
    if models != [PreemptChoice::All] {
        let models: Vec<String> = models.iter().map(ToString::to_string).collect();
        words.option("preempt", models.join(","));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::tests::{host, lab};

    #[test]
    fn what_is_usual_is_left_out_and_the_folder_is_not() {
        let words = command(&lab(), None, "a run".as_ref());
        assert_eq!(
            words.join(" "),
            "worstcase lab run --kernel debian:6.1 --preempt none --load idle --probe wakeup --seeds 10 --samples 400 \
             --output a run"
        );
        let words = command(&host(), None, "r".as_ref());
        assert_eq!(
            words.join(" "),
            "worstcase host run --cpus 0-1 --load fork+procread --probe jitter --seed 3 --interval 2ms --time 10s \
             --policy rr --timer timerfd --work-dir /var/tmp --criterion 100us --output r"
        );
    }

    #[test]
    fn a_module_is_one_word_with_its_parameters() {
        let mut experiment = lab();
        experiment.modules = [("/d/a.ko", ""), ("/d/b.ko", "x=1 y=2")]
            .map(|(source, parameters)| crate::LabModule {
                source: source.into(),
                parameters: parameters.into(),
            })
            .into();
        let words = command(&experiment, None, "r".as_ref());
        let at = words.iter().position(|word| word == "--module").unwrap();
        assert_eq!(
            words[at..at + 4],
            ["--module", "/d/a.ko", "--module", "/d/b.ko x=1 y=2"]
        );
        let difference = lab().difference(&experiment).unwrap();
        assert_eq!(
            difference.to_string(),
            "module (none there, /d/a.ko, /d/b.ko x=1 y=2 here)"
        );
    }

    #[test]
    fn a_study_is_named() {
        let study = StudySource {
            study: "/home/me/mine.toml".into(),
            variant: StudyVariant::Quick,
            arch: crate::Arch::default(),
        };
        let words = command(&host(), Some(&study), "r".as_ref());
        assert_eq!(
            words.join(" "),
            "worstcase study run /home/me/mine.toml --quick --host --work-dir /var/tmp --output r"
        );
        let of_boards = StudySource {
            arch: crate::Arch::Arm64,
            ..study
        };
        let words = command(&lab(), Some(&of_boards), "r".as_ref());
        assert_eq!(
            words.join(" "),
            "worstcase study run /home/me/mine.toml --quick --arch arm64 --output r"
        );
    }
}
