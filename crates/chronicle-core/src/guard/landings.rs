//! Whether something lands in a folder: `cp a b` writes `b/a` only if `b` is one, and the disk knows that.

use super::acts::PutWhat;
use super::facts::{Access, CallFacts, Reach, Word};
use super::paths::{Names, named, pattern, relative};

/// Most paths of a call among which one is looked for that makes a folder, and the longest chain of moves.
const REACHES_MAX: usize = 200;
const MOVES_MAX: usize = 4;

/// Programs that make files, and never folders. Redirections are others.
const FILES: [&str; 5] = ["touch", "tee", "sponge", "truncate", "sed"];

/// False if something would lie at a path only in a folder that is none, and that the call does not make one.
pub(super) fn lands(reach: &Reach, facts: &CallFacts) -> bool {
    if !super::links::is_behind(reach, facts) {
        return false;
    }
    let Some(target) = &reach.put.inside else { return true };
    let own = match &reach.put.what {
        PutWhat::Same(source) => Some(source.as_str()),
        PutWhat::Anything | PutWhat::File => None,
    };
    facts.looked.reaches.len() > REACHES_MAX || may_be_folder(target, facts, 0, own)
}

/// Whether a path is a folder, or may be one when a command comes to it that brings `own` there.
fn may_be_folder(path: &str, facts: &CallFacts, moves: usize, own: Option<&str>) -> bool {
    let Some(seen) = facts.seen.get(path) else { return true };
    // Without a disk nobody knows.
    if seen.is_dir || seen.real.is_empty() || moves > MOVES_MAX {
        return true;
    }
    let places: Vec<&str> =
        std::iter::once(path).chain(seen.real.iter().map(String::as_str)).collect();
    let is_own = |reach: &Reach| matches!((&reach.put.what, own), (PutWhat::Same(source), Some(own)) if source == own);
    // A copy that makes the folder does not land in it as well.
    let others = facts.looked.reaches.iter().filter(|reach| !is_own(reach));
    others.into_iter().any(|reach| makes_folder(reach, &places, facts, moves))
}

/// Whether a command may make a folder of one of these places, by whatever it makes there, above it or below it.
fn makes_folder(reach: &Reach, places: &[&str], facts: &CallFacts, moves: usize) -> bool {
    let may_make = matches!(reach.access, Access::Write | Access::Likely | Access::Maybe);
    let is_file = reach.by.starts_with(['>', '&', '<']) || FILES.contains(&reach.by.as_str());
    if !may_make || is_file || reach.put.what == PutWhat::File {
        return false;
    }
    let Some(whole) = &reach.whole else {
        // It may be any place that only the running shell knows.
        return reach.access == Access::Write;
    };
    let all = names(reach, whole, facts);
    let is_above = |place: &&str| all.iter().any(|names| names.is_at_or_above(place));
    let is_below = |place: &&str| all.iter().any(|names| names.is_at_or_below(place));
    if let PutWhat::Same(source) = &reach.put.what {
        return places.iter().any(is_above) && may_be_folder(source, facts, moves + 1, None);
    }
    // What lies in a folder makes none of it.
    let is_made = reach.put.inside.is_none() && places.iter().any(is_below);
    // Whoever only may write to a folder is not known to make others in it.
    is_made || reach.access == Access::Write && places.iter().any(is_above)
}

fn names(reach: &Reach, whole: &str, facts: &CallFacts) -> Vec<Names> {
    let written = match reach.path {
        Word::Glob(_) => pattern(whole),
        Word::Known(_) | Word::Unknown { .. } => relative(whole),
    };
    let seen = facts.seen.get(whole);
    let real = seen.into_iter().flat_map(|seen| seen.real.iter().map(|real| named(real, seen)));
    std::iter::once(written).chain(real).collect()
}
