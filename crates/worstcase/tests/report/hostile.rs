//! Names from outside stay text, wherever they are shown; and nothing leaves the page.

use crate::fixture::{latencies, plan_of, raw, result, spec, subject};
use crate::pages::{opened, part, written};
use worstcase_analysis::breakdown::Breakdown;
use worstcase_analysis::breakdown::cause::{Cause, Mechanism};
use worstcase_analysis::breakdown::spans::{AtDue, ExplainedSample, KernelTask, Span, SpanKind};
use worstcase_contract::Nanos;
use worstcase_plan::study::claim::{ClaimOrigin, Term};
use worstcase_report::html::{BreakdownPart, CyclePart};
use worstcase_results::record::{Run, SubjectMachine};

const EVIL: &str = "<img src=x onerror=\"window.owned=1\">'\"</script><script>window.owned=2</script><!--\u{202e}&lt;b&gt;${1}{{DATA}}";
/// What is left of it on the page: only what steers the direction of writing is replaced.
const SHOWN: &str = "<img src=x onerror=\"window.owned=1\">'\"</script><script>window.owned=2</script><!--\u{fffd}&lt;b&gt;${1}{{DATA}}";

fn breakdown() -> Breakdown {
    let sample = ExplainedSample {
        cell: EVIL.into(),
        subject: EVIL.into(),
        load: EVIL.into(),
        preempt: "none".into(),
        preempt_fixed: false,
        unit: "virtual us".into(),
        index: 1,
        latency_ns: Nanos(1_000),
        since: Default::default(),
        scheduler: None,
    };
    let cause = Cause {
        mechanism: Mechanism::OtherThread,
        function: None,
        caller: None,
        source: None,
        system_call: None,
        length_ns: Nanos(1_000),
        sentence: EVIL.into(),
        remedy: EVIL.into(),
    };
    let task = KernelTask {
        pid: 7,
        comm: EVIL.into(),
    };
    let span = Span {
        what: SpanKind::OtherThread {
            task: task.clone(),
            owns_lock: false,
            wait: None,
            server: None,
        },
        start_ns: Nanos(0),
        length_ns: Nanos(1_000),
        instructions: None,
        costs: None,
        cpu: None,
        task,
        system_call: None,
        sender: None,
        waited_for: Vec::new(),
        chain: Vec::new(),
        most: None,
        functions: Vec::new(),
        lines: Vec::new(),
    };
    Breakdown::new(sample, AtDue::default(), cause, vec![span], vec![EVIL.into()]).unwrap()
}

#[test]
fn hostile_names_stay_text() {
    let dir = tempfile::tempdir().unwrap();
    let mut results = Vec::new();
    for preempt in ["none", EVIL] {
        let mut measured = subject(EVIL, preempt);
        measured.kernel.version = EVIL.into();
        let SubjectMachine::Lab(lab) = &mut measured.machine else {
            unreachable!()
        };
        lab.command_line = EVIL.into();
        for seed in 1..=2 {
            let spec = worstcase_contract::CellSpec {
                load: format!("cmd:{EVIL}"),
                ..spec("idle", seed)
            };
            let mut raw = raw(&spec, &latencies(seed, 90_000));
            raw.warnings = vec![EVIL.into()];
            raw.environment.insert(EVIL.into(), EVIL.into());
            results.push(result(&measured, &raw));
        }
    }
    let mut plan = plan_of(&results);
    plan.title = EVIL.into();
    plan.study.as_mut().unwrap().study = EVIL.into();
    plan.question = Some(EVIL.into());
    let claim = &mut plan.claims[0];
    (claim.says, claim.why, claim.doubt) = (EVIL.into(), EVIL.into(), Some(EVIL.into()));
    claim.origin = ClaimOrigin::Source(EVIL.into());
    claim.terms = vec![Term {
        word: EVIL.into(),
        means: EVIL.into(),
    }];
    claim.figures[0].of = EVIL.into();
    let run = Run::create(&dir.path().join("run"), plan).unwrap();
    results.iter().for_each(|r| run.write_cell(r).unwrap());
    let folded = format!("{};inner 1000\n", EVIL.replace(';', "_"));
    let breakdowns = vec![BreakdownPart::new(&breakdown(), Some(&folded))];
    let cycles = vec![CyclePart::new(
        &results[0].record,
        Some(EVIL),
        &[EVIL.into()],
        &[EVIL.into()],
    )];
    let page = written(&[part(&run, breakdowns, cycles)]);
    let mut browser = opened(&page.path);
    browser.eval("document.querySelectorAll('details').forEach((d) => { d.open = true; })");
    // Tooltips are made when they are shown.
    browser.eval(
        "document.querySelectorAll('.chart').forEach((chart) => echarts.getInstanceByDom(chart)?.dispatchAction({ type: 'showTip', seriesIndex: 0, dataIndex: 0 }))",
    );
    browser.eval("new Promise((done) => setTimeout(done, 200))");
    assert_eq!(browser.eval("window.owned ?? 0"), 0);
    assert_eq!(
        browser.number("document.querySelectorAll('img, iframe, object, script').length"),
        3,
        "the page's own scripts alone"
    );
    assert_eq!(browser.text("document.querySelector('h1').textContent"), SHOWN);
    assert_eq!(browser.text("document.title"), SHOWN);
    let all = browser.text("document.querySelector('main').textContent");
    assert!(all.matches(SHOWN).count() > 10 && !all.contains('\u{202e}'));
    let cycle = browser.text("document.querySelector('.cycle').textContent");
    assert_eq!(
        cycle.matches(SHOWN).count(),
        4,
        "its subject, load, sentence and line: {cycle}"
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert_eq!(browser.requests(), Vec::<String>::new());
}

#[test]
fn the_page_may_ask_nobody() {
    let page = crate::pages::synthetic();
    let mut browser = opened(&page.path);
    for attempt in [
        "fetch('https://worstcase.invalid/').then(() => 'sent')",
        "new Promise((done) => { const i = new Image(); i.onload = () => done('sent'); i.onerror = () => done('refused'); i.src = 'https://worstcase.invalid/i.png'; })",
        "new Promise((done) => { const s = document.createElement('script'); s.onerror = () => done('refused'); s.onload = () => done('sent'); s.src = 'https://worstcase.invalid/s.js'; document.body.append(s); })",
    ] {
        let tried = format!(
            "new Promise((done) => {{
                document.addEventListener('securitypolicyviolation', () => done('refused by the policy'), {{ once: true }});
                ({attempt}).catch(() => {{}});
            }})"
        );
        assert_eq!(browser.text(&tried), "refused by the policy");
    }
}
