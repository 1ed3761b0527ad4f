//! Where the machine stops: the stop points for snapshots, and the end.

use crate::GuestError;
use crate::ports::{self, StopRegister};
use std::fs::File;
use worstcase_instruments::sys::memory::{Mapping, page_size};
use worstcase_logs::Nanos;

/// Where QEMU's pvpanic device is mapped: a byte 1 there pauses the machine when QEMU runs with `-action panic=pause`.
const DEVICE: &str = "/sys/bus/pci/devices/0000:00:05.0";

/// Boot work goes on after init starts ("refined TSC" switches the clock at about 1.7 s): measured quiet from here on.
const SETTLED: Nanos = Nanos::from_millis(4_500);

/// Sleeps until the machine has been up long enough for boot work to be over; idle time costs the host nothing.
pub(crate) fn settle() {
    let up = worstcase_instruments::sys::clock::monotonic();
    std::thread::sleep(std::time::Duration::from_nanos(SETTLED.saturating_sub(up).0));
}

/// Stops the machine; returns after a fork of the snapshot has been resumed, with the time that the guest saw pass.
///
/// A snapshot whose clock jumped at the pause shows a gap of hundreds of us instead of about one; the controller rejects it.
/// Of several CPUs the one that stops may be ahead of the common time by part of its turn, so less time may have passed than
/// none.
///
/// On a machine that is never quiet (`busy`) it waits for a moment at which the kernel has just done the longest work that
/// comes again and again: the next is not due at once, and the clock that is read around the stop shows the stop alone.
pub(crate) fn wait_for_resume(busy: bool) -> Result<Nanos, GuestError> {
    std::fs::write(format!("{DEVICE}/enable"), "1").map_err(says)?;
    let registers = registers()?;
    if busy {
        wait_for_a_pause();
    }
    let before = ports::counter();
    registers.write_stop(1);
    Ok(Nanos(ports::counter().abs_diff(before)))
}

/// Stops the machine again, when its load is warm; returns after a fork of that snapshot has been resumed.
pub(crate) fn stop_when_warm() -> Result<(), GuestError> {
    registers()?.write_stop(1);
    Ok(())
}

/// The device's, which is enabled.
fn registers() -> Result<StopRegister, GuestError> {
    let registers = File::options()
        .read(true)
        .write(true)
        .open(format!("{DEVICE}/resource0"));
    let registers = Mapping::of_file(&registers.map_err(says)?, 0, page_size()).map_err(says)?;
    ports::stop_register(registers, DEVICE).map_err(says)
}

fn says(e: std::io::Error) -> GuestError {
    GuestError::new(format!("the device that stops the machine, {DEVICE}: {e}"))
}

/// How long is looked for the longest interruption, in ns, and how long for another one like it.
const LOOKED: u64 = 20_000_000;
const LOOKED_AGAIN: u64 = 200_000_000;

/// Returns right behind an interruption that is at least half as long as the longest that was seen.
fn wait_for_a_pause() {
    let (begin, mut last, mut longest) = (ports::counter(), ports::counter(), 0);
    loop {
        let now = ports::counter();
        let gap = now - last;
        if now - begin < LOOKED {
            longest = longest.max(gap);
        } else if gap >= longest / 2 || now - begin > LOOKED + LOOKED_AGAIN {
            return;
        }
        last = now;
    }
}

/// Powers the machine off. PID 1 must not return.
pub(crate) fn power_off() -> ! {
    // SAFETY: the documented way to power off; nothing in this guest is worth saving.
    unsafe {
        libc::reboot(libc::LINUX_REBOOT_CMD_POWER_OFF);
    }
    loop {
        std::thread::park();
    }
}
