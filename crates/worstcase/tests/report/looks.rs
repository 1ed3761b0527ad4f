//! Dark and light, phone and paper, keyboard and screen reader.

use crate::pages::{opened, synthetic};
use serde_json::json;

#[test]
fn dark_and_light() {
    let page = synthetic();
    let mut browser = opened(&page.path);
    let ground = "getComputedStyle(document.body).backgroundColor";
    browser.look(1280, "light");
    let light = browser.text(ground);
    browser.look(1280, "dark");
    let dark = browser.text(ground);
    assert_ne!(light, dark);
    let colours = "echarts.getInstanceByDom(document.querySelector('.chart')).getOption().textStyle.color";
    let bright = browser.text(colours);
    browser.eval("document.querySelector('input[value=light]').click()");
    assert_eq!(browser.text(ground), light, "the switch overrules the system");
    assert_ne!(browser.text(colours), bright, "charts too");
    browser.eval("document.querySelector('input[value=system]').click()");
    assert_eq!(browser.text(ground), dark);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn on_a_phone_only_tables_scroll_sideways() {
    let page = synthetic();
    let mut browser = opened(&page.path);
    browser.look(390, "light");
    browser.eval("document.querySelectorAll('details').forEach((d) => { d.open = true; })");
    let wide = browser.number("document.documentElement.scrollWidth");
    assert_eq!(wide, 390);
}

#[test]
fn on_paper() {
    let page = synthetic();
    let mut browser = opened(&page.path);
    browser.look(1280, "dark");
    let pdf = browser.call("Page.printToPDF", json!({"printBackground": true}));
    assert!(
        pdf["data"].as_str().is_some_and(|data| data.starts_with("JVBERi")),
        "a PDF in base64"
    );
    let ground = browser.text("getComputedStyle(document.body).backgroundColor");
    assert_eq!(ground, "rgb(18, 20, 23)", "dark again after printing");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn who_does_not_see_it_can_use_it() {
    let page = synthetic();
    let mut browser = opened(&page.path);
    let count = |what: &str| format!("document.querySelectorAll('{what}').length");
    for (what, wanted) in [
        ("h1", 1),
        ("main", 1),
        ("body > header", 1),
        ("body > footer", 1),
        ("nav[aria-label]", 1),
    ] {
        assert_eq!(browser.number(&count(what)), wanted, "{what}");
    }
    let skipped = browser.eval(
        "[...document.querySelectorAll('h1, h2, h3, h4')].map((h) => Number(h.tagName[1])).filter((level, i, all) => i > 0 && level > all[i - 1] + 1).length",
    );
    assert_eq!(skipped, 0, "levels of headings");
    let unnamed = browser.eval(
        "[...document.querySelectorAll('.chart')].filter((c) => !(c.getAttribute('aria-label') ?? '').includes('. ')).length
         + [...document.querySelectorAll('input')].filter((i) => !i.labels?.[0]?.textContent.trim()).length
         + [...document.querySelectorAll('button')].filter((b) => !(b.ariaLabel ?? b.textContent).trim()).length
         + [...document.querySelectorAll('table')].filter((t) => !t.caption).length
         + [...document.querySelectorAll('[aria-labelledby]')].filter((n) => !document.getElementById(n.getAttribute('aria-labelledby'))).length",
    );
    assert_eq!(unnamed, 0, "everything has a name");
    // The first key leads past what comes before the answer.
    for kind in ["keyDown", "keyUp"] {
        browser.call(
            "Input.dispatchKeyEvent",
            json!({"type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}),
        );
    }
    assert_eq!(browser.text("document.activeElement.textContent"), "To the answer");
}

#[test]
fn a_number_stays_on_its_line_and_a_cut_table_says_so() {
    let page = synthetic();
    let mut browser = opened(&page.path);
    browser.look(390, "light");
    browser.eval("document.querySelectorAll('details').forEach((d) => { d.open = true; })");
    let numbers = "(() => {
        const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
        const found = [];
        while (texts.nextNode()) {
            for (const match of texts.currentNode.data.matchAll(/\\d{1,3}([ \\u00a0\\u202f]\\d{3})+(?!\\d)/g)) {
                const range = document.createRange();
                range.setStart(texts.currentNode, match.index);
                range.setEnd(texts.currentNode, match.index + match[0].length);
                found.push(new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size);
            }
        }
        return found;
    })()";
    assert!(browser.number(&format!("{numbers}.length")) > 10);
    assert_eq!(
        browser.number(&format!("{numbers}.filter((lines) => lines > 1).length")),
        0
    );
    let cut = "[...document.querySelectorAll('.scroll')].filter((s) => s.scrollWidth > s.clientWidth)";
    assert!(browser.number(&format!("{cut}.length")) > 0);
    let shaded = "(getComputedStyle(s).backgroundAttachment.match(/local/g) ?? []).length == 2 \
                  && getComputedStyle(s).backgroundImage.includes('rgba(0, 0, 0, 0.22)')";
    assert_eq!(browser.number(&format!("{cut}.filter((s) => !({shaded})).length")), 0);
}
