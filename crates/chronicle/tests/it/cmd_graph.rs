//! `chronicle graph` and `chronicle schema`.

use crate::session::Session;

const WORKFLOW: &str = "{name: Small, phases: {work: {next: [done], on: {gaps: work}}}}";

#[test]
fn it_draws_in_four_ways() {
    let session = Session::with(WORKFLOW, "");
    session.chronicle(&["graph", "main"]).exits(0).prints("│ work   │◄").prints("├─ gaps ╯");
    session.chronicle(&["graph", "main", "--ascii"]).exits(0).prints("| work   |<");
    let svg = session.chronicle(&["graph", "main", "--format", "svg"]).exits(0);
    assert!(svg.stdout.starts_with("<svg ") && svg.stdout.ends_with("</svg>\n"), "{}", svg.stdout);
    session.chronicle(&["graph", "main", "--format", "mermaid"]).exits(0).prints("flowchart TD");
    session.chronicle(&["graph", "main", "--format", "dot"]).exits(0).prints("digraph workflow {");
    let json = session.json(&["graph", "main", "--format", "dot"]);
    assert_eq!((&json["key"], &json["format"]), (&"main".into(), &"dot".into()));
}

#[test]
fn what_is_wrong_is_drawn_and_told() {
    let session = Session::with("{phases: {a: {next: [nowhere], colour: red}}}", "");
    let said = session.chronicle(&["graph", "main"]).exits(3).prints("│ a  ");
    assert!(said.stderr.contains("error[unknown-field]"), "{}", said.stderr);
    let session = Session::with("{phases: []}", "");
    let said = session.chronicle(&["graph", "main"]).exits(3);
    assert!(said.stderr.contains("cannot be drawn: 1 error"), "{}", said.stderr);
}

#[test]
fn the_schema_is_json() {
    let schema = Session::new().chronicle(&["schema"]).exits(0).json();
    assert_eq!(schema["title"], "Chronicle workflow");
}
