//! The caches that are counted with: of no real CPU, near to many.

/// Caches are filled for so many instructions before what is counted, by default.
pub const WARM_UP: u64 = 30_000_000;

/// Bytes of a line.
pub const LINE: u64 = 64;

/// A cache of physical lines that forgets the one used least recently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheGeometry {
    /// KiB that it holds.
    pub kib: u64,
    /// Lines with the same place.
    pub ways: usize,
}

impl CacheGeometry {
    /// Places.
    pub const fn sets(self) -> usize {
        (self.kib * 1024 / LINE) as usize / self.ways
    }
}

/// The first level, for data.
pub const DATA: CacheGeometry = CacheGeometry { kib: 32, ways: 8 };
/// The first level, for code.
pub const INSTRUCTIONS: CacheGeometry = CacheGeometry { kib: 32, ways: 8 };
/// The second level.
pub const SECOND: CacheGeometry = CacheGeometry { kib: 1024, ways: 8 };
/// The third level.
pub const THIRD: CacheGeometry = CacheGeometry {
    kib: 32 * 1024,
    ways: 16,
};
