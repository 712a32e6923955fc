//! Which run a person means when they name none. This is the only place that decides it.
//!
//! Commands that show something take the run that changed last, and say which one that is if there are several. `resume` takes the
//! one that changed last among those that can continue. Commands that change something take the only one that can be meant, and
//! otherwise list those that could be.

use chronicle_core::base::ids::GateId;
use chronicle_core::base::time::Millis;
use chronicle_core::state::Standing;
use chronicle_core::view::{GateRow, RunRow};
use chronicle_runtime::handle::definitions::{BrokenRun, OlderRun};
use chronicle_runtime::handle::{self, FindError, HandleError, LedgerError, RunFolder};

use super::Setting;
use super::older::can_continue;
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Fewest characters of an id.
pub(super) const ID_MIN: usize = 4;

/// Characters of an id as people are shown it.
pub(super) const SHOWN: usize = 8;

/// Whom a command is for when no run is named.
#[derive(Debug, Clone, Copy)]
pub(super) enum Among {
    /// Runs that are not over.
    Open,
    /// The same, and one that never started if there is no other.
    Left,
    /// Those that wait for a person, if there are any.
    Waiting,
    /// Those with an open gate that the command answers, if there are any; otherwise as `Waiting`.
    Asked(fn(&GateRow) -> bool),
    /// Those that are over and whose work, done apart, is neither merged nor dropped.
    Unmerged,
    /// All runs, also those that are over.
    All,
}

/// What the words behind the run may be: it decides whether a single word can be anything but a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// A word of the command's own: a place, an answer, a text.
    Said,
    /// A gate, or a reason that need not be given. A single word that is neither is a run that is not there.
    Optional,
}

/// A run that a person means.
pub(super) enum Meant {
    Ours(RunFolder),
    /// One of The Chronicle, which `resume` continues as a run of ours.
    Older(Box<OlderRun>),
}

impl Meant {
    fn short(&self) -> &str {
        match self {
            Self::Ours(folder) => folder.id.short(),
            Self::Older(older) => older.short(),
        }
    }
}

/// The run that was named.
fn named(setting: &Setting, text: &str) -> Result<Meant, Failure> {
    match handle::find_run(&setting.project, text) {
        Ok(folder) => Ok(Meant::Ours(folder)),
        Err(error @ FindError::None { .. }) => match older(setting, text)? {
            Some(older) => Ok(Meant::Older(Box::new(older))),
            None => Err(error.into()),
        },
        Err(error) => Err(error.into()),
    }
}

/// The only run of The Chronicle whose id begins with that text. It is an error if its file cannot be read.
fn older(setting: &Setting, text: &str) -> Result<Option<OlderRun>, Failure> {
    let text = text.to_lowercase();
    // The same shortest length as for runs of our own: a shorter prefix fits by chance.
    if text.len() < ID_MIN {
        return Ok(None);
    }
    let (older, broken) = handle::older_runs(&setting.project);
    let fits = |id: &str| id.to_lowercase().starts_with(&text);
    let mut fitting = older.into_iter().filter(|run| fits(&run.id));
    match (fitting.next(), fitting.next(), broken.iter().find(|run| fits(&run.id))) {
        (Some(found), None, _) => Ok(Some(found)),
        (Some(first), Some(second), _) => {
            let runs = [first, second].into_iter().chain(fitting).map(|run| run.id).collect();
            Err(FindError::Many { text, runs }.into())
        }
        (None, _, Some(broken)) => Err(unreadable(broken)),
        (None, _, None) => Ok(None),
    }
}

fn unreadable(broken: &BrokenRun) -> Failure {
    let what = format!("run `{}` of The Chronicle cannot be read: {}", broken.id, broken.why);
    Failure::new(Exit::Damaged, what).hint(format!("its file is `{}`", broken.file))
}

