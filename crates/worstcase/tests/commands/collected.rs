//! The commands, as the documents have them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A command that a document has.
pub struct DocumentedCommand {
    /// The first document that has it.
    pub document: String,
    /// One line, without what is said about it behind it.
    pub text: String,
}

/// Each command of README and docs once: those of blocks, and those between backquotes that name more than a command.
pub fn documented() -> Vec<DocumentedCommand> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = docs
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    pages.sort();
    pages.insert(0, root.join("README.md"));
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for page in pages {
        let name = page.file_name().unwrap().to_str().unwrap().to_string();
        for text in of_page(&fs::read_to_string(&page).unwrap()) {
            found.entry(text).or_insert_with(|| name.clone());
        }
    }
    let commands = found.into_iter();
    commands
        .map(|(text, document)| DocumentedCommand { document, text })
        .collect()
}

fn of_page(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut prose = String::new();
    let mut is_code = false;
    // A command may go on in the next line.
    for line in text.replace("\\\n", " ").lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if is_code || line.starts_with("    ") {
            let bare = line.trim();
            let bare = ["- ", "run: ", "$ ", "sudo "]
                .iter()
                .fold(bare, |line, lead| line.strip_prefix(lead).unwrap_or(line));
            // A row of a table that begins with the tool's name is none.
            if bare.starts_with("worstcase ") && !bare.starts_with("worstcase  ") {
                commands.push(plain(bare));
            }
        } else {
            prose += line;
            prose.push('\n');
        }
    }
    // Between backquotes only those are commands that could be typed: `worstcase show` alone names one.
    let quoted = prose.split('`').skip(1).step_by(2).map(plain);
    commands.extend(quoted.filter(|text| text.starts_with("worstcase ") && !is_name(text)));
    commands
}

/// `worstcase show`, `worstcase lab run`: the name of a command.
fn is_name(text: &str) -> bool {
    let words: Vec<&str> = text.split(' ').collect();
    let groups = ["host", "kernels", "lab", "study"];
    words.len() < 3 || (words.len() == 3 && groups.contains(&words[1]))
}

/// Without what is told behind it, and with single spaces; what stands in quotes stays.
fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut quote = None;
    let joined = line.replace('\n', " ");
    let mut rest = joined.trim().chars().peekable();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, '#' | '>' | '|') if out.ends_with(' ') => break,
            // Two spaces begin what is said about it; a command that was broken has more before an option.
            (None, ' ') if rest.peek() == Some(&' ') => {
                while rest.next_if(|c| *c == ' ').is_some() {}
                match rest.peek() {
                    Some('-' | '"' | '\'') => {}
                    _ => break,
                }
            }
            _ => {}
        }
        out.push(c);
    }
    out.trim().to_string()
}

#[test]
fn what_is_told_behind_a_command_is_none_of_it() {
    assert_eq!(plain("worstcase census RUN      a table"), "worstcase census RUN");
    assert_eq!(
        plain("worstcase a --b        --c \"x  y\" -d"),
        "worstcase a --b --c \"x  y\" -d"
    );
    assert_eq!(plain("worstcase a   # why"), "worstcase a");
    assert_eq!(plain("worstcase a -o - | gzip > b"), "worstcase a -o -");
    assert_eq!(
        plain("worstcase bisect --criterion 'max > 1ms'"),
        "worstcase bisect --criterion 'max > 1ms'"
    );
}
