//! The parameters of an experiment, one row each.
//!
//! ```text
//! machine   of the lab's machine: each value is another subject
//! cells     of a part: loads, probes, seeds, timing, and how the probe is woken and scheduled
//! setup     of the whole experiment: files for machines, the setup of a host
//! given     the values from a command line or a section of a study -> Part, Experiment
//! ```
//! The command line's options, the keys of study files and of their selectors, the command that asks for a run again, the
//! difference between two runs and the names of subjects are all read off these rows.

mod cells;
mod given;
mod machine;
mod setup;

pub use crate::command::OF_STUDY_RUN;
pub use given::{GivenValues, KernelChoice};
pub(crate) use given::{check_key, count_cells, factor};

use crate::{Experiment, Part, Venue, VirtualMachine};
use std::fmt::Display;
use std::str::FromStr;
use worstcase_base::duration;
use worstcase_contract::Nanos;

/// Groups of options, as help texts call them.
pub mod group {
    /// What is measured, and beside what.
    pub const WHAT: &str = "What";
    /// How much of it.
    pub const HOW_LONG: &str = "How long";
    /// On which machine, CPU or disk.
    pub const WHERE: &str = "Where";
    /// What is kept and shown, and how it is judged.
    pub const OUTPUT: &str = "Output";
    /// What few need.
    pub const RARELY: &str = "Rarely";
    /// All, as they follow each other.
    pub const ORDER: [&str; 5] = [WHAT, HOW_LONG, WHERE, OUTPUT, RARELY];
}

/// A parameter.
#[derive(Debug)]
pub struct Parameter {
    /// The key of study files.
    pub key: &'static str,
    /// The option of the command line, without its dashes.
    pub flag: &'static str,
    /// The same as one letter.
    pub short: Option<char>,
    /// The name of its value in the help.
    pub value_name: &'static str,
    /// A line or two for the help.
    pub help: &'static str,
    /// What it is unless it is given, in the lab and on a host, where that is not part of the line.
    pub(crate) usual: Option<[&'static str; 2]>,
    /// The group of options that it stands in.
    pub group: &'static str,
    /// Whether it is one of the few that the short help shows.
    pub first: bool,
    /// The number of values it takes.
    pub values: ValueCount,
    /// A value may begin with a dash.
    pub dashes: bool,
    /// The parameter that cannot be given beside it.
    pub excludes: Option<&'static str>,
    /// The owner of the parameter.
    pub owner: ParameterOwner,
}

/// The number of values that a parameter takes.
#[derive(Clone, Copy, Debug)]
pub enum ValueCount {
    /// One value.
    One,
    /// One value, or none for everything.
    OneOrAll,
    /// Several; one text may hold several of them.
    Several(fn(&str) -> Vec<String>),
}

/// The owner of a parameter, with functions to read and show the value.
#[derive(Debug)]
pub enum ParameterOwner {
    /// A parameter of the lab's machine.
    Machine(MachineField),
    /// A parameter of a part.
    Part(ParameterField<Part>),
    /// A parameter of the whole experiment.
    Experiment(ParameterField<Experiment>),
}

/// Functions to read and show a parameter of a machine.
#[derive(Debug)]
pub struct MachineField {
    /// Takes a value as it is typed.
    pub set: fn(&mut VirtualMachine, &str) -> Result<(), InvalidValue>,
    /// Gives it as it is typed; empty for none.
    pub get: fn(&VirtualMachine) -> String,
    /// The words of it in a subject's name, if it is not the usual one.
    pub label: fn(&VirtualMachine) -> Vec<String>,
    /// The phrase in a sentence; empty if it goes without saying.
    pub phrase: fn(&VirtualMachine) -> String,
}

/// Functions to read and show a parameter.
#[derive(Debug)]
pub struct ParameterField<T> {
    /// Takes all its values as they are typed.
    pub set: fn(&mut T, &[String]) -> Result<(), InvalidValue>,
    /// Gives them as they are typed; none where nothing was asked.
    pub get: fn(&T) -> Vec<String>,
}

/// A text that is no value of a parameter, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidValue(pub String);

impl InvalidValue {
    pub(crate) fn new(why: impl Display) -> InvalidValue {
        InvalidValue(why.to_string())
    }
}

/// All parameters of a venue, in the order in which they are shown.
pub fn all(venue: Venue) -> impl Iterator<Item = &'static Parameter> {
    let tables: &[&[Parameter]] = match venue {
        Venue::Lab => &[machine::TABLE, cells::EVERYWHERE, cells::LAB, setup::LAB],
        Venue::Host => &[cells::CPUS, cells::EVERYWHERE, cells::HOST, setup::HOST],
    };
    tables.iter().copied().flatten()
}

