//! How sure a percentile of one series is whose values depend on those before: the interval of a share (Woodruff 1952) from
//! the shares of blocks in time.
//!
//! Samples of one run come in stretches: a hundred late ones may be one event. So their number says nothing of an interval.
//! The shares that lie above a value in each of [`BLOCKS`] equal blocks of time do, if what makes samples late lasts shorter
//! than a block. Their spread gives the interval of the whole share, as a factor, and the values at both ends of it are those of
//! the percentile.

/// Blocks of a series.
pub const BLOCKS: usize = 20;
/// 97.5 % quantile of Student's t with 19 degrees of freedom.
const T: f64 = 2.093;

/// Counts how many of each block lie above a value.
#[derive(Clone, Debug, Default)]
pub struct BlockShares {
    above: [u64; BLOCKS],
    all: [u64; BLOCKS],
}

impl BlockShares {
    /// Takes a value of the place `index` of `expected`.
    pub fn add(&mut self, index: u32, expected: u32, is_above: bool) {
        let block = (u64::from(index) * BLOCKS as u64 / u64::from(expected.max(1))) as usize;
        let block = block.min(BLOCKS - 1);
        self.all[block] += 1;
        self.above[block] += u64::from(is_above);
    }

    /// The 95 % interval of the share above, as factors of it; nothing if none is above, or a block is empty.
    pub fn factors(&self) -> Option<[f64; 2]> {
        let (above, all): (u64, u64) = (self.above.iter().sum(), self.all.iter().sum());
        if above == 0 || self.all.contains(&0) {
            return None;
        }
        let share = above as f64 / all as f64;
        // A ratio of two sums over blocks: its variance is that of what each block has more above than the share says.
        let residual = |(above, all): (&u64, &u64)| (*above as f64 - share * *all as f64).powi(2);
        let squares: f64 = self.above.iter().zip(&self.all).map(residual).sum();
        let blocks = BLOCKS as f64;
        let error = (squares * blocks / (blocks - 1.0)).sqrt() / above as f64;
        Some([(-T * error).exp(), (T * error).exp()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(is_above: impl Fn(u32) -> bool) -> Option<[f64; 2]> {
        let mut shares = BlockShares::default();
        (0..20_000).for_each(|i| shares.add(i, 20_000, is_above(i)));
        shares.factors()
    }

    #[test]
    fn late_samples_in_one_stretch_are_one_event() {
        // Two hundred of 20 000, evenly spread: every block has ten.
        assert_eq!(factors(|i| i % 100 == 0), Some([1.0, 1.0]));
        // In one block of twenty: the share of the next run may be anything.
        let [low, high] = factors(|i| i < 200).unwrap();
        assert!(low < 0.15 && high > 7.0, "{low} {high}");
        assert_eq!(factors(|_| false), None);
    }

    #[test]
    fn a_block_without_samples_has_no_share() {
        let mut shares = BlockShares::default();
        (0..100).for_each(|i| shares.add(i, 20_000, true));
        assert_eq!(shares.factors(), None);
    }
}
