//! Entries into a CPU of this machine, in names: causes, senders, remedies, and whether they are few enough.
//!
//! ```text
//! addresses (worstcase-host) ──words──> cause, sender ──remedies──> what to do ──verdict──> PASS, FAIL, INCONCLUSIVE
//! ```

mod remedies;
#[cfg(test)]
mod tests;
mod verdict;
mod words;

pub use verdict::Judgement;
pub use words::KINDS;

use serde::Serialize;
use std::collections::BTreeMap;
use words::AddressNames;
use worstcase_base::format::{counted, grouped};
use worstcase_contract::Nanos;
use worstcase_host::CpuList;
use worstcase_host::isolate::{CpuEntries, DurationFigures, ObservedEntries, Smis};
use worstcase_lab::execution::Symbols;

/// The settings of the machine that decide why an entry came, and which remedy helps.
#[derive(Clone, Debug, Default)]
pub struct IsolatedMachine {
    /// CPUs without a tick while one task runs; none if this kernel cannot do that.
    pub tickless: Option<CpuList>,
    /// CPUs that the scheduler balances nothing to.
    pub isolated: CpuList,
    /// The kernel's release.
    pub release: String,
}

/// One line of a CPU's table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EntryLine {
    /// The name that `--exclude` uses.
    pub kind: &'static str,
    /// The cause as readers see it.
    pub cause: String,
    /// The function, device or thread in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The sender as readers see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_by: Option<String>,
    /// The call chain of the first sender, innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<String>,
    /// The number of entries; none if only their time is known.
    pub count: Option<u64>,
    /// All of its time, without what interrupted it; none if it is not known.
    pub total_ns: Option<u64>,
    /// The longest.
    pub worst_ns: Option<u64>,
    /// The remedy against the cause.
    pub remedy: String,
    /// The verdict leaves this line out.
    pub is_excluded: bool,
}

/// The entries of one CPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IsolatedCpu {
    /// The CPU.
    pub cpu: u32,
    /// The sentence on top.
    pub sentence: String,
    /// The name of the program to which the CPU belonged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The CPU's program is a thread of worstcase.
    pub is_occupied: bool,
    /// How often the CPU left its program.
    pub entries: u64,
    /// The entries without those that hold only excluded causes.
    pub judged: u64,
    /// Most entries first.
    pub lines: Vec<EntryLine>,
    /// How often the kernel checked whether the tick can stop, by the dependency that needed it.
    pub tick: BTreeMap<&'static str, u64>,
    /// Events that the kernel could not keep.
    pub lost: u64,
    /// Interrupts of the firmware; none if they are not known.
    pub smis: Option<u64>,
    /// Why they are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smis_not_known: Option<String>,
    /// Time that the hypervisor took, where it says so.
    pub stolen_ns: Option<u64>,
}

/// The entries of the CPUs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IsolationAnswer {
    /// The kernel's release.
    pub kernel: String,
    /// When counting began, on CLOCK_MONOTONIC.
    pub began_ns: u64,
    /// The observation time.
    pub time_ns: u64,
    /// The observation ended earlier than asked for.
    pub is_ended_early: bool,
    /// The judgement, if a criterion was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Judgement>,
    /// Each CPU.
    pub cpus: Vec<IsolatedCpu>,
    /// Facts that a reader must know about the answer.
    pub notes: Vec<String>,
}

/// Gives names to the observed entries, and judges them: each CPU may have at most `criterion` entries, not
/// counting those `excluded`.
pub fn answer(
    observed: &ObservedEntries,
    names: &Symbols,
    machine: &IsolatedMachine,
    criterion: Option<u64>,
    excluded: &[String],
) -> IsolationAnswer {
    let words = AddressNames {
        names,
        chains: &observed.chains,
    };
    let of = |cpu: &CpuEntries| of_cpu(cpu, &words, machine, observed.time, excluded);
    let cpus: Vec<IsolatedCpu> = observed.cpus.iter().map(of).collect();
    let mut notes = observed.notes.clone();
    if observed.uses_probes {
        notes.push(
            "before Linux 6.5 senders are told by probes in the kernel's functions (kprobes); of a call to several CPUs it is inferred which took it".into(),
        );
    }
    if !observed.tells_callers {
        notes.push(
            "this kernel does not tell who calls functions on other CPUs (tracepoints csd:*, from Linux 6.5 on; before, kprobes)".into(),
        );
    }
    if !observed.tells_senders {
        notes.push(
            "this kernel does not tell who sends reschedule interrupts (tracepoints ipi:*, from Linux 6.4 on; before, kprobes)".into(),
        );
    }
    for cpu in without_program(observed, &cpus) {
        notes.push(format!(
            "the named program did not run on CPU {cpu}: whatever ran there is an entry"
        ));
    }
    IsolationAnswer {
        kernel: machine.release.clone(),
        began_ns: observed.began.0,
        time_ns: observed.time.0,
        is_ended_early: observed.is_ended_early,
        judgement: criterion.map(|most| verdict::judge(observed, &cpus, most, excluded)),
        cpus,
        notes,
    }
}

