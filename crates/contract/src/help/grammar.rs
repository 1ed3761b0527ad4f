//! How a probe with parameters is written, as a page shows it.

use crate::grammar::{Dimension, Grammar, NumberRange, OptionChoice, Unsaid, ValueKind};
use worstcase_base::duration;
use worstcase_base::format::grouped;
use worstcase_instruments::bench::spelling::show_bytes;
use worstcase_logs::Nanos;

/// So many words are named where it is said how a probe is written; more only in the list below.
const FEW: usize = 6;

impl Grammar {
    /// What may follow the name: `[:DEPTH][+inherit|+none|+protect][+sectionTIME]`.
    pub(super) fn usage(&self) -> String {
        let dimensions: Vec<String> = self.dimensions.iter().map(placeholder).collect();
        let numbers = match dimensions.is_empty() {
            true => String::new(),
            false => format!("[:{}]", dimensions.join("x")),
        };
        let option = |choice: &OptionChoice| match choice {
            OptionChoice::Word(words, _) if words().len() > FEW => "[+WORK]".to_string(),
            OptionChoice::Word(words, _) => format!("[+{}]", words().join("|+")),
            OptionChoice::Value { prefix, kind, .. } => format!("[+{prefix}{}]", kind.shown()),
        };
        let options: String = self.options.iter().map(option).collect();
        numbers + &options
    }

    /// Its numbers with their ranges, and its options.
    pub(super) fn told(&self) -> Vec<(String, String)> {
        let number = |dimension: &Dimension| {
            let range = &dimension.range;
            let kind = match range.what.contains("bytes") {
                true => ValueKind::Bytes,
                false => ValueKind::Number,
            };
            let usual = format!("[default: {}]", shown(kind, dimension.usual));
            (
                range.what.to_string(),
                format!("{} {usual}", bounds(kind, range)).trim().to_string(),
            )
        };
        let mut told: Vec<(String, String)> = self.dimensions.iter().map(number).collect();
        let option = |choice: &OptionChoice| match choice {
            OptionChoice::Word(words, unsaid) => {
                let usual = match unsaid {
                    Unsaid::All(usual) => format!(" (if none is given: {})", usual.join(", ")),
                    Unsaid::Nothing | Unsaid::AllInGrid(_) => String::new(),
                };
                format!("+{}{usual}", words().join(", +"))
            }
            OptionChoice::Value { prefix, kind, range } => {
                let bounds = bounds(*kind, range);
                let bounds = if bounds.is_empty() {
                    bounds
                } else {
                    format!(" ({bounds})")
                };
                format!("+{prefix}{}{bounds}", kind.shown())
            }
        };
        let presets = self.presets.iter().map(|preset| format!("+{}", preset.word));
        let options: Vec<String> = self.options.iter().map(option).chain(presets).collect();
        if !options.is_empty() {
            told.push(("options".to_string(), options.join("; ")));
        }
        told
    }
}

/// `CHIP` of `chip or port`.
fn placeholder(dimension: &Dimension) -> String {
    let word = dimension.range.what.split(' ').next().unwrap_or_default();
    word.to_uppercase()
}

/// `2 to 4 096`; nothing where the type is the bound.
fn bounds(kind: ValueKind, range: &NumberRange) -> String {
    match range.most >= u64::from(u32::MAX) {
        true => String::new(),
        false => format!("{} to {}", shown(kind, range.least), shown(kind, range.most)),
    }
}

fn shown(kind: ValueKind, number: u64) -> String {
    match kind {
        ValueKind::Time => duration::show(Nanos(number)),
        ValueKind::Bytes if number >= 1 << 10 && number.is_multiple_of(1 << 10) => show_bytes(number),
        ValueKind::Number | ValueKind::Bytes => grouped(number),
    }
}
