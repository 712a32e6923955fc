//! The walls around workers: what this machine can put up, and the lists for one attempt.
//!
//! `process/wall/` puts them up and knows nothing of runs. This says which of them a run gets: it looks at the environment and the disk,
//! and makes the plan that [`wall::usual`] turns into lists.

mod git;
mod own;
mod reached;
mod said;
mod sockets;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use chronicle_core::definition::walls::WallNetwork;
use chronicle_core::event::{AttemptWalls, WallsFound};

use crate::agents;
use crate::home;
use crate::process::wall::{self, Wall, WallLayers, WallPlan, WallProbe};

pub(crate) use said::refusal;

/// Where everybody's temporary files are, whatever the environment says.
const EVERYBODYS_TMP: &str = "/tmp";
/// Variables by which programs find their temporary folder.
const TMP_VARIABLES: [&str; 4] = ["TMPDIR", "TMP", "TEMP", "CLAUDE_CODE_TMPDIR"];
/// Where the scripted agent keeps its sessions, if it was told.
const SCRIPTED_HOME: &str = "CHRONICLE_SCRIPTED_HOME";

/// Where `claude` keeps what it loads in every project, in a home.
const CLAUDE_JSON: &str = ".claude.json";

/// Found once per process: a machine does not change its mind while a supervisor lives.
static FOUND: OnceLock<WallsFound> = OnceLock::new();

/// What this machine can put up, found by doing it. A person may want none.
pub(crate) fn found(chronicle: &Path, off: bool) -> WallsFound {
    if off {
        return WallsFound { off, ..WallsFound::default() };
    }
    FOUND.get_or_init(|| seen(&wall::probe(chronicle, &probing_place()))).clone()
}

/// Some folder that can be written. Not what the environment names for temporary files: a worker may have removed that, and no wall would
/// stand.
fn probing_place() -> PathBuf {
    // Nothing is made for it: a rehearsal leaves nothing behind.
    let usual = [home::state(), Some(PathBuf::from(EVERYBODYS_TMP))];
    usual.into_iter().flatten().find(|path| path.is_dir()).unwrap_or_else(|| PathBuf::from("/"))
}

/// What of Chronicle's own lies outside of projects: trust, anchors, settings. No worker may change it, wherever it lies.
fn own_places() -> impl Iterator<Item = PathBuf> {
    [home::state(), home::config()].into_iter().flatten()
}

/// What does not exist cannot be protected: a worker whose project is around it would make the user's settings.
fn make_own_places(works_in: &Path, home: &Path) {
    for folder in own_places() {
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    }
    // So would one whose project holds the home make what `claude` loads everywhere. It is a file of the home alone.
    if home.canonicalize().is_ok_and(|home| home.starts_with(works_in)) {
        let mut options = File::options();
        let made = options.write(true).create_new(true).mode(0o600).open(home.join(CLAUDE_JSON));
        let _ = made.and_then(|mut file| file.write_all(b"{}\n"));
    }
}

fn seen(probe: &WallProbe) -> WallsFound {
    let WallLayers { namespaces, own_proc, landlock } = probe.stands.layers;
    WallsFound {
        namespaces,
        own_proc,
        landlock,
        processes: namespaces && probe.stands.processes,
        network: probe.stands.network,
        off: false,
        why: probe.refusals.iter().map(ToString::to_string).collect(),
    }
}

/// Where an attempt works, and with what.
pub(crate) struct Around<'a> {
    /// The folder that it works in.
    pub(crate) works_in: &'a Path,
    /// The project's own folder, if it works in a copy.
    pub(crate) origin: Option<&'a Path>,
    /// The kind of agent.
    pub(crate) agent: &'a str,
    /// The home of its own, if it has one.
    pub(crate) home: Option<&'a Path>,
    /// The variables that it gets beside the user's.
    pub(crate) env: &'a BTreeMap<String, String>,
    /// The socket that it signals through, and the folder where others like it are.
    pub(crate) link: Option<(PathBuf, PathBuf)>,
    /// Other folders with sockets of runs.
    pub(crate) other_links: Vec<PathBuf>,
    /// A folder for temporary files that nobody else uses, if the usual one cannot be opened.
    pub(crate) own_tmp: &'a Path,
    /// Work folders of others that it may look into, and not change.
    pub(crate) seen: Vec<PathBuf>,
}

/// A wall, and the variables that what is behind it needs.
#[derive(Debug, Default)]
pub(crate) struct Raised {
    pub(crate) wall: Option<Wall>,
    pub(crate) env: BTreeMap<String, String>,
}

