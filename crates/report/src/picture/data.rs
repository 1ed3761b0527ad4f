//! The contents of a run's pictures: subjects with their names and styles, and the questions asked of them.

use std::collections::{BTreeMap, BTreeSet};
pub use worstcase_base::distinct;
use worstcase_base::format::{file_name, is_file_name, plain, readable};
use worstcase_contract::Nanos;
use worstcase_contract::names;
use worstcase_contract::probe::ProbeInfo;
use worstcase_kernels::{Flavour, version};
use worstcase_results::record::{
    CellEntry, Quantity, Record, RunPlan, Subject, SubjectId, SubjectMachine, Venue, title_of,
};
use worstcase_results::stats::{Ensemble, ensembles};

use super::model::{MOST_SERIES, SeriesLabel};
use worstcase_plan::VirtualMachine;
use worstcase_plan::parameters::{self, MachineField};

/// A subject as it is shown.
#[derive(Clone, Debug)]
pub struct ShownSubject<'a> {
    /// Its name.
    pub id: SubjectId,
    /// The same in short: what tells it from the others of its run.
    pub label: String,
    /// Its place in the run.
    pub style: usize,
    /// The label without the kernel's version: what may stay the same from version to version.
    pub line: String,
    /// The subject itself.
    pub subject: &'a Subject,
}

impl ShownSubject<'_> {
    /// The label for a panel or series of this subject alone.
    pub fn label(&self, load: &str) -> SeriesLabel {
        SeriesLabel {
            label: self.label.clone(),
            subject: self.id.to_string(),
            load: plain(load),
            style: self.style,
        }
    }
}

/// All that the pictures of a run are made from.
#[derive(Debug)]
pub struct PictureData<'a> {
    /// The planned cells.
    pub planned: &'a [CellEntry],
    /// The measured records.
    pub records: &'a [Record],
    /// Subjects that were measured, in the plan's order.
    pub subjects: Vec<ShownSubject<'a>>,
    /// The criterion.
    pub limit: Option<Nanos>,
    /// Microseconds of these records, as an axis must name them.
    pub micros: String,
}

/// One quantity of one probe, shown on common axes.
#[derive(Debug)]
pub(crate) struct PictureQuestion<'a> {
    /// The instrument.
    pub probe: &'a str,
    /// The quantity of the probe.
    pub quantity: Quantity,
    /// Its records, in the plan's order; of some every period may be missed.
    pub records: Vec<&'a Record>,
    /// Its loads, in the plan's order.
    pub loads: Vec<&'a str>,
    /// Over the seeds.
    pub ensembles: Vec<Ensemble>,
}

impl<'a> PictureData<'a> {
    /// The data of a run.
    pub fn new(plan: &'a RunPlan, records: &'a [Record], limit: Option<Nanos>) -> PictureData<'a> {
        let mut subjects: Vec<(SubjectId, &Subject)> = Vec::new();
        for record in records {
            let id = record.subject.id();
            if subjects.iter().all(|(known, _)| *known != id) {
                subjects.push((id, &record.subject));
            }
        }
        let labels = labels(&subjects);
        let subjects = subjects.into_iter().zip(labels).enumerate();
        let subjects = subjects.map(|(style, ((id, subject), (label, line)))| ShownSubject {
            id,
            label,
            style,
            line,
            subject,
        });
        PictureData {
            planned: &plan.cells,
            records,
            subjects: subjects.collect(),
            limit,
            micros: micros(records),
        }
    }

    /// The questions about lateness, in the order in which the records name their probes.
    pub(crate) fn questions(&self) -> Vec<PictureQuestion<'a>> {
        let mut all = Vec::new();
        for probe in distinct(self.records.iter().map(|r| r.cell.probe.as_str())) {
            if names::parse(probe).is_ok() {
                continue;
            }
            let records: Vec<&Record> = self.records.iter().filter(|r| r.cell.probe == probe).collect();
            for quantity in quantities(probe, &records) {
                let of_probe = |e: &Ensemble| e.probe == probe;
                all.push(PictureQuestion {
                    probe,
                    quantity,
                    loads: distinct(records.iter().map(|r| r.cell.load.as_str())),
                    records: records.clone(),
                    ensembles: ensembles(self.records, quantity).into_iter().filter(of_probe).collect(),
                });
            }
        }
        all
    }

    /// For each record's subject, the subject without its I/O scheduler: a name and a label.
    pub(crate) fn but_for_schedulers(&self) -> BTreeMap<SubjectId, (SubjectId, String)> {
        let rest: Vec<Subject> = self
            .subjects
            .iter()
            .map(|s| without_scheduler(s.subject.clone()))
            .collect();
        let mut different: Vec<(SubjectId, &Subject)> = Vec::new();
        for subject in &rest {
            let id = subject.id();
            if different.iter().all(|(known, _)| *known != id) {
                different.push((id, subject));
            }
        }
        let labels = labels(&different);
        let label = |id: &SubjectId| different.iter().position(|(known, _)| known == id);
        let of = |(shown, rest): (&ShownSubject<'_>, &Subject)| {
            let id = rest.id();
            let label = label(&id).map_or_else(String::new, |at| labels[at].0.clone());
            (shown.id.clone(), (id, label))
        };
        self.subjects.iter().zip(&rest).map(of).collect()
    }

    /// The subject that a record is of.
    pub fn subject(&self, record: &Record) -> &ShownSubject<'a> {
        let id = record.subject.id();
        let found = self.subjects.iter().find(|a| a.id == id);
        found.expect("every record's subject is one of the data")
    }
}

