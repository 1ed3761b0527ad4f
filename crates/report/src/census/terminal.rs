//! One cell's census for the terminal.

use crate::breakdown::terminal::{chained, elsewhere, shares};
use crate::style::wrapped;
use crate::style::{Style, WIDTH};
use crate::table::json::rows;
use crate::table::terminal::{figures, figures_with};
use crate::table::{ColumnKind, Table, TableField, TableValue, field, name};
use serde_json::{Value, json};
use worstcase_analysis::census::cell_census::{About, CensusCpu};
use worstcase_analysis::census::counted::LoadCounted;
use worstcase_analysis::census::findings::{Findings, OfKind};
use worstcase_analysis::census::histogram::LengthBucket;
use worstcase_analysis::census::join::TimeSpread;
use worstcase_analysis::census::places::SectionGroup;
use worstcase_analysis::census::tail::{CensusTail, LEVEL, TailRow};
use worstcase_analysis::census::top::{OwnedSection, Top, TopList};
use worstcase_base::format::{grouped, micros, plain};
use worstcase_contract::Nanos;
use worstcase_contract::census::Kind;

/// Longest bar of a histogram.
const BAR: usize = 40;
/// The number of owners of which the call chain and the functions are shown.
const TOLD: usize = 3;

/// Everything that a census says about a cell.
pub fn cell(findings: &Findings, style: Style) -> String {
    let mut out = vec![
        style.bold(&plain(&format!(
            "Census of {}{}",
            findings.about.cell,
            cpu(&findings.about)
        ))),
        format!(
            "times are {}; {} instructions observed{}",
            plain(&findings.about.unit),
            grouped(findings.observed_instructions),
            match findings.audited_blocks {
                0 => String::new(),
                n => format!("; audited at {} blocks, no difference", grouped(n)),
            }
        ),
        String::new(),
    ];
    out.extend(longest_of_run(findings, style));
    out.push(String::new());
    out.extend(figures(&kinds(findings), WIDTH));
    out.push("net: without the interrupts and soft interrupts in them".into());
    if !findings.about.is_program {
        out.push(
            "higher priority: threads of the probe's priority or a higher one; non-preemptible holds them, too".into(),
        );
    }
    let non_preemptible = findings.of_kind(Kind::NonPreemptible);
    out.push(String::new());
    out.push(style.bold("non-preemptible, by length") + " (a bar grows by one step as the number doubles)");
    out.extend(histogram(&non_preemptible.sum.histogram));
    for kind in findings.kinds.iter().filter(|k| k.sum.count > 0) {
        let told = if kind.sum.kind == non_preemptible.sum.kind {
            TOLD
        } else {
            0
        };
        out.extend(longest(kind, told, style));
    }
    if findings.about.has_samples() {
        out.push(String::new());
        out.extend(path(findings, style));
        out.push(String::new());
        out.extend(tail(&findings.tail, style));
    }
    out.push(String::new());
    out.join("\n")
}

fn cpu(about: &About) -> String {
    match about.of {
        None => String::new(),
        Some(CensusCpu { cpu, has_probe: true }) => format!(", CPU {cpu}, the probe's"),
        Some(CensusCpu { cpu, has_probe: false }) => format!(", CPU {cpu}, not the probe's"),
    }
}

fn longest_of_run(findings: &Findings, style: Style) -> Vec<String> {
    if !findings.about.has_samples() {
        return for_others(findings, style);
    }
    let Some(longest) = &findings.longest_of_run else {
        return vec!["longest of this run: none, since the cell has no sample".into()];
    };
    let sum = format!(
        "longest of this run {} us = section {} + wake-up path {}; largest sample {}",
        micros(longest.longest_ns),
        micros(longest.section_ns),
        micros(longest.path_ns),
        micros(longest.sampled_ns)
    );
    let mut lines = vec![style.bold(&sum)];
    lines.extend(wrapped("  ", &longest.meaning));
    lines
}

/// The time for which another CPU waits if it wants something of this one.
fn for_others(findings: &Findings, style: Style) -> Vec<String> {
    let longest = |kind| micros(findings.of_kind(kind).sum.longest_ns);
    let (what, meaning) = match findings.about.is_program {
        true => (
            "the kernel lets the program's thread wait",
            "the longest section with interrupts off, and the longest non-preemptible one, of this run, the program's own calls \
             included; threads that come before it are not counted",
        ),
        false => (
            "what another CPU sends waits",
            "the longest section with interrupts off, and the longest non-preemptible one, of this run; the interrupt's own path \
             comes on top",
        ),
    };
    let line = format!(
        "{what}: an interrupt up to {} us, the wake-up of a thread up to {} us",
        longest(Kind::InterruptsOff),
        longest(Kind::NonPreemptible)
    );
    let mut lines = vec![style.bold(&line)];
    lines.extend(wrapped("  ", meaning));
    lines
}

