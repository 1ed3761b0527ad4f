//! A tracepoint's format file: its id, and where its fields lie in a record.

use crate::events::ShortName;

/// The place of a field in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldPlace {
    offset: usize,
    size: usize,
    signed: bool,
    /// Set if the field holds the place of its bytes: offset in the low half, length in the high.
    elsewhere: Option<DataLocation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DataLocation {
    /// The offset counts from the record's beginning.
    Absolute,
    /// The offset counts from the field's end.
    Relative,
}

impl FieldPlace {
    /// The field's value; integers of 1, 2, 4 or 8 bytes. `None` if the record is too short.
    pub fn number(&self, record: &[u8]) -> Option<i64> {
        let bytes = self.bytes(record).filter(|bytes| !bytes.is_empty())?;
        let mut wide = [0u8; 8];
        wide.get_mut(..self.size)?.copy_from_slice(bytes);
        let value = i64::from_le_bytes(wide);
        let unused = 64 - 8 * self.size as u32;
        Some(if self.signed { value << unused >> unused } else { value })
    }

    /// The nth word of a field that is an array of words of 8 bytes.
    pub fn word(&self, record: &[u8], nth: usize) -> Option<u64> {
        let words = self.bytes(record)?;
        Some(u64::from_le_bytes(words.get(8 * nth..8 * nth + 8)?.try_into().ok()?))
    }

    /// The record from the field on.
    pub fn rest<'r>(&self, record: &'r [u8]) -> Option<&'r [u8]> {
        record.get(self.offset..)
    }

    fn bytes<'r>(&self, record: &'r [u8]) -> Option<&'r [u8]> {
        record.get(self.offset..self.offset.checked_add(self.size)?)
    }

    /// The field's bytes, up to the first zero.
    pub fn text<'r>(&self, record: &'r [u8]) -> Option<&'r [u8]> {
        let bytes = match self.elsewhere {
            None => self.bytes(record)?,
            Some(from) => {
                let at = self.number(record)? as u64;
                let start = (at & 0xffff) as usize
                    + match from {
                        DataLocation::Absolute => 0,
                        DataLocation::Relative => self.offset + self.size,
                    };
                record.get(start..start + (at >> 16 & 0xffff) as usize)?
            }
        };
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
        Some(&bytes[..end])
    }
}

/// Some fields of a record.
#[derive(Clone, Copy, Debug)]
pub struct RecordFields<'r> {
    /// Where they lie.
    pub places: &'r [FieldPlace],
    /// The record.
    pub record: &'r [u8],
}

impl RecordFields<'_> {
    /// The value of the nth field; `None` if the record is too short.
    pub fn number(&self, nth: usize) -> Option<i64> {
        self.places.get(nth)?.number(self.record)
    }

    /// A word of the nth field, which is an array of them.
    pub fn word(&self, nth: usize, word: usize) -> Option<u64> {
        self.places.get(nth)?.word(self.record, word)
    }

    /// The text of the nth field.
    pub fn name(&self, nth: usize) -> Option<ShortName> {
        Some(ShortName::new(self.places.get(nth)?.text(self.record)?))
    }
}

/// A format file of an unexpected form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tracepoint {name} has no usable field {field}; please report this kernel's version")]
pub struct FormatError {
    /// The tracepoint.
    pub name: String,
    /// The field.
    pub field: &'static str,
}

/// One format file.
#[derive(Clone, Debug)]
pub struct EventFormat {
    name: String,
    /// The tracepoint's number.
    pub id: u64,
    fields: Vec<(String, FieldPlace)>,
}

impl EventFormat {
    /// Parses a format file; `name` is for messages.
    pub fn parse(name: &str, text: &str) -> Result<EventFormat, FormatError> {
        let id = text
            .lines()
            .find_map(|line| line.strip_prefix("ID:")?.trim().parse().ok());
        Ok(EventFormat {
            name: name.to_string(),
            id: id.ok_or_else(|| missing(name, "ID"))?,
            fields: text.lines().filter_map(field).collect(),
        })
    }

