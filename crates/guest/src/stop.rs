//! Where the machine stops: the stop point for the snapshot, and the end.

use crate::ports;
use worstcase_probe::Nanos;

/// QEMU's pvpanic port: writing 1 pauses the machine when QEMU runs with `-action panic=pause`.
const STOP_PORT: u16 = 0x505;

/// Boot work goes on after init starts ("refined TSC" switches the clock at about 1.7 s): measured quiet from here on.
const SETTLED: Nanos = Nanos::from_millis(4_500);

/// Sleeps until the machine has been up long enough for boot work to be over; idle time costs the host nothing.
pub fn settle() {
    let up = worstcase_probe::sys::clock::monotonic();
    std::thread::sleep(std::time::Duration::from_nanos(SETTLED.saturating_sub(up).0));
}

/// Stops the machine; returns after a fork of the snapshot has been resumed, with the time that the guest saw pass.
///
/// A snapshot whose clock jumped at the pause shows a gap of hundreds of us instead of about one; the desk rejects it.
pub fn wait_for_resume() -> Nanos {
    let before = ports::tsc();
    ports::out8(STOP_PORT, 1);
    Nanos(ports::tsc() - before)
}

/// Powers the machine off. PID 1 must not return.
pub fn power_off() -> ! {
    // SAFETY: the documented way to power off; nothing in this guest is worth saving.
    unsafe {
        libc::reboot(libc::LINUX_REBOOT_CMD_POWER_OFF);
    }
    loop {
        std::thread::park();
    }
}
