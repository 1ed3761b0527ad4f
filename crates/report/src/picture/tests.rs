//! From synthetic runs to pictures and files.

use super::svg::{Theme, draw};
use super::testing::{cell, of_bench, plan, subject};
use super::*;
use worstcase_contract::bench::{
    Details, DiskAction, DiskDetails, DiskRequest, HackbenchDetails, HackbenchRun, IoDetails, SwitchDetails,
    SwitchRepetition,
};
use worstcase_results::record::build::samples_file;
use worstcase_results::record::parquet::{FileLabels, SamplesReader, encode};
use worstcase_results::record::{CellId, CellResult, Subject};

/// The same cell with a samples file that fits its changed record.
fn of_its_record(cell: CellResult) -> CellResult {
    let mut record = cell.record;
    let mut reader = SamplesReader::new(bytes::Bytes::from(cell.samples)).unwrap();
    let mut rows = Vec::new();
    while let Some(group) = reader.next_group().unwrap() {
        rows.extend(group);
    }
    let samples = encode(&rows, &FileLabels::new(&record.id, &record.subject), &record.accounting).unwrap();
    record.samples = samples_file(&samples, rows.len() as u64);
    CellResult {
        record,
        samples,
        found: None,
    }
}

/// A run of these cells, in a folder that lives as long as the first value.
fn run_of(cells: &[CellResult]) -> (tempfile::TempDir, Run) {
    let dir = tempfile::tempdir().unwrap();
    let run = Run::create(&dir.path().join("run"), plan(cells.iter().map(|c| &c.record))).unwrap();
    cells.iter().for_each(|c| run.write_cell(c).unwrap());
    (dir, run)
}

fn pictures(cells: &[CellResult], options: PictureOptions) -> Vec<Picture> {
    let (_dir, run) = run_of(cells);
    of_run(&run, &run.records().unwrap(), options).unwrap()
}

fn find<'a>(pictures: &'a [Picture], id: &str) -> &'a Picture {
    let ids: Vec<&str> = pictures.iter().map(|p| p.head().id.as_str()).collect();
    pictures
        .iter()
        .find(|p| p.head().id == id)
        .unwrap_or_else(|| panic!("{ids:?}"))
}

fn samples(count: u32, worst: u64) -> Vec<(u32, u64)> {
    let value = |i: u32| {
        if i == count / 3 {
            worst
        } else {
            2_000 + u64::from(i * 7_919 % 600)
        }
    };
    (0..count).map(|i| (i, value(i))).collect()
}

fn several() -> Vec<CellResult> {
    let kernels = [
        ("5.10.0-46-amd64", "none"),
        ("6.1.0-56-amd64", "none"),
        ("6.12.9-amd64", "none"),
    ];
    let mut cells = Vec::new();
    for (i, (kernel, model)) in kernels.into_iter().enumerate() {
        for load in ["idle", "shm"] {
            for seed in 1..=2 {
                let worst = 10_000 * (i as u64 + 1) + 1_000 * seed;
                cells.push(cell(subject(kernel, model), load, seed, 500, &samples(500, worst)));
            }
        }
    }
    cells
}

