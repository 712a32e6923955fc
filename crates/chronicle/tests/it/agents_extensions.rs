//! Pi with extensions of the user's own: tools of the same names as ours, and dialogs that a person answers.

use serde_json::{Value, json};

use crate::agents_yard::{AgentYard, Kind, talk};
use crate::session::{Started, until};

const ONE: &str = "name: One\nphases: {work: {next: [done]}}\n";

/// Brings tools of the names that Chronicle's own have, as pi-workflows does: while Pi loads it.
const SAME_NAMES: &str = r#"
import { Type } from "typebox";
export default function (pi) {
  for (const name of ["workflow_step", "workflow_transition"]) {
    pi.registerTool({
      name, label: name, description: "Of another extension", parameters: Type.Object({}),
      async execute() { return { content: [{ type: "text", text: "the wrong tool" }], details: {} }; },
    });
  }
}
"#;

fn leaves(kind: Kind) -> Value {
    json!([talk(
        "main",
        "`work`: ",
        &json!([
            {"calls": [kind.signal("workflow_step", &json!({"action": "status"}))]},
            {"calls": [kind.leave("done", "did it")]},
            {"say": "Done."},
        ])
    )])
}

/// The worker has Chronicle's own tools, and the log says whose they replaced.
fn has_an_extension_with_the_same_tools(kind: Kind, workflow: &str) {
    let yard = AgentYard::new(kind, workflow, &leaves(kind));
    let extension = yard.install("same-names", SAME_NAMES);
    yard.exits(yard.run(), 0).talks(&format!(
        "Chronicle's own tools replaced `workflow_step` of `{0}`, `workflow_transition` of `{0}`",
        extension.canonicalize().unwrap().display()
    ));
    yard.assert_played();
    let asked = yard.server.asked();
    assert!(asked[1].results()[0].contains("`work`"), "where it is: {:?}", asked[1].results());
    assert_eq!(yard.session.events_of("attempt_started").len(), 1);
    yard.session.assert_whole();
}

#[test]
fn needs_pi_old_has_an_extension_with_the_same_tools() {
    has_an_extension_with_the_same_tools(Kind::PiOld, ONE);
}

#[test]
fn needs_pi_new_has_an_extension_with_the_same_tools() {
    has_an_extension_with_the_same_tools(Kind::PiNew, ONE);
}

/// A phase's list of tools takes nothing of ours away, either.
#[test]
fn needs_pi_new_has_an_extension_with_the_same_tools_and_a_list() {
    let workflow = "name: One\nphases: {work: {next: [done], tools: {allow: [read]}}}\n";
    has_an_extension_with_the_same_tools(Kind::PiNew, workflow);
}

/// One that the user's own command names stands before ours, and has the names: a person is told what to do, at once.
fn is_told_of_an_extension_before_ours(kind: Kind) {
    // Pi looks for the conflict beside its first request. The model never answers, so that nothing else can end the attempt first.
    let turns = json!([{"say": "Never.", "stall": {"name": "late"}}]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    yard.session.write("../same.ts", SAME_NAMES);
    let file = yard.session.path("../same.ts").canonicalize().unwrap();
    yard.add_argument(&format!("-e \"{}\"", file.display()));
    yard.exits(yard.run(), 4)
        .talks("the last attempt failed in a way that a retry does not fix")
        .talks("take that extension out of `agents.pi.command`");
    assert_eq!(yard.session.events_of("attempt_started").len(), 1);
    // One request may be on its way; nothing comes of it.
    assert!(yard.server.asked().len() <= 1, "the model was asked again");
    assert_eq!(yard.session.events_of("tool_called").len(), 0);
}

#[test]
fn needs_pi_old_is_told_of_an_extension_before_ours() {
    is_told_of_an_extension_before_ours(Kind::PiOld);
}

#[test]
fn needs_pi_new_is_told_of_an_extension_before_ours() {
    is_told_of_an_extension_before_ours(Kind::PiNew);
}

/// Asks a person in a dialog, for as long as it is told.
const DEPLOYS: &str = r#"
import { Type } from "typebox";
export default function (pi) {
  pi.registerTool({
    name: "deploy", label: "deploy", description: "Deploys", parameters: Type.Object({ ms: Type.Optional(Type.Number()) }),
    async execute(id, params, signal, onUpdate, ctx) {
      const how = params.ms ? { timeout: params.ms } : undefined;
      const sure = await ctx.ui.confirm("Deploy?", "It goes to production.", how);
      return { content: [{ type: "text", text: sure ? "it is out" : "it stays here" }], details: {} };
    },
  });
}
"#;

/// A run whose agent has the dialog open.
fn with_a_dialog(kind: Kind, input: &Value) -> (AgentYard, Started) {
    let turns = json!([
        {"calls": [{"tool": "deploy", "input": input}]},
        {"calls": [kind.leave("done", "did it")]},
        {"say": "Done."},
    ]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    yard.install("deploys", DEPLOYS);
    let mut supervisor = yard.spawn(&[yard.run_args().as_slice(), &["--wait"]].concat());
    until("it asks, or is over", || {
        supervisor.talk().contains("It goes to production.") || supervisor.has_ended()
    });
    (yard, supervisor)
}

/// A yes arrives as a yes, and a no as a no.
fn confirms(kind: Kind) {
    for (answer, result) in [("yes", "it is out"), ("2", "it stays here")] {
        let (yard, supervisor) = with_a_dialog(kind, &json!({}));
        let run = yard.session.short();
        yard.session.chronicle(&["answer", &run, "perhaps"]).exits(2);
        yard.session.chronicle(&["answer", &run, answer]).exits(0);
        yard.exits(supervisor.wait(), 0).talks("Deploy?");
        yard.assert_played();
        let asked = yard.server.asked();
        let results = asked[1].results();
        assert!(results[0].contains(result), "{answer}: {results:?}");
    }
}

#[test]
fn needs_pi_old_confirms() {
    confirms(Kind::PiOld);
}

#[test]
fn needs_pi_new_confirms() {
    confirms(Kind::PiNew);
}

/// A dialog that Pi itself has closed is asked of nobody, and does not keep the worker from leaving.
fn gives_a_dialog_up(kind: Kind) {
    let (yard, supervisor) = with_a_dialog(kind, &json!({"ms": 300}));
    yard.exits(supervisor.wait(), 0).talks("g1 withdrawn by a1");
    yard.assert_played();
    let asked = yard.server.asked();
    let results = asked[1].results();
    assert!(results[0].contains("it stays here"), "{results:?}");
    let answered = yard.session.events_of("gate_answered");
    assert_eq!(answered[0]["data"]["answer"]["is"], "withdrawn", "{answered:?}");
    let run = yard.session.short();
    yard.session.chronicle(&["answer", &run, "g1", "yes"]).exits(2);
    yard.session.assert_whole();
}

#[test]
fn needs_pi_old_gives_a_dialog_up() {
    gives_a_dialog_up(Kind::PiOld);
}

#[test]
fn needs_pi_new_gives_a_dialog_up() {
    gives_a_dialog_up(Kind::PiNew);
}
