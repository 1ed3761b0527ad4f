//! The C library's mutex, with what it does about the priority of its owner.

use std::cell::UnsafeCell;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// What a mutex does about the priority of its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerPriority {
    /// Nothing (PTHREAD_PRIO_NONE).
    Own,
    /// The owner runs at the highest priority of those that wait for it (PTHREAD_PRIO_INHERIT).
    Inherited,
    /// The owner runs at this priority (PTHREAD_PRIO_PROTECT).
    Ceiling(u8),
}

unsafe extern "C" {
    /// Of POSIX, in <pthread.h>; the libc crate does not declare it.
    safe fn pthread_mutexattr_setprioceiling(attr: &mut libc::pthread_mutexattr_t, ceiling: libc::c_int)
    -> libc::c_int;
}

/// The answer of a call that returns its error.
fn answer(error: libc::c_int) -> io::Result<()> {
    match error {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// A mutex of the default kind, between the threads of this process.
pub struct Mutex(Box<UnsafeCell<libc::pthread_mutex_t>>);

// SAFETY: a mutex is there to be used by several threads at once; it is reached by the library's functions only.
unsafe impl Send for Mutex {}
// SAFETY: as above.
unsafe impl Sync for Mutex {}

/// Owned by the thread that holds this, which cannot go to another one.
pub struct Owned<'a> {
    mutex: &'a Mutex,
    of_this_thread: PhantomData<*const ()>,
}

impl Mutex {
    /// Makes one. Fails with ENOTSUP where the kernel cannot do it.
    pub fn new(owner: OwnerPriority) -> io::Result<Mutex> {
        let mut attr = MaybeUninit::uninit();
        // SAFETY: `attr` is valid to fill.
        answer(unsafe { libc::pthread_mutexattr_init(attr.as_mut_ptr()) })?;
        // SAFETY: filled by the call above, which succeeded.
        let mut attr = unsafe { attr.assume_init() };
        let made = Self::with(&mut attr, owner);
        // SAFETY: initialised above, not used again.
        unsafe { libc::pthread_mutexattr_destroy(&mut attr) };
        made
    }

    fn with(attr: &mut libc::pthread_mutexattr_t, owner: OwnerPriority) -> io::Result<Mutex> {
        let protocol = match owner {
            OwnerPriority::Own => libc::PTHREAD_PRIO_NONE,
            OwnerPriority::Inherited => libc::PTHREAD_PRIO_INHERIT,
            OwnerPriority::Ceiling(_) => libc::PTHREAD_PRIO_PROTECT,
        };
        // SAFETY: `attr` is an initialised attribute object.
        answer(unsafe { libc::pthread_mutexattr_setprotocol(attr, protocol) })?;
        if let OwnerPriority::Ceiling(ceiling) = owner {
            answer(pthread_mutexattr_setprioceiling(attr, ceiling.into()))?;
        }
        let mutex = Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
        // SAFETY: the mutex is at its final address and nobody knows it yet; `attr` is initialised.
        answer(unsafe { libc::pthread_mutex_init(mutex.get(), attr) })?;
        Ok(Mutex(mutex))
    }

    /// Waits until the calling thread owns it.
    #[inline(always)]
    pub fn lock(&self) -> io::Result<Owned<'_>> {
        // SAFETY: the mutex is initialised and lives as long as the borrow.
        answer(unsafe { libc::pthread_mutex_lock(self.0.get()) })?;
        Ok(Owned {
            mutex: self,
            of_this_thread: PhantomData,
        })
    }
}

impl Drop for Owned<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the mutex lives; the calling thread locked it, and unlocks it once.
        unsafe { libc::pthread_mutex_unlock(self.mutex.0.get()) };
    }
}

impl Drop for Mutex {
    fn drop(&mut self) {
        // SAFETY: no borrow is left, so nobody owns it or waits for it.
        unsafe { libc::pthread_mutex_destroy(self.0.get()) };
    }
}

impl fmt::Debug for Mutex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mutex")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        for owner in [OwnerPriority::Own, OwnerPriority::Inherited] {
            let mutex = Mutex::new(owner).unwrap();
            let count = std::sync::atomic::AtomicU32::new(0);
            let add = || {
                for _ in 0..1_000 {
                    let owned = mutex.lock().unwrap();
                    let before = count.load(std::sync::atomic::Ordering::Relaxed);
                    count.store(before + 1, std::sync::atomic::Ordering::Relaxed);
                    drop(owned);
                }
            };
            std::thread::scope(|scope| {
                scope.spawn(add);
                scope.spawn(add);
            });
            assert_eq!(count.into_inner(), 2_000, "{owner:?}");
        }
    }

    #[test]
    fn no_such_ceiling() {
        let error = Mutex::new(OwnerPriority::Ceiling(0)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
    }
}
