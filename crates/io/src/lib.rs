//! `io`, the probe of work with files, and loads that keep a block device busy. Its bytes are part of every lab result.
//!
//! ```text
//! probe      what work with files takes: hdparm's, dd's, bonnie++'s
//! blockread  reads from a null_blk device or a disk          apps       paging from a null_blk device
//! writeback  a file system in a RAM disk is written to       null_block  a null_blk device of a load's own
//! ext4       makes a file system without a program for it
//! sys        Linux AIO; what is cached of a file
//! ```

pub mod apps;
pub mod blockread;
pub mod ext4;
mod null_block;
mod probe;
mod sys;
pub mod writeback;

pub use null_block::null_block_folder;
pub use probe::{
    ALIGNED, Beside, BesideDetails, DeviceDetails, DiskAction, DiskDetails, DiskRequest, Extent, Io, IoDetails, MIX,
    Place, WORKS, Work, has_seekers, schedulers,
};
