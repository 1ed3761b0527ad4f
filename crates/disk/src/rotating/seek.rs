//! How long the arm takes: it speeds up and slows down over short ways (`a + b sqrt(d)`), and moves at its full speed over long
//! ones (`c + e d`), as Ruemmler and Wilkes, "An introduction to disk drive modeling" (1994), measured.

use crate::Rotating;
use worstcase_logs::Nanos;

/// See the module. Distances are in cylinders.
#[derive(Clone, Copy, Debug)]
pub struct Seek {
    a: f64,
    b: f64,
    /// From here on the way is long.
    long: f64,
    c: f64,
    e: f64,
}

impl Seek {
    /// The curve that gives the data sheet's three times.
    pub fn new(of: &Rotating, cylinders: u64) -> Seek {
        let most = (cylinders.max(4) - 1) as f64;
        let (next, average, full) = (
            of.track_to_track.0 as f64,
            of.average_seek.0 as f64,
            of.full_stroke.0 as f64,
        );
        let curve = |b: f64| {
            let long = most / 3.0;
            let a = next - b;
            let at_long = a + b * long.sqrt();
            let e = (full - at_long) / (most - long);
            Seek {
                a,
                b,
                long,
                c: at_long - e * long,
                e,
            }
        };
        // The mean grows in proportion to b, so two curves tell which one has the right mean.
        let (flat, steep) = (curve(0.0).mean(most), curve(1.0).mean(most));
        curve((average - flat) / (steep - flat))
    }

    fn over(&self, distance: f64) -> f64 {
        match distance < self.long {
            true => self.a + self.b * distance.sqrt(),
            false => self.c + self.e * distance,
        }
    }

    /// Over all pairs of cylinders: so far apart are `2 (most - d) / most^2` of them.
    fn mean(&self, most: f64) -> f64 {
        const STEPS: u32 = 4_096;
        let step = most / f64::from(STEPS);
        let at = |nth: u32| {
            let distance = (f64::from(nth) + 0.5) * step;
            self.over(distance) * 2.0 * (most - distance) / (most * most) * step
        };
        (0..STEPS).map(at).sum()
    }

    /// The time over so many cylinders; none if there is no way to go.
    pub fn time(&self, cylinders: u64) -> Nanos {
        match cylinders {
            0 => Nanos(0),
            far => Nanos(self.over(far as f64) as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rotating::tests::rotating;
    use worstcase_logs::prng::SplitMix64;

    #[test]
    fn the_data_sheet_comes_out() {
        let (of, cylinders) = (rotating(), 350_000);
        let seek = Seek::new(&of, cylinders);
        assert_eq!(seek.time(0), Nanos(0));
        assert!(seek.time(1).0.abs_diff(of.track_to_track.0) < 2);
        assert!(seek.time(cylinders - 1).0.abs_diff(of.full_stroke.0) < 2);
        let mut random = SplitMix64::new(1);
        let mut one = || seek.time(random.below(cylinders).abs_diff(random.below(cylinders))).0;
        let mean = (0..100_000).map(|_| one()).sum::<u64>() / 100_000;
        assert!(mean.abs_diff(of.average_seek.0) < of.average_seek.0 / 50, "{mean}");
    }

    #[test]
    fn farther_takes_longer() {
        let seek = Seek::new(&rotating(), 350_000);
        let times: Vec<Nanos> = (0..350).map(|n| seek.time(n * 1_000)).collect();
        assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
    }
}
