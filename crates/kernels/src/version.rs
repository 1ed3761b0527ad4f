//! Order of Debian package versions, as deb-version(7) defines it, and the kernel series in them.

use std::cmp::Ordering;

/// Compares two Debian versions: `[epoch:]upstream[-revision]`, where `~` sorts before everything, even the end.
pub fn compare(a: &str, b: &str) -> Ordering {
    let (epoch_a, upstream_a, revision_a) = split(a);
    let (epoch_b, upstream_b, revision_b) = split(b);
    epoch_a
        .cmp(&epoch_b)
        .then_with(|| part(upstream_a, upstream_b))
        .then_with(|| part(revision_a, revision_b))
}

/// The kernel series of a package version or release: `6.1` of `6.1.192-2`, `7.3` of `7.3~rc7-1~exp1`.
pub fn series(version: &str) -> Option<String> {
    let upstream = version.split_once(':').map_or(version, |(_, v)| v);
    let mut numbers = upstream.split(|c: char| !c.is_ascii_digit());
    let (major, minor) = (numbers.next()?, numbers.next()?);
    (!major.is_empty() && !minor.is_empty()).then(|| format!("{major}.{minor}"))
}

/// A series as numbers, for sorting: 6.12 is newer than 6.2.
pub fn series_numbers(series: &str) -> (u32, u32) {
    let mut numbers = series.split('.').map(|n| n.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Whether a version begins with the typed text, up to the end of a number: `6.12.7` does not stand for `6.12.74`.
pub fn begins_with(version: &str, typed: &str) -> bool {
    let number_goes_on =
        |rest: &str| typed.ends_with(|c: char| c.is_ascii_digit()) && rest.starts_with(|c: char| c.is_ascii_digit());
    version.strip_prefix(typed).is_some_and(|rest| !number_goes_on(rest))
}

/// The Debian release for which a package was rebuilt: `12` in `6.12.95-1~bpo12+1` and in `6.12.117-1~deb12u1`. Such a
/// build has another compiler than its original.
pub fn rebuilt_for(version: &str) -> Option<u32> {
    let (_, suffix) = version.rsplit_once('~')?;
    let digits = suffix.strip_prefix("bpo").or_else(|| suffix.strip_prefix("deb"))?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

fn split(version: &str) -> (u64, &str, &str) {
    let (epoch, rest) = version
        .split_once(':')
        .map_or((0, version), |(e, r)| (e.parse().unwrap_or(0), r));
    let (upstream, revision) = rest.rsplit_once('-').unwrap_or((rest, ""));
    (epoch, upstream, revision)
}

/// Alternates between runs of non-digits (by letter, `~` first) and runs of digits (by value).
fn part(mut a: &str, mut b: &str) -> Ordering {
    while !(a.is_empty() && b.is_empty()) {
        let (text_a, rest_a) = a.split_at(a.find(|c: char| c.is_ascii_digit()).unwrap_or(a.len()));
        let (text_b, rest_b) = b.split_at(b.find(|c: char| c.is_ascii_digit()).unwrap_or(b.len()));
        let by_text = letters(text_a, text_b);
        let (number_a, next_a) = rest_a.split_at(rest_a.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest_a.len()));
        let (number_b, next_b) = rest_b.split_at(rest_b.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest_b.len()));
        let value = |s: &str| s.parse::<u64>().unwrap_or(0);
        let order = by_text.then_with(|| value(number_a).cmp(&value(number_b)));
        if order != Ordering::Equal {
            return order;
        }
        (a, b) = (next_a, next_b);
    }
    Ordering::Equal
}

fn letters(a: &str, b: &str) -> Ordering {
    // `~` before the end, the end before letters, letters before the rest.
    let weight = |c: Option<u8>| match c {
        Some(b'~') => -1,
        None => 0,
        Some(c) if c.is_ascii_alphabetic() => i32::from(c),
        Some(c) => i32::from(c) + 256,
    };
    let length = a.len().max(b.len());
    let at = |s: &str, i: usize| weight(s.as_bytes().get(i).copied());
    (0..length)
        .map(|i| at(a, i).cmp(&at(b, i)))
        .find(|o| *o != Ordering::Equal)
        .unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_as_dpkg_orders_them() {
        let ascending = [
            "5.10.262-1",
            "6.1.176-1~deb11u1",
            "6.1.176-1",
            "6.1.192-2",
            "6.12.9-1",
            "6.12.95-1~bpo12+1",
            "6.12.95-1",
            "7.2.13-1",
            "7.3~rc7-1~exp1",
            "7.3-1",
            "7.3.4-1~bpo13+1",
            "1:1.0-1",
        ];
        for pair in ascending.windows(2) {
            assert_eq!(compare(pair[0], pair[1]), Ordering::Less, "{} < {}", pair[0], pair[1]);
            assert_eq!(compare(pair[1], pair[0]), Ordering::Greater);
        }
        assert_eq!(compare("1.0-1", "1.0-1"), Ordering::Equal);
    }

    #[test]
    fn what_is_typed_ends_where_a_number_ends() {
        assert!(begins_with("6.12.74-2~bpo12+1", "6.12.74"));
        assert!(begins_with("6.12.74-2", "6.12.74-2"));
        assert!(!begins_with("6.12.74-2", "6.12.7") && begins_with("6.12.74-2", "6.12."));
    }

    #[test]
    fn a_rebuild_is_known_by_its_suffix() {
        let of = [
            "6.12.95-1~bpo12+1",
            "6.12.117-1~deb12u1",
            "6.12.117-1",
            "7.3~rc7-1~exp1",
            "7.3~rc7-1",
        ];
        assert_eq!(of.map(rebuilt_for), [Some(12), Some(12), None, None, None]);
    }

    #[test]
    fn the_series_is_the_first_two_numbers() {
        for (version, expected) in [
            ("6.1.192-2", "6.1"),
            ("7.3~rc7-1~exp1", "7.3"),
            ("6.12.90+deb13.1-amd64", "6.12"),
        ] {
            assert_eq!(series(version).as_deref(), Some(expected));
        }
        assert_eq!(series("amd64"), None);
    }
}
