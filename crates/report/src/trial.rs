//! The effect of each of a machine's settings: a table, and the answer in a sentence.

use crate::style::{Style, WIDTH};
use crate::table::terminal::figures;
use crate::table::{ColumnKind, Table, TableValue, field, name};
use worstcase_analysis::trial::{Says, Shortest, Trial, Tried, rounds_for};
use worstcase_base::format::{micros, plain};
use worstcase_results::stats::interval::AIM;

/// The text for the terminal.
pub fn terminal(trial: &Trial, title: &str, style: Style) -> String {
    let rounds = trial.variants.first().map_or(0, |v| v.maxima_ns.len());
    let mut out = vec![
        style.bold(&plain(title)),
        format!("the highest latency of each of {rounds} rounds, in us; ratio: to the machine as it is"),
        String::new(),
    ];
    out.extend(figures(&table(trial), WIDTH));
    out.push(String::new());
    out.extend(answer(trial));
    if !trial.variants.iter().any(|v| v.says == Says::Better) {
        out.push("What only a boot or the machine's owner can change, with the remedies: worstcase host doctor".into());
    }
    out.push(String::new());
    out.join("\n")
}

fn table(trial: &Trial) -> Table {
    let lowest = |tried: &Tried| tried.maxima_ns.iter().copied().min();
    let fields = [
        name("set", "set", |tried: &Tried| tried.name.clone()),
        field(ColumnKind::Time, "median_ns", "median", |tried: &Tried| tried.median_ns),
        field(ColumnKind::Time, "lowest_ns", "lowest", lowest),
        field(ColumnKind::Time, "highest_ns", "highest", Tried::highest),
        field(ColumnKind::Factor, "ratio", "ratio", |tried: &Tried| {
            tried.ratio.map(|r| r.best)
        }),
        field(ColumnKind::Number(2), "ratio_interval", "interval", |tried: &Tried| {
            tried
                .ratio
                .map(|r| TableValue::Between(r.low, r.high, Some(r.coverage)))
        }),
        field(ColumnKind::Text, "says", "says", |tried: &Tried| says(tried.says)),
    ];
    Table::new("trial", "", &fields, &trial.variants)
}

fn says(says: Says) -> &'static str {
    match says {
        Says::Itself => "",
        Says::Better => "better",
        Says::Worse => "worse",
        Says::NotShown => "no difference shown",
        Says::TooFew => "too few rounds",
    }
}

fn answer(trial: &Trial) -> Vec<String> {
    let named = |says: Says| {
        let of = trial.variants.iter().filter(|v| v.says == says);
        of.map(|v| v.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let mut out = Vec::new();
    out.push(match (named(Says::Better), named(Says::TooFew)) {
        (better, _) if !better.is_empty() => format!("It helps: {better}."),
        (_, few) if !few.is_empty() => format!(
            "So few rounds can show no difference: ask for more (--rounds {}).",
            rounds_for(trial.variants.len().saturating_sub(1))
        ),
        _ => "No setting shows a difference.".into(),
    });
    let worse = named(Says::Worse);
    if !worse.is_empty() {
        out.push(format!("It harms: {worse}."));
    }
    if let Some(coverage) = trial
        .variants
        .iter()
        .filter_map(|v| v.ratio)
        .map(|r| r.coverage)
        .reduce(f64::min)
        && coverage < AIM
    {
        out.push(format!(
            "The intervals of the ratios cover {:.0} %: more rounds, more.",
            coverage * 100.0
        ));
    }
    let Some(criterion) = trial.criterion_ns else {
        return out;
    };
    let limit = micros(criterion);
    out.push(match &trial.shortest {
        Shortest::NotAsked => return out,
        Shortest::NotReached => format!("Nothing that was tried stayed within {limit} us in every round."),
        Shortest::Settings(none) if none.is_empty() => {
            format!("The machine as it is stayed within {limit} us in every round: nothing has to be set.")
        }
        Shortest::NotConfirmed(some) => format!(
            "{} stayed within {limit} us in every round, and was not measured again: it may be luck.",
            some.join(", ")
        ),
        Shortest::Refuted(some) => format!(
            "{} stayed within {limit} us in every round, but in fresh rounds {}: nothing is shown to suffice.",
            some.join(", "),
            match trial.again.as_ref().filter(|again| again.highest() > criterion) {
                Some(again) => format!("it reached {} us", micros(again.highest())),
                None => "it was no better than the machine as it is".into(),
            }
        ),
        Shortest::Settings(some) => format!(
            "The fewest settings that stayed within {limit} us in every round, and in {} fresh ones: {}.",
            trial.again.as_ref().map_or(0, |again| again.maxima_ns.len()),
            some.join(", ")
        ),
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_analysis::trial::judge;
    use worstcase_contract::Nanos;
    use worstcase_host::run::trial::TrialVariant;

    #[test]
    fn a_table_and_an_answer() {
        let measured =
            |names: &[&str], us: [u64; 8]| (TrialVariant::of(names), us.map(|us| Nanos(us * 1_000)).to_vec());
        let as_it_is = measured(&[], [210, 190, 300, 205, 250, 260, 220, 240]);
        let idle_states = measured(&["idle-states"], [40, 55, 38, 41, 60, 52, 44, 47]);
        let ksm = measured(&["ksm"], [200, 195, 310, 230, 255, 240, 215, 245]);
        let first = vec![as_it_is.clone(), ksm, idle_states.clone()];
        let again = vec![as_it_is, idle_states];
        let trial = judge(&first, &[], Some(&again), Some(Nanos(100_000)));
        let text = terminal(&trial, "a trial", Style::PLAIN);
        insta::assert_snapshot!(text, @r"
        a trial
        the highest latency of each of 8 rounds, in us; ratio: to the machine as it is

        set           median  lowest  highest  ratio    interval  says
        as-it-is         220     190      300      -           -
        ksm              230     195      310  x1.01  0.95..1.07  no difference shown
        idle-states     44.0    38.0     60.0  x0.20  0.16..0.24  better

        It helps: idle-states.
        The fewest settings that stayed within 100 us in every round, and in 8 fresh ones: idle-states.
        ");
    }
}
