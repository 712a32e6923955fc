//! `chronicle list`: lists definitions.

use chronicle_core::base::cells::{self, pad, width};
use chronicle_core::base::quote::is_deceptive;
use chronicle_core::definition::workflow::{Format, PhaseKind, Problem, Severity, Show};
use chronicle_runtime::handle::definitions::{
    self, Catalog, FoundPersona, FoundWorkflow, Level, Origin,
};
use clap::Args;
use serde::Serialize;

use super::{Setting, json, with_rules};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal::{self, Ink, Paint};

/// Most problems that are shown of one thing.
const SHOWN_MAX: usize = 5;

/// List workflows, personas, teams and rules
///
/// Each with its origin, what it overrides, and its problems.
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle list --json | jq -r '.workflows[].key'")]
pub(super) struct ListArgs {}

pub(super) fn cmd_list(setting: &Setting, _args: &ListArgs) -> Result<Exit, Failure> {
    let catalog = definitions::find(&setting.project);
    let root = format!("{}/", setting.project.root().display());
    if setting.json {
        json::say_document(&ListDocument::of(&catalog))?;
        return Ok(Exit::Done);
    }
    // For programs each row stays one line.
    let columns = if terminal::is_result_watched() { terminal::columns() } else { usize::MAX };
    let page = Page { paint: Paint::stdout(), root, columns };
    for line in page.lines(&catalog) {
        // The reader has gone away, such as `head`: what it does not read need not be made.
        if !terminal::say_wrapped(&line) {
            break;
        }
    }
    Ok(Exit::Done)
}

/// Formats the catalog for people.
struct Page {
    paint: Paint,
    root: String,
    columns: usize,
}

impl Page {
    fn lines(&self, catalog: &Catalog) -> Vec<String> {
        let mut lines = Vec::new();
        let (chains, workflows): (Vec<&FoundWorkflow>, Vec<&FoundWorkflow>) =
            catalog.workflows.iter().partition(|it| it.origin.format == Some(Format::Chain));
        for (title, found) in [("Workflows", workflows), ("Chains", chains)] {
            // Capped: one very long name must not push the rest of every row off the screen.
            let width = found.iter().map(|it| width(&it.key)).max().unwrap_or(0).min(30);
            let rows = found.into_iter().flat_map(|found| self.workflow(found, width));
            self.section(&mut lines, title, rows.collect());
        }
        let width = catalog.personas.iter().map(|it| width(&it.persona.name)).max();
        let width = width.unwrap_or(0).min(30);
        let rows = catalog.personas.iter().flat_map(|found| self.persona(found, width));
        self.section(&mut lines, "Personas", rows.collect());
        let teams = catalog.teams.iter().map(|found| {
            let members = found.team.members.join(", ");
            format!("  {}  {}", self.strong(&found.team.name), self.row(&members, &found.origin))
        });
        self.section(&mut lines, "Teams", teams.collect());
        let named = catalog.named_rules.iter().map(|(name, found)| (Some(name), found));
        let all = catalog.rules.iter().map(|found| (None, found)).chain(named);
        let rules = all.flat_map(|(name, found)| {
            let many = with_rules::counted(&found.read.rules);
            let count = match name {
                Some(name) => format!("{many} for workflows with `guards: {{rules: [{name}]}}`"),
                None => many,
            };
            let first = format!("  {}", self.row(&count, &found.origin));
            let overrides = self.overrides(&found.overrides);
            [first].into_iter().chain(overrides).chain(self.problems(&found.read.problems))
        });
        self.section(&mut lines, "Rules", rules.collect());
        self.section(&mut lines, "Problems", self.problems(&catalog.problems.list).collect());
        lines
    }

    fn section(&self, lines: &mut Vec<String>, title: &str, rows: Vec<String>) {
        if rows.is_empty() {
            return;
        }
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(self.strong(title));
        lines.extend(rows);
    }

    fn workflow(&self, found: &FoundWorkflow, width: usize) -> Vec<String> {
        let workflow = found.unit.workflow.as_ref();
        let phases = workflow.map_or(0, |workflow| workflow.phases.len());
        let mut about = match phases {
            1 => "1 phase".to_owned(),
            many => format!("{many} phases"),
        };
        if let Some(command) = found.command().filter(|command| *command != found.key) {
            about = format!("{about}, also `{command}`");
        }
        if workflow.is_some_and(|workflow| workflow.show == Show::Workflows) {
            about.push_str(", for other workflows");
        }
        let mark = if found.is_usable { " " } else { "✗" };
        let key = pad(&words(&found.key), width);
        let head = format!("{} {}", self.paint.ink(Ink::Bad, mark), self.strong(&key));
        let mut rows = vec![format!("{head}  {}", self.row(&about, &found.origin))];
        let about = workflow.and_then(|workflow| workflow.description.as_deref());
        rows.extend(
            about.map(|text| format!("    {}", shorten(text, self.columns.saturating_sub(4)))),
        );
        rows.extend(self.overrides(&found.overrides));
        rows.extend(self.problems(&found.problems));
        rows
    }

