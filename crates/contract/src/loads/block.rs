//! `blockread`: reads from a device that the load makes, or from a disk that the lab's machine has for it.

use super::info::{LoadInfo, Takes};
use crate::device::Device;
use crate::venue::Only;
use worstcase_cell::loads::LoadKind;

const DISK_IN_THE_LAB: &str = "the lab gives its machine such a disk; on the host: blockread";

pub(super) const BLOCK_READ: LoadInfo = LoadInfo {
    kind: LoadKind::BlockRead,
    takes: Takes::Usual("null"),
    about: "32 direct 4 KiB reads in flight at random places of a null_blk device that it makes (interrupts)",
    modules: &["null_blk"],
    ..LoadInfo::PLAIN
};

pub(super) const BLOCK_READ_IDE: LoadInfo = LoadInfo {
    kind: LoadKind::BlockReadIde,
    takes: Takes::Word("ide-pio"),
    about: "the same from an IDE disk without DMA: the CPU fetches all data from the controller's port",
    modules: &["ata_piix", "libata", "sd_mod"],
    only: Only::lab(DISK_IN_THE_LAB),
    device: Some(Device::IdePio),
    ..LoadInfo::PLAIN
};

pub(super) const BLOCK_READ_VIRTIO: LoadInfo = LoadInfo {
    kind: LoadKind::BlockReadVirtio,
    takes: Takes::Word("virtio"),
    about: "the same from a virtio disk",
    modules: &["virtio_blk", "virtio_pci"],
    only: Only::lab(DISK_IN_THE_LAB),
    device: Some(Device::Virtio),
    ..LoadInfo::PLAIN
};
