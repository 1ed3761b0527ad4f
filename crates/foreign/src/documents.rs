//! JSON documents in a file: alone, one after the other, in a list, or between lines of text.

use super::FormatError;
use super::lines::NumberedLines;
use serde_json::Value;

/// A document, the line at which it begins, and the number of lines that it takes.
pub(crate) struct FoundDocument {
    pub(crate) at: usize,
    pub(crate) lines: usize,
    pub(crate) value: Value,
}

/// Words that only a document of a known tool contains: without its end it is refused.
const OURS: [&str; 4] = ["\"cmdline", "\"fio version\"", "\"cpus_online\"", "\"rt_test_version"];

/// Lines that begin as a document does and are none; more are no output of a tool.
const MOST_OTHERS: usize = 64;

/// Takes the documents out of the lines.
pub(crate) fn take(lines: &mut NumberedLines<'_>) -> Result<Vec<FoundDocument>, FormatError> {
    if !lines.texts().any(may_begin) {
        return Ok(Vec::new());
    }
    let (mut joined, mut begins) = (String::new(), Vec::new());
    for line in lines.texts() {
        begins.push(joined.len());
        joined += &nulls(line);
        joined.push('\n');
    }
    let (mut found, mut text, mut nth, mut others) = (Vec::new(), Vec::new(), 0, 0);
    while let Some((at, line)) = lines.0.get(nth).copied() {
        let read = match may_begin(line) {
            true => document(at, &joined[begins[nth]..])?,
            false => None,
        };
        match read {
            Some(document) => {
                nth += document.lines;
                found.push(document);
            }
            None => {
                others += usize::from(may_begin(line));
                if others > MOST_OTHERS {
                    return Err(FormatError::at(at, "too many lines begin as JSON does, and are none"));
                }
                text.push((at, line));
                nth += 1;
            }
        }
    }
    *lines = NumberedLines(text);
    Ok(found.into_iter().flat_map(each).collect())
}

/// Whether a document may begin with a line.
fn may_begin(line: &str) -> bool {
    let line = line.trim();
    let inside = |begin: char| line.strip_prefix(begin).map(str::trim_start);
    inside('{').is_some_and(|rest| rest.is_empty() || rest.starts_with(['"', '}']))
        || inside('[').is_some_and(|rest| rest.is_empty() || rest.starts_with('{'))
}

/// The members of a list.
fn each(found: FoundDocument) -> Vec<FoundDocument> {
    let (at, lines) = (found.at, found.lines);
    match found.value {
        Value::Array(all) => {
            let one = |value| FoundDocument { at, lines, value };
            all.into_iter().filter(Value::is_object).map(one).collect()
        }
        value => vec![FoundDocument { at, lines, value }],
    }
}

/// The document that begins here; a line of text can begin with the same sign.
fn document(at: usize, text: &str) -> Result<Option<FoundDocument>, FormatError> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match stream.next() {
        Some(Ok(value)) => {
            let taken = text[..stream.byte_offset()].matches('\n').count() + 1;
            let document = FoundDocument {
                at,
                lines: taken,
                value,
            };
            Ok(Some(document))
        }
        Some(Err(e)) if OURS.iter().any(|words| text.contains(words)) => {
            // The last line may have an end.
            let line = at - 1 + e.line().min(text.lines().count());
            Err(match e.is_eof() {
                true => FormatError::new(format!("it ends in the middle, at line {line}; it was cut")),
                false => FormatError::at(line, format!("it is no JSON: {e}")),
            })
        }
        Some(Err(_)) | None => Ok(None),
    }
}

/// C prints what is no number as `nan` or `inf`, which JSON has not: `null` in its place.
fn nulls(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let (mut is_quoted, mut is_escaped) = (false, false);
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let word = ["-nan", "nan", "-inf", "inf"]
            .into_iter()
            .find(|word| !is_quoted && rest.starts_with(word));
        if let Some(word) = word {
            out.push_str("null");
            rest = &rest[word.len()..];
            continue;
        }
        is_quoted ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> (Vec<(usize, Value)>, Vec<String>) {
        let mut lines = NumberedLines::of(text);
        let found = take(&mut lines).unwrap();
        let left = lines.texts().map(str::to_string).collect();
        (found.into_iter().map(|one| (one.at, one.value)).collect(), left)
    }

    #[test]
    fn documents_are_taken_out_of_a_text() {
        let (found, left) = taken("before\n{\n\"a\": -nan\n}\n{\"b\": \"nan\"}\n[3, 4) | 5\nafter\n");
        assert_eq!(found[0], (2, serde_json::json!({"a": null})));
        assert_eq!(found[1], (5, serde_json::json!({"b": "nan"})));
        assert_eq!(
            (found.len(), left),
            (2, ["before", "[3, 4) | 5", "after"].map(String::from).to_vec())
        );
        let (found, _) = taken("[\n {\"a\": 1},\n {\"a\": 2}\n]");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_cut_document_of_a_tool_is_refused_with_its_line() {
        let mut lines = NumberedLines::of("x\n{\n\"cmdline:\": \"cyclictest\",\n");
        let error = take(&mut lines).map(|_| ()).unwrap_err().to_string();
        assert_eq!(error, "it ends in the middle, at line 3; it was cut");
    }
}
