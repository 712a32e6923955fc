//! The asker's side of the link, against a supervisor that says whatever the test likes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread::JoinHandle;

use chronicle_core::event::Event;
use chronicle_runtime::for_tests::ledger::{Folder, Holder, Ledger, LedgerClaim};
use chronicle_runtime::for_tests::link::{Client, LINE_MAX, LinkError};
use chronicle_runtime::handle::{Bit, News};
use serde_json::{Value, json};

/// Greets as the supervisor of that run, and tells a watcher this.
fn supervisor(folder: &Path, greeting: &Value, told: Vec<Value>) -> JoinHandle<String> {
    let socket = folder.join("socket");
    std::fs::write(folder.join("link"), socket.as_os_str().as_encoded_bytes()).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let greeting = greeting.to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        writeln!(stream, "{greeting}").unwrap();
        let mut said = String::new();
        let mut lines = BufReader::new(stream.try_clone().unwrap());
        if lines.read_line(&mut said).is_ok_and(|bytes| bytes > 0) {
            lines.read_line(&mut said).unwrap();
            for reply in told {
                // Whoever has heard enough hangs up.
                let _ = writeln!(stream, "{reply}");
            }
        }
        said
    })
}

/// Holds the run's lock, as who answers for it must.
fn held(folder: &Path) -> Box<dyn LedgerClaim> {
    let now = chronicle_runtime::handle::now();
    Folder::new(folder).claim(Holder::current("a test", now)).unwrap()
}

fn greeting(folder: &Path, run: &str) -> Value {
    json!({"link": 2, "chronicle": "0", "run": run, "folder": folder.canonicalize().unwrap()})
}

/// What somebody hears who watches a supervisor that tells this, and what they said.
fn watched(told: Vec<Value>) -> (Vec<Result<News, LinkError>>, String) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("0199-a");
    std::fs::create_dir(&folder).unwrap();
    let _lock = held(&folder);
    let supervisor = supervisor(&folder, &greeting(&folder, "0199-a"), told);
    let client = Client::connect(&folder, "ann").unwrap().unwrap();
    let heard = client.watch(7, true).unwrap().collect();
    (heard, supervisor.join().unwrap())
}

fn update(seq: u64, text: &str) -> Value {
    let by = json!({"actor": {"is": "supervisor"}});
    let entry = json!({
        "seq": seq, "at": "2026-11-15T02:30:50.000Z", "by": by, "text": text, "detail": false,
        "event": {"kind": "run_resumed"},
    });
    json!({"update": {"v": 1, "seq": seq, "entries": [entry], "view": null}})
}

#[test]
fn an_update_longer_than_any_request_is_read() {
    let long = "x".repeat(usize::try_from(LINE_MAX).unwrap() * 3);
    let bits = json!([{"is": "said", "data": "hello"}]);
    let activity = json!({"activity": {"attempt": "a1", "at": 5, "dropped": 2, "bits": bits}});
    let (heard, said) = watched(vec![update(8, &long), activity, update(9, "short")]);
    let [Ok(News::Update(first)), Ok(News::Activity(live)), Ok(News::Update(last))] = &heard[..]
    else {
        panic!("heard {heard:?}");
    };
    assert!(first.seq == 8 && first.entries[0].text == long, "the long one came whole");
    assert_eq!((live.at, live.dropped, &live.bits[..]), (5, 2, &[Bit::Said("hello".into())][..]));
    assert_eq!((last.entries[0].text.as_str(), &last.view), ("short", &None));
    let asked = r#"{"id":0,"ask":{"watch":{"since":7,"activity":true}}}"#;
    assert!(said.contains("\"who\":\"ann\"") && said.contains(asked), "{said}");
}

#[test]
fn an_event_of_an_unknown_kind_is_still_told() {
    let mut newer = update(8, "a thing happened");
    newer["update"]["entries"][0]["event"] = json!({"kind": "thing_happened", "data": {"n": 1}});
    let (heard, _) = watched(vec![newer, update(9, "resumed")]);
    let [Ok(News::Update(first)), Ok(News::Update(next))] = &heard[..] else {
        panic!("heard {heard:?}");
    };
    let entry = &first.entries[0];
    assert_eq!((entry.text.as_str(), &entry.event), ("a thing happened", &None));
    assert_eq!(next.entries[0].event, Some(Event::RunResumed));
}

#[test]
fn newer_views_and_nonsense_end_the_watching_with_words() {
    let newer = json!({"update": {"v": 3, "seq": 1, "entries": "of another shape"}});
    let same_shape = json!({"update": {"v": 3, "seq": 1, "entries": [], "view": null}});
    let words = "these are views of version 3, and this Chronicle reads up to 2: update it";
    let away = json!({"refused": {"text": "too many watch this run"}});
    for (told, why) in [
        (newer, words),
        (same_shape, words),
        (away, "the supervisor said: too many watch this run"),
        (json!({"rests": {"id": 1}}), "the supervisor did not answer"),
        (json!({"update": {"v": 2}}), "the supervisor did not answer"),
        (json!([]), "the supervisor did not answer"),
    ] {
        let (heard, _) = watched(vec![update(1, "one"), told, update(2, "two")]);
        let [Ok(News::Update(_)), Err(error)] = &heard[..] else { panic!("{why}: {heard:?}") };
        assert_eq!(error.to_string(), why);
    }
}

#[test]
fn a_supervisor_of_another_run_or_folder_is_told_nothing() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("0199-a");
    std::fs::create_dir(&folder).unwrap();
    let _lock = held(&folder);
    let elsewhere = greeting(home.path(), "0199-a");
    for greeting in [greeting(&folder, "0199-b"), elsewhere, json!({"link": 2})] {
        let supervisor = supervisor(&folder, &greeting, Vec::new());
        assert!(Client::connect(&folder, "ann").unwrap().is_none(), "{greeting}");
        assert_eq!(supervisor.join().unwrap(), "");
        std::fs::remove_file(folder.join("socket")).unwrap();
    }
}
