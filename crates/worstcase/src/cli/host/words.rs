//! Numbers and names as the view shows them.

use worstcase_base::duration;
use worstcase_base::format::{grouped, plain};
use worstcase_contract::Nanos;
use worstcase_host::HostSpec;

/// `wakeup under fork, seed 1`, `io:1g+read under idle, bfq, seed 1`.
pub fn title(spec: &HostSpec) -> String {
    let scheduler = spec.io_scheduler.as_ref();
    let chosen = scheduler.map_or(String::new(), |scheduler| format!(", {scheduler}"));
    plain(&format!(
        "{} under {}{chosen}, seed {}",
        spec.probe, spec.load, spec.seed
    ))
}

/// `CPUs 0-1, every 1 ms, nanosleep, fifo:90`.
pub fn method(spec: &HostSpec) -> String {
    let cpus: worstcase_host::CpuList = spec.cpus.iter().copied().collect();
    let noun = if spec.cpus.len() == 1 { "CPU" } else { "CPUs" };
    let scheduling = spec.scheduling;
    match spec.probe {
        worstcase_contract::Probe::Noise => {
            format!(
                "{noun} {cpus}, gaps from {}, {scheduling}",
                duration::show(spec.threshold)
            )
        }
        worstcase_contract::Probe::Bench(_) if spec.interval.0 == 0 => format!("{noun} {cpus}, {scheduling}"),
        _ => format!(
            "{noun} {cpus}, every {}, {}, {scheduling}{}",
            duration::show(spec.interval),
            spec.waker.name(),
            recorded(spec)
        ),
    }
}

fn recorded(spec: &HostSpec) -> String {
    match spec.captures {
        0 => String::new(),
        captures => format!(", with the trace of the {captures} latest"),
    }
}

/// The amount to measure: `1:00`, or `10 samples` if their time is not known.
pub(crate) fn amount(spec: &HostSpec) -> String {
    match spec.length() {
        Nanos(0) => format!("{} samples", grouped(u64::from(spec.periods))),
        length => clock(length),
    }
}

/// `1:05`, `2:00:00`.
pub(crate) fn clock(time: Nanos) -> String {
    let seconds = time.0 / 1_000_000_000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// `1 204 forks/s`, `0.5 rounds/s`, `22.4 MB/s`.
pub(crate) fn rate(unit: &str, a_second: f64) -> String {
    let (number, unit) = match unit {
        "bytes" => (a_second / 1e6, "MB"),
        other => (a_second, other),
    };
    let number = match number {
        0.0..100.0 => format!("{number:.1}"),
        _ => grouped(number as u64),
    };
    plain(&format!("{number} {unit}/s"))
}

/// A power of ten: `1`, `10`, `100k`, `1M`.
pub(crate) fn power(exponent: u32) -> String {
    let suffix = ["", "k", "M", "G", "T", "P", "E"][(exponent as usize / 3).min(6)];
    format!("{}{suffix}", 10_u32.pow(exponent % 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_rates_and_powers() {
        assert_eq!(
            [0, 65, 7_200].map(|s| clock(Nanos(s * 1_000_000_000))),
            ["0:00", "1:05", "2:00:00"]
        );
        assert_eq!(rate("forks", 1204.4), "1 204 forks/s");
        assert_eq!(rate("rounds", 0.5), "0.5 rounds/s");
        assert_eq!(rate("bytes", 22_400_000.0), "22.4 MB/s");
        assert_eq!([0, 1, 5, 6].map(power), ["1", "10", "100k", "1M"]);
    }
}
