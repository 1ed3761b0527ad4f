//! The longest sections with their call chains: the functions that began and ended them, and the code that ran in them.
//!
//! An address says little where a lock's function began a section. So the longest sections are replayed, and each is
//! named by the first function on its call chain that is no helper; sections with equal names are one entry. The name of
//! a section that began where the kernel was entered also says what the section did.

use super::cell_census::CellCensus;
use super::places::function;
use crate::breakdown::frames::{self, CodeNames};
use crate::breakdown::lines::SourceLines;
use crate::breakdown::others::OtherCpuFinder;
use crate::breakdown::roles;
use crate::breakdown::shares::{CallChainShares, place};
use crate::breakdown::sources::Sources;
use crate::breakdown::spans::{FunctionShare, KernelTask, LineShare, OtherCpu};
use crate::breakdown::stacks::{FrameKind, StackFrame};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use worstcase_contract::Nanos;
use worstcase_contract::census::Kind;
use worstcase_contract::census::log::{LONG, Section};
use worstcase_lab::execution::Execution;

/// The number of sections of a kind that are replayed: most for the kind that delays a wake-up.
fn replayed(kind: Kind) -> usize {
    match kind {
        Kind::NonPreemptible => 100,
        Kind::InterruptsOff | Kind::PreemptionOff | Kind::HigherPriority => 30,
    }
}

/// One section with its owner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnedSection {
    /// The function that began it; for a thread above the probe, the thread's name.
    pub from: String,
    /// The function that ended it.
    pub to: String,
    /// For a section that began where the kernel was entered, or that ended in another thread than it began: the
    /// innermost function in which most of it was spent.
    pub inside: Option<String>,
    /// The section's length.
    pub length_ns: Nanos,
    /// Net of interrupts and soft interrupts in it.
    pub(crate) net_ns: Nanos,
    /// Instructions completed when it began.
    pub start: u64,
    /// The thread that began it.
    pub task: KernelTask,
    /// The call chain at its beginning, outermost first.
    pub chain: Vec<StackFrame>,
    /// The call chain that most of it has in common, outermost first.
    pub common: Vec<StackFrame>,
    /// The functions that took most of it in themselves.
    pub functions: Vec<FunctionShare>,
    /// The lines that took most of it in themselves, if the source is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LineShare>,
    /// What other CPUs did while this one waited for them in the section, until the last wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waited_for: Vec<OtherCpu>,
    /// Whether returns fit no frame, so that the chain may be wrong.
    pub irregular: bool,
}

/// Sections of one owner among the longest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Top {
    /// The function that began the sections.
    pub from: String,
    /// The function that ended the sections.
    pub to: String,
    /// See [`OwnedSection::inside`].
    pub inside: Option<String>,
    /// How many of the longest sections have this owner.
    pub times: u64,
    /// All of these together.
    pub total_ns: Nanos,
    /// The longest net of interrupts and soft interrupts.
    pub longest_net_ns: Nanos,
    /// The longest.
    pub longest: OwnedSection,
}

/// The name that tells owners apart: the function that began a section, the function that ended it, what the
/// section did.
pub type OwnerName<'a> = (&'a str, &'a str, Option<&'a str>);

impl Top {
    fn of(section: OwnedSection) -> Top {
        Top {
            from: section.from.clone(),
            to: section.to.clone(),
            inside: section.inside.clone(),
            times: 1,
            total_ns: section.length_ns,
            longest_net_ns: section.net_ns,
            longest: section,
        }
    }

    /// The name that tells this owner from others.
    pub fn name(&self) -> OwnerName<'_> {
        (&self.from, &self.to, self.inside.as_deref())
    }

    /// Adds another list's sections of the same owner.
    pub fn add(&mut self, other: &Top) {
        self.times += other.times;
        self.total_ns = self.total_ns + other.total_ns;
        self.longest_net_ns = self.longest_net_ns.max(other.longest_net_ns);
        if other.longest.length_ns > self.longest.length_ns {
            self.longest = other.longest.clone();
        }
    }
}

/// The longest of a kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TopList {
    /// The owners, the one of the longest section first.
    pub owners: Vec<Top>,
    /// Every section longer than this is in the list.
    pub above_ns: Nanos,
}

