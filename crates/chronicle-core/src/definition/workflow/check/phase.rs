//! Reads and checks one phase; its edges are kept as written.

use super::super::draft::{Named, PhaseDraft, Span};
use super::super::format::PHASE;
use super::super::model::{Approval, Phase, PhaseKind, SessionUse};
use super::super::problem::{Finding, NOT_PLAIN, Problems, quoted};
use super::super::suggest::closest;
use super::super::unit::Format;
use super::fields::Fields;
use super::{Upon, env, misplaced, pools, shared, tools, walls};
use crate::base::ids::{DONE, HUMAN_INTERVENTION, Outcome, PhaseId};
use crate::base::quote::is_deceptive;
use crate::definition::workflow::{CHANGED_FILES, SIGNALS, THINKING, signal_named};

/// Longest id of a phase, in bytes.
const ID_MAX: usize = 100;

const RUNS: &[(&str, PhaseKind)] = &[
    ("worker", PhaseKind::Worker),
    ("inline", PhaseKind::Inline),
    ("command", PhaseKind::Command),
    ("pool", PhaseKind::Pool),
    ("race", PhaseKind::Race),
    ("workflow", PhaseKind::Workflow),
    ("human", PhaseKind::Human),
];
const APPROVALS: &[(&str, Approval)] = &[
    ("none", Approval::None),
    ("before", Approval::Before),
    ("after", Approval::After),
    ("both", Approval::Both),
    ("false", Approval::None),
    ("true", Approval::After),
];
const APPROVAL_MODES: &[(&str, Approval)] = &[("pre", Approval::Before), ("post", Approval::After)];
const SESSIONS: &[(&str, SessionUse)] =
    &[("fresh", SessionUse::Fresh), ("continue", SessionUse::Continue)];
const PRODUCTS: &[(&str, &str)] = &[("steps", "steps")];

/// A phase without its edges, and its edges as written.
pub(crate) struct PhaseRead {
    /// Everything but `next` and `on`.
    pub phase: Phase,
    /// Where its id stands.
    pub at: Span,
    /// `next`; none when omitted.
    pub next: Option<Vec<Named>>,
    /// `on`: pairs of outcome and target.
    pub on: Vec<(Named, Named)>,
    /// The workflow that it runs.
    pub call: Option<Named>,
}

/// Reads one phase; `None` if it has no usable id.
pub(crate) fn read(
    draft: &PhaseDraft,
    upon: Upon<'_>,
    problems: &mut Problems,
) -> Option<PhaseRead> {
    let mut fields = Fields::new(&PHASE, &draft.fields, problems);
    let call = fields.named("workflow");
    let id = read_id(&mut fields, draft, call.as_ref());
    if let Some(id) = &id {
        tell_reserved(id, upon.format, fields.problems);
    }
    let limits = shared::limits(&mut fields, upon.limits);
    let next = fields.named_list("next");
    let on = fields.pairs("on");
    let at = id.as_ref().map_or(draft.span, |id| id.at);
    // Read on without an id: everything else that is wrong with the phase is told too, and the phase is dropped at the end.
    let phase_id = PhaseId::new(id.as_ref().map_or(String::new(), |id| id.text.clone()));
    let mut phase = Phase { outcomes: read_outcomes(&mut fields), ..Phase::new(phase_id, limits) };
    read_words(&mut fields, &mut phase);
    read_work(&mut fields, &mut phase, call.as_ref(), at);
    phase.tools = tools::read(&mut fields, upon.format);
    read_rules(&mut fields, &mut phase);
    // Last, since only now it is known who does the work, from `run` or from what implies it.
    misplaced::tell(&mut fields, phase.run, upon.format);
    fields.finish();
    id.map(|_| PhaseRead { phase, at, next, on, call })
}

/// The id: the key of the map, its own, or that of the workflow that it runs.
fn read_id(fields: &mut Fields<'_, '_>, draft: &PhaseDraft, call: Option<&Named>) -> Option<Named> {
    let own = fields.named("id");
    if let (Some(key), Some(own)) = (&draft.key, &own)
        && key.text != own.text
    {
        let message = format!("{} is called {} here", quoted(&key.text), quoted(&own.text));
        fields
            .problems
            .push(Finding::error("conflicting-fields", own.at, message).hint("remove `id`"));
    }
    // A phase that runs another workflow may be named after it.
    let Some(id) = draft.key.clone().or(own).or_else(|| call.cloned()) else {
        let finding = Finding::error("missing-id", draft.span, "a phase without an id");
        fields.problems.push(finding.hint("add `id:`"));
        return None;
    };
    (!tell_bad_id(&id, fields.problems)).then_some(id)
}

/// Reports reserved ids. Readers of other formats have renamed states that use them.
fn tell_reserved(id: &Named, format: Format, problems: &mut Problems) {
    let why = match id.text.as_str() {
        HUMAN_INTERVENTION => "waits for a person",
        DONE if format == Format::Native => "ends the workflow",
        _ => return,
    };
    let message = format!("`{}` {why}: a phase of that name never works", id.text);
    let finding = match format {
        Format::Native => Finding::error("reserved-id", id.at, message),
        // Not an error there: such a file works in the program that it was made for, and does not know our words.
        Format::Phased | Format::Template | Format::Chain => {
            Finding::warning("reserved-id", id.at, message)
        }
    };
    problems.push(finding.hint("give it another name"));
}

