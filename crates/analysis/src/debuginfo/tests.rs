use super::testing::{TestProgram, function, module, program};
use super::{DebugInfo, Modules, readable};
use crate::breakdown::lines::{SourceLine, SourceLines};
use std::path::Path;
use worstcase_base::ExitKind;
use worstcase_base::cache::Cache;
use worstcase_kernels::debuginfo::slim::slim;
use worstcase_kernels::debuginfo::{BuildId, DebugInfoError, kept};
use worstcase_lab::execution::{Symbol, Symbols};

fn open(file: &Path, symbols_of: &Path) -> Result<DebugInfo, DebugInfoError> {
    let symbols = Symbols::new(vec![Symbol {
        address: function(symbols_of, "__schedule").0,
        name: "__schedule".into(),
        module: None,
    }]);
    DebugInfo::open(file, &symbols)
}

/// All lines of a function.
fn lines(info: &DebugInfo, program: &TestProgram, name: &str) -> Vec<SourceLine> {
    let (start, size) = function(&program.file, name);
    (start..start + size)
        .filter_map(|address| info.source(address))
        .collect()
}

fn finds_lines(info: &DebugInfo, program: &TestProgram) {
    let work = lines(info, program, "work");
    let division = work.iter().find(|s| !s.inlined.is_empty()).expect("inlined code");
    assert_eq!(division.whole(), "kernel/sched/core.c:6 > inlined 3");
    assert!(
        work.iter()
            .any(|s| s.inlined.is_empty() && s.to_string() == "kernel/sched/core.c:6")
    );
    assert_eq!(info.source(0x10), None);
}

#[test]
fn lines_and_inlined_functions_are_found_in_every_form_of_dwarf() {
    for flags in [
        &["-gdwarf-5"][..],
        &["-gdwarf-4"],
        &["-gz=zlib"],
        &["-gsplit-dwarf"],
        &["-Wl,--emit-relocs"],
        &["-gdwarf-4", "-gz=zlib", "-Wl,--emit-relocs"],
    ] {
        let program = program(flags);
        finds_lines(&open(&program.file, &program.file).unwrap(), &program);
    }
}

#[test]
fn the_copy_that_is_kept_finds_the_same() {
    for flags in [&["-gdwarf-5"][..], &["-gdwarf-4", "-gz=zlib"], &["-Wl,--emit-relocs"]] {
        let program = program(flags);
        let copy = program.folder.path().join("copy");
        slim(&program.file, &copy).unwrap();
        finds_lines(&open(&copy, &program.file).unwrap(), &program);
    }
}

/// The addresses of the module's sections.
const TEXT: u64 = 0xffff_ffff_c012_3000;
const UNLIKELY: u64 = 0xffff_ffff_c045_6040;

/// The lines of a module's functions, as `m.c:2`, when its functions are there.
fn module_lines(module: &TestProgram, functions: &[(&str, u64)], of: &str) -> Vec<String> {
    let at = |name: &str| function(&module.file, name);
    let symbols = functions.iter().map(|(name, section)| Symbol {
        address: section + at(name).0,
        name: name.to_string(),
        module: Some("m".into()),
    });
    let symbols = Symbols::new(symbols.collect());
    let file = |name: &str| (name == "m").then(|| std::fs::read(&module.file).unwrap().into());
    let lines = Modules::of(Box::new(()), &symbols, file);
    let (offset, size) = at(of);
    let section = functions.iter().find(|(name, _)| *name == of).unwrap().1;
    let mut found: Vec<String> = (section + offset..section + offset + size)
        .filter_map(|address| lines.source(address))
        .map(|source| source.whole())
        .collect();
    found.dedup();
    found
}

#[test]
fn lines_of_a_module_are_those_of_where_its_sections_lie() {
    for flags in [
        &["-gdwarf-5"][..],
        &["-gdwarf-4"],
        &["-gz=zlib"],
        &["-gdwarf-5", "-gz=zlib"],
    ] {
        let module = module(flags);
        let functions = [("first", TEXT), ("second", TEXT), ("rare", UNLIKELY)];
        let of = |name| module_lines(&module, &functions, name);
        for (name, from, to) in [("first", 1, 3), ("second", 5, 7), ("rare", 8, 10)] {
            let found = of(name);
            let expected: Vec<String> = (from..=to).map(|line| format!("m.c:{line}")).collect();
            assert!(found.contains(&expected[1]), "{flags:?}, {name}: {found:?}");
            let strange = found
                .iter()
                .find(|line| !expected.contains(line) && **line != format!("m.c:{}", from - 1));
            assert_eq!(strange, None, "{flags:?}, {name}");
        }
    }
}

#[test]
fn most_functions_of_a_section_say_where_it_is() {
    let module = module(&[]);
    // A function of that name somewhere else, once.
    let functions = [
        ("first", TEXT),
        ("second", TEXT),
        ("rare", UNLIKELY),
        ("first", UNLIKELY + 0x5000),
    ];
    assert!(module_lines(&module, &functions, "second").contains(&"m.c:6".to_string()));
}

#[test]
fn a_module_without_debug_information_has_no_lines() {
    let module = module(&["-g0"]);
    assert_eq!(module_lines(&module, &[("first", TEXT)], "first"), Vec::<String>::new());
}

