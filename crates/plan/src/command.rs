//! The command line that asks for an experiment.

use crate::{
    Apply, Disk, Experiment, HostSetup, IoSchedulers, Length, Part, Preempt, StudySource, Subject, Subjects, Variant,
    Venue, VirtualMachine, grammar,
};
use std::path::Path;
use worstcase_base::distinct;
use worstcase_base::duration;
use worstcase_probe::Nanos;

/// A command that measured an experiment, to go on where it ended: a host measures anew unless it is told.
pub fn to_go_on(experiment: &Experiment, mut command: Vec<String>) -> Vec<String> {
    if experiment.venue == Venue::Host {
        command.push("--resume".into());
    }
    command
}

/// The words of a command that measures an experiment into `output`.
///
/// What a venue usually takes is left out. Without a study the experiment is that of a command line: it has one part,
/// whose kernels, models and machines are every one with every other.
pub fn command(experiment: &Experiment, study: Option<&StudySource>, output: &Path) -> Vec<String> {
    let mut words = Words(vec!["worstcase".into()]);
    match study {
        Some(study) => of_study(&mut words, experiment, study),
        None => of_experiment(&mut words, experiment),
    }
    words.option("output", output.display());
    words.0
}

struct Words(Vec<String>);

impl Words {
    fn option(&mut self, name: &str, value: impl ToString) {
        self.0.extend([format!("--{name}"), value.to_string()]);
    }

    fn maybe(&mut self, name: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.option(name, value);
        }
    }

    fn flag(&mut self, name: &str, is_set: bool) {
        self.0.extend(is_set.then(|| format!("--{name}")));
    }
}

fn of_study(words: &mut Words, experiment: &Experiment, study: &StudySource) {
    words.0.extend(["study", "run"].map(str::to_string));
    words.0.push(study.study.clone());
    words.flag("quick", study.variant == Variant::Quick);
    words.flag("host", experiment.venue == Venue::Host);
    of_files(words, &experiment.setup);
}

/// Where the files are, and the I/O schedulers of that disk.
fn of_files(words: &mut Words, setup: &HostSetup) {
    words.maybe("work-dir", setup.work_dir.as_ref().map(|d| d.display()));
    let schedulers = Some(&setup.io_schedulers).filter(|all| !all.is_empty());
    words.maybe("io-scheduler", schedulers);
}

fn of_experiment(words: &mut Words, experiment: &Experiment) {
    let venue = experiment.venue;
    words.0.extend([venue.name().to_string(), "run".to_string()]);
    for part in &experiment.parts {
        match &part.subjects {
            Subjects::Kernels(kernels) => kernels_of(words, kernels),
            Subjects::Cpus(cpus) => words.maybe("cpus", cpus.as_ref()),
        }
        of_part(words, part, venue);
    }
    for added in &experiment.added {
        words.option("add", format!("{}:{}", added.source.display(), added.dest));
    }
    for module in &experiment.modules {
        words.option("module", module);
    }
    words.maybe("load-cpus", experiment.setup.load_cpus.as_ref());
    of_files(words, &experiment.setup);
    match &experiment.setup.apply {
        Apply::Only(names) => words.0.push(format!("--apply={}", names.join(","))),
        other => words.flag("apply", *other == Apply::Everything),
    }
    words.maybe("chrt", Some(&experiment.setup.chrt).filter(|chrt| !chrt.is_empty()));
    words.maybe("criterion", experiment.criterion.map(typed));
}

