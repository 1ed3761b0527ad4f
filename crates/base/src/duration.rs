//! Durations as people type and read them: `100us`, `2.5ms`, `50000ns`.

use worstcase_logs::Nanos;

/// Units that are accepted, with their length in ns.
const UNITS: [(&str, u64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];
/// The first units, which are decimal, are used to show durations.
const SHOWN: usize = 4;

/// A text that is not a duration.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "'{0}' is not a duration: write a number and ns, us, ms, s, m, h or d, whole nanoseconds at the end, e.g. 100us or 2.5ms"
)]
pub struct DurationError(pub String);

/// Reads a duration. Exact: a fraction that is no whole number of nanoseconds is refused.
pub fn parse(text: &str) -> Result<Nanos, DurationError> {
    let fail = || DurationError(text.to_string());
    let digits = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .ok_or_else(fail)?;
    let (number, unit) = text.split_at(digits);
    let scale = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(fail)?.1;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let whole: u64 = whole.parse().map_err(|_| fail())?;
    if fraction.is_empty() || fraction.len() > 9 {
        return Err(fail());
    }
    let fraction_value: u64 = fraction.parse().map_err(|_| fail())?;
    let parts = 10_u64.pow(fraction.len() as u32);
    let scaled = fraction_value.checked_mul(scale).ok_or_else(fail)?;
    if scaled % parts != 0 {
        return Err(fail());
    }
    let whole_ns = whole.checked_mul(scale).ok_or_else(fail)?;
    whole_ns.checked_add(scaled / parts).map(Nanos).ok_or_else(fail)
}

/// A duration in the largest unit that keeps it exact: `100 us`, `2.51 s`, `1 ns`.
pub fn show(nanos: Nanos) -> String {
    let (name, scale) = UNITS[..SHOWN]
        .iter()
        .copied()
        .rev()
        .find(|(_, scale)| nanos.0 >= *scale)
        .unwrap_or(UNITS[0]);
    let (whole, rest) = (nanos.0 / scale, nanos.0 % scale);
    if rest == 0 {
        return format!("{whole} {name}");
    }
    let width = scale.ilog10() as usize;
    let fraction = format!("{rest:0width$}");
    format!("{whole}.{} {name}", fraction.trim_end_matches('0'))
}

/// A measured length, to a thousandth of its unit.
pub fn about(nanos: Nanos) -> String {
    let unit = SHOWN
        - 1
        - UNITS[..SHOWN]
            .iter()
            .rev()
            .position(|(_, scale)| nanos.0 >= *scale)
            .unwrap_or(SHOWN - 1);
    let grain = (UNITS[unit].1 / 1_000).max(1);
    show(Nanos(nanos.0.saturating_add(grain / 2) / grain * grain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_as_typed() {
        assert_eq!(parse("100us"), Ok(Nanos(100_000)));
        assert_eq!(parse("1ms"), Ok(Nanos(1_000_000)));
        assert_eq!(parse("2.5ms"), Ok(Nanos(2_500_000)));
        assert_eq!(parse("50000ns"), Ok(Nanos(50_000)));
        assert_eq!(parse("1s"), Ok(Nanos(1_000_000_000)));
        assert_eq!(parse("10m"), Ok(Nanos(600_000_000_000)));
        assert_eq!(parse("1.5h"), Ok(Nanos(5_400_000_000_000)));
    }

    #[test]
    fn the_longest_time_is_told() {
        assert_eq!(about(Nanos(u64::MAX)), about(Nanos(u64::MAX - 1)));
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "100",
            "us",
            "-1us",
            "1.us",
            ".5us",
            "1.5ns",
            "1 us",
            "1e3us",
            "1w",
            "99999999999999999999s",
            "1.2.3us",
        ] {
            assert_eq!(parse(text), Err(DurationError(text.into())), "{text}");
        }
    }

    #[test]
    fn durations_as_read() {
        assert_eq!(show(Nanos(100_000)), "100 us");
        assert_eq!(show(Nanos(2_510_000_000)), "2.51 s");
        assert_eq!(show(Nanos(0)), "0 ns");
        assert_eq!(show(Nanos(1_000_001)), "1.000001 ms");
    }

    #[test]
    fn a_thousandth_is_enough() {
        assert_eq!(about(Nanos(2_699_603_151)), "2.7 s");
        assert_eq!(about(Nanos(59_999_999)), "60 ms");
        assert_eq!((about(Nanos(0)), about(Nanos(7))), ("0 ns".into(), "7 ns".into()));
    }

    proptest! {
        #[test]
        fn what_is_shown_can_be_typed(ns in 0_u64..10_000_000_000_000) {
            prop_assert_eq!(parse(&show(Nanos(ns)).replace(' ', "")), Ok(Nanos(ns)));
        }
    }
}
