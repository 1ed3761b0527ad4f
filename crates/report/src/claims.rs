//! A study's claims: the sentence, whether it holds now, and the published figures beside ours.

mod chart;

pub(crate) use chart::ClaimChart;

use super::table::json::rows;
use super::table::terminal::figures;
use super::table::{ColumnKind, Table, TableValue, field, name};
use crate::style::{Style, WIDTH, wrapped};
use serde_json::{Value, json};
use worstcase_base::distinct;
use worstcase_base::format::{counted, plain};
use worstcase_plan::study::claim::{Claim, ClaimFigure, factor};
use worstcase_results::claims::causes::ClaimCause;
use worstcase_results::claims::{ClaimVerdict, JudgedClaim, JudgedPair, Ours};
use worstcase_results::stats::ranks::Shift;

/// Said above all figures.
pub(super) fn heading(claims: &[JudgedClaim]) -> &'static str {
    match Whose::of(claims) {
        Whose::Ours => "Predicted and measured",
        Whose::Both => "Claimed and measured",
        Whose::Article => "Then and now: published figures, of the machines of their time, and ours",
    }
}

/// Said below it.
pub(super) const CAPTION: &str =
    "Only the order of figures and the factors between them compare; a factor is to the first figure of a claim.";

/// Who makes the claims.
enum Whose {
    Article,
    Ours,
    Both,
}

impl Whose {
    fn of(claims: &[JudgedClaim]) -> Whose {
        let all = |verb: &str| claims.iter().all(|claim| claim.claim.origin.verb() == verb);
        match (all("published"), all("predicted")) {
            (true, _) => Whose::Article,
            (_, true) => Whose::Ours,
            _ => Whose::Both,
        }
    }

    const fn word(&self) -> &'static str {
        match self {
            Whose::Article => "published claim",
            Whose::Ours => "prediction",
            Whose::Both => "claim",
        }
    }
}

/// `5 of 9 claims of the article hold now; 2 do not; 2 are not asked.`
pub(super) fn summary(claims: &[JudgedClaim]) -> String {
    let count = |verdict| claims.iter().filter(|claim| claim.verdict == verdict).count();
    let holds = count(ClaimVerdict::Holds);
    let all = counted(claims.len() as u64, Whose::of(claims).word());
    let verb = if holds == 1 || claims.len() == 1 {
        "holds"
    } else {
        "hold"
    };
    let mut parts = vec![format!("{holds} of {all} {verb} now")];
    let more = [
        (ClaimVerdict::HoldsInPart, "in part", "in part"),
        (ClaimVerdict::DoesNotHold, "does not", "do not"),
        (ClaimVerdict::NotTold, "is not told", "are not told"),
        (ClaimVerdict::NotAsked, "is not asked here", "are not asked here"),
    ];
    for (verdict, one, several) in more {
        match count(verdict) {
            0 => {}
            1 => parts.push(format!("1 {one}")),
            n => parts.push(format!("{n} {several}")),
        }
    }
    parts.join(", ") + "."
}

/// What stands below a claim that does not simply hold: why, in short.
pub(super) fn notes(claim: &JudgedClaim, causes: &[ClaimCause]) -> Vec<String> {
    let mut notes = claim.reasons();
    if claim.verdict == ClaimVerdict::DoesNotHold {
        let explained = causes.iter().filter(|cause| cause.claim == claim.claim.says);
        notes.extend(explained.map(|cause| format!("why {}: {}", cause.figure, cause.cause)));
        notes.extend(claim.claim.because.iter().map(|because| format!("because: {because}")));
    }
    notes.extend(claim.claim.doubt.iter().map(|doubt| format!("doubt: {doubt}")));
    notes
}

