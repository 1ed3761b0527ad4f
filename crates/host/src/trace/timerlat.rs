//! The text of the kernel's timerlat tracer, as activations of its threads.

use worstcase_contract::Nanos;

/// One activation of a timerlat thread, from its two lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Activation {
    /// The tracer's number, from 1. A period that the thread slept through has no number.
    pub number: u64,
    /// When its timer was due. The error is the microsecond of the line's time, plus the time that the kernel took to
    /// write the line.
    pub due: Nanos,
    /// Due time until the timer's interrupt reads the clock.
    pub irq: Nanos,
    /// Due time until the thread reads the clock.
    pub thread: Nanos,
}

/// A line that the tracer would not write, or that contradicts the lines before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the timerlat tracer wrote what worstcase cannot read, '{line}': {why}; please report this kernel's version")]
pub(crate) struct LineError {
    line: String,
    why: &'static str,
}

/// Reads a CPU's lines, in any portions.
#[derive(Debug, Default)]
pub(crate) struct TimerlatLines {
    /// An incomplete line.
    cut: Vec<u8>,
    interrupt: Option<TimerlatInterrupt>,
    last: u64,
    /// Lines that the kernel dropped, as far as it counts them.
    pub lost: u64,
}

#[derive(Clone, Copy, Debug)]
struct TimerlatInterrupt {
    number: u64,
    due: Nanos,
    latency: Nanos,
}

impl TimerlatLines {
    /// Takes the next portion. An activation with a lost line is not handed over.
    pub fn feed(&mut self, portion: &[u8], mut each: impl FnMut(Activation)) -> Result<(), LineError> {
        for piece in portion.split_inclusive(|byte| *byte == b'\n') {
            self.cut.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let bytes = std::mem::take(&mut self.cut);
                let line = String::from_utf8_lossy(&bytes);
                let line = line.trim();
                let taken = self.line(line).map_err(|why| LineError {
                    line: line.to_string(),
                    why,
                })?;
                taken.into_iter().for_each(&mut each);
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &str) -> Result<Option<Activation>, &'static str> {
        if let Some(lost) = lost(line) {
            self.lost += lost;
            return Ok(None);
        }
        // A thread's name may hold anything, so the tracer's own words are those after the last of these separators.
        let (before, words) = line.rsplit_once(": #").ok_or("it has no number")?;
        let words: Vec<&str> = words.split_whitespace().collect();
        let &[number, "context", context, "timer_latency", latency, "ns"] = words.as_slice() else {
            return Err("it has other words");
        };
        let number = number.parse().map_err(|_| "its number is none")?;
        let latency = Nanos(latency.parse().map_err(|_| "its latency is none")?);
        match context {
            "irq" => {
                if number <= self.last {
                    return Err("its number came before; was the tracer started again?");
                }
                let at = before.rsplit(' ').next().and_then(time).ok_or("it has no time")?;
                let due = at.0.checked_sub(latency.0).ok_or("it is later than its time")?;
                self.last = number;
                self.interrupt = Some(TimerlatInterrupt {
                    number,
                    due: Nanos(due),
                    latency,
                });
                Ok(None)
            }
            "thread" => {
                let Some(interrupt) = self.interrupt.take().filter(|i| i.number == number) else {
                    return Ok(None);
                };
                if latency < interrupt.latency {
                    return Err("its thread ran before its interrupt");
                }
                Ok(Some(Activation {
                    number,
                    due: interrupt.due,
                    irq: interrupt.latency,
                    thread: latency,
                }))
            }
            _ => Err("its context is neither irq nor thread"),
        }
    }
}

/// `CPU:0 [LOST 12 EVENTS]`; without a number where the kernel does not know it.
fn lost(line: &str) -> Option<u64> {
    let (_, rest) = line.strip_prefix("CPU:")?.split_once(" [LOST ")?;
    let count = rest.strip_suffix("EVENTS]")?.trim();
    if count.is_empty() { Some(0) } else { count.parse().ok() }
}

/// `12.345678`, in seconds.
fn time(text: &str) -> Option<Nanos> {
    let (seconds, micros) = text.split_once('.')?;
    let nanos = micros.parse::<u64>().ok().filter(|_| micros.len() == 6)? * 1_000;
    Some(Nanos(seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)? + nanos))
}

