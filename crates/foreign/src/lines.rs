//! The lines of a file as the tool wrote them: without what others put before and around them. Every reader of text goes
//! through here.

use super::prefix;

/// Lines of a file with their numbers, counted from 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct NumberedLines<'a>(pub(crate) Vec<(usize, &'a str)>);

impl<'a> NumberedLines<'a> {
    /// All lines of a text.
    pub(crate) fn of(text: &'a str) -> NumberedLines<'a> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let is_fence = |line: &str| line.trim_start().starts_with("```") || line.trim() == "~~~";
        let mut lines: Vec<&str> = text.lines().map(bare).collect();
        prefix::strip(&mut lines);
        if lines.iter().any(|line| is_fence(line)) {
            let unfenced = lines.iter_mut().filter(|line| is_fence(line));
            unfenced.for_each(|line| *line = "");
            prefix::strip(&mut lines);
        }
        NumberedLines((1..).zip(lines).collect())
    }

    /// Each with its number.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, &'a str)> + Clone + '_ {
        self.0.iter().copied()
    }

    /// Each without its number.
    pub(crate) fn texts(&self) -> impl DoubleEndedIterator<Item = &'a str> + Clone + '_ {
        self.0.iter().map(|(_, line)| *line)
    }

    /// Whether one contains these words.
    pub(crate) fn contain(&self, words: &str) -> bool {
        self.texts().any(|line| line.contains(words))
    }

    /// Whether the last line can be believed to be whole although nothing ends it: a number at its end may have been
    /// longer.
    pub(crate) fn ends_whole(&self) -> bool {
        let Some(last) = self.texts().next_back() else {
            return true;
        };
        let shape = |line: &str| {
            let mut words = line.split_whitespace();
            (words.next().map(str::to_string), words.count(), line.trim_end().len())
        };
        last.ends_with(|c: char| c.is_ascii_alphabetic() || ")|]}>%\"`".contains(c))
            || self.texts().rev().skip(1).any(|line| shape(line) == shape(last))
            || (last.contains("Act:") && last.rsplit_once("Max:").is_some_and(|(_, field)| field.len() >= WIDTH))
    }
}

/// Width to which rt-tests fill the last number of a thread's line with blanks.
const WIDTH: usize = 8;

/// A line without colours around it.
fn bare(mut line: &str) -> &str {
    line = line.trim_end_matches('\r');
    while let Some(length) = colour(line) {
        line = &line[length..];
    }
    while let Some(at) = line
        .rfind('\u{1b}')
        .filter(|at| colour(&line[*at..]) == Some(line.len() - at))
    {
        line = &line[..at];
    }
    line
}

/// Length of a colour, or of the deletion of a line, at the begin of a text.
fn colour(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("\u{1b}[")?;
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
    let rest = rest.strip_prefix(['m', 'K'])?;
    Some(text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_and_colours_and_carriage_returns_are_no_part_of_a_line() {
        for text in [
            "```text\nT: 0\nT: 1\n```\n",
            "    ```\n    T: 0\n    T: 1\n    ```\n",
            "\u{feff}T: 0\r\nT: 1\r\n",
            "\u{1b}[0K\u{1b}[32;1mT: 0\u{1b}[0;m\n\u{1b}[0KT: 1\n",
        ] {
            let lines = NumberedLines::of(text);
            let told: Vec<&str> = lines.texts().filter(|line| !line.is_empty()).collect();
            assert_eq!(told, ["T: 0", "T: 1"], "{text:?}");
        }
    }

    #[test]
    fn a_last_line_is_whole_if_no_number_can_go_on() {
        let whole = |text: &str| NumberedLines::of(text).ends_whole();
        assert!(whole("Duration: 2.0 (sec)") && whole("T: 0 Act: 1 Max:       1") && whole("max:   12\nmax:    3"));
        assert!(!whole("T: 0 Act: 1 Max:      1") && !whole("max:  12\nmax: 3") && !whole("a 1."));
    }
}
