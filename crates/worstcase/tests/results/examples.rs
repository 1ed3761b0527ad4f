//! docs/examples: what the full forms of studies said. They take hours, so they are not made again here; but a study whose claims
//! are others by now must not keep its old page.

use std::fs;
use std::path::Path;
use worstcase_plan::study::load;

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn each_example_answers_the_claims_that_its_study_has_now() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // A report: site.rs looks at it.
        if path.extension().is_some_and(|end| end == "html") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap();
        // The first page's terminal, which site.rs draws again, and a calibration, of which documents show a block.
        if ["minute", "zen4-vm"].contains(&name) {
            continue;
        }
        let text = in_one_line(&fs::read_to_string(&path).unwrap());
        let study = load(name).ok();
        let begin = match &study {
            Some(_) => format!("worstcase study run {name}; worstcase "),
            None => "worstcase lab run ".into(),
        };
        assert!(
            text.starts_with(&begin) && text.contains(", QEMU "),
            "{name}: {}",
            &text[..120]
        );
        for claim in study.iter().flat_map(|study| &study.claims) {
            let says = in_one_line(&claim.says);
            assert!(text.contains(&says), "scripts/examples {name} writes it anew: {says}");
        }
        seen += 1;
    }
    assert!(seen > 0);
}