impl<'a> PictureQuestion<'a> {
    /// Its records of a subject and a load.
    pub(crate) fn records_for(&self, subject: &ShownSubject<'_>, load: &str) -> Vec<&'a Record> {
        let wanted = |r: &&&Record| r.cell.load == load && r.subject.id() == subject.id;
        self.records.iter().filter(wanted).copied().collect()
    }

    /// The subjects that it was asked of.
    pub fn subjects<'c>(&self, data: &'c PictureData<'a>) -> Vec<&'c ShownSubject<'a>> {
        let asked: BTreeSet<SubjectId> = self.records.iter().map(|r| r.subject.id()).collect();
        data.subjects.iter().filter(|a| asked.contains(&a.id)).collect()
    }

    /// Beginning of the names of its pictures.
    pub fn id(&self, kind: &str) -> String {
        format!("{kind}-{}-{}", slug(self.probe), self.quantity)
    }

    /// The title: `latency (timer due to user code)`.
    pub fn title(&self) -> String {
        let title = title_of(self.quantity, self.probe);
        match title.split_once(": ") {
            Some((name, meaning)) => format!("{name} ({meaning})"),
            None => title.to_string(),
        }
    }

    /// The name of an axis.
    pub fn name(&self) -> &'static str {
        match (self.quantity, self.probe) {
            (Quantity::Latency, probe) if ProbeInfo::of_word(probe).is_some_and(|info| info.counts_gaps) => "gap",
            (Quantity::IrqLatency, _) => "interrupts off",
            (Quantity::AfterIrq, _) => "response",
            (other, _) => other.name(),
        }
    }

    /// The limit is one on latency, and on nothing else.
    pub fn limit(&self, data: &PictureData<'_>) -> Option<Nanos> {
        data.limit.filter(|_| self.quantity == Quantity::Latency)
    }
}

/// The measured quantities of a probe.
fn quantities(probe: &str, records: &[&Record]) -> Vec<Quantity> {
    let about = ProbeInfo::of_word(probe).map_or(&[Quantity::Latency][..], |info| info.drawn);
    let measured = |q: &&Quantity| **q == about[0] || records.iter().any(|r| r.summary(**q).is_some());
    about.iter().filter(measured).copied().collect()
}

/// Longest part of a picture's name that stays as it is.
const SLUG_LEN: usize = 60;

/// Text that can be part of a picture's name, and so of a file's.
pub(crate) fn slug(text: &str) -> String {
    let readable = readable(text);
    // `apps:30` is as readable as any name; other text gets a suffix that tells it from similar text.
    match text {
        plain if is_file_name(plain, SLUG_LEN) => plain.to_string(),
        text if text.replacen(':', "-", 1) == readable => readable,
        text => file_name(text),
    }
}

/// Groups that one panel bears, as even as they can be.
pub fn groups<T: Clone>(all: &[T]) -> Vec<Vec<T>> {
    let count = all.len().div_ceil(MOST_SERIES).max(1);
    all.chunks(all.len().div_ceil(count).max(1))
        .map(<[T]>::to_vec)
        .collect()
}

