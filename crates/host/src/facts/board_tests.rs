//! Facts of made-up boards.

use super::cpu::{Architecture, CoreKind};
use super::thermal::{CpuCooler, FirmwareThrottling};
use super::*;
use std::fs;

/// The facts of a tree with these files.
pub(crate) fn board(files: &[(&str, &str)]) -> MachineFacts {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    MachineFacts::read(&FileTree::at(dir.path()), LiveFacts::default())
}

/// The cores of an RK3399.
pub(crate) const BIG_LITTLE: [(&str, &str); 6] = [
    ("sys/devices/system/cpu/online", "0-2\n"),
    ("sys/devices/system/cpu/cpu0/cpu_capacity", "485\n"),
    ("sys/devices/system/cpu/cpu1/cpu_capacity", "485\n"),
    ("sys/devices/system/cpu/cpu2/cpu_capacity", "1024\n"),
    ("proc/device-tree/model", "Acme SBC\0"),
    (
        "proc/cpuinfo",
        "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n\n\
         processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n\n\
         processor\t: 2\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\n",
    ),
];

#[test]
fn cores_are_told_by_kind_the_fastest_first() {
    let cpu = board(&BIG_LITTLE).cpu;
    assert_eq!(cpu.architecture, Some(Architecture::Arm));
    assert_eq!(cpu.model.as_deref(), Some("Cortex-A72 (CPUs 2), Cortex-A53 (CPUs 0-1)"));
    let kind = |name: &str, cpus: &str, capacity| CoreKind {
        name: name.into(),
        cpus: cpus.parse().unwrap(),
        capacity: Some(capacity),
    };
    assert_eq!(
        cpu.kinds,
        [kind("Cortex-A72", "2", 1024), kind("Cortex-A53", "0-1", 485)]
    );
}

#[test]
fn cores_that_are_alike_are_one_model_and_no_kinds() {
    let alike = |part: &str| {
        let of = |cpu| {
            format!("processor : {cpu}\nmodel name : ARMv7 Processor\nCPU implementer : 0x41\nCPU part : {part}\n\n")
        };
        let info = of(0) + &of(1);
        let cpu = board(&[("sys/devices/system/cpu/online", "0-1"), ("proc/cpuinfo", &info)]).cpu;
        assert!(cpu.kinds.is_empty());
        cpu.model.unwrap()
    };
    assert_eq!(alike("0xd0b"), "Cortex-A76");
    assert_eq!(alike("0xfff"), "ARM core 0xfff");
    let riscv = board(&[("proc/cpuinfo", "processor : 0\nhart : 1\nuarch : sifive,u74-mc\n")]).cpu;
    assert_eq!(
        (riscv.architecture, riscv.model.as_deref()),
        (Some(Architecture::RiscV), Some("sifive,u74-mc"))
    );
}

#[test]
fn heat_is_read_with_where_it_slows_the_machine() {
    let thermal = board(&[
        ("sys/class/thermal/thermal_zone0/type", "cpu-thermal\n"),
        ("sys/class/thermal/thermal_zone0/temp", "71234\n"),
        ("sys/class/thermal/thermal_zone0/trip_point_0_type", "passive\n"),
        ("sys/class/thermal/thermal_zone0/trip_point_0_temp", "85000\n"),
        ("sys/class/thermal/thermal_zone0/trip_point_1_type", "passive\n"),
        ("sys/class/thermal/thermal_zone0/trip_point_1_temp", "80000\n"),
        ("sys/class/thermal/thermal_zone0/trip_point_2_type", "active\n"),
        ("sys/class/thermal/thermal_zone0/trip_point_2_temp", "50000\n"),
        ("sys/class/thermal/cooling_device0/type", "cpufreq-cpu0\n"),
        ("sys/class/thermal/cooling_device0/cur_state", "2\n"),
        ("sys/class/thermal/cooling_device0/max_state", "4\n"),
        ("sys/class/thermal/cooling_device1/type", "pwm-fan\n"),
        ("sys/class/thermal/cooling_device1/cur_state", "3\n"),
        ("sys/class/thermal/cooling_device1/max_state", "4\n"),
        ("sys/devices/platform/soc/soc:firmware/get_throttled", "50001\n"),
    ])
    .thermal;
    let zone = &thermal.zones[0];
    assert_eq!((zone.millidegrees, zone.slows_at_millidegrees), (71_234, Some(80_000)));
    let cooler = CpuCooler {
        name: "cpufreq-cpu0".into(),
        step: 2,
        steps: 4,
    };
    assert_eq!(thermal.coolers, [cooler]);
    let firmware = FirmwareThrottling {
        low_voltage: true,
        slowed: false,
        since_boot: true,
    };
    assert_eq!(thermal.firmware, Some(firmware));
}

#[test]
fn the_place_of_the_kernels_parameters_is_the_bootloaders() {
    let place = |files: &[(&str, &str)]| board(files).kernel.parameters.unwrap_or_default();
    assert_eq!(place(&[]), "");
    let extlinux = ("boot/extlinux/extlinux.conf", "append quiet");
    assert_eq!(place(&[extlinux]), "the line append of /boot/extlinux/extlinux.conf");
    let pi = ("boot/firmware/cmdline.txt", "quiet");
    assert_eq!(place(&[pi]), "the one line of /boot/firmware/cmdline.txt");
    let tree = ("proc/device-tree/chosen/bootargs", "quiet\0");
    assert!(place(&[tree]).starts_with("bootargs of the bootloader's environment"));
    assert_eq!(place(&[tree, ("etc/default/grub", "")]), "");
}

#[test]
fn a_virtual_board_is_known_by_its_device_tree() {
    let machine = board(&[("proc/device-tree/compatible", "linux,dummy-virt\0")]).virtualization;
    assert_eq!(
        (machine.hypervisor, machine.name.as_deref()),
        (Some(true), Some("linux,dummy-virt"))
    );
    let real = board(&[("proc/device-tree/compatible", "raspberrypi,5-model-b\0brcm,bcm2712\0")]).virtualization;
    assert_eq!(real.hypervisor, None, "nothing tells");
}

#[test]
fn interrupts_that_a_cpu_has_for_itself_are_no_devices() {
    let table = "           CPU0\n 11:  5  GICv3  27 Level     arch_timer\n 13:  2  GICv3  33 Level  uart-pl011\n";
    let lines = board(&[("proc/interrupts", table)]).interrupts.lines;
    let devices: Vec<u32> = lines
        .iter()
        .filter(|irq| irq.is_of_device())
        .map(|irq| irq.number)
        .collect();
    assert_eq!(devices, [13]);
}
