//! Staying with a run that this process drives: progress, Ctrl-C, and how it came to rest.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use chronicle_core::definition::settings::Settings;
use chronicle_core::event::Event;
use chronicle_core::event::input::{Answer, Command};
use chronicle_core::state::{Standing, Status};
use chronicle_core::view::{AttemptRow, RunView, TimelineEntry};
use chronicle_core::words;
use chronicle_runtime::handle::agents::AGENT_PROGRAMS;
use chronicle_runtime::handle::{
    self, Asker, Claimed, Driven, FilesLock, Finish, HandleError, LedgerError, Remote, Rest,
    RunFolder, UPDATES_MAX, Update, Waits, definitions, machine, threads,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::inline::Inline;
use super::{Setting, json, status};
use crate::exit_code::Exit;
use crate::failure::{Failure, MORE_THREADS};
use crate::keyboard;
use crate::mcp::Http;
use crate::terminal::{self, Ink, Paint, moving};

/// How often the line at the bottom is drawn anew.
const REDRAW: Duration = Duration::from_millis(120);

/// How often the lock on the project's files is looked at.
const FILES_LOOK: Duration = Duration::from_millis(200);

/// How long a run that was told to stop at once may take.
const QUIT_PATIENCE: Duration = Duration::from_secs(10);

/// Drives a run from that command on until it comes to rest, and shows it meanwhile.
pub(super) fn stay(
    setting: &Setting,
    folder: &RunFolder,
    command: Command,
    rest: Rest,
) -> Result<Exit, Failure> {
    let (_files, command) = claim_files(setting, folder, command)?;
    if let Some(output) = handle::output_in(&folder.project) {
        terminal::talk(&format!(
            "Note: `{}` has this command's own output: its changes do not count as a worker's.",
            output.display()
        ));
    }
    let is_inline = is_inline(setting);
    // A person at the terminal is asked right there, so the run must not come to rest while a gate is open.
    let rest = if is_inline { Rest::WhenOver } else { rest };
    // Bounded: a terminal that stands still must not let the updates of a working run grow without limit.
    let (updates, news) = sync_channel(UPDATES_MAX);
    let settings = definitions::settings(&setting.project).settings;
    let signals = signals(setting, &settings, folder);
    let asker = Asker { signals: signals.as_ref().map(Http::url), ..setting.asker.clone() };
    let is_new = matches!(command, Command::Start(_));
    let (driven, answer) = handle::drive(folder, &asker, command, rest, updates)
        .map_err(|error| if is_new { not_begun(folder, error) } else { error.into() })?;
    if let Answer::Refused(why) = answer {
        // The driver thread holds the lock of the ledger: it is joined before the refusal is told, so that the next command
        // finds the run free.
        driven.remote().quit();
        driven.join()?;
        return Err(Failure::usage(why)
            .hint(format!("chronicle status {} shows its status", folder.id.short())));
    }
    if let Some(why) = driven.unreachable() {
        terminal::talk(&format!(
            "Note: no other command can reach this run while it works: {why}. `chronicle doctor` looks at it."
        ));
    }
    if let Err(error) = listen(driven.remote()) {
        // Nothing may work that Ctrl-C cannot stop.
        driven.remote().quit();
        driven.join()?;
        return Err(
            error.hint(format!("{MORE_THREADS}, then `chronicle resume {}`", folder.id.short()))
        );
    }
    let mut screen = Screen::new(settings.flag("notify.bell"));
    let mut inline = is_inline.then(|| Inline::new(driven.remote()));
    watch(&driven, &news, &mut screen, inline.as_mut());
    let finish = driven.join();
    moving::erase();
    closing(setting, folder, finish?)
}

/// Why a run did not begin. Without its first line there is nothing to resume, so nothing of it is left behind.
fn not_begun(folder: &RunFolder, error: HandleError) -> Failure {
    let again = match &error {
        HandleError::Ledger(LedgerError::Limited { .. }) => "`ulimit -f unlimited`",
        HandleError::Ledger(LedgerError::Full { .. }) => "make room",
        HandleError::NoThread { .. } => MORE_THREADS,
        _ => return error.into(),
    };
    // It may be gone already: where the ledger could not be written at all, its folder is not kept either.
    let is_removed = !folder.path.exists() || handle::discard(folder).is_ok_and(|removed| removed);
    let failure = Failure::from(error);
    if is_removed { failure.hint(format!("{again}, then start the run again")) } else { failure }
}

/// The signal server for agents that prefer HTTP, where one does; they do without it where no port is free. Behind walls nobody uses it:
/// over a socket the kernel says who signals, over HTTP only a secret does.
fn signals(setting: &Setting, settings: &Settings, folder: &RunFolder) -> Option<Http> {
    let is_wanted = AGENT_PROGRAMS.iter().any(|agent| settings.prefers_http(agent));
    let found = machine::walls_found(&setting.asker);
    if is_wanted && (found.namespaces || found.landlock) {
        terminal::talk(
            "Note: `signals = \"http\"` is not used behind walls, where agents start `chronicle mcp` instead. `--no-walls` does without walls.",
        );
        return None;
    }
    is_wanted.then(|| Http::start(&folder.path).ok()).flatten()
}

/// Whether somebody sits there who can be asked.
pub(super) fn is_inline(setting: &Setting) -> bool {
    !setting.json && terminal::is_answered()
}

/// Two runs never work on the same files at once: the second waits, says for whom, and is listed meanwhile. So a run that has not
/// begun yet is made first, and what begins it is another command then.
fn claim_files(
    setting: &Setting,
    folder: &RunFolder,
    mut command: Command,
) -> Result<(Option<FilesLock>, Command), Failure> {
    // A run that works apart has files of its own.
    let is_apart = match &command {
        Command::Start(start) | Command::Prepare(start) => start.apart,
        _ => folder.is_apart(),
    };
    if is_apart {
        return Ok((None, command));
    }
    let cannot = |error| Failure::internal("the project's files cannot be locked", &error);
    let mut waits: Option<Waits> = None;
    loop {
        if waits.as_ref().is_some_and(Waits::is_dismissed) {
            let run = folder.id.short();
            let what = format!("run {run} was paused while it waited for the project's files");
            return Err(
                Failure::new(Exit::Interrupted, what).hint(format!("chronicle resume {run}"))
            );
        }
        match handle::claim_files(folder)? {
            Claimed::Ours(lock) => return Ok((Some(lock), command)),
            // Its own supervisor has it: opening the run says by whom it is held.
            Claimed::By(Some(run)) if run == folder.id => return Ok((None, command)),
            // It says in a moment who it is, and that is what to wait for.
            Claimed::By(None) if waits.is_none() => {}
            Claimed::By(Some(run)) if waits.is_none() => {
                // Recorded before the wait: a run that waits for files must be listed, can be cancelled, and survives a kill
                // of this process.
                if let Command::Start(start) = command {
                    handle::record(folder, &setting.asker, Command::Prepare(start))?;
                    command = Command::Resume;
                }
                waits = Some(folder.wait_for(&run).map_err(cannot)?);
                terminal::talk(&format!(
                    "Waiting: run {} has the project's files in hand. Ctrl-C gives up.",
                    run.short()
                ));
            }
            Claimed::By(_) | Claimed::LeftBy(_) => give_up_if_over(folder)?,
        }
        // Polled: the lock belongs to another process, and there is no call that waits for a lock and for a cancellation at
        // the same time.
        std::thread::sleep(FILES_LOOK);
    }
}

/// A run may be cancelled while it waits for the files.
fn give_up_if_over(folder: &RunFolder) -> Result<(), Failure> {
    match handle::row(folder)?.status {
        Standing::Done | Standing::Cancelled | Standing::Failed => {
            let run = folder.id.short();
            let what = format!("run {run} ended while it waited for the project's files");
            Err(Failure::new(Exit::RunFailed, what).hint(format!("chronicle log {run} says how")))
        }
        Standing::Running
        | Standing::Ending
        | Standing::Ready
        | Standing::Interrupted
        | Standing::Waiting
        | Standing::Paused => Ok(()),
    }
}

/// The first signal pauses, the second stops at once.
fn listen(remote: Remote) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| Failure::internal("signals cannot be caught", &error))?;
    let listen = move || {
        for (count, signal) in signals.forever().enumerate() {
            let remote = remote.clone();
            // On threads of their own: neither a full queue nor a terminal that stands still may hold up the next signal.
            let act = move || if count == 0 { pause(&remote, signal) } else { quit(&remote) };
            if threads::spawn("signal", act).is_err() {
                leave_at_once();
            }
        }
    };
    threads::spawn("signals", listen)
        .map(drop)
        .map_err(|error| Failure::internal("no thread for signals", &error))
}

