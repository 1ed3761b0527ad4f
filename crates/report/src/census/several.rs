//! Several censuses for the terminal: the cells of a run, and two cells side by side.

use super::terminal::{details, named};
use crate::breakdown::terminal::{cut, wrapped};
use crate::terminal::Style;
use worstcase_analysis::census::diff::{Change, Difference};
use worstcase_analysis::census::ensemble::Ensemble;
use worstcase_analysis::census::findings::Findings;
use worstcase_base::format::{grouped, micros, plain};
use worstcase_contract::Nanos;
use worstcase_contract::census::Kind;

/// Of so many differences both call chains are shown.
const TOLD: usize = 3;

/// A table of the cells, and for each ensemble what its seeds have in common; `most` owners of each.
pub fn run(ensembles: &[Ensemble], most: usize, style: Style) -> String {
    let mut out = Vec::new();
    for ensemble in ensembles {
        out.push(style.bold(&plain(&format!(
            "Census of {} under {}, {}",
            ensemble.subject, ensemble.load, ensemble.probe
        ))));
        out.push(format!("times are {}", plain(&ensemble.unit)));
        if !ensemble.polls_known {
            out.extend(wrapped("", worstcase_analysis::census::bound::RAW_MEANING));
        }
        out.extend(seeds(ensemble));
        out.extend(growth(ensemble));
        out.push(format!(
            "{:>9}{:>9}{:>9}  {:<10}from -> to",
            "longest", "net", "times", "seeds"
        ));
        for common in ensemble.union.iter().take(most) {
            let top = &common.top;
            out.push(cut(&plain(&format!(
                "{:>9}{:>9}{:>9}  {:<10}{}",
                micros(top.longest.length_ns),
                micros(top.longest_net_ns),
                grouped(top.times),
                format!("{} of {}", common.seeds.len(), ensemble.seeds.len()),
                named(&top.from, &top.to, top.inside.as_deref())
            ))));
        }
        out.push(String::new());
    }
    out.extend(wrapped("bound: ", worstcase_analysis::census::bound::MEANING));
    out.push(String::new());
    out.join("\n")
}

fn seeds(ensemble: &Ensemble) -> Vec<String> {
    let shown = |time: Option<Nanos>| time.map_or("-".into(), micros);
    let mut lines = vec![format!(
        "{:>6}{:>10}{:>10}{:>10}  tail",
        "seed", "sampled", "bound", "section"
    )];
    for seed in &ensemble.seeds {
        let tail = match seed.agrees {
            Some(true) => "as expected",
            Some(false) => "NOT AS EXPECTED",
            None => "cannot tell",
        };
        lines.push(format!(
            "{:>6}{:>10}{:>10}{:>10}  {tail}",
            seed.seed,
            shown(seed.sampled_ns),
            shown(seed.bound_ns),
            micros(seed.section_ns)
        ));
    }
    lines
}

/// How the longest section grows with the number of seeds.
fn growth(ensemble: &Ensemble) -> Vec<String> {
    if ensemble.growth_ns.len() < 2 {
        return Vec::new();
    }
    let steps: Vec<String> = ensemble.growth_ns.iter().map(|n| micros(*n)).collect();
    wrapped("longest section of 1, 2 ... seeds, on average: ", &steps.join(", "))
}

/// What changed from one cell to the other; the `most` largest changes.
pub fn diff(before: &Findings, after: &Findings, differences: &[Difference], most: usize, style: Style) -> String {
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
    out.push(format!(
        "{:<10}{:>9}{:>9}{:>7}{:>7}  from -> to",
        "", "before", "after", "times", "times"
    ));
    for (i, difference) in differences
        .iter()
        .filter(|d| d.change != Change::Same)
        .take(most)
        .enumerate()
    {
        out.push(line(difference));
        if i < TOLD {
            let sides = [("before", &difference.before), ("after", &difference.after)];
            for (what, top) in sides {
                if let Some(top) = top {
                    out.push(format!("{:32}{what}:", ""));
                    out.extend(details(&top.longest));
                }
            }
        }
    }
    let same = differences.iter().filter(|d| d.change == Change::Same).count();
    out.push(format!("{same} more are as long in both"));
    let above = |cell: &Findings| micros(cell.of(Kind::NonPreemptible).longest.above_ns);
    out.push(format!(
        "compared: sections longer than {} us before, {} after; <: not among those, so no longer than this",
        above(before),
        above(after)
    ));
    out.push(String::new());
    out.join("\n")
}

fn line(difference: &Difference) -> String {
    let change = match difference.change {
        Change::Appeared => "appeared",
        Change::Grew => "grew",
        Change::Same => "same",
        Change::Shrank => "shrank",
        Change::Vanished => "vanished",
    };
    let length = |time: Nanos, named: bool| {
        if named {
            micros(time)
        } else {
            format!("<{}", micros(time))
        }
    };
    let times =
        |top: &Option<worstcase_analysis::census::top::Top>| top.as_ref().map_or("-".into(), |t| grouped(t.times));
    cut(&plain(&format!(
        "{change:<10}{:>9}{:>9}{:>7}{:>7}  {}",
        length(difference.before_ns, difference.before.is_some()),
        length(difference.after_ns, difference.after.is_some()),
        times(&difference.before),
        times(&difference.after),
        named(&difference.from, &difference.to, difference.inside.as_deref())
    )))
}
