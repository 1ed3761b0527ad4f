//! A lab machine of several CPUs.

use crate::units::Nanos;

/// Most CPUs of the lab's machine.
pub const MOST_CPUS: usize = 16;

/// How far one CPU of the lab may be ahead of another unless somebody says.
pub const DEFAULT_QUANTUM: Nanos = Nanos(1_000);
