//! Where interrupts begin: all have one entry, and the timer's is known by its handler, which runs a while later.

use crate::arch;
use worstcase_logs::units::Instructions;

/// The entries, and when the last interrupt began.
#[derive(Debug, Default)]
pub(crate) struct Interrupts {
    vectors: Option<u64>,
    began: Option<Instructions>,
}

impl Interrupts {
    /// Whose vectors are there; none, and an interrupt begins with its handler.
    pub(crate) fn at(vectors: Option<u64>) -> Interrupts {
        Interrupts { vectors, began: None }
    }

    /// Whether one begins at this address.
    pub(crate) fn begin_at(&self, vaddr: u64) -> bool {
        self.vectors.is_some_and(|vectors| arch::is_interrupt(vectors, vaddr))
    }

    /// One begins.
    pub(crate) fn begins(&mut self, at: Instructions) {
        self.began = Some(at);
    }

    /// When the interrupt began whose handler starts now; none if that was before the machine was stopped and restored.
    pub(crate) fn began(&mut self, now: Instructions) -> Option<Instructions> {
        match self.vectors {
            Some(_) => self.began.take(),
            None => Some(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handler_belongs_to_the_interrupt_before_it() {
        let mut interrupts = Interrupts::at(Some(0x1000));
        assert!(interrupts.begin_at(0x1280) && interrupts.begin_at(0x1480));
        assert!(!interrupts.begin_at(0x1200) && !Interrupts::default().begin_at(0x280));
        interrupts.begins(Instructions(5));
        interrupts.begins(Instructions(9));
        assert_eq!(interrupts.began(Instructions(80)), Some(Instructions(9)));
        assert_eq!(interrupts.began(Instructions(90)), None, "another machine saw it");
        let now = Some(Instructions(90));
        assert_eq!(Interrupts::default().began(Instructions(90)), now, "no entry is known");
    }
}
