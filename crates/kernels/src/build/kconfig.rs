//! Why an option of a configuration has another value than the requested one, from the tree's Kconfig files.
//!
//! Only the file of the option is read: its own conditions, and those of the menus and `if` around it there.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::config::KernelConfig;

/// How many options are named with their values.
const MOST_TOLD: usize = 8;

/// The facts about one option in the files.
#[derive(Debug, Default, PartialEq, Eq)]
struct OptionFacts {
    /// For each definition whether the user is asked, and its conditions.
    places: Vec<(bool, Vec<String>)>,
    selected_by: BTreeSet<String>,
}

/// The reason in words; `off` if the option should be off.
pub fn why(tree: &Path, option: &str, off: bool, built: &KernelConfig) -> io::Result<String> {
    let mut told = OptionFacts::default();
    for file in files(tree)? {
        read(
            &String::from_utf8_lossy(&worstcase_base::files::read(&file)?),
            option,
            &mut told,
        );
    }
    Ok(in_words(&told, off, built))
}

fn in_words(told: &OptionFacts, off: bool, built: &KernelConfig) -> String {
    if told.places.is_empty() {
        return "this tree has no such option".into();
    }
    let selectors: Vec<&str> = told
        .selected_by
        .iter()
        .filter(|by| built.has(by))
        .map(String::as_str)
        .collect();
    if off && !selectors.is_empty() {
        return format!("{} selects it", selectors.join(", "));
    }
    let asked: Vec<_> = told.places.iter().filter(|(asked, _)| *asked).collect();
    if asked.is_empty() {
        let all: Vec<&str> = told.selected_by.iter().map(String::as_str).take(MOST_TOLD).collect();
        return match all.is_empty() {
            true => "nobody is asked for it, the tree sets it".into(),
            false => format!(
                "nobody is asked for it, it is on where another option selects it ({})",
                all.join(", ")
            ),
        };
    }
    let conditions: Vec<String> = asked.iter().map(|(_, conditions)| conditions.join(" && ")).collect();
    if conditions.iter().any(String::is_empty) {
        return "another option of the same choice, or one that its parent menu needs, decides it".into();
    }
    let conditions = conditions.join(", or ");
    let values: Vec<String> = symbols(&conditions)
        .into_iter()
        .take(MOST_TOLD)
        .map(|symbol| format!("{symbol} is {}", built.get(&symbol).unwrap_or("not set")))
        .collect();
    format!("it depends on {conditions} ({})", values.join(", "))
}

/// The options in an expression, in their order.
fn symbols(expression: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
        let is_option = word.len() > 1 && word.chars().all(|c| !c.is_ascii_lowercase());
        if is_option && !found.iter().any(|other| other == word) {
            found.push(word.into());
        }
    }
    found
}