    /// The place of the field.
    pub fn field(&self, name: &'static str) -> Result<FieldPlace, FormatError> {
        let found = self.fields.iter().find(|(own, _)| own == name);
        found.map(|(_, field)| *field).ok_or_else(|| missing(&self.name, name))
    }
}

fn missing(name: &str, field: &'static str) -> FormatError {
    FormatError {
        name: name.to_string(),
        field,
    }
}

/// `field:char comm[16]; offset:8; size:16; signed:0;`
fn field(line: &str) -> Option<(String, FieldPlace)> {
    let mut parts = line.trim().strip_prefix("field:")?.split(';').map(str::trim);
    let declaration = parts.next()?;
    let number = |part: Option<&str>, key: &str| part?.strip_prefix(key)?.parse::<usize>().ok();
    let offset = number(parts.next(), "offset:")?;
    let size = number(parts.next(), "size:")?;
    let signed = number(parts.next(), "signed:")? != 0;
    let name = declaration.rsplit([' ', '*']).next()?;
    let elsewhere = match () {
        () if declaration.starts_with("__data_loc") => Some(DataLocation::Absolute),
        () if declaration.starts_with("__rel_loc") => Some(DataLocation::Relative),
        () => None,
    };
    Some((
        name.split('[').next()?.to_string(),
        FieldPlace {
            offset,
            size,
            signed,
            elsewhere,
        },
    ))
}

/// Parses a format file, and then reads a record with it, which follows two empty lines. For scripts/fuzz.
#[doc(hidden)]
pub fn fuzz_format(text: &str) {
    let (text, record) = text.split_once("\n\n\n").unwrap_or((text, ""));
    let Ok(format) = EventFormat::parse("fuzz", text) else {
        return;
    };
    for (_, field) in &format.fields {
        std::hint::black_box((field.number(record.as_bytes()), field.text(record.as_bytes())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWITCH: &str = "name: sched_switch\nID: 372\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
        \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
        \tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
        \tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\
        \tfield:__data_loc char[] name;\toffset:40;\tsize:4;\tsigned:0;\n\
        \tfield:void * hrtimer;\toffset:48;\tsize:8;\tsigned:0;\n\
        \tfield:__rel_loc char[] other;\toffset:56;\tsize:4;\tsigned:0;\n\nprint fmt: \"field:x\"\n";

    #[test]
    fn fields_are_read_from_a_record() {
        let format = EventFormat::parse("sched_switch", SWITCH).unwrap();
        assert_eq!(format.id, 372);
        let mut record = vec![0u8; 72];
        record[8..12].copy_from_slice(b"load");
        record[24..28].copy_from_slice(&(-2i32).to_le_bytes());
        record[32..40].copy_from_slice(&256i64.to_le_bytes());
        record[40..44].copy_from_slice(&(8 << 16 | 64u32).to_le_bytes());
        record[48..56].copy_from_slice(&u64::MAX.to_le_bytes());
        record[56..60].copy_from_slice(&(3 << 16 | 4u32).to_le_bytes());
        record[64..68].copy_from_slice(b"eth0");
        let number = |name| format.field(name).unwrap().number(&record);
        let text = |name| format.field(name).unwrap().text(&record);
        assert_eq!(text("prev_comm"), Some(&b"load"[..]));
        assert_eq!(number("prev_pid"), Some(-2));
        assert_eq!(number("prev_state"), Some(256));
        assert_eq!(text("name"), Some(&b"eth0"[..]));
        assert_eq!(text("other"), Some(&b"eth"[..]));
        assert_eq!(number("hrtimer"), Some(-1));
        assert_eq!(format.field("prev_pid").unwrap().number(&record[..20]), None);
        assert!(format.field("next_pid").unwrap_err().field == "next_pid");
    }
}
