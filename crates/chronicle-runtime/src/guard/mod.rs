//! The guard of a run: its rules, compiled once, and what this disk says about the paths of a call. The core judges.

mod below;
mod places;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chronicle_core::base::ids::FolderId;
use chronicle_core::definition::guard::{FrozenRules, built_in};
use chronicle_core::definition::workflow::Tools;
use chronicle_core::event::RunStarted;
use chronicle_core::event::trees::{ForbiddenChange, TREE_UNREADABLE_MAX};
use chronicle_core::guard::{
    AskedCall, CallFacts, Compiled, Judgement, Whereabouts, WholeFolder, broken_by, judge, look,
};

use crate::home;
use crate::project::RunFolder;
use crate::regular::{self, Links};

/// Longest patch that is looked at.
const PATCH_MAX: u64 = 8 * 1024 * 1024;

/// Where the paths of a call lead to other places than they name: each with the real one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Leads(BTreeSet<(String, String)>);

impl Leads {
    fn of(facts: &CallFacts) -> Self {
        let pairs = facts.seen.values().flat_map(|seen| seen.found.iter().zip(&seen.real));
        Self(
            pairs
                .filter(|(named, real)| named != real)
                .map(|(a, b)| (a.clone(), b.clone()))
                .collect(),
        )
    }
}

/// Judges the calls of a run's workers, on whatever thread asks.
#[derive(Debug)]
pub struct Guard {
    rules: Compiled,
}

impl Guard {
    /// The guard of a run over one of its folders. A work folder is judged as the project is; the person's own folder may be read, and
    /// so may those folders of others that the worker chooses among.
    pub(crate) fn of_run(
        run: &RunStarted,
        folder: &RunFolder,
        of: FolderId,
        sees: &[FolderId],
    ) -> Result<Self, String> {
        let home = run.isolated.then(|| folder.home());
        let works_in = folder.path_of(of).map_err(|error| error.to_string())?;
        let origin = Some(folder.project.as_path()).filter(|_| !folder.on_disk(of).is_project());
        let others = sees.iter().filter_map(|other| folder.path_of(*other).ok());
        Self::around(run.rules.as_ref(), &works_in, origin, home.as_deref(), others.collect())
    }

    /// The guard over a project. Rules of `None` are those of a run that began before there were any: the built-in ones hold. The
    /// error says which rule cannot be used: nothing may start without it.
    pub fn new(
        rules: Option<&FrozenRules>,
        project: &Path,
        own_home: Option<&Path>,
    ) -> Result<Self, String> {
        Self::over(rules, project, None, own_home)
    }

    /// The same for a copy of a project, whose own folder is `origin`.
    pub fn over(
        rules: Option<&FrozenRules>,
        project: &Path,
        origin: Option<&Path>,
        own_home: Option<&Path>,
    ) -> Result<Self, String> {
        Self::around(rules, project, origin, own_home, Vec::new())
    }

    /// The same for a worker that may read other copies, and not change them.
    fn around(
        rules: Option<&FrozenRules>,
        project: &Path,
        origin: Option<&Path>,
        own_home: Option<&Path>,
        seen: Vec<PathBuf>,
    ) -> Result<Self, String> {
        let rules = rules.map_or_else(|| Ok(vec![built_in()]), FrozenRules::read)?;
        let project = std::fs::canonicalize(project).unwrap_or_else(|_| project.to_path_buf());
        let place = Whereabouts {
            origin: both(origin.map(Path::to_path_buf)),
            seen: seen.into_iter().flat_map(|path| both(Some(path))).collect(),
            ..whereabouts(&project, own_home)
        };
        Ok(Self { rules: Compiled::new(&rules, &place)? })
    }

    /// What the rules, and a phase's lists if they are given, say to a call that is made in a folder; without one, in the
    /// project's.
    pub fn judge(
        &self,
        call: &AskedCall<'_>,
        tools: Option<&Tools>,
        folder: Option<&str>,
    ) -> Judgement {
        self.judge_and_look(call, tools, folder).0
    }

    /// The same, and where the call's paths lead by now.
    pub(crate) fn judge_and_look(
        &self,
        call: &AskedCall<'_>,
        tools: Option<&Tools>,
        folder: Option<&str>,
    ) -> (Judgement, Leads) {
        let mut place = self.rules.place().clone();
        if let Some(folder) = folder.filter(|folder| folder.starts_with('/')) {
            folder.clone_into(&mut place.folder);
        }
        let mut looked = look(call, &place);
        let folder = PathBuf::from(&place.folder);
        let texts =
            looked.to_read().filter_map(|path| Some((path.to_owned(), patch(path, &folder)?)));
        let texts = texts.collect();
        looked.read_patches(&texts, &place);
        // A path that is not there is asked about.
        let seen = looked
            .to_resolve()
            .into_iter()
            .filter_map(|path| Some((path.to_owned(), places::see(path, &folder)?)));
        let seen = seen.collect();
        let below = |used: &WholeFolder| below::look_below(&self.rules, used, &folder);
        let folders_seen = looked.folders().iter().map(below).collect();
        let facts = CallFacts { seen, folders_seen, looked };
        (judge(&self.rules, tools, call, &facts), Leads::of(&facts))
    }

    /// Which changes of the project's files the rules forbid: how many, and the first of them.
    pub(crate) fn forbidden(
        &self,
        own: &[(String, bool)],
        unclear: &[(String, bool)],
    ) -> (u32, Vec<ForbiddenChange>) {
        let own = own.iter().map(|change| (change, false));
        let changed = own.chain(unclear.iter().map(|change| (change, true)));
        let broken = changed.filter_map(|((path, is_removed), is_unclear)| {
            let rule = broken_by(&self.rules, path, *is_removed)?.to_string();
            Some(ForbiddenChange { path: path.clone(), rule, is_unclear })
        });
        let all: Vec<ForbiddenChange> = broken.collect();
        let many = u32::try_from(all.len()).unwrap_or(u32::MAX);
        (many, all.into_iter().take(TREE_UNREADABLE_MAX).collect())
    }
}

/// What a patch was read as.
type PatchRead = Option<String>;

/// The text of a patch, or of all that a pattern finds; `None` if there is none, and no text if it cannot be read as a whole.
fn patch(path: &str, folder: &Path) -> Option<PatchRead> {
    let Some(seen) = places::see(path, folder) else { return Some(None) };
    if !seen.exists {
        return None;
    }
    let read = |path: &String| {
        let bytes = regular::read(Path::new(path), PATCH_MAX, Links::Followed).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let texts: Option<Vec<String>> = seen.real.iter().map(read).collect();
    Some(texts.map(|texts| texts.join("\n")))
}

fn whereabouts(project: &Path, own_home: Option<&Path>) -> Whereabouts {
    let home = own_home.map(Path::to_path_buf);
    let home = home.or_else(|| std::env::var_os("HOME").map(PathBuf::from));
    let own = [home::config(), home::state()];
    let project = text(project);
    Whereabouts {
        folder: project.clone(),
        project,
        homes: both(home),
        own: own.into_iter().flat_map(both).collect(),
        origin: Vec::new(),
        others: both(home::works()),
        seen: Vec::new(),
    }
}

/// A folder as it is named, and as it really is.
fn both(folder: Option<PathBuf>) -> Vec<String> {
    let Some(folder) = folder else { return Vec::new() };
    let real = std::fs::canonicalize(&folder).ok().filter(|real| *real != folder);
    std::iter::once(folder).chain(real).map(|path| text(&path)).collect()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
