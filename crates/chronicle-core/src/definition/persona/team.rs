//! Teams: groups of personas. Three dialects are in use.

use serde::Serialize;

use crate::base::quote::is_deceptive;
use crate::definition::workflow::draft::{Field, Node, Value};
use crate::definition::workflow::problem::{Finding, NOT_PLAIN, Problems, quoted};
use crate::definition::workflow::restrict::unknown;
use crate::definition::workflow::{Problem, Severity, Source, closest, yaml};

/// The built-in team of every persona.
pub const TEAM_OF_ALL: &str = "all";
/// Fields of a team.
const FIELDS: [&str; 5] = ["agents", "members", "personas", "not_covered", "description"];
/// Most members of one team that are kept.
const MEMBERS_MAX: usize = 500;

/// Personas that a run may be limited to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Team {
    /// The name that a run is limited by.
    pub name: String,
    /// Persona names, compared case-insensitively.
    pub members: Vec<String>,
    /// What the file says that the team cannot do.
    pub not_covered: Vec<String>,
}

impl Team {
    /// Whether a persona belongs to it.
    pub fn has(&self, persona: &str) -> bool {
        self.members.iter().any(|member| member.eq_ignore_ascii_case(persona))
    }
}

/// Reads a file of teams: `team: [names]`, `team: {agents: [names], not_covered: […]}` or `teams: {team: [names]}`. Members that
/// are not among `personas` are reported.
pub fn read_teams(source: &Source, personas: &[&str]) -> (Vec<Team>, Vec<Problem>) {
    let mut problems = Problems::default();
    let root = yaml::read(0, &source.text, &mut problems);
    let teams = root.map(|root| teams(root, personas, &mut problems)).unwrap_or_default();
    (teams, problems.finish(std::slice::from_ref(source)))
}

fn teams(root: Node, personas: &[&str], problems: &mut Problems) -> Vec<Team> {
    let Value::Map(mut fields) = root.value else {
        let finding = Finding::error("not-teams", root.span.first(), "not a map of teams");
        problems.push(finding.hint("write `team: [persona, persona]`"));
        return Vec::new();
    };
    let is_wrapped =
        |field: &Field| field.name == "teams" && matches!(field.value.value, Value::Map(_));
    // One dialect has its teams below `teams:`, where another could have a team of that name. Only a map can be the former.
    if let Some(at) = fields.iter().position(is_wrapped)
        && let Value::Map(inner) = fields.remove(at).value.value
    {
        fields.extend(inner);
    }
    fields.into_iter().filter_map(|field| team(field, personas, problems)).collect()
}

fn team(field: Field, personas: &[&str], problems: &mut Problems) -> Option<Team> {
    let Field { name, at, value } = field;
    let mut team = Team { name, members: Vec::new(), not_covered: Vec::new() };
    let mut is_sound = true;
    match value.value {
        Value::List(_) | Value::Null | Value::Scalar(_) => {
            team.members = members(&value, personas, problems);
        }
        Value::Map(fields) => {
            for field in fields {
                match field.name.as_str() {
                    "agents" | "members" | "personas" => {
                        team.members = members(&field.value, personas, problems);
                    }
                    "not_covered" => team.not_covered = names(&field.value, problems),
                    "description" => {}
                    _ => {
                        let finding = unknown("a team", &field, &FIELDS);
                        // A team that was meant to restrict its members is no team without that.
                        is_sound &= finding.severity != Severity::Error;
                        problems.push(finding);
                    }
                }
            }
        }
    }
    if team.name.contains(is_deceptive) {
        let message = format!("the name {} {NOT_PLAIN}", quoted(&team.name));
        problems.push(Finding::error("bad-name", at, message));
        return None;
    }
    is_sound.then_some(team)
}

/// Names of personas. Unknown ones are reported.
fn members(node: &Node, personas: &[&str], problems: &mut Problems) -> Vec<String> {
    let items = match &node.value {
        Value::List(items) => items.as_slice(),
        Value::Null | Value::Scalar(_) | Value::Map(_) => std::slice::from_ref(node),
    };
    for item in items.iter().take(MEMBERS_MAX) {
        let Some(name) = item.text().map(str::trim) else { continue };
        // A warning and not an error: the other members of the team can still work.
        if !personas.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            let message = format!("no persona is called {}: the team lacks it", quoted(name));
            let finding = Finding::warning("unknown-persona", item.span, message);
            problems.push(finding.did_you_mean(closest(name, personas.iter().copied())));
        }
    }
    names(node, problems)
}

fn names(node: &Node, problems: &mut Problems) -> Vec<String> {
    let items = match &node.value {
        Value::List(items) => items.as_slice(),
        Value::Scalar(_) => std::slice::from_ref(node),
        Value::Null => &[],
        Value::Map(_) => {
            problems.push(Finding::error("wrong-type", node.span, "must be a list of names"));
            &[]
        }
    };
    let mut names = Vec::new();
    for item in items.iter().take(MEMBERS_MAX) {
        match item.text() {
            Some(text) => names.push(text.trim().to_owned()),
            None => problems.push(Finding::error("wrong-type", item.span, "must be a name")),
        }
    }
    names
}
