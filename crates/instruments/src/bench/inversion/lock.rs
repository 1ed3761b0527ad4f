//! A mutex that says whether it is owned.

use crate::sys::mutex::{Mutex, Owned};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// A mutex, and whether somebody says that they own it.
#[derive(Debug)]
pub(super) struct Lock {
    mutex: Mutex,
    owned: AtomicBool,
}

impl Lock {
    /// Nobody owns it yet.
    pub fn new(mutex: Mutex) -> Lock {
        Lock {
            mutex,
            owned: AtomicBool::new(false),
        }
    }

    /// Waits until the calling thread owns it.
    #[inline(always)]
    pub fn take(&self) -> io::Result<Held<'_>> {
        let owned = self.mutex.lock()?;
        self.owned.store(true, Ordering::Release);
        Ok(Held {
            says: &self.owned,
            _owned: owned,
        })
    }

    /// Whether somebody owns it.
    pub(crate) fn is_owned(&self) -> bool {
        self.owned.load(Ordering::Acquire)
    }
}

/// An owned [`Lock`].
pub(super) struct Held<'a> {
    says: &'a AtomicBool,
    _owned: Owned<'a>,
}

impl Drop for Held<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.says.store(false, Ordering::Release);
    }
}
