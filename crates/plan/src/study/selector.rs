//! `cell = { ... }` of a claim's figure: which cells of the study it means.

use super::checked::{Checked, Wrong};
use super::claim::{OurCell, Statistic};
use super::section::Scalar;
use crate::parameters::of_machine;
use crate::{
    Combination, Experiment, Part, PlannedSubject, PreemptChoice, PreemptName, SchedulingPolicy, Venue, grammar,
};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::ops::Range;
use toml::Spanned;
use worstcase_base::distinct;
use worstcase_base::near::unknown;
use worstcase_contract::loads::LoadSpec;
use worstcase_contract::policy::ProbePolicy;
use worstcase_contract::{CellSpec, Probe};

/// At most so many values are named in an error.
const NAMED: usize = 20;

/// A selector as it is written.
#[derive(Clone, Default)]
pub(super) struct RawCell {
    kernel: Option<String>,
    preempt: Option<String>,
    /// Values of the machine's parameters.
    machine: BTreeMap<&'static str, String>,
    load: Option<SelectorWords>,
    probe: Option<String>,
    policy: Option<String>,
    nice: Option<String>,
    quantity: Option<String>,
    statistic: Option<Spanned<String>>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum SelectorWords {
    One(String),
    Several(Vec<String>),
}

/// Keys that are no parameter of the machine.
const OWN_KEYS: [&str; 8] = [
    "kernel",
    "preempt",
    "load",
    "probe",
    "policy",
    "nice",
    "quantity",
    "statistic",
];

/// Reads a key of a selector.
struct SelectorKey;

impl<'de> DeserializeSeed<'de> for SelectorKey {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<&'static str, D::Error> {
        let key = String::deserialize(deserializer)?;
        let known = OWN_KEYS
            .into_iter()
            .chain(of_machine().map(|(parameter, _)| parameter.key));
        let known: Vec<&'static str> = known.collect();
        known
            .iter()
            .find(|known| **known == key)
            .copied()
            .ok_or_else(|| D::Error::custom(unknown("key", &key, &known, "docs/studies.md has all")))
    }
}

impl<'de> Deserialize<'de> for RawCell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawCell, D::Error> {
        deserializer.deserialize_map(RawCellVisitor)
    }
}

struct RawCellVisitor;

impl<'de> Visitor<'de> for RawCellVisitor {
    type Value = RawCell;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of keys that name a cell")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawCell, A::Error> {
        let mut cell = RawCell::default();
        while let Some(key) = map.next_key_seed(SelectorKey)? {
            match key {
                "kernel" => cell.kernel = Some(map.next_value()?),
                "preempt" => cell.preempt = Some(map.next_value()?),
                "load" => cell.load = Some(map.next_value()?),
                "probe" => cell.probe = Some(map.next_value()?),
                "policy" => cell.policy = Some(map.next_value()?),
                "nice" => cell.nice = Some(map.next_value::<Scalar>()?.0),
                "quantity" => cell.quantity = Some(map.next_value()?),
                "statistic" => cell.statistic = Some(map.next_value()?),
                parameter => {
                    let Scalar(value) = map.next_value()?;
                    cell.machine.insert(parameter, value);
                }
            }
        }
        Ok(cell)
    }
}

/// The cells of a study's full form.
pub(super) struct Cells {
    venue: Venue,
    all: Vec<StudyCell>,
}

#[derive(Clone)]
struct StudyCell {
    subject: Option<PlannedSubject>,
    load: String,
    probe: Probe,
    /// The probe's policy.
    policy: SchedulingPolicy,
    nice: i8,
}

impl StudyCell {
    fn in_lab(subject: PlannedSubject, spec: CellSpec) -> StudyCell {
        let (policy, nice) = match subject.machine.policy {
            None if spec.probe.is_ordinary_unasked() => (SchedulingPolicy::Other, 0),
            None | Some(ProbePolicy::Fifo) => (SchedulingPolicy::Fifo, 0),
            Some(ProbePolicy::Rr) => (SchedulingPolicy::Rr, 0),
            Some(ProbePolicy::Other { nice }) => (SchedulingPolicy::Other, nice),
        };
        StudyCell {
            subject: Some(subject),
            load: spec.load,
            probe: spec.probe,
            policy,
            nice,
        }
    }

