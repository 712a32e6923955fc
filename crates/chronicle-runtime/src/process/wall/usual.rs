//! Makes a wall of what a phase may do. Pure: it looks at no disk, so that a wall can be shown before it stands.

use std::path::{Component, Path, PathBuf};

use chronicle_core::guard::GUARDS;
use thiserror::Error;

use super::lists::{
    AGENTS, ALWAYS_WRITABLE, CACHE_FILES, CACHES, LOADED, LOGINS, OpenIn, OwnFolders, SECRETS,
    Secret,
};
use super::{Network, Wall, WallFiles, WallLayers};

/// Where a project has its repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectGit<'a> {
    /// It has none, or one in its own folder `.git`.
    Own,
    /// Its `.git` is a file: it is a work tree of a repository elsewhere.
    Elsewhere {
        /// The folder of the work tree in that repository.
        folder: &'a Path,
        /// The repository that it belongs to.
        common: &'a Path,
    },
}

/// What a wall is made of. All paths are whole, except for `paths` and `hide`: those begin in the project or with `~/`.
#[derive(Debug, Clone)]
pub struct WallPlan<'a> {
    /// The folder that the agent works in.
    pub project: &'a Path,
    /// The project's own folder, if the agent works in a copy. It can be read, and not changed.
    pub origin: Option<&'a Path>,
    /// Where the project has its repository.
    pub git: ProjectGit<'a>,
    /// The home of the user, whose caches are writable.
    pub home: &'a Path,
    /// The user's number, which is in the names of some sockets.
    pub uid: u32,
    /// Folders for temporary files.
    pub tmp: &'a [PathBuf],
    /// The folder of the user's session (`XDG_RUNTIME_DIR`), where its daemons listen.
    pub session: Option<&'a Path>,
    /// The kind of agent.
    pub agent: &'a str,
    /// The agent's own folders, if it was told other ones than usual.
    pub agent_folders: &'a [PathBuf],
    /// Sockets that the environment names, such as that of an `ssh-agent`, each with the name that opens it.
    pub sockets: &'a [(&'a str, PathBuf)],
    /// Whether the project can be changed.
    pub files: WallFiles,
    /// What else can be changed behind it.
    pub paths: &'a [String],
    /// Folders of Chronicle's own outside of the project, which nothing opens.
    pub own: &'a [PathBuf],
    /// What else is to be hidden.
    pub hide: &'a [String],
    /// Names of what is not hidden.
    pub open: &'a [String],
    /// Whether there is a network.
    pub network: Network,
    /// Most processes and threads behind it.
    pub processes: Option<u64>,
    /// Which layers it is made of.
    pub layers: WallLayers,
}

impl<'a> WallPlan<'a> {
    /// The plan for a project that can be changed, by an agent of nobody's: with every layer, a network, and nothing said beside.
    pub fn plain(project: &'a Path, home: &'a Path) -> Self {
        Self {
            project,
            origin: None,
            git: ProjectGit::Own,
            home,
            uid: rustix::process::getuid().as_raw(),
            tmp: &[],
            session: None,
            agent: "command",
            agent_folders: &[],
            sockets: &[],
            files: WallFiles::Write,
            paths: &[],
            own: &[],
            hide: &[],
            open: &[],
            network: Network::On,
            processes: None,
            layers: WallLayers::ALL,
        }
    }
}

/// Why no wall can be made of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// Nothing is hidden by that name.
    #[error("nothing is hidden by the name `{0}`; known are {known}", known = known())]
    UnknownName(String),
    /// A path that leads elsewhere than it seems to.
    #[error("`{0}` leads upwards: name the folder itself")]
    Upwards(String),
    /// A path so high that nothing would be left of the wall.
    #[error("`{0}` would open everything that the wall is for")]
    OpensAll(String),
    /// A path in Chronicle's own record.
    #[error("`{0}` is Chronicle's own record of runs, which no worker may change")]
    OpensRecord(String),
    /// A path in the project's own folder, for an agent that works in a copy.
    #[error(
        "`{0}` is in the project's own folder, which no step may change: name it relative to the project"
    )]
    OpensOrigin(String),
    /// The agent could not work.
    #[error("`{0}` is needed by the agent and cannot be hidden")]
    HidesWork(String),
}