fn kernels_of(words: &mut Words, subjects: &[Subject]) {
    for kernel in distinct(subjects.iter().map(|s| s.kernel.clone())) {
        words.option("kernel", kernel);
    }
    let models = distinct(subjects.iter().map(|s| s.preempt));
    if models != [Preempt::All] {
        let models: Vec<String> = models.iter().map(ToString::to_string).collect();
        words.option("preempt", models.join(","));
    }
    let usual = VirtualMachine::default();
    let mut list = |name: &str, of: &dyn Fn(&VirtualMachine) -> String| {
        let values = distinct(subjects.iter().map(|s| of(&s.machine)));
        if values != [of(&usual)] {
            words.option(name, values.join(","));
        }
    };
    list("mips", &|machine| machine.mips.to_string());
    list("memory", &|machine| machine.memory_mb.to_string());
    list("cpu", &|machine| machine.cpu.to_string());
    list("cpus", &|machine| machine.smp.cpus.to_string());
    list("quantum", &|machine| typed(machine.smp.quantum));
    let smp = subjects.first().map(|subject| &subject.machine.smp);
    words.maybe("probe-cpu", smp.and_then(|smp| smp.probe));
    words.maybe("load-cpus", smp.and_then(|smp| smp.load.as_ref()));
    let appended = distinct(subjects.iter().map(|s| s.machine.append.to_string()));
    if appended != [""] {
        appended.iter().for_each(|append| words.option("append", append));
    }
    let priorities = distinct(subjects.iter().map(|s| s.machine.chrt.to_string()));
    if priorities != [""] {
        priorities.iter().for_each(|chrt| words.option("chrt", chrt));
    }
    let schedulers = distinct(subjects.iter().filter_map(|s| s.machine.scheduler.clone()));
    let schedulers: Vec<String> = schedulers.iter().map(ToString::to_string).collect();
    words.maybe("scheduler", Some(schedulers.join(",")).filter(|all| !all.is_empty()));
    let disks: Vec<String> = distinct(
        subjects
            .iter()
            .filter_map(|s| s.machine.disk.as_ref().map(Disk::to_string)),
    );
    words.maybe("disk", Some(disks.join(",")).filter(|disks| !disks.is_empty()));
    let schedulers = distinct(subjects.iter().filter_map(|s| s.machine.io_scheduler.clone()));
    words.maybe(
        "io-scheduler",
        Some(IoSchedulers(schedulers)).filter(|all| !all.is_empty()),
    );
}

fn of_part(words: &mut Words, part: &Part, venue: Venue) {
    part.loads.iter().for_each(|load| words.option("load", load));
    words.option("probe", part.probes.join(","));
    words.maybe("interval", part.timing.interval.map(typed));
    match part.timing.length {
        Some(Length::Samples(n)) => words.option("samples", n),
        Some(Length::Time(time)) => words.option("time", typed(time)),
        None => {}
    }
    match (part.seeds.first, part.seeds.last) {
        (1, last) => words.option("seeds", last),
        (one, _) => words.option("seed", one),
    }
    let unusual = |value: Nanos, usual: Nanos| (value != usual).then(|| typed(value));
    words.maybe("warmup", unusual(part.timing.warmup, grammar::usual(venue).warmup));
    let method = &part.method;
    words.maybe(
        "priority",
        Some(method.priority).filter(|p| *p != grammar::usual(venue).priority),
    );
    words.maybe("policy", method.policy);
    words.maybe("nice", method.nice);
    words.maybe("timer", method.timer);
    words.maybe("distance", method.distance.map(typed));
    words.maybe("threshold", method.threshold.map(typed));
    words.maybe("captures", method.captures);
    words.maybe("break", method.break_at.map(typed));
}

/// As it is typed: without a space.
fn typed(length: Nanos) -> String {
    duration::show(length).replace(' ', "")
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
            "worstcase lab run --kernel debian:6.1 --preempt none --load idle --probe wakeup --samples 400 --seeds 5 \
             --output a run"
        );
        let words = command(&host(), None, "r".as_ref());
        assert_eq!(
            words.join(" "),
            "worstcase host run --cpus 0-1 --load fork+procread --probe jitter --interval 2ms --time 10s --seed 3 \
             --policy rr --timer timerfd --work-dir /var/tmp --criterion 100us --output r"
        );
    }

    #[test]
    fn a_module_is_one_word_with_its_parameters() {
        let mut experiment = lab();
        experiment.modules = [("/d/a.ko", ""), ("/d/b.ko", "x=1 y=2")]
            .map(|(source, parameters)| crate::Module {
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
            variant: Variant::Quick,
        };
        let words = command(&host(), Some(&study), "r".as_ref());
        assert_eq!(
            words.join(" "),
            "worstcase study run /home/me/mine.toml --quick --host --work-dir /var/tmp --output r"
        );
    }
}
