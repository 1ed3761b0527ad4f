//! Caches of physical lines: which level serves an access.

use worstcase_costs::{CacheGeometry, CostEvent, DATA, INSTRUCTIONS, SECOND, THIRD};

/// A cache that forgets, in each set, the line that was used least recently.
struct Cache {
    ways: usize,
    sets: usize,
    /// For each set its lines plus one, the last used first; 0 is none.
    lines: Vec<u64>,
}

impl Cache {
    fn new(geometry: CacheGeometry) -> Cache {
        Cache {
            ways: geometry.ways,
            sets: geometry.sets(),
            lines: vec![0; geometry.sets() * geometry.ways],
        }
    }

    fn forget(&mut self) {
        self.lines.fill(0);
    }

    /// Whether a line is there; it is afterwards.
    fn uses(&mut self, line: u64) -> bool {
        let first = (line as usize & (self.sets - 1)) * self.ways;
        let set = &mut self.lines[first..first + self.ways];
        let place = set.iter().position(|held| *held == line + 1);
        set[..=place.unwrap_or(self.ways - 1)].rotate_right(1);
        set[0] = line + 1;
        place.is_some()
    }
}

/// Three levels; the first of them twice.
pub(super) struct Caches {
    data: Cache,
    code: Cache,
    second: Cache,
    third: Cache,
}

impl Caches {
    /// Empty ones.
    pub(super) fn new() -> Caches {
        Caches {
            data: Cache::new(DATA),
            code: Cache::new(INSTRUCTIONS),
            second: Cache::new(SECOND),
            third: Cache::new(THIRD),
        }
    }

    /// Makes them empty.
    pub(super) fn forget(&mut self) {
        let all = [&mut self.data, &mut self.code, &mut self.second, &mut self.third];
        all.into_iter().for_each(Cache::forget);
    }

    /// Data of a line is used: what that is, if the first level does not have it.
    pub(super) fn data(&mut self, line: u64) -> Option<CostEvent> {
        let is_there = self.data.uses(line);
        (!is_there).then(|| self.below(line, [CostEvent::DataL2, CostEvent::DataL3, CostEvent::DataMemory]))
    }

    /// Code of a line is used.
    pub(super) fn code(&mut self, line: u64) -> Option<CostEvent> {
        let is_there = self.code.uses(line);
        (!is_there).then(|| self.below(line, [CostEvent::CodeL2, CostEvent::CodeL3, CostEvent::CodeMemory]))
    }

    fn below(&mut self, line: u64, [second, third, memory]: [CostEvent; 3]) -> CostEvent {
        match self.second.uses(line) {
            true => second,
            false if self.third.uses(line) => third,
            false => memory,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CostEvent::{CodeL2, CodeL3, CodeMemory, DataL2, DataL3, DataMemory};

    /// Lines of one set of a cache.
    fn same_set(geometry: CacheGeometry, n: usize) -> impl Iterator<Item = u64> {
        (0..n).map(move |i| 3 + (i * geometry.sets()) as u64)
    }

    #[test]
    fn the_line_used_least_recently_is_forgotten() {
        let geometry = CacheGeometry { kib: 1, ways: 2 };
        assert_eq!(geometry.sets(), 8);
        let mut cache = Cache::new(geometry);
        let used = [0, 8, 0, 16, 0, 8, 1, 8].map(|line| cache.uses(line));
        assert_eq!(used, [false, false, true, false, true, false, false, true]);
    }

    #[test]
    fn each_level_serves_what_the_one_above_it_forgot() {
        let mut caches = Caches::new();
        let mut last = |geometry: CacheGeometry| {
            caches.forget();
            let lines = same_set(geometry, geometry.ways + 1).chain([3]);
            lines.map(|line| caches.data(line)).last().flatten()
        };
        assert_eq!(last(CacheGeometry { ways: 7, ..DATA }), None);
        assert_eq!(last(DATA), Some(DataL2));
        assert_eq!(last(SECOND), Some(DataL3));
        assert_eq!(last(THIRD), Some(DataMemory));
    }

    #[test]
    fn code_and_data_share_what_is_below_the_first_level() {
        let mut caches = Caches::new();
        assert_eq!([caches.code(5), caches.code(5)], [Some(CodeMemory), None]);
        assert_eq!([caches.data(5), caches.data(5)], [Some(DataL2), None]);
        assert_eq!([caches.data(6), caches.code(6)], [Some(DataMemory), Some(CodeL2)]);
        for line in same_set(SECOND, SECOND.ways + 1) {
            caches.data(line);
        }
        assert_eq!(caches.code(3), Some(CodeL3));
    }

    #[test]
    fn what_is_forgotten_comes_from_memory() {
        let mut caches = Caches::new();
        caches.data(5);
        caches.forget();
        assert_eq!(caches.data(5), Some(DataMemory));
    }
}
