//! Whether standard output was closed when the process began.
//!
//! Rust's runtime opens /dev/null in the place of a closed descriptor, before `main`: what is written there is lost, and nobody
//! is told. So this looks before the runtime does.

use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

#[used]
// SAFETY: the dynamic linker calls what stands in this section once, before `main`, with arguments that a function without
// any may ignore; `look` needs nothing of the runtime.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: F_GETFD only asks; a number that is not open gives an error.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    CLOSED.store(flags == -1, Ordering::Relaxed);
}

/// Whether it was: nothing that is printed arrives.
pub fn is_stdout_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}
