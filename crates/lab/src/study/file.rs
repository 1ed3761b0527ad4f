//! The form of a study file and its checks. Every error names the file, the line, and what is allowed.

use super::host::{self, RawHost};
use super::{ALL_MODELS, Cells, KernelChoice, Study};
use crate::machine::{Machine, Mips};
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;
use worstcase_base::duration;
use worstcase_kernels::preempt::Model;
use worstcase_probe::loads::LoadSpec;
use worstcase_probe::{CellSpec, Nanos, Probe, Venue};
use worstcase_results::record::Published;
use worstcase_results::record::subject::{DEFAULT_MEMORY_MB, DEFAULT_MIPS};

/// The form of the file.
const SCHEMA: &str = "worstcase-study/1";
/// More seeds than anybody waits for, and few enough to count in memory.
const MAX_SEEDS: u32 = 10_000;

/// Why a study cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// No such study.
    #[error("there is no study '{name}'; built in: {known}; or name a file, e.g. ./{name}.toml")]
    Unknown {
        /// The name that was given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// Nothing for this machine.
    #[error("the study '{name}' asks nothing of this machine; give the command without --host")]
    NoHost {
        /// The study.
        name: String,
    },
    /// No such file.
    #[error("cannot read the study {path}: {cause}")]
    Read {
        /// The file.
        path: String,
        /// The system's words.
        cause: std::io::Error,
    },
    /// A value that is not allowed.
    #[error("{file}, line {line}: {what}")]
    Invalid {
        /// The file or built-in study.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong and what is allowed.
        what: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStudy {
    schema: Spanned<String>,
    name: Spanned<String>,
    title: String,
    question: String,
    source: String,
    criterion: Option<Spanned<String>>,
    full: Spanned<RawCells>,
    quick: Option<RawCells>,
    host: Option<RawHost>,
    #[serde(default)]
    published: Vec<Published>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCells {
    kernels: Option<Spanned<Vec<RawKernel>>>,
    loads: Option<Spanned<Vec<Spanned<String>>>>,
    probes: Option<Spanned<Vec<Spanned<String>>>>,
    seeds: Option<Spanned<u32>>,
    samples: Option<Spanned<u32>>,
    period: Option<Spanned<String>>,
    warmup: Option<Spanned<String>>,
    priority: Option<Spanned<u8>>,
    mips: Option<Spanned<u32>>,
    memory_mb: Option<Spanned<u32>>,
    /// Cells that differ in some of this; without parts there is one.
    #[serde(default)]
    part: Vec<RawCells>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawKernel {
    kernel: Spanned<String>,
    preempt: Spanned<Vec<Spanned<String>>>,
}

/// Something wrong, and where in the text.
struct Wrong(Range<usize>, String);

type Checked<T> = Result<T, Wrong>;

/// Reads a study's text; `file` is its name in errors.
pub fn parse(file: &str, text: &str) -> Result<Study, StudyError> {
    let invalid = |Wrong(at, what): Wrong| StudyError::Invalid {
        file: file.to_string(),
        line: 1 + text.bytes().take(at.start).filter(|b| *b == b'\n').count(),
        what,
    };
    let raw: RawStudy = toml::from_str(text).map_err(|e| {
        // The parser's own text quotes lines of the file; one line is what an error is here.
        let what = e.message().lines().collect::<Vec<_>>().join("; ");
        invalid(Wrong(e.span().unwrap_or(0..0), what))
    })?;
    check(raw).map_err(invalid)
}

fn check(raw: RawStudy) -> Checked<Study> {
    if raw.schema.get_ref() != SCHEMA {
        let what = format!(
            "the schema is '{}', this worstcase reads '{SCHEMA}'",
            raw.schema.get_ref()
        );
        return Err(Wrong(raw.schema.span(), what));
    }
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if raw.name.get_ref().is_empty() || !raw.name.get_ref().chars().all(plain) {
        let what = format!(
            "the name '{}' may have lower-case letters, digits and '-'",
            raw.name.get_ref().escape_debug()
        );
        return Err(Wrong(raw.name.span(), what));
    }
    let at_full = raw.full.span();
    let full = raw.full.into_inner();
    let quick = raw.quick.unwrap_or_default();
    let quick_parts = match (quick.part.is_empty(), full.part.is_empty()) {
        (false, _) => parts(&merge(quick.clone(), &full)),
        (true, false) => parts(&full).iter().map(|part| merge(quick.clone(), part)).collect(),
        (true, true) => vec![merge(quick, &full)],
    };
    let all = |raw: Vec<RawCells>| {
        raw.into_iter()
            .map(|part| cells(part, &at_full))
            .collect::<Checked<Vec<Cells>>>()
    };
    Ok(Study {
        name: raw.name.into_inner(),
        title: raw.title,
        question: raw.question,
        source: raw.source,
        criterion: raw.criterion.as_ref().map(time).transpose()?,
        full: all(parts(&full))?,
        quick: all(quick_parts)?,
        host: raw.host.map(host::check),
        published: raw.published,
    })
}

/// Each part, with what it does not say from the whole; the whole alone if it has none.
fn parts(whole: &RawCells) -> Vec<RawCells> {
    match whole.part.is_empty() {
        true => vec![whole.clone()],
        false => whole.part.iter().map(|part| merge(part.clone(), whole)).collect(),
    }
}

/// `over`, and what it does not say from `base`; the parts are those of `over`.
fn merge(over: RawCells, base: &RawCells) -> RawCells {
    let base = base.clone();
    RawCells {
        part: over.part,
        kernels: over.kernels.or(base.kernels),
        loads: over.loads.or(base.loads),
        probes: over.probes.or(base.probes),
        seeds: over.seeds.or(base.seeds),
        samples: over.samples.or(base.samples),
        period: over.period.or(base.period),
        warmup: over.warmup.or(base.warmup),
        priority: over.priority.or(base.priority),
        mips: over.mips.or(base.mips),
        memory_mb: over.memory_mb.or(base.memory_mb),
    }
}

fn cells(raw: RawCells, section: &Range<usize>) -> Checked<Cells> {
    let absent = |key: &str| Wrong(section.clone(), format!("[full] has no '{key}'"));
    let kernels = list(raw.kernels.ok_or_else(|| absent("kernels"))?, "kernels")?;
    let probes = list(raw.probes.ok_or_else(|| absent("probes"))?, "probes")?;
    let loads = raw.loads.ok_or_else(|| absent("loads"))?;
    let loads_at = loads.span();
    let loads = list(loads, "loads")?;
    let first_load = loads.first().map_or(loads_at, Spanned::span);
    let cells = Cells {
        kernels: kernels.into_iter().map(kernel).collect::<Checked<_>>()?,
        probes: probes.iter().map(probe).collect::<Checked<Vec<_>>>()?.concat(),
        seeds: within(raw.seeds.ok_or_else(|| absent("seeds"))?, 1..=MAX_SEEDS, "seeds")?,
        samples: raw
            .samples
            .map(|n| within(n, 1..=CellSpec::MAX_PERIODS, "samples"))
            .transpose()?,
        period: raw.period.as_ref().map(period).transpose()?,
        warmup: raw.warmup.as_ref().map_or(Ok(Nanos::from_millis(100)), time)?,
        priority: raw.priority.map_or(Ok(98), |p| within(p, 1..=99, "priority"))?,
        mips: raw.mips.as_ref().map_or(Ok(DEFAULT_MIPS), mips)?,
        memory_mb: raw.memory_mb.map_or(Ok(DEFAULT_MEMORY_MB), |m| {
            within(m, Machine::MIN_MEMORY_MB..=Machine::MAX_MEMORY_MB, "memory_mb")
        })?,
        loads: loads.iter().map(|l| l.get_ref().clone()).collect(),
    };
    for load in &loads {
        load.get_ref()
            .parse::<LoadSpec>()
            .and_then(|load| load.check_venue(Venue::Lab))
            .map_err(|e| Wrong(load.span(), e.to_string()))?;
    }
    // Together with the rest a load may be too long for the measured machine.
    for spec in cells.specs() {
        let at = loads
            .iter()
            .find(|l| *l.get_ref() == spec.load)
            .map_or(first_load.clone(), Spanned::span);
        spec.to_text().map_err(|e| Wrong(at, e.to_string()))?;
    }
    Ok(cells)
}

fn list<T>(values: Spanned<Vec<T>>, key: &str) -> Checked<Vec<T>> {
    let at = values.span();
    match values.into_inner() {
        empty if empty.is_empty() => Err(Wrong(at, format!("'{key}' is empty"))),
        values => Ok(values),
    }
}

fn kernel(raw: RawKernel) -> Checked<KernelChoice> {
    if raw.kernel.get_ref().is_empty() {
        return Err(Wrong(
            raw.kernel.span(),
            "a kernel has no name; write e.g. debian:6.1".into(),
        ));
    }
    let preempt = list(raw.preempt, "preempt")?;
    for mode in &preempt {
        if mode.get_ref() != ALL_MODELS && mode.get_ref().parse::<Model>().is_err() {
            let what = format!(
                "unknown preemption model '{}'; allowed: {}, and {ALL_MODELS}",
                mode.get_ref().escape_debug(),
                Model::ALL.map(Model::name).join(", ")
            );
            return Err(Wrong(mode.span(), what));
        }
    }
    Ok(KernelChoice {
        kernel: raw.kernel.into_inner(),
        preempt: preempt.into_iter().map(Spanned::into_inner).collect(),
    })
}

fn probe(raw: &Spanned<String>) -> Checked<Vec<Probe>> {
    let probes = Probe::expand(raw.get_ref()).and_then(|probes| {
        probes
            .iter()
            .try_for_each(|p| p.check_venue(Venue::Lab))
            .map(|()| probes)
    });
    probes.map_err(|e| Wrong(raw.span(), e.to_string()))
}

fn time(raw: &Spanned<String>) -> Checked<Nanos> {
    duration::parse(raw.get_ref()).map_err(|e| Wrong(raw.span(), e.to_string()))
}

fn period(raw: &Spanned<String>) -> Checked<Nanos> {
    let (min, max) = (CellSpec::MIN_PERIOD, CellSpec::MAX_PERIOD);
    let period = time(raw)?;
    if period < min || period > max {
        let what = format!(
            "a period is {} to {}, not {}",
            duration::show(min),
            duration::show(max),
            raw.get_ref()
        );
        return Err(Wrong(raw.span(), what));
    }
    Ok(period)
}

fn mips(raw: &Spanned<u32>) -> Checked<u32> {
    let known = Mips::ALL.into_iter().find(|m| m.number() == *raw.get_ref());
    let what = || format!("mips is 1000, 500, 250 or 125, not {}", raw.get_ref());
    known.map(Mips::number).ok_or_else(|| Wrong(raw.span(), what()))
}

fn within<T: PartialOrd + Copy + std::fmt::Display>(
    raw: Spanned<T>,
    allowed: std::ops::RangeInclusive<T>,
    key: &str,
) -> Checked<T> {
    if !allowed.contains(raw.get_ref()) {
        let what = format!(
            "{key} is {} to {}, not {}",
            allowed.start(),
            allowed.end(),
            raw.get_ref()
        );
        return Err(Wrong(raw.span(), what));
    }
    Ok(*raw.get_ref())
}