    fn persona(&self, found: &FoundPersona, width: usize) -> Vec<String> {
        let name = pad(&words(&found.persona.name), width);
        let room = self.columns.saturating_sub(cells::width(&name) + 4);
        let about = shorten(&found.persona.description, room);
        let path = self.path(&found.origin);
        let name = self.strong(&name);
        let mut rows = if cells::width(&about) + 2 + cells::width(&path) <= room {
            vec![format!("  {name}  {}", self.row(&about, &found.origin))]
        } else {
            // Cut or whole, a description has one line; where its file is comes below it.
            let path = self.paint.ink(Ink::Dim, &path);
            vec![format!("  {name}  {}", words(&about)), format!("    {path}")]
        };
        rows.extend(self.overrides(&found.overrides));
        rows.extend(self.problems(&found.problems));
        rows
    }

    fn row(&self, about: &str, origin: &Origin) -> String {
        let gap = if about.is_empty() { "" } else { "  " };
        format!("{}{gap}{}", words(about), self.paint.ink(Ink::Dim, &self.path(origin)))
    }

    fn overrides(&self, overrides: &[Origin]) -> impl Iterator<Item = String> {
        overrides.iter().map(|origin| format!("    overrides {}", self.path(origin)))
    }

    fn problems(&self, problems: &[Problem]) -> impl Iterator<Item = String> {
        let rest = problems.len().saturating_sub(SHOWN_MAX);
        let rest =
            (rest > 0).then(|| format!("    … and {rest} more: `chronicle check` tells all"));
        let shown = problems.iter().take(SHOWN_MAX);
        shown.map(|problem| format!("    {}", self.problem(problem))).chain(rest)
    }

    fn problem(&self, problem: &Problem) -> String {
        let ink = match problem.severity {
            Severity::Error => Ink::Bad,
            Severity::Warning => Ink::Busy,
            Severity::Note => Ink::Dim,
        };
        let text = problem.to_string().replace(&self.root, "");
        self.paint.ink(ink, &words(&text))
    }

    fn strong(&self, text: &str) -> String {
        self.paint.ink(Ink::Strong, text)
    }

    /// A path below the project is told from there.
    fn path(&self, origin: &Origin) -> String {
        let path = origin.path.strip_prefix(&self.root).unwrap_or(&origin.path);
        words(path)
    }
}

/// One line, harmless to a terminal.
fn words(text: &str) -> String {
    let plain = |letter: char| if is_deceptive(letter) { '\u{fffd}' } else { letter };
    text.trim().chars().map(plain).collect()
}

/// On one line, cut between words if it is longer than a line should be.
fn shorten(text: &str, room: usize) -> String {
    const MOST: usize = 72;
    let most = room.min(MOST);
    let line = chronicle_core::words::one_line(text);
    if cells::width(&line) <= most {
        return line;
    }
    let kept = cells::shorten(&line, most.saturating_sub(1));
    let kept = kept.trim_end_matches('…');
    // Between words, unless one word is most of it.
    let is_most = |(kept, _): &(&str, &str)| cells::width(kept) > most / 2;
    let kept = kept.rsplit_once(' ').filter(is_most).map_or(kept, |(kept, _)| kept);
    format!("{} …", kept.trim_end())
}

/// The JSON output of this command.
#[derive(Debug, Serialize)]
struct ListDocument {
    workflows: Vec<ListedWorkflow>,
    personas: Vec<ListedPersona>,
    teams: Vec<ListedTeam>,
    rules: Vec<ListedRules>,
    problems: Vec<ListedProblem>,
}

#[derive(Debug, Serialize)]
struct ListedWorkflow {
    key: String,
    name: Option<String>,
    description: Option<String>,
    command: Option<String>,
    show: &'static str,
    format: &'static str,
    origin: ListedOrigin,
    usable: bool,
    phases: Vec<ListedPhase>,
    overrides: Vec<ListedOrigin>,
    problems: Vec<ListedProblem>,
}