    /// As records name it, without a priority.
    fn policy_in_words(&self) -> String {
        match self.nice {
            0 => self.policy.to_string(),
            nice => format!("{}:{nice}", self.policy),
        }
    }
}

/// The quantities that figures can have, the usual one first.
fn quantities(venue: Venue, probe: Probe) -> Vec<&'static str> {
    let info = probe.info();
    let measured = info.quantities(venue).iter().map(|quantity| quantity.name());
    info.derived.iter().map(|(name, _)| *name).chain(measured).collect()
}

impl RawCell {
    /// This cell, with missing keys from the shared ones.
    pub(super) fn merged(self, shared: &RawCell) -> RawCell {
        let shared = shared.clone();
        let mut machine = shared.machine;
        machine.extend(self.machine);
        RawCell {
            kernel: self.kernel.or(shared.kernel),
            preempt: self.preempt.or(shared.preempt),
            machine,
            load: self.load.or(shared.load),
            probe: self.probe.or(shared.probe),
            policy: self.policy.or(shared.policy),
            nice: self.nice.or(shared.nice),
            quantity: self.quantity.or(shared.quantity),
            statistic: self.statistic.or(shared.statistic),
        }
    }

    /// The loads as records name them.
    fn loads(&self) -> Vec<String> {
        let words = match &self.load {
            None => &[],
            Some(SelectorWords::One(load)) => std::slice::from_ref(load),
            Some(SelectorWords::Several(loads)) => loads.as_slice(),
        };
        let canonical = |word: &String| {
            word.parse::<LoadSpec>()
                .map_or_else(|_| word.clone(), |spec| spec.to_string())
        };
        words.iter().map(canonical).collect()
    }

    fn names_a_subject(&self) -> bool {
        self.kernel.is_some() || self.preempt.is_some() || !self.machine.is_empty()
    }
}

impl Cells {
    /// The cells of an experiment that was checked.
    pub(super) fn of(venue: Venue, experiment: &Experiment) -> Cells {
        let of_host = |part: &Part| {
            let cell = |c: Combination| StudyCell {
                subject: None,
                load: c.load.to_string(),
                probe: c.probe,
                policy: part.method.policy.unwrap_or(SchedulingPolicy::Fifo),
                nice: part.method.nice.unwrap_or(0),
            };
            let all = part.combinations(venue).unwrap_or_default().into_iter();
            all.map(cell).collect::<Vec<_>>()
        };
        let all = match venue {
            Venue::Lab => {
                let cells = experiment.lab_cells().unwrap_or_default().into_iter();
                cells.map(|(subject, spec)| StudyCell::in_lab(subject, spec)).collect()
            }
            Venue::Host => experiment.parts.iter().flat_map(of_host).collect(),
        };
        Cells { venue, all }
    }

    /// Checks that there are such cells; a missing key may have any value.
    pub(super) fn check(&self, raw: &Spanned<RawCell>) -> Checked<()> {
        self.left(&raw.span(), raw.get_ref()).map(drop)
    }

