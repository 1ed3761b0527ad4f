//! Where the hardware enters a kernel of arm64.

/// The tables, by their symbols: the kernel's own, and those that mend a CPU before they go on there.
pub const TABLES: [&str; 3] = ["vectors", "tramp_vectors", "__bp_harden_el1_vectors"];

/// What an entry of a table takes, in bytes.
pub const SLOT: u64 = 0x80;
