//! Cells of two architectures: an instruction of one is not one of the other, so each has its rank on its own side.

use super::{CellConditions, SeedGroup};
use crate::record::SubjectId;
use serde::Serialize;
use worstcase_contract::Nanos;

/// A cell that both sides have, on machines of two architectures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RankedCell {
    /// The first side's subject.
    pub a: SubjectId,
    /// The second's.
    pub b: SubjectId,
    /// The cell.
    #[serde(flatten)]
    pub how: CellConditions,
    /// The rank of its maximum among the cells of these subjects and this probe, on each side; 1 is the highest.
    pub ranks: [usize; 2],
    /// The number of those cells.
    pub of: usize,
}

/// The cells with their ranks, the first side's highest first.
pub(super) fn ranked(pairs: &[(&SeedGroup, &SeedGroup)]) -> Vec<RankedCell> {
    let ranked = |(a, b): &(&SeedGroup, &SeedGroup)| {
        let among = pairs
            .iter()
            .filter(|(x, y)| (&x.subject, &y.subject, &x.how.probe) == (&a.subject, &b.subject, &a.how.probe));
        let above = |own: Option<Nanos>, side: fn(&(&SeedGroup, &SeedGroup)) -> Option<Nanos>| {
            1 + among.clone().filter(|pair| side(pair) > own).count()
        };
        RankedCell {
            a: a.subject.clone(),
            b: b.subject.clone(),
            how: a.how.clone(),
            ranks: [
                above(maximum(a), |(a, _)| maximum(a)),
                above(maximum(b), |(_, b)| maximum(b)),
            ],
            of: among.count(),
        }
    };
    let mut cells: Vec<RankedCell> = pairs.iter().map(ranked).collect();
    cells.sort_by(|x, y| (&x.a, &x.b, &x.how.probe, x.ranks).cmp(&(&y.a, &y.b, &y.how.probe, y.ranks)));
    cells
}

/// The highest value of the probe's first quantity.
fn maximum(cell: &SeedGroup) -> Option<Nanos> {
    let of_seed = |(_, figures): (_, &super::side::DistributionFigures)| figures.max;
    cell.seeds
        .iter()
        .filter_map(|seed| seed.quantities.first_key_value().map(of_seed))
        .max()
}