/// CPUs on which the named program did not run.
fn without_program<'a>(observed: &'a ObservedEntries, cpus: &'a [IsolatedCpu]) -> impl Iterator<Item = u32> + 'a {
    let without = cpus
        .iter()
        .filter(|cpu| observed.is_program_named && cpu.program.is_none());
    without.map(|cpu| cpu.cpu)
}

fn of_cpu(
    on: &CpuEntries,
    words: &AddressNames<'_>,
    machine: &IsolatedMachine,
    time: Nanos,
    excluded: &[String],
) -> IsolatedCpu {
    let mut lines: Vec<EntryLine> = Vec::new();
    let mut firsts: Vec<u64> = Vec::new();
    let mut places = Vec::with_capacity(on.rows.len());
    for row in &on.rows {
        let told = words.cause(&row.cause);
        let sent_by = row.sender.and_then(|sender| words.sender(sender));
        let same = |line: &EntryLine| line.cause == told.text && line.sent_by == sent_by;
        let place = lines.iter().position(same).unwrap_or_else(|| {
            lines.push(EntryLine {
                kind: told.kind,
                remedy: remedies::remedy(&told, row.sender.map(|s| words.chain(s)).as_deref(), on, machine),
                cause: told.text,
                chain: row.sender.map(|s| words.chain(s)).unwrap_or_default(),
                is_excluded: excluded
                    .iter()
                    .any(|word| word == told.kind || told.name.as_ref() == Some(word)),
                name: told.name,
                sent_by,
                count: Some(0),
                total_ns: told.is_timed.then_some(0),
                worst_ns: told.is_timed.then_some(0),
            });
            firsts.push(0);
            lines.len() - 1
        });
        add(&mut lines[place], &row.figures);
        places.push(place);
    }
    let (mut entries, mut judged) = (0, 0);
    for gap in &on.gaps {
        let places: Vec<usize> = gap.rows.iter().map(|row| places[*row as usize]).collect();
        entries += gap.figures.count;
        firsts[places[0]] += gap.figures.count;
        if places.iter().any(|place| !lines[*place].is_excluded) {
            judged += gap.figures.count;
        }
    }
    let sentence = sentence(on.cpu, entries, time, &lines, &firsts);
    lines.extend(remedies::firmware(on, excluded));
    let smis = match &on.smis {
        Smis::Count(count) => Some(*count),
        Smis::NotKnown(_) => None,
    };
    let are_smis_excluded = excluded.iter().any(|word| word == "smi");
    lines.sort_by(|a, b| {
        b.count
            .cmp(&a.count)
            .then(b.total_ns.cmp(&a.total_ns))
            .then(a.cause.cmp(&b.cause))
    });
    IsolatedCpu {
        cpu: on.cpu,
        sentence,
        program: on.program.as_ref().map(|(name, _)| name.clone()),
        is_occupied: on.is_occupied,
        entries,
        judged: judged + smis.filter(|_| !are_smis_excluded).unwrap_or(0),
        lines,
        tick: words::needs(&on.ticks),
        lost: on.lost,
        smis,
        smis_not_known: match &on.smis {
            Smis::Count(_) => None,
            Smis::NotKnown(why) => Some(why.clone()),
        },
        stolen_ns: on.stolen.map(|time| time.0),
    }
}

fn add(line: &mut EntryLine, figures: &DurationFigures) {
    line.count = line.count.map(|n| n + figures.count);
    line.total_ns = line.total_ns.map(|n| n + figures.total.0);
    line.worst_ns = line.worst_ns.map(|n| n.max(figures.worst.0));
}

/// `CPU 2 was entered 31 times in 60 s; 28 of them began with ...`
fn sentence(cpu: u32, entries: u64, time: Nanos, lines: &[EntryLine], firsts: &[u64]) -> String {
    let seconds = time.0 as f64 / 1e9;
    let time = match seconds.fract() < 0.005 {
        true => format!("{seconds:.0} s"),
        false => format!("{seconds:.2} s"),
    };
    let most = lines.iter().zip(firsts).max_by_key(|(_, count)| **count);
    let Some((line, count)) = most.filter(|_| entries > 0) else {
        return format!("CPU {cpu} was not entered in {time}");
    };
    let sent_by = line
        .sent_by
        .as_ref()
        .map_or(String::new(), |s| format!(", sent by {s}"));
    let of_them = match *count == entries {
        true => "all".to_string(),
        false => grouped(*count),
    };
    format!(
        "CPU {cpu} was entered {} in {time}; {of_them} of them began with {}{sent_by}",
        counted(entries, "time"),
        line.cause
    )
}
