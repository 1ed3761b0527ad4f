//! The lab on real kernels, as a user drives it, and what it says of bad input.
//!
//! These tests boot Debian's 6.1 (generic and rt) in QEMU. QEMU comes from `make prepare`; kernels come through
//! `worstcase kernels` into the user's ordinary cache, so that only the first run needs a network. Without
//! either the tests fail and say so: a lab that was not tried is not a lab that works.
//!
//! All times compared here are virtual, hence exact: none of these tests depends on how fast or busy the controller is.

#![allow(clippy::disallowed_methods, reason = "tests write where they like")]

mod across_cpus;
mod against;
mod arguments;
mod arm64;
mod bench;
mod census;
mod census_arm64;
mod checkpoints;
#[path = "../commands/mod.rs"]
mod commands;
mod controller;
mod culprits;
mod culprits_arm64;
mod determinism;
mod disks;
mod documents;
mod failures;
mod figures;
mod followed;
mod followed_cpus;
mod followed_time;
mod forgery;
mod hostile;
mod images;
mod interruption;
mod io;
mod irq;
mod loads;
mod operations;
mod planted_kinds;
mod planted_module;
mod policies;
mod programs;
mod qemu;
mod rtc;
mod schedulers;
mod shape;
mod slurm;
mod smp;
mod ssh;
mod storage;
mod warm;
