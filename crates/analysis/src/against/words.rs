//! Judgements in words.

use super::place::HostPlace;
use super::{Confrontation, HostSide, Judgement, LabAnswer, LabPath, LabPathKind, NotSeenReason};
use worstcase_base::format::{grouped, micros};
use worstcase_contract::Nanos;

/// A judgement in words.
pub(crate) fn of(judged: &Judgement, kind: Option<LabPathKind>, place: &HostPlace<'_>, machine: &HostSide) -> String {
    let known = judged.longest.as_ref().zip(judged.allows_ns);
    let (Some((longest, allows)), Some(kind)) = (known, kind) else {
        return match judged.why {
            Some(NotSeenReason::NoPath) => "no path is named".into(),
            _ => "not seen in the lab: no such path at all".into(),
        };
    };
    match (judged.answer, &judged.lab) {
        (LabAnswer::Agrees, Some(path)) if kind == LabPathKind::WakeUpPath => {
            format!("agrees: the whole path is up to {} in the lab", instructions(path))
        }
        (LabAnswer::Agrees, Some(path)) => format!("agrees: {} in the lab, {}", instructions(path), path.at),
        (LabAnswer::Longer, _) => {
            let place = match judged.is_at_place || *place == HostPlace::Nothing {
                true => "",
                false => "; the lab has none at this place",
            };
            format!(
                "longer here than the lab's longest such {} allows ({}{}, {}{place}): not this path, the CPU was stopped or slowed; {}",
                noun(kind),
                instructions(longest),
                at(kind, longest),
                most(longest, allows, machine),
                steal(machine)
            )
        }
        _ => format!("not seen in the lab: {}", why(judged, kind, longest, allows, machine)),
    }
}

fn why(judged: &Judgement, kind: LabPathKind, longest: &LabPath, allows: Nanos, machine: &HostSide) -> String {
    let most = format!(
        "the longest {} there is {}, {}",
        noun(kind),
        instructions(longest),
        most(longest, allows, machine)
    );
    match &judged.why {
        Some(NotSeenReason::NoPath) => format!("no path is named; {most}"),
        Some(NotSeenReason::ShorterAtPlace) => {
            let here = judged.lab.as_ref().map_or(String::new(), |path| {
                format!(
                    "{}, at most {} us",
                    instructions(path),
                    micros(machine.at_most(path.instructions))
                )
            });
            format!("at this place up to {here}; {most}")
        }
        Some(NotSeenReason::OtherCpus) => format!(
            "{most}; longer here only with a wait for a lock that other CPUs hold, which a machine with fewer CPUs does not show"
        ),
        Some(NotSeenReason::Grows(what)) => format!("it grows with {what}; {most}"),
        Some(NotSeenReason::OtherCode(function)) => format!("its kernel has no {function}"),
        Some(NotSeenReason::OtherProgram(program)) => format!("{program} is not of the load"),
        Some(NotSeenReason::OtherModel) => "its kernel has another preemption model in force".into(),
        Some(NotSeenReason::NoneOfKind) => "no such path at all".into(),
        Some(NotSeenReason::NotAtPlace) | None => format!("not at this place; {most}"),
    }
}

fn noun(kind: LabPathKind) -> &'static str {
    match kind {
        LabPathKind::InterruptsOff => "section with interrupts off",
        LabPathKind::NonPreemptible => "non-preemptible section",
        LabPathKind::HigherPriority => "thread",
        LabPathKind::WakeUpPath => "wake-up path",
    }
}

fn at(kind: LabPathKind, path: &LabPath) -> String {
    match kind {
        LabPathKind::WakeUpPath => String::new(),
        _ => format!(", {}", path.at),
    }
}

fn instructions(path: &LabPath) -> String {
    format!("{} instructions", grouped(path.instructions.0))
}

fn most(path: &LabPath, allows: Nanos, machine: &HostSide) -> String {
    let own = match machine.at_most(path.instructions) == allows {
        true => "",
        false => " with the cell's median",
    };
    format!("at most {} us{own}", micros(allows))
}

/// The record's stolen time in words.
fn steal(machine: &HostSide) -> String {
    match machine.steal_ns {
        Some(steal) => format!("steal of this record: {} us", micros(steal)),
        None => "steal is not counted here".into(),
    }
}

/// What the lab says of the cause, in a sentence.
pub fn summary(told: &Confrontation) -> String {
    let Some((span, judged)) = told.of_cause() else {
        return "The breakdown blames nothing.".into();
    };
    let (length, title) = (micros(span.length_ns), span.what.name().title);
    let place = HostPlace::of(span).words();
    format!("{length} us, {title}{place}: {}.", judged.words)
}
