//! How parameters are written in a probe's name.

use worstcase_logs::Nanos;

/// The words of an enumeration, as they stand in a probe's name.
macro_rules! words {
    ($type:ident: $($variant:ident $word:literal),+) => {
        impl $type {
            /// Each with its word.
            pub const ALL: &[(&str, $type)] = &[$(($word, $type::$variant)),+];

            /// Its word in a probe's name.
            pub fn word(self) -> &'static str {
                match self {
                    $($type::$variant => $word),+
                }
            }
        }
    };
}
pub(crate) use words;

/// The units of sizes.
pub const BYTES: [(char, u64); 3] = [('g', 1 << 30), ('m', 1 << 20), ('k', 1 << 10)];
/// The units of times.
pub const TIMES: [(&str, u64); 4] = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// `16k`.
pub fn show_bytes(bytes: u64) -> String {
    let fits = BYTES
        .iter()
        .find(|(_, factor)| bytes > 0 && bytes.is_multiple_of(*factor));
    fits.map_or(bytes.to_string(), |(unit, factor)| format!("{}{unit}", bytes / factor))
}

/// `20us`.
pub(crate) fn show_time(time: Nanos) -> String {
    let fits = TIMES.iter().rev().find(|(_, factor)| time.0.is_multiple_of(*factor));
    let (unit, factor) = fits.expect("every time is a number of ns");
    format!("{}{unit}", time.0 / factor)
}
