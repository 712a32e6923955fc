//! What lies behind links that the same command makes, or copies: nobody can look them up before.

use super::acts::{Put, PutWhat};
use super::facts::{Acts, CallFacts, Folder, Reach, Run, Whereabouts};
use super::paths::{joined, relative};

/// Most links of one command, and most paths through each, that are followed.
const LINKS_MAX: usize = 8;
const LINKED_MAX: usize = 200;
/// Most links that lead to each other.
const CHAIN_MAX: usize = 3;

struct Link {
    /// Where it may lie.
    places: Vec<String>,
    /// The path that it leads to, as a whole one.
    target: String,
    /// It is one only if this path is a link.
    behind: Option<String>,
}

/// Adds what is done to paths behind links. True if there is more than is looked at.
pub(super) fn through_links(
    acts: &Acts,
    start: &str,
    place: &Whereabouts,
    reaches: &mut Vec<Reach>,
) -> bool {
    let (made, copied): (Vec<_>, Vec<_>) = acts.links.iter().partition(|(_, run)| links(run));
    let is_partial = made.len() > LINKS_MAX;
    // Files that are copied with all that they are may be links, and mostly are not.
    let all: Vec<(&Run, Link)> = made
        .into_iter()
        .take(LINKS_MAX)
        .chain(copied.into_iter().take(LINKS_MAX))
        .flat_map(|(folder, run)| {
            let found = links_of(folder, run, start, place);
            found.into_iter().take(LINKS_MAX).map(move |link| (run, link))
        })
        .collect();
    let mut is_full = false;
    for _ in 0..CHAIN_MAX {
        let before = reaches.len();
        for (run, link) in &all {
            is_full |= followed(run, link, reaches);
        }
        if reaches.len() == before || is_full {
            break;
        }
    }
    is_partial || is_full
}

fn links_of(folder: &Folder, run: &Run, start: &str, place: &Whereabouts) -> Vec<Link> {
    let start = match folder {
        Folder::Start => start.to_owned(),
        Folder::Known(folder) => match joined(folder, Some(start), place) {
            Some(folder) => folder,
            None => return Vec::new(),
        },
        Folder::Unknown => return Vec::new(),
    };
    let operands: Vec<&str> = run.known().filter(|it| !it.starts_with('-')).collect();
    let (sources, last) = match operands.as_slice() {
        [only] if run.program() == "ln" => (vec![*only], "."),
        [sources @ .., last] => (sources.to_vec(), *last),
        [] => return Vec::new(),
    };
    let Some(last) = joined(last, Some(&start), place) else { return Vec::new() };
    let last = relative(&last).text();
    let is_new = links(run);
    let link = |source: &&str| {
        // A relative target begins where the link is.
        let beside = last.rsplit_once('/').map_or("/", |(folder, _)| folder);
        let name = source.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        // In a folder, the link has the name of its target.
        let inside = format!("{}/{name}", last.trim_end_matches('/'));
        let own = joined(source, Some(&start), place)?;
        let link = |places: Vec<String>, from: &str| {
            let target = joined(source, Some(from), place)?;
            Some(Link { places, target: relative(&target).text(), behind: None })
        };
        if is_new {
            let all = [link(vec![last.clone()], beside), link(vec![inside], &last)];
            return Some(all.into_iter().flatten().collect::<Vec<_>>());
        }
        let (target, behind) = (relative(&own).text(), Some(own));
        Some(vec![Link { places: vec![last.clone(), inside], target, behind }])
    };
    sources.iter().filter_map(link).flatten().collect()
}

/// Adds what is done through one link. True if there is more than is looked at.
fn followed(run: &Run, link: &Link, reaches: &mut Vec<Reach>) -> bool {
    let mut more: Vec<Reach> = Vec::new();
    for reach in reaches.iter().filter(|reach| !makes_link(reach, run)) {
        let Some(whole) = reach.whole.as_deref().map(|it| relative(it).text()) else { continue };
        let rest = link.places.iter().filter_map(|it| whole.strip_prefix(it.as_str()));
        for rest in rest.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
            let put = Put { behind: link.behind.clone(), ..Put::default() };
            let whole = Some(format!("{}{rest}", link.target));
            let found = Reach { whole, put, made_of: None, ..reach.clone() };
            if !reaches.contains(&found) && !more.contains(&found) {
                more.push(found);
            }
        }
    }
    let is_full = more.len() > LINKED_MAX;
    reaches.extend(more.into_iter().take(LINKED_MAX));
    is_full
}

/// True if a command makes links, or copies them as they are.
pub(super) fn makes_links(run: &Run) -> bool {
    links(run) || run.program() == "cp" && run.known().any(keeps_links)
}

/// True for an option of `cp` by which a copy of a link is a link.
fn keeps_links(word: &str) -> bool {
    let long =
        ["--no-dereference", "--archive", "--recursive", "--preserve=links", "--preserve=all"];
    let is_long = word.len() > 3 && long.iter().any(|it| it.starts_with(word));
    let is_short = word.starts_with('-') && !word.starts_with("--");
    is_long || is_short && word.contains(['P', 'a', 'd', 'r', 'R'])
}

/// True if a command makes a link: `ln`, or `cp -s`.
fn links(run: &Run) -> bool {
    let is_link = |word: &str| {
        let is_long = word.len() > 3 && "--symbolic-link".starts_with(word);
        is_long || word.starts_with('-') && !word.starts_with("--") && word.contains('s')
    };
    run.program() == "ln" || run.program() == "cp" && run.known().any(is_link)
}

/// True if it is the link itself that is written, and not what is behind it.
fn makes_link(reach: &Reach, run: &Run) -> bool {
    match run.program() {
        "ln" => reach.by == "ln",
        by => reach.by == by && matches!(reach.put.what, PutWhat::Same(_)),
    }
}

/// False if something is reached only through the copy of a link, and what was copied is none.
pub(super) fn is_behind(reach: &Reach, facts: &CallFacts) -> bool {
    let Some(link) = &reach.put.behind else { return true };
    let Some(seen) = facts.seen.get(link) else { return true };
    let plain = relative(link);
    !seen.exists || seen.real.iter().any(|real| relative(real) != plain)
}
