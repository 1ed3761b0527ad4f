//! Foreign text and tables as Markdown (GitHub's and GitLab's kind).

use worstcase_base::format::plain;

/// Text that stays text: every character that Markdown or HTML gives a meaning, also `@` of a mention, as an entity.
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

/// A block of commands; its fence is longer than any that is in it.
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

/// A table; the first `left` columns are aligned left, numbers right. Cells are Markdown already.
pub fn table(headings: &[&str], left: usize, rows: &[Vec<String>]) -> Vec<String> {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let rule: Vec<String> = (0..headings.len())
        .map(|i| if i < left { "---" } else { "---:" }.to_string())
        .collect();
    let headings: Vec<String> = headings.iter().map(|h| h.to_string()).collect();
    let mut lines = vec![line(&headings), line(&rule)];
    lines.extend(rows.iter().map(|row| line(row)));
    lines
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
