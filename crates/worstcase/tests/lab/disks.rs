//! `blockread:ide-pio` and `blockread:virtio`: disks with controllers of their own, whose answers repeat to the bit.

use crate::controller::{GENERIC, RT, folder, shared};
use crate::culprits::told_of;
use crate::loads::{SAMPLES, is_whole};
use crate::smp::{boot_and_measure_disturbed, samples};
use worstcase_analysis::breakdown::cause::Mechanism;
use worstcase_results::record::{Record, Run};

const BOTH: &str = "blockread:ide-pio,blockread:virtio";
/// 2048 words of 120 ns.
const TRANSFER_NS: u64 = 245_760;

fn max(record: &Record) -> u64 {
    record.summary.latency.as_ref().unwrap().max_ns
}

/// QEMU's main loop, which answers requests of a disk otherwise, runs at moments that nobody chose.
#[test]
fn answers_repeat_to_the_bit_however_the_host_interferes() {
    let cells = format!("--kernel {GENERIC} --preempt full --load {BOTH} --samples {SAMPLES} --seeds 1");
    let calm = shared().measure(&cells);
    calm.iter().for_each(is_whole);
    let ids: Vec<String> = calm.iter().map(|record| record.id.to_string()).collect();
    for (id, disk) in ids.iter().zip([".ide-pio.", ".virtio."]) {
        assert!(id.contains(disk), "{id}");
    }
    assert_eq!(samples(&boot_and_measure_disturbed(&cells)), samples(&calm));
}

/// A machine has a disk for the load that reads it only, and `null` is no other load than the one without a word.
#[test]
fn other_loads_have_the_machine_without_a_disk() {
    let cell = |load| format!("--kernel {GENERIC} --preempt full --load {load} --samples {SAMPLES} --seeds 1");
    let null = shared().measure(&cell("blockread:null,blockread:virtio"));
    let plain = shared().measure(&cell("blockread"));
    assert_eq!(samples(&null)[0], samples(&plain)[0]);
    assert_ne!(null[0].subject.id(), null[1].subject.id());
}

/// The handler of an IDE disk's interrupt fetches a block of 4 KiB with interrupts off. Preemption does not help, a thread
/// for the handler does.
#[test]
fn a_transfer_without_dma_is_a_long_interrupt() {
    let subjects = format!("--kernel {GENERIC} --kernel {RT} --preempt full,rt");
    let folder = folder();
    let run = folder.path().join("run");
    let cells = format!("{subjects} --load {BOTH} --samples {SAMPLES} --seeds 1");
    shared().run(&cells, &run).assert().success();
    let records = Run::open(&run).unwrap().records().unwrap();
    records.iter().for_each(is_whole);
    let of = |model: &str, load: &str| {
        let is = |r: &&Record| r.subject.preempt.in_force == model && r.cell.load == load;
        max(records.iter().find(is).unwrap())
    };
    let full = of("full", "blockread:ide-pio");
    assert!((TRANSFER_NS..2 * TRANSFER_NS).contains(&full), "{full}");
    for (model, load) in [
        ("full", "blockread:virtio"),
        ("rt", "blockread:ide-pio"),
        ("rt", "blockread:virtio"),
    ] {
        let other = of(model, load);
        assert!(other < TRANSFER_NS / 4, "{model}, {load}: {other}");
    }

    let told = told_of(&run, "").remove(0);
    told.names_cause(Mechanism::OtherInterrupt, &["ioread32_rep"], TRANSFER_NS..=full);
}
