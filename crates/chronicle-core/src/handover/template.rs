//! Values of words in braces: where an attempt is, and what the workflow says there.

use std::collections::BTreeSet;

use crate::base::ids::{DONE, FramePath, Place};
use crate::definition::template::{TEMPLATE_MAX, expand};
use crate::definition::workflow::{Phase, PhaseKind, Text, Tools, Workflow};
use crate::event::signal::STEP_TOOL;
use crate::state::{Attempt, State};

/// Stands for an empty list.
const NOBODY: &str = "(none)";

/// The position of an attempt, for words that depend on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stand<'s> {
    state: &'s State,
    place: &'s Place,
    phase: &'s Phase,
}

impl<'s> Stand<'s> {
    /// `None` once its frame has ended.
    pub(crate) fn of(state: &'s State, attempt: &'s Attempt) -> Option<Self> {
        let place = &attempt.intent.place;
        Some(Self { state, place, phase: state.phase_at(place)? })
    }

    /// A text of its workflow, or of the nearest one around it, expanded.
    pub(crate) fn text(self, text: Text) -> Option<String> {
        let said = self.frames().rev().find_map(|workflow| workflow.text(text))?;
        Some(expand(said, TEMPLATE_MAX, |word| self.value(text, word)))
    }

    /// The text that starts the first handover: only that of the run's own workflow.
    pub(crate) fn initial_message(self) -> Option<String> {
        let said = self.root()?.text(Text::InitialMessage)?;
        Some(expand(said, TEMPLATE_MAX, |word| self.value(Text::InitialMessage, word)))
    }

    /// The phase's instructions, expanded and cut to `max` bytes.
    pub(crate) fn instructions(self, max: usize) -> String {
        expand(&self.phase.instructions, max, |word| self.at_work(word))
    }

    /// The workflow's own wording for a refused tool; `None` if it has none.
    pub(crate) fn refusal(self, tool: &str) -> Option<String> {
        let said =
            self.frames().rev().find_map(|workflow| workflow.text(Text::BlockReasonTemplate))?;
        Some(expand(said, TEMPLATE_MAX, |word| match word {
            "toolName" => Some(tool.to_owned()),
            "workflowName" => self.root().map(|root| root.name.clone()),
            "phaseName" => Some(self.phase.name.clone()),
            "allowedTools" => Some(allowed_tools(&self.state.tools_of(self.phase))),
            _ => None,
        }))
    }

    /// Number of this phase and number of phases in its workflow, from 1.
    pub(crate) fn progress(self) -> Option<(usize, usize, &'s str)> {
        let workflow = self.frames().next_back()?;
        let index = workflow.phases.iter().position(|phase| phase.id == self.phase.id)?;
        Some((index + 1, workflow.phases.len(), &workflow.name))
    }

    fn value(self, text: Text, word: &str) -> Option<String> {
        match text {
            Text::InitialMessage => self.at_start(word),
            Text::RoleInstruction | Text::AdvanceReminder => self.at_work(word),
            Text::NotDoneReminder => self.not_done(word),
            Text::BlockReasonTemplate | Text::CompletionMessage => None,
        }
    }

    fn at_start(self, word: &str) -> Option<String> {
        let (workflow, first) = (self.root()?, self.first());
        match word {
            "workflowName" => Some(workflow.name.clone()),
            "workflowKey" => Some(workflow.key.clone()),
            "description" => self.task(),
            "firstPhaseId" => Some(first?.id.to_string()),
            "firstPhaseName" => Some(first?.name.clone()),
            "firstPhaseEmoji" => Some(first?.emoji.clone().unwrap_or_default()),
            "firstPhaseProfiles" => Some(listed(first?.available_profiles.as_deref())),
            _ => None,
        }
    }

    fn at_work(self, word: &str) -> Option<String> {
        match word {
            "workflowName" => Some(self.root()?.name.clone()),
            "workflowKey" => Some(self.root()?.key.clone()),
            "description" => self.task(),
            "taskId" => self.task_id(),
            "phaseId" => Some(self.phase.id.to_string()),
            "phaseName" => Some(self.phase.name.clone()),
            "previousPhaseName" => Some(self.previous()),
            "nextPhaseName" => Some(self.next()),
            "blockedToolsList" => Some(listed(Some(&self.state.tools_of(self.phase).deny))),
            "toolName" => Some(STEP_TOOL.to_owned()),
            "breadcrumbPath" => {
                let names: Vec<&str> = self.frames().map(|it| it.name.as_str()).collect();
                Some(names.join(" > "))
            }
            "globalStepCount" => Some(steps(self.state).to_string()),
            _ => None,
        }
    }

