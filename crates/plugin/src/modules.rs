//! The symbols of the modules that are in the kernel when measuring ends, or the machine before: as /proc/kallsyms would show them, read from the
//! guest's memory, so that the guest runs as it does without.

use crate::args::ModuleArgs;
use crate::guest_memory::{GuestMemory, LateMemory};
use crate::paging::PageTable;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use worstcase_logs::mark::MarkKind;
use worstcase_logs::window::ask::ModulePlaces;

/// More modules than this are a list that does not end.
const MOST_MODULES: usize = 4096;
/// More symbols than this of one module are no number of symbols.
const MOST_SYMBOLS: u64 = 1 << 18;
/// No name is longer.
const LONGEST: u64 = 512;
/// Length of a symbol in the table (ELF, 64 bits); its first word holds the place of its name and its kind, its second the
/// address.
const SYMBOL: u64 = 24;
/// The kind of a symbol that is a function.
const FUNCTION: u64 = 2;

struct Asked {
    places: ModulePlaces,
    memory: LateMemory,
    out: PathBuf,
}

static ASKED: Mutex<Option<Asked>> = Mutex::new(None);

/// Waits for the end.
pub fn start(args: ModuleArgs) {
    let asked = Asked {
        places: args.places,
        memory: LateMemory::of_file(args.memory),
        out: args.out,
    };
    *ASKED.lock().unwrap_or_else(PoisonError::into_inner) = Some(asked);
}

/// A mark was made: the last one is the time to look.
pub(crate) fn marked(kind: MarkKind) {
    if kind == MarkKind::End {
        list();
    }
}

/// Lists them, if that was not done.
pub(crate) fn list() {
    let Some(mut asked) = ASKED.lock().unwrap_or_else(PoisonError::into_inner).take() else {
        return;
    };
    let text = asked.memory.get().and_then(|memory| {
        let of_all = symbols(memory, &asked.places);
        of_all.ok_or_else(|| "the modules are not where they should be in the guest's memory".into())
    });
    let out = asked.out.display();
    let written =
        text.and_then(|text| std::fs::write(&asked.out, text).map_err(|e| format!("cannot write {out}: {e}")));
    if let Err(why) = written {
        eprintln!("worstcase-plugin: the modules' symbols are missing: {why}");
    }
}

/// Lines of /proc/kallsyms: all functions of all modules.
fn symbols(memory: &GuestMemory, places: &ModulePlaces) -> Option<String> {
    let table = PageTable {
        root: places.page_table,
        levels: places.page_levels as u32,
        page_bits: places.page_bits as u32,
    };
    let mut text = String::new();
    let mut link = table.word(memory, places.head)?;
    for _ in 0..MOST_MODULES {
        if link == places.head {
            return Some(text);
        }
        let module = link.wrapping_sub(places.list);
        let name = table.text(memory, module + places.name, LONGEST)?;
        let symbols = table.word(memory, module + places.symbols)?;
        // A module that is on its way in or out has none.
        if symbols != 0 {
            add(&mut text, memory, &table, places, &name, symbols)?;
        }
        link = table.word(memory, link)?;
    }
    None
}

fn add(
    text: &mut String,
    memory: &GuestMemory,
    table: &PageTable,
    places: &ModulePlaces,
    module: &str,
    symbols: u64,
) -> Option<()> {
    let entries = table.word(memory, symbols + places.table)?;
    let count = table.word(memory, symbols + places.count)? & u64::from(u32::MAX);
    let strings = table.word(memory, symbols + places.strings)?;
    if count > MOST_SYMBOLS {
        return None;
    }
    for at in (0..count).map(|i| entries + i * SYMBOL) {
        let first = table.word(memory, at)?;
        let (name, kind) = (first & u64::from(u32::MAX), first >> 32 & 0xf);
        if kind != FUNCTION {
            continue;
        }
        let address = table.word(memory, at + 8)?;
        let name = table.text(memory, strings + name, LONGEST)?;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{address:x} t {name}\t[{module}]");
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paging::tests::mapped;

    /// One module `m` with a function `f` and a variable, in the mapped page.
    fn memory(count: u64) -> (GuestMemory, ModulePlaces) {
        const AT: u64 = 0xffff_c000_0000_3000;
        let (mut bytes, table) = mapped();
        let mut put = |at: u64, value: u64| {
            let at = (at - AT + 0x5000) as usize;
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        };
        let (head, module, symbols, entries, strings) = (AT, AT + 0x100, AT + 0x200, AT + 0x300, AT + 0x400);
        put(head, module + 8);
        put(module + 8, head);
        put(module + 24, u64::from(b'm'));
        put(module + 80, symbols);
        put(symbols, entries);
        put(symbols + 8, count);
        put(symbols + 16, strings);
        put(entries + SYMBOL, 1 | FUNCTION << 32);
        put(entries + SYMBOL + 8, 0xffff_ffff_c000_0010);
        put(entries + 2 * SYMBOL, 1 | 1 << 32);
        put(strings, u64::from(b'f') << 8);
        let places = ModulePlaces {
            head,
            list: 8,
            name: 24,
            symbols: 80,
            table: 0,
            count: 8,
            strings: 16,
            page_table: table.root,
            page_levels: 4,
            page_bits: 12,
        };
        (GuestMemory::of_bytes(bytes), places)
    }

    #[test]
    fn functions_of_modules_are_listed() {
        let (memory, places) = memory(3);
        assert_eq!(
            symbols(&memory, &places).as_deref(),
            Some("ffffffffc0000010 t f\t[m]\n")
        );
    }

    #[test]
    fn what_cannot_be_is_no_list() {
        let (memory, places) = memory(MOST_SYMBOLS + 1);
        assert_eq!(symbols(&memory, &places), None);
        let elsewhere = ModulePlaces { head: 0, ..places };
        assert_eq!(symbols(&memory, &elsewhere), None);
    }
}
