//! Foreign text as Markdown, of GitHub's and GitLab's kind.

use worstcase_base::format::plain;

/// Text that stays text: every character with a meaning in Markdown or HTML, also the `@` of a mention, becomes an
/// entity.
pub fn text(foreign: &str) -> String {
    let mut out = String::new();
    for c in plain(foreign).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '&' | '|' | '#' | '@' | '~' | '$' => {
                out += &format!("&#{};", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// A block of commands; its fence is longer than any fence in the text.
pub fn commands(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|l| plain(l)).collect();
    let longest = lines
        .iter()
        .flat_map(|l| l.split(|c| c != '`'))
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}sh\n{}\n{fence}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_stays_text() {
        assert_eq!(text("a|b <i>@x\n"), "a&#124;b &#60;i>&#64;x\u{fffd}");
        assert_eq!(commands(&["echo ```".into()]), "````sh\necho ```\n````");
    }
}
