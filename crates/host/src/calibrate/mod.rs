//! Calibrates a CPU: how long operations take of which the lab counted the events.
//!
//! ```text
//! rounds   the program that does the operations, as a child, and what it prints
//! doubts   why the result may be wrong
//! ```

mod doubts;
mod rounds;

use crate::cpus::Cpus;
use crate::{CpuList, HostError, MachineFacts};
use rounds::OperationRounds;
use worstcase_timing::table::{NOTHING, OperationTable};
use worstcase_timing::{CalibratedMachine, Calibration, MeasuredOperation};

/// Rounds of all operations.
const ROUNDS: usize = 30;

/// What is asked.
pub struct CalibrationRequest<'a> {
    /// The CPU; none: the last that this process may use.
    pub cpu: Option<u32>,
    /// The program that does the operations; empty where there is none for this machine.
    pub program: &'a [u8],
    /// The events of each.
    pub table: &'a OperationTable,
}

/// Measures some seconds, and fits.
pub fn calibrate(asked: &CalibrationRequest, facts: &MachineFacts) -> Result<Calibration, HostError> {
    if asked.program.is_empty() {
        return Err(HostError::Missing(format!(
            "this worstcase, for {}, carries no operations: calibrate an x86-64 machine, with a worstcase that has the lab",
            std::env::consts::ARCH
        )));
    }
    let cpu = cpu(asked.cpu, facts)?;
    let measured = OperationRounds::measure(asked.program, cpu, ROUNDS)?;
    let nothing_ns = measured.median_of(NOTHING);
    let operation =
        |name: &str, rounds: &[u64]| MeasuredOperation::of(asked.table.named(name)?, asked.table, rounds, nothing_ns);
    let operations: Vec<MeasuredOperation> = measured
        .operations
        .iter()
        .filter_map(|(name, rounds)| operation(name, rounds))
        .collect();
    let machine = machine(cpu, facts);
    let doubts = doubts::of(asked.table, facts, cpu, &measured, &operations);
    let delivery = measured.delivery();
    Ok(Calibration::of(
        machine,
        &asked.table.kernel,
        operations,
        delivery,
        doubts,
    )?)
}

fn cpu(asked: Option<u32>, facts: &MachineFacts) -> Result<u32, HostError> {
    let cpus = Cpus::of(facts);
    match asked {
        Some(cpu) => cpus.check(&CpuList::from_iter([cpu])).map(|()| cpu),
        None => {
            let last = cpus.usual().iter().last();
            last.ok_or_else(|| HostError::Missing("this process may use no CPU".into()))
        }
    }
}

fn machine(cpu: u32, facts: &MachineFacts) -> CalibratedMachine {
    let siblings = &facts.cpu.siblings;
    let governors = facts.power.governors.iter();
    CalibratedMachine {
        processor: facts.cpu.model.clone(),
        kernel: facts.kernel.release.clone(),
        hypervisor: facts.virtualization.hypervisor,
        hypervisor_name: facts.virtualization.name.clone(),
        smt: (!siblings.is_empty()).then(|| siblings.iter().any(|cpus| cpus.len() > 1)),
        frequency_driver: facts.power.frequency_driver.clone(),
        governor: governors
            .filter(|(_, cpus)| cpus.contains(cpu))
            .map(|(name, _)| name.clone())
            .next(),
        cpu,
    }
}
