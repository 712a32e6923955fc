//! `chronicle guard`: shows what guards the calls of workers, and what they say to a call.

use chronicle_core::base::tools::{ToolKind, usual_kind};
use chronicle_core::definition::guard::{FrozenRules, PathRule, RuleFile, Rules};
use chronicle_core::definition::persona::Persona;
use chronicle_core::definition::workflow::{Phase, Tools, Workflow};
use chronicle_core::event::signal::{is_ours, is_ours_of_server};
use chronicle_core::guard::{AskedCall, Judgement, PROTECTED, RuleKind};
use chronicle_core::words;
use chronicle_runtime::handle::{self, definitions};
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Setting, config, json as output, problems, with_rules};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal::{self, Ink, Paint};

/// Show the rules about tool calls, and what they say to a call
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  chronicle guard list                              every rule, and where it is written
  chronicle guard explain -- bash 'git push --force'")]
pub(super) struct GuardArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Explain(ExplainArgs),
    List(ListArgs),
}

/// Say what would become of a call, and by which rule
///
/// Nothing is run. Links and patterns are looked up on this disk, as they are for a worker's call.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  chronicle guard explain -- bash 'git push --force'
  chronicle guard explain --phase review -- Edit '{\"file_path\": \"src/main.rs\"}'
  chronicle guard explain --run 5f3a9c1e --phase build --json -- Bash '{\"command\": \"make\"}'")]
struct ExplainArgs {
    /// Also ask the lists of tools of this phase
    #[arg(long, value_name = "PHASE")]
    phase: Option<String>,

    /// The workflow of the phase, if several have one of that name
    #[arg(long, value_name = "NAME", requires = "phase", conflicts_with = "run")]
    workflow: Option<String>,

    /// Ask the rules and lists that were frozen into this run
    #[arg(long, value_name = "RUN")]
    run: Option<String>,

    /// The tool, as its agent calls it
    tool: String,

    /// Its arguments: a JSON object, or just the command or path that it gets
    input: String,
}

/// List every rule that is in force, and where it is written
#[derive(Debug, Args)]
struct ListArgs {
    /// The rules that were frozen into this run, instead of those that a new one would get
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
}

pub(super) fn cmd_guard(setting: &Setting, args: &GuardArgs) -> Result<Exit, Failure> {
    match &args.what {
        What::Explain(args) => explain(setting, args),
        What::List(args) => list(setting, args),
    }
}

/// The rules that are asked, and the lists of the phase.
struct Asked {
    rules: FrozenRules,
    tools: Option<Tools>,
}

fn explain(setting: &Setting, args: &ExplainArgs) -> Result<Exit, Failure> {
    let asked = asked(setting, args)?;
    let kind = usual_kind(&args.tool);
    let input = input(kind, &args.input)?;
    let call = AskedCall {
        tool: &args.tool,
        kind,
        input: &input,
        by_sub_agent: false,
        is_signal: is_ours(&args.tool) || is_ours_of_server(&args.tool),
    };
    let judged =
        handle::guard::explain(&setting.project, &asked.rules, asked.tools.as_ref(), &call)
            .map_err(|why| Failure::new(Exit::Definition, why))?;
    let row = VerdictRow::of(&args.tool, kind, &judged);
    if setting.json {
        output::say_document(&row)?;
    } else {
        terminal::say_wrapped(&row.lines().join("\n"));
    }
    Ok(Exit::Done)
}

