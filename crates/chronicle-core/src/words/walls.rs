//! Walls: what workers are told about theirs, and people about all of them.

use super::whole;
use crate::base::ids::AttemptId;
use crate::base::quote::plain;
use crate::definition::walls::{WallFiles, WallNetwork};
use crate::event::{AttemptRewalled, AttemptWalls, WallsFound};

/// A worker ran into its wall.
pub(super) fn wall_hit(attempt: AttemptId, said: &str) -> String {
    format!("a wall stopped {attempt}: {}", whole(said))
}

/// An attempt gets other walls than it was decided with.
pub(super) fn rewalled(rewalled: &AttemptRewalled) -> String {
    let stand = |walls: &AttemptWalls| match (walls.namespaces, walls.landlock) {
        (true, true) => "namespaces and Landlock",
        (true, false) => "namespaces",
        (false, true) => "Landlock alone",
        (false, false) if walls.asked.require => "none, but they are required",
        (false, false) => "none",
    };
    let walls = rewalled.walls.as_deref().map_or("none", stand);
    format!("{} gets this supervisor's walls: {walls}", rewalled.attempt)
}

/// What a worker is told whose session goes on without the walls that it was told of.
pub(crate) const NO_WALLS_NOW: &str = "There are none around you any more. What your task and your rules say of files and commands holds as before.";

/// What a worker is told about its walls; empty if none stand.
pub(crate) fn walls_told(walls: &AttemptWalls) -> String {
    if !walls.stand() {
        return String::new();
    }
    let mut told = vec![files(walls)];
    if walls.namespaces {
        told.push(format!(
            "Folders of keys and logins of the user are hidden{}.",
            also_hidden(walls)
        ));
    }
    if walls.network() == WallNetwork::Off {
        told.push("There is no network.".to_owned());
    }
    if let Some(most) = walls.asked.processes.filter(|_| walls.namespaces && !walls.unlimited) {
        told.push(format!("At most {most} processes and threads can run at a time."));
    }
    told.push(
        "What the system refuses here is refused on purpose: do not look for a way around it, say what you need instead."
            .to_owned(),
    );
    told.join(" ")
}

/// `, and so are `a` and `b``
fn also_hidden(walls: &AttemptWalls) -> String {
    let names = named(&walls.asked.hide);
    if names.is_empty() { names } else { format!(", and so are {names}") }
}

fn named(paths: &[String]) -> String {
    let names: Vec<String> = paths.iter().map(|it| format!("`{}`", plain(it))).collect();
    names.join(", ")
}

fn files(walls: &AttemptWalls) -> String {
    let more = named(&walls.asked.paths);
    let and_more = if more.is_empty() { String::new() } else { format!(", and {more}") };
    match walls.files() {
        WallFiles::Read if more.is_empty() => {
            "You can read the project, but you cannot change it. The temporary folder can be written.".to_owned()
        }
        WallFiles::Read => format!(
            "You can read the project, but you cannot change it, except for {more}. The temporary folder can be written."
        ),
        WallFiles::Write => {
            let too = if walls.namespaces {
                ": `.chronicle`, `.git/config` and `.git/hooks` too"
            } else {
                ""
            };
            format!(
                "You can change files in the project, in the temporary folder, in caches of package managers{and_more}. \
                 Everything else is read-only{too}."
            )
        }
    }
}

/// What a worker that ran into its wall is told.
pub(crate) fn wall_stopped(walls: &AttemptWalls) -> String {
    format!("That was stopped by the walls around you. {}", walls_told(walls))
}

/// Which walls stand around the workers of a run, in a few words.
pub fn walls_line(found: &WallsFound) -> String {
    if found.off {
        return "none, as asked (`--no-walls`)".to_owned();
    }
    let layers = match (found.namespaces, found.landlock) {
        (true, true) => "namespaces and Landlock",
        (true, false) => "namespaces",
        (false, true) => "Landlock alone, which does not hold `.chronicle` and hides nothing",
        (false, false) => "none stand here",
    };
    // Where both stand, something of them may still be refused: the network, a limit, a list of processes of their own.
    let joint = if found.namespaces && found.landlock { ", but " } else { ": " };
    let why = found.why.first().map_or_else(String::new, |why| format!("{joint}{}", whole(why)));
    format!("{layers}{why}")
}
