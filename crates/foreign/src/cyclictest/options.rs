//! The facts about cyclictest's threads from its command line. Options are taken as getopt takes them.

use worstcase_contract::Nanos;

/// Short options with an argument.
const WITH_ARGUMENT: &str = "AbcdDFhHilop";
/// Short options that may have one, which then follows at once.
const MAYBE_ARGUMENT: &str = "at";
/// cyclictest's own.
const INTERVAL_US: u64 = 1_000;
const DISTANCE_US: u64 = 500;

/// The options of a command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CyclictestOptions {
    interval_us: Option<u64>,
    distance_us: Option<u64>,
    priority: Option<u8>,
    /// All threads have one priority.
    alike: bool,
    /// First value in us, or ns, that is in no bin.
    pub(crate) histogram: Option<u64>,
}

impl CyclictestOptions {
    /// Reads a command line, the program's name first.
    pub(crate) fn of(command: &str) -> CyclictestOptions {
        let mut options = CyclictestOptions {
            interval_us: Some(INTERVAL_US),
            distance_us: None,
            priority: None,
            alike: false,
            histogram: None,
        };
        let mut words = command.split_whitespace().skip(1);
        while let Some(word) = words.next() {
            if let Some(long) = word.strip_prefix("--") {
                let (name, value) = long.split_once('=').unwrap_or((long, ""));
                options.take_long(name, value);
            } else if let Some(letters) = word.strip_prefix('-') {
                options.take_letters(letters, &mut words);
            }
        }
        options
    }

    fn take_letters<'a>(&mut self, letters: &'a str, words: &mut impl Iterator<Item = &'a str>) {
        for (at, letter) in letters.char_indices() {
            let rest = &letters[at + letter.len_utf8()..];
            if WITH_ARGUMENT.contains(letter) {
                let value = if rest.is_empty() {
                    words.next().unwrap_or("")
                } else {
                    rest
                };
                return self.take(letter, value);
            }
            if MAYBE_ARGUMENT.contains(letter) {
                return;
            }
            self.take(letter, "");
        }
    }

    fn take_long(&mut self, name: &str, value: &str) {
        let letter = match name {
            "interval" => 'i',
            "distance" => 'd',
            "priority" => 'p',
            "histogram" => 'h',
            "histofall" => 'H',
            "smp" => 'S',
            _ => return,
        };
        self.take(letter, value);
    }

    fn take(&mut self, letter: char, value: &str) {
        match letter {
            // A value that cannot be read is unknown, not the usual one.
            'i' => self.interval_us = value.parse().ok(),
            'd' => self.distance_us = value.parse().ok(),
            'p' => self.priority = value.parse().ok().filter(|n| *n > 0),
            'h' | 'H' => (self.histogram, self.alike) = (value.parse().ok(), true),
            'S' => self.alike = true,
            _ => {}
        }
    }

    /// The interval of a thread: each is a distance longer than the one before, but with a histogram.
    pub(crate) fn interval(&self, thread: u32) -> Option<Nanos> {
        let distance = match self.histogram {
            Some(_) => 0,
            None => self.distance_us.unwrap_or(DISTANCE_US),
        };
        let us = self.interval_us?.checked_add(distance.checked_mul(thread.into())?)?;
        us.checked_mul(1_000).map(Nanos)
    }

    /// The priority of a thread; they differ unless all are alike.
    pub(crate) fn priority(&self, thread: u32) -> Option<u8> {
        self.priority.filter(|_| self.alike || thread == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_taken_as_getopt_takes_them() {
        for command in [
            "cyclictest -mSp90 -i200 -h 400 -q",
            "/usr/bin/cyclictest --priority=90 -S -i 200 --histogram=400",
            "cyclictest -a -t -m -p 90 -i 200 -h400",
        ] {
            let options = CyclictestOptions::of(command);
            assert_eq!(options.interval(1), Some(Nanos(200_000)), "{command}");
            assert_eq!((options.priority(1), options.histogram), (Some(90), Some(400)));
        }
    }

    #[test]
    fn threads_differ_unless_they_are_told_not_to() {
        let options = CyclictestOptions::of("cyclictest -p 80 -t 3");
        assert_eq!(options.interval(0), Some(Nanos(1_000_000)));
        assert_eq!(options.interval(2), Some(Nanos(2_000_000)));
        assert_eq!((options.priority(0), options.priority(1)), (Some(80), None));
        assert_eq!(
            CyclictestOptions::of("cyclictest -d 0").interval(2),
            Some(Nanos(1_000_000))
        );
        assert_eq!(CyclictestOptions::of("cyclictest -i x").interval(0), None);
    }
}
