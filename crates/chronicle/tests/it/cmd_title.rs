//! `chronicle title`: a run's name for people.

use crate::session::Session;

const GATES: &str = "{name: Gates, phases: {work: {approval: after, next: [done]}}}";
const SCRIPT: &str = "work: [{complete: {summary: worked}}]";

#[test]
fn a_title_is_shown_in_place_of_the_task_and_the_task_stays() {
    let session = Session::with(GATES, SCRIPT);
    session.run().exits(4);
    let run = session.short();
    session.chronicle(&["title", "second try, with the new parser"]).exits(0).prints("title given");
    let runs = session.chronicle(&["runs"]).exits(0).stdout;
    assert!(runs.contains("second try"), "{runs}");
    assert!(!runs.contains("the task"), "{runs}");
    let status = session.chronicle(&["status"]).exits(0).stdout;
    assert!(
        status.contains("Gates: second try, with the new parser\n  task: the task\n"),
        "{status}"
    );
    let json = session.json(&["status"]);
    assert_eq!(
        (&json["title"], &json["task"]),
        (&"second try, with the new parser".into(), &"the task".into())
    );
    session
        .chronicle(&["log"])
        .exits(0)
        .prints("gave it the title \"second try, with the new parser\"");
    // Found by its title after the end too, and without one again.
    session.chronicle(&["approve", &run]).exits(0);
    session.chronicle(&["title", &run, "--none"]).exits(0).prints("title removed");
    session.chronicle(&["runs"]).exits(0).prints("the task");
}

#[test]
fn a_title_is_given_or_removed_and_not_both() {
    let session = Session::with(GATES, SCRIPT);
    session.run().exits(4);
    let run = session.short();
    session.chronicle(&["title"]).exits(2);
    session.chronicle(&["title", &run]).exits(2).talks("there is no title");
    session.chronicle(&["title", &run, " "]).exits(2).talks("there is no title");
    session
        .chronicle(&["title", &run, "a", "--none"])
        .exits(2)
        .talks("a title cannot be given and removed at once");
    session
        .chronicle(&["title", &run, &"x".repeat(201)])
        .exits(2)
        .talks("the title is too long: it has 201 bytes, and at most 200 are kept");
    // Escape sequences reach no terminal, secrets no ledger.
    let said = session.chronicle(&[
        "title",
        &run,
        "red \u{1b}[31m sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789",
    ]);
    said.exits(0).prints("replaced by");
    let status = session.chronicle(&["status"]).exits(0).stdout;
    assert!(!status.contains('\u{1b}') && !status.contains("abcdefghijklmnop"), "{status}");
}
