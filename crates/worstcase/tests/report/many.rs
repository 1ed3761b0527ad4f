//! A million samples.

use crate::fixture::{plan_of, raw, result, spec, subject};
use crate::pages::{opened, part, show_all, written};
use worstcase_contract::CellSpec;
use worstcase_contract::prng::SplitMix64;
use worstcase_results::record::Run;

const SAMPLES: u32 = 250_000;

#[test]
fn a_million_samples() {
    let dir = tempfile::tempdir().unwrap();
    let mut results = Vec::new();
    for preempt in ["none", "full"] {
        for load in ["shm", "fork"] {
            let spec = CellSpec {
                periods: SAMPLES,
                ..spec(load, 1)
            };
            let mut random = SplitMix64::new(7);
            let latencies: Vec<u64> = (0..SAMPLES)
                .map(|_| {
                    let width = 8 + random.below(10);
                    2_000 + random.below(1 << width)
                })
                .collect();
            results.push(result(&subject("6.1", preempt), &raw(&spec, &latencies)));
        }
    }
    let run = Run::create(&dir.path().join("run"), plan_of(&results)).unwrap();
    results.iter().for_each(|r| run.write_cell(r).unwrap());
    let page = written(&[part(&run, Vec::new(), Vec::new())]);
    assert!(page.bytes < 3_000_000, "{} bytes", page.bytes);
    let mut browser = opened(&page.path);
    let shown = "document.querySelectorAll('.panel').length";
    let before = browser.number(shown);
    browser.eval("document.querySelector('input[data-filter=load][value=shm]').click()");
    show_all(&mut browser);
    let after = browser.number(shown);
    assert!(after > 0 && after < before, "{after} of {before}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
