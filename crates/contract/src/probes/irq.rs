//! `irq[:CHIPxOUTPUTxINPUT][+parport|+hpet|+gpio|+serial]`.

use super::info::{CpuNeed, Extreme, ProbeForm, ProbeInfo, SampleBegin, usual_period};
use crate::device::Device;
use crate::grammar::{Dimension, Grammar, NumberRange, OptionChoice, ProbeWords, Unsaid};
use crate::spec_error::SpecError;
use crate::venue::Venue;
use worstcase_cell::bench::{Bench, Details, Line, Pins};
use worstcase_logs::Nanos;

pub(super) const IRQ: ProbeInfo = ProbeInfo {
    name: "irq",
    sample: Some("interrupt response: edge out to edge back"),
    about: "how long an interrupt takes to be answered by a process: of a wire (irq, irq+gpio, irq+serial; two CPUs), of a counter (irq+hpet)",
    details: "A process sends an edge over a wire (parallel port, GPIO lines, serial port) and waits for the answer of \
              another one, which the wire's interrupt wakes; hpet: a counter's interrupt to the process that waits for it.",
    needs: "on a host the device, and root",
    period: |bench, venue| match bench {
        // The HPET interrupts at this period.
        Some(Bench::Irq(Line::Hpet)) => Nanos::from_micros(250),
        _ => usual_period(venue),
    },
    cpus: |bench| match bench {
        Bench::Irq(Line::Hpet) => CpuNeed::First(1),
        _ => CpuNeed::First(2),
    },
    modules: |bench| match bench {
        None => &["parport_pc", "ppdev", "gpio-sim"],
        Some(Bench::Irq(Line::Parport)) => &["parport_pc", "ppdev"],
        Some(Bench::Irq(Line::Gpio(None))) => &["gpio-sim"],
        Some(_) => &[],
    },
    device: |bench| match bench {
        Some(Bench::Irq(Line::Parport)) => Some(Device::Parport),
        Some(Bench::Irq(Line::Hpet)) => Some(Device::Hpet),
        _ => None,
    },
    extreme: Extreme::Largest("Longest way from edge to edge"),
    explained: &[Venue::Lab],
    begin: |bench| match bench {
        Some(Bench::Irq(Line::Hpet)) => SampleBegin::DeviceDue,
        // The simulated chip raises no interrupt: its driver wakes the reader directly when the level is set.
        Some(Bench::Irq(Line::Gpio(_))) => SampleBegin::Woken,
        _ => SampleBegin::Pulsed,
    },
    also_refused: refused,
    fits: |details, _, taken| matches!(details, Details::Irq(wakeups) if wakeups.fit(taken)),
    form: ProbeForm::Parameters(Grammar {
        dimensions: &[number("chip or port"), number("output"), number("input")],
        grid: "",
        example: "irq:0x17x27+gpio",
        options: &[OptionChoice::Word(
            || vec!["parport", "hpet", "gpio", "serial"],
            Unsaid::Nothing,
        )],
        presets: &[],
        make: |words| line(words).map(Bench::Irq),
    }),
    ..ProbeInfo::PERIODIC
};

const fn number(what: &'static str) -> Dimension {
    Dimension {
        range: NumberRange {
            what,
            least: 0,
            most: u16::MAX as u64,
        },
        usual: 0,
    }
}

fn line(words: &ProbeWords) -> Result<Line, String> {
    let lines = [
        ("parport", "parport"),
        ("hpet", "hpet"),
        ("gpio", "gpio"),
        ("serial", "serial"),
    ];
    match (words.one_of(&lines).unwrap_or("parport"), words.said) {
        ("parport", 0) => Ok(Line::Parport),
        ("hpet", 0) => Ok(Line::Hpet),
        ("gpio", 0) => Ok(Line::Gpio(None)),
        ("gpio", 3) => Ok(Line::Gpio(Some(Pins {
            chip: words.dimension(0),
            output: words.dimension(1),
            input: words.dimension(2),
        }))),
        ("gpio", _) => Err("gpio takes the chip and two of its lines, the output first, e.g. irq:0x17x27+gpio".into()),
        ("serial", 0 | 1) => Ok(Line::Serial(words.dimension(0))),
        ("serial", _) => Err("serial takes the number of one port, e.g. irq:0+serial".into()),
        (word, _) => Err(format!("no numbers: irq+{word}")),
    }
}

fn refused(bench: &Bench, venue: Venue) -> Result<(), SpecError> {
    match (bench, venue) {
        (Bench::Irq(Line::Gpio(None)), Venue::Host) => Err(SpecError(
            "probe 'irq+gpio': which lines of this machine? Name the chip, an output and the input that it is wired to, e.g. irq:0x17x27+gpio".into(),
        )),
        (Bench::Irq(Line::Gpio(Some(_)) | Line::Serial(_)), Venue::Lab) => Err(SpecError(format!(
            "probe '{bench}': the lab's machine has irq (a parallel port), irq+hpet and irq+gpio (a simulated chip)"
        ))),
        _ => Ok(()),
    }
}
