//! One sentence per event: the only list of all events in this layer. It does not compile while one lacks its sentence.

use super::attempt::{
    attempt_ended, attempt_started, changed, ended_with, from_command, reported, stop, tool_called,
};
use super::gate::{answered, gate_opened, with_agent};
use super::proof::works_unproven;
use super::quote::{because, quote, saying};
use super::room::room_awaited;
use super::said::unless_complete;
use super::walls::{rewalled, wall_hit};
use super::{
    apart, budget, edge_taken, fallback, go_asked, loops, notice, permission, plain, pool,
    position, race, said, trees, wait,
};
use crate::base::ids::{FramePath, GateId, Outcome};
use crate::event::{Event, GateAnswer, LedgerRepaired, RunStarted};

/// What happened, as one sentence. What agents said is in it, so control characters go: they could fool a terminal.
pub fn sentence(event: &Event) -> String {
    plain(&raw_sentence(event))
}

fn raw_sentence(event: &Event) -> String {
    match event {
        Event::RunStarted(run) => run_started(run),
        Event::SupervisorStarted(it) => format!("supervisor {} took over", it.pid),
        Event::TailSetAside { bytes, file } => {
            format!("the last line was torn by a crash: {bytes} bytes set aside in `{file}`")
        }
        Event::LedgerRepaired(repaired) => ledger_repaired(repaired),
        Event::RunTitled { title, who } if title.is_empty() => format!("{who} removed the title"),
        Event::RunTitled { title, who } => format!("{who} gave it the title {}", quote(title)),
        Event::RunPaused { reason } => format!("paused{}", because(reason)),
        Event::RunResumed => "resumed".to_owned(),
        Event::RunCancelled { reason } => format!("cancelled{}", because(reason)),
        Event::RunDone => "run done".to_owned(),
        Event::RunFailed { reason } => format!("run failed: {reason}"),
        Event::FrameEntered(entered) => format!("workflow `{}` entered", entered.workflow),
        Event::PhaseEntered { place } => format!("phase `{place}` entered"),
        Event::EdgeTaken(edge) => edge_taken(edge),
        Event::GoAsked { place, who, note } => go_asked(place, who, note),
        Event::Rewound { to, carried } => position::rewound(*to, carried),
        Event::FrameEnded { frame, outcome, summary } => frame_ended(frame, outcome, summary),
        Event::AttemptStarted(intent) => attempt_started(intent),
        Event::SessionOpened { attempt, session } => {
            format!("{attempt} works in session `{session}`")
        }
        Event::GuardUnproven { attempt, why } => works_unproven(*attempt, why),
        Event::AttemptRewalled(it) => rewalled(it),
        Event::RoomAwaited(it) => room_awaited(it),
        Event::RoomTaken { attempt } => format!("{attempt} has room, and begins"),
        Event::WallHit { attempt, said, .. } => wall_hit(*attempt, said),
        Event::ToolCalled(called) => tool_called(called),
        Event::ToolEnded { attempt, call, goes_on: true, .. } => {
            format!("{attempt}'s call `{call}` goes on in the background")
        }
        Event::ToolEnded { attempt, call, ok, .. } => {
            format!("{attempt}'s call `{call}` {}", if *ok { "succeeded" } else { "failed" })
        }
        Event::FileChanged { attempt, path, change } => {
            format!("{attempt} {} `{path}`", changed(*change))
        }
        Event::UsageReported { attempt, usage, .. } => reported(*attempt, usage),
        Event::CommandEnded { attempt, index, code, .. } => {
            format!("{attempt}'s command {} {}", index.saturating_add(1), ended_with(*code))
        }
        Event::SignalAccepted { attempt, leave, .. } => {
            format!("{attempt} leaves for `{}`{}", leave.target, saying(&leave.summary))
        }
        Event::SignalRefused { attempt, answer, .. } => format!("{attempt} was refused: {answer}"),
        Event::StopAsked { attempt, cause, .. } => {
            format!("{attempt} is being stopped: {}", stop(*cause))
        }
        Event::AttemptEnded(ended) => attempt_ended(ended),
        Event::TreeRecorded(recorded) => trees::tree_recorded(recorded),
        Event::TreeMissed { why, .. } => format!("the files were not recorded: {why}"),
        Event::UndoStarted(undo) => trees::undo_started(undo),
        Event::UndoEnded(restored) => trees::undo_ended(restored),
        Event::PoolEntered { place, race } => format!("{} `{place}` entered", pool::kind(*race)),
        Event::PoolPlanned(it) => pool::planned(it),
        Event::StepsUnread { place, why } => format!("the steps of `{place}` were not read: {why}"),
        Event::PlanMade(made) => pool::plan_made(made),
        Event::SlotTaken(taken) => pool::slot_taken(taken),
        Event::SlotFreed(freed) => pool::slot_freed(freed),
        Event::StepAsked(asked) => pool::step_asked(asked),
        Event::StepSettled(settled) => pool::step_settled(settled),
        Event::RaceDecided(decided) => race::decided(decided),
        Event::PoolEnded { place, outcome, race, .. } => {
            format!("{} `{place}` ended{}", pool::kind(*race), unless_complete(outcome))
        }
        Event::FolderMade(made) => pool::folder_made(made),
        Event::FolderFailed { folder, why } => pool::folder_failed(*folder, why),
        Event::FolderLost { folder } => apart::folder_lost(*folder),
        Event::FolderDropped { folder, error } => pool::folder_dropped(*folder, error.as_ref()),
        Event::MergeBegan(began) => pool::merge_began(began),
        Event::MergePlanned(planned) => pool::merge_planned(planned),
        Event::MergeWritten(written) => pool::merge_written(written),
        Event::RunMergeBegan(began) => apart::merge_began(began),
        Event::WorkDropped { who } => apart::work_dropped(who),
        Event::GateOpened(gate) => gate_opened(gate),
        Event::GateAnswered { gate, answer, who, note, agent, from } => {
            gate_answered(*gate, answer, who, note, agent.as_deref(), *from)
        }
        Event::CallHeld(held) => permission::held(held),
        Event::FellBack(fell) => fallback::fell_back(fell),
        Event::WaitBegan(began) => wait::began(began),
        Event::WaitEnded(ended) => wait::ended(ended),
        Event::BudgetWarned(warned) => budget::warned(warned),
        Event::BudgetRaised(raised) => budget::raised_by(raised),
        Event::LoopsAllowed { place, more, who } => loops::allowed(place, *more, who),
        Event::NoticeGiven(given) => notice::given(given),
        Event::BreakAccepted { attempt, parting, .. } => {
            format!("{attempt} ends its turn: {}", said::parting(parting))
        }
        Event::SnapshotUpdated { attempt, update, .. } => {
            format!("{attempt} wrote down {}", said::updated(update))
        }
        Event::ClaimsUnproven(said) => said::claims_unproven(said),
        Event::CancelAsked { attempt, .. } => format!("{attempt} asks to cancel the run"),
        Event::CancelDropped { attempt } => format!("{attempt} does not cancel the run after all"),
        Event::FollowUpBegan { place, follow_up } => said::follow_up_began(place, follow_up),
        Event::FollowUpEnded { place, persona, outcome, summary, by } => {
            said::follow_up_ended(place, persona, outcome, summary, *by)
        }
        Event::NoteGiven { note, place, who, text, .. } => {
            format!("{note} from {who} to `{place}`{}", saying(text))
        }
        Event::MessageDelivered { attempt, message, repeated } => {
            said::message_delivered(*attempt, *message, *repeated)
        }
    }
}

