//! The one parser of the words of probes and loads: a name, a colon and what it takes; numbers in their ranges.
//!
//! A probe is `NAME[:DIMENSIONS][+OPTION]...`, with alternatives between slashes: `switch:2/16x0/16k+pipe/futex` is eight probes;
//! a name without dimensions is the grid of the published study. What a probe takes is a [`Grammar`], a value in the probe's file.
//! A load is `NAME[:PARAMETER][@RATE]` ([`crate::loads`]).

use worstcase_base::near::instead;
use worstcase_cell::bench::Bench;
use worstcase_instruments::bench::spelling::{BYTES, TIMES};

/// What a probe takes, and how its words become a probe.
pub(crate) struct Grammar {
    /// Numbers behind the colon, with an 'x' between them.
    pub(crate) dimensions: &'static [Dimension],
    /// The dimensions that are used if the user gives none.
    pub(crate) grid: &'static str,
    /// How it is written, e.g. `spawn+exec`.
    pub(crate) example: &'static str,
    /// Behind plus signs, in any order.
    pub(crate) options: &'static [OptionChoice],
    /// Words that stand for several options.
    pub(crate) presets: &'static [Preset],
    /// The probe; refuses what does not fit together.
    pub(crate) make: fn(&ProbeWords) -> Result<Bench, String>,
}

/// A name, and what follows it and a colon.
pub(crate) fn name_and_parameter(text: &str) -> (&str, Option<&str>) {
    text.split_once(':')
        .map_or((text, None), |(name, parameter)| (name, Some(parameter)))
}

/// What a number may be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NumberRange {
    /// What it counts, for errors.
    pub(crate) what: &'static str,
    pub(crate) least: u64,
    pub(crate) most: u64,
}

/// One number behind the colon.
pub(crate) struct Dimension {
    pub(crate) range: NumberRange,
    /// The value if the user gives none.
    pub(crate) usual: u64,
}

/// One option, or one of several.
pub(crate) enum OptionChoice {
    Word(fn() -> Vec<&'static str>, Unsaid),
    /// A word with a value behind it.
    Value {
        /// Its word.
        prefix: &'static str,
        kind: ValueKind,
        range: NumberRange,
    },
}

/// The kind of an option's value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// `pages64`.
    Number,
    /// `section20us`.
    Time,
    /// `bs4k`.
    Bytes,
}

/// What is asked for if the user gives none of the words.
#[derive(Clone, Copy)]
pub(crate) enum Unsaid {
    Nothing,
    /// All of these: one of them alone answers nothing.
    All(&'static [&'static str]),
    /// All of these, but only if the user gives no dimensions.
    AllInGrid(&'static [&'static str]),
}

