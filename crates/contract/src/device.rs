//! Devices that the lab's machine has for the sake of a probe or a load.

use serde::{Deserialize, Serialize};

/// A device that a machine has for the sake of a probe or a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// A parallel port whose loop is closed.
    Parport,
    /// An HPET.
    Hpet,
    /// A disk at an IDE controller.
    IdePio,
    /// A disk of the kind virtio.
    Virtio,
}

impl Device {
    /// Those that are disks.
    pub const DISKS: [Device; 2] = [Device::IdePio, Device::Virtio];

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
