//! Numbers and foreign text, ready to be shown.

use crate::digest::sha256_hex;
use worstcase_logs::Nanos;

/// Microseconds with three significant digits: `0.116`, `4.71`, `83.7`, `217`, `15402`.
pub fn micros(value: Nanos) -> String {
    // Compared after rounding, or 9.999 would become 10.00.
    match value.0 {
        0 => "0".to_string(),
        1..1_000 => format!("{:.3}", value.as_micros_f64()),
        1_000..9_995 => format!("{:.2}", value.as_micros_f64()),
        9_995..99_950 => format!("{:.1}", value.as_micros_f64()),
        _ => format!("{:.0}", value.as_micros_f64()),
    }
}

/// Microseconds to the nanosecond: `100.412`.
pub fn micros_exact(value: Nanos) -> String {
    format!("{}.{:03}", value.0 / 1_000, value.0 % 1_000)
}

/// Whether a text can be used unchanged as a file name.
pub fn is_file_name(text: &str, longest: usize) -> bool {
    let is_short = !text.is_empty() && text.len() <= longest;
    is_short && text.chars().all(is_plain) && !text.starts_with('.')
}

/// A readable beginning of a text that cannot be a file name.
pub fn readable(text: &str) -> String {
    let shown = |c| if is_plain(c) && c != '.' { c } else { '-' };
    text.chars().take(24).map(shown).collect()
}

/// The readable beginning and a piece of the text's SHA-256: two different texts never share a name.
pub fn file_name(text: &str) -> String {
    format!("{}-{}", readable(text), &sha256_hex(text.as_bytes())[..8])
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._+-".contains(c)
}

/// A whole number in groups of three: `10 000`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// A number with its noun: `1 period`, `2 000 periods`.
pub fn counted(n: u64, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {what}{s}", grouped(n))
}

/// A long time with two significant digits: `45 s`, `3.2 days`, `12000 years`.
pub fn span(seconds: f64) -> String {
    const UNITS: [(&str, f64); 5] = [
        ("years", 31_536_000.0),
        ("days", 86_400.0),
        ("hours", 3_600.0),
        ("minutes", 60.0),
        ("s", 1.0),
    ];
    let (unit, length) = UNITS.into_iter().find(|(_, l)| seconds >= *l).unwrap_or(UNITS[4]);
    let count = seconds / length;
    match count {
        1e9.. => "over a thousand million years".to_string(),
        9.95.. => format!("{count:.0} {unit}"),
        _ => format!("{count:.1} {unit}"),
    }
}

/// `lowest` alone if both are equal, `lowest..highest` otherwise.
pub fn range<T: PartialEq>(lowest: T, highest: T, show: impl Fn(T) -> String) -> String {
    match lowest == highest {
        true => show(lowest),
        false => format!("{}..{}", show(lowest), show(highest)),
    }
}

/// Text from a record or a file, without control characters that could steer a terminal.
pub fn plain(text: &str) -> String {
    let steers = |c: char| {
        c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if steers(c) { '\u{fffd}' } else { c }).collect()
}

/// The same for text with lines and tabulators; colour sequences (`ESC [ digits and ; m`) stay too.
pub fn plain_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\r', '\n', '\t', '\x1b']) {
        out += &plain(&rest[..at]);
        let kept = match rest[at..].strip_prefix("\x1b[") {
            None if rest[at..].starts_with("\r\n") => 2,
            None => usize::from(rest[at..].starts_with(['\n', '\t'])),
            Some(colour) => {
                let end = colour.find(|c: char| !c.is_ascii_digit() && c != ';');
                end.filter(|end| colour[*end..].starts_with('m'))
                    .map_or(0, |end| end + 3)
            }
        };
        match kept {
            0 => out.push('\u{fffd}'),
            _ => out += &rest[at..at + kept],
        }
        rest = &rest[at + kept.max(1)..];
    }
    out + &plain(rest)
}

/// Arguments quoted for a shell.
pub fn shell(arguments: &[String]) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+%@".contains(c);
    let quoted = arguments
        .iter()
        .map(|a| match !a.is_empty() && a.chars().all(harmless) {
            true => a.clone(),
            false => format!("'{}'", a.replace('\'', "'\\''")),
        });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        let shown = [116, 4_714, 9_994, 9_995, 83_712, 99_949, 99_950, 216_729, 15_402_000].map(|n| micros(Nanos(n)));
        assert_eq!(
            shown,
            ["0.116", "4.71", "9.99", "10.0", "83.7", "99.9", "100", "217", "15402"]
        );
        assert_eq!(micros_exact(Nanos(100_042)), "100.042");
        assert_eq!(
            [0, 999, 10_000, 1_234_567].map(grouped),
            ["0", "999", "10 000", "1 234 567"]
        );
    }

    #[test]
    fn long_times() {
        let shown = [0.04, 59.0, 90.0, 7_200.0, 276_480.0, 4e8, 1e30].map(span);
        assert_eq!(
            shown,
            [
                "0.0 s",
                "59 s",
                "1.5 minutes",
                "2.0 hours",
                "3.2 days",
                "13 years",
                "over a thousand million years"
            ]
        );
    }

    #[test]
    fn foreign_text_stays_text() {
        assert_eq!(plain("a\x1b[31m\u{202e}b\n"), "a\u{fffd}[31m\u{fffd}b\u{fffd}");
    }

    #[test]
    fn of_many_lines_only_colours_steer() {
        let kept = "a\tb\r\n\x1b[1;31mred\x1b[0m\n\x1b[m";
        assert_eq!(plain_lines(kept), kept);
        for steers in [
            "\x1b[2J",
            "\x1b]0;title\x07",
            "\x1b[31",
            "\x1b",
            "\u{9b}2J",
            "\r",
            "\x1b[1;1H",
            "\u{202e}",
        ] {
            let shown = plain_lines(&format!("a{steers}b\n"));
            assert!(shown.starts_with("a\u{fffd}") && shown.ends_with("b\n"), "{shown:?}");
        }
    }

    #[test]
    fn a_shell_reads_the_same_arguments_again() {
        let arguments = ["worstcase", "cmd:a b", "it's", ""].map(String::from);
        assert_eq!(shell(&arguments), r"worstcase 'cmd:a b' 'it'\''s' ''");
    }
}