    fn not_done(self, word: &str) -> Option<String> {
        match word {
            "workflowName" | "workflowKey" | "taskId" | "phaseName" => self.at_work(word),
            "taskDescription" => self.task(),
            "phaseEmoji" => Some(self.phase.emoji.clone().unwrap_or_default()),
            "phaseInstructions" => Some(self.phase.instructions.clone()),
            _ => None,
        }
    }

    fn task(self) -> Option<String> {
        Some(self.state.run.as_ref()?.task.clone())
    }

    fn task_id(self) -> Option<String> {
        Some(self.state.run.as_ref()?.run.short().to_owned())
    }

    fn root(self) -> Option<&'s Workflow> {
        self.state.run.as_ref()?.workflows.first()
    }

    /// The workflows around this place, outermost first.
    fn frames(self) -> impl DoubleEndedIterator<Item = &'s Workflow> {
        let inside = self.place.frame();
        let around = self.state.frames.values().filter(move |it| inside.is_within(&it.path));
        around.filter_map(|frame| self.state.workflow(&frame.workflow))
    }

    /// The phase where the run's work begins, through workflows that begin with a workflow.
    fn first(self) -> Option<&'s Phase> {
        let mut workflow = self.root()?;
        // Bounded by the number of workflows: a cycle among them is refused when they are loaded, but a ledger may say
        // anything.
        for _ in 0..=self.state.run.as_ref()?.workflows.len() {
            let phase = workflow.phase(&workflow.initial)?;
            match phase.workflow.as_deref().filter(|_| phase.run == PhaseKind::Workflow) {
                Some(key) => workflow = self.state.workflow(key)?,
                None => return Some(phase),
            }
        }
        None
    }

    /// The phase that was left last in this frame.
    fn previous(self) -> String {
        let frame = self.place.frame();
        let visits = self.state.visits.iter().rev();
        let since = visits.take_while(|visit| frame.is_root() || !is_at(&visit.place, &frame));
        let mut here = since.filter(|visit| visit.place.frame() == frame && visit.left.is_some());
        let before = here.next().and_then(|visit| self.state.phase_at(&visit.place));
        before.map_or_else(|| "(start)".to_owned(), |phase| self.called(phase))
    }

    fn next(self) -> String {
        let workflow = self.frames().next_back();
        let name = |id| workflow.and_then(|it| it.phase(id)).map(|phase| self.called(phase));
        let ways = self.phase.next.iter().filter(|id| id.as_str() != DONE);
        let names: Vec<String> = ways.filter_map(name).collect();
        if names.is_empty() { "DONE".to_owned() } else { names.join(" or ") }
    }

    /// A phase that runs a workflow goes by that workflow's name.
    fn called(self, phase: &Phase) -> String {
        let Some(key) = phase.workflow.as_deref().filter(|_| phase.run == PhaseKind::Workflow)
        else {
            return phase.name.clone();
        };
        self.state.workflow(key).map_or_else(|| key.to_owned(), |workflow| workflow.name.clone())
    }
}

/// The completion text of the run's own workflow; `None` if it has none.
pub fn completion(state: &State) -> Option<String> {
    let run = state.run.as_ref()?;
    let root = run.workflows.first()?;
    let said = root.text(Text::CompletionMessage)?;
    Some(expand(said, TEMPLATE_MAX, |word| match word {
        "workflowName" => Some(root.name.clone()),
        "taskDescription" => Some(run.task.clone()),
        "taskId" => Some(run.run.short().to_owned()),
        "phaseCount" => Some(root.phases.len().to_string()),
        _ => None,
    }))
}

/// Number of phases left so far; a phase that runs a workflow counts as its phases.
fn steps(state: &State) -> usize {
    let frames: BTreeSet<FramePath> = state.places.keys().map(Place::frame).collect();
    let places = state.places.iter().filter(|(place, _)| !frames.contains(&place.frame_below()));
    places.map(|(_, tally)| tally.departures).sum()
}

fn is_at(place: &Place, frame: &FramePath) -> bool {
    place.as_str() == frame.as_str()
}

fn listed(names: Option<&[String]>) -> String {
    match names {
        None | Some([]) => NOBODY.to_owned(),
        Some(names) => names.join(", "),
    }
}

fn allowed_tools(tools: &Tools) -> String {
    match (&tools.allow, tools.deny.as_slice()) {
        (Some(allow), _) => allow.join(", "),
        (None, deny) => format!("all except: {}", deny.join(", ")),
    }
}
