//! Counts of a part of a cell, which begin at 0 where the part begins, and those of the whole cell.

use worstcase_contract::Instructions;
use worstcase_contract::costs::log::CostLog;
use worstcase_contract::window::ask::Windows;
use worstcase_contract::window::log::Log;

/// The windows of the whole as the part that begins at `begin` counts.
pub(crate) fn windows_since(whole: &Windows, begin: Instructions) -> Windows {
    let less = |count: Instructions| Instructions(count.0 - begin.0);
    Windows::merged(whole.ranges().map(|range| less(range.start)..less(range.end)))
}

/// The log of a part that begins at `begin`, with the counts of the whole.
pub(crate) fn log_after(mut log: Log, begin: Instructions) -> Log {
    for window in &mut log.windows {
        let steps = window.steps.iter_mut().map(|step| &mut step.count);
        let tasks = window.tasks.iter_mut().map(|task| &mut task.count);
        let contexts = window.contexts.iter_mut().map(|context| &mut context.count);
        let locks = window.lock_writes.iter_mut().map(|write| &mut write.count);
        let ends = std::iter::once(&mut window.end);
        ends.chain(steps)
            .chain(tasks)
            .chain(contexts)
            .chain(locks)
            .for_each(|count| count.0 += begin.0);
    }
    log
}

/// The same of a log of costs.
pub(crate) fn costs_after(mut log: CostLog, begin: Instructions) -> CostLog {
    log.events.iter_mut().for_each(|event| event.at += begin.0);
    log
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_contract::window::log::Window;
    use worstcase_contract::window::{ContextFrom, LockWrite, Step, TaskFrom};

    #[test]
    fn windows_and_logs_are_put_where_they_belong() {
        let windows = "1100-1200+1500-1600".parse::<Windows>().unwrap();
        assert_eq!(
            windows_since(&windows, Instructions(1000)).to_string(),
            "100-200+500-600"
        );
        let log = |begin: u64| {
            let count = |at: u64| Instructions(begin + at);
            Log {
                blocks: Vec::new(),
                windows: vec![Window {
                    steps: vec![Step {
                        block: 0,
                        count: count(1),
                    }],
                    end: count(9),
                    tasks: vec![TaskFrom {
                        count: count(2),
                        pid: 1,
                        comm: String::new(),
                    }],
                    contexts: vec![ContextFrom {
                        count: count(3),
                        system_call: None,
                        preempt_off: false,
                    }],
                    elsewhere: Vec::new(),
                    lock_writes: vec![LockWrite {
                        count: count(4),
                        lock: 5,
                    }],
                }],
            }
        };
        assert_eq!(log_after(log(0), Instructions(1000)), log(1000));
    }
}
