//! What controllers know of a load. Its name, and what it counts, are with its code.

use crate::device::Device;
use crate::grammar::NumberRange;
use crate::venue::Only;
use worstcase_instruments::loads::LoadKind;

/// What follows a load's name and a colon; the words are those of help texts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Nothing.
    Nothing,
    /// A number.
    Number {
        /// What it may be.
        range: NumberRange,
        /// Whether the load has no usual number of its own.
        required: bool,
    },
    /// Nothing, or this word, which changes nothing: other words make it another load.
    Usual(&'static str),
    /// This word, which makes it another load than the one without.
    Word(&'static str),
    /// A folder.
    Path(&'static str),
    /// A program with its arguments.
    Command(&'static str),
}

/// What help texts, parsers and venues need to know of a load.
#[derive(Debug)]
pub struct LoadInfo {
    /// Which load.
    pub kind: LoadKind,
    /// What follows the name.
    pub(crate) takes: Takes,
    /// One line for help texts.
    pub about: &'static str,
    /// Which of `units` `@RATE` counts, if the load can be paced.
    pub rate: Option<usize>,
    /// Kernel modules that it needs (where they are not built in), without their dependencies.
    pub modules: &'static [&'static str],
    /// The one venue that has it, if not both have.
    pub only: Option<Only>,
    /// What the lab's machine must have.
    pub device: Option<Device>,
}

pub(super) const fn up_to(what: &'static str, most: u64) -> NumberRange {
    NumberRange { what, least: 1, most }
}

/// A number that the load has a usual one of.
pub(super) const fn number(what: &'static str, most: u64) -> Takes {
    Takes::Number {
        range: up_to(what, most),
        required: false,
    }
}

impl LoadInfo {
    /// Of one that takes nothing and needs nothing, in both venues.
    pub(super) const PLAIN: LoadInfo = LoadInfo {
        kind: LoadKind::Idle,
        takes: Takes::Nothing,
        about: "",
        rate: None,
        modules: &[],
        only: None,
        device: None,
    };

    /// Its name, as users type it.
    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// Whether everything behind its name and a colon is its own, whatever it looks like.
    pub fn is_open(&self) -> bool {
        matches!(self.takes, Takes::Path(_) | Takes::Command(_))
    }

    /// The load as a help text shows it: `apps:N`, `cpu[:N][@RATE]`.
    pub fn usage(&self) -> String {
        let parameter = match &self.takes {
            Takes::Nothing => String::new(),
            Takes::Usual(word) => format!("[:{word}]"),
            Takes::Number { range, required: false } => format!("[:{}]", range.what),
            Takes::Number { range, .. } => format!(":{}", range.what),
            Takes::Word(what) | Takes::Path(what) | Takes::Command(what) => format!(":{what}"),
        };
        let rate = if self.rate.is_some() { "[@RATE]" } else { "" };
        format!("{}{parameter}{rate}", self.name())
    }
}
