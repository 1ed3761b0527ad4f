//! What devices and daemons cost the CPUs.

use super::{Finding, FindingLevel, Patient, Rule, TemporaryChange, echo};
use crate::facts::drives::poll_file;

pub(super) const RULES: [Rule; 3] = [dma, polling, daemons];

fn dma(patient: &Patient) -> Option<Finding> {
    const ID: &str = "disk-dma";
    let devices = &patient.facts.drives.ata;
    let pio: Vec<String> = devices
        .iter()
        .filter(|device| device.is_pio())
        .map(|device| format!("{} ({})", device.name, device.mode))
        .collect();
    match (devices.is_empty(), pio.is_empty()) {
        // Without ATA devices there is nothing to find.
        (true, _) => None,
        (false, true) => Some(Finding::good(ID, "every ATA device transfers by DMA")),
        (false, false) => Some(
            Finding::new(
                ID,
                FindingLevel::Harmful,
                format!("ATA devices transfer without DMA: {}", pio.join(", ")),
                "The CPU copies every word itself, in the interrupt's handler: each block is an interrupt of up to \
                 milliseconds, caused by whoever reads, at whatever priority.",
            )
            .remedy(
                "find out why (dmesg | grep -i 'ata.*\\(pio\\|dma\\|speed\\)'); take libata.dma= and libata.force= off the kernel's \
                 command line; change the cable or the adapter",
            ),
        ),
    }
}

fn polling(patient: &Patient) -> Option<Finding> {
    const ID: &str = "drive-polling";
    let polled = &patient.facts.drives.polled;
    let (first, _) = polled.split_first()?;
    let each: Vec<String> = polled
        .iter()
        .map(|drive| format!("{} every {} ms", drive.name, drive.every_ms))
        .collect();
    let changes = polled
        .iter()
        .map(|drive| TemporaryChange::set(poll_file(&drive.name), 0));
    Some(
        Finding::new(
            ID,
            FindingLevel::Notice,
            format!("drives are asked whether a medium was put in: {}", each.join(", ")),
            "A kernel worker sends a command and waits for the drive, whose interrupt follows; an old optical drive may keep \
             its channel busy for long.",
        )
        .remedy(format!("as root: {}", echo("0", &poll_file(&first.name))))
        .changes(changes),
    )
}

/// Wake-ups a second above which a daemon is reported.
const OFTEN: f64 = 10.0;
/// How many daemons are named.
const NAMED: usize = 5;

fn daemons(patient: &Patient) -> Option<Finding> {
    const ID: &str = "daemons";
    let all = &patient.facts.daemons;
    if all.is_empty() {
        return None;
    }
    let often: Vec<_> = all.iter().filter(|daemon| daemon.wakeups_per_s > OFTEN).collect();
    if often.is_empty() {
        return Some(Finding::good(
            ID,
            format!("no daemon wakes more than {OFTEN:.0} times a second"),
        ));
    }
    let named: Vec<String> = often
        .iter()
        .take(NAMED)
        .map(|daemon| format!("{} ({:.0} a second)", daemon.name, daemon.wakeups_per_s))
        .collect();
    let more = match often.len() {
        n if n > NAMED => format!(", and {} more", n - NAMED),
        _ => String::new(),
    };
    Some(
        Finding::new(
            ID,
            FindingLevel::Notice,
            format!("daemons wake often: {}{more}", named.join(", ")),
            "Each wake-up is a switch and two ways through the kernel, on a CPU that may be measured, and what they do then \
             may need the same locks.",
        )
        .remedy("stop those that this machine can do without while it matters: systemctl stop NAME; or keep them to other CPUs: systemctl set-property NAME AllowedCPUs="),
    )
}
