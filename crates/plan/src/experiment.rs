//! An experiment: subjects, loads and probes, multiplied out only when it runs.
//!
//! ```text
//! Plan ── title, question, claims, the study it is from
//!  └─ Experiment ── venue, criterion, what every cell shares
//!      └─ Part, at least one ── subjects x loads x probes x seeds, timing, method
//! ```
//! A command line gives one part. A study may have several parts, which differ in some of these.

use crate::parameters::InvalidValue;
use crate::{
    Apply, Arch, Claim, CpuList, Demand, IoSchedulers, PreemptName, Problem, SchedulingPolicy, StudyVariant, TimerKind,
    VirtualMachine, grammar,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use worstcase_contract::loads::{LoadSpec, command_line};
use worstcase_contract::policy::ProbePolicy;
use worstcase_contract::priorities::ThreadPriorities;
use worstcase_contract::probe::ProbeInfo;
use worstcase_contract::{Nanos, Venue};

/// The measured subjects, loads and probes, with timing and criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Experiment {
    /// The venue.
    pub venue: Venue,
    /// Limit of the latency, if there is one.
    #[serde(rename = "criterion_ns")]
    pub criterion: Option<Nanos>,
    /// Cells; never empty.
    pub parts: Vec<Part>,
    /// Lab: programs put into every subject.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Added>,
    /// Lab: the user's own program, which is the probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Added>,
    /// Its arguments, as they are typed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program_args: String,
    /// Lab: kernel modules put into every subject and loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<LabModule>,
    /// Host: the settings around every cell.
    #[serde(default, skip_serializing_if = "HostSetup::is_usual")]
    pub setup: HostSetup,
}

/// Every subject with every load, probe and seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The subjects.
    pub subjects: Subjects,
    /// The loads; each is one load, or several at once.
    pub loads: Vec<LoadSpec>,
    /// The instruments; one word may stand for several (`switch:2/16x0`).
    pub probes: Vec<String>,
    /// Seeds.
    pub seeds: Seeds,
    /// When samples are due, and how many.
    #[serde(flatten)]
    pub timing: Timing,
    /// How the probe is woken and scheduled.
    #[serde(flatten)]
    pub method: Method,
}

/// The subjects, in the form of each venue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subjects {
    /// Lab.
    Kernels(Vec<PlannedSubject>),
    /// Host: the machine itself, these of its CPUs; all that may be used if none are named.
    Cpus(Option<CpuList>),
}

/// A subject of the lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedSubject {
    /// The kernel as `worstcase kernels get` takes it.
    pub kernel: String,
    /// Preemption model.
    pub preempt: PreemptChoice,
    /// Left out if the kernel does not have this model; else that is an error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// The machine under it.
    #[serde(flatten)]
    pub machine: VirtualMachine,
}

/// A choice of preemption model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum PreemptChoice {
    /// Every one that the kernel can boot.
    All,
    /// This one.
    One(PreemptName),
}

/// Seeds, from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeds {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}

/// When samples are due, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// The interval, if not the probe's usual one.
    #[serde(rename = "interval_ns", default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Nanos>,
    /// The length, if not the probe's usual one.
    #[serde(flatten)]
    pub length: Option<CellLength>,
    /// The load runs alone for this long.
    #[serde(rename = "warmup_ns")]
    pub warmup: Nanos,
}

/// The length of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CellLength {
    /// A number of periods, or repetitions.
    #[serde(rename = "samples")]
    Samples(u32),
    /// As many periods as fit into this time; a probe without due times takes its usual number.
    #[serde(rename = "time_ns")]
    Time(Nanos),
}

