//! Data of known distributions.

use super::gpd::{Excesses, Gpd};
use worstcase_contract::prng::SplitMix64;

pub(crate) fn random(seed: u64) -> SplitMix64 {
    SplitMix64::new(seed)
}

/// Evenly in 0..1, both ends left out.
pub(crate) fn unit(random: &mut SplitMix64) -> f64 {
    ((random.next_u64() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
}

pub(crate) fn draw(random: &mut SplitMix64, gpd: Gpd, n: usize) -> Excesses {
    Excesses::new((0..n).map(|_| gpd.one_in(1.0 / unit(random)))).unwrap()
}
