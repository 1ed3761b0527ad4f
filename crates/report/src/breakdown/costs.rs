//! What the spans of a breakdown consist of, for the terminal.

use super::terminal::{describe, heading, lateness, notes};
use crate::style::{Style, cut, within, wrapped};
use worstcase_analysis::breakdown::Breakdown;
use worstcase_analysis::breakdown::leaning::Leaning;
use worstcase_base::format::{counted, grouped, plain};
use worstcase_contract::costs::{self, CacheGeometry, CostEvent, EventCounts};

/// Width of the spans' names.
const SPAN: usize = 36;

/// Columns of events that are counted together.
const COLUMNS: [(&str, &[CostEvent]); 7] = [
    ("memory", &[CostEvent::DataMemory, CostEvent::CodeMemory]),
    ("L3", &[CostEvent::DataL3, CostEvent::CodeL3]),
    ("L2", &[CostEvent::DataL2, CostEvent::CodeL2]),
    ("entries", &[CostEvent::SystemCall, CostEvent::InterruptReturn]),
    ("locked", &[CostEvent::Locked]),
    ("returns", &[CostEvent::MispredictedReturn]),
    ("serial", SERIAL),
];

/// What serialises, or nearly.
const SERIAL: &[CostEvent] = &[
    CostEvent::PageTableLoad,
    CostEvent::PageInvalidation,
    CostEvent::ControlRegister,
    CostEvent::MsrWrite,
    CostEvent::MsrRead,
    CostEvent::Fence,
    CostEvent::FpuState,
    CostEvent::Cpuid,
];

/// What is named in a line of its own, where there is some.
const OTHERS: [(CostEvent, &str); 3] = [
    (CostEvent::StringByte, "bytes of string instructions"),
    (CostEvent::Port, "of I/O ports"),
    (CostEvent::DeviceMemory, "of devices' memory"),
];

/// The answer, then a line for each span.
pub fn terminal(breakdown: &Breakdown, style: Style) -> String {
    let sample = breakdown.sample();
    let all = breakdown.costs();
    let mut out = vec![heading(sample, lateness(sample), style), String::new()];
    out.extend(wrapped("", &answer(&all)));
    out.extend(wrapped("explained as: ", &breakdown.cause().sentence));
    out.push(String::new());
    let names = COLUMNS.iter().map(|(name, _)| format!("{name:>8}"));
    let head = format!("{:>12}{}  {:<SPAN$}", "instructions", names.collect::<String>(), "span");
    out.push(cut(&format!("{head}  mostly")));
    for span in breakdown.spans() {
        let name = within(&plain(&describe(span)), SPAN);
        match &span.costs {
            Some(counts) => out.extend(lines(counts, &name)),
            None => out.push(format!("{:>68}  {name}", "not counted")),
        }
    }
    out.extend(lines(&all, "sum"));
    out.push(String::new());
    out.extend(wrapped("", &legend()));
    out.extend(notes(breakdown));
    out.push(String::new());
    out.join("\n")
}

fn lines(counts: &EventCounts, name: &str) -> Vec<String> {
    let columns = COLUMNS
        .iter()
        .map(|(_, events)| format!("{:>8}", grouped(counts.of(events))));
    let instructions = grouped(counts.lab_instructions());
    let line = format!(
        "{instructions:>12}{}  {name:<SPAN$}  {}",
        columns.collect::<String>(),
        mostly(counts)
    );
    let others = OTHERS.iter().filter(|(event, _)| counts[*event] > 0);
    let others: Vec<String> = others
        .map(|(event, what)| format!("{} {what}", grouped(counts[*event])))
        .collect();
    let indent = 14;
    let more = (!others.is_empty()).then(|| cut(&format!("{:indent$}{}", "", others.join(", "))));
    std::iter::once(line).chain(more).collect()
}

fn mostly(counts: &EventCounts) -> &'static str {
    match Leaning::of(counts) {
        Leaning::Code => "code",
        Leaning::Caches => "caches",
        Leaning::Stalls => "stalls",
        Leaning::Several => "several",
    }
}

/// Where the time goes, in a sentence.
fn answer(all: &EventCounts) -> String {
    let instructions = all.lab_instructions();
    let memory = all.of(COLUMNS[0].1);
    let misses = match instructions.checked_div(memory) {
        None => "memory is never waited for".to_string(),
        Some(each) => format!(
            "memory is waited for {}, once in {} instructions",
            counted(memory, "time"),
            grouped(each)
        ),
    };
    let so = match Leaning::of(all) {
        Leaning::Code => "its length is what takes time",
        Leaning::Caches => "the path misses caches: on hardware it takes longer than its length says",
        Leaning::Stalls => {
            "entries, locks and what serialises weigh most: on hardware it takes longer than its length says"
        }
        Leaning::Several => "its length says half of it at most",
    };
    format!("Of {} instructions {misses}: {so}.", grouped(instructions))
}

/// What was counted with.
fn legend() -> String {
    let size = |cache: CacheGeometry| match cache.kib {
        kib if kib >= 1024 => format!("{} MiB in {} ways", kib / 1024, cache.ways),
        kib => format!("{kib} KiB in {} ways", cache.ways),
    };
    format!(
        "memory, L3, L2: accesses to data and lines of code that they served, in caches of L1 {} for data and as much for code, L2 {}, \
         L3 {}, in use for {} million instructions before. returns: not to where the last call came from. mostly: what weighs most by the times of \
         one machine (AMD Zen 4): code (with its returns), caches, or stalls (entries, locks, and serial: what serialises).",
        size(costs::DATA),
        size(costs::SECOND),
        size(costs::THIRD),
        costs::WARM_UP / 1_000_000
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(events: &[(CostEvent, u64)]) -> EventCounts {
        events.iter().copied().collect()
    }

    #[test]
    fn the_answer_tells_long_code_from_code_that_misses_caches() {
        let code = (CostEvent::Instruction, 240_000);
        assert_eq!(
            answer(&counts(&[code])),
            "Of 240 000 instructions memory is never waited for: its length is what takes time."
        );
        let misses = answer(&counts(&[
            code,
            (CostEvent::DataMemory, 500),
            (CostEvent::CodeMemory, 100),
        ]));
        assert!(
            misses.starts_with("Of 240 000 instructions memory is waited for 600 times, once in 400 instructions:")
        );
        assert!(misses.contains("misses caches"), "{misses}");
    }

    #[test]
    fn what_has_no_column_has_a_line_where_there_is_some() {
        let events = [
            (CostEvent::Instruction, 1000),
            (CostEvent::StringRound, 5),
            (CostEvent::Locked, 2),
        ];
        let line = |counts: &EventCounts| lines(counts, "wake-up");
        let [only] = &line(&counts(&events))[..] else {
            panic!("one line");
        };
        assert!(
            only.contains("1 005") && only.contains("  wake-up  ") && only.ends_with("  code"),
            "{only}"
        );
        let more = line(&counts(&[
            events[0],
            (CostEvent::StringByte, 4096),
            (CostEvent::Port, 1),
        ]));
        assert_eq!(more[1].trim(), "4 096 bytes of string instructions, 1 of I/O ports");
    }
}
