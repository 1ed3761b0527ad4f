//! What those who look on at a watch are told.

use super::file::WatchGap;
use crate::HostSpec;
use crate::message::Pulse;
use std::path::PathBuf;
use worstcase_base::utc::Utc;
use worstcase_contract::Nanos;

/// A finished and kept segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSegment {
    /// Its run folder.
    pub folder: PathBuf,
    /// When it began.
    pub began: Utc,
    /// When it ended.
    pub ended: Utc,
    /// The segment ended before its time.
    pub early: bool,
    /// Samples of all CPUs.
    pub taken: u64,
    /// Periods that passed while the probe was late.
    pub missed: u64,
    /// Samples that could not be kept.
    pub lost: u64,
    /// The largest latency, and its CPU.
    pub max: Option<(Nanos, u32)>,
}

/// An event for the observer.
#[derive(Debug)]
pub enum WatchEvent<'a> {
    /// A note before it begins.
    Note(&'a str),
    /// Measuring begins.
    Begin(&'a HostSpec),
    /// The state of all CPUs, every second.
    Pulse(&'a [Pulse]),
    /// A segment is over.
    Kept(&'a KeptSegment),
    /// Nothing was measured for a while.
    Gap(&'a WatchGap),
}

/// Observes a watch, from several threads.
pub trait WatchObserver: Sync {
    /// Something happens.
    fn see(&self, event: WatchEvent<'_>);
}
