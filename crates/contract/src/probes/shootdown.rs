//! `shootdown[:THREADS][+pagesN]`.

use super::info::{CpuNeed, Extreme, ProbeForm, ProbeInfo, SampleBegin};
use crate::grammar::{Dimension, Grammar, NumberRange, OptionChoice, ValueKind};
use crate::venue::Venue;
use worstcase_cell::bench::{Bench, Details, Shootdown};

pub(super) const SHOOTDOWN: ProbeInfo = ProbeInfo {
    name: "shootdown",
    sample: Some("time of a munmap"),
    about: "what unmapping takes while threads of the process run on other CPUs, e.g. shootdown:0/1/3+pages16/256 (real-time right)",
    details: "A thread unmaps pages (1 unless +pagesN says more) while THREADS others of the process run on other CPUs, \
              which must forget the mapping.",
    needs: "a real-time right",
    samples: |_| 1_000,
    cpus: |bench| match bench {
        Bench::Shootdown(what) => CpuNeed::First(1 + usize::from(what.threads)),
        _ => CpuNeed::All,
    },
    extreme: Extreme::Median("Median time of a munmap"),
    is_latency: false,
    is_judged: |_| false,
    explained: &[Venue::Lab],
    begin: |_| SampleBegin::Called,
    fits: |details, bench, taken| match (details, bench) {
        (Details::Shootdown(d), Bench::Shootdown(asked)) => {
            (d.threads, d.pages) == (asked.threads.into(), asked.pages) && u64::from(d.all_ran) <= taken
        }
        _ => false,
    },
    form: ProbeForm::Parameters(Grammar {
        dimensions: &[Dimension {
            range: NumberRange {
                what: "threads",
                least: 0,
                most: Shootdown::MOST_THREADS as u64,
            },
            usual: 0,
        }],
        // Without another CPU, and with one.
        grid: "0/1",
        example: "shootdown:1",
        options: &[OptionChoice::Value {
            prefix: "pages",
            kind: ValueKind::Number,
            range: NumberRange {
                what: "pages",
                least: 1,
                most: 16_384,
            },
        }],
        presets: &[],
        make: |words| {
            Ok(Bench::Shootdown(Shootdown {
                threads: words.dimension(0),
                pages: words.value("pages").unwrap_or(Shootdown::PAGES),
            }))
        },
    }),
    ..ProbeInfo::PERIODIC
};
