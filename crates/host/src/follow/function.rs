//! A function of the user's program, as a place in its file.

use crate::HostError;
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};
use std::fs::File;
use std::io;
use std::path::Path;
use worstcase_base::near;

/// Largest file that is read.
const LARGEST: u64 = 4 << 30;

/// The file, and where in it this function begins.
pub(super) fn find(path: &Path, name: &str) -> Result<(File, u64), HostError> {
    let refused = |why: String| HostError::Argument(format!("--wait uprobe:{}: {why}", path.display()));
    let unreadable = |e: io::Error| refused(format!("cannot be read: {e}"));
    // A pipe would not end.
    let is_file = std::fs::metadata(path).map_err(unreadable)?.is_file();
    if !is_file {
        return Err(refused("it is no file".into()));
    }
    let file = File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.len() > LARGEST {
        return Err(refused("it is too large for a program".into()));
    }
    let cache = object::ReadCache::new(&file);
    let program = object::File::parse(&cache).map_err(|_| {
        refused("it is no program or library (ELF); of a script name the interpreter's function".into())
    })?;
    let functions: Vec<(&str, u64)> = program
        .symbols()
        .chain(program.dynamic_symbols())
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
        .filter_map(|symbol| Some((symbol.name().ok()?, symbol.address())))
        .collect();
    let mut places: Vec<u64> = functions
        .iter()
        .filter(|(own, _)| *own == name)
        .map(|(_, address)| *address)
        .collect();
    places.sort_unstable();
    places.dedup();
    let address = match places[..] {
        [address] => address,
        [] if functions.is_empty() => {
            return Err(refused(
                "it names no function, so it is stripped: build it with its symbols".into(),
            ));
        }
        [] => {
            let names = functions.iter().map(|(own, _)| *own);
            return Err(refused(near::unknown(
                "function",
                name,
                names,
                "nm lists them; one that is inlined has none",
            )));
        }
        _ => {
            return Err(refused(format!(
                "{} functions are called {name}: give the one that is meant a name of its own",
                places.len()
            )));
        }
    };
    let offset = program.segments().find_map(|segment| {
        let (from, length) = segment.file_range();
        let within = address.checked_sub(segment.address())?;
        (within < length).then_some(from + within)
    });
    let offset = offset.ok_or_else(|| refused(format!("{name} is not in what is loaded of it")))?;
    Ok((file, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    #[unsafe(no_mangle)]
    extern "C" fn worstcase_function_of_a_test(value: u64) -> u64 {
        std::hint::black_box(value)
    }

    #[test]
    fn a_function_is_found_where_its_code_is_in_the_file() {
        worstcase_function_of_a_test(1);
        let own = std::env::current_exe().unwrap();
        let (file, offset) = find(&own, "worstcase_function_of_a_test").unwrap();
        let mut code = [0; 8];
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut code, offset).unwrap();
        // SAFETY: the function's code has more bytes than these, and is readable.
        let loaded = unsafe { *(worstcase_function_of_a_test as *const [u8; 8]) };
        assert_eq!(code, loaded);
    }

    #[test]
    fn what_is_no_function_is_one_line_with_what_to_do() {
        let own = std::env::current_exe().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        std::fs::write(&script, "#!/bin/sh\n").unwrap();
        for (path, name, why) in [
            (
                own.as_path(),
                "worstcase_function_of_a_tesd",
                "did you mean worstcase_function_of_a_test",
            ),
            (&script, "main", "no program or library"),
            (Path::new("/no/such/program"), "main", "cannot be read: No such file"),
            (folder.path(), "main", "it is no file"),
        ] {
            let line = find(path, name).unwrap_err().to_string();
            assert!(line.contains(why) && line.lines().count() == 1, "{line}");
        }
    }
}