/// Reports an id that could not be part of a place. Returns true if it did.
pub(crate) fn tell_bad_id(id: &Named, problems: &mut Problems) -> bool {
    let Some(why) = unfit_id(&id.text) else { return false };
    problems.push(Finding::error("bad-id", id.at, format!("the id {} {why}", quoted(&id.text))));
    true
}

/// Why something cannot have an id; `None` if it can.
pub(crate) fn unfit_id(id: &str) -> Option<String> {
    if id.is_empty() {
        Some("is empty".to_owned())
    } else if id.len() > ID_MAX {
        Some(format!("is longer than {ID_MAX} bytes"))
    } else if id.contains('/') {
        Some("contains `/`, which separates places".to_owned())
    } else if id.contains(is_deceptive) {
        Some(NOT_PLAIN.to_owned())
    } else if id.trim() != id {
        Some("begins or ends with a space".to_owned())
    } else {
        None
    }
}

/// The name of a workflow or phase, for people. One that could fool them on a terminal is reported.
pub(crate) fn read_name(fields: &mut Fields<'_, '_>) -> Option<String> {
    let name = fields.named("name")?;
    if name.text.contains(is_deceptive) {
        let message = format!("the name {} {NOT_PLAIN}", quoted(&name.text));
        fields.problems.push(Finding::error("bad-name", name.at, message));
    }
    Some(name.text)
}

fn read_outcomes(fields: &mut Fields<'_, '_>) -> Vec<Outcome> {
    let named = fields.named_list("outcomes").unwrap_or_default();
    for word in named.iter().filter(|word| Outcome::new(word.text.as_str()).is_supervisors()) {
        let name = quoted(&word.text);
        let message =
            format!("{name} is what Chronicle itself says of a phase: no worker can leave with it");
        fields.problems.push(Finding::error("reserved-outcome", word.at, message));
    }
    named.into_iter().map(|word| Outcome::new(word.text)).collect()
}

/// What people and workers read, and who the worker is.
fn read_words(fields: &mut Fields<'_, '_>, phase: &mut Phase) {
    if let Some(name) = read_name(fields) {
        phase.name = name;
    }
    phase.emoji = fields.text_or_blank("emoji");
    phase.description = fields.text_or_blank("description");
    phase.instructions = fields.text_or_blank("instructions").unwrap_or_default();
    phase.persona = fields.text("persona");
    phase.agent = fields.text("agent");
    phase.model = fields.text("model");
    phase.thinking =
        fields.choice("thinking", &THINKING.map(|level| (level, level))).map(str::to_owned);
    phase.fallback = fields.texts("fallback").unwrap_or_default();
    phase.extra_skills = fields.texts("extra_skills").unwrap_or_default();
    phase.available_profiles = fields.texts("availableProfiles");
}

/// What is done, and by what kind of worker. A field that only another kind would use is reported.
fn read_work(fields: &mut Fields<'_, '_>, phase: &mut Phase, call: Option<&Named>, at: Span) {
    let commands = fields.texts("commands");
    let implied = match (&commands, call) {
        (Some(_), _) => PhaseKind::Command,
        (None, Some(_)) => PhaseKind::Workflow,
        (None, None) => PhaseKind::Worker,
    };
    phase.run = fields.choice("run", RUNS).unwrap_or(implied);
    phase.commands = commands.unwrap_or_default();
    phase.once = fields.flag("once").unwrap_or_default();
    phase.workflow = call.map(|call| call.text.clone());
    pools::read(fields, phase, at);
    let is = |kinds: &[PhaseKind]| kinds.contains(&phase.run);
    let is_pool_of_commands = phase.run == PhaseKind::Pool && !phase.commands.is_empty();
    let fits = [
        ("commands", is(&[PhaseKind::Command, PhaseKind::Pool]), "command"),
        ("once", is(&[PhaseKind::Command]) || is_pool_of_commands, "command"),
        ("workflow", is(&[PhaseKind::Workflow, PhaseKind::Pool]), "workflow"),
        (
            "requires",
            is(&[PhaseKind::Worker, PhaseKind::Inline, PhaseKind::Pool, PhaseKind::Race]),
            "worker",
        ),
        ("fallback", is(&[PhaseKind::Worker, PhaseKind::Pool, PhaseKind::Race]), "worker"),
    ];
    for (name, fit, run) in fits {
        if let (false, Some(field)) = (fit, fields.take(name)) {
            let message = format!("{} is for `run: {run}` only", quoted(&field.name));
            fields.problems.push(Finding::error("misplaced-field", field.at, message));
        }
    }
    tell_no_work(phase, at, fields.problems);
}

