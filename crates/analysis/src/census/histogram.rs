//! Sections by length, in powers of two, and the sums of each kind.

use super::cell_census::{CellCensus, name};
use serde::Serialize;
use worstcase_contract::Nanos;
use worstcase_contract::census::Kind;
use worstcase_results::stats::bucket_counts::{BucketCounts, CountedBucket, PowersOfTwo};

/// Sections of similar length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LengthBucket {
    /// The shortest length in the bucket.
    pub from_ns: Nanos,
    /// The shortest length above the bucket.
    pub below_ns: Nanos,
    /// The number of sections.
    pub count: u64,
    /// All of them together.
    pub total_ns: Nanos,
}

/// All sections of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sum {
    /// What was off.
    pub kind: &'static str,
    /// The number of sections.
    pub count: u64,
    /// All of them together.
    pub total_ns: Nanos,
    /// The longest.
    pub longest_ns: Nanos,
    /// The longest, net of interrupts and soft interrupts in it.
    pub longest_net_ns: Nanos,
    /// The sections by length, from the first bucket that holds any to the last.
    pub histogram: Vec<LengthBucket>,
}

/// The sum over all sections of a kind.
pub fn sum(taken: &CellCensus, kind: Kind) -> Sum {
    let (mut counts, mut times) = (
        BucketCounts::<PowersOfTwo>::default(),
        BucketCounts::<PowersOfTwo>::default(),
    );
    let (mut count, mut total, mut longest) = (0, 0, 0);
    for row in taken.census.lengths.iter().filter(|l| l.kind == kind) {
        counts.add(row.length, row.count);
        times.add(row.length, row.length * row.count);
        count += row.count;
        total += row.length * row.count;
        longest = longest.max(row.length);
    }
    let sites = taken.census.sites.iter().filter(|s| s.kind == kind);
    let net = sites.map(|s| s.longest_net).max().unwrap_or(0);
    let bucket = |counted: CountedBucket| LengthBucket {
        // A section has an instruction at least.
        from_ns: taken.time_of(counted.from.max(1)),
        below_ns: taken.time_of(counted.below),
        count: counted.count,
        total_ns: taken.time_of(times.count_at(counted.from)),
    };
    Sum {
        kind: name(kind),
        count,
        total_ns: taken.time_of(total),
        longest_ns: taken.time_of(longest),
        longest_net_ns: taken.time_of(net),
        histogram: counts.all().map(bucket).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::census::testing::{length, taken};

    #[test]
    fn lengths_fall_into_powers_of_two() {
        let mut taken = taken();
        taken.census.lengths = vec![
            length(Kind::NonPreemptible, 4, 10),
            length(Kind::NonPreemptible, 7, 1),
            length(Kind::NonPreemptible, 16, 3),
            length(Kind::InterruptsOff, 900, 3),
        ];
        let sum = sum(&taken, Kind::NonPreemptible);
        assert_eq!((sum.count, sum.total_ns, sum.longest_ns), (14, Nanos(95), Nanos(16)));
        let rows: Vec<_> = sum
            .histogram
            .iter()
            .map(|b| (b.from_ns.0, b.below_ns.0, b.count))
            .collect();
        assert_eq!(rows, [(4, 8, 11), (8, 16, 0), (16, 32, 3)]);
        assert_eq!(sum.histogram[0].total_ns, Nanos(47));
    }

    #[test]
    fn no_section_no_bucket() {
        assert!(sum(&taken(), Kind::NonPreemptible).histogram.is_empty());
    }
}
