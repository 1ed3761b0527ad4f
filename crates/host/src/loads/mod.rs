//! Loads of the host: those of the lab, and those that need a real machine.
