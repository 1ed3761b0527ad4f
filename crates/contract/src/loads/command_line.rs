//! Splitting a command into words: spaces separate, single and double quotes keep spaces, a backslash takes the
//! next character as it is (not inside single quotes). No variables, no patterns: for those, run `sh -c '...'`.

/// The words of `text`; at least one.
pub fn split(text: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (None, ' ' | '\t') => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(q), c) if c == q => quote = None,
            (None | Some('"'), '\\') => {
                let next = characters.next().ok_or("a backslash ends it")?;
                word.get_or_insert_default().push(next);
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed");
    }
    words.extend(word);
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        _ => Err("there is no program"),
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_quotes_and_backslashes() {
        assert_eq!(split("a  b c ").unwrap(), ["a", "b", "c"]);
        assert_eq!(
            split(r#"sh -c 'x "y" \z' "" "q\"r" s\ t"#).unwrap(),
            ["sh", "-c", r#"x "y" \z"#, "", "q\"r", "s t"]
        );
        assert_eq!(split("a'b'c").unwrap(), ["abc"]);
    }

    #[test]
    fn nothing_to_run_and_open_quotes_are_refused() {
        assert!(split("   ").is_err());
        assert!(split("'' x").is_err());
        assert!(split("a 'b").is_err());
        assert!(split("a \\").is_err());
    }
}