/// How the probe is woken and scheduled. All but priority, policy and nice value are for hosts only; absent values
/// are the probe's usual ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Method {
    /// Real-time priority of the probe.
    pub priority: u8,
    /// Its policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<SchedulingPolicy>,
    /// Its nice value, under SCHED_OTHER.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nice: Option<i8>,
    /// The timer that wakes the probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer: Option<TimerKind>,
    /// The due times of each CPU are this much after those of the CPU before it.
    #[serde(rename = "distance_ns", default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<Nanos>,
    /// `noise`: gaps at least this long are kept.
    #[serde(rename = "threshold_ns", default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Nanos>,
    /// The trace around this many of the largest samples of each CPU is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captures: Option<usize>,
    /// The first sample above this ends the run.
    #[serde(rename = "break_ns", default, skip_serializing_if = "Option::is_none")]
    pub break_at: Option<Nanos>,
}

/// The settings of a host for the length of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSetup {
    /// The settings, of those that the doctor can set.
    #[serde(default)]
    pub apply: Apply,
    /// The folder below which the loads make their files; absolute. Without one it is the temporary folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_dir: Option<PathBuf>,
    /// The CPUs on which the loads run. Without any they run on those that are not isolated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_cpus: Option<CpuList>,
    /// Priorities of the kernel's threads.
    #[serde(default, skip_serializing_if = "ThreadPriorities::is_empty")]
    pub chrt: ThreadPriorities,
    /// I/O schedulers of the disk that has the files; each is a subject. Without any the disk keeps its scheduler.
    #[serde(default, skip_serializing_if = "IoSchedulers::is_empty")]
    pub io_schedulers: IoSchedulers,
}

/// A program or file that is put into the lab's machines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Added {
    /// The path on the controller; absolute, so that the command works from everywhere.
    pub source: PathBuf,
    /// The path in the machine; absolute.
    pub dest: String,
}

/// A kernel module that the lab's machines load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabModule {
    /// The path on the controller; absolute, so that the command works from everywhere.
    pub source: PathBuf,
    /// The parameters as insmod takes them: `work=spin instructions=1000`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub parameters: String,
}

impl FromStr for Added {
    type Err = InvalidValue;

    /// Reads `PATH[:DEST]`; without a destination a file goes to `/usr/bin` under its own name, and a folder to where it is here.
    fn from_str(text: &str) -> Result<Added, InvalidValue> {
        let (source, dest) = match text.split_once(':') {
            Some((source, dest)) => (source, Some(dest.to_string())),
            None => (text, None),
        };
        let source = std::path::absolute(source).map_err(InvalidValue::new)?;
        let dest = dest.unwrap_or_else(|| match source.is_dir() {
            true => source.display().to_string().trim_end_matches('/').to_string(),
            false => format!("/usr/bin/{}", source.file_name().unwrap_or_default().to_string_lossy()),
        });
        let clean = dest.starts_with('/') && !dest.ends_with('/') && !dest.split('/').any(|part| part == "..");
        if !clean || dest == "/init" || dest.starts_with("/modules/") {
            return Err(InvalidValue(format!(
                "the destination '{}' must be an absolute path of a file, not /init and not below /modules",
                dest.escape_debug()
            )));
        }
        Ok(Added { source, dest })
    }
}

impl fmt::Display for Added {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.source.display(), self.dest)
    }
}

impl FromStr for LabModule {
    type Err = InvalidValue;

    /// Reads `PATH.ko[ parameters...]`: the path ends where the first word that ends a module's name does.
    fn from_str(text: &str) -> Result<LabModule, InvalidValue> {
        let ends = [".ko", ".ko.xz", ".ko.gz", ".ko.zst"];
        let spaces = text.match_indices(' ').map(|(at, _)| at).chain([text.len()]);
        let mut ends = spaces.filter(|at| ends.iter().any(|end| text[..*at].ends_with(end)));
        let (source, parameters) = text.split_at(ends.next().unwrap_or(text.len()));
        Ok(LabModule {
            source: std::path::absolute(source).map_err(InvalidValue::new)?,
            parameters: parameters.trim().replace('\n', " "),
        })
    }
}

impl fmt::Display for LabModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.display().fmt(f)?;
        match self.parameters.is_empty() {
            true => Ok(()),
            false => write!(f, " {}", self.parameters),
        }
    }
}

