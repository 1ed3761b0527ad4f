//! What a path's time probably goes into, as far as counts tell without a machine's own times.

use worstcase_contract::costs::{CostEvent, EventCounts};

/// What takes most of a path's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaning {
    /// The number of its instructions, and of its returns that are not foreseen: with a kernel's mitigations most of them.
    Code,
    /// Waiting for caches and memory.
    Caches,
    /// Entries, locks, and what serialises.
    Stalls,
    /// None of them more than half.
    Several,
}

/// About as many ordinary instructions as one of these takes, rounded: fitted on one machine (AMD Zen 4).
const WEIGHTS: [(CostEvent, u64); 16] = [
    (CostEvent::SystemCall, 200),
    (CostEvent::InterruptReturn, 1000),
    (CostEvent::PageTableLoad, 700),
    (CostEvent::PageInvalidation, 300),
    (CostEvent::ControlRegister, 100),
    (CostEvent::MsrWrite, 300),
    (CostEvent::MsrRead, 100),
    (CostEvent::Fence, 100),
    (CostEvent::FpuState, 150),
    (CostEvent::Locked, 100),
    (CostEvent::DataL2, 10),
    (CostEvent::DataL3, 80),
    (CostEvent::DataMemory, 1000),
    (CostEvent::CodeL2, 15),
    (CostEvent::CodeL3, 80),
    (CostEvent::CodeMemory, 1000),
];

/// The same of a return.
const RETURN: u64 = 70;

/// Those that are waits for caches.
const OF_CACHES: std::ops::Range<usize> = 10..16;

impl Leaning {
    /// Of a path with these counts.
    pub fn of(counts: &EventCounts) -> Leaning {
        let weight = |of: &[(CostEvent, u64)]| of.iter().map(|(event, weight)| counts[*event] * weight).sum();
        let code = counts.lab_instructions() + RETURN * counts[CostEvent::MispredictedReturn];
        let (caches, stalls): (u64, u64) = (weight(&WEIGHTS[OF_CACHES]), weight(&WEIGHTS[..OF_CACHES.start]));
        let half = (code + caches + stalls) / 2;
        match (code > half, caches > half, stalls > half) {
            (true, _, _) => Leaning::Code,
            (_, true, _) => Leaning::Caches,
            (_, _, true) => Leaning::Stalls,
            _ => Leaning::Several,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_code_is_told_from_code_that_misses_caches() {
        let of = |events: &[(CostEvent, u64)]| {
            let counts = events.iter().copied().chain([(CostEvent::Instruction, 100_000)]);
            Leaning::of(&counts.collect())
        };
        assert_eq!(of(&[]), Leaning::Code);
        assert_eq!(
            of(&[(CostEvent::DataMemory, 20), (CostEvent::Locked, 100)]),
            Leaning::Code
        );
        assert_eq!(of(&[(CostEvent::DataMemory, 200)]), Leaning::Caches);
        assert_eq!(
            of(&[(CostEvent::DataMemory, 200), (CostEvent::MispredictedReturn, 3_000)]),
            Leaning::Code
        );
        assert_eq!(
            of(&[(CostEvent::CodeMemory, 60), (CostEvent::DataL3, 1000)]),
            Leaning::Caches
        );
        assert_eq!(of(&[(CostEvent::Locked, 1500)]), Leaning::Stalls);
        assert_eq!(
            of(&[(CostEvent::Locked, 800), (CostEvent::DataMemory, 80)]),
            Leaning::Several
        );
    }
}