/// The position of an activation among the periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Its period.
    pub index: u64,
    /// Activations since the one before, of which a line was lost.
    pub lost: u64,
}

/// Assigns activations to periods: the tracer's numbers do not count periods that the thread slept through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActivationPeriods {
    interval: u64,
    start: u64,
    last: Option<(u64, Activation)>,
    /// The number of the last activation, even of one before period 0.
    number: Option<u64>,
}

impl ActivationPeriods {
    /// One of the tracer's periods was due at `seen`; period 0 is the first of them that is not before `earliest`.
    pub fn new(interval: Nanos, seen: Nanos, earliest: Nanos) -> ActivationPeriods {
        let before = earliest.0.saturating_sub(seen.0).saturating_sub(interval.0 / 4);
        ActivationPeriods {
            interval: interval.0,
            start: seen.0 + before.next_multiple_of(interval.0),
            last: None,
            number: None,
        }
    }

    /// When period 0 was due.
    pub fn start(&self) -> Nanos {
        Nanos(self.start)
    }

    /// The position of the next activation; `None` before period 0.
    pub fn position(&mut self, activation: Activation) -> Option<Position> {
        let before = self.number.replace(activation.number);
        let unread = before.map_or(0, |before| activation.number - before - 1);
        let by_time = (activation.due.0 + self.interval / 2).checked_sub(self.start)? / self.interval;
        let index = match self.last {
            // No period was slept through, so a delay of the line does not matter.
            Some((index, last)) if last.number + 1 == activation.number && last.thread.0 < self.interval / 2 => {
                index + 1
            }
            Some((index, last)) => by_time.max(index + activation.number - last.number),
            None => by_time,
        };
        // Some of the unread activations may have been before period 0.
        let between = index - self.last.map_or(0, |(last, _)| last + 1);
        self.last = Some((index, activation));
        Some(Position {
            index,
            lost: unread.min(between),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn irq(number: u64, time: &str, latency: u64) -> String {
        format!(
            "          <idle>-0       [000] d.h1.  {time}: #{number:<5} context    irq timer_latency {latency:9} ns\n"
        )
    }

    fn thread(number: u64, latency: u64) -> String {
        format!(
            "      timerlat/0-311     [000] .....  12.000100: #{number:<5} context thread timer_latency {latency:9} ns\n"
        )
    }

    fn read(lines: &mut TimerlatLines, text: &str) -> Result<Vec<Activation>, LineError> {
        let mut all = Vec::new();
        lines.feed(text.as_bytes(), |a| all.push(a)).map(|()| all)
    }

    /// Output of a 6.12 kernel.
    const KERNEL: &str =
        "          <idle>-0       [000] d.h1.     5.054438: #2     context    irq timer_latency       726 ns
           <...>-130     [000] ....1     5.054441: #2     context thread timer_latency      4146 ns
          <idle>-0       [000] d.h1.     5.055438: #3     context    irq timer_latency       723 ns
           <...>-130     [000] ....1     5.055441: #3     context thread timer_latency      4143 ns
";

    #[test]
    fn a_kernels_lines_are_read() {
        let activations = read(&mut TimerlatLines::default(), KERNEL).unwrap();
        let seen: Vec<_> = activations
            .iter()
            .map(|a| (a.number, a.due.0, a.irq.0, a.thread.0))
            .collect();
        assert_eq!(seen, [(2, 5_054_437_274, 726, 4_146), (3, 5_055_437_277, 723, 4_143)]);
    }

    #[test]
    fn two_lines_are_an_activation() {
        let text = irq(1, "12.000010", 4_000) + &thread(1, 9_000);
        let expected = Activation {
            number: 1,
            due: Nanos(12_000_006_000),
            irq: Nanos(4_000),
            thread: Nanos(9_000),
        };
        assert_eq!(read(&mut TimerlatLines::default(), &text), Ok(vec![expected]));
    }

    #[test]
    fn a_line_may_be_cut_anywhere() {
        let text = irq(1, "12.000010", 4_000) + &thread(1, 9_000) + &irq(2, "12.001010", 1) + &thread(2, 2);
        let whole = read(&mut TimerlatLines::default(), &text).unwrap();
        assert_eq!(whole.len(), 2);
        for at in 0..text.len() {
            let mut lines = TimerlatLines::default();
            let mut both = read(&mut lines, &text[..at]).unwrap();
            both.extend(read(&mut lines, &text[at..]).unwrap());
            assert_eq!(both, whole, "{at}");
        }
    }

    #[test]
    fn what_was_lost_is_no_activation() {
        let mut lines = TimerlatLines::default();
        let text = irq(1, "12.000010", 4_000)
            + "CPU:0 [LOST 5 EVENTS]\n"
            + &thread(3, 50)
            + &irq(4, "12.003010", 1)
            + "CPU:0 [LOST EVENTS]\n"
            + &irq(9, "12.008010", 1)
            + &thread(9, 3);
        let numbers: Vec<u64> = read(&mut lines, &text).unwrap().iter().map(|a| a.number).collect();
        assert_eq!((numbers, lines.lost), (vec![9], 5));
    }

    #[test]
    fn what_the_tracer_does_not_write_is_an_error_with_the_line() {
        for (text, why) in [
            ("the end\n".to_string(), "no number"),
            (irq(1, "12.000010", 4).replace("irq", "nmi"), "neither"),
            (irq(1, "12.000010", 4).replace("ns", "us"), "other words"),
            (irq(1, "12", 4), "no time"),
            (irq(1, "12.10", 4), "no time"),
            (irq(1, "0.000001", 4_000), "later than"),
            (irq(1, "12.000010", 4).replace("#1", "#x"), "number"),
            (irq(7, "12.000010", 40) + &irq(7, "12.001010", 40), "came before"),
            (irq(1, "12.000010", 40) + &thread(1, 39), "before its interrupt"),
        ] {
            let error = read(&mut TimerlatLines::default(), &text).unwrap_err();
            assert!(error.why.contains(why), "{error}");
            assert!(
                error.to_string().contains(text.lines().last().unwrap().trim()),
                "{error}"
            );
        }
    }

    /// (period, lost before it) of each.
    fn periods(activations: &[(u64, u64, u64)]) -> Vec<Option<(u64, u64)>> {
        let mut periods = ActivationPeriods::new(Nanos(1_000), Nanos(10_000), Nanos(12_500));
        assert_eq!(periods.start(), Nanos(13_000));
        let activation = |&(number, due, thread): &(u64, u64, u64)| Activation {
            number,
            due: Nanos(due),
            irq: Nanos(0),
            thread: Nanos(thread),
        };
        let place = |a| periods.position(activation(a)).map(|place| (place.index, place.lost));
        activations.iter().map(place).collect()
    }

    #[test]
    fn lost_and_skipped_periods_are_gaps() {
        // Number 7 is lost; after number 8, which was late, two periods were slept through without a number.
        let seen = [
            (3, 12_001, 5),
            (4, 13_001, 5),
            (5, 14_002, 5),
            (6, 15_000, 5),
            (8, 17_001, 2_300),
            (9, 20_000, 5),
        ];
        let place = |index| Some((index, 0));
        let expected = [None, place(0), place(1), place(2), Some((4, 1)), place(7)];
        assert_eq!(periods(&seen), expected);
    }

    #[test]
    fn lines_that_are_lost_before_period_0_are_no_lost_periods() {
        // Activation 3 was before period 0, and one of the unread ones must have been, too.
        assert_eq!(periods(&[(3, 11_000, 5), (7, 15_000, 5)]), [None, Some((2, 2))]);
        assert_eq!(periods(&[(3, 12_000, 5), (5, 15_000, 5)]), [None, Some((2, 1))]);
    }

    #[test]
    fn a_line_that_was_written_late_moves_no_period() {
        let seen = [
            (4, 13_001, 5),
            (5, 14_700, 5),
            (6, 15_001, 5),
            (7, 16_900, 5),
            (8, 17_000, 5),
        ];
        assert_eq!(periods(&seen), [0, 1, 2, 3, 4].map(|index| Some((index, 0))));
    }
}
