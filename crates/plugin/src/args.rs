//! The plugin's arguments: `-plugin libworstcase_plugin.so,log=PATH,timer_entry=0xADDRESS`, all optional.

use std::path::PathBuf;

/// What QEMU's command line asks of the plugin.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Args {
    /// `log=PATH`: where the event log goes; without it nothing is logged.
    pub log: Option<PathBuf>,
    /// `timer_entry=0xADDRESS`: the first instruction of the guest's timer interrupt.
    pub timer_entry: Option<u64>,
}

/// An argument that cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgError {
    /// Not an argument of this plugin.
    #[error("unknown argument '{0}' (known: log=PATH, timer_entry=0xADDRESS)")]
    Unknown(String),
    /// The same argument again.
    #[error("argument '{0}' is given twice")]
    Twice(&'static str),
    /// `log=` without a path.
    #[error("log= needs a path")]
    EmptyPath,
    /// Not an address.
    #[error("timer_entry= needs a hexadecimal address such as 0xffffffff81a00ec0, not '{0}'")]
    BadAddress(String),
}

/// Reads the arguments as QEMU hands them over, `name=value` each.
pub fn parse<S: AsRef<str>>(arguments: &[S]) -> Result<Args, ArgError> {
    let mut args = Args::default();
    for argument in arguments {
        let argument = argument.as_ref();
        match argument.split_once('=') {
            Some(("log", "")) => return Err(ArgError::EmptyPath),
            Some(("log", path)) => set(&mut args.log, "log", path.into())?,
            Some(("timer_entry", value)) => set(&mut args.timer_entry, "timer_entry", address(value)?)?,
            _ => return Err(ArgError::Unknown(argument.to_owned())),
        }
    }
    Ok(args)
}

fn set<T>(slot: &mut Option<T>, name: &'static str, value: T) -> Result<(), ArgError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(ArgError::Twice(name)),
    }
}

fn address(value: &str) -> Result<u64, ArgError> {
    value
        .strip_prefix("0x")
        .filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .ok_or_else(|| ArgError::BadAddress(value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_arguments_are_optional() {
        assert_eq!(parse::<&str>(&[]), Ok(Args::default()));
        assert_eq!(
            parse(&["timer_entry=0xffffffff81a00ec0", "log=/tmp/a=b"]),
            Ok(Args {
                log: Some("/tmp/a=b".into()),
                timer_entry: Some(0xffff_ffff_81a0_0ec0)
            })
        );
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        for bad in ["12", "0x", "0xfg", "0x+1", "0x1ffffffffffffffff", ""] {
            assert_eq!(
                parse(&[format!("timer_entry={bad}")]),
                Err(ArgError::BadAddress(bad.into()))
            );
        }
        assert_eq!(parse(&["log="]), Err(ArgError::EmptyPath));
        assert_eq!(parse(&["log=a", "log=b"]), Err(ArgError::Twice("log")));
        assert_eq!(parse(&["logs=a"]), Err(ArgError::Unknown("logs=a".into())));
        assert_eq!(parse(&["log"]), Err(ArgError::Unknown("log".into())));
    }
}
