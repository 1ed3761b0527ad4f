//! Which machine this is.

use super::tree::FileTree;
use serde::Serialize;
use worstcase_base::digest::sha256_hex;

/// What distinguishes a machine from others like it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MachineIdentity {
    /// Its host name.
    pub host: Option<String>,
    /// Digest of /etc/machine-id, because the id itself should stay private.
    pub machine_id: Option<String>,
    /// Vendor and product.
    pub system: Option<String>,
    /// Vendor and name of the board.
    pub board: Option<String>,
    /// Vendor, version and date of the firmware.
    pub firmware: Option<String>,
}

pub(super) fn read(tree: &FileTree) -> MachineIdentity {
    let words = |files: &[&str]| {
        let word = |file: &&str| tree.text(&format!("sys/class/dmi/id/{file}"));
        let all: Vec<String> = files.iter().filter_map(word).filter(|w| !w.is_empty()).collect();
        (!all.is_empty()).then(|| all.join(" "))
    };
    MachineIdentity {
        host: tree.text("proc/sys/kernel/hostname"),
        machine_id: tree.text("etc/machine-id").filter(|id| !id.is_empty()).map(digest),
        // Boards without DMI have a device tree.
        system: words(&["sys_vendor", "product_name"]).or_else(|| model(tree)),
        board: words(&["board_vendor", "board_name"]),
        firmware: words(&["bios_vendor", "bios_version", "bios_date"]),
    }
}

/// The host name.
pub fn host_name(tree: &FileTree) -> String {
    let name = tree.text("proc/sys/kernel/hostname").filter(|name| !name.is_empty());
    name.unwrap_or_else(|| "unknown".into())
}

/// Hashed with the program's name, as machine-id(5) asks for.
fn digest(id: String) -> String {
    format!("sha256:{}", sha256_hex(format!("worstcase {id}").as_bytes()))
}

fn model(tree: &FileTree) -> Option<String> {
    let text = tree.text("proc/device-tree/model")?;
    Some(text.trim_end_matches('\0').to_string())
}
