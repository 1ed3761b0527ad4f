//! Standard output: text for people, data for programs. (Files: `worstcase_base::output`.)

use serde::Serialize;
use std::env;
use std::io::{self, IsTerminal, Write};
use worstcase_base::closed::is_stdout_closed;
use worstcase_base::format::plain_lines;

/// Standard output went away or cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the output: {0}; check where it goes")]
pub struct OutputError(#[from] io::Error);

/// Writes text for people to standard output, whatever records, kernels and packages hold that it tells of; a reader that
/// went away (`| head`) is no error.
pub(crate) fn print(text: &str) -> Result<(), OutputError> {
    let text = plain_lines(text);
    match io::stdout().is_terminal() && !is_utf8() {
        true => print_data(&ascii(&text)),
        false => print_data(&text),
    }
}

/// Whether the locale says that the terminal shows more than ASCII.
pub(crate) fn is_utf8() -> bool {
    let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    locale.is_some_and(|name| {
        let name = name.to_lowercase();
        name.ends_with("utf-8") || name.ends_with("utf8")
    })
}

/// The same text for a terminal that shows ASCII alone, each character as wide as before.
fn ascii(text: &str) -> String {
    let one = |c: char| match c {
        '\0'..='\x7f' => c,
        '\u{2581}' | '\u{258f}' => '.',
        '\u{2580}'..='\u{259f}' => '#',
        '\u{2500}' => '-',
        '\u{250a}' => ':',
        '\u{2500}'..='\u{257f}' => '+',
        '\u{2192}' => '>',
        '\u{2013}' | '\u{2014}' => '-',
        '\u{2026}' | '\u{b7}' => '.',
        _ => '?',
    };
    text.chars().map(one).collect()
}

/// Writes what programs read, as it is.
pub(crate) fn print_data(text: &str) -> Result<(), OutputError> {
    if is_stdout_closed() {
        return Err(io::Error::other("it is closed").into());
    }
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Writes a value to standard output as JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), OutputError> {
    let json = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
    print_data(&format!("{json}\n"))
}

#[cfg(test)]
mod tests {
    use super::ascii;

    #[test]
    fn bars_and_arrows_have_ascii_of_their_width() {
        assert_eq!(
            ascii("0.001  \u{2588}\u{2588}\u{258f} a \u{2192} b \u{2026}"),
            "0.001  ##. a > b ."
        );
        assert_eq!(ascii("\x1b[1mplain\x1b[0m\n"), "\x1b[1mplain\x1b[0m\n");
    }
}