#[test]
fn another_build_is_refused_in_one_line() {
    let program = program(&[]);
    let open = || open(&program.file, &program.file).unwrap();
    let own = slim(&program.file, &program.folder.path().join("copy")).unwrap();
    assert!(open().must_be_of(&program.file, "6.1", Some(&own)).is_ok());
    let other = BuildId::new(&[0xab, 0xcd]);
    for (running, says) in [(Some(&other), "that of 6.1 is abcd; give"), (None, "no build-id")] {
        let error = open().must_be_of(&program.file, "6.1", running).err().unwrap();
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!((error.exit(), error.to_string().lines().count()), (ExitKind::Usage, 1));
    }
}

#[test]
fn what_holds_no_debug_information_is_refused() {
    let program = program(&["-g0"]);
    let text = program.folder.path().join("text");
    std::fs::write(&text, "text").unwrap();
    let missing = program.folder.path().join("missing");
    for (file, says) in [
        (&program.file, "it has no .debug_info and .debug_line"),
        (&text, "no debug information"),
        (&missing, "cannot read"),
        (&program.folder.path().to_path_buf(), "Is a directory"),
    ] {
        let error = open(file, &program.file).err().unwrap();
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(error.exit(), ExitKind::Usage);
    }
}

#[test]
fn what_is_kept_is_found_by_version_and_by_build() {
    let (program, cache) = (program(&[]), tempfile::tempdir().unwrap());
    let cache = Cache::at(cache.path());
    let fetch = |into: &Path| {
        let fetched = into.join("vmlinux");
        std::fs::copy(&program.file, &fetched).unwrap();
        Ok::<_, DebugInfoError>(fetched)
    };
    let kept = kept::keep(&cache, "6.1.0-1-amd64", "6.1-1", fetch).unwrap();
    assert_eq!(kept.bytes, std::fs::metadata(&kept.path).unwrap().len());
    assert!(!kept.path.with_file_name("downloads").exists());
    assert_eq!(kept::of_version(&cache, "6.1.0-1-amd64", "6.1-1"), Some(kept.clone()));
    assert_eq!(kept::of_version(&cache, "6.1.0-1-amd64", "6.1-2"), None);
    let id = slim(&kept.path, &program.folder.path().join("copy")).unwrap();
    assert_eq!(kept::of_build(&cache, &id), Some(kept));
    assert_eq!(kept::of_build(&cache, &BuildId::new(&[1])), None);
}

/// Each byte of the debug information in turn, and some after it, are others: addresses have a line, or none, and nothing ends by a panic.
#[test]
fn damaged_debug_information_has_fewer_lines_and_ends_nothing() {
    use object::read::{Object, ObjectSection};
    for flags in [&["-gdwarf-5"][..], &["-gdwarf-4"]] {
        let program = program(flags);
        let whole = std::fs::read(&program.file).unwrap();
        let elf = object::File::parse(&*whole).unwrap();
        let named = elf
            .sections()
            .filter(|s| s.name().is_ok_and(|name| name.starts_with(".debug_")));
        let places: Vec<u64> = named
            .filter_map(|s| s.file_range())
            .flat_map(|(at, length)| at..at + length)
            .collect();
        let (start, size) = function(&program.file, "work");
        let damaged = program.folder.path().join("damaged");
        let mut lost = 0;
        for at in places.into_iter().map(|at| at as usize) {
            // A byte, and numbers of each size that are as large as can be.
            for length in [1, 8] {
                let mut bytes = whole.clone();
                bytes[at..at + length].fill(0xff);
                std::fs::write(&damaged, bytes).unwrap();
                let found = open(&damaged, &program.file).ok();
                let found = found.map(|info| (start..start + size).filter_map(|address| info.source(address)).count());
                lost += usize::from(found.unwrap_or(0) == 0);
            }
        }
        assert!(lost > 0, "no byte mattered");
    }
}

/// addr2line adds 1 to it.
#[test]
fn the_last_address_has_no_line() {
    let program = program(&[]);
    let info = open(&program.file, &program.file).unwrap();
    assert_eq!(info.source(u64::MAX), None);
}

#[test]
fn a_damaged_module_ends_nothing() {
    let module = module(&[]);
    let whole = std::fs::read(&module.file).unwrap();
    let symbols = [("first", TEXT), ("second", TEXT)].map(|(name, section)| Symbol {
        address: section + function(&module.file, name).0,
        name: name.into(),
        module: Some("m".into()),
    });
    let symbols = Symbols::new(symbols.into());
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] = 0xff;
        let lines = Modules::of(Box::new(()), &symbols, |_| Some(bytes.clone().into()));
        lines.source(TEXT + function(&module.file, "second").0);
    }
}

#[test]
fn names_are_as_their_source_has_them() {
    let told = [
        "_ZN7control4work17h05af221e174051e9E",
        "_RNvCs1234_7control4work",
        "_ZN4loop4stepEi",
        "main",
        "i",
        "_Z",
    ]
    .map(readable);
    assert_eq!(
        told,
        ["control::work", "control::work", "loop::step(int)", "main", "i", "_Z"]
    );
}
