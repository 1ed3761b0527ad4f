//! The kernel that was measured: names and code, as far as they can still be read.

use super::names::running_kernel;
use super::opened::{KernelCode, Reached};
use worstcase_host::kernel_text::KernelText;
use worstcase_lab::execution::Symbols;

/// Reads so many bytes of code from an address on.
type ReadCode = dyn Fn(u64, usize) -> Option<Vec<u8>>;

/// Names and code of the kernel that was measured; nothing of one that no longer runs.
#[derive(Default)]
pub struct MeasuredKernel {
    pub(crate) symbols: Symbols,
    pub(crate) code: Option<Box<ReadCode>>,
}

impl MeasuredKernel {
    /// The running one, as far as this user may read it.
    pub fn running() -> MeasuredKernel {
        let code = |text: KernelText| -> Box<ReadCode> { Box::new(move |at, length| text.read(at, length).ok()) };
        MeasuredKernel {
            symbols: running_kernel().unwrap_or_default(),
            code: KernelText::open().ok().map(code),
        }
    }

    /// How an instruction was reached, in a function that returns to that one.
    pub(crate) fn reached(&self, address: u64, returns_to: Option<u64>) -> Reached {
        let code = self.code.as_ref().and_then(|read| KernelCode::new(&self.symbols, read));
        code.map_or(Reached::NotKnown, |code| code.reached(address, returns_to))
    }
}
