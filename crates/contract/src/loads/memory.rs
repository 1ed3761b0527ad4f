//! Loads that work with memory, its mappings and its order.

use super::info::{LoadInfo, Takes, number, up_to};
use crate::venue::Only;
use worstcase_cell::loads::LoadKind;

/// The word that makes a load work in the probe's own process.
const OWN: &str = "own";
const OWN_IN_THE_LAB: &str = "on the host loads are processes of their own; there the same without ':own'";

pub(super) const SHM: LoadInfo = LoadInfo {
    kind: LoadKind::Shm,
    about: "makes, touches and removes 16 MiB System V segments in a loop (page allocation and freeing)",
    details: "Makes a 16 MiB System V segment, writes to each of its 4096 pages, and removes it by detaching.",
    example: "shm",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const MUNMAP: LoadInfo = LoadInfo {
    kind: LoadKind::Munmap,
    about: "maps, touches and unmaps 64 pages, again and again (TLB shootdowns)",
    example: "munmap",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const MUNMAP_OWN: LoadInfo = LoadInfo {
    kind: LoadKind::MunmapOwn,
    takes: Takes::Word(OWN),
    about: "the same by a thread of the probe's own process",
    details: "Every unmapping interrupts the CPUs on which a thread of the process runs, the probe's too.",
    example: "munmap:own@1000",
    rate: Some(0),
    only: Only::lab(OWN_IN_THE_LAB),
    ..LoadInfo::PLAIN
};

pub(super) const UNMAP: LoadInfo = LoadInfo {
    kind: LoadKind::Unmap,
    takes: number("MIB", 1 << 20),
    about: "fills MIB of memory (96) and gives all back at once, in five ways in turn",
    details: "Small pages, each written to; then munmap, madvise (MADV_DONTNEED), the end of a process, and of a file in memory \
              a truncation and a hole (fallocate).",
    example: "unmap:32",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const MPROTECT: LoadInfo = LoadInfo {
    kind: LoadKind::Mprotect,
    takes: number("MIB", 1 << 20),
    about: "forbids and allows writing to MIB of memory (64), again and again (page tables)",
    details: "Small pages, each written to before; then mprotect of all, read-only and back: the lock of a page table is held \
              for its 512 pages (change_protection).",
    example: "mprotect:256",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const MEMFD: LoadInfo = LoadInfo {
    kind: LoadKind::Memfd,
    takes: number("MIB", 1 << 20),
    about: "fills a file in memory of MIB (96) by sendfile, and empties it at once (lists of free pages)",
    details: "sendfile from a file of 1 MiB, spliced inside the kernel; then ftruncate, of every second file a hole \
              (fallocate). The CPU's list of free pages is filled (6.12: __rmqueue_pcplist) and \
              emptied (free_pcppages_bulk) with interrupts off. @RATE counts files.",
    example: "memfd:64",
    rate: Some(1),
    ..LoadInfo::PLAIN
};

pub(super) const MEMBARRIER: LoadInfo = LoadInfo {
    kind: LoadKind::Membarrier,
    about: "asks for a memory barrier in every process that takes part, itself alone (membarrier, global expedited)",
    details: "MEMBARRIER_CMD_GLOBAL_EXPEDITED.",
    example: "membarrier",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const MEMBARRIER_OWN: LoadInfo = LoadInfo {
    kind: LoadKind::MembarrierOwn,
    takes: Takes::Word(OWN),
    about: "a thread of the probe's own process asks for one in every thread of it (private expedited)",
    details: "MEMBARRIER_CMD_PRIVATE_EXPEDITED.",
    example: "membarrier:own",
    rate: Some(0),
    only: Only::lab(OWN_IN_THE_LAB),
    ..LoadInfo::PLAIN
};

pub(super) const MEMORY: LoadInfo = LoadInfo {
    kind: LoadKind::Memory,
    takes: number("MIB", 1 << 20),
    about: "streams through MIB of memory (twice the last-level caches), one process a CPU",
    details: "One process a CPU adds two arrays into a third, MIB together (twice the last-level caches, at most a quarter \
              of the memory): the triad of STREAM (J. McCalpin).",
    example: "memory:256",
    rate: Some(0),
    only: Only::host("the lab counts instructions and has no caches; in the lab: shm"),
    ..LoadInfo::PLAIN
};

pub(super) const APPS: LoadInfo = LoadInfo {
    kind: LoadKind::Apps,
    takes: Takes::Number {
        range: up_to("N", 200),
        required: true,
    },
    about: "N processes sweep working sets that together exceed the memory (paging)",
    details: "Each process turns to a random place of its memory and files (from the seed), uses 16 neighbouring pages, \
              and writes to them one time in four; the kernel reads, reclaims and writes back all the time, without swap.",
    example: "apps:30",
    modules: &["null_blk"],
    only: Only::lab("it drives the whole machine into paging; on the host: memory"),
    ..LoadInfo::PLAIN
};