    /// The cells that are meant.
    pub(super) fn resolve(&self, raw: &Spanned<RawCell>) -> Checked<OurCell> {
        let (at, raw) = (raw.span(), raw.get_ref());
        let left = self.left(&at, raw)?;
        if raw.probe.is_none() {
            return Err(left.names("probe", None, |cell| cell.probe.to_string()));
        }
        let loads = raw.loads();
        let Some(first) = left.cells.first().filter(|_| !loads.is_empty()) else {
            return Err(left.names("load", None, |cell| cell.load.clone()));
        };
        let is_all = |cell: &StudyCell| cell.subject.as_ref().is_some_and(|s| s.preempt == PreemptChoice::All);
        if left.cells.iter().any(is_all) {
            let what = "this cell's kernel is measured in every preemption model; name one with 'preempt'";
            return Err(Wrong(at, what.into()));
        }
        if distinct(left.cells.iter().map(|cell| cell.policy.name())).len() > 1 {
            return Err(left.names("policy", None, |cell| cell.policy.to_string()));
        }
        if distinct(left.cells.iter().map(|cell| cell.nice)).len() > 1 {
            return Err(left.names("nice", None, |cell| cell.nice.to_string()));
        }
        let mut subjects: Vec<&Option<PlannedSubject>> = Vec::new();
        for cell in &left.cells {
            if !subjects.contains(&&cell.subject) {
                subjects.push(&cell.subject);
            }
        }
        if subjects.len() > 1 {
            let what = format!(
                "this cell fits {} subjects of {}; name {} too",
                subjects.len(),
                left.section(),
                what_differs(&subjects)
            );
            return Err(Wrong(at, what));
        }
        Ok(OurCell {
            subject: first.subject.clone(),
            // In the lab the subject tells it.
            policy: (self.venue == Venue::Host && raw.policy.is_some()).then(|| first.policy_in_words()),
            loads,
            probe: first.probe.to_string(),
            quantity: self.quantity(raw, first.probe, &at)?,
            statistic: match &raw.statistic {
                Some(word) => match word.get_ref().parse().map_err(|what| Wrong(word.span(), what))? {
                    Statistic::Elapsed if !first.probe.needs_disk() => {
                        let what = format!("probe '{}' has no 'elapsed': only io has", first.probe);
                        return Err(Wrong(word.span(), what));
                    }
                    statistic => statistic,
                },
                None => {
                    let what = "a cell has no 'statistic'; write e.g. statistic = \"max\"";
                    return Err(Wrong(at, what.into()));
                }
            },
        })
    }

    fn left<'a>(&self, at: &'a Range<usize>, raw: &RawCell) -> Checked<CellsLeft<'a>> {
        if self.venue == Venue::Host && raw.names_a_subject() {
            let what = "a host's cell has 'load', 'probe', 'policy', 'nice', 'quantity' and 'statistic' only; the machine is the subject";
            return Err(Wrong(at.clone(), what.into()));
        }
        let left = CellsLeft {
            at,
            venue: self.venue,
            cells: self.all.clone(),
        };
        let probe = raw
            .probe
            .as_ref()
            .map(|word| single_probe(word).unwrap_or_else(|| word.clone()));
        let left = left
            .of_subjects(raw)?
            .keep("probe", probe.as_deref(), |cell| cell.probe.to_string())?
            .keep("policy", raw.policy.as_deref(), |cell| cell.policy.to_string())?
            .keep("nice", raw.nice.as_deref(), |cell| cell.nice.to_string())?;
        let of_load = |load: &String| left.clone().keep("load", Some(load), |cell| cell.load.clone());
        let loads = raw.loads();
        let of_loads = loads.iter().map(of_load).collect::<Checked<Vec<CellsLeft>>>()?;
        Ok(match of_loads.is_empty() {
            true => left,
            false => CellsLeft {
                cells: of_loads.into_iter().flat_map(|left| left.cells).collect(),
                ..left
            },
        })
    }

    fn quantity(&self, raw: &RawCell, probe: Probe, at: &Range<usize>) -> Checked<String> {
        let known = quantities(self.venue, probe);
        let asked = raw.quantity.as_deref().unwrap_or(known[0]);
        match known.contains(&asked) {
            true => Ok(asked.to_string()),
            false => {
                let (asked, known) = (asked.escape_debug(), known.join(", "));
                Err(Wrong(
                    at.clone(),
                    format!(
                        "probe '{}' has no quantity '{asked}' here; it has: {known}",
                        probe.name()
                    ),
                ))
            }
        }
    }
}

