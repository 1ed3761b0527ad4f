//! For tests: CPUs are interrupted at random, as a busy host does. It may change nothing.

use super::{cpu, cpus, qemu};
use crate::scheduler::settings::settings;
use std::sync::Once;
use std::time::Duration;

/// Starts the thread that interrupts CPUs, if one is asked for, when first called. It inherits its signals from its creator,
/// so that must be the CPUs' thread, which takes none of QEMU's.
pub(crate) fn begin_kicks() {
    static BEGUN: Once = Once::new();
    if let Some(seed) = settings().kicks {
        BEGUN.call_once(|| {
            std::thread::spawn(move || kick(seed));
        });
    }
}

/// Interrupts a CPU, any one, about every 70 us, until QEMU ends.
fn kick(seed: u32) -> ! {
    let mut random = seed;
    loop {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        std::thread::sleep(Duration::from_micros(u64::from(20 + (random >> 8) % 100)));
        let target = cpu((random >> 20) as usize % cpus().max(1));
        if !target.is_null() {
            // SAFETY: a CPU that exists; any thread may ask it to look up.
            unsafe { (qemu().call.cpu_exit)(target) };
        }
    }
}
