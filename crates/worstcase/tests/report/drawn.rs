//! Everything is drawn, and the filters work.

use crate::chromium::Chromium;
use crate::fixture::{latencies, plan_of, raw, result, spec, subject};
use crate::pages::{opened, part, show_all, small_part, synthetic, written};
use worstcase_results::record::{CellResult, Run};

#[test]
fn every_picture_is_drawn_and_nobody_is_asked() {
    let page = synthetic();
    let mut browser = opened(&page.path);
    assert!(
        browser.number("document.querySelectorAll('figure').length") >= 4,
        "pictures of several kinds"
    );
    // Of each series there are pixels in its own colour; axes and texts have others.
    let blank = browser.eval(
        "[...document.querySelectorAll('.chart')].flatMap((chart) => {
            const canvas = chart.querySelector('canvas');
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            const seen = new Set();
            for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 150) seen.add(data.slice(i, i + 3).map((c) => c >> 3).join());
            const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) >> 3).join();
            const colours = echarts.getInstanceByDom(chart).getOption().series.map((s) => s.lineStyle?.color ?? s.itemStyle.borderColor ?? s.itemStyle.color);
            return colours.filter((colour) => typeof colour === 'string' && !seen.has(rgb(colour)));
        }).length",
    );
    assert_eq!(blank, 0);
    // As many series as the data has.
    let wrong = browser.eval(
        "(() => {
            const run = JSON.parse(document.getElementById('data').textContent).runs[0];
            const factor = { dots: 1, histogram: 1, percentiles: 2, lines: 2 };
            return run.pictures.filter((p) => p.kind !== 'heat').filter((picture) => {
                const figure = document.querySelector(`[data-picture=\"${picture.id}\"]`);
                const drawn = [...figure.querySelectorAll('.chart')].map((c) => echarts.getInstanceByDom(c).getOption().series.length);
                const few = picture.kind === 'dots' && picture.panels.some((panel, i) => {
                    const [series] = echarts.getInstanceByDom(figure.querySelectorAll('.chart')[i]).getOption().series;
                    return series.data.length !== panel.points.length;
                });
                const wanted = picture.panels.map((panel) => (panel.series?.length ?? 1) * factor[picture.kind]);
                return few || drawn.join() !== wanted.join();
            }).map((p) => p.id).join();
        })()",
    );
    assert_eq!(wrong, "");
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert_eq!(browser.requests(), Vec::<String>::new());
}

#[test]
fn every_picture_of_a_small_page_is_a_drawing() {
    let dir = tempfile::tempdir().unwrap();
    let run = crate::fixture::write(&dir.path().join("run"));
    let page = written(&[small_part(&run)]);
    let mut browser = opened(&page.path);
    assert_eq!(browser.eval("typeof echarts"), "undefined");
    let unseen = browser.eval(
        "(async () => {
            const images = [...document.querySelectorAll('figure img')];
            await Promise.all(images.map((image) => image.decode()));
            const figures = [...document.querySelectorAll('figure')].filter((f) => !f.querySelector('img, table'));
            return [images.length > 3, images.filter((image) => image.naturalWidth < 100).length, figures.length].join();
        })()",
    );
    assert_eq!(unseen, "true,0,0");
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert_eq!(browser.requests(), Vec::<String>::new());
}

#[test]
fn the_answer_is_there() {
    let page = synthetic();
    let mut browser = opened(&page.path);
    let headline = browser.text("document.querySelector('.headline').textContent");
    assert!(
        headline.contains("2 of 3 subjects keep every latency within 100 us of virtual time; 1 does not."),
        "{headline}"
    );
    let all = browser.text("document.querySelector('main').textContent");
    for said in [
        "6.1 rt",
        "about 200",
        "QEMU",
        "7.2.22",
        "worstcase study run preemption-models --quick",
    ] {
        assert!(all.contains(said), "{said}");
    }
}

