//! A program of the user's own as the instrument: the cycles of one of its threads are the samples.

use super::info::{Extreme, ProbeForm, ProbeInfo};
use crate::quantity::Quantity;
use crate::spec_error::SpecError;
use std::fmt;
use worstcase_logs::Nanos;

/// Longest name of a program in a probe's word.
const LONGEST: usize = 48;

/// The row of such a program. It is in no list, because nobody can ask for it by its name: the program is what is asked for.
pub(crate) static FOLLOW: ProbeInfo = ProbeInfo {
    name: "follow",
    form: ProbeForm::Program,
    about: "a program of your own: worstcase host follow, worstcase lab run --program",
    sample: Some("response: timer due, or woken, to the end of the cycle's work"),
    extreme: Extreme::Largest("Longest response"),
    quantities: |_| &Quantity::OF_CYCLES,
    // In the lab it runs for so many of these.
    period: |_, _| Nanos::from_millis(1),
    // `worstcase explain` tells what was found while it was followed; nothing is read a second time.
    explained: &[],
    ..ProbeInfo::PERIODIC
};

/// Why nobody asks for it by its name.
pub(crate) fn refused(text: &str) -> SpecError {
    SpecError(format!(
        "probe '{text}' is a program of your own, and not measured by its name; worstcase host follow measures it, and in the \
         lab --program PATH"
    ))
}

/// The name of a program's file in a probe's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProgramName([u8; LONGEST]);

impl ProgramName {
    /// Reads what stands behind `follow:`.
    pub(crate) fn parse(name: &str) -> Option<ProgramName> {
        let mut bytes = [0; LONGEST];
        bytes.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
        (!name.is_empty() && name.chars().all(is_plain)).then_some(ProgramName(bytes))
    }
}

impl fmt::Display for ProgramName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(LONGEST);
        f.write_str(&String::from_utf8_lossy(&self.0[..end]))
    }
}

/// A word's own signs, and what a file's name cannot have, are replaced.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-".contains(c)
}

impl ProbeInfo {
    /// The word for a program by the name of its file, and for its thread, if that is called otherwise: `follow:motion.servo`.
    pub fn word_of_program(program: &str, thread: &str) -> String {
        let named = match thread.is_empty() || program.starts_with(thread) {
            true => program.to_string(),
            false => format!("{program}.{thread}"),
        };
        // A word's own signs, and what a file's name cannot have.
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '-'
            }
        };
        let name: String = named.chars().take(LONGEST).map(plain).collect();
        format!("{}:{name}", FOLLOW.name)
    }

    /// Whether it is a program of the user's own.
    pub fn is_program(&self) -> bool {
        matches!(self.form, ProbeForm::Program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::{PROBES, Probe};
    use crate::venue::Venue;

    #[test]
    fn a_program_is_told_by_its_name_and_cannot_be_asked_for_by_it() {
        for (program, thread, word) in [
            ("motion", "motion", "follow:motion"),
            ("motion", "", "follow:motion"),
            // The kernel keeps 15 bytes of a name.
            ("a-rather-long-name", "a-rather-long-n", "follow:a-rather-long-name"),
            ("motion", "servo", "follow:motion.servo"),
            ("my app", "a/b+c:d", "follow:my-app.a-b-c-d"),
        ] {
            assert_eq!(ProbeInfo::word_of_program(program, thread), word);
            assert!(ProbeInfo::of_word(word).unwrap().is_program());
            let probe: Probe = word.parse().unwrap();
            assert_eq!((probe.to_string().as_str(), probe.name()), (word, "follow"));
            assert!(probe.info().is_program() && !probe.is_real_time());
            assert_eq!(probe.check_venue(Venue::Lab), Ok(()));
            let why = probe.check_venue(Venue::Host).unwrap_err().0;
            assert!(why.contains("worstcase host follow measures it"), "{why}");
        }
        assert!(PROBES.iter().all(|info| !info.is_program() && info.name != FOLLOW.name));
        for text in ["follow", "follow:", "follow:a b", "follow:a+b"] {
            assert!(Probe::expand(text).is_err(), "{text}");
        }
    }
}
