//! Everything that a performer needs to start an attempt, derived from the state.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::base::ids::{AttemptId, PhaseId};
use crate::base::ids::{FolderId, SHELL};
use crate::definition::environment::EnvList;
use crate::definition::workflow::{Phase, Tools, Workflow, allowed_targets};
use crate::event::{AttemptStarted, Duty};
use crate::handover::handover;
use crate::state::State;

/// The order for one attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// The event that started it.
    pub intent: AttemptStarted,
    /// The folder to start its processes in.
    pub folder: FolderId,
    /// Other folders that it may look into, and not change: those of the racers whose work it judges.
    pub sees: Vec<FolderId>,
    /// The task of the run, as the person wrote it.
    pub task: String,
    /// The handover; empty for commands.
    pub handover: String,
    /// The prompt of its persona.
    pub persona: Option<String>,
    /// Its model; `None` leaves it to the agent.
    pub model: Option<String>,
    /// Its thinking level; `None` leaves it to the agent.
    pub thinking: Option<String>,
    /// Which tools it may call.
    pub tools: Tools,
    /// Targets that it may choose.
    pub targets: Vec<PhaseId>,
    /// Environment variables of the workflow and of the phase.
    pub env: BTreeMap<String, String>,
    /// Which variables of the user they let through.
    pub env_names: EnvList,
    /// True if it uses a home folder of the run's own.
    pub isolated: bool,
    /// Shell commands to run in order, with their indexes; empty for an agent.
    pub commands: Vec<(u32, String)>,
    /// Active milliseconds without output after which it counts as stuck.
    pub idle_ms: Option<u64>,
}

impl Work {
    /// True if a failed command does not stop the others.
    pub fn goes_on(&self) -> bool {
        self.intent.chore.as_ref().is_some_and(|chore| chore.duty == Duty::Cleanup)
    }

    /// Whether this attempt runs shell commands instead of an agent.
    pub fn is_shell(&self) -> bool {
        self.intent.agent == SHELL
    }
}

/// The order for an attempt; `None` if it is not live.
pub fn work(state: &State, id: AttemptId) -> Option<Work> {
    let run = state.run.as_ref()?;
    // An effect may still be listed for an attempt that ended within the same batch.
    let attempt = state.attempt(id).filter(|attempt| attempt.ended.is_none())?;
    let intent = attempt.intent.clone();
    let phase = state.phase_for(&intent)?;
    let helper = intent.persona.as_ref();
    let own = helper.and_then(|persona| state.phase_of_persona(&intent.place, persona));
    let worker = own.unwrap_or(phase);
    let workflow = state.workflow_for(&intent)?;
    let persona = state.persona_for(&intent);
    let prompt = persona.map(|it| it.prompt.clone());
    // A phase may have its persona as a text. The bare name of a helper is the last resort.
    let text = || own.and_then(|own| own.persona.clone());
    let commands = intent.chore.as_ref().map_or(&phase.commands, |chore| &chore.commands);
    let commands = (0u32..).zip(commands.iter().cloned());
    let (env, env_names) = environment(workflow, phase, &intent);
    Some(Work {
        folder: intent.folder,
        sees: seen(state, &intent),
        task: run.task.clone(),
        handover: if intent.agent == SHELL { String::new() } else { handover(state, attempt) },
        persona: prompt
            .or_else(text)
            .or_else(|| helper.cloned())
            .or_else(|| worker.persona.clone()),
        model: state.model_for(&intent).map(str::to_owned),
        thinking: worker.thinking.clone().or_else(|| persona?.thinking.clone()),
        tools: state.tools_for(&intent).map(Cow::into_owned).unwrap_or_default(),
        // A helper does not choose where the phase leads: it ends its help, and whoever asked goes on.
        targets: if helper.is_some() { Vec::new() } else { allowed_targets(phase) },
        env,
        env_names,
        isolated: run.isolated || persona.is_some_and(|persona| persona.isolated),
        // With their own numbers, which reports use: an attempt may begin in the middle of the list.
        commands: commands.filter(|(index, _)| *index >= intent.first_command).collect(),
        // A command may be silent for as long as it works. It has a timeout instead.
        idle_ms: phase.limits.idle_ms.filter(|_| intent.agent != SHELL),
        intent,
    })
}

/// The folders of the racers among whom an attempt chooses.
fn seen(state: &State, intent: &AttemptStarted) -> Vec<FolderId> {
    let frame = state.frames.get(&intent.place.frame());
    let judged = frame.and_then(|frame| state.judged_by(frame));
    let racers = judged.into_iter().flat_map(|(_, pool)| pool.finishers());
    racers.filter_map(|step| step.folder).collect()
}

/// What the innermost workflow and the phase say. A workflow inside another must not depend on who uses it.
fn environment(
    workflow: &Workflow,
    phase: &Phase,
    intent: &AttemptStarted,
) -> (BTreeMap<String, String>, EnvList) {
    let (env, names) = (workflow.env.clone(), workflow.env_names.clone());
    // Then the phase is the one around that workflow.
    if intent.chore.as_ref().is_some_and(|chore| chore.workflow.is_some()) {
        return (env, names);
    }
    (env.into_iter().chain(phase.env.clone()).collect(), names.and(&phase.env_names))
}