/// Checks what holds for the form of every picture.
fn check(picture: &Picture) {
    let head = picture.head();
    for axis in [&head.x, &head.y] {
        assert!(
            axis.from.is_finite() && axis.to.is_finite() && axis.from < axis.to,
            "{head:?}"
        );
        assert!(!axis.log || axis.from > 0.0, "{head:?}");
    }
    let within = |axis: &PictureAxis, v: f64| assert!((axis.from..=axis.to).contains(&v), "{v} {axis:?} {}", head.id);
    match picture {
        Picture::Dots(p) => p.panels.iter().for_each(|panel| {
            assert!(panel.points.len() as u64 <= panel.samples);
            let edges = panel.missed_at.iter().flatten();
            edges
                .chain(panel.points.iter().map(|[x, _]| x))
                .for_each(|x| within(&head.x, *x));
            panel.points.iter().for_each(|[_, y]| within(&head.y, *y));
        }),
        Picture::Histogram(p) => p.panels.iter().flat_map(|p| &p.series).for_each(|s| {
            assert_eq!(s.counts.len() + 1, p.edges.len());
            assert_eq!(s.counts.iter().sum::<u64>(), s.samples);
            within(&head.x, s.max);
            s.counts
                .iter()
                .filter(|c| **c > 0)
                .for_each(|c| within(&head.y, *c as f64));
        }),
        Picture::Percentiles(p) => p.panels.iter().flat_map(|p| &p.series).for_each(|s| {
            assert!(s.points.is_sorted_by(|a, b| a[0] < b[0] && a[1] <= b[1]), "{s:?}");
            for [x, y] in s.points.iter().chain([&s.max]) {
                within(&head.x, *x);
                within(&head.y, *y);
            }
        }),
        Picture::Heat(p) => {
            assert_eq!(p.rows.len(), head.y.names.len());
            assert!(p.rows.iter().all(|r| r.cells.len() == head.x.names.len()));
        }
        Picture::Lines(p) => p
            .panels
            .iter()
            .flat_map(|p| &p.series)
            .flat_map(|s| &s.points)
            .for_each(|point| {
                within(&head.x, point.x);
                within(&head.y, point.y);
                point.interval.iter().flatten().for_each(|y| within(&head.y, *y));
            }),
        Picture::Bars(p) => p.panels.iter().for_each(|panel| {
            for row in &panel.rows {
                assert_eq!(row.bars.len(), panel.scales.len());
                for (bar, scale) in row.bars.iter().zip(&panel.scales) {
                    let values = bar.iter().flat_map(|b| b.seeds.iter().chain([&b.value]));
                    assert!(values.into_iter().all(|v| (0.0..=scale.to).contains(v)), "{row:?}");
                }
            }
        }),
        Picture::Requests(p) => p.panels.iter().for_each(|panel| {
            for [arrived, there, ended, low, high] in panel.series.iter().flat_map(|s| &s.requests) {
                [arrived, there, ended].into_iter().for_each(|x| within(&head.x, *x));
                [low, high].into_iter().for_each(|y| within(&head.y, *y));
                assert!(arrived <= there && there <= ended && low <= high);
            }
            for [x0, y0, x1, y1] in &panel.moves {
                [x0, x1].into_iter().for_each(|x| within(&head.x, *x));
                [y0, y1].into_iter().for_each(|y| within(&head.y, *y));
            }
            panel.longest.iter().flatten().for_each(|x| within(&head.x, *x));
        }),
    }
}

/// Reads the file as XML, as strictly as a browser does, and returns its texts.
fn texts(file: &str) -> Vec<String> {
    let mut depth = 0;
    let mut texts = Vec::new();
    let mut rest = file;
    while let Some(at) = rest.find('<') {
        texts.push(
            rest[..at]
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&amp;", "&"),
        );
        let end = rest.find('>').expect("every tag ends");
        let tag = &rest[at + 1..end];
        assert!(!tag.contains('<'), "{tag}");
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => depth -= 1,
            (_, true) => {}
            _ => depth += 1,
        }
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        assert!(
            ["svg", "title", "desc", "rect", "path", "text"].contains(&name),
            "{tag}"
        );
        rest = &rest[end + 1..];
    }
    assert!(depth == 0 && rest.trim().is_empty());
    texts
}

#[test]
fn a_run_has_its_pictures_and_all_of_them_can_be_drawn() {
    let all = pictures(&several(), PictureOptions::default());
    for id in [
        "heat-wakeup-latency",
        "history-wakeup-latency",
        "histogram-wakeup-latency",
        "against-wakeup-latency",
        "percentiles-wakeup-latency",
        "dots-wakeup-latency-idle",
        "dots-wakeup-latency-shm",
    ] {
        find(&all, id);
    }
    for picture in &all {
        check(picture);
        for theme in [Theme::Light, Theme::Dark] {
            assert!(!texts(&draw(picture, theme)).is_empty());
        }
    }
    let Picture::Lines(history) = find(&all, "history-wakeup-latency") else {
        panic!()
    };
    assert_eq!(history.head.x.names, ["5.10", "6.1", "6.12"]);
    let worst = &history.panels[0];
    let points: Vec<(f64, f64)> = worst.series[0].points.iter().map(|p| (p.x, p.y)).collect();
    assert_eq!(
        (worst.of.label.as_str(), worst.series[0].of.label.as_str()),
        ("worst of all loads", "none")
    );
    // Medians of two: the lower one.
    assert_eq!(points, [(0.0, 11.0), (1.0, 21.0), (2.0, 31.0)]);
    assert_eq!(worst.series[0].points[2].interval, Some([31.0, 32.0]));
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let bytes = || -> Vec<String> {
        let options = PictureOptions {
            dots: 1_000,
            ..PictureOptions::default()
        };
        let all = pictures(&several(), options);
        let json = all.iter().map(|p| serde_json::to_string(p).unwrap());
        let files: Vec<String> = all.iter().map(|p| draw(p, Theme::Light)).collect();
        json.chain(files).collect()
    };
    assert_eq!(bytes(), bytes());
}

