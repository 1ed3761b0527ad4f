//! `pick` on this machine.

use worstcase_contract::bench::{BenchResult, Details, Observer, PickDetails, Request};
use worstcase_contract::names;
use worstcase_contract::record::Sample;
use worstcase_instruments::sys::affinity;

pub const TESTS: &[(&str, fn())] = &[
    ("one_task_is_chosen_again_and_again", one_task_is_chosen_again_and_again),
    ("every_task_has_its_turns", every_task_has_its_turns),
    ("an_end_that_is_wanted_comes", an_end_that_is_wanted_comes),
];

/// Wants an end when it is asked for the first time, or never.
struct Asked {
    at_once: bool,
    samples: usize,
}

impl Observer for Asked {
    fn sample(&mut self, _sample: Sample) {
        self.samples += 1;
    }

    fn wants_end(&mut self) -> bool {
        self.at_once
    }
}

fn measure(tasks: u16, repetitions: u32, observer: &mut Asked) -> BenchResult<Details> {
    let cpus = &affinity::current().unwrap()[..1];
    let request = Request {
        repetitions,
        cpus,
        ..Request::default()
    };
    let bench = names::parse(&format!("pick:{tasks}")).unwrap();
    bench.check_machine(&request).unwrap();
    bench.measure(&request, observer).unwrap()
}

fn details(taken: &BenchResult<Details>) -> &PickDetails {
    match &taken.details {
        Details::Pick(details) => details,
        other => panic!("{other:?}"),
    }
}

fn patient() -> Asked {
    Asked {
        at_once: false,
        samples: 0,
    }
}

fn one_task_is_chosen_again_and_again() {
    let mut observer = patient();
    let taken = measure(1, 500, &mut observer);
    let d = details(&taken);
    assert_eq!((taken.samples.len(), observer.samples, d.same), (500, 500, 500));
    assert!(taken.samples.iter().all(|sample| sample.latency.0 > 0));
    assert!(d.turns >= 500 && d.fewest == d.most, "{d:?}");
}

fn every_task_has_its_turns() {
    let taken = measure(20, 4_000, &mut patient());
    let d = details(&taken);
    assert_eq!((taken.samples.len(), d.tasks), (4_000, 20));
    assert!(taken.warnings.is_empty(), "{:?}", taken.warnings);
    assert!(d.most >= 200 && d.same < 4_000, "{d:?}");
    assert!(d.turns >= 4_000, "{d:?}");
}

/// More choices than a machine makes in the time until it is asked; there may be none yet.
fn an_end_that_is_wanted_comes() {
    let mut observer = Asked {
        at_once: true,
        samples: 0,
    };
    let taken = measure(2, 50_000_000, &mut observer);
    assert!(taken.samples.len() < 50_000_000);
    assert_eq!(taken.samples.len(), observer.samples);
}