#[test]
fn filters_take_away_and_give_back() {
    let page = synthetic();
    let mut browser = opened(&page.path);
    let shown = "document.querySelectorAll('.panel, main section table tbody tr').length";
    let before = browser.number(shown);
    let named = "[...document.querySelectorAll('section tbody tr')].filter((n) => n.querySelector('th').textContent.startsWith('6.1 rt')).length";
    assert!(browser.number(named) > 0);
    let click = |subject: &str| {
        format!("document.querySelector('input[data-filter=\"subject\"][value=\"{subject}\"]').click()")
    };
    browser.eval(&click("6.1.0-50-rt-amd64.rt"));
    assert!(browser.number(shown) < before);
    assert_eq!(browser.number(named), 0);
    assert!(
        browser
            .text("document.querySelector('.filters summary').textContent")
            .contains("2 of 3 subjects")
    );
    browser.eval(&click("6.1.0-50-rt-amd64.rt"));
    assert_eq!(browser.number(shown), before);
    browser
        .eval("[...document.querySelectorAll('.filters button')].find((b) => b.ariaLabel === 'Show no load').click()");
    assert_eq!(browser.number("document.querySelectorAll('.chart').length"), 0);
    assert!(browser.number("document.querySelectorAll('.empty').length") > 0);
    browser.eval(
        "[...document.querySelectorAll('.filters button')].find((b) => b.ariaLabel === 'Show all loads').click()",
    );
    show_all(&mut browser);
    assert_eq!(browser.number(shown), before);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn every_picture_has_its_data_as_a_table() {
    let page = synthetic();
    let mut browser = opened(&page.path);
    browser.eval("document.querySelectorAll('details.data').forEach((d) => { d.open = true; })");
    let without = browser.eval(
        "new Promise((done) => setTimeout(() => done([...document.querySelectorAll('figure')].filter((f) => f.querySelectorAll('tbody tr').length === 0).length), 50))",
    );
    assert_eq!(without, 0);
}

#[test]
fn claims_stand_first_with_then_and_now_in_one_drawing() {
    let dir = tempfile::tempdir().unwrap();
    let cells = |label: &'static str, preempt: &'static str, factor: u64| {
        (1..=5).map(move |seed| {
            let late: Vec<u64> = latencies(seed, 10_000).iter().map(|ns| ns * factor).collect();
            result(&subject(label, preempt), &raw(&spec("shm", seed), &late))
        })
    };
    let all: Vec<CellResult> = cells("6.1", "none", 3).chain(cells("6.1-rt", "rt", 1)).collect();
    let mut plan = plan_of(&all);
    let mut bare = plan.claims[0].clone();
    bare.says = "What nobody has.".into();
    bare.figures.iter_mut().for_each(|figure| figure.cell = None);
    plan.claims.push(bare);
    let run = Run::create(&dir.path().join("run"), plan).unwrap();
    all.iter().for_each(|r| run.write_cell(r).unwrap());
    let page = written(&[part(&run, Vec::new(), Vec::new())]);
    let mut browser = opened(&page.path);
    let text =
        |browser: &mut Chromium, of: &str| browser.text(&format!("document.querySelectorAll('.then-and-now')[{of}"));
    assert_eq!(
        text(&mut browser, "0].querySelector('.outcome').textContent"),
        "✓ holds"
    );
    let rows = text(&mut browser, "0].querySelectorAll('tbody tr')[1].textContent");
    for said in [
        "no preemption",
        "about 1000 us",
        "about 5.00",
        "max latency, wakeup, shm, debian:6.1 none",
    ] {
        assert!(rows.contains(said), "{said}: {rows}");
    }
    let all = text(&mut browser, "0].textContent");
    assert!(
        all.contains("Why: It is an example.") && all.contains("Source: An Article, table 1"),
        "{all}"
    );
    assert_eq!(
        text(&mut browser, "1].querySelector('.outcome').textContent"),
        "– not asked"
    );
    let all = text(&mut browser, "1].textContent");
    assert!(all.contains("It is an example.") && !all.contains("Our cell"), "{all}");
    assert_eq!(browser.number("document.querySelectorAll('.then-and-now').length"), 2);
    // The first screen: what is claimed and whether it holds, then the drawing of both.
    let first = browser.text("document.querySelector('.claims').textContent");
    assert!(
        first.starts_with("1 of 2 published claims holds now, 1 is not asked here."),
        "{first}"
    );
    let place = |browser: &mut Chromium, of: &str, edge: &str| {
        browser.number(&format!(
            "Math.round(100 * document.querySelector('.claim-chart {of}').getBoundingClientRect().{edge})"
        ))
    };
    for kind in ["then", "now"] {
        let marks = format!("document.querySelectorAll('.claim-chart .mark.{kind}').length");
        assert_eq!(browser.number(&marks), 2, "{kind}");
    }
    assert!(place(&mut browser, ".mark.then", "width") > 0 && place(&mut browser, ".mark.now", "width") > 0);
    // Five times as much in the article, three times as much here: further right than its own first figure.
    let at = |browser: &mut Chromium, kind: &str, nth: usize| {
        browser.number(&format!(
            "Math.round(100 * document.querySelectorAll('.claim-chart .mark.{kind}')[{nth}].getBoundingClientRect().left)"
        ))
    };
    assert!(
        at(&mut browser, "then", 1) > at(&mut browser, "now", 1)
            && at(&mut browser, "now", 1) > at(&mut browser, "now", 0)
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
