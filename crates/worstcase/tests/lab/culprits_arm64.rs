//! Culprits planted from user space in machines of arm64: what `worstcase explain` must say of them, as on x86-64.

use crate::arm64::{KERNEL, LOADS_SCHEDULERS, PACKAGE, controller, missing};
use crate::controller::{folder, link_kernel};
use crate::culprits::{BUSY_NS, BYTES, BreakdownAsJson, COPY_NS, DELIVERY_NS, FILTER, SOCKETS, TRIED_NS};
use crate::culprits::{program_of_arm64, told_by};
use std::ops::RangeInclusive;
use worstcase_analysis::breakdown::cause::Mechanism;
use worstcase_skips::skip;

/// What a culprit's latest samples must tell: under these models, by its name and number.
struct Tells {
    culprit: String,
    models: &'static [&'static str],
    mechanism: Mechanism,
    names: &'static [&'static str],
    ns: RangeInclusive<u64>,
}

fn expected() -> [Tells; 5] {
    let every: &[&str] = &["voluntary", "lazy"];
    [
        Tells {
            culprit: format!("copy {BYTES}"),
            models: &["voluntary"],
            mechanism: Mechanism::NoReschedulePoint,
            names: &["in sendto(2)"],
            // Other work on the message follows in the same stretch.
            ns: COPY_NS..=5 * COPY_NS,
        },
        Tells {
            culprit: format!("above {BUSY_NS}"),
            models: every,
            mechanism: Mechanism::OtherThread,
            names: &["planted-above"],
            ns: BUSY_NS * 9 / 10..=BUSY_NS + 10_000,
        },
        Tells {
            culprit: format!("inherit {BUSY_NS}"),
            models: every,
            mechanism: Mechanism::OtherThread,
            names: &["planted-owner"],
            ns: BUSY_NS / 2..=BUSY_NS * 5 / 4,
        },
        Tells {
            culprit: format!("flood {SOCKETS}"),
            models: every,
            mechanism: Mechanism::SoftInterrupt,
            names: &["udp"],
            ns: SOCKETS * DELIVERY_NS..=u64::MAX,
        },
        Tells {
            culprit: format!("filters {FILTER}"),
            models: every,
            mechanism: Mechanism::InterruptsOff,
            names: &["do_seccomp", "for culprit", "in seccomp(2)"],
            ns: FILTER * TRIED_NS..=u64::MAX,
        },
    ]
}

#[test]
fn they_are_named_under_the_models_of_arm64() {
    if let Some(why) = missing() {
        skip!(why, PACKAGE);
    }
    let (controller, folder, expected) = (controller(KERNEL), folder(), expected());
    link_kernel(controller.cache(), LOADS_SCHEDULERS);
    let run = folder.path().join("run");
    let add = format!("--add {}:/culprit", program_of_arm64().display());
    let mut measure = controller.run(
        &format!("--kernel {KERNEL},{LOADS_SCHEDULERS} --samples 200 --seeds 1 {add}"),
        &run,
    );
    for tells in &expected {
        measure.arg("--load").arg(format!("cmd:/culprit {}", tells.culprit));
    }
    measure.assert().success();
    let told = told_by(&controller, &run, &format!("{add} --all -k 2"));
    for tells in &expected {
        let load = format!("cmd:/culprit {}", tells.culprit);
        let is_of = |b: &&BreakdownAsJson| b.sample.load == load && tells.models.contains(&b.sample.preempt.as_str());
        let latest: Vec<&BreakdownAsJson> = told.iter().filter(is_of).collect();
        assert_eq!(latest.len(), 2 * tells.models.len(), "{load}");
        for breakdown in latest {
            breakdown.names_cause(tells.mechanism, tells.names, tells.ns.clone());
        }
    }
}
