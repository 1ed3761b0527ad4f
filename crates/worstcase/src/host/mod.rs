//! This machine: what it is, how it is set, and measuring it.
