//! What a definition says about the walls around a worker: which files it can change, what it cannot see, whether it has a network.
//!
//! Settings, the workflow and the phase each say a part of it. The nearest one decides where only one can hold; lists add up, and a
//! demand for walls is never taken back.

use serde::{Deserialize, Serialize};

use crate::base::quote;

/// Names of what is hidden behind every wall until `open` names it: credentials, and daemons that start programs outside. The runtime
/// knows where each of them is.
pub const OPENABLE: &[&str] = &[
    "ssh",
    "gpg",
    "docker",
    "podman",
    "containerd",
    "dbus",
    "tmux",
    "screen",
    "x11",
    "emacs",
    "libvirt",
    "lxd",
    "snap",
    "watchman",
    "keyring",
    "pass",
    "aws",
    "azure",
    "gcloud",
    "kube",
    "gh",
    "glab",
    "git",
    "netrc",
    "cargo",
    "pypi",
    "gem",
    "databases",
    "clouds",
    "models",
    "age",
    "history",
    "terraform",
    "vault",
    "op",
    "sops",
    "rclone",
    "browser",
    "claude",
    "pi",
    "codex",
    "gemini",
    "opencode",
];

/// Most processes and threads behind a wall where nothing else is said: more than builds need, less than a machine bears.
pub const PROCESSES_DEFAULT: u64 = 4096;
/// Most processes that a wall may be told to let live: more than any machine runs, and few enough to be a number that somebody meant.
pub const PROCESSES_MAX: u64 = 1_000_000;

/// Longest path that a problem repeats.
const SHOWN_MAX: usize = 120;

/// Chronicle's own folder in a project.
const RECORD: &str = ".chronicle";

/// What one file or phase says. What it does not say is left to others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walls {
    /// Whether the project can be changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<WallFiles>,
    /// What else can be changed: in the project, from `~/`, or anywhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// What else cannot be seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hide: Vec<String>,
    /// Names of what is not hidden although it usually is, such as `ssh`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
    /// Whether there is a network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<WallNetwork>,
    /// Most processes and threads behind the wall.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// True if nothing starts where no wall stands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub require: bool,
    /// True if the agent brings a sandbox of its own, which Landlock would break.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_sandbox: Option<bool>,
}

/// Whether a worker can change the project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WallFiles {
    /// It cannot, except for what `paths` names.
    Read,
    /// It can, except for what guards the run.
    #[default]
    Write,
}

/// Whether a worker has a network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WallNetwork {
    /// The one of the machine.
    #[default]
    On,
    /// An empty loopback of its own.
    Off,
}

impl Walls {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What holds where `nearer` is said inside of this.
    #[must_use]
    pub fn and(mut self, nearer: &Self) -> Self {
        add(&mut self.paths, &nearer.paths);
        add(&mut self.hide, &nearer.hide);
        add(&mut self.open, &nearer.open);
        Self {
            files: nearer.files.or(self.files),
            network: nearer.network.or(self.network),
            processes: nearer.processes.or(self.processes),
            require: nearer.require || self.require,
            own_sandbox: nearer.own_sandbox.or(self.own_sandbox),
            ..self
        }
    }
}

/// Where a path of a wall begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// In the project: it begins with a name.
    Project,
    /// In the user's home: it begins with `~/`.
    Home,
    /// It is whole and begins with `/`.
    Root,
}

/// Why no wall can be told to open a path for changes; `None` if it can. What only the disk or the user's home can tell is not judged here.
pub fn unfit_to_open(path: &str) -> Option<String> {
    let (start, names) = match parts(path) {
        Ok(parts) => parts,
        Err(why) => return Some(why),
    };
    if start != Start::Project && names.is_empty() {
        return Some(format!("{} would open everything that the wall is for", quoted(path)));
    }
    // Of this project or another one: neither is a worker's.
    names.contains(&RECORD).then(|| {
        format!("{} is Chronicle's own record of runs, which no worker may change", quoted(path))
    })
}

/// Why no wall can be told to hide a path; `None` if it can. Agents read what Chronicle gives them from its folder.
pub fn unfit_to_hide(path: &str) -> Option<String> {
    let (start, names) = match parts(path) {
        Ok(parts) => parts,
        Err(why) => return Some(why),
    };
    let is_needed = names.is_empty() || start == Start::Project && names.first() == Some(&RECORD);
    is_needed.then(|| format!("{} is needed by the agent and cannot be hidden", quoted(path)))
}

