//! The wall around an attempt, as its processes are started with it.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use chronicle_core::engine::work::Work;
use chronicle_core::event::input::EndSeen;

use super::Context;
use super::agent::cannot_start;
use crate::loaded::AttemptTime;
use crate::process::wall::Wall;
use crate::process::{executable_for_others, image};
use crate::project::Project;
use crate::walls::{self, Around, Raised};
use crate::{home, link};

/// What an attempt is started with.
pub(super) struct Walled {
    /// The wall; `None` if none stands.
    pub(super) wall: Option<Wall>,
    /// Variables that what is behind it needs.
    pub(super) env: BTreeMap<String, String>,
}

/// The wall around an attempt. Without it, one that needs it does not start.
pub(super) fn walled(
    context: &Context,
    work: &Work,
    works_in: &Path,
    home: Option<&Path>,
    env: &BTreeMap<String, String>,
) -> Result<Walled, Box<EndSeen>> {
    let Some(walls) = &work.intent.walls else {
        return Ok(Walled { wall: None, env: BTreeMap::new() });
    };
    let own_tmp = own_tmp(context);
    let agent = work.intent.agent.split(':').next().unwrap_or_default();
    let link = link::place(&context.folder.path);
    let other_links = link::other_folders(&Project::at(&context.folder.project));
    let is_copy = !context.folder.on_disk(work.folder).is_project();
    let origin = Some(context.folder.project.as_path()).filter(|_| is_copy);
    let own_tmp = own_tmp.as_path();
    let seen = work.sees.iter().filter_map(|folder| context.folder.path_of(*folder).ok());
    let seen = seen.collect();
    let around = Around { works_in, origin, agent, home, env, link, other_links, own_tmp, seen };
    let Raised { wall, env } = walls::around(walls, &around).map_err(cannot_start)?;
    if wall.is_some() {
        let is_own_used = env.values().any(|path| Path::new(path) == own_tmp);
        let own = || {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(own_tmp);
            made.map_err(|error| {
                io::Error::new(error.kind(), format!("`{}`: {error}", own_tmp.display()))
            })
        };
        let made = if is_own_used { own() } else { Ok(()) }.and_then(|()| around.make_own());
        made.map_err(|error| {
            cannot_start(format!("a folder that its wall opens cannot be made: {error}"))
        })?;
    }
    Ok(Walled { wall, env })
}

/// The time of an attempt that is about to start, over which it is compared what agents load.
pub(super) fn time_of(context: &Context, work: &Work) -> Result<AttemptTime, Box<EndSeen>> {
    context.loaded.begin(work.folder).map_err(|error| {
        cannot_start(format!("what agents load of the project cannot be remembered: {error}"))
    })
}

/// Our own program as an attempt reaches it. Behind a wall nobody sees this process, by which it is reached otherwise.
pub(super) fn program(context: &Context, work: &Work) -> Result<PathBuf, Box<EndSeen>> {
    let is_walled = work.intent.walls.as_ref().is_some_and(|walls| walls.stand());
    if !is_walled {
        return Ok(executable_for_others(&context.chronicle));
    }
    let folder = home::state().ok_or_else(|| "the user has no home".to_owned());
    let kept = folder.and_then(|folder| {
        image::kept(&context.chronicle, &folder.join("bin")).map_err(|error| error.to_string())
    });
    kept.map_err(|why| {
        cannot_start(format!(
            "Chronicle's own program cannot be shown behind the wall: {why}; `XDG_STATE_HOME` moves the folder"
        ))
    })
}

/// A folder for temporary files of this run alone: in the user's state, which no worker of another run can change. Short enough for the
/// names of sockets.
fn own_tmp(context: &Context) -> PathBuf {
    let state = home::state().unwrap_or_else(std::env::temp_dir);
    state.join("tmp").join(context.folder.id.short())
}