/// The wall for an attempt. The error says why it must not start.
pub(crate) fn around(walls: &AttemptWalls, around: &Around<'_>) -> Result<Raised, String> {
    if let Some(why) = asks_too_much(walls, around.agent) {
        return Err(why);
    }
    if !walls.stand() {
        return Ok(Raised::default());
    }
    let real = |path: &Path| path.canonicalize().map_err(|error| error.to_string());
    let works_in = real(around.works_in)?;
    let origin = around.origin.map(real).transpose()?;
    let origin = origin.as_deref();
    let home = user_home();
    let unfit = walls.asked.paths.iter().find_map(|it| unfit_for(it, &works_in, origin));
    if let Some(why) = unfit.or_else(|| asked_by_a_link(&walls.asked.hide, &works_in, &home)) {
        return Err(format!("`walls`: {why}"));
    }
    make_own_places(&works_in, &home);
    let theirs = origin.map(git::of);
    let common = theirs.as_ref().and_then(git::FoundGit::common);
    let kept: Vec<PathBuf> = origin.into_iter().chain(common).map(Path::to_owned).collect();
    let (tmp, env) = around.tmp(&works_in, &home, &kept);
    let found = if origin.is_some() { git::of_copy() } else { git::of(&works_in) };
    let folders = around.agent_folders();
    // A variable that names the project or what is around it would hide the work itself.
    let mut sockets = sockets::named();
    sockets.retain(|(_, path)| !works_in.starts_with(path) && !home.starts_with(path));
    let session = session_folder();
    let asked = &walls.asked;
    let plan = WallPlan {
        project: &works_in,
        origin,
        git: found.as_plan(),
        home: &home,
        uid: rustix::process::getuid().as_raw(),
        tmp: &tmp,
        session: session.as_deref(),
        agent: around.agent,
        agent_folders: &folders,
        sockets: &sockets,
        files: walls.files(),
        paths: &asked.paths,
        hide: &asked.hide,
        own: &own_places().collect::<Vec<_>>(),
        open: &asked.open,
        network: walls.network(),
        // The kernel would count every process of the user, where they are not in a namespace.
        processes: (walls.namespaces && !walls.unlimited).then(|| walls.processes()),
        layers: WallLayers {
            namespaces: walls.namespaces,
            own_proc: walls.own_proc,
            landlock: walls.landlock,
        },
    };
    let mut wall = wall::usual(&plan).map_err(|error| format!("`walls`: {error}"))?;
    // What lies deeper than what is hidden is shown all the same.
    wall.read_only.extend(kept.into_iter().chain(around.seen.iter().cloned()));
    wall.hidden.extend(home::works());
    around.hold_own(&mut wall, &asked.open, &works_in, &home);
    let git = found.folder(&works_in);
    if let Some(why) = around.reached_by_a_link(&wall, &works_in, &home, git.as_deref()) {
        return Err(format!("`walls`: {why}"));
    }
    wall.hidden.extend(around.other_links.iter().cloned());
    if let Some((socket, folder)) = &around.link {
        // Other runs are none of its business; its own supervisor is.
        wall.hidden.push(folder.clone());
        wall.read_only.push(socket.clone());
    }
    Ok(Raised { wall: Some(wall), env })
}

/// The user's folder for sockets and the like, if there is one.
fn session_folder() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    named.filter(|path| path.is_absolute() && path.is_dir())
}

/// Why what is asked for cannot be had here, or leaves an agent nothing to work with.
fn asks_too_much(walls: &AttemptWalls, agent: &str) -> Option<String> {
    if walls.asked.require && !walls.namespaces {
        let what = "walls are required here (`walls.require`), and namespaces do not stand";
        return Some(format!("{what}: leave `--no-walls` out, or see `chronicle doctor`"));
    }
    if walls.network() == WallNetwork::Off && !walls.namespaces {
        return Some(missing("`network: off` needs namespaces, which do not stand here"));
    }
    let is_cut_off = walls.network() == WallNetwork::Off && agents::about(agent).is_some();
    is_cut_off.then(|| format!("`{agent}` needs its model, and `network: off` leaves it none"))
}

/// Why a path cannot be opened in this project: it is at or above the home or the project, or holds what is Chronicle's own, by its name or
/// by where links lead.
pub(crate) fn unfit_to_open(said: &str, project: &Path) -> Option<String> {
    unfit_for(said, project, None)
}

