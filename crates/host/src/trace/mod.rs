//! The kernel's tracepoints as typed events on CLOCK_MONOTONIC.
