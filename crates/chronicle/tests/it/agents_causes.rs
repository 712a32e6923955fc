//! Why an agent failed, as people are told it: the cause and not what was said beside it, and the worker's own last words.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::agents_yard::{AgentYard, Kind, talk};
use crate::session::{Session, until};

/// Nothing is tried again.
const ONCE: &str = "name: One\nphases: {work: {next: [done], limits: {nudges: 0, retries: 0}}}\n";

/// An extension that does not load ends Pi: its words are shown, without the line that it prints at every start.
fn says_why_it_does_not_start(kind: Kind) {
    let yard = AgentYard::new(kind, ONCE, &json!([]));
    yard.install("broken", "export default function () { throw new Error('the moon is full'); }\n");
    let said = yard.exits(yard.run(), 4).talks("failed in a way that a retry does not fix");
    let said = said.talks("the moon is full");
    assert!(!said.stderr.contains("No project session found"), "{}", said.stderr);
}

#[test]
fn needs_pi_old_says_why_it_does_not_start() {
    says_why_it_does_not_start(Kind::PiOld);
}

#[test]
fn needs_pi_new_says_why_it_does_not_start() {
    says_why_it_does_not_start(Kind::PiNew);
}

/// Claude warns at each start about settings of a folder that it does not trust: that is no cause of its end.
#[test]
fn needs_claude_says_what_it_died_of() {
    let yard = AgentYard::new(Kind::Claude, ONCE, &json!([]));
    yard.session.write(".claude/settings.json", r#"{"permissions": {"allow": ["Read"]}}"#);
    // Without input it ends by itself, right after its start.
    yard.session.write("cut.sh", "\"$@\" </dev/null\necho 'the moon is full' >&2\nexit 7\n");
    yard.wrap("sh cut.sh");
    let said = yard.exits(yard.run(), 4).talks("the moon is full");
    let warning = "Ignoring 1 permissions.allow entry";
    assert!(yard.transcripts().contains(warning), "{}", yard.transcripts());
    assert!(!said.stderr.contains(warning), "{}", said.stderr);
}

/// A lock that another Pi left behind ends it at its start, below a line of its own code that is longer than a common pipe: the run
/// waits, and goes on once the lock is gone.
#[test]
fn needs_pi_new_waits_for_a_lock() {
    let kind = Kind::PiNew;
    let turns = json!([{"calls": [kind.leave("done", "it was free")]}, {"say": "Done."}]);
    let yard = AgentYard::new(kind, ONCE, &json!([talk("main", "`work`: ", &turns)]));
    let lock = yard.pi_home().join("trust.json.lock");
    fs::write(yard.pi_home().join("trust.json"), "{}").unwrap();
    fs::create_dir(&lock).unwrap();
    // It counts for some seconds after its time; so it counts however slow this machine is.
    let later = SystemTime::now() + Duration::from_hours(1);
    fs::File::open(&lock).unwrap().set_modified(later).unwrap();
    let mut run = yard.spawn(&yard.run_args());
    until("it waits, or ends", || run.talk().contains("waits for another try") || run.has_ended());
    fs::remove_dir(&lock).unwrap();
    let said = yard.exits(run.wait(), 0);
    let why = "a1 found a file of its own locked (exit code 1): \"Error: Lock file is already being held code: 'ELOCKED', file: '";
    said.talks(why).talks("`work` waits for another try at ");
    yard.assert_played();
    yard.session.assert_whole();
}

/// The lines that name the lock are found wherever they stand in a long standard error.
#[test]
fn a_lock_is_told_however_much_is_printed_around_it() {
    let workflow = "name: One\nphases: {work: {next: [done], limits: {waits: 0}}}\n";
    let session = Session::with(workflow, "");
    let stack = "    at a function of its own, which is somewhere in a long file\n".repeat(40);
    let (code, lock) = ("x".repeat(5_000), "Error: Lock file is already being held");
    let told = format!(
        "file:///chunk.js:3\n{code}\n{stack}{lock}\n{stack}  code: 'ELOCKED',\n  file: '/a/pi'\n{stack}"
    );
    session.write("told.txt", told);
    let script = "case $1 in --version) echo 1.5.0;; *) cat told.txt >&2; exit 1;; esac\n";
    session.write("agent.sh", script);
    let config = session.user().join("config.toml");
    let settings = fs::read_to_string(&config).unwrap();
    fs::write(config, format!("{settings}\n[agents.pi]\ncommand = 'sh agent.sh'\n")).unwrap();
    let why = format!(
        "a1 found a file of its own locked (exit code 1): \"{lock} code: 'ELOCKED', file: '/a/pi'\""
    );
    session.chronicle(&["run", "main", "the task", "--agent", "pi"]).exits(4).talks(&why);
}

/// What the worker said last is shown where a person is asked about it.
fn has_last_words(kind: Kind) {
    let turns = json!([{"say": "I need the key of the cellar."}]);
    let yard = AgentYard::new(kind, ONCE, &json!([talk("main", "`work`: ", &turns)]));
    let words =
        "finished without a leaving signal; its last words: \"I need the key of the cellar.\"";
    yard.exits(yard.run(), 4).talks(words);
    yard.session.chronicle(&["status"]).exits(0).prints("I need the key of the cellar.");
}

#[test]
fn needs_claude_has_last_words() {
    has_last_words(Kind::Claude);
}

#[test]
fn needs_pi_new_has_last_words() {
    has_last_words(Kind::PiNew);
}

/// Pieces of a message are joined as they come; messages are kept apart.
#[test]
fn the_last_words_of_several_messages_are_not_glued_together() {
    let session = Session::with(ONCE, "");
    let text = |text: &str| format!("echo '{{\"type\":\"text\",\"text\":\"{text}\"}}'\n");
    let usage = |id: &str| {
        format!(
            "echo '{{\"type\":\"usage\",\"of\":\"message\",\"id\":\"{id}\",\"input\":10,\"output\":2}}'\n"
        )
    };
    let lines = [
        "read line\n".to_owned(),
        "echo '{\"type\":\"session\",\"protocol\":1,\"session\":\"s\"}'\n".to_owned(),
        usage("m1"),
        text("It runs in the back"),
        usage("m1"),
        text("ground."),
        usage("m2"),
        text("It failed."),
        "echo '{\"type\":\"finished\"}'\n".to_owned(),
    ];
    session.write("agent.sh", lines.concat());
    session.chronicle(&["run", "main", "t", "--agent", "command:sh agent.sh"]).exits(4);
    let ended = session.events_of("attempt_ended");
    let said = ended[0]["data"]["final_text"].as_str().unwrap();
    assert_eq!(said, "It runs in the background.\nIt failed.", "{ended:?}");
    let status = session.chronicle(&["status"]).exits(0);
    status.prints("It runs in the background. It failed.");
}

/// Of a long standard error both ends are shown: some programs name the cause first, others last.
#[test]
fn a_long_standard_error_is_shown_by_both_its_ends() {
    let session = Session::with(ONCE, "");
    let agent = "read line\necho '{\"type\":\"session\",\"protocol\":1,\"session\":\"s\"}'\n\
                 echo 'Fatal: the cause comes first' >&2\n\
                 i=0; while [ $i -lt 400 ]; do echo \"  at frame $i of a long trace\" >&2; i=$((i+1)); done\n\
                 echo 'ValueError: the cause comes last' >&2\nexit 1\n";
    session.write("agent.sh", agent);
    let said = session.chronicle(&["run", "main", "t", "--agent", "command:sh agent.sh"]).exits(4);
    said.talks("died before its turn ended (exit code 1)")
        .talks("Fatal: the cause comes first")
        .talks("ValueError: the cause comes last");
}
