//! `irq`, the probe of interrupts that come through a wire or from a counter, and `strobe`, the load of such interrupts. Its
//! bytes are part of every lab result.
//!
//! ```text
//! irq     from an interrupt's cause to the process that waits for it
//! strobe  pulses on the parallel port
//! sys     the parallel port; a serial port's modem lines; lines of a GPIO chip; a timer with a counter (HPET)
//! ```

mod irq;
pub mod strobe;
mod sys;

pub use irq::{Line, Pins, affinity, send_interrupts_to};
