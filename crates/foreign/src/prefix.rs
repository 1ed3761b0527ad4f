//! What others put before every line of an output: CI, container runtimes, the journal, a serial console, mail.

/// Prefixes inside prefixes: a mail quotes a CI log that was kept by a container runtime.
const MOST: usize = 8;
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The length of one kind of prefix at the begin of a line.
type PrefixLength = fn(&str) -> Option<usize>;

const KINDS: [PrefixLength; 6] = [quote, workflow, stamp, syslog, bracket, clock];

/// Takes away what stands before all lines alike; blank lines need not have it.
pub(crate) fn strip(lines: &mut [&str]) {
    for _ in 0..MOST {
        if !KINDS.into_iter().any(|kind| strip_kind(lines, kind)) && !strip_blanks(lines) {
            return;
        }
    }
}

fn strip_kind(lines: &mut [&str], kind: PrefixLength) -> bool {
    let mut some = false;
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        match kind(line) {
            Some(_) => some = true,
            None => return false,
        }
    }
    for line in lines.iter_mut() {
        *line = kind(line).map_or(*line, |length| &line[length..]);
    }
    some
}

fn strip_blanks(lines: &mut [&str]) -> bool {
    let blanks = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let told = lines.iter().filter(|line| !line.trim().is_empty());
    let least = told.map(|line| blanks(line)).min().unwrap_or(0);
    for line in lines.iter_mut().filter(|_| least > 0) {
        *line = line.get(least..).unwrap_or("");
    }
    least > 0
}

/// `> `, in a mail.
fn quote(line: &str) -> Option<usize> {
    let rest = line.strip_prefix('>')?;
    Some(line.len() - rest.strip_prefix(' ').unwrap_or(rest).len())
}

/// `job<tab>step<tab>`, before a stamp: a workflow's log.
fn workflow(line: &str) -> Option<usize> {
    let mut parts = line.splitn(3, '\t');
    let length = parts.next()?.len() + parts.next()?.len() + 2;
    stamp(parts.next()?)?;
    Some(length)
}

/// `2026-11-23T02:38:38.123Z `, and `stdout F ` or `00O ` behind it.
fn stamp(line: &str) -> Option<usize> {
    let rest = date(line)?;
    let rest = rest.strip_prefix(['T', ' ']).and_then(time)?;
    let rest = zone(rest);
    let rest = match rest.strip_prefix(' ') {
        Some(rest) => rest,
        None if rest.is_empty() => rest,
        None => return None,
    };
    let rest = host_and_program(rest).unwrap_or_else(|| stream(rest).unwrap_or(rest));
    Some(line.len() - rest.len())
}

/// `Nov 23 02:38:38 host program[123]: `.
fn syslog(line: &str) -> Option<usize> {
    let month = MONTHS.iter().find_map(|month| line.strip_prefix(month))?;
    let day = month.strip_prefix(' ')?.trim_start_matches(' ');
    let rest = day.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = time(rest.strip_prefix(' ')?)?;
    let rest = rest.strip_prefix(' ').or(rest.is_empty().then_some(rest))?;
    Some(line.len() - host_and_program(rest).unwrap_or(rest).len())
}

/// `[   12.345678] `, `[02:38:38] `, `[pod/a/b] `.
fn bracket(line: &str) -> Option<usize> {
    let (inside, rest) = line.strip_prefix('[')?.split_once(']')?;
    let is_time = inside.contains([':', '.']) && inside.chars().all(|c| c.is_ascii_digit() || " :.-+TZ".contains(c));
    let is_pod = inside.starts_with("pod/");
    let rest = rest.strip_prefix(' ').or(rest.is_empty().then_some(rest))?;
    (is_time || is_pod).then_some(line.len() - rest.len())
}

/// `02:38:38 `.
fn clock(line: &str) -> Option<usize> {
    let rest = time(line)?;
    let rest = rest.strip_prefix(' ').or(rest.is_empty().then_some(rest))?;
    Some(line.len() - rest.len())
}

