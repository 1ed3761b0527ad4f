//! The commands that repeat a bisection and its two last measurements, for somebody else too: without paths of this machine
//! where a name will do.

use crate::cli::error::Error;
use std::path::PathBuf;
use worstcase_base::format::shell;
use worstcase_plan::Added;
use worstcase_results::record::Run;

/// The folders of the two measurements, as the commands name them.
const NAMES: [&str; 2] = ["before", "after"];

/// This command as it was typed.
pub(super) fn typed() -> Vec<String> {
    let words = std::env::args().skip(1);
    std::iter::once("worstcase".to_string()).chain(words).collect()
}

/// The typed command, those that measure the kernels of both folders, and the one that compares them.
pub(super) fn commands(folders: &[PathBuf; 2], added: &[Added]) -> Result<Vec<String>, Error> {
    let mut commands = vec![shell(&typed())];
    for (folder, name) in folders.iter().zip(NAMES) {
        commands.push(shell(&named(Run::open(folder)?.command(), name, added)));
    }
    let compared = ["worstcase", "compare", NAMES[0], NAMES[1], "--explain"];
    commands.push(shell(&compared.map(String::from)));
    Ok(commands)
}

/// A run's command with its output under another name, and the added programs in the current folder.
fn named(mut words: Vec<String>, name: &str, added: &[Added]) -> Vec<String> {
    if let Some(at) = words.iter().position(|word| word == "--output")
        && let Some(output) = words.get_mut(at + 1)
    {
        *output = name.to_string();
    }
    for Added { source, dest } in added {
        let long = format!("{}:{dest}", source.display());
        let file = source.file_name().unwrap_or_default().to_string_lossy();
        for word in words.iter_mut().filter(|word| **word == long) {
            *word = format!("./{file}:{dest}");
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_this_machine_become_names() {
        let words = "worstcase lab run --kernel k --add /home/me/duty:/duty --output /home/me/runs/k-1";
        let words = words.split(' ').map(String::from).collect();
        let added = ["/home/me/duty:/duty".parse().unwrap()];
        let told = named(words, "before", &added).join(" ");
        assert_eq!(told, "worstcase lab run --kernel k --add ./duty:/duty --output before");
    }
}
