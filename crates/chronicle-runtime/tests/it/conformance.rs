//! What pi-workflows 1.0.0 did with 58 sets of folders, recorded by running it, against what we do with them.
//!
//! Accepted keys in order, resolved definitions, and *that* a problem is told: the words are ours. Where we differ on
//! purpose stands in one table here and in `docs/design/0003-deviations.md`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::fs;
use std::path::{Path, PathBuf};

use chronicle_core::definition::workflow::{Phase, PhaseKind, Show, Workflow};
use chronicle_runtime::for_tests::discover::{self, Catalog, Places};
use serde_json::{Value, json};

/// Where we differ on purpose.
const DEVIATIONS: &[(&str, Deviation)] = &[
    ("011-show-invalid-value", Deviation::Told),
    (
        "040-tools-scalar-lists",
        Deviation::Becomes(r#"{"w": {"/phases/0/tools": {"blacklist": ["edit"]}}}"#),
    ),
    (
        "044-profiles-scalar",
        Deviation::Becomes(r#"{"w": {"/phases/0/availableProfiles": ["scout"]}}"#),
    ),
    ("046-optional-wrong-types", Deviation::Told),
    ("063-invalid-project-hides-global", Deviation::Without("w")),
];

enum Deviation {
    /// The same comes out; here it is told.
    Told,
    /// A value of a definition is another; and it is told.
    Becomes(&'static str),
    /// A workflow cannot be used that is there in the recording.
    Without(&'static str),
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/pi-workflows");
    let mut cases: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}

/// Lays a case out as it was recorded.
fn laid_out(case: &Path, root: &Path) -> Places {
    let (agent, pi) = (root.join("agent"), root.join("proj/.pi"));
    fs::create_dir_all(&agent).unwrap();
    fs::create_dir_all(&pi).unwrap();
    for entry in fs::read_dir(case).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let to = match name.as_str() {
            "expected.json" => continue,
            "global" => agent.join("workflows"),
            "project" => pi.join("workflows"),
            other => pi.join(other),
        };
        copy(&entry.path(), &to);
    }
    Places { pi: Some(agent), ..Places::only(root.join("proj")) }
}

fn put(object: &mut Value, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        object[name] = value;
    }
}

/// A phase in the words of the recording.
fn phase(catalog: &Catalog, phase: &Phase) -> Value {
    if phase.run == PhaseKind::Workflow {
        let key = phase.workflow.clone().unwrap();
        let found = catalog.workflow(&key).unwrap();
        let name = found.unit.workflow.as_ref().unwrap().name.clone();
        return json!({"subworkflow": key, "resolvedName": name});
    }
    let mut object = json!({
        "id": phase.id.as_str(), "name": phase.name,
        "emoji": phase.emoji, "instructions": phase.instructions,
    });
    let tools = &phase.tools;
    let deny = (!tools.deny.is_empty()).then(|| json!({"blacklist": tools.deny}));
    put(&mut object, "tools", tools.allow.as_ref().map(|it| json!({"whitelist": it})).or(deny));
    put(&mut object, "availableProfiles", phase.available_profiles.as_ref().map(|it| json!(it)));
    object
}

/// A definition in the words of the recording.
fn definition(catalog: &Catalog, workflow: &Workflow) -> Value {
    let template = |name: &str| workflow.templates.get(name).cloned();
    let phases: Vec<Value> = workflow.phases.iter().map(|it| phase(catalog, it)).collect();
    let mut object = json!({
        "name": workflow.name,
        "commandName": workflow.command_name.clone().unwrap_or_default(),
        "initialMessage": template("initialMessage").unwrap_or_default(),
        "phases": phases,
    });
    put(&mut object, "show", (workflow.show == Show::Workflows).then(|| json!("workflows")));
    put(&mut object, "loopable", (!workflow.loopable).then_some(json!(false)));
    for name in ["sessionNamePrefix", "roleInstruction", "advanceReminder", "notDoneReminder"] {
        put(&mut object, name, template(name).map(|it| json!(it)));
    }
    object
}

fn deviation(case: &str) -> Option<&'static Deviation> {
    DEVIATIONS.iter().find(|(name, _)| *name == case).map(|(_, deviation)| deviation)
}

/// The recording, with what we do otherwise put in.
fn deviated(case: &str, mut expected: Value) -> Value {
    match deviation(case) {
        None | Some(Deviation::Told) => {}
        Some(Deviation::Becomes(text)) => {
            let changes: Value = serde_json::from_str(text).unwrap();
            for (key, places) in changes.as_object().unwrap() {
                for (place, value) in places.as_object().unwrap() {
                    let (parent, name) = place.rsplit_once('/').unwrap();
                    let parent = expected["definitions"][key].pointer_mut(parent).unwrap();
                    assert!(parent.get(name).is_none(), "{case}: no deviation at {place}");
                    parent[name] = value.clone();
                }
            }
        }
        Some(Deviation::Without(key)) => {
            let definitions = expected["definitions"].as_object_mut().unwrap();
            assert!(definitions.remove(*key).is_some(), "{case}: no deviation");
            expected["keys"].as_array_mut().unwrap().retain(|it| it != key);
        }
    }
    expected
}

#[test]
fn every_recorded_case_comes_out_as_recorded_or_as_decided() {
    let cases = cases();
    assert_eq!(cases.len(), 58);
    let mut wrong = Vec::new();
    for case in &cases {
        let name = case.file_name().unwrap().to_str().unwrap();
        let root = tempfile::tempdir().unwrap();
        let catalog = discover::find_in(&laid_out(case, root.path()));
        let usable = || catalog.workflows.iter().filter(|found| found.is_usable);
        let keys: Vec<&str> = usable().map(|found| found.key.as_str()).collect();
        let mut definitions = json!({});
        for found in usable() {
            let workflow = found.unit.workflow.as_ref().unwrap();
            definitions[found.key.as_str()] = definition(&catalog, workflow);
        }
        let text = fs::read_to_string(case.join("expected.json")).unwrap();
        let expected = deviated(name, serde_json::from_str(&text).unwrap());
        // That program says nothing of a file that it passes over.
        let of_files = catalog.problems.list.iter().filter(|it| it.code != "not-read");
        let told = of_files.count()
            + catalog.workflows.iter().map(|found| found.problems.len()).sum::<usize>();
        let warned = !expected["warnings"].as_array().unwrap().is_empty();
        let same = json!(keys) == expected["keys"]
            && definitions == expected["definitions"]
            && (told > 0) == (warned || deviation(name).is_some());
        if !same {
            let problems: Vec<String> = catalog
                .workflows
                .iter()
                .flat_map(|found| &found.problems)
                .map(ToString::to_string)
                .collect();
            wrong.push(format!("{name}: {keys:?}\n{definitions:#}\n{problems:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_deviation_is_in_the_design_page() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/design/0003-deviations.md");
    let page = fs::read_to_string(page).unwrap();
    for (name, _) in DEVIATIONS {
        let number = name.split('-').next().unwrap();
        assert!(page.contains(&format!("`{number}`")), "{name} is not in the page");
    }
}
