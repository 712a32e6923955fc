//! What holds for a run beside its workflow: the rules over tool calls, and the team.

use std::path::Path;

use chronicle_core::definition::guard::{FrozenRules, RuleFile, Rules, RulesRead};
use chronicle_core::definition::persona::{Persona, Team};
use chronicle_core::definition::settings::Settings;
use chronicle_core::definition::workflow::{Severity, Workflow};
use chronicle_runtime::handle::Project;
use chronicle_runtime::handle::definitions::{Catalog, FoundRules};

use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// The rules of a new run.
pub(super) struct RunRules {
    /// What is frozen into it.
    pub(super) frozen: FrozenRules,
    /// What a person accepted as not enforced.
    pub(super) unenforced: Vec<String>,
}

/// Freezes the rules that hold here. Refuses to start with a file of rules that cannot be read: a rule that is not understood may be
/// the one that matters.
pub(super) fn judge(
    project: &Project,
    catalog: &Catalog,
    settings: &Settings,
    workflows: &[Workflow],
) -> Result<RunRules, Failure> {
    let mut unenforced = Vec::new();
    let all: Vec<&FoundRules> = catalog.rules.iter().chain(catalog.rules_of(workflows)).collect();
    for rules in all.iter().filter(|rules| !rules.read.is_usable()) {
        let path = &rules.origin.path;
        if !is_accepted(catalog, &rules.read) {
            for problem in &rules.read.problems {
                terminal::talk(&problem.to_string());
            }
            let what = format!("the rules in `{path}` cannot be read, so nothing may start");
            return Err(Failure::new(Exit::Definition, what)
                .hint(format!("mend `{path}`, or take it away if no rules are to hold")));
        }
        unenforced.push(format!("lists in `{path}` that this version does not know"));
    }
    // By the path in the project: that is what people know it by, wherever the project is.
    let files = all.iter().filter_map(|rules| Some((rules.source.as_ref()?, &rules.read.rules)));
    let files = files.map(|(source, rules)| {
        let path = Path::new(&source.name).strip_prefix(project.root()).ok();
        let file = RuleFile::new(source, rules);
        RuleFile { name: path.map_or(file.name, |path| path.display().to_string()), ..file }
    });
    let files: Vec<RuleFile> = files.collect();
    Ok(RunRules { frozen: FrozenRules::new(files, settings.built_in_rules()), unenforced })
}

/// A person may accept lists of rules that this version does not know: they are then not enforced, which the run says for as long as it lives.
fn is_accepted(catalog: &Catalog, read: &RulesRead) -> bool {
    let mut errors = read.problems.iter().filter(|it| it.severity == Severity::Error);
    catalog.accepts_unenforced && errors.all(|problem| problem.code == "unknown-field")
}

/// How many rules there are, in words.
pub(super) fn counted(rules: &Rules) -> String {
    match rules.count() {
        1 => "1 rule".to_owned(),
        count => format!("{count} rules"),
    }
}

/// The team, if one is named. Refuses personas that are not in it.
pub(super) fn check_team(
    catalog: &Catalog,
    name: Option<&str>,
    personas: &[Persona],
) -> Result<Option<Team>, Failure> {
    let Some(name) = name else { return Ok(None) };
    let Some(team) = catalog.team(name) else {
        let known: Vec<&str> = catalog.teams.iter().map(|it| it.team.name.as_str()).collect();
        let known = if known.is_empty() { "all".to_owned() } else { known.join(", ") };
        return Err(Failure::usage(format!("there is no team `{name}`"))
            .hint(format!("there are: {known}")));
    };
    let strangers: Vec<String> = personas
        .iter()
        .filter(|persona| !team.has(&persona.name))
        .map(|persona| format!("`{}`", persona.name))
        .collect();
    if strangers.is_empty() {
        return Ok(Some(team));
    }
    let what = format!("the workflow uses {}, not in team `{}`", strangers.join(", "), team.name);
    let hint = format!("the team has: {}", team.members.join(", "));
    Err(Failure::new(Exit::Definition, what).hint(hint))
}
