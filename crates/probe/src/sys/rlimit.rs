//! Resource limits of this process.

use super::check;
use std::io;

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Open files of a process (RLIMIT_NOFILE).
    Files,
    /// Processes and threads of a user (RLIMIT_NPROC).
    Processes,
}

/// A limit; "no limit" is the largest number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What is in force.
    pub soft: u64,
    /// Up to where this process may raise it.
    pub hard: u64,
}

impl Resource {
    fn id(self) -> libc::__rlimit_resource_t {
        match self {
            Resource::Files => libc::RLIMIT_NOFILE,
            Resource::Processes => libc::RLIMIT_NPROC,
        }
    }

    /// Its limit.
    pub fn limit(self) -> io::Result<Limit> {
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: `limit` is a valid rlimit to fill.
        check(unsafe { libc::getrlimit(self.id(), &mut limit) })?;
        Ok(Limit {
            soft: limit.rlim_cur,
            hard: limit.rlim_max,
        })
    }

    fn set(self, limit: Limit) -> io::Result<()> {
        let limit = libc::rlimit {
            rlim_cur: limit.soft,
            rlim_max: limit.hard,
        };
        // SAFETY: `limit` is a valid rlimit.
        check(unsafe { libc::setrlimit(self.id(), &limit) })?;
        Ok(())
    }

    /// Raises the soft limit to `wanted` if it is below that, until the result is dropped.
    pub fn raise(self, wanted: u64) -> io::Result<Raised> {
        let before = self.limit()?;
        if before.soft < wanted {
            self.set(Limit { soft: wanted, ..before })?;
        }
        Ok(Raised { resource: self, before })
    }
}

/// A raised soft limit; dropping it lowers it again.
#[derive(Debug)]
pub struct Raised {
    resource: Resource,
    before: Limit,
}

impl Drop for Raised {
    fn drop(&mut self) {
        // Lowering a limit to what it was needs no right.
        let _ = self.resource.set(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raised_limit_is_lowered_again() {
        let before = Resource::Files.limit().unwrap();
        let hard = before.hard;
        let raised = Resource::Files.raise(hard).unwrap();
        assert_eq!(Resource::Files.limit().unwrap(), Limit { soft: hard, hard });
        drop(raised);
        assert_eq!(Resource::Files.limit().unwrap(), before);
    }
}