/// The keys that tell subjects apart.
fn what_differs(subjects: &[&Option<PlannedSubject>]) -> String {
    let subjects: Vec<&PlannedSubject> = subjects.iter().filter_map(|subject| subject.as_ref()).collect();
    let values = |of: &dyn Fn(&PlannedSubject) -> String| distinct(subjects.iter().map(|subject| of(subject))).len();
    let mut keys = Vec::new();
    keys.extend((values(&|subject| subject.kernel.clone()) > 1).then_some("kernel"));
    keys.extend((values(&|subject| subject.preempt.to_string()) > 1).then_some("preempt"));
    for (parameter, field) in of_machine() {
        keys.extend((values(&|subject| (field.get)(&subject.machine)) > 1).then_some(parameter.key));
    }
    keys.iter().map(|key| format!("'{key}'")).collect::<Vec<_>>().join(", ")
}

/// The one probe of a word.
fn single_probe(word: &str) -> Option<String> {
    match grammar::expand(word).ok()?.as_slice() {
        [one] => Some(one.to_string()),
        _ => None,
    }
}

/// The cells that a selector leaves, key by key.
#[derive(Clone)]
struct CellsLeft<'a> {
    at: &'a Range<usize>,
    venue: Venue,
    cells: Vec<StudyCell>,
}

impl CellsLeft<'_> {
    fn section(&self) -> &'static str {
        match self.venue {
            Venue::Lab => "[full]",
            Venue::Host => "[host]",
        }
    }

    fn of_subjects(self, raw: &RawCell) -> Checked<Self> {
        let kernel = |cell: &StudyCell| cell.subject.as_ref().map(|s| s.kernel.clone()).unwrap_or_default();
        let mut left = self
            .keep("kernel", raw.kernel.as_deref(), kernel)?
            .in_model(raw.preempt.as_deref())?;
        for (parameter, field) in of_machine() {
            let asked = raw.machine.get(parameter.key).map(String::as_str);
            let of = |cell: &StudyCell| {
                cell.subject
                    .as_ref()
                    .map(|s| (field.get)(&s.machine))
                    .unwrap_or_default()
            };
            left = left.keep(parameter.key, asked, of)?;
        }
        Ok(left)
    }

    /// A kernel in every model has the named one.
    fn in_model(mut self, preempt: Option<&str>) -> Checked<Self> {
        if let Some(model) = preempt.and_then(|word| word.parse::<PreemptName>().ok()) {
            for subject in self.cells.iter_mut().filter_map(|cell| cell.subject.as_mut()) {
                if subject.preempt == PreemptChoice::All {
                    subject.preempt = PreemptChoice::One(model);
                }
            }
        }
        self.keep("preempt", preempt, |cell| {
            cell.subject.as_ref().map(|s| s.preempt.to_string()).unwrap_or_default()
        })
    }

    /// The cells whose key has this value, if a value is asked for.
    fn keep(mut self, key: &str, asked: Option<&str>, of: impl Fn(&StudyCell) -> String) -> Checked<Self> {
        let Some(asked) = asked else {
            return Ok(self);
        };
        if !self.cells.iter().any(|cell| of(cell) == asked) {
            return Err(self.names(key, Some(asked), of));
        }
        self.cells.retain(|cell| of(cell) == asked);
        Ok(self)
    }

    fn names(&self, key: &str, asked: Option<&str>, of: impl Fn(&StudyCell) -> String) -> Wrong {
        let mut seen = HashSet::new();
        let values = self.cells.iter().map(of);
        let once = values.filter(|value| seen.insert(value.clone()));
        let mut there: Vec<String> = once.map(|value| format!("'{value}'")).collect();
        let more = there.len().saturating_sub(NAMED);
        there.truncate(NAMED);
        there.extend((more > 0).then(|| format!("{more} more")));
        let (section, there) = (self.section(), there.join(", "));
        let what = match asked {
            Some(asked) => format!(
                "no cell of {section} has '{key}' = '{}'; write one of: {there}",
                asked.escape_debug()
            ),
            None => format!("a cell has no '{key}'; {section} has: {there}"),
        };
        Wrong(self.at.clone(), what)
    }
}
