//! Resource limits of this process (getrlimit).

use super::check;
use std::io;

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Open files of this process.
    Files,
    /// Processes and threads of this process' user.
    Tasks,
}

/// A limit; `u64::MAX` is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What is in force.
    pub soft: u64,
    /// What the soft limit may be raised to.
    pub hard: u64,
}

fn number(resource: Resource) -> libc::__rlimit_resource_t {
    match resource {
        Resource::Files => libc::RLIMIT_NOFILE,
        Resource::Tasks => libc::RLIMIT_NPROC,
    }
}

/// The limit now.
pub fn get(resource: Resource) -> io::Result<Limit> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid rlimit to fill.
    check(unsafe { libc::getrlimit(number(resource), &mut limit) })?;
    Ok(Limit {
        soft: limit.rlim_cur,
        hard: limit.rlim_max,
    })
}

fn set(resource: Resource, to: Limit) -> io::Result<()> {
    let limit = libc::rlimit {
        rlim_cur: to.soft,
        rlim_max: to.hard,
    };
    // SAFETY: `limit` is a valid rlimit.
    check(unsafe { libc::setrlimit(number(resource), &limit) })?;
    Ok(())
}

/// A soft limit that is put back when dropped.
#[derive(Debug)]
pub struct Raised {
    resource: Resource,
    before: Limit,
}

impl Raised {
    /// Raises the soft limit to at least `to`.
    pub fn to(resource: Resource, to: u64) -> io::Result<Raised> {
        let before = get(resource)?;
        if before.soft < to {
            set(resource, Limit { soft: to, ..before })?;
        }
        Ok(Raised { resource, before })
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        // Lowering to what it was is always allowed.
        let _ = set(self.resource, self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raised_limit_comes_back() {
        let before = get(Resource::Files).unwrap();
        let wanted = before.hard.min(before.soft + 1);
        let raised = Raised::to(Resource::Files, wanted).unwrap();
        assert_eq!(get(Resource::Files).unwrap().soft, wanted.max(before.soft));
        drop(raised);
        assert_eq!(get(Resource::Files).unwrap(), before);
    }
}
