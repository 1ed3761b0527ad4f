//! What drives cost the CPUs: transfers without DMA, and polling for a changed disc.

use super::tree::FileTree;
use serde::Serialize;

/// Drives that need the CPUs.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Drives {
    /// ATA devices with their transfer modes.
    pub(crate) ata: Vec<AtaDevice>,
    /// Drives that the kernel polls.
    pub(crate) polled: Vec<PolledDrive>,
}

/// An ATA device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct AtaDevice {
    /// The kernel's name without its first letters, e.g. dev1.0.
    pub name: String,
    /// E.g. XFER_UDMA_6.
    pub mode: String,
}

impl AtaDevice {
    /// Whether the CPU copies every word (PIO).
    pub(crate) fn is_pio(&self) -> bool {
        self.mode.starts_with("XFER_PIO")
    }
}

/// A drive that cannot report by itself that its medium was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PolledDrive {
    /// E.g. sr0.
    pub name: String,
    /// The interval of its polling.
    pub(crate) every_ms: u32,
}

pub(super) fn read(tree: &FileTree) -> Drives {
    Drives {
        ata: tree.names(ATA).into_iter().filter_map(|name| ata(tree, name)).collect(),
        polled: tree
            .names("sys/block")
            .into_iter()
            .filter_map(|name| polled(tree, name))
            .collect(),
    }
}

const ATA: &str = "sys/class/ata_device";

/// An empty port has the class "none".
fn ata(tree: &FileTree, name: String) -> Option<AtaDevice> {
    let class = tree.text(&format!("{ATA}/{name}/class"))?;
    let mode = tree.text(&format!("{ATA}/{name}/xfer_mode"))?;
    (matches!(class.as_str(), "ata" | "atapi") && mode.starts_with("XFER_")).then_some(AtaDevice { name, mode })
}

/// The file with the polling interval of a drive.
pub(crate) fn poll_file(drive: &str) -> String {
    format!("sys/block/{drive}/events_poll_msecs")
}

fn polled(tree: &FileTree, name: String) -> Option<PolledDrive> {
    let words = |file: &str| -> Vec<String> {
        let text = tree.text(&format!("sys/block/{name}/{file}")).unwrap_or_default();
        text.split_ascii_whitespace().map(String::from).collect()
    };
    let told = words("events_async");
    if words("events").iter().all(|event| told.contains(event)) {
        return None;
    }
    // -1 stands for the default of all drives.
    let every = match tree.value::<i64>(&poll_file(&name))? {
        -1 => tree.value("sys/module/block/parameters/events_dfl_poll_msecs")?,
        own => own,
    };
    let every_ms = u32::try_from(every).ok().filter(|ms| *ms > 0)?;
    Some(PolledDrive { name, every_ms })
}