/// An experiment with its title, demands and source.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentPlan {
    /// The question, in a line.
    pub title: String,
    /// The experiment.
    pub experiment: Experiment,
    /// The study that asks it.
    pub study: Option<StudySource>,
    /// The study's question, in full.
    pub question: Option<String>,
    /// The study's claims.
    pub claims: Vec<Claim>,
    /// The demands of uses of a machine.
    pub demands: Vec<Demand>,
}

impl ExperimentPlan {
    /// A plan that belongs to no study.
    pub fn new(title: impl Into<String>, experiment: Experiment) -> ExperimentPlan {
        ExperimentPlan {
            title: title.into(),
            experiment,
            study: None,
            question: None,
            claims: Vec::new(),
            demands: Vec::new(),
        }
    }
}

/// The study that an experiment comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudySource {
    /// A built-in one's name, or the absolute path of a file.
    pub study: String,
    /// The variant of the study.
    pub variant: StudyVariant,
    /// The architecture of which it was asked, if not of its own kernels.
    #[serde(default, skip_serializing_if = "Arch::is_usual")]
    pub arch: Arch,
}

impl Experiment {
    /// The experiment that a venue usually makes of these subjects.
    pub fn usual(venue: Venue, subjects: Subjects) -> Experiment {
        let part = Part {
            subjects,
            loads: vec!["idle".parse().expect("there is a load of this name")],
            probes: vec!["wakeup".into()],
            seeds: Seeds::to(grammar::usual(venue).seeds),
            timing: Timing {
                interval: None,
                length: None,
                warmup: grammar::usual(venue).warmup,
            },
            method: Method::usual(venue),
        };
        Experiment {
            venue,
            criterion: None,
            parts: vec![part],
            added: Vec::new(),
            program: None,
            program_args: String::new(),
            modules: Vec::new(),
            setup: HostSetup::default(),
        }
    }

    /// The same without a subject.
    pub(crate) fn usual_of(venue: Venue) -> Experiment {
        let subjects = match venue {
            Venue::Lab => Subjects::Kernels(Vec::new()),
            Venue::Host => Subjects::Cpus(None),
        };
        Experiment::usual(venue, subjects)
    }

    /// The word of the probe that a program is.
    pub(crate) fn probe_of(program: &Added) -> String {
        let name = Path::new(&program.dest).file_name().unwrap_or_default();
        ProbeInfo::word_of_program(&name.to_string_lossy(), "")
    }

    /// The words of the program's command in its machine; none without a program.
    pub fn program_words(&self) -> Result<Vec<String>, Problem> {
        let Some(program) = &self.program else {
            return Ok(Vec::new());
        };
        let arguments = match self.program_args.trim() {
            "" => Vec::new(),
            text => command_line::split(text)
                .map_err(|why| Problem::new("program_args", format!("'{}': {why}", text.escape_debug())))?,
        };
        Ok([vec![program.dest.clone()], arguments].concat())
    }

    /// The lab's subjects of each part.
    pub fn kernels(&self) -> impl Iterator<Item = &PlannedSubject> {
        self.parts.iter().flat_map(|part| match &part.subjects {
            Subjects::Kernels(subjects) => &subjects[..],
            Subjects::Cpus(_) => &[],
        })
    }

    pub(crate) fn kernels_mut(&mut self) -> impl Iterator<Item = &mut PlannedSubject> {
        self.parts.iter_mut().flat_map(|part| match &mut part.subjects {
            Subjects::Kernels(subjects) => &mut subjects[..],
            Subjects::Cpus(_) => &mut [],
        })
    }

    /// The lab's machines, one a subject of each part.
    pub fn machines(&self) -> impl Iterator<Item = &VirtualMachine> {
        self.kernels().map(|subject| &subject.machine)
    }
}

impl HostSetup {
    fn is_usual(&self) -> bool {
        *self == HostSetup::default()
    }
}

impl Seeds {
    /// 1 to this number.
    pub fn to(last: u32) -> Seeds {
        Seeds {
            first: 1,
            last: last.into(),
        }
    }