fn asked(setting: &Setting, args: &ExplainArgs) -> Result<Asked, Failure> {
    if let Some(run) = &args.run {
        let started = handle::guard::frozen(&setting.run(Some(run))?)?;
        let rules = started.rules.clone().unwrap_or_else(FrozenRules::built_in);
        let found = args.phase.as_deref().map(|name| {
            let places: Vec<(&Workflow, &Phase)> = phases(&started.workflows, name).collect();
            one_phase(&places, name, &started.personas)
        });
        return Ok(Asked { rules, tools: found.transpose()? });
    }
    let found = config::load(setting)?;
    let places = definitions::Places {
        limits: found.settings.limits(),
        ..definitions::Places::of(&setting.project)
    };
    let catalog = definitions::find_in(&places);
    let frozen = |loaded: &[Workflow]| {
        with_rules::judge(&setting.project, &catalog, &found.settings, loaded)
    };
    let Some(phase) = args.phase.as_deref() else {
        return Ok(Asked { rules: frozen(&[])?.frozen, tools: None });
    };
    let mut loaded: Vec<Workflow> = Vec::new();
    if let Some(name) = &args.workflow {
        let named = catalog.named(&places, name)?;
        problems::judge(&named)?;
        loaded.extend(named.workflows);
    } else {
        let keys = catalog.workflows.iter().map(|found| found.key.as_str());
        for named in keys.filter_map(|key| catalog.named(&places, key).ok()) {
            let has = |it: &Workflow| phases(std::slice::from_ref(it), phase).next().is_some();
            if named.workflows.first().is_some_and(has) {
                // A list that cannot be read, such as that of a persona, may deny what the others allow.
                problems::judge(&named)?;
                loaded.extend(named.workflows.into_iter().take(1));
            }
        }
    }
    let rules = frozen(&loaded)?.frozen;
    let personas = catalog.personas_of(&loaded);
    let all: Vec<(&Workflow, &Phase)> = phases(&loaded, phase).collect();
    Ok(Asked { rules, tools: Some(one_phase(&all, phase, &personas)?) })
}

fn phases<'w>(
    workflows: &'w [Workflow],
    name: &str,
) -> impl Iterator<Item = (&'w Workflow, &'w Phase)> {
    let name = name.to_owned();
    workflows.iter().flat_map(move |workflow| {
        let name = name.clone();
        let phases = workflow.phases.iter().filter(move |phase| phase.id.as_str() == name);
        phases.map(move |phase| (workflow, phase))
    })
}

/// The lists of a phase that only one workflow has.
fn one_phase(
    found: &[(&Workflow, &Phase)],
    name: &str,
    personas: &[Persona],
) -> Result<Tools, Failure> {
    match found {
        [] => Err(Failure::usage(format!("no workflow here has a phase `{name}`"))
            .hint("see `chronicle list`, and `chronicle graph NAME`")),
        [(_, phase)] => {
            let persona = phase.persona.as_deref();
            let persona = persona.and_then(|name| personas.iter().find(|it| it.is_called(name)));
            Ok(phase.tools.with(persona.map(|persona| &persona.tools)).into_owned())
        }
        several => {
            let names: Vec<&str> = several.iter().map(|(it, _)| it.key.as_str()).collect();
            Err(Failure::usage(format!("several workflows have a phase `{name}`"))
                .hint(format!("name one with `--workflow`: {}", names.join(", "))))
        }
    }
}

/// The arguments of a call. A plain text is the command or path that most tools take.
fn input(kind: ToolKind, text: &str) -> Result<Value, Failure> {
    match serde_json::from_str::<Value>(text) {
        // Some tools get a text alone, or a list.
        Ok(input @ (Value::Object(_) | Value::String(_) | Value::Array(_))) => Ok(input),
        // In a shell a brace begins a group.
        _ if text.trim_start().starts_with('{') && !(kind == ToolKind::Run && is_group(text)) => {
            let error = serde_json::from_str::<Value>(text).err();
            let why = error.map_or_else(String::new, |error| format!(": {error}"));
            Err(Failure::usage(format!("the arguments are no JSON object{why}"))
                .hint("quote them for your shell: '{\"command\": \"make\"}'"))
        }
        _ if kind == ToolKind::Run || kind.is_unknown() => Ok(json!({ "command": text })),
        _ => Ok(json!({ "path": text })),
    }
}

/// True for commands in braces. An object has a quote or its end there, or a name whose quotes a shell has taken.
fn is_group(text: &str) -> bool {
    let inside = text.trim_start().strip_prefix('{').unwrap_or(text);
    let first = inside.split_whitespace().next().unwrap_or("}");
    inside.contains('}') && !first.starts_with(['"', '}']) && !first.ends_with(':')
}

/// What would become of a call.
#[derive(Debug, Serialize)]
struct VerdictRow<'c> {
    verdict: &'static str,
    tool: &'c str,
    kind: ToolKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<RuleRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// The rule that decides, and where it is written.
#[derive(Debug, Serialize)]
struct RuleRow {
    kind: RuleKind,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
}