/// The findings of each kind of section; for programs the histogram and the longest sections of a kind are in the
/// same row.
pub(super) fn kinds(findings: &Findings) -> Table {
    let time = |key: &str, heading: &str, time: fn(&OfKind) -> Nanos| field(ColumnKind::Time, key, heading, time);
    let data = |key: &str, data: fn(&OfKind) -> Value| field(ColumnKind::Text, key, key, data).programs();
    let fields = [
        name("kind", "", |kind: &OfKind| {
            TableValue::in_words(title(kind.sum.kind), kind.sum.kind)
        }),
        field(ColumnKind::Count, "count", "sections", |kind: &OfKind| kind.sum.count),
        time("total_ns", "in all", |kind| kind.sum.total_ns),
        time("longest_ns", "longest", |kind| kind.sum.longest_ns),
        time("longest_net_ns", "net", |kind| kind.sum.longest_net_ns),
        data("histogram", |kind| json!(kind.sum.histogram)),
        data("places", |kind| rows(&places(kind))),
        data(
            "longest",
            |kind| json!({ "above_ns": kind.longest.above_ns, "owners": rows(&of_owners(&kind.longest)) }),
        ),
    ];
    Table::new("kinds", "", &fields, &findings.kinds)
}

fn title(kind: &str) -> String {
    kind.replace("-off", " off")
        .replace("higher-priority", "higher priority")
}

/// A bar grows by equal steps as the count doubles.
fn histogram(buckets: &[LengthBucket]) -> Vec<String> {
    let doublings = |n: u64| u64::BITS - n.leading_zeros();
    let most = buckets.iter().map(|b| doublings(b.count)).max().unwrap_or(0).max(1);
    let line = |bucket: &LengthBucket| {
        let bar = (doublings(bucket.count) as usize * BAR).div_ceil(most as usize);
        format!(
            "{:>10}..{:<8}{:>14}  {}",
            micros(bucket.from_ns),
            micros(bucket.below_ns),
            grouped(bucket.count),
            "█".repeat(bar)
        )
        .trim_end()
        .to_string()
    };
    buckets.iter().map(line).collect()
}

/// The longest of a kind, by owner; by function if none was long enough to be kept.
fn longest(kind: &OfKind, told: usize, style: Style) -> Vec<String> {
    let mut lines = vec![
        String::new(),
        style.bold(&format!("{}, the longest", title(kind.sum.kind))),
    ];
    if kind.longest.owners.is_empty() {
        lines.extend(figures(&places(kind), WIDTH));
        return lines;
    }
    lines.extend(owners(&kind.longest, told));
    lines
}

/// Sections by the functions that began and ended them.
pub(super) fn places(kind: &OfKind) -> Table {
    let fields = [
        field(ColumnKind::Time, "longest_ns", "longest", |place: &SectionGroup| {
            place.longest_ns
        }),
        field(ColumnKind::Time, "longest_net_ns", "net", |place: &SectionGroup| {
            place.longest_net_ns
        }),
        field(ColumnKind::Count, "count", "times", |place: &SectionGroup| place.count),
        from_to(|place: &SectionGroup| named(&place.from, &place.to, None)),
        field(ColumnKind::Text, "kind", "kind", |place: &SectionGroup| place.kind).programs(),
        field(ColumnKind::Text, "from", "from", |place: &SectionGroup| {
            place.from.clone()
        })
        .programs(),
        field(ColumnKind::Text, "to", "to", |place: &SectionGroup| place.to.clone()).programs(),
        field(ColumnKind::Text, "in_helper", "in a helper", |place: &SectionGroup| {
            place.in_helper
        })
        .programs(),
        field(ColumnKind::Time, "total_ns", "in all", |place: &SectionGroup| {
            place.total_ns
        })
        .programs(),
        field(ColumnKind::Percent(1), "share", "share", |place: &SectionGroup| {
            place.share
        })
        .programs(),
    ];
    Table::new("places", "", &fields, &kind.places)
}

/// The functions that began and ended sections, in one text.
pub(super) fn from_to<S>(text: impl Fn(&S) -> String + 'static) -> TableField<S> {
    field(ColumnKind::Text, "from_to", "from -> to", text)
}

/// The columns of an owner's sections, all but the last: [`from_to`].
pub(super) fn owner_columns() -> Vec<TableField<Top>> {
    let programs = |key: &str, value: fn(&Top) -> TableValue| field(ColumnKind::Text, key, key, value).programs();
    vec![
        field(ColumnKind::Time, "longest_ns", "longest", |top: &Top| {
            top.longest.length_ns
        }),
        field(ColumnKind::Time, "longest_net_ns", "net", |top: &Top| {
            top.longest_net_ns
        }),
        field(ColumnKind::Count, "times", "times", |top: &Top| top.times),
        programs("from", |top| top.from.clone().into()),
        programs("to", |top| top.to.clone().into()),
        programs("inside", |top| top.inside.clone().into()),
        programs("total_ns", |top| top.total_ns.into()),
        programs("longest", |top| json!(top.longest).into()),
        programs("counted", |top| json!(top.longest.counted()).into()),
    ]
}

