//! What the controller must know of a booted subject before it measures on it.
//!
//! `WCREADY` and then `key=value` lines, closed by an empty line:
//! the environment (see `worstcase_instruments::environment`), `random` (see `random`), `scheduler` (the one that was loaded), `not_understood` (boot
//! parameters), `timer_entry`, where the local timer's interrupt enters the kernel.
//! Where all interrupts enter it by one place, that is the timer's handler, and `vectors` is where they do.
//!

use crate::GuestError;
use crate::image::read_text;
use crate::policy::Policy;
use crate::ports::{TIMER_ENTRY, VECTORS};
use std::fmt::Write;

/// The ready message; `random` is how the random generator is.
pub(crate) fn message(random: &str, policy: Option<&Policy>) -> Result<String, GuestError> {
    let mut text = String::from("WCREADY\n");
    for (key, value) in worstcase_instruments::environment::read() {
        writeln!(text, "{key}={value}").expect("writing to a string");
    }
    writeln!(text, "random={random}").expect("writing to a string");
    if let Some(policy) = policy {
        writeln!(text, "scheduler={}", policy.name).expect("writing to a string");
    }
    writeln!(
        text,
        "cpus_online={}",
        read_text("/sys/devices/system/cpu/online")?.trim()
    )
    .expect("writing to a string");
    writeln!(text, "not_understood={}", not_understood()).expect("writing to a string");
    let symbols = read_text("/proc/kallsyms")?;
    writeln!(text, "timer_entry={}", symbol(&symbols, TIMER_ENTRY)?).expect("writing to a string");
    if let Some(vectors) = VECTORS {
        writeln!(text, "vectors={}", symbol(&symbols, vectors)?).expect("writing to a string");
    }
    text.push('\n');
    Ok(text)
}

/// Boot parameters that the kernel does not know: it hands them to its first process, as arguments and as environment.
/// Those with a dot are a module's; nobody tells of them.
fn not_understood() -> String {
    let pairs = std::env::vars_os().map(|(name, value)| format!("{}={}", name.display(), value.display()));
    let words = std::env::args_os().skip(1).map(|word| word.display().to_string());
    words.chain(pairs).collect::<Vec<_>>().join(" ")
}

/// The address of a kernel symbol, in hexadecimal.
fn symbol(symbols: &str, name: &str) -> Result<String, GuestError> {
    symbols
        .lines()
        .find_map(|line| {
            let mut words = line.split_whitespace();
            let (address, _kind, symbol) = (words.next()?, words.next()?, words.next()?);
            (symbol == name).then(|| format!("0x{address}"))
        })
        .ok_or_else(|| {
            GuestError::new(format!(
                "the kernel has no symbol {name}: too old (before 5.8) or another architecture"
            ))
        })
}
