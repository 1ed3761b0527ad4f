//! Breakdowns with lines of source code.

use super::{Due, machine, sample, switched};
use crate::breakdown::{json, perfetto, terminal};
use crate::style::Style;
use worstcase_analysis::breakdown::lines::{Inlined, SourceLine, SourceLines};
use worstcase_analysis::breakdown::spans::CodePlace;
use worstcase_analysis::breakdown::testing::SyntheticMachine;
use worstcase_analysis::breakdown::{Explanation, LabSurroundings, tell};
use worstcase_lab::execution::Symbols;

/// A source of lines: so many bytes of a function are a line; the code behind the fourth byte of `zap` comes from a
/// header.
struct Bytes(Symbols, u64);

impl SourceLines for Bytes {
    fn source(&self, address: u64) -> Option<SourceLine> {
        let symbol = self.0.lookup(address)?;
        let offset = address - symbol.address;
        let inlined = Inlined {
            function: "each_page".into(),
            file: "include/list.h".into(),
            line: 9,
        };
        Some(SourceLine {
            file: format!("{}.c", symbol.name),
            line: (offset / self.1) as u32 + 1,
            inlined: Some(inlined)
                .filter(|_| symbol.name == "zap" && offset >= 4)
                .into_iter()
                .collect(),
        })
    }
}

fn explained(m: &SyntheticMachine, bytes: u64) -> (Explanation, Bytes) {
    let (execution, symbols) = m.execution();
    let sample = sample(&execution, "none");
    let lines = Bytes(symbols.clone(), bytes);
    let explanation = tell(&execution, &symbols, &lines, sample, &LabSurroundings::default()).unwrap();
    (explanation, lines)
}

#[test]
fn a_breakdown_shows_where_each_frame_was_and_which_lines_took_most() {
    let (explanation, _) = explained(&machine(Due::InKernel, 4_000, false), 1_000);
    insta::assert_snapshot!(terminal::breakdown(&explanation.breakdown, Style::PLAIN), @r"
    6.1.none.shm.wakeup.s1, sample 5: 4.07 us late
    times are virtual us at 1000 MIPS

    4.01 of 4.07 us: load (7) in shmdt(2) stayed in free_pages (free_pages.c:2, called by zap) without a reschedule
    point, and preempt=none does not take the CPU there.
    What would help: preempt=full takes the CPU at any instruction where no lock is held

    When the timer was due: load (7): [user] load
                            > entry_SYSCALL_64  entry_SYSCALL_64.c:1
                            > __x64_sys_shmdt   __x64_sys_shmdt.c:1
                            > zap               zap.c:1 > each_page include/list.h:9
                            > free_pages        free_pages.c:1

           from       takes                            span
          0.000       0.001  ▏                         interrupt pending
          0.001       0.008  ▏                         interrupt entry
          0.009       0.010  ▏                         timer interrupt
          0.019       0.004  ▏                         wake-up
          0.023       0.009  ▏                         interrupt exit
          0.032       4.008  ███████████████████████   no reschedule point: load (7) in shmdt(2)
                               in [user] load
                                  > entry_SYSCALL_64  entry_SYSCALL_64.c:1
                                  > __x64_sys_shmdt   __x64_sys_shmdt.c:1
                                  > zap               zap.c:1 > each_page include/list.h:9
                                  > free_pages        free_pages.c:2
                                99 %     4.00 us  free_pages < zap
                                24 %     1.00 us  at free_pages free_pages.c:2
                                24 %     1.00 us  at free_pages free_pages.c:3
                                24 %     1.00 us  at free_pages free_pages.c:4
                                24 %    0.992 us  at free_pages free_pages.c:1
          4.040       0.009  ▏                         schedule
          4.049       0.011  ▏                         switch
          4.060       0.007  ▏                         return to user
          4.067       0.003  ▏                         probe's code
            sum       4.070
    ");
}

#[test]
fn a_place_is_the_line_of_the_call_or_of_the_instruction() {
    let (explanation, lines) = explained(&machine(Due::InLock, 300, false), 1);
    let (off, on) = switched(&explanation.breakdown);
    // Two bytes before the call that takes the lock; the call itself, 45 more bytes, and the call.
    let line = |place: &CodePlace| place.source.as_ref().unwrap().to_string();
    assert_eq!(
        (line(off), line(on)),
        ("free_pages.c:3".into(), "free_pages.c:53".into())
    );
    let source = explanation.breakdown.cause().source.as_ref().unwrap();
    assert!(
        explanation
            .breakdown
            .cause()
            .sentence
            .contains(&format!("free_pages ({source}, called by zap)"))
    );
    let json: serde_json::Value = serde_json::from_str(&json::breakdown(&explanation.breakdown)).unwrap();
    let zap = &json["at_due"]["chain"][3];
    assert_eq!(zap["source"]["inlined"][0]["file"], "include/list.h");
    assert!(json["spans"][0]["lines"].as_array().is_some_and(|l| !l.is_empty()));
    let slices = slices_of(&explanation, &lines, "free_pages");
    assert_eq!(slices[0]["args"]["called_at"], "zap.c:5 > each_page include/list.h:9");
}

#[test]
fn a_frame_that_a_return_reveals_was_left_before_it() {
    let (explanation, lines) = explained(&machine(Due::InKernel, 20, false), 1);
    let slices = [("entry_SYSCALL_64", "do_nanosleep"), ("do_nanosleep", "__schedule")];
    for ((caller, called), line) in slices.into_iter().zip([64, 32]) {
        let slices = slices_of(&explanation, &lines, called);
        let called_at = format!("{caller}.c:{line}");
        assert!(slices.iter().any(|s| s["args"]["called_at"] == called_at), "{slices:?}");
    }
}

/// The slices of a function in a trace, in the order of time.
fn slices_of(explanation: &Explanation, lines: &dyn SourceLines, function: &str) -> Vec<serde_json::Value> {
    let trace: serde_json::Value = serde_json::from_str(&perfetto::trace(explanation, lines)).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    events.iter().filter(|e| e["name"] == function).cloned().collect()
}
