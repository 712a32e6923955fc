//! Any lines of an agent: never a panic, never more out than in, and nothing to answer that was not asked.

use std::path::Path;

use chronicle_core::base::redact::Redactor;
use chronicle_core::definition::settings::Settings;
use chronicle_core::event::Verdict;
use chronicle_core::event::input::Answer;
use chronicle_core::event::signal::Signal;
use chronicle_runtime::for_tests::agents::{NAME_MAX, PATH_MAX, Seen, find};
use serde_json::Value;

/// What words of ours may add to what an agent said.
const WORDS_MAX: usize = 2_000;

pub(crate) fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let redactor = Redactor::new(["hunter2hunter2".to_owned(), "pa\"ss\\word".to_owned()]);
    let Ok(mut adapter) = find("command:agent", Path::new("/p"), &Settings::default()) else {
        panic!("no adapter")
    };
    let mut named = false;
    for line in text.split('\n') {
        let shown = redactor.line(line);
        let was_json = serde_json::from_str::<Value>(line).is_ok();
        assert!(!was_json || serde_json::from_str::<Value>(&shown).is_ok(), "{line}\n{shown}");
        let seen = adapter.read(&shown);
        assert!(seen.len() <= 1, "{seen:?}");
        for seen in seen {
            check_size(&shown, &seen);
            check_request(&shown, &seen, named);
            named |= matches!(seen, Seen::Session(_));
        }
    }
    for agent in ["claude", "pi"] {
        read_published(agent, &text);
    }
    for answer in answers(&text) {
        let lines = adapter.answer(&text, &answer);
        assert_eq!(lines.len(), 1);
        assert!(!lines[0].contains('\n'), "an answer is one line");
        let read: Value = serde_json::from_str(&lines[0]).unwrap_or_default();
        assert_eq!(read["id"], Value::from(&*text));
    }
}

/// A published agent's lines are no promise of ours; but whatever is answered was asked, and once.
fn read_published(agent: &str, text: &str) {
    let Ok(mut adapter) = find(agent, Path::new("/p"), &Settings::default()) else {
        panic!("no adapter")
    };
    for seen in text.split('\n').flat_map(|line| adapter.read(line)).collect::<Vec<_>>() {
        check_size(text, &seen);
        if let Seen::Permission(raw) = seen {
            assert!(adapter.answer(&raw.call.id, &Answer::Noted).len() <= 1);
        }
    }
    assert!(adapter.answer("nobody asked this", &Answer::Noted).is_empty());
}

fn answers(text: &str) -> [Answer; 4] {
    let text = text.to_owned();
    [
        Answer::Noted,
        Answer::Accepted(text.clone()),
        Answer::Refused(text.clone()),
        Answer::Verdict(Verdict::Denied(text)),
    ]
}

fn check_size(line: &str, seen: &Seen) {
    // Debug output escapes, so that six letters may stand for one.
    let size = format!("{seen:?}").len();
    assert!(size <= line.len() * 12 + WORDS_MAX, "{size} bytes of {}", line.len());
}

/// Whatever waits for an answer was asked in this very line, by an agent that had named its session.
fn check_request(line: &str, seen: &Seen, named: bool) {
    let (kind, id) = match seen {
        Seen::Permission(raw) => {
            assert!(raw.call.tool.len() <= NAME_MAX);
            ("permission", &raw.call.id)
        }
        Seen::Question { request, .. } => ("question", request),
        Seen::Signal { request, signal } => {
            let Signal::Leave { summary, .. } = signal else { return };
            assert!(summary.len() <= line.len() + WORDS_MAX);
            ("signal", request)
        }
        Seen::FileChange { path, .. } => return assert!(path.len() <= PATH_MAX),
        _ => return,
    };
    let said: Value = serde_json::from_str(line).unwrap_or_default();
    assert_eq!((&said["type"], &said["id"]), (&Value::from(kind), &Value::from(id.as_str())));
    assert!(named, "asked before the session was named");
    assert!(!id.is_empty() && id.len() <= NAME_MAX);
}
