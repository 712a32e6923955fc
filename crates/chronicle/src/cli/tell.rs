//! Gives a command to a run, waits for what comes of it, and says so.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use chronicle_core::event::input::{Answer, Command};
use chronicle_core::state::Standing;
use chronicle_runtime::handle::{self, HandledBy, Holder, RunFolder, threads};

use super::{Setting, json};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// How long a supervisor may take before the person is told what is waited for.
const SILENCE: Duration = Duration::from_secs(1);

/// Asks something of a run. If the answer takes long, says who is waited for, and for how long.
fn patiently<T>(folder: &RunFolder, ask: impl FnOnce() -> T) -> T {
    // Dropping the sender ends the watcher at once, so an answer in time costs no extra second: the scope joins the thread.
    let (done, answered) = sync_channel::<()>(0);
    std::thread::scope(|scope| {
        let remark = move || {
            if answered.recv_timeout(SILENCE) == Err(RecvTimeoutError::Timeout)
                && let Some(holder) = handle::holder(folder)
                // A run that nobody drives is opened by this process itself.
                && holder.pid != std::process::id()
            {
                terminal::talk(&waits_for(folder, &holder));
            }
        };
        // Without a thread the person waits all the same, only unexplained.
        let _ = threads::spawn_in(scope, "remark", remark);
        let answer = ask();
        drop(done);
        answer
    })
}

fn waits_for(folder: &RunFolder, holder: &Holder) -> String {
    let (pid, run) = (holder.pid, folder.id.short());
    let seconds = handle::ANSWER_PATIENCE.as_secs();
    let stopped = if holder.is_stopped() {
        format!(
            ", which is stopped; `kill -CONT {pid}` lets it continue, or `fg` in its own terminal"
        )
    } else {
        String::new()
    };
    format!(
        "Waiting at most {seconds} seconds for the supervisor of run {run}: process {pid}{stopped}."
    )
}

/// Gives a command to a run and says what came of it.
pub(super) fn tell(
    setting: &Setting,
    folder: &RunFolder,
    command: &Command,
) -> Result<Exit, Failure> {
    let told = patiently(folder, || handle::tell(folder, &setting.asker, command));
    let (answer, told) = told?;
    let text = match answer {
        Answer::Accepted(text) => text,
        Answer::Noted | Answer::Verdict(_) | Answer::Stopped(_) | Answer::Waits => {
            "noted".to_owned()
        }
        Answer::Refused(why) => {
            return Err(Failure::usage(why).hint(after_refusal(folder, command)));
        }
    };
    // Read again after the answer: what is typed next depends on the state that the command has led to.
    let (view, _) = handle::view(folder)?;
    if setting.json {
        json::say_view(&view)?;
    } else {
        terminal::say(&format!("Run {}: {text}.", folder.id.short()));
        if view.status == Standing::Done && !view.supervised {
            terminal::say(&format!("Run {} is done.", folder.id.short()));
        }
        // A live supervisor continues by itself; only a recorded command needs somebody to resume the run.
        if let Some(next) = view.next.first().filter(|_| told == HandledBy::Ledger) {
            terminal::talk(&format!("Next: {next}"));
        }
    }
    if told == HandledBy::Ledger {
        mention_copies(folder);
    }
    Ok(Exit::Done)
}

/// What to type after a refusal.
fn after_refusal(folder: &RunFolder, command: &Command) -> String {
    let run = folder.id.short();
    // A title depends on nothing that the run waits for.
    if matches!(command, Command::Title { .. }) {
        return format!("chronicle title {run} \"something shorter\"");
    }
    let view = handle::view(folder).ok().map(|(view, _)| view);
    match view.map(|view| (view.status, view.goes_on)) {
        Some((Standing::Done | Standing::Cancelled | Standing::Failed, false)) => {
            format!("chronicle log {run} shows what happened")
        }
        // It waits for nobody: what was begun is being cleaned up.
        Some((Standing::Ending, _)) => format!("chronicle log {run} --follow shows how it ends"),
        _ => format!("chronicle status {run} shows what it waits for"),
    }
}

/// Warns if a copy of the run is active in another folder.
pub(super) fn mention_copies(folder: &RunFolder) {
    let others = handle::elsewhere(folder);
    if others.is_empty() {
        return;
    }
    let ids: Vec<String> = others.iter().map(ToString::to_string).collect();
    terminal::talk(&format!(
        "Note: processes of this run are not this folder's, but a copy's or an older Chronicle's: {}. They are left alone.",
        ids.join(", ")
    ));
}