/// The claims in short, a line each, the answer first.
pub(super) fn first_lines(claims: &[JudgedClaim], causes: &[ClaimCause], style: Style) -> Vec<String> {
    let mut lines = vec![style.bold(&summary(claims))];
    let width = ClaimVerdict::ALL
        .map(|verdict| verdict.name().len())
        .into_iter()
        .max()
        .unwrap_or(0);
    let beside = |word: &str, text: &str| wrapped(&format!("  {word:width$}  "), text);
    for claim in claims {
        let word = claim.verdict.name();
        let mut says = beside(word, &claim.claim.says);
        says[0] = says[0].replacen(word, &style.claim(claim.verdict, 0), 1);
        lines.extend(says);
        lines.extend(
            notes(claim, causes)
                .iter()
                .flat_map(|note| beside("", &format!("- {note}"))),
        );
    }
    lines
}

/// A figure that was published, and ours.
struct FigureThenNow<'a> {
    nth: usize,
    claim: &'a JudgedClaim,
}

impl FigureThenNow<'_> {
    fn figure(&self) -> &ClaimFigure {
        &self.claim.claim.figures[self.nth]
    }

    fn ours(&self) -> Option<&Ours> {
        self.claim.ours[self.nth].as_ref()
    }

    fn factor_now(&self) -> Option<&Shift> {
        self.claim.factors_now[self.nth].as_ref()
    }
}

/// The figures of a claim, in the words of its source, and ours.
pub(super) fn table(claim: &JudgedClaim) -> Table {
    let units: Vec<String> = distinct(claim.ours.iter().flatten().map(|ours| ours.time_unit.clone()));
    // Clocks of several speeds count the same time.
    let is_share = claim.ours.iter().flatten().any(|ours| ours.is_share);
    let unit = match units.as_slice() {
        _ if is_share => "%".to_string(),
        [_, _, ..] => "virtual us".to_string(),
        _ => units.concat(),
    };
    let rows: Vec<FigureThenNow> = (0..claim.claim.figures.len())
        .map(|nth| FigureThenNow { nth, claim })
        .collect();
    let words = |key: &str, heading: &str, words: fn(&FigureThenNow) -> TableValue| {
        field(ColumnKind::Words, key, heading, words).optional()
    };
    let programs =
        |key: &str, value: fn(&FigureThenNow) -> TableValue| field(ColumnKind::Words, key, key, value).programs();
    let factor_now = field(ColumnKind::Words, "factor_now", "factor now", |row: &FigureThenNow| {
        row.factor_now()
            .map(|shift| TableValue::in_words(with_interval(row.nth, shift), json!(shift)))
    });
    let fields = [
        name("of", "figure", |row: &FigureThenNow| row.figure().of.clone()),
        words("said", "then", |row| {
            let said = &row.figure().said;
            TableValue::in_words(said.to_string(), json!(said))
        }),
        words("factor_then", "factor then", |row| {
            let bounds = json!(row.claim.factors_then[row.nth]);
            let text = row.claim.claim.factor_in_words(row.nth);
            text.map_or(TableValue::NONE, |text| TableValue::in_words(text, bounds))
        }),
        // In microseconds, which may be below zero: a net cost is a difference.
        words("ours.value", &format!("now, {unit}"), |row| {
            let now = row.ours();
            now.map_or(TableValue::NONE, |ours| {
                let shown = if ours.is_share {
                    ours.value
                } else {
                    ours.value / 1_000.0
                };
                TableValue::in_words(factor(shown), ours.value)
            })
        }),
        match claim.ours.iter().any(Option::is_some) {
            true => factor_now,
            false => factor_now.programs(),
        },
        field(ColumnKind::Text, "cell", "our cell", |row: &FigureThenNow| {
            let cell = row.figure().cell(row.claim.venue);
            cell.map(|cell| TableValue::in_words(cell.to_string(), json!(cell)))
        })
        .wide()
        .optional(),
        programs("ours.subject", |row| {
            row.ours().map(|ours| ours.subject.to_string()).into()
        }),
        programs("ours.largest_in", |row| {
            row.ours().map(|ours| ours.largest_in.to_string()).into()
        }),
        programs("ours.is_share", |row| {
            row.ours().map(|ours| json!(ours.is_share)).into()
        }),
        programs("ours.of_seeds", |row| {
            row.ours().map(|ours| json!(ours.of_seeds)).into()
        }),
        programs("ours.time_unit", |row| {
            row.ours().map(|ours| ours.time_unit.replacen("us", "ns", 1)).into()
        }),
    ];
    Table::new("claims", claim.claim.says.clone(), &fields, &rows)
}