/// Why a run is paused by a signal: a closed terminal is not somebody at the keyboard.
fn reason(signal: i32) -> &'static str {
    match signal {
        SIGHUP => "its terminal was closed",
        SIGTERM => "its supervisor was told to stop (SIGTERM)",
        _ => "interrupted from the keyboard",
    }
}

fn pause(remote: &Remote, signal: i32) {
    let pausing = "\nPausing: the worker is being stopped. Ctrl-C again stops at once.";
    let _ = threads::spawn("talk", move || terminal::talk(pausing));
    // The answer is dropped: the lines of the run show what becomes of it.
    drop(remote.submit(Command::Pause { reason: reason(signal).to_owned() }));
}

fn quit(remote: &Remote) {
    remote.quit();
    std::thread::sleep(QUIT_PATIENCE);
    leave_at_once();
}

/// Keepers see that we are gone and end everything; the next resume finds the rest in the ledger.
#[expect(
    clippy::exit,
    reason = "a person said twice that it is to end, and something stands still"
)]
fn leave_at_once() {
    std::process::exit(Exit::Interrupted as i32);
}

fn watch(
    driven: &Driven,
    news: &Receiver<Update>,
    screen: &mut Screen,
    mut inline: Option<&mut Inline>,
) {
    loop {
        let update = news.recv_timeout(REDRAW);
        if !keyboard::is_foreground() {
            moving::abandon();
        }
        match update {
            Ok(Update::Happened(entries)) => screen.happened(&entries),
            Ok(Update::Now(view)) => screen.view = Some(view),
            // Asked and drawn only in a pause between updates: a question must stand below everything that has happened
            // before it.
            Err(RecvTimeoutError::Timeout) => {
                let view = screen.view.as_ref();
                let is_asking = match (inline.as_mut(), view) {
                    (Some(inline), Some(view)) => inline.ask(view, say_alone),
                    (Some(_) | None, _) => false,
                };
                if !is_asking {
                    screen.draw(driven);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Whether a person is needed, or the run has ended.
fn is_news(event: &Event) -> bool {
    matches!(
        event,
        Event::GateOpened(_)
            | Event::RunDone
            | Event::RunFailed { .. }
            | Event::RunCancelled { .. }
    )
}

/// Lines that scroll, and on a terminal one line that moves.
struct Screen {
    paint: Paint,
    /// Whether there is a line that moves.
    moves: bool,
    view: Option<Arc<RunView>>,
    /// Whether the terminal rings when a person is needed.
    rings: bool,
}

impl Screen {
    fn new(rings: bool) -> Self {
        Self { paint: Paint::stderr(), moves: terminal::can_move(), view: None, rings }
    }

    fn happened(&self, entries: &[TimelineEntry]) {
        for entry in entries.iter().filter(|entry| !entry.detail) {
            let time = self.paint.ink(Ink::Dim, &terminal::clock(entry.at));
            terminal::talk(&format!("{time}  {}", entry.text));
            if self.rings && entry.event.as_ref().is_some_and(is_news) {
                terminal::ring(&entry.text);
            }
        }
    }

    /// Place and how far the run is, elapsed time, what was spent, and what the worker did last.
    fn draw(&self, driven: &Driven) {
        let Some(view) = self.view.as_ref().filter(|_| self.moves) else { return };
        if !keyboard::is_foreground() {
            return;
        }
        let working = view.working.first();
        let since = working.map_or(view.updated_at, |attempt| attempt.started_at);
        let place = working.map_or("…", |attempt| attempt.place.as_str());
        // Many work in a pool: which of them is named first would mean nothing.
        let pool = view.pools.iter().find(|pool| !pool.left);
        let place = pool.map_or(place, |pool| pool.place.as_str());
        // `Release > Review [2/3]` has how far it is behind the last name.
        let far =
            view.line.rsplit_once(" [").map_or_else(String::new, |(_, far)| format!(" [{far}"));
        let mut parts = vec![
            format!("{place}{far}"),
            words::duration(handle::now().0.saturating_sub(since.0)),
            if view.spent.usd_micros > 0 {
                status::spent(&view.spent)
            } else {
                words::tokens(view.spent.tokens)
            },
        ];
        if pool.is_some() {
            // Who waits for an answer or for room does not work.
            let works = |row: &&AttemptRow| !row.asks && row.room.is_none();
            parts.push(format!("{} at work", view.working.iter().filter(works).count()));
        }
        let activity = working.and_then(|row| driven.activity(row.attempt));
        let activity = activity.filter(|_| pool.is_none());
        let activity = activity.map(|activity| words::one_line(&activity.last));
        let room = working.and_then(|row| row.room.clone());
        let activity = room.or(activity);
        parts.extend(if view.recording { Some(status::RECORDING.to_owned()) } else { activity });
        terminal::move_line(&parts.join(" · "));
    }
}

/// Says something with nothing moving below it.
fn say_alone(lines: &str) {
    moving::erase();
    terminal::talk(lines);
}

fn closing(setting: &Setting, folder: &RunFolder, finish: Finish) -> Result<Exit, Failure> {
    let (view, _) = handle::view(folder)?;
    if setting.json {
        json::say_view(&view)?;
    } else {
        status::say(&view);
    }
    Ok(match finish {
        Finish::Quit | Finish::Rests(Status::Paused | Status::Running | Status::Ending) => {
            Exit::Interrupted
        }
        Finish::Rests(Status::Done) => Exit::Done,
        Finish::Rests(Status::Cancelled | Status::Failed) => Exit::RunFailed,
        Finish::Rests(Status::Waiting) => Exit::Waiting,
    })
}
