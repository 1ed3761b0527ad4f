//! Pairs the two sides: first subjects, then their cells.

use super::{CellConditions, CompareError, SeedGroup, Side};
use crate::record::{Subject, SubjectId};
use serde::Serialize;
use worstcase_base::{duration, near};
use worstcase_plan::Arch;
use worstcase_plan::parameters::of_machine;

/// Two subjects, as the user types them: a name or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedSubjects {
    /// The subject of the first side.
    pub a: String,
    /// The subject of the second side.
    pub b: String,
}

impl std::str::FromStr for MappedSubjects {
    type Err = String;
    fn from_str(text: &str) -> Result<MappedSubjects, String> {
        match text.split_once('=') {
            Some((a, b)) if !a.is_empty() && !b.is_empty() => Ok(MappedSubjects {
                a: a.into(),
                b: b.into(),
            }),
            _ => Err("write two subjects as A=B".to_string()),
        }
    }
}

/// One of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ComparedSide {
    /// The first; for a gate the baseline.
    A,
    /// The second; for a gate the run.
    B,
}

/// A cell that is not compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unmatched {
    /// The side that has it; both sides have a cell that was not measured alike.
    pub side: ComparedSide,
    /// Its subject.
    pub subject: SubjectId,
    /// The cell.
    #[serde(flatten)]
    pub how: CellConditions,
    /// Why.
    pub why: String,
}

/// Of a cell whose subject both sides have.
const PAIRED_ELSEWHERE: &str = "the other side's subject of this name is compared with another (--map)";

/// Of a cell that both sides have, and what follows it.
pub(super) const UNLIKE: &str = "not measured alike";

/// Of a cell of A.
pub(super) const NO_SUBJECT: &str = "its subject is not in B";

/// The cells that are compared, and those that are not.
#[derive(Debug)]
pub struct Pairing<'a> {
    /// Cells of both sides.
    pub pairs: Vec<(&'a SeedGroup, &'a SeedGroup)>,
    /// The same of two architectures.
    pub across: Vec<(&'a SeedGroup, &'a SeedGroup)>,
    /// The rest.
    pub unmatched: Vec<Unmatched>,
}

/// Pairs all cells of both sides. With `only`, pairs the mapped subjects alone.
pub fn pair<'a>(a: &'a Side, b: &'a Side, mapped: &[MappedSubjects], only: bool) -> Result<Pairing<'a>, CompareError> {
    let subjects = subjects(a, b, mapped, only)?;
    let mut pairing = Pairing {
        pairs: Vec::new(),
        across: Vec::new(),
        unmatched: Vec::new(),
    };
    for cell in &a.cells {
        let Some((_, other)) = subjects.iter().find(|(of_a, _)| *of_a == cell.subject) else {
            if !only {
                let why = match b.subject(&cell.subject) {
                    Some(_) => PAIRED_ELSEWHERE,
                    None => NO_SUBJECT,
                };
                pairing.unmatched.push(alone(ComparedSide::A, cell, why));
            }
            continue;
        };
        let of_b = || {
            b.cells
                .iter()
                .filter(|c| c.subject == *other && c.how.same_cell(&cell.how))
        };
        match of_b().find(|c| unlike(a, cell, b, c).is_none()).or(of_b().next()) {
            Some(found) => match unlike(a, cell, b, found) {
                None if arch(a, cell) != arch(b, found) => pairing.across.push((cell, found)),
                None => pairing.pairs.push((cell, found)),
                Some(why) => pairing.unmatched.push(alone(ComparedSide::A, cell, &why)),
            },
            None => pairing.unmatched.push(alone(ComparedSide::A, cell, "not in B")),
        }
    }
    for cell in &b.cells {
        let paired = |subject: &SubjectId| subjects.iter().any(|(_, of_b)| of_b == subject);
        let why = match paired(&cell.subject) {
            false if only => continue,
            false if a.subject(&cell.subject).is_some() => PAIRED_ELSEWHERE,
            false => "its subject is not in A",
            true if has_partner(a, cell, &subjects) => continue,
            true => "not in A",
        };
        pairing.unmatched.push(alone(ComparedSide::B, cell, why));
    }
    Ok(pairing)
}

fn arch(side: &Side, cell: &SeedGroup) -> Option<Arch> {
    let machine = side.subject(&cell.subject)?.virtual_machine()?;
    Some(machine.arch())
}