/// The longest sections of a kind, longest first, at most [`replayed`].
pub fn longest(taken: &CellCensus, kind: Kind) -> Vec<Section> {
    let mut sections: Vec<Section> = taken.sections(kind).copied().collect();
    sections.sort_by_key(|s| (Reverse(s.length), s.start.0));
    sections.truncate(replayed(kind));
    sections
}

/// The length that no section outside these longest ones exceeds.
pub fn above(taken: &CellCensus, longest: &[Section]) -> Nanos {
    match longest.last() {
        Some(shortest) if longest.len() == replayed(shortest.kind) => taken.time_of(shortest.length),
        _ => taken.time_of(LONG - 1),
    }
}

/// The list of a kind of which nothing was replayed.
pub fn unnamed(taken: &CellCensus, kind: Kind) -> TopList {
    let lengths = taken.census.lengths.iter().filter(|l| l.kind == kind);
    TopList {
        owners: Vec::new(),
        above_ns: taken.time_of(lengths.map(|l| l.length).max().unwrap_or(0)),
    }
}

/// The owner that the replay of a section shows; none if the replay does not hold the section.
pub fn owned(
    execution: &Execution,
    names: &CodeNames,
    lines: &dyn SourceLines,
    section: &Section,
) -> Option<OwnedSection> {
    let (start, end) = (section.start.0, section.start.0 + section.length);
    let walk = frames::walk_with_names(execution, names, &[]);
    let (first, last) = (walk.at(start)?, walk.at(end.checked_sub(1)?)?);
    let owner = |stack| place(&walk, stack, roles::is_helper).0.function;
    // A thread above the probe comes last in the section that it took; the switch to it belongs to the previous
    // thread.
    let named = match section.kind {
        Kind::HigherPriority => last,
        _ => first,
    };
    let within: Vec<_> = walk.within(start, end).collect();
    let shares = CallChainShares::of(&walk, &within);
    let common = shares.common();
    let sources = Sources {
        execution,
        walk: &walk,
        lines,
    };
    let common = common.map_or_else(Vec::new, |id| sources.chain(id, &within));
    let is_entry = |kind| matches!(kind, FrameKind::Syscall | FrameKind::Exception | FrameKind::User);
    let entered = is_entry(walk.stacks.frame(first.stack).kind);
    let another = last.pid != first.pid;
    let tells = |f: &&StackFrame| match f.kind {
        FrameKind::User => another,
        kind => (entered || another) && !roles::is_helper(&f.function) && !is_entry(kind),
    };
    let inside = common.iter().rev().find(tells);
    let comm = execution
        .tasks
        .iter()
        .rev()
        .find(|t| t.pid == named.pid)
        .map(|t| t.comm.clone());
    Some(OwnedSection {
        from: match section.kind {
            Kind::HigherPriority => comm.clone().unwrap_or_default(),
            _ => owner(first.stack),
        },
        to: asking(&function(names.symbols(), section.to)).unwrap_or_else(|| owner(last.stack)),
        inside: inside.map(|f| f.function.clone()),
        length_ns: execution.time_of(section.length),
        net_ns: execution.time_of(section.length.saturating_sub(section.nested)),
        start,
        task: KernelTask {
            pid: named.pid,
            comm: comm.unwrap_or_default(),
        },
        chain: sources.chain(named.stack, &[*named]),
        lines: sources.hottest(&within),
        functions: shares.functions(|n| execution.time_of(n)),
        common,
        waited_for: OtherCpuFinder::of(execution, names.symbols(), lines).waited_for(start..end),
        irregular: walk.irregular > 0,
    })
}

/// The function, if the section ended in one in which soft interrupts leave the rest of their work for later. The
/// instructions behind such a section may not be those that count for it.
fn asking(function: &str) -> Option<String> {
    let asks =
        roles::role(function) == Some(roles::FunctionRole::SoftIrq) || roles::in_source(function) == "rcu_do_batch";
    asks.then(|| function.to_string())
}

