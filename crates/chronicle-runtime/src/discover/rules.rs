//! Rules over tool calls that apply in a project.

use chronicle_core::definition::guard::{Rules, RulesRead, read_rules};
use chronicle_core::definition::workflow::{FieldAt, Loaded, Problem, Severity, Source, Workflow};

use super::files;
use super::places::Places;
use super::{Catalog, Level, Origin};

/// A rules file that was found.
#[derive(Debug, Clone)]
pub struct FoundRules {
    /// Its rules and problems.
    pub read: RulesRead,
    /// The file it was read from.
    pub origin: Origin,
    /// Files that it replaces.
    pub overrides: Vec<Origin>,
    /// Its text, if it could be read.
    pub source: Option<Source>,
}

/// The project's rules, all of them; the user's when the project has none.
pub(super) fn find(places: &Places) -> Vec<FoundRules> {
    let own =
        [".chronicle/rules.yaml", ".pi/damage-control-rules.yaml"].map(|path| places.own(path));
    let user = [places.ours("rules.yaml"), places.of_home(".pi/damage-control-rules.yaml")];
    let read_all = |paths: Vec<std::path::PathBuf>, level| -> Vec<FoundRules> {
        paths
            .iter()
            .flat_map(|path| files::yaml_or_yml(path))
            .filter(|path| files::is_there(path))
            .map(|path| read(&path, level))
            .collect()
    };
    let user = read_all(user.into_iter().flatten().collect(), Level::User);
    let mut own = read_all(own.into(), Level::Project);
    match own.first_mut() {
        Some(first) => {
            // The project's rules replace the user's as a whole. Merging them could make a rule weaker than either file says.
            first.overrides = user.into_iter().map(|rules| rules.origin).collect();
            own
        }
        None => user,
    }
}

/// Every file of rules that a workflow may name, the project's before the user's.
pub(super) fn find_named(places: &Places) -> Vec<(String, FoundRules)> {
    let folders = [
        (Some(places.own(".chronicle/rules")), Level::Project),
        (places.ours("rules"), Level::User),
    ];
    let mut found: Vec<(String, FoundRules)> = Vec::new();
    for (folder, level) in folders {
        let (entries, _) = folder.as_deref().map(files::entries).unwrap_or_default();
        for entry in entries.into_iter().filter(|entry| !entry.is_folder) {
            let name = entry.name.strip_suffix(".yaml").or_else(|| entry.name.strip_suffix(".yml"));
            let Some(name) = name.filter(|name| !found.iter().any(|(known, _)| known == name))
            else {
                continue;
            };
            found.push((name.to_owned(), read(&entry.path, level)));
        }
    }
    found
}

impl Catalog {
    /// The files of rules that workflows name, each once. A name that nobody has is a problem of its workflow.
    pub fn rules_of(&self, workflows: &[Workflow]) -> Vec<&FoundRules> {
        let names = named(workflows);
        self.named_rules
            .iter()
            .filter(|(name, _)| names.contains(&name.as_str()))
            .map(|(_, it)| it)
            .collect()
    }

    /// Adds what is wrong with the rules that its workflows name.
    pub(super) fn judge_rules(&self, loaded: &mut Loaded) {
        let mut problems = Vec::new();
        for workflow in &loaded.workflows {
            for name in named(std::slice::from_ref(workflow)) {
                if self.named_rules.iter().any(|(known, _)| known == name) {
                    continue;
                }
                let known: Vec<&str> = self.named_rules.iter().map(|(it, _)| it.as_str()).collect();
                let hint = match known[..] {
                    [] => format!("write `.chronicle/rules/{name}.yaml`"),
                    _ => format!("there are: {}", known.join(", ")),
                };
                let at = FieldAt { workflow: &workflow.key, phase: None, field: "guards" };
                let message = format!("there is no file of rules `{name}`");
                problems.push(loaded.problem(
                    &at,
                    Severity::Error,
                    "unknown-rules",
                    message,
                    Some(hint),
                ));
            }
        }
        loaded.problems.extend(problems);
    }
}

fn named(workflows: &[Workflow]) -> Vec<&str> {
    let guards = workflows.iter().filter_map(|workflow| workflow.guards.as_ref());
    guards.flat_map(|guards| guards.rules.iter().map(String::as_str)).collect()
}

fn read(path: &std::path::Path, level: Level) -> FoundRules {
    let (read, source) = match files::source(path, "rules") {
        Ok(source) => (read_rules(&source), Some(source)),
        Err(trouble) => {
            let problem = Problem::of_file(Places::shown(path), Severity::Error, trouble);
            (RulesRead { rules: Rules::default(), problems: vec![problem] }, None)
        }
    };
    FoundRules { read, origin: Origin::of(level, path), overrides: Vec::new(), source }
}
