//! The kernel's random generator: ready before the machine stops, as on a machine that has been up for a while.
//!
//! The CPU's random instruction fills it, which QEMU makes from its own fixed seed. A kernel or a CPU without it gets
//! constant bytes: whether the generator is ready decides which paths the kernel takes, its numbers do not.

use crate::GuestError;
use crate::image::read_text;
use std::fs::File;
use std::os::fd::AsRawFd;

/// `RNDADDENTROPY` of linux/random.h.
const ADD: libc::c_ulong = 0x4008_5203;
const BYTES: usize = 64;

/// `struct rand_pool_info` with its bytes.
#[repr(C)]
struct Pool {
    bits: libc::c_int,
    size: libc::c_int,
    bytes: [u8; BYTES],
}

/// Makes it ready unless the subject's boot parameters ask for a starved one; says which it is.
pub(crate) fn prepare() -> Result<&'static str, GuestError> {
    if !is_ready() && !starves(&read_text("/proc/cmdline")?) {
        fill()?;
    }
    Ok(if is_ready() { "ready" } else { "starved" })
}

fn is_ready() -> bool {
    let mut byte = 0_u8;
    // SAFETY: one byte is written to a variable of one byte.
    unsafe { libc::getrandom((&raw mut byte).cast(), 1, libc::GRND_NONBLOCK) == 1 }
}

/// As for the kernel, the last word counts.
fn starves(command_line: &str) -> bool {
    let words = command_line.split_ascii_whitespace();
    let last = words
        .filter_map(|word| word.strip_prefix("random.trust_cpu="))
        .next_back();
    matches!(last, Some("off" | "0" | "n" | "N"))
}

fn fill() -> Result<(), GuestError> {
    let device = File::options()
        .write(true)
        .open("/dev/random")
        .map_err(|e| GuestError::new(format!("/dev/random: {e}")))?;
    let pool = Pool {
        bits: 8 * BYTES as libc::c_int,
        size: BYTES as libc::c_int,
        bytes: [0xa5; BYTES],
    };
    // SAFETY: the request reads a header and as many bytes as it says, which the structure holds.
    if unsafe { libc::ioctl(device.as_raw_fd(), ADD as _, &raw const pool) } != 0 {
        return Err(GuestError::os("the kernel's random generator cannot be filled"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::starves;

    #[test]
    fn the_last_word_decides() {
        assert!(!starves("quiet random.trust_cpu=on"));
        assert!(starves("random.trust_cpu=on quiet random.trust_cpu=off\n"));
    }
}
