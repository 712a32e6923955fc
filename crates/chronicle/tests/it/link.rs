//! A person's commands to a run while somebody drives it, and when nobody does any more.

use std::os::unix::net::UnixListener;

use chronicle_runtime::for_tests::ledger::{Folder, Holder, Ledger as _};

use crate::link_yard::{CHRONICLE, LinkYard, run_args};

const WORKFLOW: &str = "
name: Main
phases:
  plan: {approval: after, next: [build]}
  build: {next: [human_intervention, done], limits: {nudges: 0, retries: 0}}
";

const SCRIPT: &str = "
plan:
  1: [{touch: {file: planning}}, {wait_for: {file: planned}}, {complete: {summary: one}}]
  otherwise: [{complete: {summary: again}}]
build:
  1: [{crash: 3}]
  2: [{transition: {to: human_intervention, summary: help}}]
  otherwise: [{touch: {file: building}}, {wait_for: {file: built}}, {transition: {to: done, summary: built}}]
";

/// A run that waits for approval, its supervisor dead.
fn left_at_a_gate() -> LinkYard {
    let yard = LinkYard::new(WORKFLOW, SCRIPT);
    yard.touch("planned");
    assert_eq!(yard.chronicle("ann", &run_args(&[])).code, Some(4));
    yard
}