fn micros(records: &[Record]) -> String {
    let units: BTreeSet<String> = records.iter().map(|r| r.subject.time_unit()).collect();
    let venues: Vec<Venue> = distinct(records.iter().map(|r| r.subject.venue()));
    match (units.len(), venues.as_slice()) {
        (1, _) => units.into_iter().next().unwrap_or_default(),
        (_, [Venue::Lab]) => "virtual us".into(),
        (_, [Venue::Lab, Venue::Host] | [Venue::Host, Venue::Lab]) => "us, virtual in the lab".into(),
        _ => "us".into(),
    }
}

/// The label of each subject, as short as possible and still different, and the same without the kernel's version.
fn labels(subjects: &[(SubjectId, &Subject)]) -> Vec<(String, String)> {
    let values = |of: &dyn Fn(&Subject) -> String| distinct(subjects.iter().map(|(_, s)| of(s))).len();
    let of_machine = |subject: &Subject, of: fn(&VirtualMachine) -> String| subject.virtual_machine().map(of);
    let differ = |field: &MachineField| values(&|s| of_machine(s, field.get).unwrap_or_default()) > 1;
    let differing: Vec<&MachineField> = parameters::of_machine()
        .map(|(_, field)| field)
        .filter(|field| differ(field))
        .collect();
    let venues = distinct(subjects.iter().map(|(_, s)| s.venue())).len() > 1;
    let on_host = |subject: &Subject| match &subject.machine {
        SubjectMachine::Host(host) => host.io_scheduler.clone(),
        SubjectMachine::Lab(_) | SubjectMachine::Foreign(_) => None,
    };
    let schedulers_vary = values(&|subject| on_host(subject).unwrap_or_default()) > 1;
    let policies_vary = values(&|subject| policy(subject).unwrap_or_default()) > 1;
    let machine = |subject: &Subject| {
        let phrases = differing.iter().filter_map(|field| of_machine(subject, field.phrase));
        let scheduler = on_host(subject).filter(|_| schedulers_vary);
        let host = (venues && subject.venue() == Venue::Host).then(|| "host".into());
        let policy = policy(subject).filter(|_| policies_vary);
        let words = phrases
            .chain(scheduler)
            .chain(policy)
            .chain(host)
            .filter(|words| !words.is_empty());
        words.map(|words| format!(" {words}")).collect::<String>()
    };
    let pair = |(_, subject): &(SubjectId, &Subject)| {
        let (series, flavour) = kernel(subject);
        let rest = format!("{}{}", model(subject), machine(subject));
        match flavour {
            None => (plain(&format!("{series} {rest}")), plain(&rest)),
            Some(flavour) => (
                plain(&format!("{series}-{flavour} {rest}")),
                plain(&format!("{rest} ({flavour})")),
            ),
        }
    };
    let short: Vec<(String, String)> = subjects.iter().map(pair).collect();
    let unique = |text: &String| short.iter().filter(|(other, _)| other == text).count() == 1;
    let pairs = short.iter().zip(subjects);
    let label = |((text, line), (id, _)): (&(String, String), &(SubjectId, &Subject))| match unique(text) {
        true => (text.clone(), line.clone()),
        false => (plain(id.as_str()), line.clone()),
    };
    pairs.map(label).collect()
}

/// The preemption model that names a subject.
pub fn model(subject: &Subject) -> &str {
    subject.preempt.asked.as_deref().unwrap_or(&subject.preempt.in_force)
}

/// The lab's speed.
pub fn mips(subject: &Subject) -> Option<u32> {
    subject.virtual_machine().map(|machine| machine.mips)
}

/// The lab's memory; nothing for a host.
pub fn memory_mb(subject: &Subject) -> Option<u32> {
    subject.virtual_machine().map(|machine| machine.memory_mb)
}

/// The I/O scheduler that was asked for, with its settings.
pub fn io_scheduler(subject: &Subject) -> Option<String> {
    match &subject.machine {
        SubjectMachine::Lab(lab) => lab.machine.io_scheduler.as_ref().map(ToString::to_string),
        SubjectMachine::Host(host) => host.io_scheduler.clone(),
        SubjectMachine::Foreign(_) => None,
    }
}

