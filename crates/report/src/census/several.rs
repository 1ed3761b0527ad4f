//! Several censuses for the terminal: the cells of a run, and two cells side by side.

use super::terminal::{counted_work, details, from_to, named, owner_columns};
use crate::style::wrapped;
use crate::style::{Style, WIDTH};
use crate::table::terminal::{figures, figures_with};
use crate::table::{ColumnKind, Table, TableValue, field, name};
use serde_json::json;
use worstcase_analysis::census::counted::LoadCounted;
use worstcase_analysis::census::diff::{SectionChange, SectionDifference};
use worstcase_analysis::census::ensemble::{CensusEnsemble, Common, OfSeed};
use worstcase_analysis::census::findings::Findings;
use worstcase_analysis::census::longest_delay;
use worstcase_base::format::{self, micros, plain};
use worstcase_contract::Nanos;
use worstcase_contract::census::Kind;

/// The number of differences of which both call chains are shown.
const TOLD: usize = 3;

/// A table of the cells, and for each ensemble the common findings of its seeds; `most` owners of each.
pub fn run(ensembles: &[CensusEnsemble], most: usize, style: Style) -> String {
    let mut out = Vec::new();
    for ensemble in ensembles {
        out.push(style.bold(&plain(&format!(
            "Census of {} under {}, {}",
            ensemble.subject, ensemble.load, ensemble.probe
        ))));
        out.push(format!("times are {}", plain(&ensemble.unit)));
        if !ensemble.polls_known {
            out.extend(wrapped("", longest_delay::RAW_MEANING));
        }
        out.extend(figures(&seeds(ensemble), WIDTH));
        out.extend(growth(ensemble));
        out.extend(next_seed(ensemble));
        out.extend(figures_with(&owners(ensemble, most), |_, _| Vec::new()));
        out.extend(counted(ensemble, most));
        out.push(String::new());
    }
    out.extend(wrapped("longest: ", longest_delay::MEANING));
    out.push(String::new());
    out.join("\n")
}

/// The longest owners of all seeds, and in how many seeds each was.
pub(super) fn owners(ensemble: &CensusEnsemble, most: usize) -> Table {
    let all = ensemble.seeds.len();
    let columns = owner_columns().into_iter();
    let mut fields: Vec<_> = columns.map(|column| column.on(|common: &Common| &common.top)).collect();
    fields.push(field(ColumnKind::Words, "seeds", "seeds", move |common: &Common| {
        TableValue::in_words(format!("{} of {all}", common.seeds.len()), json!(common.seeds))
    }));
    fields.push(from_to(|common: &Common| {
        named(&common.top.from, &common.top.to, common.top.inside.as_deref())
    }));
    Table::new("owners", "", &fields, ensemble.union.iter().take(most))
}

pub(super) fn seeds(ensemble: &CensusEnsemble) -> Table {
    let fields = [
        name("seed", "seed", |seed: &OfSeed| seed.seed),
        field(ColumnKind::Time, "sampled_ns", "sampled", |seed: &OfSeed| {
            seed.sampled_ns
        }),
        field(ColumnKind::Time, "longest_ns", "longest", |seed: &OfSeed| {
            seed.longest_ns
        }),
        field(ColumnKind::Time, "section_ns", "section", |seed: &OfSeed| {
            seed.section_ns
        }),
        field(ColumnKind::Text, "agrees", "tail", |seed: &OfSeed| {
            let text = match seed.agrees {
                Some(true) => "as expected",
                Some(false) => "NOT AS EXPECTED",
                None => "cannot tell",
            };
            TableValue::in_words(text, seed.agrees)
        }),
        field(ColumnKind::Text, "cell", "cell", |seed: &OfSeed| seed.cell.clone()).programs(),
    ];
    Table::new("seeds", "", &fields, &ensemble.seeds)
}

/// The growth of the longest section with the number of seeds.
fn growth(ensemble: &CensusEnsemble) -> Vec<String> {
    if ensemble.growth_ns.len() < 2 {
        return Vec::new();
    }
    let steps: Vec<String> = ensemble.growth_ns.iter().map(|n| micros(*n)).collect();
    wrapped("longest section of 1, 2 ... seeds, on average: ", &steps.join(", "))
}

