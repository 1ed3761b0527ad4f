//! Data inside a page: JSON that no parser of HTML or JavaScript can take for anything else.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use worstcase_base::format::plain;

/// Data as JSON for a `<script type="application/json">`. Text comes from names, files and machines: no character in it
/// may steer the direction of writing or a terminal, and none may end the element.
pub fn json(data: &impl Serialize) -> String {
    let mut value = serde_json::to_value(data).expect("a report is plain data");
    make_plain(&mut value);
    let text = value.to_string();
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for c in text.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out
}

fn make_plain(value: &mut Value) {
    match value {
        Value::String(text) => *text = plain(text),
        Value::Array(values) => values.iter_mut().for_each(make_plain),
        Value::Object(fields) => fields.values_mut().for_each(make_plain),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The name with which a Content-Security-Policy allows a script.
pub fn allowed(script: &str) -> String {
    format!("'sha256-{}'", BASE64.encode(Sha256::digest(script.as_bytes())))
}

/// Text between tags or in an attribute's quotes.
pub fn text(text: &str) -> String {
    let mut out = String::new();
    for c in plain(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_ends_the_element() {
        let hostile = [
            "</script><script>alert(1)",
            "<!--",
            "&lt;",
            "\u{2028}\u{2029}",
            "\u{202e}txt.exe",
        ];
        let shown = json(&hostile);
        assert_eq!(
            shown,
            r#"["\u003c/script\u003e\u003cscript\u003ealert(1)","\u003c!--","\u0026lt;","\u2028\u2029","�txt.exe"]"#
        );
        assert_eq!(
            text("<img src='x' onerror=\"&\">"),
            "&lt;img src=&#39;x&#39; onerror=&quot;&amp;&quot;&gt;"
        );
    }

    proptest! {
        #[test]
        fn it_stays_the_same_data(words in prop::collection::vec("\\PC{0,40}", 0..8)) {
            let shown = json(&words);
            let ends = shown.contains(['<', '>', '&', '\u{2028}', '\u{2029}']);
            prop_assert!(!ends);
            let plain: Vec<String> = words.iter().map(|w| plain(w)).collect();
            prop_assert_eq!(serde_json::from_str::<Vec<String>>(&shown).unwrap(), plain);
        }
    }
}
