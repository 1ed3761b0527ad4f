//! The operations of an experiment, of which a whole machine was measured once.

use worstcase_costs::{CostEvent, EventCounts};
use worstcase_timing::{CalibratedMachine, Calibration, MeasuredOperation, Predictor};

fn operation(line: &str) -> MeasuredOperation {
    let words: Vec<&str> = line.split(' ').collect();
    let event = |word: &&str| {
        let (name, n) = word.split_once('=').unwrap();
        (CostEvent::named(name).unwrap(), n.parse().unwrap())
    };
    MeasuredOperation {
        name: words[0].into(),
        class: words[1].into(),
        held_out: false,
        times: words[2].parse().unwrap(),
        ns: words[3].parse().unwrap(),
        events: words[4..].iter().map(event).collect(),
        spread: 1.0,
    }
}

fn experiment() -> Vec<MeasuredOperation> {
    let text = include_str!("data/experiment.txt");
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(operation)
        .collect()
}

fn calibration(operations: Vec<MeasuredOperation>) -> Calibration {
    Calibration::of(CalibratedMachine::default(), "6.18", operations, None, Vec::new()).unwrap()
}

#[test]
fn other_operations_are_predicted_as_the_experiment_found() {
    let operations = experiment();
    assert_eq!(operations.len(), 108);
    let quality = calibration(operations).quality;
    let (one, class) = (quality.leave_one_out, quality.leave_class_out);
    eprintln!("{quality:?}");
    assert!(one.median < 1.15 && one.p90 < 1.42 && one.within_1_5 > 0.92, "{one:?}");
    assert!(
        class.median < 1.26 && class.p90 < 1.8 && class.within_1_5 > 0.78,
        "{class:?}"
    );
}

#[test]
fn a_file_holds_all_that_predicts() {
    let made = calibration(experiment());
    let read = Calibration::decode(made.text().as_bytes()).unwrap();
    assert_eq!(read.text(), made.text());
    assert!(read == made, "numbers change on their way through a file");
    let counts: EventCounts = [(CostEvent::Instruction, 40_000), (CostEvent::DataL2, 300)]
        .into_iter()
        .collect();
    let (here, there) = (
        Predictor::of(&made).predict(&counts),
        Predictor::of(&read).predict(&counts),
    );
    assert_eq!(here, there);
    assert!(here.low < here.ns && here.ns < here.high, "{here:?}");
}

#[test]
fn a_path_unlike_all_others_has_a_wider_interval() {
    let predictor = Predictor::of(&calibration(experiment()));
    let width = |counts: &[(CostEvent, u64)]| {
        let time = predictor.predict(&counts.iter().copied().collect());
        time.high / time.low
    };
    let usual = width(&[
        (CostEvent::Instruction, 20_000),
        (CostEvent::SystemCall, 10),
        (CostEvent::Locked, 200),
        (CostEvent::DataL2, 400),
    ]);
    let unlike = width(&[(CostEvent::Instruction, 1_000), (CostEvent::Port, 500)]);
    assert!(unlike > usual * 1.5, "{unlike} against {usual}");
}

#[test]
fn every_operation_of_the_calibration_lies_about_where_it_was_measured() {
    let calibration = calibration(experiment());
    let predictor = Predictor::of(&calibration);
    let inside = calibration.operations.iter().filter(|operation| {
        let time = predictor.predict(&operation.events);
        (time.low..time.high).contains(&(operation.ns * operation.times as f64))
    });
    let share = inside.count() as f64 / calibration.operations.len() as f64;
    assert!((0.75..0.97).contains(&share), "{share}");
}

#[test]
fn a_file_of_another_kind_is_refused() {
    let text = calibration(experiment()).text();
    let refused = |text: String| Calibration::decode(text.as_bytes()).unwrap_err();
    assert!(refused("{}".into()).contains("schema"));
    assert!(refused(text.replace("calibration/1", "calibration/2")).contains("calibration/2"));
    assert!(refused(text.replace("\"locked\":", "\"tlb\":")).contains("tlb"));
    let negative = text.replacen("\"instruction\": 0.", "\"instruction\": -0.", 1);
    assert!(refused(negative).contains("the ns of instruction"));
}

#[test]
fn too_few_operations_are_refused() {
    let few = experiment().into_iter().take(9).collect();
    let refused = Calibration::of(CalibratedMachine::default(), "6.18", few, None, Vec::new());
    assert!(refused.unwrap_err().to_string().contains("only 9 operations"));
}