/// The one of this key.
pub fn find(venue: Venue, key: &str) -> Option<&'static Parameter> {
    all(venue).find(|parameter| parameter.key == key)
}

/// The key of a parameter of any venue.
pub(crate) fn known_key(key: &str) -> Option<&'static str> {
    [Venue::Lab, Venue::Host]
        .into_iter()
        .find_map(|venue| find(venue, key))
        .map(|parameter| parameter.key)
}

/// The parameters of the lab's machine.
pub fn of_machine() -> impl Iterator<Item = (&'static Parameter, &'static MachineField)> {
    machine::TABLE.iter().filter_map(|parameter| match &parameter.owner {
        ParameterOwner::Machine(field) => Some((parameter, field)),
        _ => None,
    })
}

impl Parameter {
    /// Its help in a venue.
    pub fn help(&self, venue: Venue) -> String {
        let usual = self.usual.map(|[lab, host]| match venue {
            Venue::Lab => lab,
            Venue::Host => host,
        });
        match usual {
            None | Some("") => self.help.to_string(),
            Some(usual) => format!("{} [default: {usual}]", self.help),
        }
    }

    /// The values that one text holds.
    pub fn split(&self, text: &str) -> Vec<String> {
        match self.values {
            ValueCount::One | ValueCount::OneOrAll => vec![text.to_string()],
            ValueCount::Several(split) => split(text),
        }
    }

    /// An error if a text holds an invalid value.
    pub fn check(&self, venue: Venue, text: &str) -> Result<(), InvalidValue> {
        let values = self.split(text);
        let mut usual = Experiment::usual_of(venue);
        match &self.owner {
            ParameterOwner::Machine(field) => {
                let mut machine = VirtualMachine::default();
                values.iter().try_for_each(|value| (field.set)(&mut machine, value))
            }
            ParameterOwner::Part(field) => (field.set)(&mut usual.parts[0], &values),
            ParameterOwner::Experiment(field) => (field.set)(&mut usual, &values),
        }
    }

    /// The texts that hold these values: one where that is possible.
    pub(crate) fn join(&self, values: Vec<String>) -> Vec<String> {
        let joined = values.join(",");
        match values.len() > 1 && self.split(&joined) == values {
            true => vec![joined],
            false => values,
        }
    }
}

const fn parameter(
    key: &'static str,
    flag: &'static str,
    value_name: &'static str,
    owner: ParameterOwner,
) -> Parameter {
    Parameter {
        key,
        flag,
        short: None,
        value_name,
        help: "",
        usual: None,
        group: group::RARELY,
        first: false,
        values: ValueCount::One,
        dashes: false,
        excludes: None,
        owner,
    }
}

const fn part(
    set: fn(&mut Part, &[String]) -> Result<(), InvalidValue>,
    get: fn(&Part) -> Vec<String>,
) -> ParameterOwner {
    ParameterOwner::Part(ParameterField { set, get })
}

const fn experiment(
    set: fn(&mut Experiment, &[String]) -> Result<(), InvalidValue>,
    get: fn(&Experiment) -> Vec<String>,
) -> ParameterOwner {
    ParameterOwner::Experiment(ParameterField { set, get })
}

/// Values between commas.
fn commas(text: &str) -> Vec<String> {
    text.split(',').map(|word| word.trim().to_string()).collect()
}

/// A text is one value.
fn whole(text: &str) -> Vec<String> {
    vec![text.to_string()]
}

fn read<T: FromStr<Err: Display>>(text: &str) -> Result<T, InvalidValue> {
    text.parse().map_err(InvalidValue::new)
}