fn tell_no_work(phase: &Phase, at: Span, problems: &mut Problems) {
    let id = quoted(phase.id.as_str());
    if phase.run == PhaseKind::Command && phase.commands.is_empty() {
        let message = format!("{id} runs commands but names none");
        problems.push(Finding::error("no-commands", at, message).hint("add `commands:`"));
    }
    if phase.run == PhaseKind::Workflow && phase.workflow.is_none() {
        let message = format!("{id} runs a workflow but names none");
        problems.push(Finding::error("no-workflow", at, message).hint("add `workflow:`"));
    }
}

/// What holds while the phase works and when it is left.
fn read_rules(fields: &mut Fields<'_, '_>, phase: &mut Phase) {
    phase.signals = read_signals(fields);
    phase.followups = fields.texts("followups");
    (phase.approval, phase.shows_verdict) = read_approval(fields);
    phase.requires = read_requires(fields);
    phase.verify = fields.texts("verify").unwrap_or_default();
    phase.cleanup = fields.texts("cleanup").unwrap_or_default();
    (phase.env, phase.env_names) = env::read(fields);
    phase.walls = walls::read(fields);
    phase.budget = shared::budget(fields);
    phase.session = fields.choice("session", SESSIONS).unwrap_or_default();
    phase.produces = fields.choice("produces", PRODUCTS).map(str::to_owned);
}

fn unknown_signal(word: &Named) -> Finding {
    let names = SIGNALS.map(quoted).join(", ");
    let message = format!("no signal is called {}", quoted(&word.text));
    let finding = Finding::error("unknown-signal", word.at, message);
    let finding = finding.hint(format!("the signals are {names}"));
    finding.did_you_mean(closest(&word.text, SIGNALS))
}

/// Known signals, with at least one that leaves the phase.
fn read_signals(fields: &mut Fields<'_, '_>) -> Option<Vec<String>> {
    let at = fields.take("signals")?.at;
    let said = fields.named_list("signals")?;
    let mut known = Vec::new();
    for word in &said {
        if let Some(signal) = signal_named(&word.text) {
            known.push(signal);
        } else {
            fields.problems.push(unknown_signal(word));
        }
    }
    let leaves = known.iter().any(|it| ["complete", "needs-role-followup"].contains(it));
    // Not if a word is unknown: it may be the misspelt signal that leaves.
    if !leaves && known.len() == said.len() {
        let message = "with these `signals` the phase can never be left";
        let finding = Finding::error("no-leaving-signal", at, message);
        fields.problems.push(finding.hint("add `complete`, or leave `signals` out"));
    }
    Some(known.into_iter().map(str::to_owned).collect())
}

/// Reads requirements: known words, or commands as people type them.
fn read_requires(fields: &mut Fields<'_, '_>) -> Vec<String> {
    let Some(field) = fields.take("requires") else { return Vec::new() };
    let words = fields.texts("requires").unwrap_or_default();
    for word in &words {
        let plain = word.to_lowercase().replace(['_', '-', ' '], "");
        // A misspelt requirement would pass for a command that nobody ever runs, and the phase could never be left.
        let is_name = word.contains('_') && !word.contains(['/', '.', ' ']);
        let meant = ["changedfiles", "changedfile", "filechanges", "fileschanged", "files"];
        if word != CHANGED_FILES && (is_name || meant.contains(&plain.as_str())) {
            let message = format!("`requires` does not know {}", quoted(word));
            let finding = Finding::error("unknown-requirement", field.at, message);
            let hint = if meant.contains(&plain.as_str()) {
                format!("did you mean `{CHANGED_FILES}`?")
            } else {
                format!("write `{CHANGED_FILES}`, or a command as it is typed: `./{word}`")
            };
            fields.problems.push(finding.hint(hint));
        }
    }
    words
}

/// `approval`, or the two older fields for the same. The flag says whether the worker's verdict is shown to whoever approves;
/// only `approval_mode: post` asks for that.
fn read_approval(fields: &mut Fields<'_, '_>) -> (Approval, bool) {
    // Both are taken in any case: a field that is not asked for counts as unknown.
    let older = fields.take("requires_approval").or(fields.take("approval_mode"));
    let required = fields.flag("requires_approval");
    let mode = fields.choice("approval_mode", APPROVAL_MODES);
    let said = fields.choice("approval", APPROVALS);
    if let (Some(said), Some(older)) = (said, older) {
        let name = quoted(&older.name);
        let message = format!("{name} and `approval` say the same");
        let finding = Finding::error("conflicting-fields", older.at, message);
        fields.problems.push(finding.hint(format!("remove {name}")));
        return (said, false);
    }
    let approval = match (said, required, mode) {
        (Some(said), _, _) => said,
        (None, Some(false), _) | (None, None, None) => Approval::None,
        // What The Chronicle does whose field it is; `approval: true`, which is ours, means after.
        (None, Some(true), None) => Approval::Before,
        (None, Some(true) | None, Some(mode)) => mode,
    };
    // Only The Chronicle's own field shows a verdict. `approval: after` is ours, and asks about the work alone.
    (approval, mode.is_some() && approval.is_after())
}
