//! What holds for a run beside its workflow: the rules over tool calls, and the team.

use chronicle_core::definition::guard::{Rules, RulesRead};
use chronicle_core::definition::persona::{Persona, Team};
use chronicle_core::definition::workflow::Severity;
use chronicle_runtime::handle::definitions::Catalog;

use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Refuses to start with rules that cannot be read; says of the others that this version does not enforce them. Gives what
/// is to be recorded as not enforced.
///
/// A warning and no refusal: whoever keeps a rules file for another program would otherwise need a flag for every run, and
/// would soon type it without reading.
pub(super) fn judge(catalog: &Catalog) -> Result<Vec<String>, Failure> {
    let mut unenforced = Vec::new();
    for rules in &catalog.rules {
        let path = &rules.origin.path;
        // A rule that cannot be read may be the one that matters, so nothing starts, although nothing enforces rules yet.
        if !rules.read.is_usable() && !is_accepted(catalog, &rules.read) {
            for problem in &rules.read.problems {
                terminal::talk(&problem.to_string());
            }
            let what = format!("the rules in `{path}` cannot be read, so nothing may start");
            return Err(Failure::new(Exit::Definition, what)
                .hint(format!("mend `{path}`, or take it away if no rules are to hold")));
        }
        if rules.read.rules.count() > 0 {
            let many = counted(&rules.read.rules);
            terminal::talk(&format!(
                "Warning: this version does not enforce the {many} of {path}."
            ));
            unenforced.push(format!("{many} of `{path}`"));
        }
    }
    Ok(unenforced)
}

/// A person may accept lists of rules that this version does not know: they would be no more enforced than the others.
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