/// The tree's Kconfig files, without those of other architectures.
fn files(tree: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![tree.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let is_arch = folder == tree.join("arch");
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let (kind, name) = (entry.file_type()?, entry.file_name());
            let name = name.to_string_lossy();
            if kind.is_dir() && !name.starts_with('.') && (!is_arch || name == "x86") {
                folders.push(entry.path());
            } else if kind.is_file() && name.starts_with("Kconfig") {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The entry that an attribute belongs to.
enum AttributeOwner {
    /// The innermost open menu or choice.
    Around,
    Option {
        name: String,
        asked: bool,
        depends: Vec<String>,
    },
    /// A comment, or nothing.
    Other,
}

/// Adds the facts about the option from a file.
fn read(text: &str, option: &str, told: &mut OptionFacts) {
    let mut around: Vec<Vec<String>> = Vec::new();
    let mut entry = AttributeOwner::Other;
    let mut help: Option<usize> = None;
    let joined = text.replace("\\\n", " ");
    for line in joined.lines() {
        let indent = line.len() - line.trim_start().len();
        let line = line.trim();
        match help {
            _ if line.is_empty() => continue,
            Some(of) if indent > of => continue,
            _ => help = None,
        }
        let (word, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "config" | "menuconfig" => {
                close(&mut entry, option, &around, told);
                entry = AttributeOwner::Option {
                    name: rest.into(),
                    asked: false,
                    depends: Vec::new(),
                };
            }
            "menu" | "choice" | "if" => {
                close(&mut entry, option, &around, told);
                around.push(if word == "if" { vec![rest.into()] } else { Vec::new() });
                entry = AttributeOwner::Around;
            }
            "endmenu" | "endchoice" | "endif" => {
                close(&mut entry, option, &around, told);
                around.pop();
            }
            "comment" | "source" | "mainmenu" => close(&mut entry, option, &around, told),
            "help" | "---help---" => help = Some(indent),
            "depends" => {
                let condition = rest.strip_prefix("on").unwrap_or(rest);
                let condition = condition.split_whitespace().collect::<Vec<_>>().join(" ");
                match &mut entry {
                    AttributeOwner::Option { depends, .. } => depends.push(condition),
                    AttributeOwner::Around => around
                        .iter_mut()
                        .next_back()
                        .into_iter()
                        .for_each(|all| all.push(condition.clone())),
                    AttributeOwner::Other => {}
                }
            }
            "bool" | "tristate" | "int" | "hex" | "string" | "prompt" => {
                if let AttributeOwner::Option { asked, depends, .. } = &mut entry {
                    *asked |= rest.starts_with(['"', '\'']);
                    depends.extend(
                        rest.rsplit_once(" if ")
                            .map(|(_, condition)| condition.trim().to_string()),
                    );
                }
            }
            "select" => {
                let selected = rest.split_whitespace().next();
                if let AttributeOwner::Option { name, .. } = &entry
                    && selected == Some(option)
                {
                    told.selected_by.insert(name.clone());
                }
            }
            _ => {}
        }
    }
    close(&mut entry, option, &around, told);
}

/// Takes in an entry that has ended.
fn close(entry: &mut AttributeOwner, option: &str, around: &[Vec<String>], told: &mut OptionFacts) {
    if let AttributeOwner::Option { name, asked, depends } = std::mem::replace(entry, AttributeOwner::Other)
        && name == option
    {
        let conditions = around.iter().flatten().cloned().chain(depends);
        told.places.push((asked, conditions.collect()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
menu \"Preemption\"
	depends on GENERIC

config LAZY
	bool \"Scheduler controlled\"
	depends on HAS_LAZY && \\
		!SMALL
	select COUNT
	help
	  This depends on nothing
	  depends on LIES

	  config HIDDEN
config FREE
	bool \"Free\" if EXPERT
endmenu
if NET
config COUNT
	bool
config NETTY
	int \"Netty\"
endif
config ALONE
	tristate 'Alone'
	select COUNT if LAZY
";

    fn explanation(option: &str, off: bool, config: &str) -> String {
        let mut told = OptionFacts::default();
        read(FILE, option, &mut told);
        in_words(&told, off, &KernelConfig::parse(config))
    }

    #[test]
    fn conditions_are_told_with_their_values() {
        assert_eq!(
            explanation("LAZY", false, "CONFIG_GENERIC=y\n# CONFIG_SMALL is not set\n"),
            "it depends on GENERIC && HAS_LAZY &&  \t\t!SMALL (GENERIC is y, HAS_LAZY is not set, SMALL is n)"
                .replace("  \t\t", " ")
        );
        assert_eq!(
            explanation("FREE", false, "CONFIG_GENERIC=y\n"),
            "it depends on GENERIC && EXPERT (GENERIC is y, EXPERT is not set)"
        );
        assert_eq!(explanation("NETTY", false, ""), "it depends on NET (NET is not set)");
        assert!(explanation("ALONE", false, "").starts_with("another option"));
    }

    #[test]
    fn what_other_options_decide_is_told() {
        assert_eq!(explanation("COUNT", true, "CONFIG_LAZY=y\n"), "LAZY selects it");
        let said = explanation("COUNT", false, "");
        assert!(said.contains("where another option selects it (ALONE, LAZY)"), "{said}");
        for none in ["HIDDEN", "NONE"] {
            assert_eq!(explanation(none, false, ""), "this tree has no such option");
        }
    }
}