/// For programs: each claim with the rows of its table.
pub(super) fn json(claims: &[JudgedClaim], causes: &[ClaimCause]) -> Value {
    let one = |judged: &JudgedClaim| {
        let Claim {
            says,
            origin,
            compare,
            within,
            why,
            because,
            doubt,
            terms,
            ..
        } = &judged.claim;
        json!({
            "says": says,
            "origin": origin,
            "compare": compare,
            "within": within,
            "why": why,
            "because": because,
            "doubt": doubt,
            "terms": terms,
            "venue": judged.venue,
            "verdict": judged.verdict,
            "missing": judged.missing,
            "causes": causes.iter().filter(|cause| cause.claim == judged.claim.says).collect::<Vec<_>>(),
            "pairs": judged.pairs,
            "figures": rows(&table(judged)),
        })
    };
    claims.iter().map(one).collect()
}

fn with_interval(nth: usize, shift: &Shift) -> String {
    match nth {
        0 => factor(1.0),
        _ if shift.low == shift.high => factor(shift.best),
        _ => format!("{} ({}..{})", factor(shift.best), factor(shift.low), factor(shift.high)),
    }
}

/// The figures of all claims of a run.
pub(super) fn lines(claims: &[JudgedClaim], style: Style) -> Vec<String> {
    let mut lines = vec![style.bold(heading(claims)), CAPTION.to_string()];
    for judged in claims.iter().filter(|judged| judged.ours.iter().any(Option::is_some)) {
        lines.push(String::new());
        let word = style.claim(judged.verdict, 0);
        lines.push(format!("{word}: {}", plain(&judged.claim.says)));
        lines.extend(
            figures(&table(judged), WIDTH - 2)
                .iter()
                .map(|line| format!("  {line}").trim_end().to_string()),
        );
        let told = judged.pairs.iter().map(JudgedPair::words).chain(judged.missing.clone());
        lines.extend(told.flat_map(|told| wrapped("  ", &told)));
        lines.extend(about(&judged.claim, judged.missing.as_ref()));
    }
    lines
}

/// All claims of a study, of which nothing is measured.
pub fn of_study(claims: &[Claim], style: Style) -> Vec<String> {
    let mut lines = vec![style.bold("Claims, which a run tests")];
    for claim in claims {
        lines.push(String::new());
        lines.push(plain(&claim.says));
        lines.extend(
            figures(&figures_to_come(claim), WIDTH)
                .iter()
                .map(|line| format!("  {line}")),
        );
        lines.extend(about(claim, None));
    }
    lines
}

/// Published figures, and the cell that will stand beside each.
fn figures_to_come(claim: &Claim) -> Table {
    let fields = [
        name("of", "figure", |figure: &ClaimFigure| figure.of.clone()),
        field(ColumnKind::Words, "then", "then", |figure: &ClaimFigure| {
            figure.said.to_string()
        }),
        field(ColumnKind::Text, "cell", "now", |figure: &ClaimFigure| {
            let cell = figure.cell.as_ref().or(figure.host.as_ref());
            cell.map_or("no cell".to_string(), ToString::to_string)
        }),
    ];
    Table::new("claims", "", &fields, &claim.figures)
}

/// What to know of a claim, but for what was said already.
fn about(claim: &Claim, said: Option<&String>) -> Vec<String> {
    let why = Some(&claim.why).filter(|why| Some(*why) != said);
    let terms = claim
        .terms
        .iter()
        .map(|term| ("", format!("{}: {}", term.word, term.means)));
    let texts = [
        ("why: ", why),
        ("because: ", claim.because.as_ref()),
        ("doubt: ", claim.doubt.as_ref()),
    ];
    let texts = texts.into_iter().filter_map(|(lead, text)| Some((lead, text?.clone())));
    let source = [("source: ", claim.origin.words())];
    terms
        .chain(texts)
        .chain(source)
        .flat_map(|(lead, text)| wrapped(&format!("  {lead}"), &text))
        .collect()
}