#[derive(Debug, Serialize)]
struct ListedPhase {
    id: String,
    name: String,
    run: PhaseKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    persona: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow: Option<String>,
}

#[derive(Debug, Serialize)]
struct ListedPersona {
    name: String,
    description: String,
    model: Option<String>,
    tools: Option<Vec<String>>,
    origin: ListedOrigin,
    overrides: Vec<ListedOrigin>,
    problems: Vec<ListedProblem>,
}

#[derive(Debug, Serialize)]
struct ListedTeam {
    name: String,
    members: Vec<String>,
    not_covered: Vec<String>,
    origin: ListedOrigin,
}

#[derive(Debug, Serialize)]
struct ListedRules {
    count: usize,
    usable: bool,
    enforced: bool,
    origin: ListedOrigin,
    overrides: Vec<ListedOrigin>,
    problems: Vec<ListedProblem>,
}

#[derive(Debug, Serialize)]
struct ListedOrigin {
    level: &'static str,
    path: String,
}

#[derive(Debug, Serialize)]
struct ListedProblem {
    code: &'static str,
    severity: String,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl ListDocument {
    fn of(catalog: &Catalog) -> Self {
        Self {
            workflows: catalog.workflows.iter().map(ListedWorkflow::of).collect(),
            personas: catalog.personas.iter().map(ListedPersona::of).collect(),
            teams: catalog
                .teams
                .iter()
                .map(|found| ListedTeam {
                    name: found.team.name.clone(),
                    members: found.team.members.clone(),
                    not_covered: found.team.not_covered.clone(),
                    origin: ListedOrigin::of(&found.origin),
                })
                .collect(),
            rules: catalog
                .rules
                .iter()
                .map(|found| ListedRules {
                    count: found.read.rules.count(),
                    usable: found.read.is_usable(),
                    enforced: false,
                    origin: ListedOrigin::of(&found.origin),
                    overrides: origins(&found.overrides),
                    problems: problems(&found.read.problems),
                })
                .collect(),
            problems: problems(&catalog.problems.list),
        }
    }
}

impl ListedWorkflow {
    fn of(found: &FoundWorkflow) -> Self {
        let workflow = found.unit.workflow.as_ref();
        let phases = workflow.into_iter().flat_map(|workflow| &workflow.phases);
        Self {
            key: found.key.clone(),
            name: workflow.map(|workflow| workflow.name.clone()),
            description: workflow.and_then(|workflow| workflow.description.clone()),
            command: found.command().map(str::to_owned),
            show: match workflow.map(|workflow| workflow.show) {
                Some(Show::Workflows) => "workflows",
                Some(Show::User) | None => "user",
            },
            format: match found.origin.format {
                Some(Format::Phased) => "pi-workflows",
                Some(Format::Template) => "chronicle-json",
                Some(Format::Chain) => "agent-chain",
                Some(Format::Native) | None => "native",
            },
            origin: ListedOrigin::of(&found.origin),
            usable: found.is_usable,
            phases: phases
                .map(|phase| ListedPhase {
                    id: phase.id.to_string(),
                    name: phase.name.clone(),
                    run: phase.run,
                    persona: phase.persona.clone(),
                    workflow: phase.workflow.clone(),
                })
                .collect(),
            overrides: origins(&found.overrides),
            problems: problems(&found.problems),
        }
    }
}

impl ListedPersona {
    fn of(found: &FoundPersona) -> Self {
        Self {
            name: found.persona.name.clone(),
            description: found.persona.description.clone(),
            model: found.persona.model.clone(),
            tools: found.persona.tools.allow.clone(),
            origin: ListedOrigin::of(&found.origin),
            overrides: origins(&found.overrides),
            problems: problems(&found.problems),
        }
    }
}

impl ListedOrigin {
    fn of(origin: &Origin) -> Self {
        let level = match origin.level {
            Level::Project => "project",
            Level::User => "user",
            Level::Builtin => "built-in",
        };
        Self { level, path: origin.path.clone() }
    }
}

fn origins(origins: &[Origin]) -> Vec<ListedOrigin> {
    origins.iter().map(ListedOrigin::of).collect()
}

fn problems(problems: &[Problem]) -> Vec<ListedProblem> {
    let listed = problems.iter().map(|problem| ListedProblem {
        code: problem.code,
        severity: problem.severity.to_string(),
        file: problem.file.clone(),
        line: problem.span.as_ref().map(|_| problem.line),
        column: problem.span.as_ref().map(|_| problem.column),
        message: problem.message.clone(),
        hint: problem.hint.clone(),
    });
    listed.collect()
}