#[test]
fn every_command_reaches_who_drives_the_run() {
    let yard = LinkYard::new(WORKFLOW, SCRIPT);
    let mut first = yard.supervisor();
    let run = yard.run();
    yard.until_touched("planning");
    let heard = yard.chronicle("eve", &["pause", &run, "lunch"]).good();
    assert!(heard.out.contains("paused"), "{heard:?}");
    assert_eq!(first.code(), Some(130), "{}", first.said());
    assert_eq!(yard.status()["reason"], "lunch");

    yard.touch("planned");
    let mut second = yard.start("second", &["resume", &run, "--wait"]);
    yard.until_gate("g1");
    yard.chronicle("eve", &["approve", &run, "g7"]).refused("there is no gate g7");
    yard.chronicle("eve", &["retry", &run, "nowhere"]).refused("does not wait for a person");
    yard.chronicle("bob", &["reject", &run, "g1", "the tests are missing"]).good();
    yard.until_gate("g2");
    yard.chronicle("eve", &["approve", &run]).good();
    yard.until_gate("g3");
    yard.chronicle("eve", &["approve", &run, "g3"]).refused("use `retry` or `go` with a phase");
    yard.chronicle("cy", &["retry", &run, "build", "--note", "again"]).good();
    yard.until_gate("g4");
    yard.chronicle("dan", &["go", &run, "build"]).good();
    yard.until_touched("building");
    let heard = yard.chronicle("dan", &["go", &run, "plan"]).good();
    assert!(heard.out.contains("going to `plan` once a"), "{heard:?}");
    yard.chronicle("bob", &["reject", &run, "g1", "late"]).refused("already rejected by bob");
    yard.chronicle("fay", &["cancel", &run, "no more"]).good();
    assert_eq!(second.code(), Some(1), "{}", second.said());

    let who: Vec<String> = (1..=4).flat_map(|gate| yard.who_answered(gate)).collect();
    assert_eq!(who, ["bob", "eve", "cy", "dan"]);
    let ledger = yard.ledger();
    assert!(ledger.contains(r#""by":{"actor":{"is":"person","id":"fay"}"#), "{ledger}");
    assert!(yard.socket().is_none(), "the link goes with its supervisor");
}

#[test]
fn one_of_many_answers_a_gate_and_the_others_hear_who() {
    let yard = LinkYard::new(
        WORKFLOW,
        "
plan: [{complete: {summary: one}}]
build: [{wait_for: {file: built}}, {transition: {to: done, summary: built}}]
",
    );
    let mut supervisor = yard.supervisor();
    yard.until_gate("g1");
    let run = yard.run();
    let names = ["ann", "bob", "cy", "dan", "eve", "fay"];
    let askers: Vec<_> = names
        .map(|who| {
            let mut asker = yard.command(CHRONICLE, who);
            if ["bob", "eve"].contains(&who) {
                asker.args(["reject", &run, "g1", "not like this"]);
            } else {
                asker.args(["approve", &run, "g1"]);
            }
            yard.begin(who, &mut asker)
        })
        .into_iter()
        .collect();
    let ended: Vec<_> = askers.into_iter().map(|mut it| (it.code(), it.said())).collect();
    let won: Vec<&str> =
        names.into_iter().zip(&ended).filter(|(_, it)| it.0 == Some(0)).map(|it| it.0).collect();
    assert_eq!(won.len(), 1, "{ended:?}");
    assert_eq!(yard.who_answered(1), won);
    for (_, said) in ended.iter().filter(|(code, _)| *code != Some(0)) {
        assert!(said.contains(&format!("ed by {} at", won[0])), "{won:?}: {said}");
    }
    if ["bob", "eve"].contains(&won[0]) {
        yard.until_gate("g2");
        yard.chronicle("ann", &["approve", &run, "g2"]).good();
    }
    yard.touch("built");
    assert_eq!(supervisor.code(), Some(0), "{}", supervisor.said());
}

#[test]
fn a_note_of_a_killed_supervisor_does_no_harm() {
    let yard = LinkYard::new(WORKFLOW, SCRIPT);
    let mut supervisor = yard.supervisor();
    yard.touch("planned");
    yard.until_gate("g1");
    supervisor.kill();
    let note = yard.socket().expect("a killed supervisor leaves its note");
    assert!(note.exists(), "and its socket");
    let heard = yard.chronicle("bob", &["approve", &yard.run(), "g1"]).good();
    assert!(heard.err.contains("Next: chronicle resume"), "{heard:?}");
    assert_eq!(yard.who_answered(1), ["bob"]);
    let mut second = yard.start("second", &["resume", &yard.run(), "--wait"]);
    yard.until_gate("g2");
    assert_eq!(yard.socket().as_deref(), Some(note.as_path()), "the socket is made anew");
    yard.chronicle("bob", &["cancel", &yard.run()]).good();
    assert_eq!(second.code(), Some(1));
    assert!(!note.exists(), "the socket goes with its supervisor");
}

#[test]
fn a_supervisor_that_hangs_up_has_heard_nothing() {
    let yard = left_at_a_gate();
    let socket = yard.at("tmp/fake.sock");
    let fake = UnixListener::bind(&socket).expect("a socket");
    std::fs::write(yard.run_file("link"), socket.as_os_str().as_encoded_bytes()).expect("a note");
    let hangs_up = std::thread::spawn(move || fake.accept().map(drop));
    yard.chronicle("bob", &["approve", &yard.run(), "g1"]).good();
    hangs_up.join().expect("a thread").expect("a client");
    assert_eq!(yard.who_answered(1), ["bob"], "it is in the ledger");
}

#[test]
fn another_version_is_refused_in_words() {
    let yard = left_at_a_gate();
    let socket = yard.at("tmp/fake.sock");
    let fake = UnixListener::bind(&socket).expect("a socket");
    std::fs::write(yard.run_file("link"), socket.as_os_str().as_encoded_bytes()).expect("a note");
    let newer = std::thread::spawn(move || {
        let (mut stream, _) = fake.accept().expect("a client");
        let hello = b"{\"link\":99,\"chronicle\":\"9.9.9\",\"run\":\"x\",\"more\":[]}\n";
        std::io::Write::write_all(&mut stream, hello).expect("it listens");
        std::io::Read::read_to_end(&mut stream, &mut Vec::new())
    });
    let folder = yard.at("p/.chronicle/runs").join(yard.run());
    let holder = Holder::current("a test", chronicle_runtime::handle::now());
    let _lock = Folder::new(folder).claim(holder).expect("the lock");
    let heard = yard.chronicle("bob", &["approve", &yard.run(), "g1"]);
    heard.refused("the supervisor is Chronicle 9.9.9");
    assert_eq!(newer.join().expect("a thread").expect("it reads"), 0, "nothing was asked");
    assert_eq!(yard.who_answered(1), [""; 0], "and nothing was done behind its back");
}

#[test]
fn an_asker_of_another_version_is_refused_in_words() {
    let yard = LinkYard::new(WORKFLOW, SCRIPT);
    let _supervisor = yard.supervisor();
    let mut wire = yard.connect();
    assert_eq!(wire.hear()["chronicle"], env!("CARGO_PKG_VERSION"));
    wire.say(r#"{"link":1,"who":"bob"}"#);
    let words = "the supervisor speaks version 2 of the link, you speak 1";
    assert_eq!(wire.hear()["refused"]["text"], words);
    assert!(wire.hear().is_null(), "it hangs up");
    assert_eq!(yard.connect().greeted("bob").ping(), "here");
}
