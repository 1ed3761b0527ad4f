//! A section of a study file: `[full]`, `[quick]`, `[host]`, `[host.quick]` and their parts have the same keys.

use super::checked::{Checked, Wrong};
use super::section::{SectionKey, StudySection};
use crate::check::check_cells;
use crate::parameters::{self, GivenValues, KernelChoice, ParameterOwner};
use crate::{Experiment, Part, PreemptChoice, PreemptName, Problem, Subjects, Venue};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::ops::Range;
use toml::Spanned;
use worstcase_contract::Nanos;

/// A section as it is written.
#[derive(Clone, Default)]
pub(super) struct RawCells {
    said: StudySection,
    kernels: Option<Spanned<Vec<RawKernel>>>,
    /// Cells that differ in some of this; without parts there is one.
    part: Vec<RawCells>,
    /// For `[host]` only: the changes of its quick form.
    pub(super) quick: Option<Box<RawCells>>,
}

#[derive(Clone, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table, e.g. { kernel = \"debian:6.1\", preempt = [\"full\"] }"
)]
struct RawKernel {
    kernel: Spanned<String>,
    preempt: Spanned<Vec<Spanned<String>>>,
}

impl<'de> Deserialize<'de> for RawCells {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawCells, D::Error> {
        deserializer.deserialize_map(RawCellsVisitor)
    }
}

struct RawCellsVisitor;

impl<'de> Visitor<'de> for RawCellsVisitor {
    type Value = RawCells;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a section of cells")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawCells, A::Error> {
        let mut cells = RawCells::default();
        while let Some(key) = map.next_key_seed(SectionKey(&["kernels", "part", "quick"]))? {
            match key {
                "kernels" => cells.kernels = Some(map.next_value()?),
                "part" => cells.part = map.next_value()?,
                "quick" => cells.quick = Some(map.next_value()?),
                parameter => cells.said.insert(parameter, map.next_value()?),
            }
        }
        Ok(cells)
    }
}

/// The quick form: values that it lacks are those of the whole; its parts, if it has any, replace the whole's.
pub(super) fn quick_of(quick: RawCells, whole: &RawCells) -> RawCells {
    if !quick.part.is_empty() || whole.part.is_empty() {
        return merge(quick, whole);
    }
    let parts = whole.part.iter();
    let part = parts.map(|part| merge(quick.clone(), &merge(part.clone(), whole)));
    RawCells {
        part: part.collect(),
        ..merge(quick.clone(), whole)
    }
}

/// A section's experiment; `section` is where it begins.
pub(super) fn experiment(
    whole: RawCells,
    venue: Venue,
    criterion: Option<Nanos>,
    section: &Range<usize>,
) -> Checked<Experiment> {
    let parts = parts(&whole).into_iter().map(|raw| part(raw, venue, section));
    let mut experiment = Experiment::usual(venue, Subjects::Cpus(None));
    experiment.parts = parts.collect::<Checked<Vec<Part>>>()?;
    let set_up = whole.given(venue)?.set_up(&mut experiment);
    set_up.map_err(|problem| whole.wrong(problem, section))?;
    experiment.criterion = criterion.or(experiment.usual_criterion());
    Ok(experiment)
}

/// A part must not set values of all parts.
fn check_owner(part: &RawCells, venue: Venue) -> Checked<()> {
    let mut of_all = parameters::all(venue).filter(|p| matches!(p.owner, ParameterOwner::Experiment(_)));
    match of_all.find_map(|parameter| Some((parameter.key, part.said.at(parameter.key)?))) {
        None => Ok(()),
        Some((key, at)) => Err(Wrong(
            at,
            format!("'{key}' is of all parts: write it above the first of them"),
        )),
    }
}

/// An error if a part sets values of all parts, or if a section has too many cells: counted before its lists are copied for
/// each part, and multiplied out.
pub(super) fn check_sections(
    whole: &RawCells,
    quick: Option<&RawCells>,
    venue: Venue,
    section: &Range<usize>,
) -> Checked<()> {
    let mut parts = [Some(whole), quick].into_iter().flatten().flat_map(|cells| &cells.part);
    parts.try_for_each(|part| check_owner(part, venue))?;
    let of = |cells: &RawCells, under: &[&RawCells]| match cells.part.is_empty() {
        true => vec![cells.count(under)],
        false => {
            let under = [&[cells], under].concat();
            cells.part.iter().map(|part| part.count(&under)).collect::<Vec<_>>()
        }
    };
    let checked = check_cells(of(whole, &[])).and_then(|()| match quick {
        None => Ok(()),
        // The parts of the whole, each with the changes of the quick form.
        Some(quick) if quick.part.is_empty() && !whole.part.is_empty() => {
            let parts = whole.part.iter();
            check_cells(parts.map(|part| quick.count(&[part, whole])))
        }
        Some(quick) => check_cells(of(quick, &[whole])),
    });
    checked.map_err(|problem| whole.wrong(problem, section))
}