#[test]
fn what_is_left_out_is_said_and_the_worst_is_never_left_out() {
    let cells = [cell(
        subject("6.1.0-1-amd64", "none"),
        "idle",
        1,
        30_000,
        &samples(30_000, 777_123),
    )];
    let options = PictureOptions {
        dots: 1_000,
        ..PictureOptions::default()
    };
    let all = pictures(&cells, options);
    let Picture::Dots(dots) = find(&all, "dots-wakeup-latency-idle") else {
        panic!()
    };
    let panel = &dots.panels[0];
    assert!(panel.samples == 30_000 && panel.points.len() <= 1_000);
    assert!(panel.points.contains(&[10.0, 777.123]), "the worst, in its place");
    let left_out = format!(
        "{} are left out",
        worstcase_base::format::grouped(30_000 - panel.points.len() as u64)
    );
    assert!(
        dots.head.about.contains("of 30 000 samples are drawn"),
        "{}",
        dots.head.about
    );
    assert!(dots.head.about.contains(&left_out), "{}", dots.head.about);
}

#[test]
fn missed_periods_are_marked_where_they_are() {
    let with_gap: Vec<(u32, u64)> = (0..1_000)
        .filter(|i| !(400..500).contains(i))
        .map(|i| (i, 3_000))
        .collect();
    let cells = [
        cell(subject("6.1.0-1-amd64", "none"), "idle", 1, 1_000, &with_gap),
        cell(subject("6.1.0-1-amd64", "full"), "idle", 1, 1_000, &[]),
    ];
    let all = pictures(&cells, PictureOptions::default());
    all.iter().for_each(check);
    let Picture::Dots(dots) = find(&all, "dots-wakeup-latency-idle") else {
        panic!()
    };
    assert_eq!(
        (dots.panels[0].missed, &dots.panels[0].missed_at),
        (100, &vec![[0.4, 0.5]])
    );
    assert_eq!(
        (dots.panels[1].samples, &dots.panels[1].missed_at),
        (0, &vec![[0.0, 1.0]])
    );
    let Picture::Heat(heat) = find(&all, "heat-wakeup-latency") else {
        panic!()
    };
    assert_eq!(heat.rows[1].cells[0].as_ref().unwrap().text, "missed");
    all.iter().for_each(|p| drop(texts(&draw(p, Theme::Dark))));
}

/// The maximum of a host is that of all its CPUs and seeds, and each CPU has a row.
#[test]
fn cpus_of_a_host_are_no_seeds() {
    let of_cpu = |(cpu, seed, worst): (u32, u64, u64)| {
        let subject = subject("6.1.0-1-amd64", "none");
        let mut cell = cell(subject.clone(), "idle", seed, 500, &samples(500, worst));
        cell.record.cell.cpu = Some(cpu);
        cell.record.id = CellId::new(&subject.id(), "idle", "wakeup", seed, Some(cpu));
        of_its_record(cell)
    };
    let cells = [(0, 1, 10_000), (0, 2, 22_403_000), (1, 1, 30_000), (1, 2, 20_000)];
    let all = pictures(&cells.map(of_cpu), PictureOptions::default());
    let Picture::Heat(heat) = find(&all, "heat-wakeup-latency") else {
        panic!()
    };
    let rows: Vec<(&str, &str)> = heat
        .rows
        .iter()
        .map(|row| (row.of.label.as_str(), row.cells[0].as_ref().unwrap().text.as_str()))
        .collect();
    assert_eq!(
        rows,
        [
            ("6.1 none, all CPUs", "22403"),
            ("6.1 none, CPU 0", "22403"),
            ("6.1 none, CPU 1", "30.0")
        ]
    );
    let field = heat.rows[0].cells[0].as_ref().unwrap();
    assert_eq!((field.value, field.interval, field.seeds), (Some(22_403.0), None, 2));
    assert_eq!(heat.head.about, "Each field: the largest of all seeds.");
}