    /// A single seed.
    pub(crate) const fn one(seed: u64) -> Seeds {
        Seeds {
            first: seed,
            last: seed,
        }
    }

    /// Each.
    pub fn iter(self) -> impl Iterator<Item = u64> + Clone {
        self.first..=self.last
    }

    /// The number of seeds.
    pub const fn count(self) -> u64 {
        self.last - self.first + 1
    }
}

impl fmt::Display for Seeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "{}", self.first),
            false => write!(f, "{} to {}", self.first, self.last),
        }
    }
}

impl Method {
    /// The venue's usual priority; everything else is the probe's usual value.
    pub const fn usual(venue: Venue) -> Method {
        Method {
            priority: grammar::usual(venue).priority,
            policy: None,
            nice: None,
            timer: None,
            distance: None,
            threshold: None,
            captures: None,
            break_at: None,
        }
    }

    /// The probe's policy as records of a host name it, without a priority: `fifo`, `other`, `other:5`.
    pub fn policy_in_words(&self) -> String {
        let policy = self.policy.unwrap_or(SchedulingPolicy::Fifo);
        match self.nice.unwrap_or(0) {
            0 => policy.to_string(),
            nice => format!("{policy}:{nice}"),
        }
    }

    /// The probe's policy in the lab, which has no SCHED_DEADLINE.
    pub(crate) fn of_lab(&self) -> Option<ProbePolicy> {
        self.policy.map(|policy| match policy {
            SchedulingPolicy::Other => ProbePolicy::Other {
                nice: self.nice.unwrap_or(0),
            },
            SchedulingPolicy::Rr => ProbePolicy::Rr,
            _ => ProbePolicy::Fifo,
        })
    }
}

impl fmt::Display for PreemptChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PreemptChoice::All => f.pad("all"),
            PreemptChoice::One(model) => model.fmt(f),
        }
    }
}

impl FromStr for PreemptChoice {
    type Err = crate::UnknownModel;
    fn from_str(text: &str) -> Result<PreemptChoice, crate::UnknownModel> {
        match text {
            "all" => Ok(PreemptChoice::All),
            model => model.parse().map(PreemptChoice::One),
        }
    }
}

