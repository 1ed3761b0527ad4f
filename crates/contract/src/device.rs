//! Devices that the lab's machine has because a probe or a load needs them.

use serde::{Deserialize, Serialize};

/// A device that a lab machine has because a probe or a load needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// A parallel port whose output is wired to its input.
    Parport,
    /// An HPET.
    Hpet,
    /// A disk on an IDE controller.
    IdePio,
    /// A virtio disk.
    Virtio,
}

impl Device {
    /// The devices that are disks.
    pub const DISKS: [Device; 2] = [Device::IdePio, Device::Virtio];

    /// What a person calls it.
    pub const fn title(self) -> &'static str {
        match self {
            Device::Parport => "the parallel port",
            Device::Hpet => "the HPET",
            Device::IdePio | Device::Virtio => "the disk",
        }
    }

    /// Its name, as subjects have it.
    pub const fn name(self) -> &'static str {
        match self {
            Device::Parport => "parport",
            Device::Hpet => "hpet",
            Device::IdePio => "ide-pio",
            Device::Virtio => "virtio",
        }
    }
}