/// The run to show: the one that was named, otherwise the one that changed last.
pub(super) fn shown(setting: &Setting, text: Option<&str>) -> Result<Meant, Failure> {
    if let Some(text) = text {
        return named(setting, text);
    }
    let mut runs = by_change(setting);
    if runs.is_empty() {
        return Err(handle::no_runs(&setting.project).into());
    }
    let (count, (_, last)) = (runs.len(), runs.remove(0));
    if count > 1 && !setting.json {
        let run = last.short();
        terminal::talk(&format!("Run {run}, which changed last of {count} runs here:"));
    }
    Ok(last)
}

/// All runs here, last changed first.
fn by_change(setting: &Setting) -> Vec<(Millis, Meant)> {
    let ours = handle::by_change(&setting.project).into_iter();
    let (older, _) = handle::older_runs(&setting.project);
    let older = older.into_iter().map(|run| (run.updated_at(), Meant::Older(Box::new(run))));
    let mut runs: Vec<(Millis, Meant)> =
        ours.map(|(at, folder)| (at, Meant::Ours(folder))).chain(older).collect();
    runs.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    runs
}

/// The run that `resume` continues: the one that was named; otherwise the last changed one that should work and that nobody drives, or whose ledger is damaged;
/// otherwise the last changed one that waits, to say what for.
pub(super) fn resumable(setting: &Setting, text: Option<&str>) -> Result<Meant, Failure> {
    if let Some(text) = text {
        return named(setting, text);
    }
    let mut runs: Vec<Meant> = by_change(setting).into_iter().map(|(_, run)| run).collect();
    // Two passes: a run that can work comes before one that only waits, even if the waiting one changed later.
    let found = runs.iter().position(can_go_on).or_else(|| runs.iter().position(waits));
    if let Some(found) = found {
        let meant = runs.swap_remove(found);
        mention_unread(&runs.iter().filter_map(unread).collect::<Vec<_>>());
        return Ok(meant);
    }
    let driven = runs.iter().find_map(|run| match run {
        Meant::Ours(folder) => Some((folder.id.short(), handle::holder(folder)?)),
        Meant::Older(_) => None,
    });
    Err(match driven {
        Some((run, holder)) => {
            let what = format!("no run can continue: run {run} is driven already, by {holder}");
            Failure::new(Exit::Held, what).hint(if holder.is_stopped() {
                format!(
                    "it was stopped by a signal; `kill -CONT {}` lets it continue, or `fg` in its own terminal",
                    holder.pid
                )
            } else {
                format!("chronicle status {run} shows it")
            })
        }
        None if runs.is_empty() => handle::no_runs(&setting.project).into(),
        None => {
            Failure::usage("no run can continue").hint("`chronicle runs` lists the runs there are")
        }
    })
}

fn can_go_on(run: &Meant) -> bool {
    let Meant::Ours(folder) = run else { return is_open_older(run) };
    let is_left = match handle::row(folder) {
        Ok(row) => match row.status {
            Standing::Ready | Standing::Interrupted | Standing::Paused => true,
            // Given up, and its `cleanup` has still to run.
            Standing::Cancelled | Standing::Failed => row.goes_on,
            Standing::Running | Standing::Ending | Standing::Waiting | Standing::Done => false,
        },
        // Not passed over in silence: the older run behind it is not the one that was meant.
        Err(error) => is_damage(&error),
    };
    is_left && !handle::is_supervised(folder)
}

/// The only run whose ledger is damaged, for `repair` without an id. Several are an error that names them.
pub(super) fn damaged(setting: &Setting) -> Result<Option<RunFolder>, Failure> {
    let runs = handle::by_change(&setting.project).into_iter().map(|(_, folder)| folder);
    let mut damaged: Vec<RunFolder> =
        runs.filter(|folder| handle::row(folder).is_err_and(|error| is_damage(&error))).collect();
    if damaged.len() > 1 {
        let ids: Vec<&str> = damaged.iter().map(|folder| folder.id.short()).collect();
        let what = format!("several runs are damaged: {}", ids.join(", "));
        return Err(Failure::usage(what).hint(format!("chronicle repair {}", ids[0])));
    }
    Ok(damaged.pop())
}

/// A run that cannot be read, and why.
type Unread = (RunFolder, HandleError);

