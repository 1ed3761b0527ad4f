//! Probes with parameters by their names alone, as records hold them.

use crate::probe::Probe;
use crate::spec_error::SpecError;
use worstcase_cell::bench::Bench;

/// Every probe that a text asks for, in order.
pub fn expand(text: &str) -> Result<Vec<Bench>, SpecError> {
    let all = Probe::expand(text)?.into_iter();
    all.map(|probe| {
        probe
            .bench()
            .ok_or_else(|| SpecError(format!("probe '{text}' has no parameters")))
    })
    .collect()
}

/// One probe; a text that asks for several is refused.
pub fn parse(text: &str) -> Result<Bench, SpecError> {
    match expand(text)?.as_slice() {
        [one] => Ok(*one),
        several => Err(SpecError(format!(
            "probe '{text}' is {} probes, one is wanted here",
            several.len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let all = expand(text).unwrap();
        all.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_text_is_a_grid() {
        assert_eq!(
            names("switch:2/16x0/16k+pipe/futex"),
            [
                "switch:2x0",
                "switch:2x16k",
                "switch:16x0",
                "switch:16x16k",
                "switch:2x0+futex",
                "switch:2x16k+futex",
                "switch:16x0+futex",
                "switch:16x16k+futex"
            ]
        );
        assert_eq!(
            names("hackbench:2+cpus1/2"),
            [
                "hackbench:2x25x100x100+sockets+cpus1",
                "hackbench:2x25x100x100+sockets+cpus2"
            ]
        );
        assert_eq!(names("inversion:3"), ["inversion:3+inherit"]);
        assert_eq!(
            names("inversion:1+section20us/1ms"),
            ["inversion:1+inherit+section20us", "inversion:1+inherit+section1ms"]
        );
        assert_eq!(names("switch").len(), 48);
        assert_eq!(names("hackbench").len(), 4);
        assert_eq!(names("inversion").len(), 12);
        assert_eq!(names("inversion+none").len(), 4);
        assert_eq!(names("remote"), ["remote+futex", "remote+pipe", "remote+eventfd"]);
        assert_eq!(names("remote+pipe/futex"), ["remote+pipe", "remote+futex"]);
        assert_eq!(names("pick:1/2000"), ["pick:1", "pick:2000"]);
        assert_eq!(names("pick").len(), 11);
        assert_eq!(names("spawn"), ["spawn+fork", "spawn+exec", "spawn+sh"]);
        assert_eq!(names("irq"), ["irq"]);
        assert_eq!(
            names("irq+parport/hpet/gpio/serial"),
            ["irq", "irq+hpet", "irq+gpio", "irq:0+serial"]
        );
        assert_eq!(names("irq:0x17x27+gpio"), ["irq:0x17x27+gpio"]);
        assert_eq!(names("shootdown"), ["shootdown:0", "shootdown:1"]);
        assert_eq!(names("shootdown:3+pages16/64"), ["shootdown:3", "shootdown:3+pages64"]);
    }

    #[test]
    fn every_name_reads_back() {
        for text in [
            "switch",
            "switch:16x16k+threads+futex+across+spin20us",
            "switch:2x0+again1/50+mhz600/1000",
            "hackbench:10x20x1000x1500+pipes+threads+cpus2+pinned+latency",
            "inversion:1/8+none/protect+section200us+middle3ms",
            "pick",
            "remote",
            "irq",
            "shootdown:0/15+pages1/16/16384",
        ] {
            for bench in expand(text).unwrap() {
                assert_eq!(parse(&bench.to_string()), Ok(bench));
            }
        }
    }

    #[test]
    fn what_cannot_be_asked_is_refused_in_words() {
        for (text, says) in [
            ("switch:1x0", "processes: 2 to 4096, not 1"),
            ("switch:2x0x3", "at most 2 numbers"),
            ("switch:2x0+pipes", "no option 'pipes'"),
            ("switch:2/2x0", "asked for twice"),
            ("switch:2x0+mhz0", "MHz: 1 to 100000, not 0"),
            ("switch:2x0+again51", "measured again: 1 to 50, not 51"),
            ("switch:2x0+again0", "measured again: 1 to 50, not 0"),
            ("switch:axb", "'a' is not a number"),
            ("hackbench:1x1x1x4+latency", "bytes: 8 to"),
            ("hackbench:1+cpusmany", "CPUs: 'many' is not a number"),
            ("inversion:9", "depth: 1 to 8, not 9"),
            ("inversion:1+section5", "'5' is not a time"),
            ("remote:2", "no numbers: remote, or e.g. remote+futex"),
            ("remote+pipes", "no option 'pipes'; there are pipe, eventfd, futex"),
            ("remote+pipe/pipe", "asked for twice"),
            ("pick:0", "tasks: 1 to 2000, not 0"),
            ("pick:2001", "tasks: 1 to 2000, not 2001"),
            ("pick:2+pipe", "no option 'pipe'"),
            ("spawn:2", "no numbers: spawn, or e.g. spawn+exec"),
            ("spawn+vfork", "no option 'vfork'; there are fork, exec, sh"),
            ("irq:2", "no numbers: irq+parport"),
            ("irq:1x2+gpio", "e.g. irq:0x17x27+gpio"),
            ("irq+pipe", "no option 'pipe'; there are parport, hpet, gpio, serial"),
            ("shootdown:16", "threads: 0 to 15, not 16"),
            ("shootdown:256", "threads: 0 to 15, not 256"),
            ("shootdown:1x2", "at most 1 numbers"),
            ("shootdown:a", "'a' is not a number"),
            ("shootdown:1+pages0", "pages: 1 to 16384, not 0"),
            ("shootdown:1+pages4k", "pages: '4k' is not a number"),
            ("shootdown:1+futex", "no option 'futex'; there are pagesN"),
            ("shootdown:1+pages16/16", "asked for twice"),
            ("swich", "unknown probe 'swich'; did you mean switch?"),
        ] {
            let error = expand(text).unwrap_err().0;
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!("switch".parse::<crate::Probe>().unwrap_err().0.contains("48 probes"));
    }
}
