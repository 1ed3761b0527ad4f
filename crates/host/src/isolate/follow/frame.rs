//! What began on a CPU and has not ended.

use crate::isolate::senders::Sender;
use crate::isolate::tally::Cause;
use crate::trace::Name;
use crate::trace::events::Context;
use worstcase_contract::Nanos;

/// A function that somebody wanted to run here.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub function: u64,
    /// When it began here; that of work that was switched out, when it came back.
    pub began: Nanos,
    pub sender: Option<Sender>,
    pub time: Nanos,
}

/// Something that began and has not ended.
#[derive(Debug)]
pub struct Frame {
    pub context: Place,
    pub sender: Option<Sender>,
    pub began: Nanos,
    /// Its time, but for that of its functions.
    pub own: Nanos,
    pub runs: Vec<Run>,
    /// The last function has not ended.
    pub is_in_run: bool,
    pub opens_entry: bool,
}

/// Where it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    Context(Context),
    /// A function called from the idle loop, without an interrupt.
    BareCall,
    Thread(Name),
}

/// What that is to the CPU's program.
pub fn cause(place: Place, function: u64) -> Cause {
    match place {
        Place::Context(Context::Timer | Context::TimerFunction { .. }) => Cause::Timer { function },
        Place::Context(Context::Vector(name)) => match name.to_string().as_str() {
            "reschedule" => Cause::Reschedule,
            "irq_work" => Cause::IrqWork,
            text if text.starts_with("call_function") => Cause::Call { function },
            _ => Cause::Vector(name),
        },
        Place::Context(Context::Device { irq, name }) => Cause::Device { irq, name },
        Place::Context(Context::Soft(vector)) => Cause::Soft { vector, function },
        Place::BareCall => Cause::Call { function },
        Place::Thread(name) => Cause::Thread { name, function },
    }
}
