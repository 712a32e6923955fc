//! The asker's side of the link, against a supervisor that says whatever the test likes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread::JoinHandle;

use chronicle_runtime::for_tests::link::{Client, LINE_MAX};
use serde_json::{Value, json};

/// Greets as the supervisor of that run, and gives a watcher these views.
fn supervisor(folder: &Path, greeting: &Value, views: Vec<Value>) -> JoinHandle<String> {
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
            for view in views {
                writeln!(stream, "{}", json!({"view": {"view": view}})).unwrap();
            }
        }
        said
    })
}

fn greeting(folder: &Path, run: &str) -> Value {
    json!({"link": 1, "chronicle": "0", "run": run, "folder": folder.canonicalize().unwrap()})
}

#[test]
fn a_view_longer_than_any_request_is_read() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("0199-a");
    std::fs::create_dir(&folder).unwrap();
    let long = "x".repeat(usize::try_from(LINE_MAX).unwrap() * 3);
    let views = vec![json!({"task": long}), json!({"task": "short"})];
    let supervisor = supervisor(&folder, &greeting(&folder, "0199-a"), views.clone());
    let client = Client::connect(&folder, "ann").unwrap().unwrap();
    let seen: Vec<Value> = client.watch().unwrap().collect();
    assert!(seen == views, "both came, the long one whole");
    assert!(supervisor.join().unwrap().contains("\"who\":\"ann\""));
}

#[test]
fn a_supervisor_of_another_run_or_folder_is_told_nothing() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("0199-a");
    std::fs::create_dir(&folder).unwrap();
    let elsewhere = greeting(home.path(), "0199-a");
    for greeting in [greeting(&folder, "0199-b"), elsewhere, json!({"link": 1})] {
        let supervisor = supervisor(&folder, &greeting, Vec::new());
        assert!(Client::connect(&folder, "ann").unwrap().is_none(), "{greeting}");
        assert_eq!(supervisor.join().unwrap(), "");
        std::fs::remove_file(folder.join("socket")).unwrap();
    }
}
