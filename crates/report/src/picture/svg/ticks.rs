//! The ticks of an axis, and their texts.

use crate::picture::PictureAxis;
use worstcase_base::format::grouped;

/// A tick; without text if there is no room for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// The value.
    pub at: f64,
    /// Its number.
    pub text: String,
}

/// Ticks of an axis that has room for about so many numbers.
pub fn ticks(axis: &PictureAxis, room: usize) -> Vec<Tick> {
    if !axis.names.is_empty() {
        let named = axis.names.iter().enumerate();
        return named.map(|(i, name)| tick(i as f64, name.clone())).collect();
    }
    match axis.log {
        true => logarithmic(axis, room.max(1)),
        false => linear(axis, room.max(1)),
    }
}

fn tick(at: f64, text: String) -> Tick {
    Tick { at, text }
}

/// Steps of 1, 2 or 5 times a power of ten.
fn linear(axis: &PictureAxis, room: usize) -> Vec<Tick> {
    let rough = (axis.to - axis.from) / room as f64;
    let power = 10_f64.powi(rough.log10().floor() as i32);
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|f| f * power)
        .find(|s| *s >= rough * 0.999);
    let step = step.unwrap_or(power * 10.0);
    let (first, last) = ((axis.from / step).ceil() as i64, (axis.to / step).floor() as i64);
    (first..=last)
        .map(|i| i as f64 * step)
        .map(|at| tick(at, number(at)))
        .collect()
}

/// Powers of ten, with 2 and 5 between them where they have room; of many powers some.
fn logarithmic(axis: &PictureAxis, room: usize) -> Vec<Tick> {
    let decades = (axis.to / axis.from).log10();
    let (low, high) = (axis.from.log10().floor() as i32, axis.to.log10().ceil() as i32);
    let factors: &[f64] = match decades * 3.0 <= room as f64 {
        true => &[1.0, 2.0, 5.0],
        false => &[1.0],
    };
    let every = (decades / room as f64).ceil().max(1.0) as i32;
    let powers = (low..=high).filter(|p| p.rem_euclid(every) == 0);
    let values = powers.flat_map(|p| factors.iter().map(move |f| f * 10_f64.powi(p)));
    let within = values.filter(|v| (axis.from..=axis.to).contains(v));
    within.map(|at| tick(at, number(at))).collect()
}

/// A number in as few digits as a tick needs.
fn number(value: f64) -> String {
    let (sign, size) = (if value < 0.0 { "\u{2212}" } else { "" }, value.abs());
    match size {
        0.0 => "0".into(),
        1e7.. => format!("{sign}{size:e}"),
        10_000.0.. => format!("{sign}{}", grouped(size.round() as u64)),
        _ => {
            // Ticks are 1, 2 or 5 times a power of ten, and sums of those: nine digits hold them exactly.
            let text = format!("{size:.9}");
            format!("{sign}{}", text.trim_end_matches('0').trim_end_matches('.'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &PictureAxis, room: usize) -> Vec<String> {
        ticks(axis, room).into_iter().map(|t| t.text).collect()
    }

    fn axis(log: bool, from: f64, to: f64) -> PictureAxis {
        PictureAxis {
            log,
            from,
            to,
            ..PictureAxis::default()
        }
    }

    #[test]
    fn round_numbers() {
        assert_eq!(texts(&axis(false, 0.0, 0.62), 4), ["0", "0.2", "0.4", "0.6"]);
        assert_eq!(texts(&axis(false, -62.0, 62.0), 5), ["\u{2212}50", "0", "50"]);
        assert_eq!(texts(&axis(false, 0.0, 25_000.0), 3), ["0", "10 000", "20 000"]);
        assert_eq!(texts(&axis(true, 0.9, 1_200.0), 4), ["1", "10", "100", "1000"]);
        assert_eq!(texts(&axis(true, 1.8, 25.0), 6), ["2", "5", "10", "20"]);
        assert_eq!(texts(&axis(true, 0.001, 20_000.0), 3).len(), 3);
    }
}