/// The replayed sections by owner; every section longer than `above_ns` must be among them.
pub fn list(sections: Vec<OwnedSection>, above_ns: Nanos) -> TopList {
    let mut owners: Vec<Top> = Vec::new();
    for top in sections.into_iter().map(Top::of) {
        match owners.iter_mut().find(|t| t.name() == top.name()) {
            Some(found) => found.add(&top),
            None => owners.push(top),
        }
    }
    owners.sort_by_key(|t| Reverse(t.longest.length_ns));
    TopList { owners, above_ns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breakdown::testing::SyntheticMachine;
    use crate::census::testing::{owned as named, section, taken};

    #[test]
    fn a_section_is_named_by_who_took_the_lock() {
        let mut m = SyntheticMachine::in_user(7, "load");
        m.work(3).syscall().work(2).call("shm_close").work(2);
        m.call("_raw_spin_lock").work(3);
        let start = m.count;
        m.work(2).ret().work(5);
        m.call("free_pages").work(30).calls("clear", 20).ret();
        m.call("_raw_spin_unlock").work(3);
        let end = m.count;
        m.work(1).ret().work(1).ret().sysret().work(1);
        let (execution, symbols) = m.execution();
        let mut wanted = section(Kind::NonPreemptible, start, end - start);
        wanted.nested = 4;
        let found = owned(&execution, &CodeNames::new(&symbols), &(), &wanted).unwrap();
        assert_eq!((found.from.as_str(), found.to.as_str()), ("shm_close", "shm_close"));
        assert_eq!((found.length_ns.0, found.net_ns.0), (end - start, end - start - 4));
        assert_eq!((found.task.comm.as_str(), found.task.pid), ("load", 7));
        let chain: Vec<_> = found.chain.iter().map(|f| f.function.as_str()).collect();
        assert_eq!(
            chain,
            ["[user] load", "entry_SYSCALL_64", "shm_close", "_raw_spin_lock"]
        );
        let first = &found.functions[0];
        assert_eq!((first.function.as_str(), first.self_ns.0), ("free_pages", 32));
        wanted.start.0 += 1_000_000;
        assert_eq!(owned(&execution, &CodeNames::new(&symbols), &(), &wanted), None);
    }

    #[test]
    fn a_section_from_the_kernel_s_entry_on_is_named_by_what_it_did() {
        let mut m = SyntheticMachine::in_user(7, "load");
        m.work(3);
        let start = m.count + 1;
        m.syscall()
            .work(2)
            .call("do_syscall_64")
            .call("vfs_read")
            .calls("copy", 60)
            .work(60)
            .ret();
        m.ret().work(1);
        let end = m.count;
        m.sysret().work(1);
        let (execution, symbols) = m.execution();
        let found = owned(
            &execution,
            &CodeNames::new(&symbols),
            &(),
            &section(Kind::NonPreemptible, start, end - start),
        )
        .unwrap();
        assert_eq!(found.from, "entry_SYSCALL_64");
        assert_eq!(found.inside.as_deref(), Some("vfs_read"));
        let mut other = named(&found.from, &found.to, 9_000);
        other.inside = Some("vfs_write".into());
        assert_eq!(list(vec![found, other], Nanos(0)).owners.len(), 2);
    }

    #[test]
    fn only_the_longest_of_a_kind_are_looked_at() {
        let mut taken = taken();
        for n in 0..150 {
            taken
                .census
                .sections
                .push(section(Kind::NonPreemptible, n * 10_000, 1_000 + n));
            taken
                .census
                .sections
                .push(section(Kind::InterruptsOff, n * 10_000, 9_000));
        }
        let found = longest(&taken, Kind::NonPreemptible);
        assert_eq!((found.len(), found[0].length, found[99].length), (100, 1_149, 1_050));
    }

    #[test]
    fn sections_of_one_owner_are_one_entry() {
        let list = list(
            vec![named("a", "x", 4_000), named("b", "x", 5_000), named("a", "x", 6_000)],
            Nanos(3_999),
        );
        let rows: Vec<_> = list
            .owners
            .iter()
            .map(|t| (t.from.as_str(), t.times, t.total_ns.0))
            .collect();
        assert_eq!(rows, [("a", 2, 10_000), ("b", 1, 5_000)]);
        assert_eq!(
            (list.owners[0].longest.length_ns, list.above_ns),
            (Nanos(6_000), Nanos(3_999))
        );
    }
}
