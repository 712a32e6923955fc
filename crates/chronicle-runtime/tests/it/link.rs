//! Any bytes at the link, and floods of them: whoever drives the run does not slow down, and forgets nothing.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

#[path = "../../../../fuzz/bodies/link_message.rs"]
mod link_message;

use std::io::Write;
use std::process::Command;

use link_message::Supervisor;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::fuzz::cases;

/// Set in a copy of the test binary that has a folder for sockets of its own.
const APART: &str = "LINK_APART";

/// Runs the body where sockets are made in a folder of the test's.
fn apart(test: &str, body: impl FnOnce(&Supervisor)) {
    if std::env::var_os(APART).is_some() {
        let supervisor = Supervisor::start();
        body(&supervisor);
        return supervisor.stop();
    }
    let folder = tempfile::tempdir().unwrap();
    let mut copy = Command::new(std::env::current_exe().unwrap());
    copy.args(["--exact", &format!("link::{test}"), "--nocapture"]).env(APART, "1");
    let output = copy.env("XDG_RUNTIME_DIR", folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// Pieces of requests, good and bad.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        "{\"id\":1,\"ask\":\"ping\"}\n",
        "{\"id\":18446744073709551615,\"ask\":{\"command\":{\"is\":\"resume\"}}}\n",
        "{\"id\":2,\"ask\":{\"command\":{\"is\":\"approve\",\"data\":{\"gate\":\"g1\",\"note\":\"\"}}}}\n",
        "{\"id\":2,\"ask\":{\"command\":{\"is\":\"approve\",\"data\":{\"gate\":1,\"note\":\"\"}}}}\n",
        "{\"id\":3,\"ask\":{\"command\":{\"data\":{\"reason\":\"x\"},\"is\":\"cancel\"}}}\n",
        "{\"id\":4,\"ask\":{\"command\":{\"is\":\"go\",\"data\":{\"place\":\"done\",\"note\":\"\"}}}}\n",
        "{\"id\":4,\"ask\":{\"command\":{\"is\":\"prepare\",\"data\":{}}}}\n",
        "{\"id\":5,\"ask\":{\"signal\":{\"request\":\"r\",\"tool\":\"t\",\"arguments\":null}}}\n",
        "{\"id\":6,\"ask\":{\"report\":{\"is\":\"supervisor_leaves\"}}}\n",
        "{\"id\":7,\"ask\":{\"watch\":{\"since\":0,\"activity\":true}}}\n",
        "{\"link\":1,\"who\":\"eve\"}\n",
        "{\"link\":2,\"who\":\"eve\"}\n",
        "\n",
        "{",
        "\"",
    ];
    prop_oneof![
        6 => prop::sample::select(words.map(|word| word.as_bytes().to_vec()).to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ]
}

#[test]
fn any_bytes_are_answered_and_change_nothing() {
    apart("any_bytes_are_answered_and_change_nothing", |supervisor| {
        let many = prop::collection::vec(piece(), 0..8);
        let ended = TestRunner::new(cases(400)).run(&many, |pieces| {
            supervisor.check(&pieces.concat());
            Ok(())
        });
        assert!(ended.is_ok(), "{ended:?}");
        for bytes in [
            &include_bytes!("../../../../fuzz/corpus/link_message/asks.jsonl")[..],
            &include_bytes!("../../../../fuzz/corpus/link_message/half")[..],
        ] {
            supervisor.check(bytes);
        }
    });
}

#[test]
fn long_lines_end_the_connection() {
    apart("long_lines_end_the_connection", |supervisor| {
        let most = usize::try_from(chronicle_runtime::for_tests::link::LINE_MAX).unwrap();
        for size in [most - 1, most, most + 1, 4 * most] {
            supervisor.check(&vec![b'x'; size]);
            supervisor.check(&[vec![b' '; size], b"\n".to_vec()].concat());
            supervisor.check(&b"{\"id\":1,\"ask\":\"ping\"}\n".repeat(size / 1_000));
        }
    });
}

#[test]
fn a_flood_from_many_sides_costs_the_run_nothing() {
    apart("a_flood_from_many_sides_costs_the_run_nothing", |supervisor| {
        let ask = r#"{"id":1,"ask":{"command":{"is":"approve","data":{"gate":null,"note":""}}}}"#;
        let flood = format!("{ask}\n").repeat(500).into_bytes();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    // Says much, and never reads.
                    let mut deaf = supervisor.client();
                    deaf.set_nonblocking(true).unwrap();
                    let _ = deaf.write_all(&flood);
                    for _ in 0..5 {
                        supervisor.check(&flood);
                    }
                });
            }
        });
    });
}