/// Whether a path leads out of the project.
pub fn leads_outside(path: &str) -> bool {
    parts(path).map_or(true, |(start, _)| start != Start::Project)
}

/// The names that a path is made of. A wall takes paths to the letter: what a shell would make another path of is refused, because it
/// would open or hide nothing without a word.
fn parts(path: &str) -> Result<(Start, Vec<&str>), String> {
    let (start, below) = match (path.strip_prefix('/'), path.strip_prefix('~')) {
        (Some(below), _) => (Start::Root, below),
        (None, Some(below)) if below.is_empty() || below.starts_with('/') => (Start::Home, below),
        (None, _) => (Start::Project, path),
    };
    let names: Vec<&str> =
        below.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    let why = if path.trim().is_empty() {
        "is empty"
    } else if path.contains('\0') {
        "has a zero byte in it, and no path has one"
    } else if names.contains(&"..") {
        "leads upwards: name the folder itself"
    } else if path.contains('*') {
        "is a pattern: walls know none, name the folder itself"
    } else if start == Start::Project && path.starts_with(['~', '$']) {
        "is taken to the letter: write `~/` for your own home, or the whole path"
    } else {
        return Ok((start, names));
    };
    Err(format!("{} {why}", quoted(path)))
}

fn quoted(path: &str) -> String {
    format!("`{}`", quote::line(path, SHOWN_MAX))
}

fn add(list: &mut Vec<String>, more: &[String]) {
    for one in more {
        if !list.contains(one) {
            list.push(one.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_decides_lists_add_up_and_a_demand_stays() {
        let outer = Walls {
            files: Some(WallFiles::Read),
            paths: vec!["target".into()],
            require: true,
            ..Walls::default()
        };
        let nearer = Walls {
            files: Some(WallFiles::Write),
            paths: vec!["target".into(), "dist".into()],
            processes: Some(200),
            ..Walls::default()
        };
        let both = outer.clone().and(&nearer);
        assert_eq!(both.files, Some(WallFiles::Write));
        assert_eq!(both.paths, ["target", "dist"]);
        assert_eq!((both.processes, both.require), (Some(200), true));
        assert_eq!(outer.clone().and(&Walls::default()), outer);
    }

    #[test]
    fn paths_that_leave_nothing_of_a_wall_are_told() {
        let told = |path| unfit_to_open(path).unwrap_or_default();
        for path in ["/", "//", "/.", "~", "~/", "~/./"] {
            assert!(told(path).contains("would open everything"), "{path}");
        }
        for path in ["..", "../other", "target/../..", "~/../bob", "/a/.."] {
            assert!(told(path).contains("leads upwards"), "{path}");
            assert_eq!(unfit_to_hide(path).unwrap_or_default(), told(path));
        }
        for path in [".chronicle", "./.chronicle/runs", "/home/ann/p/.chronicle/", "sub/.chronicle"]
        {
            assert!(told(path).contains("Chronicle's own record"), "{path}");
        }
        for path in ["", " ", "a\0b", "*.pem", "~bob/x", "$HOME/x"] {
            assert!(unfit_to_open(path).is_some() && unfit_to_hide(path).is_some(), "{path:?}");
        }
        for path in [".", "./", "/", "~", ".chronicle", ".chronicle/runs"] {
            let told = unfit_to_hide(path).unwrap_or_default();
            assert!(told.contains("cannot be hidden"), "{path}");
        }
    }

    #[test]
    fn ordinary_paths_are_fit() {
        for path in [
            "target",
            ".",
            "./dist/",
            ".git/config",
            "a..b/...",
            "~/exports",
            "/srv/data",
            "./~odd",
            "app/[id]/page.tsx",
            ".chronicle-notes",
            "price$",
        ] {
            assert_eq!(unfit_to_open(path), None, "{path}");
            assert!(path == "." || unfit_to_hide(path).is_none(), "{path}");
        }
        assert!(leads_outside("/srv") && leads_outside("~/x") && !leads_outside("target"));
    }
}