pub(super) fn alone(side: ComparedSide, cell: &SeedGroup, why: &str) -> Unmatched {
    Unmatched {
        side,
        subject: cell.subject.clone(),
        how: cell.how.clone(),
        why: why.to_string(),
    }
}

fn has_partner(a: &Side, cell: &SeedGroup, subjects: &[(SubjectId, SubjectId)]) -> bool {
    let of_cell = subjects.iter().filter(|(_, of_b)| *of_b == cell.subject);
    let mut cells = of_cell.flat_map(|(of_a, _)| a.cells.iter().filter(move |c| c.subject == *of_a));
    cells.any(|c| c.how.same_cell(&cell.how))
}

/// The conditions that differ, in words. A condition that a foreign tool's cell does not tell is no difference, nor is one that
/// a program of the user's own has chosen.
fn unlike(a: &Side, of_a: &SeedGroup, b: &Side, of_b: &SeedGroup) -> Option<String> {
    let venue = |side: &Side, cell: &SeedGroup| side.subject(&cell.subject).map(Subject::venue);
    if venue(a, of_a) != venue(b, of_b) {
        return Some("virtual time on one side, real time on the other".to_string());
    }
    let (x, y) = (&of_a.how, &of_b.how);
    let foreign = a.is_foreign(&of_a.subject) || b.is_foreign(&of_b.subject);
    let program = x.is_of_program() && y.is_of_program();
    let long = |n| duration::show(n);
    let differences = [
        (
            "period",
            long(x.period),
            long(y.period),
            x.period.0 > 0 && y.period.0 > 0,
            !x.nearly_as_often(y),
        ),
        (
            "periods",
            x.periods.to_string(),
            y.periods.to_string(),
            !x.nearly_as_long(y),
            !x.nearly_as_long(y),
        ),
        ("warm-up", long(x.warmup), long(y.warmup), false, false),
        (
            "priority",
            x.priority.to_string(),
            y.priority.to_string(),
            x.priority > 0 && y.priority > 0,
            false,
        ),
        (
            "method",
            method(x),
            method(y),
            x.method.is_some() && y.method.is_some(),
            false,
        ),
    ];
    let differs = |(_, x, y, of_foreign, of_program): &(&str, String, String, bool, bool)| {
        x != y && (*of_foreign || !foreign) && (*of_program || !program)
    };
    let (what, x, y, ..) = differences.into_iter().find(differs)?;
    Some(format!("{UNLIKE}: {what} {x} against {y}"))
}

fn method(how: &CellConditions) -> String {
    how.method.as_ref().map_or("-".to_string(), |m| {
        let cpus: Vec<String> = m.cpus.iter().map(u32::to_string).collect();
        let gaps = m
            .threshold_ns
            .map_or(String::new(), |ns| format!(", gaps from {ns} ns"));
        format!(
            "{} {} on CPUs {}, {} ns apart{gaps}",
            m.timer,
            m.policy,
            cpus.join(","),
            m.distance_ns
        )
    })
}

/// Subjects: as mapped; the only one on each side; of one name; alike in all but the kernel.
fn subjects(
    a: &Side,
    b: &Side,
    mapped: &[MappedSubjects],
    only: bool,
) -> Result<Vec<(SubjectId, SubjectId)>, CompareError> {
    let mut pairs = Vec::new();
    for MappedSubjects { a: of_a, b: of_b } in mapped {
        pairs.push((named(a, of_a)?, named(b, of_b)?));
    }
    if only {
        return Ok(pairs);
    }
    if let ([x], [y]) = (&a.subjects[..], &b.subjects[..]) {
        return Ok(vec![(x.id(), y.id())]);
    }
    let rules: [fn(&Subject, &Subject) -> bool; 2] = [|x, y| x.id() == y.id(), alike];
    for rule in rules {
        let free_a: Vec<&Subject> = a
            .subjects
            .iter()
            .filter(|s| !pairs.iter().any(|p| p.0 == s.id()))
            .collect();
        let free_b: Vec<&Subject> = b
            .subjects
            .iter()
            .filter(|s| !pairs.iter().any(|p| p.1 == s.id()))
            .collect();
        for x in &free_a {
            let partners: Vec<&&Subject> = free_b.iter().filter(|y| rule(x, y)).collect();
            // If two would fit, a choice is a guess, and a comparison must not rest on a guess.
            if let [y] = partners[..]
                && free_a.iter().filter(|other| rule(other, y)).count() == 1
            {
                pairs.push((x.id(), y.id()));
            }
        }
    }
    Ok(pairs)
}

