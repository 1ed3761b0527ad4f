//! The function at an address, looked up once: a loop asks for the same few addresses millions of times.

use super::vectors;
use crate::breakdown::roles::{self, FunctionRole};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use worstcase_lab::execution::{Symbol, Symbols};
use worstcase_plan::Arch;

/// Code without symbols: a module that a program loaded, or code that the kernel generates.
pub(crate) const NO_SYMBOL: &str = "[no symbol]";

/// The function that holds an address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named<'a> {
    /// The symbol, as the kernel names it.
    pub(crate) symbol: Option<&'a Symbol>,
    /// Its role, if it has one.
    pub(crate) role: Option<FunctionRole>,
    /// The function that it is a part of, or [`NO_SYMBOL`].
    pub(crate) function: &'a str,
}

impl Named<'_> {
    /// Whether the function begins there.
    pub(crate) fn starts(self, address: u64) -> bool {
        self.symbol.is_some_and(|s| s.address == address)
    }

    /// Whether the hardware enters there, and nothing else: the stubs of all vectors share one symbol.
    pub(super) fn is_stub(self, address: u64) -> bool {
        let is_stub =
            |s: &Symbol| s.name.ends_with("_entries_start") || vectors::is_entered(&s.name, address - s.address);
        self.symbol.is_some_and(is_stub)
    }

    /// Whether code there is of a table in which the hardware enters.
    pub(super) fn is_in_vectors(self) -> bool {
        self.symbol.is_some_and(|s| vectors::routine(&s.name, 0).is_some())
    }
}

/// Names of addresses.
pub struct CodeNames<'a> {
    symbols: &'a Symbols,
    known: RefCell<FxHashMap<u64, Named<'a>>>,
}

impl<'a> CodeNames<'a> {
    /// Of a kernel.
    pub fn new(symbols: &'a Symbols) -> CodeNames<'a> {
        CodeNames {
            symbols,
            known: RefCell::default(),
        }
    }

    pub(crate) fn symbols(&self) -> &'a Symbols {
        self.symbols
    }

    /// Of the machine.
    pub(super) fn arch(&self) -> Arch {
        self.symbols.arch
    }

    pub(crate) fn at(&self, address: u64) -> Named<'a> {
        *self.known.borrow_mut().entry(address).or_insert_with(|| {
            let symbol = self.symbols.lookup(address);
            let routine = symbol.and_then(|s| vectors::routine(&s.name, address - s.address));
            let name = routine.or(symbol.map(|s| s.name.as_str()));
            Named {
                symbol,
                role: name.and_then(roles::role),
                function: name.map_or(NO_SYMBOL, roles::whole),
            }
        })
    }
}