/// Each part, with missing values from the whole; the whole alone if it has no part.
fn parts(whole: &RawCells) -> Vec<RawCells> {
    match whole.part.is_empty() {
        true => vec![whole.clone()],
        false => whole.part.iter().map(|part| merge(part.clone(), whole)).collect(),
    }
}

/// `over`, with missing values from `base`; the parts are those of `over`.
fn merge(over: RawCells, base: &RawCells) -> RawCells {
    RawCells {
        said: over.said.or(&base.said),
        kernels: over.kernels.or_else(|| base.kernels.clone()),
        part: over.part,
        quick: over.quick,
    }
}

fn part(raw: RawCells, venue: Venue, section: &Range<usize>) -> Checked<Part> {
    if raw.quick.is_some() {
        let what = "'quick' belongs to [host], or stands alone as [quick]";
        return Err(Wrong(section.clone(), what.into()));
    }
    let given = raw.given(venue)?;
    let kernels = raw.choices(venue, section)?;
    for keys in [&["probes"][..], &["loads"], &["seeds", "seed"]] {
        if !keys.iter().any(|key| given.values(key).is_some()) {
            return Err(absent(keys[0], venue, section));
        }
    }
    let wrong = |problem| raw.wrong(problem, section);
    let part = given.part(venue, &kernels).map_err(wrong)?;
    let checked = part.check(venue).and_then(|()| part.probes(venue).map(drop));
    checked.map_err(wrong)?;
    // Together with the rest a load may be too long for the measured machine.
    if venue == Venue::Lab {
        part.check_specs().map_err(wrong)?;
    }
    Ok(part)
}

fn absent(key: &str, venue: Venue, section: &Range<usize>) -> Wrong {
    let name = match venue {
        Venue::Lab => "full",
        Venue::Host => "host",
    };
    Wrong(section.clone(), format!("[{name}] has no '{key}'"))
}

impl RawCells {
    fn given(&self, venue: Venue) -> Checked<GivenValues> {
        self.said.given(venue)
    }

    /// The kernels, each with its models; a host has none.
    fn choices(&self, venue: Venue, section: &Range<usize>) -> Checked<Vec<KernelChoice>> {
        let kernels = match (&self.kernels, venue) {
            (None, Venue::Host) => return Ok(Vec::new()),
            (Some(kernels), Venue::Host) => {
                let what = "a host has 'cpus' in place of kernels";
                return Err(Wrong(kernels.span(), what.into()));
            }
            (None, Venue::Lab) => return Err(absent("kernels", venue, section)),
            (Some(kernels), Venue::Lab) => kernels,
        };
        kernels.get_ref().iter().map(RawKernel::choice).collect()
    }

    /// The number of its cells; missing values come from the first section of `under` that has them. Nothing if the number
    /// is too large to be counted.
    fn count(&self, under: &[&RawCells]) -> Option<u64> {
        let all = [&[self], under].concat();
        let kernels = all.iter().find_map(|cells| cells.kernels.as_ref());
        let models = kernels.map_or(1, |kernels| {
            let each = kernels.get_ref().iter();
            each.map(|kernel| kernel.preempt.get_ref().len().max(1) as u64).sum()
        });
        let factors = StudySection::factors(all.iter().map(|cells| &cells.said), kernels.is_some());
        parameters::count_cells(models, factors)
    }

    /// A problem at the key that it is of, or at its section.
    fn wrong(&self, problem: Problem, section: &Range<usize>) -> Wrong {
        let at = match (problem.field, problem.nth) {
            ("kernels", _) => self.kernels.as_ref().map(Spanned::span),
            (key, Some(nth)) => self.said.at_value(key, nth),
            (key, None) => self.said.at(key),
        };
        Wrong(at.unwrap_or_else(|| section.clone()), problem.what)
    }
}

impl RawKernel {
    fn choice(&self) -> Checked<KernelChoice> {
        if self.preempt.get_ref().is_empty() {
            return Err(Wrong(self.preempt.span(), "'preempt' is empty".into()));
        }
        if self.kernel.get_ref().is_empty() {
            let what = "a kernel has no name; write e.g. debian:6.1";
            return Err(Wrong(self.kernel.span(), what.into()));
        }
        let model = |word: &Spanned<String>| {
            let unknown = |_| {
                let what = format!(
                    "unknown preemption model '{}'; allowed: {}, and all",
                    word.get_ref().escape_debug(),
                    PreemptName::ALL.map(PreemptName::name).join(", ")
                );
                Wrong(word.span(), what)
            };
            word.get_ref().parse::<PreemptChoice>().map_err(unknown)
        };
        Ok(KernelChoice {
            kernel: self.kernel.get_ref().clone(),
            models: self.preempt.get_ref().iter().map(model).collect::<Checked<_>>()?,
            optional: false,
        })
    }
}
