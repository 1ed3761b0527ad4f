//! Threads that cost as little as the system's own: the standard library gives each a second stack for overflows, and
//! takes it away when the thread ends.

use std::ffi::c_void;
use std::io;

/// What a thread does.
pub type Body<'a> = Box<dyn Fn() + Sync + 'a>;

/// Bytes of stack beyond the least that the system allows.
const STACK: usize = 4096;

extern "C" fn start(body: *mut c_void) -> *mut c_void {
    // SAFETY: `run_all` passes a body that outlives the thread.
    let body = unsafe { &*body.cast::<Body<'_>>() };
    body();
    core::ptr::null_mut()
}

/// Starts a thread of little stack for each of `bodies`, and returns when all have ended. `fail` is told if one cannot
/// be started, and has to end the process, as the others may never end; if it returns, the process is aborted.
pub(crate) fn run_all(bodies: &[Body<'_>], fail: impl Fn(io::Error)) {
    let threads: Vec<libc::pthread_t> = bodies
        .iter()
        .map(|body| {
            spawn(body).unwrap_or_else(|e| {
                fail(e);
                std::process::abort()
            })
        })
        .collect();
    for thread in threads {
        // SAFETY: the thread was started here, and nobody else joins it.
        unsafe { libc::pthread_join(thread, core::ptr::null_mut()) };
    }
}

/// The body must outlive the thread: `run_all` borrows it until it has joined.
fn spawn(body: &Body<'_>) -> io::Result<libc::pthread_t> {
    let ok = |error| match error {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    };
    let mut thread = 0;
    // SAFETY: `attributes` is initialised before it is used, and destroyed; `start` gets the pointer that it expects.
    unsafe {
        let least = libc::sysconf(libc::_SC_THREAD_STACK_MIN).max(libc::PTHREAD_STACK_MIN as libc::c_long);
        let mut attributes = core::mem::zeroed();
        ok(libc::pthread_attr_init(&mut attributes))?;
        let sized = ok(libc::pthread_attr_setstacksize(&mut attributes, least as usize + STACK));
        let body = core::ptr::from_ref(body).cast_mut().cast();
        let started = sized.and_then(|()| ok(libc::pthread_create(&mut thread, &attributes, start, body)));
        libc::pthread_attr_destroy(&mut attributes);
        started?;
    }
    Ok(thread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn all_have_run_when_it_returns() {
        let sum = AtomicU32::new(0);
        let sum = &sum;
        let add = |n| -> Body<'_> {
            Box::new(move || {
                sum.fetch_add(n, Ordering::Relaxed);
            })
        };
        run_all(&(1..=20).map(add).collect::<Vec<_>>(), |e| panic!("{e}"));
        assert_eq!(sum.load(Ordering::Relaxed), 210);
    }
}
