//! What a load draws at random while it works.

use super::board::Board;
use worstcase_logs::prng::SplitMix64;

/// Draws from a worker's own seed, and, once the probe has given its load another one, from both.
pub struct Draws<'a> {
    board: &'a Board,
    own: u64,
    given: u64,
    random: SplitMix64,
}

impl Draws<'_> {
    /// Those of a worker with this seed.
    pub fn new(board: &Board, seed: u64) -> Draws<'_> {
        Draws {
            board,
            own: seed,
            given: 0,
            random: SplitMix64::new(seed),
        }
    }

    /// A value in `0..bound`: see [`SplitMix64::below`].
    pub fn below(&mut self, bound: u64) -> u64 {
        let given = self.board.given_seed();
        if given != self.given {
            self.given = given;
            self.random = SplitMix64::new(self.own ^ given);
        }
        self.random.below(bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(draws: &mut Draws) -> Vec<u64> {
        (0..8).map(|_| draws.below(1_000)).collect()
    }

    #[test]
    fn they_are_those_of_the_seed_that_was_given_last() {
        let board = Board::new().unwrap();
        let (mut one, mut other) = (Draws::new(&board, 1), Draws::new(&board, 2));
        let mut alone = SplitMix64::new(1);
        let of_its_own: Vec<u64> = (0..8).map(|_| alone.below(1_000)).collect();
        assert_eq!(drawn(&mut one), of_its_own);
        board.give_seed(7);
        let of_seven = drawn(&mut one);
        assert_ne!(of_seven, drawn(&mut other), "each worker has its own");
        board.give_seed(8);
        assert_ne!(drawn(&mut one), of_seven);
        board.give_seed(7);
        assert_eq!(drawn(&mut one), of_seven);
    }
}