/// The same for a copy of a project, whose own folder is closed.
fn unfit_for(said: &str, project: &Path, origin: Option<&Path>) -> Option<String> {
    let home = user_home();
    let own: Vec<PathBuf> = own_places().collect();
    let judged = wall::whole(said, project, &home).and_then(|path| {
        let refuse = |path: &Path, project: &Path, home: &Path, own: &[PathBuf]| {
            wall::refuse_to_open(said, path, project, home, own)?;
            origin.map_or(Ok(()), |it| wall::refuse_in_origin(said, path, project, it))
        };
        refuse(&path, project, &home, &own)?;
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let own: Vec<PathBuf> = own.iter().map(|path| real(path)).collect();
        refuse(&real(&path), &real(project), &real(&home), &own)
    });
    judged.err().map(|error| error.to_string())
}

/// Why something cannot be hidden by its name: that is a link in the project, which a worker can remove. What it led to would be seen then.
fn asked_by_a_link(hide: &[String], project: &Path, home: &Path) -> Option<String> {
    let is_link = |said: &&String| {
        let Ok(path) = wall::whole(said, project, home) else { return false };
        let inside =
            path.ancestors().take_while(|part| part.starts_with(project) && *part != project);
        inside.into_iter().any(Path::is_symlink)
    };
    let said = hide.iter().find(is_link)?;
    Some(format!("`{said}` in `hide` is a link that a worker could remove: name what it leads to"))
}

fn missing(what: &str) -> String {
    format!("{what}: `chronicle doctor` says why, `--no-walls` does without")
}

/// The home of the user, whatever an agent is told.
fn user_home() -> PathBuf {
    let said = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    // Without one, nothing lies below it: a folder that cannot exist.
    said.unwrap_or_else(|| PathBuf::from("/nonexistent"))
}

