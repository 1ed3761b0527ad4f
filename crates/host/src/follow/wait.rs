//! What ends a cycle, as a user names it.

use std::str::FromStr;
use syscalls::Sysno;
use worstcase_base::near;
use worstcase_traces::follow::{CallKind, WantedWait};

/// Before a function, and before a line.
const FUNCTION: &str = "uprobe:";
const LINE: &str = "marker:";

/// Reads `CALL` or `CALL:ARG`, a system call's name and its first argument; `uprobe:FILE:FUNCTION`; or `marker:TEXT`.
pub fn wanted_wait(text: &str) -> Result<WantedWait, String> {
    if let Some(function) = text.strip_prefix(FUNCTION) {
        return match function.split_once(':') {
            Some((file, name)) if !file.is_empty() && !name.is_empty() => Ok(WantedWait::Function {
                file: file.into(),
                name: name.into(),
            }),
            _ => Err("a program or library and a function of it are missing, as in uprobe:./motion:step".into()),
        };
    }
    match text.strip_prefix(LINE) {
        Some(begins) if begins.trim().is_empty() || begins.contains('\n') => {
            Err("the beginning of a line is missing, as in marker:cycle".into())
        }
        Some(begins) => Ok(WantedWait::Line(begins.into())),
        None => call(text),
    }
}

fn call(text: &str) -> Result<WantedWait, String> {
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
    Ok(WantedWait::Call {
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
        let wait = |text| match wanted_wait(text)? {
            WantedWait::Call { call, argument } => Ok((call, argument)),
            other => Err(format!("{other:?}")),
        };
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

    #[test]
    fn a_mark_is_a_function_of_a_file_or_the_beginning_of_a_line() {
        for text in [
            "uprobe:./motion:step",
            "uprobe:/lib/a b.so:ctl::step",
            "marker:cycle begins",
        ] {
            assert_eq!(wanted_wait(text).unwrap().to_string(), text);
        }
        for (text, why) in [
            ("uprobe:", "uprobe:./motion:step"),
            ("uprobe:./motion", "uprobe:./motion:step"),
            ("uprobe:./motion:", "uprobe:./motion:step"),
            ("uprobe::step", "uprobe:./motion:step"),
            ("marker:", "marker:cycle"),
            ("marker: ", "marker:cycle"),
        ] {
            let error = wanted_wait(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