/// A word that stands for several options, or for several probes with some options each.
pub(crate) struct Preset {
    pub(crate) word: &'static str,
    pub(crate) sets: &'static [&'static [&'static str]],
    /// A user's own options override those of the preset.
    pub(crate) can_be_changed: bool,
}

/// The words that the user gave for one probe.
pub(crate) struct ProbeWords {
    dimensions: Vec<u64>,
    /// How many of the dimensions the user gave.
    pub(crate) said: usize,
    words: Vec<String>,
    values: Vec<(&'static str, u64)>,
    /// The preset that this probe came from.
    pub(crate) preset: Option<&'static str>,
}

/// One combination of options, and the preset that it came from.
type OptionRow = (Vec<String>, Option<&'static str>);

impl ProbeWords {
    /// The number behind the colon.
    pub(crate) fn dimension<T: TryFrom<u64>>(&self, at: usize) -> T {
        fitting(self.dimensions[at])
    }

    /// Whether the user gave this word.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.words.iter().any(|said| said == word)
    }

    /// The first of these words that the user gave.
    pub(crate) fn one_of<T: Copy>(&self, all: &[(&str, T)]) -> Option<T> {
        all.iter().find(|(word, _)| self.has(word)).map(|(_, value)| *value)
    }

    /// The value behind this word.
    pub(crate) fn value<T: TryFrom<u64>>(&self, prefix: &str) -> Option<T> {
        let said = self.values.iter().rfind(|(word, _)| *word == prefix);
        said.map(|(_, value)| fitting(*value))
    }
}

fn fitting<T: TryFrom<u64>>(value: u64) -> T {
    T::try_from(value)
        .ok()
        .expect("the range of a number lies within its type")
}

pub(crate) fn words_of<T>(all: &[(&'static str, T)]) -> Vec<&'static str> {
    all.iter().map(|(word, _)| *word).collect()
}

impl Grammar {
    /// Every probe that a text without the probe's name asks for, in order.
    pub(crate) fn expand(&self, dimensions: &str, options: &str) -> Result<Vec<Bench>, String> {
        let given = !dimensions.is_empty();
        let asked = if given { dimensions } else { self.grid };
        let mut tuples = vec![Vec::new()];
        for dimension in asked.split('x').filter(|_| !asked.is_empty()) {
            tuples = product(&tuples, &dimension.split('/').map(str::to_string).collect::<Vec<_>>());
        }
        let mut all = Vec::new();
        for (options, preset) in self.rows(options, given) {
            for tuple in &tuples {
                let words = self.read(tuple, &options, preset)?;
                let bench = (self.make)(&words)?;
                // In a preset some probes have no size, so that they come once for every size.
                match all.contains(&bench) {
                    true if preset.is_some() => {}
                    true => return Err(format!("'{bench}' is asked for twice")),
                    false => all.push(bench),
                }
            }
        }
        Ok(all)
    }

    fn rows(&self, options: &str, given: bool) -> Vec<OptionRow> {
        let mut rows = vec![Vec::new()];
        for option in options.split('+').filter(|o| !o.is_empty()) {
            rows = product(&rows, &alternatives(option));
        }
        let mut rows: Vec<OptionRow> = rows.into_iter().flat_map(|row| self.with_presets(row)).collect();
        for choice in self.options {
            let OptionChoice::Word(words, unsaid) = choice else {
                continue;
            };
            let usual = match unsaid {
                Unsaid::All(usual) => usual,
                Unsaid::AllInGrid(usual) if !given => usual,
                _ => continue,
            };
            let words = words();
            let is_said = |row: &[String]| row.iter().any(|option| words.contains(&option.as_str()));
            rows = rows
                .into_iter()
                .flat_map(|(row, preset)| match is_said(&row) {
                    true => vec![(row, preset)],
                    false => usual
                        .iter()
                        .map(|word| ([&row[..], &[word.to_string()]].concat(), preset))
                        .collect(),
                })
                .collect();
        }
        rows
    }

    fn with_presets(&self, row: Vec<String>) -> Vec<OptionRow> {
        let Some(preset) = self
            .presets
            .iter()
            .find(|preset| row.iter().any(|option| option == preset.word))
        else {
            return vec![(row, None)];
        };
        let own: Vec<String> = row.into_iter().filter(|option| option != preset.word).collect();
        let row = |set: &&[&str]| {
            let set: Vec<String> = set.iter().map(ToString::to_string).collect();
            // The later of two values of one option counts, so the user's own come last.
            match preset.can_be_changed {
                true => [set, own.clone()].concat(),
                false => [own.clone(), set].concat(),
            }
        };
        preset.sets.iter().map(|set| (row(set), Some(preset.word))).collect()
    }

    fn read(
        &self,
        dimensions: &[String],
        options: &[String],
        preset: Option<&'static str>,
    ) -> Result<ProbeWords, String> {
        let (said, most) = (dimensions.len(), self.dimensions.len());
        if most == 0 && said > 0 {
            return Err(format!("no numbers: {}, or e.g. {}", self.name(), self.example));
        }
        if said > most {
            return Err(format!("at most {most} numbers with 'x' between them, not {said}"));
        }
        let mut words = ProbeWords {
            dimensions: Vec::new(),
            said,
            words: Vec::new(),
            values: Vec::new(),
            preset,
        };
        for (at, dimension) in self.dimensions.iter().enumerate() {
            words.dimensions.push(match dimensions.get(at) {
                Some(text) => dimension.range.read(ValueKind::Bytes, text)?,
                None => dimension.usual,
            });
        }
        for option in options {
            self.read_option(&mut words, option)?;
        }
        Ok(words)
    }

    fn read_option(&self, words: &mut ProbeWords, option: &str) -> Result<(), String> {
        for choice in self.options {
            match choice {
                OptionChoice::Word(known, _) if known().contains(&option) => {
                    if let Some(other) = known().into_iter().find(|word| words.has(word)) {
                        return Err(format!(
                            "one of {}: not '{option}' beside '{other}'",
                            known().join(", ")
                        ));
                    }
                    words.words.push(option.to_string());
                    return Ok(());
                }
                _ => {}
            }
        }
        for choice in self.options {
            if let OptionChoice::Value { prefix, kind, range } = choice
                && let Some(text) = option.strip_prefix(prefix)
            {
                words.values.push((prefix, range.read(*kind, text)?));
                return Ok(());
            }
        }
        let list = format!("worstcase probes {} lists all", self.name());
        Err(format!(
            "no option '{option}'; {}",
            instead(option, self.shown(), &list)
        ))
    }

    fn name(&self) -> &'static str {
        self.example.split(['+', ':']).next().unwrap_or_default()
    }

    /// Every option, as an error or a help text shows it.
    fn shown(&self) -> Vec<String> {
        let each = |choice: &OptionChoice| match choice {
            OptionChoice::Word(words, _) => words().into_iter().map(str::to_string).collect(),
            OptionChoice::Value { prefix, kind, .. } => vec![format!("{prefix}{}", kind.shown())],
        };
        let presets = self.presets.iter().map(|preset| preset.word.to_string());
        self.options.iter().flat_map(each).chain(presets).collect()
    }
}

impl ValueKind {
    fn read(self, text: &str) -> Result<u64, String> {
        match self {
            ValueKind::Number => text.parse().map_err(|_| format!("'{text}' is not a number, e.g. 16")),
            ValueKind::Time => time(text),
            ValueKind::Bytes => bytes(text),
        }
    }

    /// What stands for it where it is shown.
    pub(crate) fn shown(self) -> &'static str {
        match self {
            ValueKind::Number => "N",
            ValueKind::Time => "TIME",
            ValueKind::Bytes => "SIZE",
        }
    }
}

impl NumberRange {
    /// The number that is written so.
    pub(crate) fn read(&self, kind: ValueKind, text: &str) -> Result<u64, String> {
        let NumberRange { what, least, most } = self;
        match kind.read(text) {
            Ok(value) if (*least..=*most).contains(&value) => Ok(value),
            Ok(_) => Err(format!("{what}: {least} to {most}, not {text}")),
            Err(why) => Err(format!("{what}: {why}")),
        }
    }
}

/// Every row with every one of `values` behind it.
fn product(rows: &[Vec<String>], values: &[String]) -> Vec<Vec<String>> {
    let with = |row: &Vec<String>, value: &String| row.iter().chain([value]).cloned().collect();
    let each = |row| values.iter().map(move |value| with(row, value));
    rows.iter().flat_map(each).collect()
}

/// `cpus1/2/4` is `cpus1`, `cpus2`, `cpus4`; `spin5us/1ms` is `spin5us`, `spin1ms`; `pipe/futex` is `pipe`, `futex`.
fn alternatives(option: &str) -> Vec<String> {
    let mut parts = option.split('/');
    let first = parts.next().unwrap_or_default();
    let prefix = &first[..first.find(|c: char| c.is_ascii_digit()).unwrap_or(first.len())];
    let numbered = prefix.len() < first.len();
    let rest = parts.map(|part| match numbered {
        true => format!("{prefix}{part}"),
        false => part.to_string(),
    });
    [first.to_string()].into_iter().chain(rest).collect()
}

fn bytes(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let with_unit = BYTES
        .iter()
        .find_map(|(unit, factor)| Some((lower.strip_suffix(*unit)?, *factor)));
    let (digits, factor) = with_unit.unwrap_or((text, 1));
    let value = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(factor));
    value.ok_or_else(|| format!("'{text}' is not a number, e.g. 16 or 16k"))
}

fn time(text: &str) -> Result<u64, String> {
    let parsed = TIMES.iter().find_map(|(unit, factor)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(*factor)
    });
    parsed.ok_or_else(|| format!("'{text}' is not a time in ns, us, ms or s, e.g. 20us"))
}
