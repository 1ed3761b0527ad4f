//! A set of CPUs, written as the kernel writes it: `0-3,8`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeSet;
use std::fmt::{self, Write};
use std::str::FromStr;

/// More CPUs than any kernel is built for.
const LIMIT: u32 = 1 << 16;

/// CPUs by their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuList(BTreeSet<u32>);

/// Why a text is no set of CPUs.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is no list of CPUs; write it like 0-3,8")]
pub struct NoCpuList(String);

impl CpuList {
    /// The numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// None at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this CPU is one of them.
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.contains(&cpu)
    }

    /// Those that are in both.
    pub fn common(&self, other: &CpuList) -> CpuList {
        self.iter().filter(|cpu| other.contains(*cpu)).collect()
    }

    /// Those that are not in the other.
    pub fn without(&self, other: &CpuList) -> CpuList {
        self.iter().filter(|cpu| !other.contains(*cpu)).collect()
    }

    /// As hexadecimal words of 32 CPUs, the highest first: `00000001,0000000f`.
    pub fn mask(&self) -> String {
        let words = self.0.last().map_or(1, |last| last / 32 + 1);
        let word = |index: u32| {
            self.iter()
                .filter(|cpu| cpu / 32 == index)
                .fold(0u32, |bits, cpu| bits | 1 << (cpu % 32))
        };
        let words: Vec<String> = (0..words).rev().map(|index| format!("{:08x}", word(index))).collect();
        words.join(",")
    }
}

impl FromIterator<u32> for CpuList {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> CpuList {
        CpuList(cpus.into_iter().collect())
    }
}

impl FromStr for CpuList {
    type Err = NoCpuList;

    fn from_str(text: &str) -> Result<CpuList, NoCpuList> {
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (first <= last && last < LIMIT).then_some(first..=last)
        };
        let mut cpus = CpuList::default();
        for part in text.split(',').filter(|_| !text.trim().is_empty()) {
            cpus.0.extend(range(part).ok_or_else(|| NoCpuList(text.into()))?);
        }
        Ok(cpus)
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for cpu in self.iter() {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == cpu => *last = cpu,
                _ => ranges.push((cpu, cpu)),
            }
        }
        let mut text = String::new();
        for (first, last) in ranges {
            let comma = if text.is_empty() { "" } else { "," };
            match first == last {
                true => write!(text, "{comma}{first}")?,
                false => write!(text, "{comma}{first}-{last}")?,
            }
        }
        f.pad(&text)
    }
}

impl Serialize for CpuList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CpuList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CpuList, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written_as_the_kernel_does() {
        for text in ["", "0", "0-3", "0-1,4,6-9"] {
            assert_eq!(text.parse::<CpuList>().unwrap().to_string(), text);
        }
        assert_eq!("3,1-2,2".parse::<CpuList>().unwrap().to_string(), "1-3");
        for text in ["x", "3-1", "1,", "0-99999999", "(null)"] {
            assert!(text.parse::<CpuList>().is_err(), "{text}");
        }
    }

    #[test]
    fn masks_are_words_of_32() {
        let mask = |text: &str| text.parse::<CpuList>().unwrap().mask();
        assert_eq!(mask("0-3"), "0000000f");
        assert_eq!(mask("0,33"), "00000002,00000001");
    }
}