fn unread(run: &Meant) -> Option<Unread> {
    let Meant::Ours(folder) = run else { return None };
    let error = handle::row(folder).err().filter(|error| !is_unborn(error))?;
    Some((folder.clone(), error))
}

/// Whether it never started. Anything else that keeps a run from being read is told.
fn is_unborn(error: &HandleError) -> bool {
    matches!(error, HandleError::NotStarted { .. })
}

/// Names the runs that were left out, since whether they can be meant is unknown.
fn mention_unread(unread: &[Unread]) {
    for (folder, error) in unread {
        let run = folder.id.short();
        terminal::talk(&format!(
            "Note: run {run} cannot be read and was left out: {error}. `chronicle audit {run}` looks at it."
        ));
    }
}

fn is_open_older(run: &Meant) -> bool {
    matches!(run, Meant::Older(older) if can_continue(older))
}

fn waits(run: &Meant) -> bool {
    let Meant::Ours(folder) = run else { return false };
    handle::row(folder).is_ok_and(|row| row.status == Standing::Waiting)
        && !handle::is_supervised(folder)
}

fn is_damage(error: &HandleError) -> bool {
    matches!(
        error,
        HandleError::Ledger(
            LedgerError::Damaged { .. }
                | LedgerError::Conflict { .. }
                | LedgerError::Copied { .. }
                | LedgerError::Artifact { .. }
                | LedgerError::Replaced { .. }
                | LedgerError::UnknownKind { .. }
                | LedgerError::NewerVersion { .. }
        )
    )
}

/// Takes the run off the front of what was typed, or finds the only one that can be meant. What is left is returned too.
pub(super) fn split(
    setting: &Setting,
    words: &[String],
    among: Among,
    rest: Rest,
) -> Result<(RunFolder, Vec<String>), Failure> {
    let Some((first, behind)) = words.split_first() else {
        return Ok((only(setting, among, None)?, Vec::new()));
    };
    match handle::find_run(&setting.project, first) {
        Ok(folder) => Ok((folder, behind.to_vec())),
        // Several runs fit: that is told, and nothing is guessed.
        Err(error @ FindError::Many { .. }) => Err(error.into()),
        Err(_) if is_said(words, rest) => {
            Ok((only(setting, among, first.parse().ok())?, words.to_vec()))
        }
        Err(error) => Err(match older(setting, first)? {
            Some(older) => not_ours(&older),
            None => error.into(),
        }),
    }
}

/// Where a text is missing and the only word was taken for a run: says so, since the word may have been the text.
pub(super) fn only_a_run(what: &str, typed: &[String], folder: &RunFolder) -> Failure {
    let run = folder.id.short();
    match typed {
        // Nothing at all is no id either.
        [word] if word.trim().is_empty() => Failure::usage(format!("there is no {what}")),
        [word] if word.to_lowercase() != run && word.to_lowercase() != folder.id.as_str() => {
            Failure::usage(format!("there is no {what}: `{word}` is taken for run {run}"))
        }
        _ => Failure::usage(format!("there is no {what}")),
    }
}

/// A run of The Chronicle has no ledger of ours to look into or to write to.
pub(super) fn not_ours(older: &OlderRun) -> Failure {
    let run = older.short();
    Failure::usage(format!("run {run} is a run of The Chronicle, and has not been continued here"))
        .hint(format!("`chronicle resume {run}` continues it, `chronicle status {run}` shows it"))
}

/// Whether the first word belongs to the command. What could be the id of a run is never taken for something else: a mistyped id
/// must not become a reason or a note for another run.
fn is_said(words: &[String], rest: Rest) -> bool {
    let Some(first) = words.first() else { return false };
    let has_digit = first.bytes().any(|byte| byte.is_ascii_digit());
    let is_id = first.len() >= ID_MIN
        && first.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        // Words such as `face` or `added` are hexadecimal too. They count as an id only with a digit, or in the length that
        // ids are shown in.
        && (has_digit || first.len() == SHOWN);
    // A gate, a raise, a place in a pool and a text of several words can never be an id, whatever else the command takes.
    let is_plain = first.parse::<GateId>().is_ok()
        || (first.contains('/') && !first.starts_with(['/', '.']))
        || first.starts_with('+')
        || first.contains(char::is_whitespace);
    is_plain || (rest == Rest::Said && words.len() == 1 && !is_id)
}