worstcase_contract::text_form!(PreemptChoice);

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use worstcase_cell::order::{Order, PolicyOrder};

    pub(crate) fn lab() -> Experiment {
        let subject = PlannedSubject {
            kernel: "debian:6.1".into(),
            preempt: PreemptChoice::One(PreemptName::None),
            optional: false,
            machine: VirtualMachine::default(),
        };
        let mut lab = Experiment::usual(Venue::Lab, Subjects::Kernels(vec![subject]));
        lab.parts[0].timing.length = Some(CellLength::Samples(400));
        lab
    }

    pub(crate) fn host() -> Experiment {
        let mut host = Experiment::usual(Venue::Host, Subjects::Cpus(Some([0, 1].into_iter().collect())));
        host.criterion = Some(Nanos(100_000));
        host.setup.work_dir = Some("/var/tmp".into());
        let part = &mut host.parts[0];
        part.loads = vec!["fork+procread".parse().unwrap()];
        part.probes = vec!["jitter".into()];
        part.seeds = Seeds::one(3);
        part.timing.interval = Some(Nanos::from_millis(2));
        part.timing.length = Some(CellLength::Time(Nanos::from_millis(10_000)));
        part.method.policy = Some(SchedulingPolicy::Rr);
        part.method.timer = Some(TimerKind::Timerfd);
        host
    }

    #[test]
    fn what_is_kept_is_read() {
        let mut usual = lab();
        usual.parts[0].timing.length = None;
        for experiment in [lab(), host(), usual] {
            experiment.check().unwrap();
            let json = serde_json::to_string(&experiment).unwrap();
            assert_eq!(serde_json::from_str::<Experiment>(&json).unwrap(), experiment, "{json}");
        }
    }

    #[test]
    fn the_probes_policy_is_told_by_the_cell_and_the_usual_one_is_not() {
        let told = |policy, nice| {
            let mut lab = lab();
            (lab.parts[0].method.policy, lab.parts[0].method.nice) = (policy, nice);
            lab.check().unwrap();
            let (subject, spec) = lab.lab_cells().unwrap().remove(0);
            let Ok(Order::Measure(_, machine)) = subject.machine.order_of(&spec) else {
                panic!("{spec:?}");
            };
            (machine.policy, spec.priority, subject.machine.unusual())
        };
        let usual = told(None, None);
        assert_eq!(usual, (PolicyOrder::Fifo, 98, vec![]));
        assert_eq!(told(Some(SchedulingPolicy::Fifo), None), usual);
        assert_eq!(
            told(Some(SchedulingPolicy::Rr), None),
            (PolicyOrder::RoundRobin, 98, vec!["rr".into()])
        );
        let nice = (PolicyOrder::Ordinary(10), 0, vec!["other-nice10".into()]);
        assert_eq!(told(Some(SchedulingPolicy::Other), Some(10)), nice);
    }

    #[test]
    fn a_thread_that_never_sleeps_is_ordinary_unless_another_policy_is_asked_for() {
        let told = |policy| {
            let mut lab = lab();
            lab.parts[0].probes = vec!["noise".into()];
            lab.parts[0].method.policy = policy;
            lab.check().unwrap();
            let (subject, spec) = lab.lab_cells().unwrap().remove(0);
            assert_eq!(spec.to_text().unwrap().parse(), Ok(spec.clone()));
            (spec.priority, subject.machine.unusual())
        };
        assert_eq!(told(None), (0, vec![]));
        assert_eq!(told(Some(SchedulingPolicy::Other)), (0, vec!["other".into()]));
        assert_eq!(told(Some(SchedulingPolicy::Fifo)), (98, vec!["fifo".into()]));
    }

    #[test]
    fn what_cannot_be_measured_is_one_line() {
        let said = |mut experiment: Experiment, change: &dyn Fn(&mut Part)| {
            change(&mut experiment.parts[0]);
            experiment.check().unwrap_err().to_string()
        };
        for (change, says) in [
            (
                (&|p: &mut Part| p.timing.interval = Some(Nanos(5_000))) as &dyn Fn(&mut Part),
                "an interval is 10 us to 60 s, not 5 us",
            ),
            (&|p| p.method.priority = 0, "a real-time priority is 1 to 99, not 0"),
            (
                &|p| p.method.timer = Some(TimerKind::Rtc),
                "'timer' is for hosts, not for the lab",
            ),
            (
                &|p| p.method.policy = Some(SchedulingPolicy::Deadline),
                "in the lab a policy is fifo, rr or other, not deadline",
            ),
            (
                &|p| {
                    p.method.policy = Some(SchedulingPolicy::Other);
                    p.probes = vec!["wakeup".into(), "switch:2x0".into()];
                },
                "switch:2x0 has a policy of its own; leave it out, or leave the policy out",
            ),
            (
                &|p| p.method.nice = Some(5),
                "a nice value goes with the policy 'other'",
            ),
            (
                &|p| p.timing.length = Some(CellLength::Time(Nanos(250_000))),
                "a time of 250 us is shorter than one interval of 251 us",
            ),
            (
                &|p| {
                    p.probes = vec!["switch:2x0".into()];
                    p.timing.length = Some(CellLength::Time(Nanos(250_000)));
                },
                "a time: switch and hackbench take a number of samples, --samples in place of --time",
            ),
            (
                &|p| p.subjects = Subjects::Cpus(None),
                "the lab has kernels in place of CPUs",
            ),
            (&|p| p.loads = vec![], "'loads' is empty"),
        ] {
            assert_eq!(said(lab(), change), says);
        }
        let kernels = lab().parts[0].subjects.clone();
        assert_eq!(
            said(host(), &|p| p.subjects = kernels.clone()),
            "a host has CPUs in place of kernels"
        );
    }
}