#[test]
fn the_largest_is_the_largest_of_all_seeds() {
    let of_seed = |(seed, worst)| {
        cell(
            subject("6.1.0-1-amd64", "none"),
            "idle",
            seed,
            500,
            &samples(500, worst),
        )
    };
    let all = pictures(
        &[(1, 229_000), (2, 240_000), (3, 200_000)].map(of_seed),
        PictureOptions::default(),
    );
    let Picture::Heat(heat) = find(&all, "heat-wakeup-latency") else {
        panic!()
    };
    assert_eq!(heat.head.title, "largest latency (timer due to user code)");
    let field = heat.rows[0].cells[0].as_ref().unwrap();
    assert_eq!((field.text.as_str(), field.value), ("240", Some(240.0)));
    assert_eq!((field.median, field.seeds), (Some(229.0), 3));
}

#[test]
fn extremes_can_be_drawn() {
    let one = |samples: &[(u32, u64)]| vec![cell(subject("6.1.0-1-amd64", "none"), "idle", 1, 10, samples)];
    for cells in [
        one(&[(3, 1_234)]),
        one(&[(0, 0), (1, 0)]),
        one(&[(0, 5_000), (1, 5_000), (2, 5_000)]),
        one(&[(0, 1), (1, 9_000_000_000_000_000)]),
        one(&[]),
    ] {
        for picture in pictures(&cells, PictureOptions::default()) {
            check(&picture);
            let file = draw(&picture, Theme::Light);
            texts(&file);
            assert!(!file.contains("NaN") && !file.contains("inf"), "{}", picture.head().id);
        }
    }
}

#[test]
fn hostile_names_stay_text() {
    let load = "cmd:</text><script>alert(1)</script>\u{202e}&amp;\"'";
    let cells = [cell(
        subject("<b onload=x>&\u{1}", "]]>\"no'ne"),
        load,
        1,
        100,
        &samples(100, 9_000),
    )];
    let all = pictures(&cells, PictureOptions::default());
    let mut said = 0;
    for picture in &all {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
        assert!(picture.head().id.chars().all(plain), "{}", picture.head().id);
        let file = draw(picture, Theme::Light);
        assert!(!file.contains("<script") && !file.contains("<b ") && !file.contains(['\u{202e}', '\u{1}']));
        let texts = texts(&file).concat();
        said += usize::from(texts.contains("<b onload=x>&"));
    }
    assert!(said >= 3, "the name is shown as it is, {said} times");
}

#[test]
fn twenty_subjects_and_more_loads_than_colours() {
    let mut cells = Vec::new();
    for i in 0..20 {
        let version = format!("6.{i}.0-1-amd64");
        for load in 0..10 {
            cells.push(cell(
                subject(&version, "full"),
                &format!("apps:{load}"),
                1,
                50,
                &samples(50, 8_000 + i * load),
            ));
        }
    }
    let all = pictures(&cells, PictureOptions::default());
    all.iter().for_each(check);
    assert!(all.iter().all(|p| p.head().id != "against-wakeup-latency"));
    let Picture::Histogram(histogram) = find(&all, "histogram-wakeup-latency") else {
        panic!()
    };
    assert!(histogram.panels.iter().all(|p| p.series.len() <= MOST_SERIES) && histogram.panels.len() == 40);
    all.iter().for_each(|p| drop(texts(&draw(p, Theme::Light))));
}

fn switch(of: Subject, probe: &str, costs: &[u64]) -> Record {
    let repetition = |cost: &u64| SwitchRepetition {
        total: Nanos(100 * (1_000 + cost)),
        hot: Nanos(100_000),
        cold: Nanos(50_000),
        voluntary: 100,
        involuntary: 0,
        migrations: None,
    };
    let details = Details::Switch(SwitchDetails {
        hops: 100,
        repetitions: costs.iter().map(repetition).collect(),
        again: Vec::new(),
    });
    of_bench(cell(of, "idle", 1, 3, &[(0, 1), (1, 1), (2, 1)]).record, probe, details)
}

