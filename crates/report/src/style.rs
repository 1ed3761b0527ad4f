//! The look of text on a terminal, and its greatest width.

use std::io::IsTerminal;
use worstcase_base::format::plain;
use worstcase_results::claims::ClaimVerdict;
use worstcase_results::verdict::Outcome;

/// Widest line of a table.
pub(crate) const WIDTH: usize = 120;
/// Widest line of sentences.
const TEXT_WIDTH: usize = 116;

/// The look of text.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    colour: bool,
}

impl Style {
    /// Plain text without colour.
    pub const PLAIN: Style = Style { colour: false };

    /// Colour on a terminal, unless `NO_COLOR` is set (no-color.org) or the terminal is `dumb`.
    pub fn of_stdout() -> Style {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|v| v == "dumb");
        Style {
            colour: std::io::stdout().is_terminal() && !refused && !dumb,
        }
    }

    fn paint(self, code: &str, text: &str) -> String {
        match self.colour {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_string(),
        }
    }

    /// A heading.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// A verdict's word, told apart without colour too.
    pub(crate) fn outcome(self, outcome: Outcome) -> String {
        let code = match outcome {
            Outcome::Pass => "32",
            Outcome::Inconclusive => "33",
            Outcome::Fail => "1;31",
        };
        self.paint(code, &format!("{outcome:<12}"))
    }

    /// Whether a claim holds, in words.
    pub(crate) fn claim(self, verdict: ClaimVerdict, width: usize) -> String {
        let code = match verdict {
            ClaimVerdict::Holds | ClaimVerdict::HoldsInPart => "32",
            ClaimVerdict::NotTold | ClaimVerdict::NotAsked => "33",
            ClaimVerdict::DoesNotHold => "1;31",
        };
        self.paint(code, &format!("{verdict:<width$}"))
    }
}

/// The width of a table: at most `most`, and no wider than the terminal.
pub(crate) fn width(most: usize) -> usize {
    columns().map_or(most, |columns| columns.clamp(LEAST, most))
}

/// A narrower terminal breaks lines by itself.
const LEAST: usize = 40;

/// The width of the terminal that standard output goes to.
fn columns() -> Option<usize> {
    let out = std::io::stdout();
    let size = out.is_terminal().then(|| rustix::termios::tcgetwinsize(out).ok())??;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

/// Text with its long lines broken between words, if it goes to a terminal.
pub fn fitted(text: &str) -> String {
    match columns() {
        Some(columns) => fitted_to(text, columns.max(LEAST)),
        None => text.to_string(),
    }
}

fn fitted_to(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        // Colours take no room; aligned text belongs to a table.
        if seen(line.trim_end()) <= width || bare.contains("  ") {
            out.push_str(line);
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let mut used = indent;
        out.push_str(&line[..indent]);
        for (nth, word) in bare.split(' ').enumerate() {
            if nth > 0 && used + 1 + seen(word) > width {
                used = indent + 2;
                out.push_str(&format!("\n{:used$}", ""));
            } else if nth > 0 {
                used += 1;
                out.push(' ');
            }
            used += seen(word);
            out.push_str(word);
        }
        out.push_str(if line.ends_with('\n') { "\n" } else { "" });
    }
    out
}

/// Characters that are seen: all but escape sequences that colour.
fn seen(text: &str) -> usize {
    let mut escaped = false;
    let is_seen = |c: char| match (escaped, c) {
        (true, _) => {
            escaped = c != 'm';
            false
        }
        (false, '\x1b') => {
            escaped = true;
            false
        }
        _ => true,
    };
    text.chars().map(is_seen).filter(|seen| *seen).count()
}

/// The title of a group of columns, cut.
pub(crate) fn shortened(title: &str) -> String {
    within(title, 28)
}

/// At most so many characters; the last says that there are more.
pub(crate) fn within(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_string(),
    }
}

/// A line that is not wider than a terminal.
pub(crate) fn cut(line: &str) -> String {
    within(line.trim_end(), TEXT_WIDTH)
}

/// Text in lines, the further ones under the first word of the first.
pub fn wrapped(lead: &str, text: &str) -> Vec<String> {
    let indent = lead.chars().count();
    let mut lines = vec![lead.to_string()];
    for word in plain(text).split(' ') {
        let line = lines.last_mut().expect("there is one");
        if line.chars().count() + word.chars().count() > TEXT_WIDTH && line.chars().count() > indent {
            lines.push(format!("{}{word} ", " ".repeat(indent)));
        } else {
            line.push_str(word);
            line.push(' ');
        }
    }
    lines
        .iter()
        .map(|l| l.trim_end().to_string())
        .filter(|l| !l.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        let text = "\x1b[1mshort\x1b[0m\n  Missed: 3 of 1 000 periods, in 6.1.0-56-amd64.none.idle.s1 (3).\na  table  that is wider than all of it\n";
        let fitted = fitted_to(text, 34);
        assert_eq!(
            fitted,
            "\x1b[1mshort\x1b[0m\n  Missed: 3 of 1 000 periods, in\n    6.1.0-56-amd64.none.idle.s1\n    (3).\na  table  that is wider than all of it\n"
        );
        assert_eq!(fitted_to(text, 200), text);
        assert_eq!(seen("\x1b[1;31mFAIL\x1b[0m"), 4);
    }
}
