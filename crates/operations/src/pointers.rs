//! Lines of memory in a random circle: each is known only when the one before has come.

use crate::memory::{Area, AreaSharing, PAGE};
use std::hint::black_box;

/// The circle.
pub struct PointerCircle {
    area: Area,
    at: usize,
}

const LINE: usize = 64;

impl PointerCircle {
    /// Through every line of so many pages.
    pub fn new(pages: usize) -> PointerCircle {
        let mut area = Area::new(pages, AreaSharing::Shared);
        let lines = pages * PAGE / LINE;
        let mut order: Vec<usize> = (0..lines).collect();
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        for last in (1..lines).rev() {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let other = usize::try_from((u128::from(random) * (last as u128 + 1)) >> 64).unwrap_or(0);
            order.swap(last, other);
        }
        let bytes = area.bytes();
        for (nth, line) in order.iter().enumerate() {
            let next = order[(nth + 1) % lines] * LINE;
            bytes[line * LINE..line * LINE + 8].copy_from_slice(&next.to_ne_bytes());
        }
        PointerCircle { area, at: 0 }
    }

    /// Goes on by so many lines.
    pub fn follow(&mut self, hops: u32) {
        let bytes = self.area.bytes();
        let mut at = self.at;
        for _ in 0..hops {
            let next: [u8; 8] = bytes[at..at + 8].try_into().expect("eight bytes");
            at = usize::from_ne_bytes(next);
        }
        self.at = black_box(at);
    }
}
