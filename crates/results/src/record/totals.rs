//! The sums over all records of a run. Reports add these numbers up: no sum may overflow.

use super::{MOST, Quantity, Record};

/// The number of these records that is too large to be added up, in words.
pub fn check<'a>(records: impl IntoIterator<Item = &'a Record>) -> Result<(), String> {
    let mut totals: [u64; 4] = [0; 4];
    for record in records {
        let a = &record.accounting;
        let counted = Quantity::ALL
            .into_iter()
            .filter_map(|quantity| record.summary(quantity))
            .map(|summary| summary.count);
        let samples = counted.chain([a.rows(), a.expected()]).max().unwrap_or(0);
        let numbers = [samples, a.missed(), a.lost(), record.observation_time().0];
        for (total, number) in totals.iter_mut().zip(numbers) {
            let sum = total.checked_add(number).filter(|_| number <= MOST);
            *total = sum.ok_or_else(|| {
                format!(
                    "the numbers of its records are too large to add up ({}: {number})",
                    record.id
                )
            })?;
        }
    }
    Ok(())
}
