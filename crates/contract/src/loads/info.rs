//! What controllers know of a load. Its name and its units are with its code.

use crate::device::Device;
use crate::grammar::NumberRange;
use crate::venue::Only;
use worstcase_cell::loads::LoadKind;

/// What follows a load's name and a colon; the words are those of help texts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    Number {
        /// What it may be.
        range: NumberRange,
        /// Whether the load has no default number.
        required: bool,
    },
    /// Nothing, or this word, which means the same as nothing; another word makes it another load.
    Usual(&'static str),
    /// This word; without it, the name stands for another load.
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
    pub(crate) takes: Takes,
    /// One line for help texts.
    pub about: &'static str,
    /// What it does exactly; empty where the line says it.
    pub details: &'static str,
    /// What must be there beside kernel modules; empty for nothing.
    pub needs: &'static str,
    /// How it may be typed.
    pub example: &'static str,
    /// Options that stand beside it in the lab; empty for none.
    pub lab_options: &'static str,
    /// The index of the unit in `units` that `@RATE` counts; none if the load cannot be paced.
    pub rate: Option<usize>,
    /// Kernel modules that it needs where they are not built in, without their dependencies.
    pub modules: &'static [&'static str],
    /// The one venue that has the load, if not both have.
    pub only: Option<Only>,
    /// What the lab's machine must have.
    pub device: Option<Device>,
}

pub(super) const fn up_to(what: &'static str, most: u64) -> NumberRange {
    NumberRange { what, least: 1, most }
}

/// A number for which the load has a default.
pub(super) const fn number(what: &'static str, most: u64) -> Takes {
    Takes::Number {
        range: up_to(what, most),
        required: false,
    }
}

impl LoadInfo {
    /// A load that takes nothing and needs nothing, in both venues.
    pub(super) const PLAIN: LoadInfo = LoadInfo {
        kind: LoadKind::Idle,
        takes: Takes::Nothing,
        about: "",
        details: "",
        needs: "",
        example: "",
        lab_options: "",
        rate: None,
        modules: &[],
        only: None,
        device: None,
    };

    /// Its name, as users type it.
    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// Whether everything behind the colon belongs to the load, even an `@`.
    pub fn is_open(&self) -> bool {
        matches!(self.takes, Takes::Path(_) | Takes::Command(_))
    }

    /// What the number behind the colon may be.
    pub(crate) fn number(&self) -> Option<&NumberRange> {
        match &self.takes {
            Takes::Number { range, .. } => Some(range),
            _ => None,
        }
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