fn known() -> String {
    let names: Vec<String> = SECRETS.iter().map(|secret| format!("`{}`", secret.name)).collect();
    names.join(", ")
}

/// The wall for a plan.
pub fn usual(plan: &WallPlan<'_>) -> Result<Wall, PlanError> {
    let is_known = |name: &String| {
        SECRETS.iter().any(|it| it.name == name) || LOGINS.iter().any(|(agent, _)| agent == name)
    };
    if let Some(name) = plan.open.iter().find(|name| !is_known(name)) {
        return Err(PlanError::UnknownName(name.clone()));
    }
    let opened = plan.paths.iter().map(|path| plan.opened(path)).collect::<Result<Vec<_>, _>>()?;
    let asked = plan.hide.iter().map(|path| plan.hidden(path)).collect::<Result<Vec<_>, _>>()?;
    let asked = asked.into_iter().flat_map(|path| plan.in_both(path)).collect();
    let mut wall = Wall {
        writable: plan.writable(),
        read_only: plan.read_only(),
        hidden: asked,
        fresh: plan.fresh(),
        made: plan.made(),
        worked_in: plan.worked_in(),
        network: plan.network,
        processes: plan.processes,
        layers: plan.layers,
    };
    plan.add_secrets(&mut wall);
    // Somebody said it by name: what is opened is not protected, but what lies deeper still is.
    wall.read_only.retain(|path| !opened.contains(path));
    wall.hidden.retain(|path| !opened.contains(path));
    wall.writable.extend(opened);
    Ok(wall)
}

/// What a known agent needs below its folder before it is started: folders, and files that must exist to be protected.
pub fn made_for(agent: &str) -> Vec<(&'static str, bool)> {
    let Some(own) = of(agent) else { return Vec::new() };
    let is_folder = |name: &'static str| (name.trim_end_matches('/'), name.ends_with('/'));
    let listed = match own.open {
        // Files come into being when the agent writes them, or stay closed.
        OpenIn::Only(names) => names.iter().copied().filter(|name| name.ends_with('/')).collect(),
        OpenIn::AllBut(names) => names.to_vec(),
    };
    listed.into_iter().chain(own.fresh.iter().copied()).map(is_folder).collect()
}

/// The folder of a known agent, below the user's home.
pub fn usual_folder(agent: &str) -> Option<&'static str> {
    of(agent).map(|own| own.folder)
}

fn of(agent: &str) -> Option<&'static OwnFolders> {
    AGENTS.iter().find(|it| it.agent == agent)
}

