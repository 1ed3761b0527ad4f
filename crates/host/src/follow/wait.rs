//! The wait that ends a cycle, as a user names it.

use std::str::FromStr;
use syscalls::Sysno;
use worstcase_base::near;
use worstcase_traces::follow::{CallKind, WantedWait};

/// Reads `CALL` or `CALL:ARG`: a system call's name, and its first argument.
pub fn wanted_wait(text: &str) -> Result<WantedWait, String> {
    let (name, argument) = match text.split_once(':') {
        Some((name, argument)) => (name, Some(number(argument)?)),
        None => (text, None),
    };
    let names = || Sysno::iter().map(|call| call.name());
    let call =
        Sysno::from_str(name).map_err(|()| near::unknown("system call", name, names(), "man 2 syscalls lists all"))?;
    if let (Some(argument), false) = (argument, CallKind::works_on_first(call.id() as u32)) {
        return Err(format!(
            "{name} waits for nothing that its first argument names: leave ':{argument}' out"
        ));
    }
    Ok(WantedWait {
        call: call.id() as u32,
        argument,
    })
}

fn number(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| {
        format!(
            "'{}' is no argument of a system call: a number such as 5 or 0x7f00",
            text.escape_debug()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_and_its_first_argument() {
        let wait = |text| wanted_wait(text).map(|wait| (wait.call, wait.argument));
        let id = |call: Sysno| call.id() as u32;
        assert_eq!(wait("clock_nanosleep"), Ok((id(Sysno::clock_nanosleep), None)));
        assert_eq!(wait("read:5"), Ok((id(Sysno::read), Some(5))));
        assert_eq!(wait("futex:0x7f00"), Ok((id(Sysno::futex), Some(0x7f00))));
        let error = wait("clock_nanosleeep").unwrap_err();
        assert!(error.contains("did you mean clock_nanosleep"), "{error}");
        let error = wait("nobody-has-this").unwrap_err();
        assert!(error.contains("man 2 syscalls"), "{error}");
        let error = wait("clock_nanosleep:1").unwrap_err();
        assert!(error.contains("leave ':1' out"), "{error}");
        assert!(wait("read:").is_err() && wait("read:five").is_err());
    }
}
