//! Links that workers may have left in the folders that they write.

use std::fs;
use std::path::Path;

use crate::process::wall::{Wall, WallRefusal, WallStep};

/// Refuses what is writable by its name and lies elsewhere. A worker that may write the project can put a link to somebody's home in
/// the place of a build folder, and a later phase may name that folder.
pub(super) fn refuse_planted(wall: &Wall) -> Result<(), WallRefusal> {
    let planted = wall.writable.iter().find(|path| !is_where_it_seems(wall, path));
    planted.map_or(Ok(()), |path| {
        let text = format!("`{}` leads elsewhere", path.display());
        Err(WallRefusal::plain(WallStep::Links, text))
    })
}

/// Makes the folders that must exist. Nothing is made where a link leads: one that cannot be made is missing, which is told.
pub(super) fn make(wall: &Wall) {
    let is_safe = |folder: &&std::path::PathBuf| {
        folder.parent().is_some_and(|parent| is_where_it_seems(wall, parent))
    };
    for folder in wall.made.iter().filter(is_safe) {
        let _ = fs::create_dir(folder);
    }
}

/// True if a path that lies by its name in a folder of workers also lies there really. What does not exist leads nowhere.
fn is_where_it_seems(wall: &Wall, path: &Path) -> bool {
    let around = wall.writable.iter().chain(&wall.worked_in);
    let mut around = around.filter(|folder| path.starts_with(folder) && path != folder.as_path());
    around.all(|folder| match (fs::canonicalize(path), fs::canonicalize(folder)) {
        (Ok(real), Ok(folder)) => real.starts_with(folder),
        _ => true,
    })
}