/// The only run that can be meant, given the gate that was named, if any.
fn only(setting: &Setting, among: Among, gate: Option<GateId>) -> Result<RunFolder, Failure> {
    let (mut all, mut unread): (Vec<(RunFolder, RunRow)>, Vec<Unread>) = Default::default();
    let mut unborn: Vec<Unread> = Vec::new();
    for folder in setting.project.runs() {
        match handle::row(&folder) {
            Ok(row) if is_among(among, &row) => all.push((folder, row)),
            Err(error) if !is_unborn(&error) => unread.push((folder, error)),
            Err(error) => unborn.push((folder, error)),
            // It is over: nothing can be said to it.
            Ok(_) => {}
        }
    }
    let waiting: Vec<&(RunFolder, RunRow)> =
        all.iter().filter(|(_, row)| row.needs_you > 0).collect();
    let meant: Vec<&(RunFolder, RunRow)> = match among {
        Among::Asked(fits) if !waiting.is_empty() => asked(waiting, gate, fits),
        Among::Waiting if !waiting.is_empty() => waiting,
        Among::Asked(_)
        | Among::Waiting
        | Among::Open
        | Among::Left
        | Among::Unmerged
        | Among::All => all.iter().collect(),
    };
    if meant.is_empty() && !unread.is_empty() {
        // Whether it is over cannot be known, so it may well be the one that is meant.
        return Err(unread.remove(0).1.into());
    }
    mention_unread(&unread);
    match meant.as_slice() {
        [(folder, _)] => Ok(folder.clone()),
        // Killed in its first moments, and the only one that can be meant.
        [] if unborn.len() == 1 => {
            let (folder, error) = unborn.remove(0);
            if matches!(among, Among::Left) { Ok(folder) } else { Err(error.into()) }
        }
        [] if matches!(among, Among::Unmerged) && !setting.project.runs().is_empty() => {
            let what = "no run here is over and has work of its own that is not merged";
            Err(Failure::usage(what).hint("`chronicle runs` lists the runs there are"))
        }
        meant => Err(none_or_several(setting, meant)),
    }
}

fn is_among(among: Among, row: &RunRow) -> bool {
    match among {
        Among::All => true,
        Among::Unmerged => row.unmerged,
        Among::Open | Among::Left | Among::Waiting | Among::Asked(_) => is_open(row),
    }
}

/// Those of the waiting runs whose gate the command answers. If there are none, all of them: then the run itself says what it
/// waits for instead.
fn asked(
    waiting: Vec<&(RunFolder, RunRow)>,
    gate: Option<GateId>,
    fits: fn(&GateRow) -> bool,
) -> Vec<&(RunFolder, RunRow)> {
    let is_asked = |run: &&&(RunFolder, RunRow)| {
        let Ok((view, _)) = handle::view(&run.0) else { return true };
        let mut named = view.needs_you.iter().filter(|row| gate.is_none_or(|id| id == row.gate));
        named.any(fits)
    };
    let fitting: Vec<_> = waiting.iter().filter(is_asked).copied().collect();
    if fitting.is_empty() { waiting } else { fitting }
}

fn none_or_several(setting: &Setting, meant: &[&(RunFolder, RunRow)]) -> Failure {
    match meant {
        [] if setting.project.runs().is_empty() => handle::no_runs(&setting.project).into(),
        [] => Failure::usage("no run is meant: all runs here are over")
            .hint("`chronicle runs` lists them"),
        several => {
            let ids: Vec<String> =
                several.iter().map(|(_, row)| format!("{} ({})", row.short, row.status)).collect();
            Failure::usage(format!("say which run is meant: {}", ids.join(", ")))
                .hint("`chronicle runs` says what each is about")
        }
    }
}

/// Whether something can still be said to it.
fn is_open(row: &RunRow) -> bool {
    let ended = [Standing::Done, Standing::Cancelled, Standing::Failed];
    row.goes_on || !ended.contains(&row.status)
}
