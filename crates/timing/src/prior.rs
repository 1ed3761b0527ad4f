//! What events take on processors of today, in cycles: where a fit begins, and where it stays for what it has not seen.
//!
//! Orders of magnitude, as Agner Fog's instruction tables and the vendors' optimisation manuals have them; no figure is one
//! processor's. One factor for all fits them to a machine.

use worstcase_costs::CostEvent::{self, *};

/// The events of the model with their cycles. The rounds of repeated string instructions are not among them: their bytes are.
pub(crate) const CYCLES: [(CostEvent, f64); 25] = [
    (Instruction, 0.4),
    (StringByte, 1.0 / 32.0),
    (StringStart, 30.0),
    (SystemCall, 100.0),
    (InterruptReturn, 250.0),
    (PageTableLoad, 200.0),
    (PageInvalidation, 150.0),
    (ControlRegister, 30.0),
    (MsrWrite, 150.0),
    (MsrRead, 80.0),
    (Fence, 10.0),
    (FpuState, 60.0),
    (Locked, 18.0),
    (Division, 12.0),
    (Cpuid, 150.0),
    (Port, 4_000.0),
    (DeviceMemory, 4_000.0),
    (Timestamp, 36.0),
    (DataL2, 6.0),
    (DataL3, 25.0),
    (DataMemory, 250.0),
    (CodeL2, 8.0),
    (CodeL3, 40.0),
    (CodeMemory, 250.0),
    (MispredictedReturn, 18.0),
];

/// The standard deviation of each one's logarithm: it may well be twice as long, or half.
pub(crate) const DEVIATION: f64 = 0.7;