#[test]
fn what_switches_cost_over_processes_sizes_and_memory() {
    let with_memory = |mb: u32| {
        let mut subject = subject("6.1.0-1-amd64", "none");
        if let worstcase_results::record::SubjectMachine::Lab(lab) = &mut subject.machine {
            lab.machine.memory_mb = mb;
        }
        subject
    };
    let mut records = Vec::new();
    for mb in [256, 512] {
        for (probe, cost) in [("switch:2x0", 1_500), ("switch:16x0", 2_500), ("switch:2x16k", 4_000)] {
            records.push(switch(with_memory(mb), probe, &[cost, cost + u64::from(mb), cost]));
        }
    }
    let plan = plan(records.iter());
    let data = PictureData::new(&plan, &records, None);
    assert!(data.questions().is_empty(), "they are no latencies");
    let bench = bench::pictures(&data);
    bench.iter().for_each(check);
    let ids: Vec<&str> = bench.iter().map(|p| p.head().id.as_str()).collect();
    assert_eq!(ids, ["switch-hot", "switch-cold"]);
    let Picture::Lines(hot) = &bench[0] else { panic!() };
    let panels: Vec<&str> = hot.panels.iter().map(|p| p.of.label.as_str()).collect();
    assert_eq!(panels, ["6.1 none 256 MB", "6.1 none 512 MB"]);
    let lines: Vec<(&str, usize)> = hot.panels[0]
        .series
        .iter()
        .map(|l| (l.of.label.as_str(), l.points.len()))
        .collect();
    assert_eq!(lines, [("0 B", 2), ("16 KB", 1)]);
    let point = &hot.panels[0].series[0].points[0];
    assert!(point.x == 2.0 && (point.y - 1.5853).abs() < 0.001, "{point:?}");
    let Picture::Lines(cold) = &bench[1] else { panic!() };
    assert!(
        (cold.panels[0].series[0].points[0].y - 2.0853).abs() < 0.001,
        "less is subtracted"
    );
    let machine = machine::pictures(&data);
    assert_eq!(
        machine.iter().map(|p| p.head().id.as_str()).collect::<Vec<_>>(),
        ["switch-memory", "switch-memory-spread"]
    );
    let Picture::Lines(spread) = &machine[1] else { panic!() };
    let line = &spread.panels[0].series[0].points;
    let points: Vec<(f64, f64)> = line.iter().map(|p| (p.x, (p.y * 1_000.0).round())).collect();
    assert_eq!(points, [(256.0, 256.0), (512.0, 512.0)], "nothing is dropped");
    let at = |mhz: u32, worst: u64| {
        let costs = [1_500, 1_500 + worst, 1_500];
        switch(
            subject("6.1.0-1-amd64", "none"),
            &format!("switch:2x0+mhz{mhz}"),
            &costs,
        )
    };
    let speeds = [at(1_000, 70), at(600, 850)];
    let plan = self::plan(speeds.iter());
    let of_speed = machine::pictures(&PictureData::new(&plan, &speeds, None));
    let Picture::Lines(spread) = &of_speed[1] else { panic!() };
    assert_eq!(spread.head.id, "switch-speed-spread");
    let [line] = spread.panels[0].series.as_slice() else {
        panic!()
    };
    assert_eq!(line.of.label, "2 processes");
    let points: Vec<(f64, f64)> = line.points.iter().map(|p| (p.x, (p.y * 1_000.0).round())).collect();
    assert_eq!(points, [(600.0, 850.0), (1_000.0, 70.0)]);
    machine.iter().chain(&bench).chain(&of_speed).for_each(|p| {
        check(p);
        texts(&draw(p, Theme::Light));
    });
}

#[test]
fn message_passing_over_processes_a_line_a_subject_and_transport() {
    let one = |model: &str, probe: &str, processes: u32, ms: u64| {
        let run = |ms: u64| HackbenchRun {
            total: Nanos::from_millis(ms),
            cpu: Nanos::from_millis(ms),
            voluntary: 1,
            involuntary: 1,
            moves: None,
        };
        let details = Details::Hackbench(HackbenchDetails {
            processes,
            messages: 1,
            runs: vec![run(ms), run(ms + 1), run(ms + 2), run(ms + 1)],
            message_latency: None,
        });
        of_bench(
            cell(subject("6.1.0-1-amd64", model), "idle", 1, 1, &[(0, 1)]).record,
            probe,
            details,
        )
    };
    let mut records = Vec::new();
    for model in ["none", "full"] {
        records.push(one(model, "hackbench:1", 50, 30));
        records.push(one(model, "hackbench:2", 100, 60));
        records.push(one(model, "hackbench:1+pipes", 50, 20));
    }
    let plan = plan(records.iter());
    let all = bench::pictures(&PictureData::new(&plan, &records, None));
    let Picture::Lines(lines) = find(&all, "hackbench") else {
        panic!()
    };
    check(&all[0]);
    let labels: Vec<&str> = lines.panels[0].series.iter().map(|l| l.of.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "6.1 none, sockets",
            "6.1 none, pipes",
            "6.1 full, sockets",
            "6.1 full, pipes"
        ]
    );
    let points: Vec<(f64, f64)> = lines.panels[0].series[0].points.iter().map(|p| (p.x, p.y)).collect();
    assert_eq!(points, [(50.0, 31.0), (100.0, 61.0)]);
    assert!(lines.head.y.unit.starts_with("virtual ms"));
}

