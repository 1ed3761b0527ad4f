//! What controllers know of a measurement: names, grammars, titles, tables of probes and loads. No byte of this crate is in
//! a guest.
//!
//! ```text
//! venue      where a cell runs; device: what the lab's machine has for one of them; quantity: what is measured
//! probes     one file a probe: its title, its grammar, what it needs, how it is judged and drawn; probe: asked for each
//! loads      the same for loads; grammar: the one parser of the words of both
//! help       what users read of one probe or load
//! names      probes with parameters, by their names
//! spec       one cell, and its order to the machine that measures
//! policy     how the lab's probe is scheduled; priorities: of the kernel's own threads
//! ```
//! What comes back from instruments and plugin (records, logs, quantities) is passed on from their crates.

mod device;
mod grammar;
pub mod help;
pub mod loads;
pub mod names;
pub mod policy;
pub mod priorities;
pub mod probe;
mod probes;
mod quantity;
pub mod spec;
mod spec_error;
mod text_form;
pub mod venue;

pub use device::Device;
pub use probe::Probe;
pub use quantity::Quantity;
pub use spec::CellSpec;
pub use venue::Venue;
pub use worstcase_cell::{RawRecord, bench};
pub use worstcase_costs as costs;
pub use worstcase_instruments::{Schedule, cpus, record, schedule, symbols};
pub use worstcase_logs::{Instructions, Nanos, census, machine, mark, prng, trace, units, window};