fn host_and_program(rest: &str) -> Option<&str> {
    let (host, rest) = rest.split_once(' ')?;
    let (program, rest) = rest.split_once(':')?;
    let (name, pid) = program.strip_suffix(']')?.split_once('[')?;
    let is_word = |word: &str| !word.is_empty() && !word.contains(char::is_whitespace);
    let is_pid = !pid.is_empty() && pid.bytes().all(|b| b.is_ascii_digit());
    (is_word(host) && is_word(name) && is_pid).then(|| rest.strip_prefix(' ').unwrap_or(rest))
}

/// `stdout F ` of a container runtime, `00O ` of a CI runner.
fn stream(rest: &str) -> Option<&str> {
    let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
    if ["stdout", "stderr"].contains(&word) {
        let after = after.strip_prefix('F')?;
        return Some(after.strip_prefix(' ').unwrap_or(after));
    }
    let is_number = word.bytes().take(2).all(|b| b.is_ascii_hexdigit());
    let is_runner = is_number && word.get(2..).is_some_and(|kind| ["O", "E", "O+", "E+"].contains(&kind));
    is_runner.then_some(after)
}

fn date(line: &str) -> Option<&str> {
    let form = [4, 2, 2];
    digits_of(line, &form, '-')
}

/// `02:38:38` with a fraction or without.
fn time(line: &str) -> Option<&str> {
    let rest = digits_of(line, &[2, 2, 2], ':')?;
    let fraction = rest.strip_prefix(['.', ',']);
    Some(fraction.map_or(rest, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit())))
}

/// The rest after groups of so many digits, with a separator between.
fn digits_of<'a>(mut line: &'a str, groups: &[usize], separator: char) -> Option<&'a str> {
    for (nth, count) in groups.iter().enumerate() {
        if nth > 0 {
            line = line.strip_prefix(separator)?;
        }
        let group = line.get(..*count)?;
        line = group.bytes().all(|b| b.is_ascii_digit()).then(|| &line[*count..])?;
    }
    Some(line)
}

fn zone(rest: &str) -> &str {
    match rest.strip_prefix('Z') {
        Some(rest) => rest,
        None if rest.starts_with(['+', '-']) => rest[1..].trim_start_matches(|c: char| c.is_ascii_digit() || c == ':'),
        None => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_before_all_lines_is_taken_away() {
        let line = "T: 0 (77) P:90";
        for before in [
            "> ",
            "> > ",
            ">> ",
            "    ",
            "\t",
            "2026-11-23T02:38:38.1234567Z ",
            "2026-11-23 02:38:38 ",
            "2026-11-23T02:38:38.123456789+01:00 stdout F ",
            "2026-11-23T02:38:38.000000Z 00O ",
            "[2026-11-23T02:38:38.123Z] ",
            "[   12.345678] ",
            "[02:38:38] ",
            "[pod/rt-1/main] ",
            "02:38:38 ",
            "Nov  3 02:38:38 ",
            "Nov 23 02:38:38 box cyclictest[812]: ",
            "2026-11-23T02:38:38+0000 box run.sh[812]: ",
            "test\tRun it\t2026-11-23T02:38:38.1234567Z ",
            "> 2026-11-23T02:38:38Z     ",
        ] {
            let (first, second) = (format!("{before}{line}"), format!("{before}{line} I:1"));
            let mut lines = [first.as_str(), "", second.as_str(), before.trim_end()];
            strip(&mut lines);
            assert_eq!((lines[0], lines[2]), (line, "T: 0 (77) P:90 I:1"), "{before}");
            assert_eq!(lines[3].trim(), "", "{before}");
        }
    }

    #[test]
    fn what_only_some_lines_have_stays() {
        for before in ["> ", "[   12.345678] ", "2026-11-23T02:38:38Z ", "  "] {
            let first = format!("{before}T: 0");
            let mut lines = [first.as_str(), "T: 1"];
            strip(&mut lines);
            assert_eq!(lines, [first.as_str(), "T: 1"]);
        }
    }
}
