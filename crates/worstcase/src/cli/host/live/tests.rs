//! Screens as one sees them.

use super::draw::draw;
use super::examples::{spec, tick};
use super::looks::TerminalLooks;
use super::model::LiveModel;
use proptest::collection::vec;
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use worstcase_contract::Nanos;
use worstcase_contract::Probe;
use worstcase_contract::record::Work;
use worstcase_host::message::{CpuStats, MeasurementEnd, Message};

const PLAIN: TerminalLooks = TerminalLooks {
    colour: false,
    unicode: true,
};

fn screen(model: &LiveModel, looks: TerminalLooks, width: u16, height: u16) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| draw(model, false, looks, frame.area(), frame.buffer_mut()))
        .unwrap();
    terminal
}

fn text(model: &LiveModel, looks: TerminalLooks, width: u16, height: u16) -> String {
    screen(model, looks, width, height).backend().to_string()
}

fn after(probe: Probe, cpus: u32, seconds: u64, criterion: Option<u64>) -> LiveModel {
    let spec = spec(probe, cpus);
    let mut model = LiveModel::new(2, 4, spec.clone(), criterion.map(Nanos));
    model.message(&Message::WarmUp { length: spec.warmup });
    for second in [0, seconds.saturating_sub(3), seconds.saturating_sub(1), seconds] {
        model.message(&tick(&spec, Nanos(second * 1_000_000_000)));
    }
    model
}

#[test]
fn two_cpus() {
    let model = after(Probe::Wakeup, 2, 20, Some(100_000));
    insta::assert_snapshot!(text(&model, PLAIN, 80, 24));
}

#[test]
fn many_cpus() {
    let model = after(Probe::Wakeup, 64, 5, Some(20_000));
    insta::assert_snapshot!(text(&model, PLAIN, 100, 30));
}

#[test]
fn small() {
    let model = after(Probe::Wakeup, 4, 20, Some(20_000));
    insta::assert_snapshot!(text(&model, PLAIN, 40, 10));
}

#[test]
fn noise_in_ascii() {
    let looks = TerminalLooks {
        colour: false,
        unicode: false,
    };
    let shown = text(&after(Probe::Noise, 1, 20, None), looks, 80, 20);
    assert!(shown.is_ascii());
    insta::assert_snapshot!(shown);
}

#[test]
fn before_the_first_sample() {
    let mut model = LiveModel::new(1, 1, spec(Probe::Wakeup, 2), Some(Nanos(100_000)));
    assert!(text(&model, PLAIN, 80, 24).contains("the load starts"));
    model.message(&Message::WarmUp {
        length: Nanos::from_millis(1_000),
    });
    assert!(text(&model, PLAIN, 80, 24).contains("the load runs alone for 1 s"));
    model.message(&Message::Done(Box::default()));
    assert!(text(&model, PLAIN, 80, 24).contains("measured; the record is written"));
}

#[test]
fn above_the_criterion_is_said_without_colour() {
    let [met, exceeded] = [100_000, 20_000].map(|limit| text(&after(Probe::Wakeup, 2, 20, Some(limit)), PLAIN, 80, 24));
    assert!(met.contains("met so far") && !met.contains('!'));
    assert!(exceeded.contains("EXCEEDED by") && exceeded.contains('!'));
}

#[test]
fn before_a_sample_nothing_is_met_and_an_earlier_failure_stays() {
    let spec = spec(Probe::Wakeup, 1);
    let mut model = LiveModel::new(2, 3, spec, Some(Nanos(100_000)));
    let shown = text(&model, PLAIN, 80, 24);
    assert!(
        shown.contains("criterion 100 us: no sample yet") && !shown.contains("met so far"),
        "{shown}"
    );
    model.failed_already = Some((Nanos(250_000), "wakeup under fork, seed 1".into()));
    let shown = text(&model, PLAIN, 100, 24);
    assert!(
        shown.contains("FAILED already: criterion 100 us, max 250 us in wakeup under fork"),
        "{shown}"
    );
}

#[test]
fn colours_only_where_they_are_wanted() {
    let colours = |colour| {
        let looks = TerminalLooks { colour, unicode: true };
        let terminal = screen(&after(Probe::Wakeup, 2, 20, Some(20_000)), looks, 80, 24);
        let cells = terminal.backend().buffer().content().iter();
        cells.filter(|cell| cell.fg != Color::Reset).count()
    };
    assert!(colours(true) > 0);
    assert_eq!(colours(false), 0);
}

#[test]
fn rates_are_those_of_the_last_seconds() {
    let spec = spec(Probe::Wakeup, 1);
    let mut model = LiveModel::new(1, 1, spec, None);
    for (second, count) in [(1, 1_000), (2, 2_000), (3, 2_000), (4, 2_000)] {
        let work = vec![Work {
            unit: "forks".into(),
            count,
        }];
        model.message(&Message::Tick {
            elapsed: Nanos(second * 1_000_000_000),
            cpus: Vec::new(),
            work,
        });
        let expected = if second == 3 {
            500.0
        } else if second == 4 {
            0.0
        } else {
            1_000.0
        };
        assert_eq!(model.rates(), [("forks", expected)], "after {second} s");
    }
}

fn any_message() -> impl Strategy<Value = Message> {
    let number = || prop_oneof![0_u64..100, Just(u64::MAX), any::<u64>()];
    let histogram = vec(number(), 0..300);
    let cpu = (any::<u32>(), [(); 7].map(|()| number()), histogram).prop_map(|(cpu, n, histogram)| CpuStats {
        cpu,
        taken: n[0],
        missed: n[1],
        min_ns: n[2],
        max_ns: n[3],
        sum_ns: n[4],
        max_index: n[5],
        lost: n[6],
        histogram,
    });
    let work = ("\\PC{0,9}", number()).prop_map(|(unit, count)| Work { unit, count });
    prop_oneof![
        number().prop_map(|n| Message::WarmUp { length: Nanos(n) }),
        (number(), vec(cpu, 0..9), vec(work, 0..4)).prop_map(|(n, cpus, work)| Message::Tick {
            elapsed: Nanos(n),
            cpus,
            work
        }),
        Just(Message::Done(Box::<MeasurementEnd>::default())),
        Just(Message::Failed {
            reason: String::new(),
            missing: false,
            storage: false
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_size_and_no_message_is_too_much(
        messages in vec(any_message(), 0..6),
        sizes in vec((1_u16..140, 1_u16..60), 1..6),
        cpus in 0_u32..70,
        noise: bool,
        criterion: Option<u64>,
    ) {
        let spec = spec(if noise { Probe::Noise } else { Probe::Wakeup }, cpus);
        let mut model = LiveModel::new(1, 1, spec, criterion.map(Nanos));
        for message in std::iter::once(None).chain(messages.iter().map(Some)) {
            if let Some(message) = message {
                model.message(message);
            }
            for (width, height) in &sizes {
                text(&model, PLAIN, *width, *height);
            }
        }
    }
}
