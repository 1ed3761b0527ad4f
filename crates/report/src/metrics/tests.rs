use super::proto::MetricFamily;
use super::{LastSegment, MetricsForm, WatchMetrics};
use insta::assert_snapshot;
use prost::Message;
use worstcase_contract::Nanos;
use worstcase_host::buckets::Buckets;
use worstcase_host::message::Pulse;

pub(super) fn watched(latencies: &[u64]) -> WatchMetrics {
    let mut buckets = Buckets::default();
    latencies.iter().for_each(|ns| buckets.add(*ns));
    WatchMetrics {
        version: "1.2 (abc)".into(),
        probe: "wakeup".into(),
        load: r#"cmd:echo "a\b""#.into(),
        criterion: Some(Nanos(100_000)),
        cpus: vec![Pulse {
            cpu: 3,
            max: Nanos(latencies.iter().copied().max().unwrap_or(0)),
            latencies: buckets,
            missed: 4,
            lost: 1,
        }],
        last: Some(LastSegment {
            max: Some(Nanos(77_000)),
            ended: 1_795_388_707,
        }),
        segments: 2,
        gaps: 1,
        gap_seconds: 60,
    }
}

fn encoded(form: MetricsForm, latencies: &[u64]) -> String {
    String::from_utf8(form.encode(&watched(latencies))).unwrap()
}

#[test]
fn a_text_has_cumulative_buckets_and_every_sample() {
    let text = encoded(MetricsForm::Plain, &[1_500, 1_500, 90_000, 20_000_000_000]);
    let lines: Vec<&str> = text.lines().filter(|l| l.contains("_latency_")).collect();
    let labels = r#"cpu="3",load="cmd:echo \"a\\b\"",probe="wakeup""#;
    let line = |end: &str, value: &str| format!("worstcase_latency_seconds_{end} {value}");
    for (bound, count) in [
        ("0.000001", "0"),
        ("0.000002", "2"),
        ("0.0001", "3"),
        ("10.0", "3"),
        ("+Inf", "4"),
    ] {
        let wanted = line(&format!("bucket{{{labels},le=\"{bound}\"}}"), count);
        assert!(lines.contains(&wanted.as_str()), "{wanted}\n{text}");
    }
    assert!(lines.contains(&line(&format!("count{{{labels}}}"), "4").as_str()));
    assert!(lines.contains(&line(&format!("sum{{{labels}}}"), "20.000093").as_str()));
}

#[test]
fn the_two_texts_differ_in_names_of_counters_and_in_the_end() {
    let rest = |form| {
        let text = encoded(form, &[]);
        let lines = text.lines().filter(|l| !l.contains("latency"));
        lines.map(|l| format!("{l}\n")).collect::<String>()
    };
    assert_snapshot!(rest(MetricsForm::OpenMetrics), @r#"
    # HELP worstcase_samples_taken Samples taken.
    # TYPE worstcase_samples_taken counter
    worstcase_samples_taken_total{cpu="3",load="cmd:echo \"a\\b\"",probe="wakeup"} 0
    # HELP worstcase_samples_missed Periods that passed while the probe was late.
    # TYPE worstcase_samples_missed counter
    worstcase_samples_missed_total{cpu="3",load="cmd:echo \"a\\b\"",probe="wakeup"} 4
    # HELP worstcase_samples_lost Samples that worstcase failed to keep.
    # TYPE worstcase_samples_lost counter
    worstcase_samples_lost_total{cpu="3",load="cmd:echo \"a\\b\"",probe="wakeup"} 1
    # TYPE worstcase_segment_max_seconds gauge
    worstcase_segment_max_seconds{cpu="3",load="cmd:echo \"a\\b\"",probe="wakeup"} 0
    # HELP worstcase_segments Segments that are over and kept.
    # TYPE worstcase_segments counter
    worstcase_segments_total 2
    # HELP worstcase_gaps Times in which nothing was measured.
    # TYPE worstcase_gaps counter
    worstcase_gaps_total 1
    # HELP worstcase_gap_seconds Time in which nothing was measured.
    # TYPE worstcase_gap_seconds counter
    worstcase_gap_seconds_total 60
    # HELP worstcase_build_info The version of worstcase.
    # TYPE worstcase_build_info gauge
    worstcase_build_info{version="1.2 (abc)"} 1
    # HELP worstcase_last_segment_end_timestamp_seconds When the last whole segment ended.
    # TYPE worstcase_last_segment_end_timestamp_seconds gauge
    worstcase_last_segment_end_timestamp_seconds 1795388707
    # TYPE worstcase_last_segment_max_seconds gauge
    worstcase_last_segment_max_seconds 0.000077
    # HELP worstcase_criterion_seconds The limit that was asked for with --criterion.
    # TYPE worstcase_criterion_seconds gauge
    worstcase_criterion_seconds 0.0001
    # EOF
    "#);
    let plain = rest(MetricsForm::Plain);
    assert!(plain.contains("# TYPE worstcase_gaps_total counter\n"), "{plain}");
    assert!(!plain.contains("# EOF"), "{plain}");
}

#[test]
fn protobuf_has_native_histograms() {
    let latencies = [0, 1_500, 1_500, 90_000, 90_000, 90_000, 20_000_000_000];
    let bytes = MetricsForm::Protobuf.encode(&watched(&latencies));
    let (mut rest, mut families) = (bytes.as_slice(), Vec::new());
    while !rest.is_empty() {
        families.push(MetricFamily::decode_length_delimited(&mut rest).unwrap());
    }
    let latency = families.iter().find(|f| f.name == "worstcase_latency_seconds").unwrap();
    let histogram = latency.metric[0].histogram.as_ref().unwrap();
    assert_eq!((histogram.schema, histogram.zero_count), (Some(3), Some(1)));
    // Spans and deltas back to buckets.
    let (mut bucket, mut count, mut deltas) = (0, 0, histogram.positive_delta.iter());
    let mut buckets = Vec::new();
    for span in &histogram.positive_span {
        bucket += span.offset.unwrap();
        for _ in 0..span.length.unwrap() {
            count += deltas.next().unwrap();
            buckets.push((bucket, count));
            bucket += 1;
        }
    }
    let bound = |n: i32| 2_f64.powf(f64::from(n) / 8.0);
    for (n, count) in &buckets {
        let within = |ns: &&u64| (**ns as f64 / 1e9) > bound(n - 1) && (**ns as f64 / 1e9) <= bound(*n);
        assert_eq!(latencies.iter().filter(within).count() as i64, *count);
    }
    let all: i64 = buckets.iter().map(|(_, count)| count).sum();
    assert_eq!(
        all as u64 + histogram.zero_count.unwrap(),
        histogram.sample_count.unwrap()
    );
    assert_eq!(histogram.bucket.last().unwrap().cumulative_count, Some(6));
}

#[test]
fn a_scraper_gets_what_it_wants_most() {
    let native = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,\
                  application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
    let usual = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
    let wanted = [
        native,
        usual,
        "*/*",
        "",
        "text/plain",
        "application/vnd.google.protobuf",
    ]
    .map(MetricsForm::wanted);
    let plain = MetricsForm::Plain;
    assert_eq!(
        wanted,
        [
            MetricsForm::Protobuf,
            MetricsForm::OpenMetrics,
            plain,
            plain,
            plain,
            plain
        ]
    );
}
