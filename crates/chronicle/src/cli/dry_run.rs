//! `chronicle run --dry-run`: what a run would do, told before it is begun.

use std::fmt::Write as _;

use chronicle_core::base::quote;
use chronicle_core::definition::workflow::{Workflow, agent_and_model, unbounded};
use chronicle_core::engine::rehearsal::{Rehearsal, SCENES_MAX, Scene, rehearse};
use chronicle_core::event::RunStarted;
use chronicle_core::words;
use chronicle_runtime::handle::trust::Unknown;
use chronicle_runtime::handle::{agents, definitions};

use super::{Setting, json};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal::{self, Ink, Paint};

/// Shows what would happen. Nothing starts, and nothing is written.
pub(super) fn show(
    setting: &Setting,
    start: RunStarted,
    untrusted: &Unknown,
    is_apart: bool,
) -> Result<Exit, Failure> {
    let (task, workflows) = (start.task.clone(), start.workflows.clone());
    // The real engine decides here, on a state that is thrown away: a dry run that had its own rules would show another
    // path.
    let rehearsal = rehearse(start);
    let mut notes = notes(setting, &rehearsal, &workflows);
    notes.extend(trust_note(untrusted));
    notes.extend(is_apart.then(|| {
        "The run works in a folder of its own; once it is over, `chronicle merge` brings its work into the project.".to_owned()
    }));
    if setting.json {
        json::say_document(&serde_json::json!({
            "task": task, "rehearsal": rehearsal, "notes": notes,
        }))?;
        return Ok(Exit::Done);
    }
    let paint = Paint::stdout();
    let name = workflows.first().map_or("", |main| main.name.as_str());
    let mut text = format!(
        "Dry run of `{name}` on \"{}\": no agent starts, nothing is written.\n\
         ‹…› stands for what only a run knows.\n",
        words::one_line(&task)
    );
    for (index, scene) in rehearsal.scenes.iter().enumerate() {
        let _ = write!(text, "\n{}", one(paint, index + 1, scene));
    }
    let _ = writeln!(text, "\n{}", ending(&rehearsal));
    for note in notes {
        let _ = writeln!(text, "{} {note}", paint.ink(Ink::Busy, "note:"));
    }
    terminal::say_wrapped(text.trim_end());
    Ok(Exit::Done)
}

fn ending(rehearsal: &Rehearsal) -> String {
    let ends = match &rehearsal.ends {
        Ok(()) => "The main way comes to the end.".to_owned(),
        Err(why) => format!("The main way does not come to the end: {}.", words::whole(why)),
    };
    if rehearsal.is_cut { format!("{ends} Only {SCENES_MAX} phases are shown.") } else { ends }
}

fn one(paint: Paint, number: usize, scene: &Scene) -> String {
    let place = paint.ink(Ink::Strong, scene.place.as_str());
    let mut text = format!("{number:>3}  {place}  {}\n", words::one_line(&scene.name));
    let mut row = |title: &str, said: String| {
        let _ = writeln!(text, "     {} {}", paint.ink(Ink::Dim, &format!("{title:<9}")), said);
    };
    if let Some(through) = &scene.through {
        let outcome = through.outcome.as_ref().map_or_else(String::new, |it| format!(" on `{it}`"));
        row("through", format!("`{}`{outcome}", through.from));
    }
    match scene.commands.as_slice() {
        [] => {
            row("agent", agent(scene));
            scene.fallback.iter().for_each(|it| row("fallback", words::one_line(it)));
        }
        commands => commands.iter().for_each(|it| row("command", words::one_line(it))),
    }
    if let (Some(persona), []) = (&scene.persona, scene.commands.as_slice()) {
        row("persona", words::one_line(persona));
    }
    if let Some(tools) = tools(scene) {
        row("tools", tools);
    }
    scene.verify.iter().for_each(|it| row("verify", words::one_line(it)));
    scene.cleanup.iter().for_each(|it| row("cleanup", words::one_line(it)));
    row("limits", limits(scene));
    scene.asks.iter().for_each(|ask| row("asks you", words::whole(ask)));
    row("leads to", ways(scene));
    if let Some(handover) = &scene.handover {
        row("handover", format!("{} bytes, as it would be sent:", handover.len()));
        for line in handover.lines() {
            // A handover quotes files of the project: a terminal must not act on an escape in one of them.
            let _ = writeln!(text, "     {} {}", paint.ink(Ink::Dim, "│"), quote::plain(line));
        }
    }
    text
}

fn agent(scene: &Scene) -> String {
    let agent = if scene.agent.is_empty() { "none is named" } else { &scene.agent };
    let thinking = scene.thinking.as_ref().map(|it| format!("thinking {it}"));
    let parts = [Some(agent.to_owned()), scene.model.clone(), thinking];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn tools(scene: &Scene) -> Option<String> {
    match (&scene.allow, scene.deny.as_slice()) {
        (Some(allow), _) if allow.is_empty() => Some("none but Chronicle's own".to_owned()),
        (Some(allow), _) => Some(format!("only {}", allow.join(", "))),
        (None, []) => None,
        (None, deny) => Some(format!("all but {}", deny.join(", "))),
    }
}

fn limits(scene: &Scene) -> String {
    let time = scene.timeout_ms.map_or_else(|| "no time limit".to_owned(), words::duration);
    let idle = scene
        .idle_ms
        .map_or_else(String::new, |ms| format!(", stuck after {} of silence", words::duration(ms)));
    format!("{time}{idle}")
}

fn ways(scene: &Scene) -> String {
    let ways = scene.ways.iter().map(|(outcome, target)| match outcome {
        Some(outcome) => format!("on {outcome}: {target}"),
        None => target.to_string(),
    });
    ways.collect::<Vec<_>>().join(", ")
}

/// A run would first ask; without a terminal it would refuse.
fn trust_note(untrusted: &Unknown) -> Option<String> {
    let names: Vec<String> =
        untrusted.changed.iter().chain(&untrusted.new).map(|name| format!("`{name}`")).collect();
    let what = if untrusted.is_known_folder {
        "has changed since you trusted it"
    } else {
        "is not trusted on this machine yet"
    };
    (!names.is_empty()).then(|| {
        format!(
            "the project {what}: `run` would first ask about {}; `chronicle trust` agrees to them",
            names.join(", ")
        )
    })
}

/// What a person should know before they start it.
fn notes(setting: &Setting, rehearsal: &Rehearsal, workflows: &[Workflow]) -> Vec<String> {
    let mut notes = Vec::new();
    let mut agents: Vec<&str> = Vec::new();
    for scene in rehearsal.scenes.iter().filter(|scene| scene.handover.is_some()) {
        let fallback = scene.fallback.iter().map(|it| agent_and_model(it).0);
        for agent in std::iter::once(scene.agent.as_str()).chain(fallback) {
            if !agents.contains(&agent) {
                agents.push(agent);
            }
        }
    }
    let settings = definitions::settings(&setting.project).settings;
    for agent in agents {
        match agents::check(agent, &setting.project, &settings) {
            Ok(()) => {}
            Err(_) if agent.is_empty() => {
                notes.push("no agent is named: `run` would need `--agent`".to_owned());
            }
            Err(error) => notes.push(format!("{error}: `run` would refuse it")),
        }
    }
    for workflow in workflows {
        let phases: Vec<String> = unbounded(workflow).iter().map(|id| format!("`{id}`")).collect();
        if !phases.is_empty() {
            notes.push(format!(
                "nothing bounds how long {} of `{}` may work: no `limits.timeout`, no `budget`",
                phases.join(", "),
                workflow.key
            ));
        }
    }
    notes
}
