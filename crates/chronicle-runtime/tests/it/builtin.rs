//! What comes with Chronicle is sound, and gives way to whatever a person has of the same name.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::collections::BTreeSet;
use std::fs;

use chronicle_core::base::limits::LoopCount;
use chronicle_core::definition::workflow::PhaseKind;
use chronicle_runtime::for_tests::discover::{self, Builtin, builtin};
use chronicle_runtime::handle::Project;

fn project() -> (tempfile::TempDir, Project) {
    let folder = tempfile::tempdir().unwrap();
    let project = Project::at(folder.path());
    (folder, project)
}

fn persona(name: &str) -> Option<&'static Builtin> {
    builtin::PERSONAS.iter().find(|file| file.stem() == name)
}

fn stems_of(files: &[Builtin]) -> BTreeSet<String> {
    files.iter().map(|file| file.stem().to_owned()).collect()
}

#[test]
fn every_workflow_is_without_a_problem() {
    let (_folder, project) = project();
    for key in builtin::WORKFLOWS.iter().map(Builtin::stem) {
        let loaded = discover::workflow(&project, key).unwrap();
        assert_eq!(loaded.problems, [], "{key}");
        assert_eq!(loaded.workflows[0].limits.loops.count, LoopCount::Edge, "{key}");
        assert!(builtin::is_builtin(&loaded.sources[0]));
    }
}

#[test]
fn every_worker_has_a_persona_that_is_there_and_instructions() {
    let (_folder, project) = project();
    let catalog = discover::find(&project);
    assert_eq!(catalog.problems.list, []);
    for key in builtin::WORKFLOWS.iter().map(Builtin::stem) {
        let file = builtin::WORKFLOWS.iter().find(|file| file.stem() == key).unwrap();
        let text = file.text;
        let named: Vec<&str> =
            text.lines().filter_map(|line| line.trim().strip_prefix("persona: ")).collect();
        for name in &named {
            assert!(persona(name).is_some(), "{key} names `{name}`");
        }
        let loaded = discover::workflow(&project, key).unwrap();
        let phases = &loaded.workflows[0].phases;
        let workers: Vec<_> =
            phases.iter().filter(|phase| phase.run == PhaseKind::Worker).collect();
        assert_eq!(workers.len(), named.len(), "{key}");
        for phase in workers {
            let persona = catalog.persona(phase.persona.as_deref().unwrap()).unwrap();
            let persona = &persona.prompt;
            assert!(persona.starts_with("You ") && !persona.contains("---"), "{persona}");
            assert!(phase.instructions.len() > 300, "{key}: {}", phase.instructions);
        }
    }
}

#[test]
fn every_persona_says_who_it_is_and_none_is_forgotten() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let stems = |folder: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(root.join(folder)).unwrap();
        entries
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(stems("personas"), stems_of(builtin::PERSONAS));
    assert_eq!(stems("workflows"), stems_of(builtin::WORKFLOWS));
    for Builtin { path, text } in builtin::PERSONAS {
        let name = path.strip_suffix(".md").unwrap();
        let (head, body) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
        assert!(head.starts_with(&format!("name: {name}\ndescription: ")), "{head}");
        let description = head.lines().nth(1).unwrap().strip_prefix("description: ").unwrap();
        assert!(!description.contains(": "), "not YAML as it stands: {description}");
        assert!(body.len() > 400 && body.len() < 4_000, "{name}: {}", body.len());
    }
    let quest =
        ["chaoswhisperer", "pathseeker", "codeweaver", "siegemaster", "lawbringer", "spiritmender"];
    assert!(quest.iter().all(|name| persona(name).is_some()));
}

#[test]
fn a_workflow_of_the_project_comes_first() {
    let (_folder, project) = project();
    let folder = project.definitions().join("workflows");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("feature.yaml"), "{name: Ours, phases: {plan: {persona: You are ours}}}")
        .unwrap();
    let loaded = discover::workflow(&project, "feature").unwrap();
    assert_eq!(loaded.workflows[0].name, "Ours");
    assert_eq!(loaded.workflows[0].phases[0].persona.as_deref(), Some("You are ours"));
}
