//! Who runs at which priority.

use crate::bench::BenchError;

/// SCHED_FIFO priorities of all threads, `low < chain < middle < high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Priorities {
    /// Mutexes between low and high.
    pub depth: u8,
    /// Of the thread whose wait is measured.
    pub high: u8,
}

impl Priorities {
    /// Of the thread that looks on: above all ordinary processes, below all that take part.
    pub(crate) const OBSERVER: u8 = 1;
    /// Of the owner of the first mutex.
    pub(crate) const LOW: u8 = 2;

    /// Refuses a priority below which there is no room for all.
    pub fn new(depth: u8, high: u8) -> Result<Priorities, BenchError> {
        let priorities = Priorities { depth, high };
        let least = priorities.last_of_chain() + 2;
        if high < least {
            return Err(BenchError::Limit(format!(
                "priority {high} has no room for the {} threads below it: a depth of {depth} needs priority {least} at least",
                depth + 1
            )));
        }
        Ok(priorities)
    }

    /// Of the thread that holds mutex `number` (1 to depth - 1) while it waits for the one before.
    pub fn chain(&self, number: u8) -> u8 {
        Priorities::LOW + number
    }

    /// Of the thread that needs no mutex: halfway between those below and high.
    pub(crate) fn middle(&self) -> u8 {
        (self.last_of_chain() + self.high) / 2
    }

    fn last_of_chain(&self) -> u8 {
        self.chain(self.depth - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_has_a_priority_of_their_own() {
        for depth in 1..=8 {
            for high in 1..=99 {
                let Ok(priorities) = Priorities::new(depth, high) else {
                    assert!(high < depth + 3, "{depth} below {high} is refused");
                    continue;
                };
                let chain = (1..depth).map(|number| priorities.chain(number));
                let all: Vec<u8> = [Priorities::OBSERVER, Priorities::LOW]
                    .into_iter()
                    .chain(chain)
                    .chain([priorities.middle(), high])
                    .collect();
                assert!(all.is_sorted_by(|a, b| a < b), "{depth} below {high}: {all:?}");
            }
        }
        assert_eq!(Priorities::new(1, 98).unwrap().middle(), 50);
    }

    #[test]
    fn a_priority_without_room_is_refused_with_the_one_that_has() {
        let error = Priorities::new(8, 10).unwrap_err().to_string();
        assert_eq!(
            error,
            "priority 10 has no room for the 9 threads below it: a depth of 8 needs priority 11 at least"
        );
        assert!(Priorities::new(8, 11).is_ok());
    }
}
