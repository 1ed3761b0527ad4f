//! A breakdown of this machine against the lab, for the terminal, for pages and for programs.

use super::terminal::{self, describe};
use crate::style::{Style, cut, within, wrapped};
use worstcase_analysis::against::{Confrontation, Judgement, LabAnswer, NotSeenReason, summary};
use worstcase_base::format::{counted, grouped, micros, micros_exact, plain};

/// Width of the spans' names.
const SPAN: usize = 34;

/// One, span by span.
pub fn terminal(told: &Confrontation, style: Style) -> String {
    let mut out = heading(told, style);
    out.extend(wrapped("explained as: ", &told.breakdown.cause().sentence));
    out.extend(wrapped("against the lab: ", &summary(told)));
    out.push(String::new());
    out.push(format!(
        "{:>11} {:>11}  {:<SPAN$} {:>12} {:>11}  the lab",
        "from", "takes", "span", "instructions", "at most"
    ));
    for (span, judged) in told.breakdown.spans().iter().zip(&told.judgements) {
        let name = within(&plain(&describe(span)), SPAN);
        let compared = judged.lab.as_ref();
        let compared = compared.map_or(String::new(), |path| grouped(path.instructions.0));
        let allows = judged.allows_ns.map_or(String::new(), micros);
        out.push(cut(&format!(
            "{:>11} {:>11}  {name:<SPAN$} {compared:>12} {allows:>11}  {}",
            micros_exact(span.start_ns),
            micros_exact(span.length_ns),
            in_short(judged)
        )));
    }
    out.push(String::new());
    out.extend(legend(told));
    out.push(String::new());
    out.join("\n")
}

/// Several in short, the counts first.
pub fn several(all: &[Confrontation], style: Style) -> String {
    let count = |answer| {
        let of_cause = all.iter().filter_map(Confrontation::of_cause);
        of_cause.filter(|(_, judged)| judged.answer == answer).count()
    };
    let mut out = vec![format!(
        "{} against the lab, by what is blamed: {} longer than it allows, {} agree, {} not seen there",
        counted(all.len() as u64, "sample"),
        count(LabAnswer::Longer),
        count(LabAnswer::Agrees),
        count(LabAnswer::NotSeen)
    )];
    for told in all {
        out.push(String::new());
        out.extend(heading(told, style).into_iter().filter(|line| !line.is_empty()));
        out.extend(wrapped("  explained as: ", &told.breakdown.cause().sentence));
        out.extend(wrapped("  against the lab: ", &summary(told)));
    }
    if let Some(first) = all.first() {
        let slowest = format!(
            "at {}, the slowest that was measured without an exit to the hypervisor",
            rate(first)
        );
        out.push(String::new());
        out.extend(wrapped("at most: ", &slowest));
    }
    out.push(String::new());
    out.join("\n")
}

/// One for programs; times in ns.
pub fn json(told: &Confrontation) -> String {
    serde_json::to_string_pretty(told).expect("a confrontation is plain data") + "\n"
}

/// Several for programs.
pub fn json_of_several(all: &[Confrontation]) -> String {
    serde_json::to_string_pretty(all).expect("confrontations are plain data") + "\n"
}

fn heading(told: &Confrontation, style: Style) -> Vec<String> {
    let (sample, lab) = (told.breakdown.sample(), &told.lab);
    let cpus = |count: u32| counted(count.into(), "CPU");
    let steal = match told.machine.steal_ns {
        Some(steal) => format!("{} us", micros(steal)),
        None => "not counted".into(),
    };
    vec![
        terminal::heading(sample, " late", style),
        plain(&format!(
            "against {} under {} in the lab: {} of {}, {} ({} here); steal here: {steal}",
            lab.subject,
            lab.load,
            counted(lab.cells.len() as u64, "cell"),
            lab.run,
            cpus(lab.cpus),
            told.machine.cpus
        )),
        String::new(),
    ]
}

/// The upper rate, as in `2.2 ns an instruction`.
fn rate(told: &Confrontation) -> String {
    format!("{} ns an instruction", told.ns_per_instruction)
}

/// What the columns mean.
fn legend(told: &Confrontation) -> Vec<String> {
    let text = format!(
        "instructions: the lab's longest such path at this place, else anywhere under this load. at most (us): the longest anywhere \
         at {}, the slowest that was measured without an exit to the hypervisor; for the wake-up path, interrupts and waits for them plus the \
         cell's median here.",
        rate(told)
    );
    wrapped("", &text)
}

/// An answer in a few words.
fn in_short(judged: &Judgement) -> String {
    let why = match (judged.answer, &judged.why) {
        (LabAnswer::Agrees, _) => return "agrees".into(),
        (LabAnswer::Longer, _) => return "longer: not this path".into(),
        (_, Some(NotSeenReason::NoPath)) => return "no path is named".into(),
        (_, Some(NotSeenReason::NotAtPlace)) => "not at this place",
        (_, Some(NotSeenReason::ShorterAtPlace)) => "shorter at this place",
        (_, Some(NotSeenReason::OtherCpus)) => "perhaps other CPUs",
        (_, Some(NotSeenReason::Grows(_))) => "grows with the work",
        (_, Some(NotSeenReason::OtherCode(_))) => "code it has not",
        (_, Some(NotSeenReason::OtherProgram(_))) => "another program",
        (_, Some(NotSeenReason::OtherModel)) => "other preemption",
        (_, Some(NotSeenReason::NoneOfKind) | None) => return "not seen".into(),
    };
    format!("not seen: {why}")
}
