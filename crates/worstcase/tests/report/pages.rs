//! Pages to look at.

use crate::chromium::Chromium;
use crate::fixture;
use std::path::{Path, PathBuf};
use worstcase_contract::Nanos;
use worstcase_report::ReportView;
use worstcase_report::html::{BreakdownPart, CyclePart, PageParts, RunPart, page};
use worstcase_report::picture::{self, PictureOptions};
use worstcase_results::record::Run;
use worstcase_results::record::explanations::NOTHING_EXPLAINED;
use worstcase_results::verdict::{Criterion, verdicts};

/// A page on disk; its folder lives as long as this.
pub struct Page {
    _dir: tempfile::TempDir,
    pub path: PathBuf,
    pub bytes: usize,
}

/// The section of a run, judged against 100 us.
pub fn part(run: &Run, breakdowns: Vec<BreakdownPart>, cycles: Vec<CyclePart>) -> RunPart {
    of_size(run, false, breakdowns, cycles)
}

/// The same for a small page.
pub fn small_part(run: &Run) -> RunPart {
    of_size(run, true, Vec::new(), Vec::new())
}

fn of_size(run: &Run, is_small: bool, breakdowns: Vec<BreakdownPart>, cycles: Vec<CyclePart>) -> RunPart {
    let records = run.records().unwrap();
    let criterion = Criterion::of(Nanos(100_000), &records);
    let options = PictureOptions {
        limit: Some(criterion.limit),
        ..PictureOptions::default()
    };
    let parts = PageParts {
        pictures: picture::of_run(run, &records, options).unwrap(),
        is_small,
        breakdowns,
        cycles,
    };
    let view = ReportView {
        plan: run.plan(),
        dir: run.dir(),
        records: &records,
        explanations: &NOTHING_EXPLAINED,
        quantities: &[],
        verdicts: Some((criterion, verdicts(&run.plan().cells, &records, &criterion))),
    };
    RunPart::new(&view, parts)
}

pub fn written(parts: &[RunPart]) -> Page {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.html");
    let text = page(parts);
    std::fs::write(&path, &text).unwrap();
    Page {
        path,
        bytes: text.len(),
        _dir: dir,
    }
}

/// The synthetic run's page.
pub fn synthetic() -> Page {
    let dir = tempfile::tempdir().unwrap();
    let run = fixture::write(&dir.path().join("run"));
    written(&[part(&run, Vec::new(), Vec::new())])
}

/// Opens a page and brings every chart into sight once.
pub fn opened(path: &Path) -> Chromium {
    let mut browser = Chromium::start();
    browser.open(path);
    show_all(&mut browser);
    browser
}

/// Charts are drawn when they are seen.
pub fn show_all(browser: &mut Chromium) {
    browser.eval(
        "(async () => {
            const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
            document.querySelectorAll('.group').forEach((group) => { group.open = true; });
            for (const chart of document.querySelectorAll('.chart')) {
                chart.scrollIntoView({ behavior: 'instant' });
                while (chart.checkVisibility() && !echarts.getInstanceByDom(chart)) await frame();
            }
            await frame();
        })()",
    );
}
