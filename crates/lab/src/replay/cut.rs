//! Cuts a replay's log to the window of one sample.

use super::WantedLog;
use crate::execution::{Elsewhere, Execution, Step};
use crate::machine::Mips;
use std::ops::Range;
use worstcase_contract::Instructions;
use worstcase_contract::costs::log::{CostLog, CountedEvent};
use worstcase_contract::window::log::{Log, Window};

/// The part of the log for one sample.
pub(super) fn cut(log: &Log, costs: Option<&CostLog>, wanted: &WantedLog, mips: Mips) -> Option<Execution> {
    let moment = &wanted.moment;
    let window = log.windows.iter().find(|w| w.end >= moment.sample)?;
    let (steps, end) = steps_of(window, &wanted.window)?;
    let first = steps.first()?.count;
    let mut numbers: Vec<Option<u32>> = vec![None; log.blocks.len()];
    let mut blocks = Vec::new();
    let mut own = |step: Step| Step {
        block: *numbers[step.block as usize].get_or_insert_with(|| {
            blocks.push(log.blocks[step.block as usize].clone());
            blocks.len() as u32 - 1
        }),
        count: step.count,
    };
    let steps = steps.into_iter().map(&mut own).collect();
    let mut elsewhere = elsewhere_in(&window.elsewhere, first..end);
    for step in elsewhere.iter_mut().flat_map(|other| &mut other.steps) {
        *step = own(*step);
    }
    Some(Execution {
        blocks,
        steps,
        elsewhere,
        end,
        tasks: since(&window.tasks, |t| t.count, first, end),
        contexts: since(&window.contexts, |c| c.count, first, end),
        lock_writes: window
            .lock_writes
            .iter()
            .filter(|w| (first..end).contains(&w.count))
            .copied()
            .collect(),
        costs: costs.map(|costs| counted_in(&costs.events, first..end)),
        due: moment.due,
        timer_entry: moment.timer_entry,
        sample: moment.sample,
        latency: moment.latency,
        shift: mips.shift(),
    })
}

/// The events in the range.
fn counted_in(all: &[CountedEvent], range: Range<Instructions>) -> Vec<CountedEvent> {
    let place_of = |count: Instructions| all.partition_point(|event| event.at < count.0);
    all[place_of(range.start)..place_of(range.end)].to_vec()
}

/// The reports about other CPUs in the range, each with the known steps that its CPU executed before.
fn elsewhere_in(all: &[Elsewhere], range: Range<Instructions>) -> Vec<Elsewhere> {
    let place_of = |count: Instructions| all.partition_point(|other| other.at < count);
    let whole = |place: usize| {
        let last = &all[place];
        let mut earlier = all[..place].iter().rev().filter(|other| other.cpu == last.cpu);
        let mut parts = vec![&last.steps];
        let (mut held, mut goes_on) = (last.steps.len(), last.goes_on);
        while goes_on
            && held < last.why.blocks()
            && let Some(before) = earlier.next().filter(|before| before.task == last.task)
        {
            parts.push(&before.steps);
            held += before.steps.len();
            goes_on = before.goes_on;
        }
        Elsewhere {
            steps: parts.into_iter().rev().flatten().copied().collect(),
            task: last.task.clone(),
            ..*last
        }
    };
    (place_of(range.start)..place_of(range.end)).map(whole).collect()
}

/// The steps that start in the range, and one past their last instruction. A block that was left before its first
/// instruction was complete executed nothing, and is left out.
fn steps_of(window: &Window, range: &Range<Instructions>) -> Option<(Vec<Step>, Instructions)> {
    let all = &window.steps;
    let from = all.partition_point(|s| s.count < range.start);
    let to = all.partition_point(|s| s.count < range.end);
    let end = all.get(to).map_or(window.end, |step| step.count);
    let ends = all[from..to].iter().skip(1).map(|s| s.count).chain([end]);
    let steps = all[from..to].iter().zip(ends).filter(|(step, end)| step.count < *end);
    let steps: Vec<Step> = steps.map(|(step, _)| *step).collect();
    (!steps.is_empty()).then_some((steps, end))
}

