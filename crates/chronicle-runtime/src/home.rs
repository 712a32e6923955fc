//! The user's own folders, independent of projects.

use std::path::PathBuf;

/// Folder of the user's definitions and settings; `None` if the user has no home.
pub(crate) fn config() -> Option<PathBuf> {
    Some(folder("XDG_CONFIG_HOME", ".config")?.join("chronicle"))
}

/// Folder of what Chronicle remembers on this machine; `None` if the user has no home.
pub(crate) fn state() -> Option<PathBuf> {
    Some(folder("XDG_STATE_HOME", ".local/state")?.join("chronicle"))
}

/// Folder of the work folders of all runs; `None` if the user has no home.
pub(crate) fn works() -> Option<PathBuf> {
    Some(state()?.join("work"))
}

/// A relative path in the variable is ignored: it would mean another place in every project.
fn folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    let said = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(below_home));
    said.or_else(home)
}