impl<'c> VerdictRow<'c> {
    fn of(tool: &'c str, kind: ToolKind, judged: &Judgement) -> Self {
        let (verdict, rule, why) = match judged {
            Judgement::Clear => ("allow", None, None),
            Judgement::Ask { rule, why } => ("ask", Some(rule), Some(why.clone())),
            Judgement::Deny { rule, why } => ("deny", Some(rule), Some(why.clone())),
        };
        let rule = rule.map(|rule| RuleRow {
            kind: rule.kind,
            text: rule.text.clone(),
            file: rule.at.as_ref().map(|at| at.file.clone()),
            line: rule.at.as_ref().map(|at| at.line),
        });
        Self { verdict, tool, kind, rule, why }
    }

    fn lines(&self) -> Vec<String> {
        let ink = match self.verdict {
            "allow" => Ink::Good,
            "ask" => Ink::Busy,
            _ => Ink::Bad,
        };
        let tool = words::one_line(self.tool);
        let mut lines = vec![format!("{}  {tool}", Paint::stdout().ink(ink, self.verdict))];
        lines.extend(self.rule.as_ref().map(|rule| {
            let at = match (&rule.file, rule.line) {
                (Some(file), Some(line)) => format!(" ({file}:{line})"),
                _ => String::new(),
            };
            format!("  rule: {} `{}`{at}", rule.kind, words::one_line(&rule.text))
        }));
        lines.extend(self.why.as_ref().map(|why| format!("  why: {}", words::whole(why))));
        lines
    }
}

fn list(setting: &Setting, args: &ListArgs) -> Result<Exit, Failure> {
    let frozen = if let Some(run) = &args.run {
        let started = handle::guard::frozen(&setting.run(Some(run))?)?;
        started.rules.clone().unwrap_or_else(FrozenRules::built_in)
    } else {
        let found = config::load(setting)?;
        let catalog = definitions::find(&setting.project);
        with_rules::judge(&setting.project, &catalog, &found.settings, &[])?.frozen
    };
    let read = frozen.read().map_err(|why| Failure::new(Exit::Definition, why))?;
    if setting.json {
        let files = frozen.files().iter().zip(&read);
        let files = files.map(|(file, rules)| FileRow { file: &file.name, rules }).collect();
        output::say_document(&Listed { count: frozen.count(), protected: PROTECTED, files })?;
        return Ok(Exit::Done);
    }
    terminal::say_wrapped(&listed(&frozen, &read).join("\n"));
    Ok(Exit::Done)
}

/// Everything that is in force.
#[derive(Debug, Serialize)]
struct Listed<'r> {
    count: usize,
    protected: &'static [&'static str],
    files: Vec<FileRow<'r>>,
}

#[derive(Debug, Serialize)]
struct FileRow<'r> {
    file: &'r str,
    rules: &'r Rules,
}

fn listed(frozen: &FrozenRules, read: &[Rules]) -> Vec<String> {
    let paint = Paint::stdout();
    let mut lines = vec![paint.ink(Ink::Strong, "Always denied").clone()];
    lines.extend(PROTECTED.iter().map(|what| format!("  {what}")));
    for (RuleFile { name, count, .. }, rules) in frozen.files().iter().zip(read) {
        lines.push(String::new());
        let many = if *count == 1 { "1 rule".to_owned() } else { format!("{count} rules") };
        lines.push(format!("{}  {many}", paint.ink(Ink::Strong, name)));
        let at = |line: usize| paint.ink(Ink::Dim, &format!("{line:>5}"));
        for rule in &rules.commands {
            let what = if rule.ask { "ask" } else { "deny" };
            let (pattern, reason) = (words::one_line(&rule.pattern), words::one_line(&rule.reason));
            let reason = if reason.is_empty() { "a rule forbids it" } else { &reason };
            lines.push(format!("{}  {what:<9} {reason}", at(rule.at.line)));
            // Long and for few readers: below what it is about.
            lines.push(format!("{:17}{}", "", paint.ink(Ink::Dim, &pattern)));
        }
        let paths = [
            ("no access", &rules.zero_access),
            ("no access", &rules.sensitive),
            ("ask", &rules.ask),
            ("read only", &rules.read_only),
            ("no delete", &rules.no_delete),
            ("free", &rules.free),
        ];
        for (what, list) in paths {
            let row = |rule: &PathRule| {
                format!("{}  {what:<9} {}", at(rule.at.line), words::one_line(&rule.path))
            };
            lines.extend(list.iter().map(row));
        }
    }
    if frozen.count() == 0 {
        lines.push(String::new());
        lines.push(
            paint.ink(Ink::Bad, "no rules: the built-in ones are off, and there are no others"),
        );
    }
    lines
}
