//! Which cells a task of an array measures: neighbours of one subject, so that it opens one snapshot.

use std::num::NonZeroUsize;
use std::ops::Range;

/// The most tasks of a run, unless the user asks for smaller chunks. Each costs Slurm some ten ms, and its own start.
const MOST_TASKS: usize = 1_000;

/// The cells of each task. Cells stand in the order of their subjects: the first subject has `subjects[0]` cells, and
/// so on.
pub(crate) fn chunks(subjects: &[usize], asked: Option<NonZeroUsize>) -> Vec<Range<usize>> {
    let chunk = asked.map_or_else(|| smallest(subjects), NonZeroUsize::get);
    let mut tasks = Vec::new();
    let mut begin = 0;
    for cells in subjects {
        let end = begin + cells;
        tasks.extend((begin..end).step_by(chunk).map(|first| first..end.min(first + chunk)));
        begin = end;
    }
    tasks
}

/// The smallest chunk with at most [`MOST_TASKS`] tasks; one task per subject if even that gives more.
fn smallest(subjects: &[usize]) -> usize {
    let tasks = |chunk: usize| subjects.iter().map(|cells| cells.div_ceil(chunk)).sum::<usize>();
    let largest = subjects.iter().copied().max().unwrap_or(1).max(1);
    (1..largest)
        .find(|chunk| tasks(*chunk) <= MOST_TASKS)
        .unwrap_or(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_in_one_task_and_no_task_has_two_subjects() {
        let tasks = chunks(&[3, 1, 4], NonZeroUsize::new(2));
        assert_eq!(tasks, [0..2, 2..3, 3..4, 4..6, 6..8]);
        assert_eq!(chunks(&[2, 2], None), [0..1, 1..2, 2..3, 3..4]);
        assert!(chunks(&[], None).is_empty());
    }

    #[test]
    fn ten_thousand_cells_are_a_thousand_tasks() {
        let tasks = chunks(&[20; 500], None);
        assert_eq!(tasks.len(), 1_000);
        assert!(tasks.iter().all(|task| task.len() == 10));
        // More subjects than [`MOST_TASKS`]: one task each.
        assert_eq!(chunks(&[5; 2_000], None).len(), 2_000);
    }
}
