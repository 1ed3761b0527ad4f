//! The lab's paths: sections of its censuses and spans of its breakdowns, with their lengths and the names of their code.

use super::LabPathKind;
use super::place::{HostPlace, base, thread};
use crate::breakdown::Breakdown;
use crate::breakdown::roles;
use crate::breakdown::spans::{FunctionShare, Span, SpanKind};
use crate::breakdown::stacks::{FrameKind, StackFrame};
use crate::census::findings::Findings;
use crate::census::top::OwnedSection;
use serde::Serialize;
use std::collections::HashSet;
use worstcase_contract::census::Kind;
use worstcase_contract::{Instructions, Nanos};

/// Functions on the way of every system call: to have them in common says nothing.
const WAY_IN: [&str; 3] = ["do_syscall_64", "x64_sys_call", "do_syscall_x64"];

/// A function, with its caller if that is known.
type Call = (String, Option<String>);

/// One path of the lab.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LabPath {
    /// Its length.
    pub instructions: Instructions,
    /// Where it begins and ends, or what it is, in words.
    pub at: String,
    /// Functions, entries or threads that name it.
    #[serde(skip)]
    names: Vec<String>,
    /// What ran in it.
    #[serde(skip)]
    calls: Vec<Call>,
    /// The innermost call that most of it has in common.
    #[serde(skip)]
    common: Option<Call>,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabPaths {
    paths: Vec<(LabPathKind, LabPath)>,
    /// All functions of the lab's kernel.
    functions: HashSet<String>,
}

impl LabPathKind {
    /// The kind that bounds a span.
    pub(crate) fn of(what: &SpanKind) -> Option<LabPathKind> {
        Some(match what {
            SpanKind::IrqsOff { .. } | SpanKind::OtherIrq { .. } | SpanKind::OtherTimer { .. } => {
                LabPathKind::InterruptsOff
            }
            SpanKind::PreemptOff { .. }
            | SpanKind::NoReschedulePoint
            | SpanKind::RunsOn
            | SpanKind::SoftIrq
            | SpanKind::SpinsFor { .. }
            | SpanKind::CallsCpus => LabPathKind::NonPreemptible,
            SpanKind::OtherThread { .. } => LabPathKind::HigherPriority,
            what if what.name().is_path => LabPathKind::WakeUpPath,
            _ => return None,
        })
    }
}

impl LabPaths {
    /// What a cell's census tells; its times are instructions shifted by `shift`.
    pub(crate) fn of_census(found: &Findings, functions: HashSet<String>, shift: u32) -> LabPaths {
        let length = |time: Nanos| Instructions(time.0 >> shift);
        let mut paths = Vec::new();
        let kinds = [
            (Kind::InterruptsOff, LabPathKind::InterruptsOff),
            (Kind::NonPreemptible, LabPathKind::NonPreemptible),
            (Kind::HigherPriority, LabPathKind::HigherPriority),
        ];
        for (kind, own) in kinds {
            let of_kind = found.of_kind(kind);
            for place in &of_kind.places {
                let path = LabPath {
                    instructions: length(place.longest_ns),
                    at: format!("{} -> {}", place.from, place.to),
                    names: vec![place.from.clone(), place.to.clone()],
                    ..LabPath::default()
                };
                // A thread's section is named by its thread, which only its owner tells.
                paths.extend((kind != Kind::HigherPriority).then_some((own, path)));
            }
            for owner in &of_kind.longest.owners {
                paths.push((
                    own,
                    LabPath::of_section(&owner.longest, length(owner.longest.length_ns)),
                ));
            }
        }
        let ways = [found.path.in_sections, found.path.elsewhere];
        paths.extend(ways.into_iter().flatten().map(|way| {
            let path = LabPath {
                instructions: length(way.max_ns),
                at: "the wake-up path".into(),
                ..LabPath::default()
            };
            (LabPathKind::WakeUpPath, path)
        }));
        LabPaths { paths, functions }
    }

    /// Adds what the breakdown of a sample tells.
    pub(crate) fn add_breakdown(&mut self, breakdown: &Breakdown) {
        // The way as a whole comes from the census.
        let told = breakdown.spans().iter().filter(|span| !span.what.name().is_path);
        self.paths.extend(told.filter_map(|span| {
            let kind = LabPathKind::of(&span.what)?;
            Some((kind, LabPath::of_span(span, breakdown.sample().index)?))
        }));
    }

    /// Adds another cell's.
    pub(crate) fn add(&mut self, other: LabPaths) {
        self.paths.extend(other.paths);
        self.functions.extend(other.functions);
    }

    /// The longest of a kind.
    pub(crate) fn longest(&self, kind: LabPathKind) -> Option<&LabPath> {
        self.longest_of(kind, |_| true)
    }

    /// The longest of a kind at a place.
    pub(crate) fn longest_at(&self, kind: LabPathKind, place: &HostPlace<'_>) -> Option<&LabPath> {
        self.longest_of(kind, |path| path.is_at(place))
    }

    fn longest_of(&self, kind: LabPathKind, fits: impl Fn(&LabPath) -> bool) -> Option<&LabPath> {
        let of_kind = self.paths.iter().filter(|(own, _)| *own == kind);
        let fitting = of_kind.map(|(_, path)| path).filter(|path| fits(path));
        fitting.max_by_key(|path| (path.instructions, path.calls.len()))
    }