/// A measurement with a disk: an operation a ms; the longest one waits for a write far away.
fn io(of: Subject, probe: &str, seed: u64, longest: u64, requests: Vec<DiskRequest>) -> Record {
    let details = Details::Io(Box::new(IoDetails {
        bytes: 4_000_000,
        elapsed: Nanos::from_millis(20),
        sync: None,
        file_system: "ext4".into(),
        device: None,
        begun: Nanos(0),
        longest_from: Nanos::from_millis(10),
        longest_at: Vec::new(),
        beside: None,
        disk: Some(Box::new(DiskDetails {
            profile: "hdd".into(),
            sectors: 2_000_000_000,
            flushes: 0,
            seek: Nanos(0),
            rotation: Nanos(0),
            first: requests.len() as u64,
            requests,
        })),
    }));
    of_bench(
        cell(of, "idle", seed, 3, &[(0, 1_000_000), (1, longest), (2, 1_000_000)]).record,
        probe,
        details,
    )
}

fn request(action: DiskAction, ms: [u64; 3], seek: u64, sector: u64) -> DiskRequest {
    let [arrived, began, ended] = ms.map(Nanos::from_millis);
    DiskRequest {
        action,
        arrived,
        began,
        ended,
        seek: Nanos::from_millis(seek),
        rotation: Nanos(u64::from(seek > 0)),
        sector,
        sectors: 2_000,
    }
}

/// Reads with a write between them, and a flush.
fn back_and_forth() -> Vec<DiskRequest> {
    use DiskAction::*;
    vec![
        request(Read, [1, 1, 4], 1, 1_000_000),
        request(Write, [9, 10, 18], 5, 900_000_000),
        request(Read, [11, 18, 25], 5, 1_002_000),
        request(Flush, [25, 25, 28], 0, 0),
    ]
}

fn with_scheduler(kernel: &str, scheduler: &str) -> Subject {
    let mut subject = subject(kernel, "full");
    if let worstcase_results::record::SubjectMachine::Lab(lab) = &mut subject.machine {
        lab.machine.disk = Some("hdd".parse().unwrap());
        lab.machine.io_scheduler = Some(scheduler.parse().unwrap());
    }
    subject
}

const SCHEDULERS: [&str; 3] = ["none", "mq-deadline", "bfq{low_latency=0,slice_idle=0}"];