/// The probe's policy; of a host where the run has several.
fn policy(subject: &Subject) -> Option<String> {
    match &subject.machine {
        SubjectMachine::Lab(lab) => Some(lab.machine.policy.unwrap_or_default().to_string()),
        SubjectMachine::Host(host) => host.policy.clone(),
        SubjectMachine::Foreign(_) => None,
    }
}

/// The same subject, with the scheduler that its kernel chooses.
fn without_scheduler(mut subject: Subject) -> Subject {
    match &mut subject.machine {
        SubjectMachine::Lab(lab) => lab.machine.io_scheduler = None,
        SubjectMachine::Host(host) => host.io_scheduler = None,
        SubjectMachine::Foreign(_) => {}
    }
    subject
}

/// Series and flavour; for a kernel without a series, its label. The preemption model tells the flavour rt.
fn kernel(subject: &Subject) -> (String, Option<Flavour>) {
    let release = &subject.kernel.release;
    let Some(series) = version::series(release) else {
        return (subject.kernel.label.clone(), None);
    };
    let flavour = match Flavour::of_release(release) {
        Flavour::Generic => None,
        Flavour::Rt if model(subject) == "rt" => None,
        other => Some(other),
    };
    (series, flavour)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cell, subject};
    use super::*;

    fn labels_of(subjects: &[Subject]) -> Vec<String> {
        let named: Vec<(SubjectId, &Subject)> = subjects.iter().map(|s| (s.id(), s)).collect();
        labels(&named).into_iter().map(|(label, _)| label).collect()
    }

    #[test]
    fn labels_are_short_and_differ() {
        let two = [
            subject("6.1.0-50-amd64", "none"),
            subject("6.1.0-50-rt-amd64", "rt"),
            subject("6.1.0-50-cloud-amd64", "none"),
        ];
        assert_eq!(labels_of(&two), ["6.1 none", "6.1 rt", "6.1-cloud none"]);
        let same_series = [subject("6.1.0-50-amd64", "none"), subject("6.1.0-51-amd64", "none")];
        assert_eq!(labels_of(&same_series), ["6.1.0-50-amd64.none", "6.1.0-51-amd64.none"]);
        let mut slow = subject("6.1.0-50-amd64", "none");
        if let SubjectMachine::Lab(lab) = &mut slow.machine {
            lab.machine.mips = 500;
        }
        let labels = labels_of(&[subject("6.1.0-50-amd64", "none"), slow]);
        assert_eq!(labels, ["6.1 none 1000 MIPS", "6.1 none 500 MIPS"]);
        let mut several = subject("6.1.0-50-amd64", "none");
        if let SubjectMachine::Lab(lab) = &mut several.machine {
            lab.machine.smp.cpus = 4;
            lab.machine.scheduler = Some("o-1".parse().unwrap());
        }
        let labels = labels_of(&[subject("6.1.0-50-amd64", "none"), several]);
        assert_eq!(labels, ["6.1 none", "6.1 none 4cpus scheduler o-1"]);
    }

    #[test]
    fn names_of_pictures_are_names_of_files() {
        assert_eq!(slug("shm"), "shm");
        assert_eq!(slug("apps:30"), "apps-30");
        let wild = slug("../<b>\u{202e}'\"&");
        assert!(wild.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{wild}");
        assert_ne!(slug("cmd:a b"), slug("cmd:a/b"));
        assert_ne!(slug(""), slug("."));
    }

    #[test]
    fn no_panel_bears_more_than_can_be_told_apart() {
        let all: Vec<usize> = (0..17).collect();
        let sizes: Vec<usize> = groups(&all).iter().map(Vec::len).collect();
        assert_eq!(sizes, [6, 6, 5]);
        assert_eq!(groups::<u8>(&[]).len(), 0);
    }

    #[test]
    fn the_whole_latency_comes_before_its_parts() {
        let samples = [(0, 5_000), (1, 6_000)];
        let mut record = cell(subject("6.1.0-56-amd64", "none"), "idle", 1, 2, &samples).record;
        assert_eq!(quantities("response", &[&record]), [Quantity::Latency]);
        record.summary.irq_latency = record.summary.latency.clone();
        record.summary.after_irq = record.summary.latency.clone();
        let all = [Quantity::Latency, Quantity::IrqLatency, Quantity::AfterIrq];
        assert_eq!(quantities("response", &[&record]), all);
    }
}