    /// Whether the lab's kernel has a function.
    pub(crate) fn has(&self, function: &str) -> bool {
        self.functions.contains(base(function))
    }

    /// Whether any path of the lab names a function of this place.
    pub(crate) fn names(&self, place: &HostPlace<'_>) -> bool {
        let wanted: Vec<&str> = match place {
            HostPlace::Function(function, caller, _) => [Some(*function), *caller].into_iter().flatten().collect(),
            _ => return self.paths.iter().any(|(_, path)| path.is_at(place)),
        };
        let is_wanted = |name: &str| wanted.iter().any(|wanted| base(wanted) == base(name));
        self.paths.iter().any(|(_, path)| {
            path.names.iter().any(|name| is_wanted(name)) || path.calls.iter().any(|(own, _)| is_wanted(own))
        })
    }
}

impl LabPath {
    fn of_section(section: &OwnedSection, instructions: Instructions) -> LabPath {
        let inside = section
            .inside
            .as_ref()
            .map_or(String::new(), |inside| format!(", in {inside}"));
        let mut calls = calls(&section.chain);
        calls.extend(self::calls(&section.common));
        calls.extend(shares(&section.functions));
        LabPath {
            instructions,
            at: format!("{} -> {}{inside}", section.from, section.to),
            names: [Some(&section.from), Some(&section.to), section.inside.as_ref()]
                .into_iter()
                .flatten()
                .cloned()
                .collect(),
            common: innermost(&section.common),
            calls,
        }
    }

    /// None for what took no instructions.
    fn of_span(span: &Span, sample: u32) -> Option<LabPath> {
        let mut calls = calls(&span.chain);
        calls.extend(shares(&span.functions));
        let names = match &span.what {
            SpanKind::OtherIrq { entry } => vec![entry.clone()],
            SpanKind::OtherTimer { function } => vec![function.clone()],
            SpanKind::OtherThread { task, .. } => vec![task.comm.clone()],
            SpanKind::IrqsOff { off, on, .. } => {
                [off, on].into_iter().flatten().map(|at| at.function.clone()).collect()
            }
            _ => Vec::new(),
        };
        let common = innermost(&span.chain);
        let within = names.first().or(common.as_ref().map(|(function, _)| function));
        let within = within.map_or(String::new(), |function| format!(": {function}"));
        Some(LabPath {
            instructions: span.instructions?,
            at: format!("{}{within}, sample {sample}", span.what.name().title),
            names,
            calls,
            common,
        })
    }

    /// Whether it is at a place: it begins or ends there, the same function of the same caller ran in it, or what most of it
    /// has in common is on the way to the place.
    fn is_at(&self, place: &HostPlace<'_>) -> bool {
        match place {
            HostPlace::Function(function, caller, chain) => {
                let is_end = self.names.iter().any(|name| base(name) == base(function));
                let is_same = |(own, by): &Call| {
                    let same_caller = || by.as_deref().map(base) == caller.map(base);
                    base(own) == base(function) && caller.is_some() && same_caller()
                };
                let is_around = self.common.as_ref().is_some_and(|common| {
                    calls(chain)
                        .iter()
                        .any(|(own, by)| base(own) == base(&common.0) && same(by.as_deref(), common.1.as_deref()))
                });
                is_end || is_around || self.calls.iter().any(is_same)
            }
            HostPlace::Interrupt(_) => {
                let names = self.names.iter();
                names
                    .chain(self.common.iter().map(|(own, _)| own))
                    .any(|name| place.is_entry(name))
            }
            HostPlace::SoftInterrupt(_) => {
                let mut ran = self.names.iter().chain(self.calls.iter().map(|(own, _)| own));
                ran.any(|name| place.is_entry(name))
            }
            HostPlace::Thread(comm) => self.names.iter().any(|name| thread(name) == thread(comm)),
            HostPlace::Nothing => false,
        }
    }
}

fn same(one: Option<&str>, other: Option<&str>) -> bool {
    one.map(base) == other.map(base)
}

/// Each function of a chain with the one above it.
fn calls(chain: &[StackFrame]) -> Vec<Call> {
    let callers = std::iter::once(None).chain(chain.iter().map(|frame| Some(frame.function.clone())));
    let named = chain.iter().zip(callers);
    named.map(|(frame, caller)| (frame.function.clone(), caller)).collect()
}

fn shares(functions: &[FunctionShare]) -> impl Iterator<Item = Call> {
    let calls = functions.iter();
    calls.map(|share| (share.function.clone(), share.caller.clone()))
}

/// The innermost call of a chain that says what was done.
fn innermost(chain: &[StackFrame]) -> Option<Call> {
    let says = |frame: &StackFrame| {
        let is_code = matches!(
            frame.kind,
            FrameKind::Function | FrameKind::TailCall | FrameKind::Interrupt
        );
        is_code && !roles::is_helper(&frame.function) && !WAY_IN.contains(&frame.function.as_str())
    };
    let at = chain.iter().rposition(says)?;
    calls(chain).into_iter().nth(at)
}
