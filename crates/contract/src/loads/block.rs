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
    needs: "root on a host",
    details: "32 direct reads of 4 KiB (O_DIRECT, Linux AIO, at places that the seed decides) are in flight on a null_blk \
              device of 1 GiB, each completed by a timer after 50 us.",
    example: "blockread",
    modules: &["null_blk"],
    ..LoadInfo::PLAIN
};

pub(super) const BLOCK_READ_IDE: LoadInfo = LoadInfo {
    kind: LoadKind::BlockReadIde,
    takes: Takes::Word("ide-pio"),
    about: "the same from an IDE disk without DMA: the CPU fetches all data from the controller's port",
    details: "The same on a disk of 1 GiB at a PIIX3 controller, one read at a time, 50 us from the request to the \
              interrupt (14), whose handler fetches 2048 words of 16 bits, 120 ns each: 246 us.",
    example: "blockread:ide-pio",
    modules: &["ata_piix", "libata", "sd_mod"],
    only: Only::lab(DISK_IN_THE_LAB),
    device: Some(Device::IdePio),
    ..LoadInfo::PLAIN
};

pub(super) const BLOCK_READ_VIRTIO: LoadInfo = LoadInfo {
    kind: LoadKind::BlockReadVirtio,
    takes: Takes::Word("virtio"),
    about: "the same from a virtio disk",
    details: "The same on a virtio-blk disk of 1 GiB with one queue, which has all 32 reads at once, 50 us from the \
              request to the interrupt (MSI-X).",
    example: "blockread:virtio",
    modules: &["virtio_blk", "virtio_pci"],
    only: Only::lab(DISK_IN_THE_LAB),
    device: Some(Device::Virtio),
    ..LoadInfo::PLAIN
};
