//! Where the user's own things are, whatever the project.

use std::path::PathBuf;

/// The user's definitions and settings; none when the user has no home.
pub(crate) fn config() -> Option<PathBuf> {
    Some(folder("XDG_CONFIG_HOME", ".config")?.join("chronicle"))
}

/// What Chronicle remembers about this user's machine; none when the user has no home.
pub(crate) fn state() -> Option<PathBuf> {
    Some(folder("XDG_STATE_HOME", ".local/state")?.join("chronicle"))
}

/// A relative folder in the variable counts as none: it would mean another place in every project.
fn folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    let said = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(below_home));
    said.or_else(home)
}
