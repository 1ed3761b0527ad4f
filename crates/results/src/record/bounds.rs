//! Bounds for JSON that others wrote: texts that can be shown, numbers that can be computed with. The JSON is read
//! through once, without keeping any of it, before it becomes values.

use super::check::MOST;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Longest text, in bytes; the longest of ours is a histogram of all values that there are, 0.7 MiB.
const LONGEST_TEXT: usize = 1 << 20;

/// The first value beyond these bounds, in words, with its line. Bytes that are no JSON are not checked here.
pub(crate) fn check(json: &[u8]) -> Result<(), String> {
    let mut source = serde_json::Deserializer::from_slice(json);
    match (Value { is_seed: false }).deserialize(&mut source) {
        Err(e) if e.is_data() => Err(e.to_string()),
        Err(_) | Ok(()) => Ok(()),
    }
}

/// A value of whatever kind.
#[derive(Clone, Copy)]
struct Value {
    /// A seed is an arbitrary number: nothing is computed with it.
    is_seed: bool,
}

impl<'de> DeserializeSeed<'de> for Value {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        match self.is_seed || number <= MOST {
            true => Ok(()),
            false => Err(E::custom(format!("the number {number} is larger than {MOST}"))),
        }
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        match number.unsigned_abs() <= MOST {
            true => Ok(()),
            false => Err(E::custom(format!("the number {number} is smaller than -{MOST}"))),
        }
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        match number.abs() <= MOST as f64 {
            true => Ok(()),
            false => Err(E::custom(format!(
                "the number {number:e} is not between -{MOST} and {MOST}"
            ))),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        match text.len() {
            0..=LONGEST_TEXT => Ok(()),
            long => Err(E::custom(format!("a text of {long} bytes, more than {LONGEST_TEXT}"))),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(BoundedKey { is_seed }) = map.next_key()? {
            map.next_value_seed(Value { is_seed })?;
        }
        Ok(())
    }
}

struct BoundedKey {
    is_seed: bool,
}

impl<'de> Deserialize<'de> for BoundedKey {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<BoundedKey, D::Error> {
        struct BoundedName;
        impl Visitor<'_> for BoundedName {
            type Value = BoundedKey;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<BoundedKey, E> {
                Value { is_seed: false }.visit_str(name)?;
                Ok(BoundedKey {
                    is_seed: name == "seed" || name == "seeds",
                })
            }
        }
        source.deserialize_str(BoundedName)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_bounds_is_told_with_its_line() {
        let long = "x".repeat(LONGEST_TEXT + 1);
        for (json, says) in [
            (
                "{\"a\":\n[18446744073709551615]}".to_string(),
                "18446744073709551615 is larger",
            ),
            ("{\"a\":\n1e300}".into(), "1e300 is not between"),
            ("{\"a\":\n-9223372036854775808}".into(), "is smaller than -"),
            (format!("{{\"a\":\n\"{long}\"}}"), "a text of 1048577 bytes"),
            (format!("{{\"a\":1,\n\"{long}\":1}}"), "a text of 1048577 bytes"),
        ] {
            let error = check(json.as_bytes()).unwrap_err();
            assert!(error.contains(says) && error.contains("line 2"), "{error}");
        }
    }

    #[test]
    fn all_else_is_left_to_who_reads_it() {
        for json in [
            "{\"seed\":18446744073709551615,\"seeds\":[18446744073709551615],\"b\":[null,true,-1,0.5,\"x\"]}",
            "{\"a\":",
            "",
        ] {
            assert_eq!(check(json.as_bytes()), Ok(()), "{json}");
        }
    }
}