impl WallPlan<'_> {
    fn writable(&self) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = ALWAYS_WRITABLE.iter().map(PathBuf::from).collect();
        all.extend(self.tmp.iter().cloned());
        if self.files == WallFiles::Write {
            all.push(self.project.to_owned());
            if let ProjectGit::Elsewhere { folder, common } = self.git {
                all.extend([folder, common].map(Path::to_owned));
            }
        }
        all.extend(self.agent_folders());
        all.extend(CACHES.iter().chain(CACHE_FILES).map(|path| self.home.join(path)));
        all
    }

    /// The agent's main folder: the one that it was told, else the usual one.
    fn main_folder(&self) -> Option<PathBuf> {
        let usual = || usual_folder(self.agent).map(|folder| self.home.join(folder));
        self.agent_folders.first().cloned().or_else(usual)
    }

    /// What of the agent's own folders can be changed: of the main one what it needs, the others as a whole.
    fn agent_folders(&self) -> Vec<PathBuf> {
        let Some(main) = self.main_folder() else { return Vec::new() };
        let opened = match of(self.agent).map(|own| &own.open) {
            Some(OpenIn::Only(names)) => names.iter().map(|name| main.join(name)).collect(),
            Some(OpenIn::AllBut(_)) | None => vec![main],
        };
        opened.into_iter().chain(self.agent_folders.iter().skip(1).cloned()).collect()
    }

    /// What guards a run, wherever it could be changed.
    fn read_only(&self) -> Vec<PathBuf> {
        let all = || GUARDS.iter().chain(LOADED);
        let guards = || all().map(|names| names.iter().collect::<PathBuf>());
        let mut all: Vec<PathBuf> = guards().map(|path| self.project.join(path)).collect();
        if let ProjectGit::Elsewhere { folder, common } = self.git {
            // A work tree's file says where its repository is. One that leads elsewhere brings settings that run programs.
            all.push(self.project.join(".git"));
            let inside = ["hooks", "config", "config.worktree", "info/attributes", "commondir"];
            all.extend(inside.iter().map(|name| common.join(name)));
            all.push(folder.join("config.worktree"));
            all.push(folder.join("commondir"));
        }
        if self.files == WallFiles::Read {
            // It may lie in a folder that can be written.
            all.push(self.project.to_owned());
        }
        all.extend(self.origin.map(Path::to_owned));
        all.extend(self.guards_of_agent());
        all
    }

    /// What of the agent's main folder no worker may change, wherever it lies.
    fn guards_of_agent(&self) -> Vec<PathBuf> {
        let (Some(own), Some(main)) = (of(self.agent), self.main_folder()) else {
            return Vec::new();
        };
        match own.open {
            OpenIn::Only(_) => vec![main],
            OpenIn::AllBut(names) => names.iter().map(|name| main.join(name)).collect(),
        }
    }

    /// What is empty behind the wall, and can be written.
    fn fresh(&self) -> Vec<PathBuf> {
        let (Some(own), Some(main)) = (of(self.agent), self.main_folder()) else {
            return Vec::new();
        };
        own.fresh.iter().map(|name| main.join(name)).collect()
    }

    /// What must exist before the wall stands: caches, which tools would make, and folders that a worker must not make itself.
    fn made(&self) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = CACHES.iter().map(|path| self.home.join(path)).collect();
        if self.files == WallFiles::Write {
            let git = match self.git {
                ProjectGit::Own => self.project.join(".git"),
                ProjectGit::Elsewhere { common, .. } => common.to_owned(),
            };
            all.push(git.join("hooks"));
        }
        all
    }

    /// Where workers write now or wrote in an earlier phase.
    fn worked_in(&self) -> Vec<PathBuf> {
        let mut all = vec![self.project.to_owned()];
        all.extend(self.origin.map(Path::to_owned));
        if let ProjectGit::Elsewhere { common, .. } = self.git {
            all.push(common.to_owned());
        }
        all
    }

    /// What is hidden in a copy is hidden in the project's own folder too, and the other way round.
    fn in_both(&self, path: PathBuf) -> Vec<PathBuf> {
        let other = self.origin.and_then(|origin| {
            let of_copy = path.strip_prefix(self.project).map(|below| origin.join(below));
            let of_origin = || path.strip_prefix(origin).map(|below| self.project.join(below));
            of_copy.or_else(|_| of_origin()).ok()
        });
        std::iter::once(path).chain(other).collect()
    }

    /// Hides what nobody opened. The folder of the session is hidden as a whole: every daemon of the user's listens there, by names
    /// that nobody can list.
    fn add_secrets(&self, wall: &mut Wall) {
        wall.hidden.extend(self.session.map(Path::to_owned));
        for secret in SECRETS {
            let is_open = self.open.iter().any(|name| name == secret.name);
            let in_session = self
                .session
                .into_iter()
                .flat_map(|session| secret.session.iter().map(|it| session.join(it)));
            let sockets = self.sockets.iter().filter(|(name, _)| *name == secret.name);
            let sockets = sockets.map(|(_, path)| path.clone());
            if is_open {
                // Named, so that they come back in a folder that is hidden. A socket needs no more to be spoken to.
                wall.read_only.extend(in_session.chain(sockets));
            } else {
                wall.hidden.extend(self.places(secret).chain(sockets));
                wall.fresh.extend(self.machine(secret.fresh));
            }
        }
        let logins = LOGINS.iter().filter(|(agent, _)| {
            *agent != self.agent && !self.open.iter().any(|name| name == agent)
        });
        wall.hidden.extend(logins.map(|(_, path)| self.home.join(path)));
        let unnamed =
            self.sockets.iter().filter(|(name, _)| SECRETS.iter().all(|it| it.name != *name));
        wall.hidden.extend(unnamed.map(|(_, path)| path.clone()));
    }

    fn places(&self, secret: &Secret) -> impl Iterator<Item = PathBuf> {
        secret.home.iter().map(|path| self.home.join(path)).chain(self.machine(secret.machine))
    }

    fn machine(&self, paths: &'static [&'static str]) -> impl Iterator<Item = PathBuf> {
        let uid = self.uid.to_string();
        paths.iter().map(move |path| PathBuf::from(path.replace("{uid}", &uid)))
    }

    fn opened(&self, said: &str) -> Result<PathBuf, PlanError> {
        let path = whole(said, self.project, self.home)?;
        refuse_to_open(said, &path, self.project, self.home, self.own)?;
        if let Some(origin) = self.origin {
            refuse_in_origin(said, &path, self.project, origin)?;
        }
        Ok(path)
    }

    fn hidden(&self, said: &str) -> Result<PathBuf, PlanError> {
        let path = whole(said, self.project, self.home)?;
        let work = std::iter::once(self.project).chain(self.origin).map(Path::to_owned);
        let needed = self.tmp.iter().cloned().chain(work).chain(self.agent_folders());
        let needed = needed.chain(self.main_folder());
        let needed = needed.chain(ALWAYS_WRITABLE.iter().map(PathBuf::from));
        if needed.into_iter().any(|place| place == path) || path == Path::new("/") {
            return Err(PlanError::HidesWork(said.to_owned()));
        }
        Ok(path)
    }
}