#[test]
fn work_with_files_by_scheduler_a_panel_a_test_and_kernel() {
    let mut records = Vec::new();
    for scheduler in SCHEDULERS {
        for kernel in ["6.1.0-1-amd64", "6.12.0-1-amd64"] {
            for probe in ["io:64m+read", "io+create"] {
                for (seed, longest) in [(1, 9_000_000), (2, 12_000_000)] {
                    let subject = with_scheduler(kernel, scheduler);
                    records.push(io(subject, probe, seed, longest, back_and_forth()));
                }
            }
        }
    }
    let plan = plan(records.iter());
    let data = PictureData::new(&plan, &records, None);
    let labels: Vec<&str> = data.subjects.iter().map(|s| s.label.as_str()).collect();
    assert_eq!(labels[0], "6.1 full none");
    assert_eq!(labels[5], "6.12 full bfq{low_latency=0,slice_idle=0}");
    let Some(picture @ Picture::Bars(bars)) = &io::pictures(&data) else {
        panic!()
    };
    check(picture);
    let panels: Vec<&str> = bars.panels.iter().map(|p| p.of.label.as_str()).collect();
    assert_eq!(
        panels,
        [
            "io:64m+read, 6.1 full",
            "io:64m+read, 6.12 full",
            "io+create, 6.1 full",
            "io+create, 6.12 full"
        ]
    );
    let names: Vec<&str> = bars.panels[1].rows.iter().map(|r| r.of.label.as_str()).collect();
    assert_eq!(names, SCHEDULERS);
    assert_eq!(
        bars.panels[1].rows[0].of.subject, "6.12.0-1-amd64.full.hdd.none",
        "the page filters by it"
    );
    let said = |panel: usize| -> Vec<(&str, &str, f64, &str)> {
        let panel = &bars.panels[panel];
        let bars = panel.rows[0].bars.iter().flatten().zip(&panel.scales);
        bars.map(|(bar, scale)| (scale.unit.as_str(), scale.better.as_str(), bar.value, bar.text.as_str()))
            .collect()
    };
    assert_eq!(
        said(0),
        [
            ("MB/s", "more is better", 200.0, "200"),
            ("virtual ms", "less is better", 9.0, "12.0")
        ]
    );
    assert_eq!(said(2)[0], ("operations/s", "more is better", 150.0, "150"));
    let shown = texts(&draw(picture, Theme::Light));
    for text in [
        "throughput (MB/s),",
        "more is better",
        "less is better",
        "slice_idle=0",
        "200",
        "12.0",
    ] {
        assert!(shown.iter().any(|t| t == text), "{text}: {shown:?}");
    }
}

#[test]
fn who_named_no_scheduler_has_the_one_of_the_device() {
    let record = io(
        subject("6.1.0-1-amd64", "full"),
        "io:64m+read",
        1,
        9_000_000,
        back_and_forth(),
    );
    let records = [record];
    let plan = plan(records.iter());
    let Some(picture @ Picture::Bars(bars)) = &io::pictures(&PictureData::new(&plan, &records, None)) else {
        panic!()
    };
    assert_eq!(bars.panels[0].of.label, "io:64m+read");
    assert_eq!(bars.panels[0].rows[0].of.label, "as it was");
    texts(&draw(picture, Theme::Dark));
}

#[test]
fn twelve_tests_with_one_seed() {
    let probes = "putc write+bs8k rewrite getc read+bs8k seeks randread randwrite cached buffered read write";
    let of_probe = |work: &str| {
        let of_scheduler = move |scheduler| {
            io(
                with_scheduler("6.1.0-1-amd64", scheduler),
                &format!("io:64m+{work}"),
                1,
                9_000_000,
                Vec::new(),
            )
        };
        SCHEDULERS.map(of_scheduler)
    };
    let records: Vec<Record> = probes.split(' ').flat_map(of_probe).collect();
    let plan = plan(records.iter());
    let data = PictureData::new(&plan, &records, None);
    let Some(picture @ Picture::Bars(bars)) = &io::pictures(&data) else {
        panic!()
    };
    check(picture);
    assert_eq!(bars.panels.len(), 12);
    let file = draw(picture, Theme::Light);
    assert!(file.contains("viewBox=\"0 0 660 "), "two columns");
    texts(&file);
    assert!(
        requests::pictures(&data, PictureOptions::default()).is_empty(),
        "the disks did nothing"
    );
}

