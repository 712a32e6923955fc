//! What the ledger costs over the bare minimum. For a release build on a quiet machine:
//! `cargo test --release -p chronicle-runtime --test it ledger_speed -- --ignored --nocapture --test-threads 1`

use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

use chronicle_core::record::Line;
use chronicle_runtime::ledger::{Folder, Head, Ledger, Sum, encode};

use crate::ledger_lines::{line, open_all};

fn one_event(seq: u64) -> Line {
    let mut line = line(seq);
    line.events.remove(0);
    line
}

/// The best of three.
fn best(mut measure: impl FnMut()) -> Duration {
    let times = (0..3).map(|_| {
        let start = Instant::now();
        measure();
        start.elapsed()
    });
    times.min().unwrap_or(Duration::MAX)
}

#[test]
#[ignore = "a measurement"]
fn a_million_events_open_in_at_most_twice_the_time_of_parsing_them() {
    let (mut bytes, mut sum) = (Vec::new(), Sum::ZERO);
    for seq in 1..=1_000_000 {
        let (more, next) = encode(&one_event(seq), &sum).unwrap();
        bytes.extend_from_slice(&more);
        sum = next;
    }
    let folder = tempfile::tempdir().unwrap();
    let ledger = Folder::create(folder.path()).unwrap();
    std::fs::write(ledger.ledger_path(), &bytes).unwrap();
    let bare = best(|| {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let count = lines.map(|line| serde_json::from_slice::<Line>(line).unwrap().events.len());
        assert_eq!(count.sum::<usize>(), 1_000_000);
    });
    let opened = best(|| {
        let lines = ledger.read_from(Head::EMPTY).unwrap();
        let count = lines.map(|next| next.unwrap().0.events.len());
        assert_eq!(count.sum::<usize>(), 1_000_000);
    });
    println!("{} bytes a line, bare {bare:?}, opened {opened:?}", bytes.len() / 1_000_000);
    assert!(opened <= bare * 2);
}

#[test]
#[ignore = "a measurement"]
fn a_durable_append_costs_at_most_twice_its_write_and_sync() {
    const COUNT: u32 = 5_000;
    let folder = tempfile::tempdir().unwrap();
    let (bytes, _) = encode(&one_event(1), &Sum::ZERO).unwrap();
    let mut file = File::create(folder.path().join("bare")).unwrap();
    let bare = best(|| {
        for _ in 0..COUNT {
            file.write_all(&bytes).unwrap();
            file.sync_data().unwrap();
        }
    });
    let (mut writer, _) = open_all(&Folder::create(folder.path().join("run")).unwrap()).unwrap();
    let mut append = |group: u32| {
        for count in 1..=COUNT {
            let seq = writer.head().seq + 1;
            writer.append(seq, &one_event(seq)).unwrap();
            if count.is_multiple_of(group) {
                writer.sync().unwrap();
            }
        }
    };
    let each = best(|| append(1));
    let grouped = best(|| append(50));
    let rate = |time: Duration| (f64::from(COUNT) / time.as_secs_f64()).round();
    println!("bare {}/s, each {}/s, by 50 {}/s", rate(bare), rate(each), rate(grouped));
    assert!(each <= bare * 2);
}
