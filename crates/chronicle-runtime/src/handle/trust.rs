//! Trust: what a person agreed to before a project's own files decide what runs.

use std::path::PathBuf;

use crate::discover;
use crate::loaded;
use crate::project::Project;
use crate::trust::{commands, items_of, record};

pub use crate::trust::{Item, Record, TrustError, Unknown, all, items, judge, revoke, run};

/// What a run uses of a project: these files, and commands that were found in it.
pub fn used(
    project: &Project,
    files: impl IntoIterator<Item = PathBuf>,
    found: &[String],
) -> Result<Vec<Item>, TrustError> {
    let mut used = Vec::new();
    for file in files {
        used.extend(items_of(project, &file)?);
    }
    if !found.is_empty() {
        used.push(commands(found));
    }
    Ok(used)
}

/// Records that a person trusts a whole project as it is now, and what is used beside it. Returns the names.
pub fn agree(project: &Project, used: &[Item]) -> Result<Vec<String>, TrustError> {
    let items = whole(project, used)?;
    record(project, &items)?;
    Ok(items.into_iter().map(|item| item.name).collect())
}

/// The same, and what agents load of it and run: for whoever was told that a worker left some of that.
pub fn agree_to_all(project: &Project) -> Result<Vec<String>, TrustError> {
    agree(project, &loaded::items(project))
}

/// Records that a person trusts these files of a project.
pub fn agree_to(
    project: &Project,
    files: impl IntoIterator<Item = PathBuf>,
) -> Result<(), TrustError> {
    record(project, &used(project, files, &[])?)
}

/// Everything of the project that could run, and what is used beside it.
fn whole(project: &Project, used: &[Item]) -> Result<Vec<Item>, TrustError> {
    let mut items = items(project)?;
    let found = discover::verify_commands(project.root());
    if !found.is_empty() {
        let found: Vec<String> = found.into_iter().map(|one| one.command).collect();
        items.push(commands(&found));
    }
    for item in used {
        // What the run really read wins: a file may have changed between reading it and agreeing to it.
        items.retain(|known| known.name != item.name);
        items.push(item.clone());
    }
    items.sort_unstable();
    Ok(items)
}
