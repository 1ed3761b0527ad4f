//! Bytes that readers take, made here.

use worstcase_contract::census::log::Row;
use worstcase_contract::record::{Sample, SelfCost, Work};
use worstcase_contract::symbols::SymbolTable;
use worstcase_contract::trace::{self, Event, EventKind};
use worstcase_contract::window::Block;
use worstcase_contract::window::log::Writer;
use worstcase_contract::{Instructions, Nanos, RawRecord, census};

/// Only real files will do.
pub(crate) fn none() -> Vec<Vec<u8>> {
    Vec::new()
}

/// The smallest file of a tool among those that its reader is tested with.
pub(crate) fn foreign(tool: &str) -> Vec<Vec<u8>> {
    let name = tool.trim_end_matches('+');
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../foreign/tests/data");
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let of_tool = files.filter(|file| file.file_name().to_string_lossy().starts_with(name));
    let read = of_tool.filter_map(|file| std::fs::read(file.path()).ok());
    read.min_by_key(Vec::len).into_iter().collect()
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(crate) fn packages() -> Vec<Vec<u8>> {
    texts(&[
        "Package: linux-image-6.1.0-9-amd64\nSource: linux-signed-amd64\nVersion: 6.1.27-1\nArchitecture: amd64\n\
         Depends: kmod, linux-base (>= 4.3~), initramfs-tools (>= 0.120+deb11u2) | linux-initramfs-tool\nSize: 68000000\n\n",
        "deb [signed-by=/usr/share/keyrings/a.gpg] http://a.example/debian bookworm main\n",
        "Types: deb\nURIs: http://a.example/debian\nSuites: trixie trixie-updates\nComponents: main\nSigned-By: /a.gpg\n",
    ])
}

pub(crate) fn config() -> Vec<Vec<u8>> {
    texts(&["CONFIG_PREEMPT_DYNAMIC=y\n# CONFIG_PREEMPT_RT is not set\nCONFIG_HZ=250\nCONFIG_MQ_IOSCHED_DEADLINE=m\n"])
}

pub(crate) fn modules_dep() -> Vec<Vec<u8>> {
    texts(&[
        "kernel/fs/ext4/ext4.ko: kernel/fs/jbd2/jbd2.ko a.ko.xz\nkernel/fs/jbd2/jbd2.ko:\na.ko.xz: null_blk.ko\n\nkernel/lib/crc16.ko\n",
    ])
}

/// What scrapers send, and what harmed a server once.
pub(crate) fn http() -> Vec<Vec<u8>> {
    texts(&[
        "GET /metrics HTTP/1.1\r\nHost: a:9750\r\nAccept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5,*/*;q=0.1\r\n\
         Accept-Encoding: gzip\r\nX-Prometheus-Scrape-Timeout-Seconds: 10\r\n\r\n",
        "GET /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
    ])
}

pub(crate) fn kallsyms() -> Vec<Vec<u8>> {
    texts(&[
        "ffffffff81000000 T _stext\nffffffff81000ff0 t __pfx_do_it\nffffffff82000000 D current_task\n\
         ffffffffc0200000 t null_init\t[null_blk]\n",
    ])
}

pub(crate) fn symbols() -> Vec<Vec<u8>> {
    let table = |text: Vec<u8>| SymbolTable::from_kallsyms(&String::from_utf8_lossy(&text)).encode();
    kallsyms().into_iter().map(table).collect()
}

pub(crate) fn record_frame() -> Vec<Vec<u8>> {
    let record = RawRecord {
        spec: "worstcase-cell/1".into(),
        start: Nanos(5_000_000_000),
        expected: 3,
        samples: vec![
            Sample {
                index: 0,
                latency: Nanos(5_000),
            },
            Sample {
                index: 2,
                latency: Nanos(1_700_000),
            },
        ],
        self_cost: SelfCost::default(),
        work: vec![Work {
            unit: "forks".into(),
            count: 12,
        }],
        warnings: vec!["no rights".into()],
        environment: [("release".to_string(), "6.1".to_string())].into(),
        details: None,
        counters: [("queued".to_string(), 7)].into(),
        trace: None,
    };
    vec![record.encode()]
}

pub(crate) fn events() -> Vec<Vec<u8>> {
    let event = |kind, arg| Event {
        kind,
        arg,
        count: Instructions(arg * 10),
    };
    let mut log = trace::header().to_vec();
    for event in [event(EventKind::MarkSample, 7), event(EventKind::Close, 1)] {
        log.extend(event.encode());
    }
    vec![log]
}

pub(crate) fn windows() -> Vec<Vec<u8>> {
    let mut log = Vec::new();
    let mut writer = Writer::new(&mut log);
    let block = writer.block(&Block {
        address: 0xffff_ffff_8100_0000,
        lengths: vec![1, 2],
        code: vec![0x90; 3],
    });
    writer.task(1, "init");
    writer.context(Some(3), true);
    for count in [100, 102, 103] {
        writer.step(block, Instructions(count));
    }
    writer.end(Instructions(105));
    writer.close().expect("memory takes it");
    vec![log]
}

pub(crate) fn census() -> Vec<Vec<u8>> {
    let mut log = census::log::header().to_vec();
    let close = Row::Close {
        from: Instructions(1),
        to: Instructions(9),
        audited: 0,
        rows: 0,
    };
    log.extend(close.encode());
    vec![log]
}

pub(crate) fn studies() -> Vec<Vec<u8>> {
    let all = worstcase_plan::study::built_in();
    let text = |study: worstcase_plan::Study| worstcase_plan::study::text(&study.name).ok();
    all.filter_map(text).map(String::into_bytes).collect()
}

pub(crate) fn words() -> Vec<Vec<u8>> {
    texts(&[
        "idle,shm,fork+compile,cpu:10,net:1k/s,find+compile+compile\nwakeup,response:fork,io:4k+readers=2,inversion:pi",
        "0-3,5\nssd:read_us=90\no-n\nmq-deadline+bfq:low_latency=0\nisolcpus=1 nohz_full=1\n1h30m\n2.5 us\nnull_blk:50us",
    ])
}

pub(crate) fn ring() -> Vec<Vec<u8>> {
    let words = [
        9u64,
        7,
        42 << 32 | 41,
        1_000,
        3,
        2,
        0xffff_8000,
        0xffff_9000,
        5 | 0x0403_0201 << 32,
        5,
    ];
    vec![words.iter().flat_map(|word| word.to_le_bytes()).collect()]
}

pub(crate) fn timerlat() -> Vec<Vec<u8>> {
    texts(&[
        "          <idle>-0       [001] d.h1.   54.029328: #1     context    irq timer_latency       932 ns\n\
         timerlat/1-1234 [001] .....   54.029339: #1     context thread timer_latency     11700 ns\n\
         CPU:1 [LOST 12 EVENTS]\n",
    ])
}

/// A page with a longer time and a record of tracepoint 300.
pub(crate) fn trace_pages() -> Vec<Vec<u8>> {
    let words: [u32; 10] = [1_000, 0, 24, 0, 30 | 5 << 5, 1, 3 | 9 << 5, 300, 5, 7];
    vec![words.iter().flat_map(|word| word.to_le_bytes()).collect()]
}