impl Around<'_> {
    /// The folders for temporary files, and the variables that name them where programs must be told. One that holds the project, the home
    /// or something of Chronicle's own would open those too. One that a link leads to may have been put there by a worker.
    fn tmp(
        &self,
        works_in: &Path,
        home: &Path,
        kept: &[PathBuf],
    ) -> (Vec<PathBuf>, BTreeMap<String, String>) {
        let everybodys = PathBuf::from(EVERYBODYS_TMP);
        let kept: Vec<PathBuf> = [works_in.to_owned(), home.to_owned()]
            .into_iter()
            .chain(own_places())
            .chain(kept.iter().cloned())
            .map(|path| path.canonicalize().unwrap_or(path))
            .collect();
        let is_usable = |folder: &PathBuf| {
            let is_real = folder.canonicalize().is_ok_and(|real| real == *folder && real.is_dir());
            is_real && !kept.iter().any(|path| path.starts_with(folder))
        };
        let told = std::env::temp_dir();
        // What the environment names and cannot be opened is named anew: programs would find it closed.
        let first = if is_usable(&told) { told } else { self.own_tmp.to_owned() };
        let is_told = first == std::env::temp_dir();
        let mut folders = vec![first.clone()];
        folders.extend(Some(everybodys).filter(|path| *path != first && is_usable(path)));
        if is_told && (folders.len() > 1 || first == Path::new(EVERYBODYS_TMP)) {
            return (folders, BTreeMap::new());
        }
        let named = first.to_string_lossy().into_owned();
        let env = TMP_VARIABLES.into_iter().map(|name| (name.to_owned(), named.clone()));
        (folders, env.collect())
    }

    /// Holds what is Chronicle's own and what belongs to agents, wherever it lies.
    fn hold_own(&self, wall: &mut Wall, open: &[String], works_in: &Path, home: &Path) {
        let named = self.named_for_agents();
        reached::make_ends(wall, &own::folders_of_agents(home), &self.folders_named());
        wall.read_only.extend(own_places());
        wall.read_only.push(home.join(CLAUDE_JSON));
        for project in std::iter::once(works_in).chain(self.origin) {
            wall.read_only.extend(own::led_to(project, own_places()));
        }
        wall.read_only.extend(own::led_to_by_agents(home, self.agent));
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let opened: Vec<PathBuf> = wall.writable.iter().map(|path| real(path)).collect();
        for (agent, path, login) in named.into_iter().filter(|(agent, ..)| *agent != self.agent) {
            let lies = real(&path);
            // What somebody opened by this name, or works in, is opened.
            let is_work = [works_in, &real(home)].iter().any(|it| it.starts_with(&lies));
            if is_work || opened.contains(&lies) {
                continue;
            }
            if !open.iter().any(|name| name == agent) {
                wall.hidden.extend(login.map(|login| path.join(login)));
            }
            wall.read_only.push(path);
        }
    }

    /// Why no attempt may start: a link that its worker could replace is on the way to what it may not change or see.
    fn reached_by_a_link(
        &self,
        wall: &Wall,
        works_in: &Path,
        home: &Path,
        git: Option<&Path>,
    ) -> Option<String> {
        let mut kept: Vec<PathBuf> = own_places().chain(self.told_folder()).collect();
        kept.extend(own::folders_of_agents(home));
        kept.extend(self.named_for_agents().into_iter().map(|(_, path, _)| path));
        kept.extend(home::config().iter().flat_map(|settings| own::in_settings(settings)));
        kept.extend(home::state().iter().flat_map(|state| own::in_state(state)));
        for project in std::iter::once(works_in).chain(self.origin) {
            kept.extend(own::in_project(project));
        }
        // Whoever opened one of them by its name may have it replaced.
        let of_git = git.into_iter().flat_map(|git| ["hooks", "config"].map(|it| git.join(it)));
        kept.extend(of_git.filter(|path| wall.read_only.contains(path)));
        reached::refusal(wall, &kept, &own::listed_by_agents(home))
    }

    /// What variables name for agents, whoever works: the kind of agent, the place, and the login in it.
    fn named_for_agents(&self) -> Vec<(&'static str, PathBuf, Option<&'static str>)> {
        let named = own::NAMED.iter().filter_map(|(agent, variable, login)| {
            let path = self.variable(variable).map(PathBuf::from).filter(|it| it.is_absolute())?;
            Some((*agent, path, *login))
        });
        named.collect()
    }

    /// Those of them that are folders. An agent would make its folder at its first start.
    fn folders_named(&self) -> Vec<PathBuf> {
        let is_file = |path: &Path| self.variable(own::NAMED_FILE).is_some_and(|it| path == it);
        let all = self.named_for_agents().into_iter().map(|(_, path, _)| path);
        all.filter(|path| !is_file(path)).collect()
    }

    /// Where the agent keeps its things, if that is not the usual place.
    fn agent_folders(&self) -> Vec<PathBuf> {
        let told = self.told_folder().into_iter();
        told.chain(self.home.map(Path::to_owned)).chain(self.own_folder()).collect()
    }

    /// The folder that the agent's variable names.
    fn told_folder(&self) -> Vec<PathBuf> {
        let told = agents::about(self.agent).and_then(|about| self.variable(about.login.variable));
        told.map(PathBuf::from).filter(|path| path.is_absolute()).into_iter().collect()
    }

    /// Makes what the agent would make by itself at its first start: what does not exist can neither be opened nor protected.
    pub(crate) fn make_own(&self) -> io::Result<()> {
        let named = |path: &Path, error: io::Error| {
            io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
        };
        let folder = |path: &Path| {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
            made.map_err(|error| named(path, error))
        };
        let told = self.agent_folders();
        told.iter().try_for_each(|path| folder(path))?;
        let home = user_home();
        let usual = wall::usual_folder(self.agent).map(|path| home.join(path));
        // In a home of the run's own nobody else's sessions are at stake.
        let main = told.first().cloned().or(usual.filter(|_| home.is_dir()));
        let Some(main) = main.filter(|_| self.home.is_none()) else { return Ok(()) };
        folder(&main)?;
        for (name, is_folder) in wall::made_for(self.agent) {
            let path = main.join(name);
            if is_folder {
                folder(&path)?;
            } else if !path.exists() {
                let is_json = path.extension().is_some_and(|it| it == "json");
                std::fs::write(&path, if is_json { "{}\n" } else { "" })
                    .map_err(|error| named(&path, error))?;
            }
        }
        Ok(())
    }

    /// Where the scripted agent keeps its sessions. It is a part of Chronicle, and known here alone.
    fn own_folder(&self) -> Option<PathBuf> {
        let said = self.variable(SCRIPTED_HOME).map(PathBuf::from);
        // A person may have given it a name of their own.
        let said = said.filter(|_| ["scripted", "command"].contains(&self.agent));
        let is_usual = self.agent == "scripted" && self.home.is_none();
        let usual = || home::state().map(|state| state.join("scripted")).filter(|_| is_usual);
        said.or_else(usual)
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        let given = self.env.get(name).map(OsString::from);
        given.or_else(|| std::env::var_os(name)).filter(|it| it.as_os_str() != OsStr::new(""))
    }
}