/// The entries that hold somewhere from `first` to `end`; each entry holds until the next.
fn since<T: Clone>(all: &[T], count: impl Fn(&T) -> Instructions, first: Instructions, end: Instructions) -> Vec<T> {
    let from = all.partition_point(|t| count(t) <= first).saturating_sub(1);
    all[from..].iter().take_while(|t| count(t) < end).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::wanted;
    use super::*;
    use crate::execution::{ContextFrom, LockWrite, TaskFrom, Why};

    fn step(block: u32, count: u64) -> Step {
        Step {
            block,
            count: Instructions(count),
        }
    }

    #[test]
    fn a_window_is_cut_to_its_sample() {
        let task = |count, pid| TaskFrom {
            count: Instructions(count),
            pid,
            comm: String::new(),
        };
        let context = |count, preempt_off| ContextFrom {
            count: Instructions(count),
            system_call: None,
            preempt_off,
        };
        let block = |address| worstcase_contract::window::Block {
            address,
            lengths: vec![1; 100],
            code: vec![0x90; 100],
        };
        let log = Log {
            blocks: vec![block(0), block(1000), block(2000)],
            windows: vec![Window {
                // The block at 250 was left at once, by a fault of its first instruction.
                steps: vec![
                    step(0, 100),
                    step(1, 200),
                    step(2, 250),
                    step(1, 250),
                    step(0, 350),
                    step(0, 450),
                ],
                end: Instructions(500),
                tasks: vec![task(100, 1), task(150, 2), task(250, 3), task(450, 4)],
                contexts: vec![context(100, false), context(260, true), context(360, false)],
                elsewhere: Vec::new(),
                lock_writes: [100, 260, 350]
                    .map(|count| LockWrite {
                        count: Instructions(count),
                        lock: 7,
                    })
                    .into(),
            }],
        };
        let execution = cut(&log, None, &wanted(200, 210, 300), Mips::ALL[0]).unwrap();
        assert_eq!(execution.steps, [step(0, 200), step(0, 250)]);
        assert_eq!(execution.blocks, [block(1000)]);
        assert_eq!(execution.end, Instructions(350));
        assert_eq!(execution.tasks, [task(150, 2), task(250, 3)]);
        assert_eq!(execution.contexts, [context(100, false), context(260, true)]);
        assert_eq!(execution.lock_writes.len(), 1);
        assert_eq!(execution.lock_writes[0].count, Instructions(260));
        let last = cut(&log, None, &wanted(350, 360, 480), Mips::ALL[0]).unwrap();
        assert_eq!(last.end, Instructions(500));
        assert_eq!(cut(&log, None, &wanted(600, 610, 700), Mips::ALL[0]), None);
    }

    #[test]
    fn what_another_cpu_did_before_it_was_last_looked_at_is_known_too() {
        let other = |at, cpu, pid, goes_on, first: u64| Elsewhere {
            why: Why::Sends,
            at: Instructions(at),
            cpu,
            count: Instructions(first + 20),
            task: (pid, "load".into()),
            system_call: None,
            steps: vec![step(0, first), step(1, first + 10)],
            goes_on,
        };
        let all = [
            other(90, 0, 7, false, 500),
            other(100, 0, 7, false, 1_000),
            other(110, 2, 9, false, 5_000),
            other(120, 0, 7, true, 1_020),
            other(130, 0, 7, true, 1_040),
            // Another thread; and one with missing steps.
            other(140, 0, 8, true, 1_060),
            other(150, 0, 8, false, 1_900),
        ];
        let found = elsewhere_in(&all, Instructions(120)..Instructions(200));
        let firsts: Vec<_> = found
            .iter()
            .map(|s| (s.at.0, s.steps.len(), s.steps[0].count.0))
            .collect();
        assert_eq!(
            firsts,
            [(120, 4, 1_000), (130, 6, 1_000), (140, 2, 1_060), (150, 2, 1_900)]
        );
        assert!(found.iter().all(|s| s.steps.is_sorted_by_key(|step| step.count)));
    }
}
