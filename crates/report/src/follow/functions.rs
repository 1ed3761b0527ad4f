//! A cycle of a program that was followed in the lab, with the functions that ran in each part.

use super::lines::CycleLines;
use super::terminal::breakdown_with;
use crate::breakdown::flame;
use crate::breakdown::perfetto::{SlicedWindow, thread_names};
use crate::style::{Style, cut};
use serde_json::{Value, json};
use worstcase_analysis::cycle::{CodeTime, CycleBreakdown, FunctionTime};
use worstcase_base::format::{counted, micros, micros_exact, plain};
use worstcase_contract::Nanos;

/// The form of the document.
const SCHEMA: &str = "worstcase-cycle/1";

/// The column at which functions begin.
const INDENT: usize = 27;
/// Functions of a part that are shown, if they take this part of the cycle, and this part of the part.
const OF_PART: usize = 3;
const OF_CYCLE: f64 = 0.01;
const OF_ITS_PART: f64 = 0.05;
/// Functions of the whole cycle that are shown.
const OF_ALL: usize = 12;

/// A cycle that is told with its functions.
pub struct FunctionReport<'a> {
    cycle: &'a CycleBreakdown,
    lines: CycleLines,
}

impl FunctionReport<'_> {
    /// Of a cycle.
    pub fn of(cycle: &CycleBreakdown) -> FunctionReport<'_> {
        let name = |address| cycle.symbols.lookup(address).map(|symbol| symbol.name.clone());
        FunctionReport {
            lines: CycleLines::of(&cycle.cycle, &name),
            cycle,
        }
    }

    /// For people.
    pub fn terminal(&self, style: Style) -> Vec<String> {
        let length = self.lines.response_ns;
        let below = |part: usize| {
            let own = &self.cycle.parts[part];
            let all = own.total();
            let is_shown = |own: &&FunctionTime| {
                let ns = own.self_ns.0 as f64;
                ns >= OF_CYCLE * length.0 as f64 && ns >= OF_ITS_PART * all.0 as f64
            };
            let shown = own.functions.iter().filter(is_shown).take(OF_PART);
            shown.map(|own| share(own.self_ns, all, &named(own))).collect()
        };
        let mut text = breakdown_with(&self.lines, below, style);
        text.push(String::new());
        text.push(style.bold(&format!("The functions of this cycle ({})", plain(&self.cycle.unit))));
        text.extend(whole(&self.cycle.all, length));
        text
    }

    /// For programs; `found` is what was found while it was followed.
    pub fn json(&self, found: Value) -> String {
        let mut parts = json!(self.lines.parts);
        let mut own = self.cycle.parts.iter();
        for line in parts.as_array_mut().into_iter().flatten() {
            if line["sum"] == false
                && let Some(own) = own.next()
            {
                add(line, own);
            }
        }
        let mut document = json!({
            "schema": SCHEMA,
            "cell": self.cycle.cell,
            "program": self.cycle.program,
            "unit": self.cycle.unit,
            "index": self.lines.index,
            "release_ns": self.lines.release_ns,
            "response_ns": self.lines.response_ns,
            "parts": parts,
            "found": found,
        });
        add(&mut document, &self.cycle.all);
        format!("{document:#}\n")
    }

    /// Folded stacks in ns: the call chains of a part stand on it.
    pub fn folded(&self) -> String {
        self.lines.folded_with(|part| self.cycle.chains.get(part))
    }

    /// A flame graph of these.
    pub fn flame(&self) -> String {
        let title = format!("{}, cycle {}", self.cycle.cell, self.lines.index);
        let time = format!("{} {}", micros(self.lines.response_ns), self.cycle.unit);
        flame::svg_of(&title, &time, &self.folded())
    }

    /// The JSON Trace Event format: the parts, and each thread's functions.
    pub fn trace(&self) -> String {
        let release = self.lines.release_ns.0 as i64;
        let window = SlicedWindow {
            walk: &self.cycle.walk,
            lines: &(),
            at: &|count| Some(self.cycle.clock.time_of(count)?.0 as i64 - release),
        };
        let mut events = thread_names(&self.cycle.tasks);
        events.extend(self.cycle.tasks.iter().flat_map(|task| window.functions(task.pid)));
        self.lines.trace_with(events)
    }
}

/// Adds a time's fields to a document.
fn add(document: &mut Value, time: &CodeTime) {
    document["functions"] = json!(time.functions);
    document["idle_ns"] = json!(time.idle_ns);
    document["unseen_ns"] = json!(time.unseen_ns);
}

/// All that ran in a cycle; the lines add up to it.
fn whole(all: &CodeTime, length: Nanos) -> Vec<String> {
    let is_shown = |own: &FunctionTime| own.self_ns.0 as f64 >= OF_CYCLE * length.0 as f64;
    let shown = all.functions.iter().take_while(|own| is_shown(own)).count();
    let (shown, others) = all.functions.split_at(shown.min(OF_ALL));
    let mut text: Vec<String> = shown
        .iter()
        .map(|own| share(own.self_ns, length, &named(own)))
        .collect();
    let of_others = Nanos(others.iter().map(|own| own.self_ns.0).sum());
    for (time, what) in [
        (of_others, counted(others.len() as u64, "other function")),
        (all.idle_ns, "the CPU idled".to_string()),
        (
            all.unseen_ns,
            "it is not known on which CPU, or what ran there".to_string(),
        ),
    ] {
        if time > Nanos(0) {
            text.push(share(time, length, &what));
        }
    }
    text.push(format!(
        "{:>width$}",
        format!("sum {} us", micros_exact(all.total())),
        width = INDENT + 17
    ));
    text
}

fn share(time: Nanos, of: Nanos, what: &str) -> String {
    let percent = time.0 * 100 / of.0.max(1);
    cut(&format!(
        "{:INDENT$}{percent:>3} % {:>8} us  {}",
        "",
        micros(time),
        plain(what)
    ))
}

/// `work (control.c:23)`, `work (control)`, `vfs_write`, `ext4_write (ext4)`.
fn named(own: &FunctionTime) -> String {
    match (&own.source, &own.file) {
        (Some(source), _) => format!("{} ({})", own.function, source.whole()),
        (None, Some(file)) => format!("{} ({file})", own.function),
        (None, None) => own.function.clone(),
    }
}
