//! Which run a person means: the one that they name, else the only one that can be meant.

use chronicle_core::base::ids::GateId;
use chronicle_core::state::Standing;
use chronicle_core::view::RunRow;
use chronicle_runtime::handle::{self, FindError, RunFolder};

use super::Setting;
use super::resume::is_damage;
use crate::failure::Failure;

/// Fewest characters of an id.
const ID_MIN: usize = 4;

/// Characters of an id as people are shown it.
const SHOWN: usize = 8;

/// Whom a command is for when no run is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Among {
    /// Runs that are not over.
    Open,
    /// Those that wait for a person, if there are any.
    Waiting,
}

/// What the words behind the run may be: it decides whether a single word can be anything but a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// A word of the command's own: a place, an answer, a text.
    Said,
    /// A gate, or a reason that need not be given. A single word that is neither is a run that is not there.
    Optional,
}

/// Takes the run off the front of what was typed, or finds the only one that can be meant. What is left is returned too.
pub(super) fn split(
    setting: &Setting,
    words: &[String],
    among: Among,
    rest: Rest,
) -> Result<(RunFolder, Vec<String>), Failure> {
    let Some((first, behind)) = words.split_first() else {
        return Ok((only(setting, among)?, Vec::new()));
    };
    match handle::find_run(&setting.project, first) {
        Ok(folder) => Ok((folder, behind.to_vec())),
        // Several runs fit: that is told, and nothing is guessed.
        Err(error @ FindError::Many { .. }) => Err(error.into()),
        Err(_) if is_said(words, rest) => Ok((only(setting, among)?, words.to_vec())),
        Err(error) => Err(error.into()),
    }
}

/// Whether the first word belongs to the command. What could be the id of a run is never taken for something else: a mistyped id
/// must not become a reason or a note for another run.
fn is_said(words: &[String], rest: Rest) -> bool {
    let Some(first) = words.first() else { return false };
    let has_digit = first.bytes().any(|byte| byte.is_ascii_digit());
    let is_id = first.len() >= ID_MIN
        && first.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        && (has_digit || first.len() == SHOWN);
    let is_plain = first.parse::<GateId>().is_ok()
        || first.starts_with('+')
        || first.contains(char::is_whitespace);
    is_plain || (rest == Rest::Said && words.len() == 1 && !is_id)
}

/// The only run that can be meant.
fn only(setting: &Setting, among: Among) -> Result<RunFolder, Failure> {
    let (mut open, mut damaged): (Vec<(RunFolder, RunRow)>, _) = (Vec::new(), None);
    for folder in setting.project.runs() {
        match handle::row(&folder) {
            Ok(row) if is_open(&row) => open.push((folder, row)),
            Err(error) if is_damage(&error) => damaged = damaged.or(Some(error)),
            // It is over, or never started: nothing can be said to it.
            Ok(_) | Err(_) => {}
        }
    }
    let waiting: Vec<&(RunFolder, RunRow)> =
        open.iter().filter(|(_, row)| row.needs_you > 0).collect();
    let meant: Vec<&(RunFolder, RunRow)> = match among {
        Among::Waiting if !waiting.is_empty() => waiting,
        Among::Waiting | Among::Open => open.iter().collect(),
    };
    match (meant.as_slice(), damaged) {
        ([(folder, _)], _) => Ok(folder.clone()),
        // Whether it is over cannot be known, so it may well be the one that is meant.
        ([], Some(damage)) => Err(damage.into()),
        (meant, _) => Err(none_or_several(setting, meant)),
    }
}

fn none_or_several(setting: &Setting, meant: &[&(RunFolder, RunRow)]) -> Failure {
    match meant {
        [] if setting.project.runs().is_empty() => {
            FindError::Empty { project: setting.project.root().to_owned() }.into()
        }
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