/// A value that may be left out: an empty text stands for none.
fn read_optional<T: FromStr<Err: Display>>(text: &str) -> Result<Option<T>, InvalidValue> {
    match text {
        "" => Ok(None),
        text => read(text).map(Some),
    }
}

fn whole_number<T: FromStr>(text: &str) -> Result<T, InvalidValue> {
    let shown = text.escape_debug();
    let why = || {
        InvalidValue(format!(
            "'{shown}' is not a whole number in range: write digits, e.g. 10"
        ))
    };
    text.trim().parse().map_err(|_| why())
}

fn time(text: &str) -> Result<Nanos, InvalidValue> {
    duration::parse(text).map_err(InvalidValue::new)
}

/// A duration as it is typed: without a space.
pub fn typed(length: Nanos) -> String {
    duration::show(length).replace(' ', "")
}

/// The one value of a parameter that takes one.
fn one(values: &[String]) -> Result<&str, InvalidValue> {
    match values {
        [one] => Ok(one),
        several => Err(InvalidValue(format!("it has one value, not {}", several.len()))),
    }
}

/// The texts of a value that may not be there.
fn maybe(value: Option<impl ToString>) -> Vec<String> {
    value.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_key_and_an_option_are_of_one_parameter() {
        for venue in [Venue::Lab, Venue::Host] {
            let mut names = BTreeSet::new();
            for parameter in all(venue) {
                assert!(names.insert(parameter.key), "{}", parameter.key);
                assert!(!parameter.help.is_empty(), "{}", parameter.key);
                assert!(parameter.excludes.is_none_or(|key| find(venue, key).is_some()));
            }
            let flags: BTreeSet<&str> = all(venue).map(|parameter| parameter.flag).collect();
            assert_eq!(flags.len(), names.len());
        }
    }

    #[test]
    fn what_is_shown_of_a_machine_is_read_again() {
        let texts = [
            ("mips", "500"),
            ("memory_mb", "2048"),
            ("arch", "arm64"),
            ("cpu", "skylake"),
            ("cpus", "4"),
            ("quantum", "100ns"),
            ("probe_cpu", "1"),
            ("load_cpus", "2-3"),
            ("append", "threadirqs nohz=off"),
            ("chrt", "ktimers=90"),
            ("scheduler", "o-1"),
            ("disk", "ssd"),
            ("io_scheduler", "bfq{slice_idle=0}"),
        ];
        assert_eq!(
            of_machine().map(|(p, _)| p.key).collect::<Vec<_>>(),
            texts.map(|(key, _)| key)
        );
        for ((parameter, field), (_, text)) in of_machine().zip(texts) {
            let mut machine = VirtualMachine::default();
            let usual = (field.get)(&machine);
            assert!((field.label)(&machine).is_empty(), "{}", parameter.key);
            (field.set)(&mut machine, text).unwrap();
            assert_eq!((field.get)(&machine), text);
            assert!(!(field.label)(&machine).is_empty(), "{}", parameter.key);
            // A list without any CPU is a mistake.
            if !["probe_cpu", "load_cpus"].contains(&parameter.key) {
                (field.set)(&mut machine, &usual).unwrap();
                assert_eq!(machine, VirtualMachine::default(), "{}", parameter.key);
            }
        }
    }

    #[test]
    fn values_are_joined_where_they_can_be_told_apart_again() {
        let of = |key: &str, values: &[&str]| {
            let values = values.iter().map(ToString::to_string).collect();
            find(Venue::Lab, key).unwrap().join(values)
        };
        assert_eq!(of("mips", &["500", "125"]), ["500,125"]);
        assert_eq!(of("append", &["a=1,2", "b"]), ["a=1,2", "b"]);
        assert_eq!(of("loads", &["idle", "cmd:a b"]), ["idle,cmd:a b"]);
        assert_eq!(of("loads", &["cmd:a b", "idle"]), ["cmd:a b", "idle"]);
        assert_eq!(of("io_scheduler", &["bfq{a=1,b=2}", "none"]), ["bfq{a=1,b=2},none"]);
    }
}
