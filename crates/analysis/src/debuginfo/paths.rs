//! File names as a reader of the kernel's source knows them.

/// A path without its detours (`a/../b`, `./b`), and without the one of `tops` that it begins with.
pub(crate) fn below(tops: &[String], path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    let below = tops.iter().find_map(|top| path.strip_prefix(top.as_str()));
    below.map_or(path.clone(), str::to_string)
}

#[cfg(test)]
mod tests {
    use super::below;

    #[test]
    fn detours_and_the_top_are_left_out() {
        let of = |path| below(&["/build/linux-6.1/".into()], path);
        assert_eq!(of("/build/linux-6.1/debian/build/../../mm/mmap.c"), "mm/mmap.c");
        assert_eq!(of("/build/linux-6.1/./include/linux/mm.h"), "include/linux/mm.h");
        assert_eq!(of("/elsewhere/mod.c"), "/elsewhere/mod.c");
        assert_eq!(below(&[], "../mm/mmap.c"), "../mm/mmap.c");
    }
}
