//! Names of kernels in tables and cells: the release; if two kernels have the same release, also the part that
//! distinguishes their names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use worstcase_kernels::Kernel;

/// Gives each kernel of a run a unique label.
pub(crate) fn make_unique<'a>(kernels: impl IntoIterator<Item = &'a mut Kernel>) {
    let mut groups: BTreeMap<String, Vec<&mut Kernel>> = BTreeMap::new();
    for kernel in kernels {
        groups.entry(kernel.label.clone()).or_default().push(kernel);
    }
    for (label, group) in groups.into_iter().filter(|(_, group)| group.len() > 1) {
        let names: Vec<String> = group.iter().map(|kernel| kernel.name.clone()).collect();
        for (kernel, tail) in group.into_iter().zip(tails(&names)) {
            kernel.label = match tail.is_empty() {
                true => label.clone(),
                false => format!("{label}+{tail}"),
            };
        }
    }
}

/// Each path without the folders that all paths begin and end with; the names themselves if the rest is not unique.
fn tails(names: &[String]) -> Vec<String> {
    let paths: Vec<Vec<&str>> = names.iter().map(|name| parts(name)).collect();
    let shortest = paths.iter().map(Vec::len).min().unwrap_or(0);
    let same = |of: &dyn Fn(&[&str], usize) -> String, most: usize| {
        let is_same = |nth: &usize| paths.iter().all(|path| of(path, *nth) == of(&paths[0], *nth));
        (0..most).take_while(is_same).count()
    };
    let begin = same(&|path, nth| path[nth].to_string(), shortest);
    let end = same(&|path, nth| path[path.len() - 1 - nth].to_string(), shortest - begin);
    let tails: Vec<String> = paths
        .iter()
        .map(|path| path[begin..path.len() - end].join("-"))
        .collect();
    let distinct: BTreeSet<&String> = tails.iter().collect();
    match distinct.len() == names.len() {
        true => tails,
        false => names.to_vec(),
    }
}

/// The folders and the file of a path, without the options behind it (`bzImage,config=x`).
fn parts(name: &str) -> Vec<&str> {
    let path = name.split(',').next().unwrap_or(name);
    let parts = Path::new(path).components().filter_map(|part| match part {
        Component::Normal(part) => part.to_str(),
        _ => None,
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tails_of(names: &[&str]) -> Vec<String> {
        tails(&names.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn what_differs_in_the_paths_tells_kernels_apart() {
        assert_eq!(tails_of(&["/k/old/bzImage", "/k/new/bzImage"]), ["old", "new"]);
        assert_eq!(tails_of(&["/k/bzImage-1", "/k/bzImage-2"]), ["bzImage-1", "bzImage-2"]);
        assert_eq!(
            tails_of(&["a/x/bzImage", "b/y/bzImage", "b/x/bzImage"]),
            ["a-x", "b-y", "b-x"]
        );
        assert_eq!(tails_of(&["bzImage", "old/bzImage"]), ["", "old"]);
        assert_eq!(tails_of(&["old/bzImage,config=a", "new/bzImage"]), ["old", "new"]);
    }

    #[test]
    fn names_of_one_path_are_told_apart_by_themselves() {
        let names = ["bzImage,config=a", "bzImage,config=b"];
        assert_eq!(tails_of(&names), names);
        assert_eq!(tails_of(&["./bzImage", "bzImage"]), ["./bzImage", "bzImage"]);
        assert_eq!(tails_of(&["debian:6.1", "./k/vmlinuz"]), ["debian:6.1", "k-vmlinuz"]);
    }
}