fn run_started(run: &RunStarted) -> String {
    let workflow = run.workflows.first().map_or("", |workflow| workflow.name.as_str());
    let place = run.carried.as_ref().map_or_else(String::new, |it| position::at(it));
    format!("run started{place}: `{workflow}` on {}", quote(&run.task))
}

fn ledger_repaired(repaired: &LedgerRepaired) -> String {
    let LedgerRepaired { why, bytes, file } = repaired;
    let kept = file.as_ref().map_or_else(String::new, |file| {
        format!("; {bytes} bytes were cut off, and `{file}` keeps the ledger as it was")
    });
    format!("a person continued the run with a damaged ledger: {why}{kept}")
}

fn gate_answered(
    gate: GateId,
    answer: &GateAnswer,
    who: &str,
    note: &str,
    agent: Option<&str>,
    from: Option<u32>,
) -> String {
    let with = format!("{}{}", with_agent(agent), from_command(from));
    format!("{gate} {}{with} by {who}{}", answered(answer), saying(note))
}

fn frame_ended(frame: &FramePath, outcome: &Outcome, summary: &str) -> String {
    if frame.is_root() {
        return format!("the workflow ended{}", unless_complete(outcome));
    }
    // Nobody says anywhere else why work inside of a phase ended badly.
    let why = if outcome.is_failure() { saying(summary) } else { String::new() };
    format!("the workflow in `{}` ended{}{why}", frame.as_str(), unless_complete(outcome))
}
