//! Where the hardware enters a kernel of arm64: one table for all interrupts, faults and system calls, 16 slots of 128 bytes. Each
//! goes on in a routine of its own, by whose name the kernel's other code calls it.

use worstcase_lab::vectors::{SLOT, TABLES};

/// What a slot goes on in: from the kernel without its own stack, from the kernel, from user code, from user code of 32 bits.
const ROUTINES: [&str; 16] = [
    "el1t_64_sync",
    "el1t_64_irq",
    "el1t_64_fiq",
    "el1t_64_error",
    "el1h_64_sync",
    "el1h_64_irq",
    "el1h_64_fiq",
    "el1h_64_error",
    "el0t_64_sync",
    "el0t_64_irq",
    "el0t_64_fiq",
    "el0t_64_error",
    "el0t_32_sync",
    "el0t_32_irq",
    "el0t_32_fiq",
    "el0t_32_error",
];

/// The routine of the slot, at so many bytes from the symbol's address.
pub(crate) fn routine(symbol: &str, offset: u64) -> Option<&'static str> {
    let slot = offset / SLOT % ROUTINES.len() as u64;
    TABLES.contains(&symbol).then(|| ROUTINES[slot as usize])
}

/// Whether the hardware enters there.
pub(super) fn is_entered(symbol: &str, offset: u64) -> bool {
    routine(symbol, offset).is_some() && offset.is_multiple_of(SLOT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_have_the_names_of_their_routines() {
        assert_eq!(routine("vectors", 0x280), Some("el1h_64_irq"));
        assert_eq!(routine("__bp_harden_el1_vectors", 0x800 + 0x404), Some("el0t_64_sync"));
        assert_eq!(routine("schedule", 0x280), None);
        assert!(is_entered("vectors", 0x480) && !is_entered("vectors", 0x484) && !is_entered("schedule", 0));
    }
}
