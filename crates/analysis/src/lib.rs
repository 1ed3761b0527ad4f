//! Why it was late: from a replayed execution or a trace of this machine to names, spans and counts.
//!
//! ```text
//! explain    finds a sample of a run, replays its cell, makes its breakdown
//! breakdown      one sample: consecutive spans that add up to its latency      <- replay, trace
//! cycle      a cycle of a program that was followed: its parts, and the functions of each   <- replay, trace
//! census     every section that can delay a wake-up                        <- replays
//! against    a sample of this machine against the lab: can the path take so long?   <- a breakdown, a run of the lab
//! trial      what each of a machine's settings brought                   <- runs of this machine
//! operation  the longest operation on files: what the lab's disk did      <- a record
//! isolate    what entered a CPU of this machine                            <- a trace of it
//! debuginfo  from a code address to the line of source code                <- debug packages
//! ```

pub mod against;
pub mod breakdown;
pub mod census;
pub mod cycle;
pub mod debuginfo;
pub mod explain;
pub mod isolate;
mod kept;
pub mod noise;
pub mod operation;
pub mod trial;