/// Whether two subjects are alike in all but the kernel, and the usual CPU of its architecture.
fn alike(x: &Subject, y: &Subject) -> bool {
    let asked = |s: &Subject| s.preempt.asked.clone().unwrap_or(s.preempt.in_force.clone());
    let machine = |s: &Subject| {
        let mut machine = s.virtual_machine()?.clone();
        if machine.cpu == machine.arch().usual_cpu() {
            machine.set_arch(Arch::default());
        }
        Some(machine)
    };
    asked(x) == asked(y) && machine(x) == machine(y)
}

/// The subject of this name, or the only one whose name has these words.
fn named(side: &Side, text: &str) -> Result<SubjectId, CompareError> {
    match candidates(side, text)?[..] {
        [one] => Ok(one.id()),
        ref several => Err(CompareError::SeveralSubjects {
            text: text.to_string(),
            known: near::few_of(&names(several)),
        }),
    }
}

/// All subjects that a text may stand for; at least one.
fn candidates<'a>(side: &'a Side, text: &str) -> Result<Vec<&'a Subject>, CompareError> {
    let ids: Vec<String> = side.subjects.iter().map(|subject| subject.id().to_string()).collect();
    let meant = near::meant(text, &ids);
    let of = |id: &&String| {
        side.subjects
            .iter()
            .find(|subject| subject.id().as_str() == id.as_str())
    };
    match meant.is_empty() {
        false => Ok(meant.iter().filter_map(of).collect()),
        true => Err(CompareError::UnknownSubject {
            text: text.to_string(),
            known: near::few_of(&near::nearest_first(text, ids)),
        }),
    }
}

fn names(subjects: &[&Subject]) -> Vec<String> {
    subjects.iter().map(|subject| subject.id().to_string()).collect()
}

/// The subject of `a` and the one of `b` that two texts name: of several that they may stand for the two that differ in
/// least else, if only two do.
pub fn chosen(a: &Side, b: &Side, of_a: &str, of_b: &str) -> Result<MappedSubjects, CompareError> {
    let (of_a_all, of_b_all) = (candidates(a, of_a)?, candidates(b, of_b)?);
    let pairs = of_a_all.iter().flat_map(|x| of_b_all.iter().map(move |y| (*x, *y)));
    let mut pairs: Vec<(usize, &Subject, &Subject)> = pairs.map(|(x, y)| (differences(x, y), x, y)).collect();
    // A subject and itself, where both texts may stand for it, are no comparison, unless nothing else is there.
    if pairs.iter().any(|(number, ..)| *number > 0) {
        pairs.retain(|(number, ..)| *number > 0);
    }
    let least = pairs.iter().map(|(number, ..)| *number).min();
    pairs.retain(|(number, ..)| Some(*number) == least);
    match pairs[..] {
        [(_, x, y)] => Ok(MappedSubjects {
            a: x.id().to_string(),
            b: y.id().to_string(),
        }),
        _ => {
            let told: Vec<String> = pairs
                .iter()
                .map(|(_, x, y)| format!("{} and {}", x.id(), y.id()))
                .collect();
            Err(CompareError::SeveralPairs {
                of_a: of_a.to_string(),
                of_b: of_b.to_string(),
                number: pairs.len(),
                pairs: near::few_of(&told),
            })
        }
    }
}

/// In how much two subjects differ: kernel, preemption model, each parameter of the machine.
fn differences(x: &Subject, y: &Subject) -> usize {
    let asked = |s: &Subject| s.preempt.asked.clone().unwrap_or(s.preempt.in_force.clone());
    let parameters = match (x.virtual_machine(), y.virtual_machine()) {
        (Some(x), Some(y)) => of_machine()
            .filter(|(_, field)| (field.get)(x) != (field.get)(y))
            .count(),
        _ => usize::from(x.machine != y.machine),
    };
    usize::from(x.kernel.label != y.kernel.label) + usize::from(asked(x) != asked(y)) + parameters
}
