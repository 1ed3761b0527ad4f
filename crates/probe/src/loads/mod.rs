//! Loads: what disturbs the machine while a probe measures.
