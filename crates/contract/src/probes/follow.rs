//! A program of the user's own as the instrument: the cycles of one of its threads are the samples.

use super::info::{Extreme, ProbeForm, ProbeInfo};
use crate::quantity::Quantity;
use crate::spec_error::SpecError;
use crate::venue::Only;

/// Longest name of a program in a probe's word.
const LONGEST: usize = 48;

/// The row of such a program. It is in no list, because nobody can ask for it by its name: the program is what is asked for.
pub(super) static FOLLOW: ProbeInfo = ProbeInfo {
    name: "follow",
    form: ProbeForm::Program,
    about: "a program of your own: worstcase host follow",
    sample: Some("response: timer due, or woken, to the end of the cycle's work"),
    extreme: Extreme::Largest("Longest response"),
    only: Only::host("it follows a program that runs there"),
    quantities: |_| &Quantity::OF_CYCLES,
    // `worstcase explain` tells what was found while it was followed; nothing is read a second time.
    explained: &[],
    ..ProbeInfo::PERIODIC
};

/// Why nobody asks for it by its name.
pub(crate) fn refused(text: &str) -> SpecError {
    SpecError(format!(
        "probe '{text}' is a program of your own, and not measured by its name; worstcase host follow measures it"
    ))
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
            let why = word.parse::<Probe>().unwrap_err().0;
            assert!(why.contains("worstcase host follow measures it"), "{why}");
        }
        assert!(PROBES.iter().all(|info| !info.is_program() && info.name != FOLLOW.name));
        assert!(Probe::expand("follow").is_err());
    }
}