#[test]
fn the_disk_over_time_and_during_the_longest_operation() {
    let records = ["none", "bfq"].map(|scheduler| {
        let longest = if scheduler == "bfq" { 15_000_000 } else { 12_000_000 };
        [1, 2].map(|seed| {
            let subject = with_scheduler("6.1.0-1-amd64", scheduler);
            io(subject, "io:64m+read", seed, longest + seed, back_and_forth())
        })
    });
    let records = records.concat();
    let plan = plan(records.iter());
    let data = PictureData::new(&plan, &records, None);
    let all = requests::pictures(&data, PictureOptions::default());
    let ids: Vec<&str> = all.iter().map(|p| p.head().id.as_str()).collect();
    assert_eq!(ids, ["io-head-64m+read-idle", "io-longest-64m+read-idle"]);
    all.iter().for_each(check);
    let Picture::Requests(first) = &all[0] else { panic!() };
    let panel = &first.panels[1];
    assert_eq!(
        (panel.of.label.as_str(), panel.seed),
        ("6.1 full bfq", 2),
        "that with the longest"
    );
    assert_eq!(panel.said, "longest 15.0 ms, at 10.0 ms");
    assert_eq!(panel.longest, Some([10.0, 25.000_002]));
    let actions: Vec<(&str, usize)> = panel
        .series
        .iter()
        .map(|s| (s.of.label.as_str(), s.requests.len()))
        .collect();
    assert_eq!(actions, [("read", 2), ("write", 1), ("flush", 1)]);
    // Sectors of 512 bytes; the arm is there 5 ms after the disk turned to it.
    assert_eq!(panel.series[1].requests, [[9.0, 15.0, 18.0, 460.8, 460.801_024]]);
    assert_eq!(
        panel.moves,
        [[10.0, 0.513_024, 15.0, 460.8], [18.0, 460.801_024, 23.0, 0.513_024]]
    );
    let Picture::Requests(longest) = &all[1] else { panic!() };
    assert_eq!(longest.head.x.unit, "virtual ms at 1000 MIPS");
    assert_eq!(
        longest.panels[0].series[0].requests.len(),
        1,
        "the first read was long over"
    );
    assert_eq!(
        longest.panels[0].series[1].requests[0][..3],
        [-1.0, 5.0, 8.0],
        "since it began"
    );
    for picture in &all {
        for theme in [Theme::Light, Theme::Dark] {
            let shown = texts(&draw(picture, theme));
            for text in [
                "read",
                "write",
                "flush",
                "it waits",
                "the arm moves",
                "longest operation",
            ] {
                assert!(shown.iter().any(|t| t == text), "{text}");
            }
        }
    }
}

#[test]
fn what_is_far_away_does_not_press_the_others_together() {
    let mut all: Vec<DiskRequest> = (0..200)
        .map(|i| request(DiskAction::Read, [i, i, i + 1], 0, 50_000_000 + i * 7_919 % 100_000))
        .collect();
    all[50].sector = 32;
    let records = [io(
        with_scheduler("6.1.0-1-amd64", "none"),
        "io:64m+read",
        1,
        9_000_000,
        all,
    )];
    let plan = plan(records.iter());
    let data = PictureData::new(&plan, &records, None);
    let few = PictureOptions {
        panel_dots: 100,
        ..PictureOptions::default()
    };
    let all = requests::pictures(&data, PictureOptions::default());
    let Picture::Requests(first) = &all[0] else { panic!() };
    check(&all[0]);
    assert!(first.head.y.from > 25.0, "{:?}", first.head.y);
    assert_eq!(first.panels[0].outside, 1);
    assert!(first.head.about.contains("farther away"), "{}", first.head.about);
    let fewer = requests::pictures(&data, few);
    let Picture::Requests(first) = &fewer[0] else { panic!() };
    assert_eq!(first.panels[0].series[0].requests.len(), 100);
    assert!(
        first.head.about.contains("100 later requests are left out"),
        "{}",
        first.head.about
    );
}

/// A file is written near the beginning; its journal, a quarter of all requests, is far away.
#[test]
fn a_journal_far_away_does_not_press_a_file_together() {
    let place = |i: u64| {
        if i.is_multiple_of(4) {
            43_000_000 + i
        } else {
            270_000 + i * 8
        }
    };
    let all = (0..200)
        .map(|i| request(DiskAction::Write, [i, i, i + 1], 0, place(i)))
        .collect();
    let records = [io(
        with_scheduler("6.1.0-1-amd64", "none"),
        "io:64m+write",
        1,
        9_000_000,
        all,
    )];
    let plan = plan(records.iter());
    let data = PictureData::new(&plan, &records, None);
    let all = requests::pictures(&data, PictureOptions::default());
    let Picture::Requests(first) = &all[0] else { panic!() };
    assert!(first.head.y.to < 1.0, "{:?}", first.head.y);
    assert_eq!(first.panels[0].outside, 50);
}

/// One cell alone is late where it is above the limit, whatever else there is.
#[test]
fn a_single_value_has_its_place_by_the_limit() {
    let records = [cell(subject("6.1.0-1-amd64", "none"), "idle", 1, 1, &[(0, 6_500_000)]).record];
    let plan = plan(records.iter());
    let data = PictureData::new(&plan, &records, Some(Nanos(100_000)));
    let all = heat::pictures(&data);
    let Picture::Heat(heat) = &all[0] else { panic!() };
    assert_eq!((heat.from, heat.to), (100.0, 6_500.0));
}