/// A path as people write it, as a whole one.
pub fn whole(said: &str, project: &Path, home: &Path) -> Result<PathBuf, PlanError> {
    let path = match said.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(below) if below.starts_with('/') => home.join(below.trim_start_matches('/')),
        // A relative path begins in the project; a whole one stays as it is.
        _ => project.join(said),
    };
    if path.components().any(|part| part == Component::ParentDir) {
        return Err(PlanError::Upwards(said.to_owned()));
    }
    Ok(path.components().collect())
}

/// Refuses a path that would leave nothing of a wall, or that holds what no worker may change.
pub fn refuse_to_open(
    said: &str,
    path: &Path,
    project: &Path,
    home: &Path,
    own: &[PathBuf],
) -> Result<(), PlanError> {
    let is_at_or_above = |place: &Path| place.starts_with(path);
    if is_at_or_above(home) || path != project && is_at_or_above(project) {
        return Err(PlanError::OpensAll(said.to_owned()));
    }
    // A copy of the project lies in a folder of Chronicle's own.
    let is_own = own.iter().any(|own| {
        path.starts_with(own) && !(project.starts_with(own) && path.starts_with(project))
    });
    if is_own || path.starts_with(project.join(".chronicle")) {
        return Err(PlanError::OpensRecord(said.to_owned()));
    }
    Ok(())
}

/// Refuses a path at, above or in the project's own folder, for an agent that works in a copy of it.
pub fn refuse_in_origin(
    said: &str,
    path: &Path,
    project: &Path,
    origin: &Path,
) -> Result<(), PlanError> {
    if origin.starts_with(path) && path != origin {
        return Err(PlanError::OpensAll(said.to_owned()));
    }
    if path.starts_with(origin) && !path.starts_with(project) {
        return Err(PlanError::OpensOrigin(said.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
