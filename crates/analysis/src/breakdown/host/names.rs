//! The running kernel's symbols.

use worstcase_contract::symbols::SymbolTable;
use worstcase_lab::execution::Symbols;

const PATH: &str = "/proc/kallsyms";

/// Why call chains have no names.
#[derive(Debug, thiserror::Error)]
pub enum NamesError {
    /// The file.
    #[error("{PATH} cannot be read: {0}; call chains are shown as addresses")]
    Read(#[source] std::io::Error),
    /// The kernel shows zeroes to users without the right.
    #[error("{PATH} hides addresses; run as root, or set kernel.kptr_restrict to 0 or 1")]
    Hidden,
}

/// Reads them; about 10 MB of text, so once.
pub fn running_kernel() -> Result<Symbols, NamesError> {
    from_text(&std::fs::read_to_string(PATH).map_err(NamesError::Read)?)
}

fn from_text(text: &str) -> Result<Symbols, NamesError> {
    let table = SymbolTable::from_kallsyms(text);
    match table.code().any(|symbol| symbol.address != 0) {
        true => Ok(Symbols::from(&table)),
        false => Err(NamesError::Hidden),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeroes_are_no_addresses() {
        let hidden = from_text("0000000000000000 T schedule\n0000000000000000 t do_idle\n");
        assert!(matches!(hidden, Err(NamesError::Hidden)));
        let seen = from_text("ffffffff81000000 T schedule\n").unwrap();
        assert_eq!(seen.lookup(0xffff_ffff_8100_0010).unwrap().name, "schedule");
    }
}