pub(super) fn of_owners(list: &TopList) -> Table {
    let mut fields = owner_columns();
    fields.push(from_to(|top: &Top| named(&top.from, &top.to, top.inside.as_deref())));
    Table::new("owners", "", &fields, &list.owners)
}

/// A list of owners; the first `told` have the details of their longest section.
pub fn owners(list: &TopList, told: usize) -> Vec<String> {
    let below = |nth: usize, indent| match nth < told {
        true => details(&list.owners[nth].longest, indent),
        false => Vec::new(),
    };
    let mut lines = figures_with(&of_owners(list), below);
    lines.push(format!(
        "times: of the sections longer than {} us",
        micros(list.above_ns)
    ));
    lines
}

/// The text for an owner.
pub fn named(from: &str, to: &str, inside: Option<&str>) -> String {
    let inside = inside.map_or(String::new(), |name| format!(", in {name}"));
    format!("{from} -> {to}{inside}")
}

/// Call chain and functions of one section.
pub fn details(owned: &OwnedSection, indent: usize) -> Vec<String> {
    let shown = if owned.inside.is_some() {
        &owned.common
    } else {
        &owned.chain
    };
    let lead = format!("{:indent$}in {}: ", "", plain(&owned.task.named()));
    let mut lines = chained(&lead, indent, shown);
    if owned.irregular {
        lines.push(format!("{:indent$}returns fit no frame: the chain may be wrong", ""));
    }
    for other in &owned.waited_for {
        lines.extend(elsewhere(indent, "it waited; meanwhile", other));
    }
    lines.extend(shares(indent, owned.length_ns, &owned.functions, &owned.lines));
    lines.extend(owned.counted().into_iter().flat_map(|work| counted_work(indent, work)));
    lines
}

/// What decides the length of a section that does counted work.
pub(super) fn counted_work(indent: usize, work: LoadCounted) -> Vec<String> {
    let text = format!(
        "{} takes longer with the number of {}, which the load decides",
        work.function, work.what
    );
    wrapped(&format!("{:indent$}counted work: ", ""), &text)
}

fn path(findings: &Findings, style: Style) -> Vec<String> {
    let line = |what: &str, spread: &Option<TimeSpread>| match spread {
        Some(s) => format!(
            "  {what:<38}{:>9} samples: {} (median), {} to {}",
            grouped(s.count),
            micros(s.median_ns),
            micros(s.min_ns),
            micros(s.max_ns)
        ),
        None => format!("  {what:<38}{:>9} samples", 0),
    };
    vec![
        style.bold("wake-up path"),
        line("after a section of 1000 instructions", &findings.path.in_sections),
        line("of samples that met none", &findings.path.elsewhere),
    ]
}

fn tail(tail: &CensusTail, style: Style) -> Vec<String> {
    let mut lines = vec![style.bold("samples above, expected by the census and seen")];
    if tail.rows.is_empty() {
        lines.extend(tail.why_not.iter().flat_map(|why| wrapped("  not compared: ", why)));
        return lines;
    }
    lines.extend(figures(&tail_rows(tail), WIDTH));
    let test = format!("(exact Poisson test, Holm's correction, level {LEVEL})");
    match (&tail.why_not, tail.agrees) {
        (Some(why), _) => lines.extend(wrapped("cannot tell: ", why)),
        (None, Some(true)) => lines.push(format!("they agree {test}")),
        (None, _) => lines.push(format!("THEY DO NOT AGREE {test}")),
    }
    if tail.rows.iter().any(|r| r.in_step) {
        lines.extend(wrapped(
            "",
            "in step: long sections recur with the period, so that samples meet them in a row or miss them; \
             compared with all phases that the samples could have had",
        ));
    }
    if tail.elsewhere_ns.0 > 0 {
        let behind = tail.elsewhere_behind.as_ref();
        let behind = behind.map_or(String::new(), |name| {
            format!(", the latest behind one that ended in {name}")
        });
        let latest = micros(tail.elsewhere_ns);
        lines.extend(wrapped(
            "",
            &format!("up to {latest} us nothing is compared: so late are samples that met no long section{behind}"),
        ));
    }
    lines
}

/// The expected and the seen number of samples above each latency.
pub(super) fn tail_rows(tail: &CensusTail) -> Table {
    let fields = [
        field(ColumnKind::Time, "above_ns", "us", |row: &TailRow| row.above_ns),
        field(ColumnKind::Number(1), "expected", "expected", |row: &TailRow| {
            row.expected
        }),
        field(ColumnKind::Count, "seen", "seen", |row: &TailRow| row.seen),
        field(ColumnKind::Number(3), "p", "p", |row: &TailRow| row.p),
        field(ColumnKind::Text, "in_step", "", |row: &TailRow| {
            TableValue::in_words(if row.in_step { "in step" } else { "" }, row.in_step)
        }),
        field(ColumnKind::Number(2), "dispersion", "dispersion", |row: &TailRow| {
            row.dispersion
        })
        .programs(),
        field(ColumnKind::Text, "can_tell", "can tell", |row: &TailRow| row.can_tell).programs(),
    ];
    Table::new("tail", "", &fields, &tail.rows)
}
