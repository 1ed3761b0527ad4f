//! The kernel's symbols on their way from the guest to the controller: names of code, and the few of data that lead to tasks.
//!
//! Taken from `/proc/kallsyms` once the modules of a load are in. Addresses are kept as differences and modules as
//! numbers: every byte costs a microsecond on its way out of the guest.

use serde::{Deserialize, Serialize};

/// The first bytes of the message; then CRC-32 of the rest, and the table (postcard).
const MAGIC: &[u8; 6] = b"WCSYM\x01";

/// Data symbols that the controller needs, where the kernel has them.
#[cfg(not(target_arch = "aarch64"))]
const DATA: &[&str] = &[
    "__per_cpu_offset",
    "__preempt_count",
    "__start_BTF",
    "__stop_BTF",
    "current_task",
    "init_top_pgt",
    "modules",
    "page_offset_base",
    "pcpu_hot",
    "sys_call_table",
];

/// Symbols of a running kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SymbolTable {
    /// Names of modules.
    modules: Vec<String>,
    /// Difference of the address to the one before, module (0: none, else its number from 1), name.
    code: Vec<(i64, u32, String)>,
    /// Name and value.
    data: Vec<(String, u64)>,
}

/// A name of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeSymbol<'a> {
    /// Its first address.
    pub address: u64,
    /// Its name.
    pub name: &'a str,
    /// The module that holds it; none for the kernel itself.
    pub module: Option<&'a str>,
}

/// The function of a loaded BPF program: `bpf_prog_`, 16 digits of its digest, and the function's name.
fn of_bpf_program(symbol: &str) -> Option<&str> {
    let (digest, name) = symbol.strip_prefix("bpf_prog_")?.split_at_checked(16)?;
    let is_digest = digest.bytes().all(|digit| digit.is_ascii_hexdigit());
    name.strip_prefix('_').filter(|name| is_digest && !name.is_empty())
}

/// A message that is no symbol table, or was cut or damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the kernel's symbols did not arrive whole")]
pub struct NotATable;

impl SymbolTable {
    /// Reads the text of `/proc/kallsyms`: code in its order, data as listed in [`DATA`].
    pub fn from_kallsyms(text: &str) -> SymbolTable {
        let mut table = SymbolTable::default();
        let mut before = 0u64;
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            let Ok(address) = u64::from_str_radix(address, 16) else {
                continue;
            };
            let module = words.next().map(|m| m.trim_matches(['[', ']']));
            // 7.3 gives the data of `.data` the letter of code.
            if module.is_none() && DATA.contains(&name) {
                table.data.push((name.to_string(), address));
                continue;
            }
            // The padding before a function is never executed.
            if !matches!(kind, "t" | "T" | "w" | "W") || name.starts_with("__pfx_") {
                continue;
            }
            let module = module.map_or(0, |m| table.module_number(m));
            let step = address.wrapping_sub(before) as i64;
            table.code.push((step, module, name.to_string()));
            before = address;
        }
        table
    }

    fn module_number(&mut self, name: &str) -> u32 {
        let at = self.modules.iter().position(|m| m == name).unwrap_or_else(|| {
            self.modules.push(name.to_string());
            self.modules.len() - 1
        });
        at as u32 + 1
    }

    /// Names of code, in the kernel's order: of several at one address the first is the one that the kernel shows.
    pub fn code(&self) -> impl Iterator<Item = CodeSymbol<'_>> {
        let mut address = 0u64;
        self.code.iter().map(move |(step, module, name)| {
            address = address.wrapping_add_signed(*step);
            let module = module.checked_sub(1).and_then(|m| self.modules.get(m as usize));
            CodeSymbol {
                address,
                name: of_bpf_program(name).unwrap_or(name),
                module: module.map(String::as_str),
            }
        })
    }

    /// The value of a data symbol.
    pub fn data(&self, name: &str) -> Option<u64> {
        self.data.iter().find(|(n, _)| n == name).map(|(_, value)| *value)
    }

    /// The message.
    pub fn encode(&self) -> Vec<u8> {
        let table = postcard::to_stdvec(self).expect("plain values are serialised");
        let sum = crc32fast::hash(&table).to_le_bytes();
        [&MAGIC[..], &sum[..], &table[..]].concat()
    }

    /// Reads a whole message.
    pub fn decode(message: &[u8]) -> Result<SymbolTable, NotATable> {
        let body = message.strip_prefix(MAGIC).ok_or(NotATable)?;
        let (sum, table) = body.split_first_chunk().ok_or(NotATable)?;
        if u32::from_le_bytes(*sum) != crc32fast::hash(table) {
            return Err(NotATable);
        }
        postcard::from_bytes(table).map_err(|_| NotATable)
    }
}

/// The same on arm64.
#[cfg(target_arch = "aarch64")]
const DATA: &[&str] = &[
    "__entry_task",
    "__per_cpu_offset",
    "__start_BTF",
    "__stop_BTF",
    "kimage_voffset",
    "memstart_addr",
    "modules",
    "swapper_pg_dir",
    "sys_call_table",
];

#[cfg(test)]
mod tests {
    use super::*;

    const KALLSYMS: &str = "\
000000000001fbc0 D current_task
ffffffff81000000 T _stext
ffffffff81000000 t startup_64
ffffffff81000ff0 t __pfx_do_it
ffffffff81001000 t do_it
ffffffff81f00000 t modules
ffffffff82000000 D jiffies
ffffffff82000100 R __start_BTF
ffffffffc0200000 t null_init\t[null_blk]
ffffffffc0100000 t cfg_add\t[configfs]
ffffffffc0200040 t null_queue\t[null_blk]
ffffffffc0200050 d current_task\t[null_blk]
ffffffffc0300000 t bpf_prog_6deef7357e7b4530_o_n_dispatch\t[bpf]
ffffffffc0300100 t bpf_prog_load\t[bpf]
nonsense
";

    #[test]
    fn code_and_the_needed_data_are_taken() {
        let table = SymbolTable::decode(&SymbolTable::from_kallsyms(KALLSYMS).encode()).unwrap();
        let code: Vec<_> = table.code().map(|s| (s.address, s.name, s.module)).collect();
        assert_eq!(
            code,
            [
                (0xffff_ffff_8100_0000, "_stext", None),
                (0xffff_ffff_8100_0000, "startup_64", None),
                (0xffff_ffff_8100_1000, "do_it", None),
                (0xffff_ffff_c020_0000, "null_init", Some("null_blk")),
                (0xffff_ffff_c010_0000, "cfg_add", Some("configfs")),
                (0xffff_ffff_c020_0040, "null_queue", Some("null_blk")),
                (0xffff_ffff_c030_0000, "o_n_dispatch", Some("bpf")),
                (0xffff_ffff_c030_0100, "bpf_prog_load", Some("bpf")),
            ]
        );
        assert_eq!(table.data("current_task"), Some(0x1fbc0));
        assert_eq!(table.data("__start_BTF"), Some(0xffff_ffff_8200_0100));
        assert_eq!(table.data("modules"), Some(0xffff_ffff_81f0_0000));
        assert_eq!(table.data("jiffies"), None);
    }

    #[test]
    fn what_is_not_whole_is_refused() {
        let message = SymbolTable::from_kallsyms(KALLSYMS).encode();
        for n in 0..message.len() {
            assert!(SymbolTable::decode(&message[..n]).is_err(), "{n} bytes");
            let mut changed = message.clone();
            changed[n] ^= 1;
            assert!(SymbolTable::decode(&changed).is_err(), "byte {n}");
        }
    }
}
