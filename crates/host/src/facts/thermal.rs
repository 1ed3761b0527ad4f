//! Heat: how hot the machine is, where it begins to slow down, and whether it has.

use super::tree::FileTree;
use serde::Serialize;

/// Heat.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Thermal {
    /// The sensors.
    pub zones: Vec<ThermalZone>,
    /// What slows CPUs down when it is too hot.
    pub coolers: Vec<CpuCooler>,
    /// What the firmware of a Raspberry Pi says.
    pub firmware: Option<FirmwareThrottling>,
}

/// A sensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ThermalZone {
    /// Its name, e.g. cpu-thermal.
    pub name: String,
    /// Thousandths of a degree Celsius.
    pub millidegrees: i64,
    /// From here on the kernel slows something down.
    pub slows_at_millidegrees: Option<i64>,
}

/// A way to slow CPUs down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CpuCooler {
    /// E.g. cpufreq-cpu0.
    pub name: String,
    /// 0: not at all.
    pub step: i64,
    /// The slowest.
    pub steps: i64,
}

/// The firmware's own throttling, which the kernel has no part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FirmwareThrottling {
    /// Too little voltage, now.
    pub low_voltage: bool,
    /// Slowed down, now.
    pub slowed: bool,
    /// Either, since boot.
    pub since_boot: bool,
}

const FOLDER: &str = "sys/class/thermal";
const COOLERS: [&str; 3] = ["cpufreq-cpu", "thermal-cpufreq", "Processor"];
const FIRMWARE: &str = "sys/devices/platform/soc/soc:firmware/get_throttled";

pub(super) fn read(tree: &FileTree) -> Thermal {
    let zone = |number: u32| {
        let folder = format!("{FOLDER}/thermal_zone{number}");
        Some(ThermalZone {
            name: tree.text(&format!("{folder}/type"))?,
            millidegrees: tree.value(&format!("{folder}/temp"))?,
            slows_at_millidegrees: slows_at(tree, &folder),
        })
    };
    let cooler = |number: u32| {
        let file = |name: &str| format!("{FOLDER}/cooling_device{number}/{name}");
        let name = tree.text(&file("type"))?;
        COOLERS.iter().any(|of| name.starts_with(of)).then_some(())?;
        Some(CpuCooler {
            name,
            step: tree.value(&file("cur_state"))?,
            steps: tree.value(&file("max_state"))?,
        })
    };
    Thermal {
        zones: tree
            .numbers(FOLDER, "thermal_zone")
            .into_iter()
            .filter_map(zone)
            .collect(),
        coolers: tree
            .numbers(FOLDER, "cooling_device")
            .into_iter()
            .filter_map(cooler)
            .collect(),
        firmware: tree.text(FIRMWARE).as_deref().and_then(firmware),
    }
}

fn slows_at(tree: &FileTree, folder: &str) -> Option<i64> {
    let names = tree.names(folder);
    let points = names
        .iter()
        .filter_map(|name| name.strip_prefix("trip_point_")?.strip_suffix("_type"));
    let passive =
        points.filter(|number| tree.text(&format!("{folder}/trip_point_{number}_type")).as_deref() == Some("passive"));
    passive
        .filter_map(|number| tree.value(&format!("{folder}/trip_point_{number}_temp")))
        .min()
}

/// Bits: voltage, capped, throttled, at the soft limit; the same from bit 16 on since boot.
fn firmware(text: &str) -> Option<FirmwareThrottling> {
    let bits = u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()?;
    Some(FirmwareThrottling {
        low_voltage: bits & 1 != 0,
        slowed: bits & 0b1110 != 0,
        since_boot: bits >> 16 & 0b1111 != 0,
    })
}
