//! How often the calling thread gave up the CPU, or lost it.

/// Switches away from a thread since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// Because it waited.
    pub voluntary: u64,
    /// Because something else got the CPU.
    pub involuntary: u64,
}

/// Those of the calling thread (getrusage).
pub fn own_switches() -> Switches {
    // SAFETY: rusage holds integers only, for which all zeroes are valid.
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    // SAFETY: `usage` is a valid rusage to fill; RUSAGE_THREAD always exists.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
    Switches {
        voluntary: usage.ru_nvcsw as u64,
        involuntary: usage.ru_nivcsw as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn sleeping_is_giving_up_the_cpu() {
        let before = own_switches();
        std::thread::sleep(Duration::from_millis(1));
        assert!(own_switches().voluntary > before.voluntary);
    }
}
