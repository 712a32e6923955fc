//! Real agents whose lines are not all what they should be: another version, a wrapper that talks, a disk that tears.

use serde_json::json;

use crate::agents_yard::{AgentYard, Kind, talk};

const ONE: &str = "name: One\nphases: {work: {next: [done]}}\n";
/// More than any line of an agent that is read.
const LONG: usize = 50_000_000;

/// It says its version as it is, so that the run begins.
const VERSION: &str = "for word; do test \"$word\" = --version && exec \"$@\"; done\n";

/// What is printed before the agent itself begins: none of it is understood, the last line is longer than anybody reads.
const NONSENSE: [&str; 8] = [
    "Segmentation fault (core dumped)",
    "",
    "{",
    r#"{"type":"result","#,
    r#"{"no":"type"}"#,
    r#"{"type":"telepathy","version":99}"#,
    "[1, 2, 3]",
    r#""a text""#,
];

/// What is understood and comes too early: it says nothing yet.
fn early(kind: Kind) -> &'static str {
    match kind {
        Kind::Claude => {
            r#"{"type":"stream_event","event":{"type":"message_delta","usage":{}}}
{"type":"control_cancel_request","request_id":"nobody"}
{"type":"control_response","response":{"request_id":"nobody"}}"#
        }
        Kind::PiOld | Kind::PiNew => {
            r#"{"type":"message_update","assistantMessageEvent":{"type":"text_end"}}
{"type":"turn_end"}
{"type":"response","command":"abort","success":true}"#
        }
    }
}

/// It is kept, counted and shown, and the work goes on.
fn talks_nonsense_first(kind: Kind) {
    let turns = json!([
        {"calls": [kind.write("a.txt", "one\n")]},
        {"calls": [kind.leave("done", "did it")]},
        {"say": "Done."},
    ]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    yard.session.write("nonsense", format!("{}\n{}\n", NONSENSE.join("\n"), early(kind)));
    let wrapper = format!(
        "#!/bin/sh\n{VERSION}cat nonsense\nprintf '\\377\\376\\n'\nhead -c {LONG} /dev/zero | tr '\\0' x\necho\nexec \"$@\"\n"
    );
    yard.session.write("wrapper.sh", wrapper);
    yard.wrap("sh wrapper.sh");
    yard.exits(yard.run(), 0).talks("lines of its output were not understood");
    yard.assert_played();
    assert_eq!(yard.session.read("a.txt"), "one\n");
    let ended = yard.session.events_of("attempt_ended");
    // An empty line is no line; the bytes that are no text and the long line are.
    let puzzling = NONSENSE.iter().filter(|line| !line.is_empty()).count() + 2;
    assert_eq!(ended[0]["data"]["not_understood"], json!(puzzling), "{}", yard.transcripts());
    let transcript = yard.transcripts();
    for words in ["Segmentation fault", "telepathy", "a line of 50000000 bytes, not kept"] {
        assert!(transcript.contains(words), "no `{words}` in the transcript");
    }
    yard.session.assert_whole();
}

#[test]
fn needs_claude_talks_nonsense_first() {
    talks_nonsense_first(Kind::Claude);
}

#[test]
fn needs_pi_old_talks_nonsense_first() {
    talks_nonsense_first(Kind::PiOld);
}

#[test]
fn needs_pi_new_talks_nonsense_first() {
    talks_nonsense_first(Kind::PiNew);
}

/// Only nonsense: a clear failure that shows the first of it, and a person is asked.
fn talks_only_nonsense(kind: Kind) {
    let workflow = "name: One\nphases: {work: {next: [done], limits: {nudges: 0, retries: 0}}}\n";
    let yard = AgentYard::new(kind, workflow, &json!([]));
    let wrapper = format!("{VERSION}while :; do echo 'Usage: agent [options]'; done\n");
    yard.session.write("wrapper.sh", wrapper);
    yard.wrap("sh wrapper.sh");
    yard.exits(yard.run(), 4)
        .talks("broke the protocol")
        .talks("1000 lines in a row meant nothing; the first was `Usage: agent [options]`");
    yard.session.assert_whole();
}

#[test]
fn needs_claude_talks_only_nonsense() {
    talks_only_nonsense(Kind::Claude);
}

#[test]
fn needs_pi_new_talks_only_nonsense() {
    talks_only_nonsense(Kind::PiNew);
}