/// What so many seeds say of one more, and no more than that.
fn next_seed(ensemble: &CensusEnsemble) -> Vec<String> {
    let Some(next) = ensemble.next_seed else {
        return Vec::new();
    };
    let seeds = ensemble.seeds.len();
    let text = format!(
        "{} us; one more seed is longer with a chance of 1 in {}, if seeds are alike and independent; by how much is not known",
        micros(next.longest_ns),
        seeds + 1
    );
    wrapped(
        &format!("longest of {}: ", format::counted(seeds as u64, "seed")),
        &text,
    )
}

/// The counted work of the owners that are shown, each kind once.
fn counted(ensemble: &CensusEnsemble, most: usize) -> Vec<String> {
    let shown = ensemble.union.iter().take(most);
    let mut works: Vec<LoadCounted> = Vec::new();
    for work in shown.filter_map(|common| common.top.longest.counted()) {
        if !works.contains(&work) {
            works.push(work);
        }
    }
    works.into_iter().flat_map(|work| counted_work(0, work)).collect()
}

/// The changes from one cell to the other; the `most` largest ones.
pub fn diff(
    before: &Findings,
    after: &Findings,
    differences: &[SectionDifference],
    most: usize,
    style: Style,
) -> String {
    let mut out = vec![
        style.bold(&plain(&format!(
            "Census of {} against {}",
            after.about.cell, before.about.cell
        ))),
        format!("times are {}", plain(&after.about.unit)),
    ];
    if before.about.unit != after.about.unit {
        out.push(format!(
            "those of {} are {}",
            before.about.cell,
            plain(&before.about.unit)
        ));
    }
    out.push(String::new());
    let changed = differences
        .iter()
        .filter(|d| d.change != SectionChange::Same)
        .take(most);
    let changed: Vec<&SectionDifference> = changed.collect();
    out.extend(figures_with(&changes(&changed), |nth, indent| match nth < TOLD {
        true => both_sides(changed[nth], indent),
        false => Vec::new(),
    }));
    let same = differences.iter().filter(|d| d.change == SectionChange::Same).count();
    let are = if same == 1 { "is" } else { "are" };
    out.push(format!("{same} more {are} as long in both"));
    let above = |cell: &Findings| micros(cell.of_kind(Kind::NonPreemptible).longest.above_ns);
    out.push(format!(
        "compared: sections longer than {} us before, {} after; <: not among those, so no longer than this",
        above(before),
        above(after)
    ));
    out.push(String::new());
    out.join("\n")
}

/// Call chains and functions of both.
fn both_sides(difference: &SectionDifference, indent: usize) -> Vec<String> {
    let sides = [("before", &difference.before), ("after", &difference.after)];
    let known = sides.into_iter().filter_map(|(side, top)| Some((side, top.as_ref()?)));
    let lines =
        known.map(|(side, top)| [vec![format!("{:indent$}{side}:", "")], details(&top.longest, indent)].concat());
    lines.flatten().collect()
}

pub(super) fn changes(differences: &[&SectionDifference]) -> Table {
    let length = |time: Nanos, is_known: bool| match is_known {
        true => TableValue::from(time),
        false => TableValue::in_words(format!("<{}", micros(time)), time),
    };
    let programs = |key: &str, value: fn(&SectionDifference) -> TableValue| {
        field(ColumnKind::Text, key, key, move |d: &&SectionDifference| value(d)).programs()
    };
    let fields = [
        name("change", "", |d: &&SectionDifference| TableValue::key_of(&d.change)),
        field(
            ColumnKind::Time,
            "before_ns",
            "before",
            move |d: &&SectionDifference| length(d.before_ns, d.before.is_some()),
        ),
        field(ColumnKind::Time, "after_ns", "after", move |d: &&SectionDifference| {
            length(d.after_ns, d.after.is_some())
        }),
        field(ColumnKind::Count, "times_before", "times", |d: &&SectionDifference| {
            d.before.as_ref().map(|top| top.times)
        }),
        field(ColumnKind::Count, "times_after", "times", |d: &&SectionDifference| {
            d.after.as_ref().map(|top| top.times)
        }),
        from_to(|d: &&SectionDifference| named(&d.from, &d.to, d.inside.as_deref())),
        programs("from", |d| d.from.clone().into()),
        programs("to", |d| d.to.clone().into()),
        programs("inside", |d| d.inside.clone().into()),
        programs("before", |d| json!(d.before).into()),
        programs("after", |d| json!(d.after).into()),
    ];
    Table::new("changes", "", &fields, differences)
}
