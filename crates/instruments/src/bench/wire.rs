//! What an interrupt comes through: `irq` has one for each of its lines.

use std::fmt::Debug;
use std::io;
use worstcase_logs::Nanos;

/// A wire from an output of this machine to an input that interrupts.
pub trait Wire: Debug + Send + Sync {
    /// The generator: what has to be done before the clock is read.
    fn prepare(&self) -> io::Result<()>;
    /// The generator: the edge.
    fn send(&self) -> io::Result<()>;
    /// The process: what was before is no reason to wake up.
    fn forget(&self) -> io::Result<()>;
    /// The process: waits for the edge, and answers. When the kernel saw it, where it tells.
    fn receive(&self) -> io::Result<Option<Nanos>>;
}
