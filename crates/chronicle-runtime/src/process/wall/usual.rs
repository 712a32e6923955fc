//! Makes a wall of what a phase may do. Pure: it looks at no disk, so that a wall can be shown before it stands.

use std::path::{Component, Path, PathBuf};

use chronicle_core::guard::GUARDS;
use thiserror::Error;

use super::lists::{
    AGENTS, ALWAYS_WRITABLE, CACHE_FILES, CACHES, LOGINS, OpenIn, OwnFolders, SECRETS, Secret,
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
        let guards = || GUARDS.iter().map(|names| names.iter().collect::<PathBuf>());
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
        if let ProjectGit::Elsewhere { common, .. } = self.git {
            all.push(common.to_owned());
        }
        all
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
        let machine = secret
            .machine
            .iter()
            .map(|path| PathBuf::from(path.replace("{uid}", &self.uid.to_string())));
        secret.home.iter().map(|path| self.home.join(path)).chain(machine)
    }

    fn opened(&self, said: &str) -> Result<PathBuf, PlanError> {
        let path = self.whole(said)?;
        let is_at_or_above = |place: &Path| place.starts_with(&path);
        if is_at_or_above(self.home) || path != self.project && is_at_or_above(self.project) {
            return Err(PlanError::OpensAll(said.to_owned()));
        }
        let is_own = self.own.iter().any(|own| path.starts_with(own));
        if is_own || path.starts_with(self.project.join(".chronicle")) {
            return Err(PlanError::OpensRecord(said.to_owned()));
        }
        Ok(path)
    }

    fn hidden(&self, said: &str) -> Result<PathBuf, PlanError> {
        let path = self.whole(said)?;
        let needed =
            self.tmp.iter().cloned().chain([self.project.to_owned()]).chain(self.agent_folders());
        let needed = needed.chain(self.main_folder());
        let needed = needed.chain(ALWAYS_WRITABLE.iter().map(PathBuf::from));
        if needed.into_iter().any(|place| place == path) || path == Path::new("/") {
            return Err(PlanError::HidesWork(said.to_owned()));
        }
        Ok(path)
    }

    /// A path as people write it, as a whole one.
    fn whole(&self, said: &str) -> Result<PathBuf, PlanError> {
        let path = match said.strip_prefix('~') {
            Some("") => self.home.to_owned(),
            Some(below) if below.starts_with('/') => self.home.join(below.trim_start_matches('/')),
            // A relative path begins in the project; a whole one stays as it is.
            _ => self.project.join(said),
        };
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(PlanError::Upwards(said.to_owned()));
        }
        Ok(path.components().collect())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn tmp() -> &'static [PathBuf] {
        static TMP: std::sync::LazyLock<Vec<PathBuf>> =
            std::sync::LazyLock::new(|| vec!["/tmp/a1".into()]);
        &TMP
    }

    fn texts(of: &[&str]) -> Vec<String> {
        of.iter().map(|it| (*it).to_owned()).collect()
    }

    fn plan() -> WallPlan<'static> {
        WallPlan {
            project: Path::new("/home/ann/project"),
            git: ProjectGit::Own,
            home: Path::new("/home/ann"),
            uid: 1000,
            tmp: tmp(),
            session: Some(Path::new("/run/user/1000")),
            agent: "claude",
            agent_folders: &[],
            sockets: &[],
            files: WallFiles::Write,
            paths: &[],
            hide: &[],
            own: &[],
            open: &[],
            network: Network::On,
            processes: None,
            layers: WallLayers::ALL,
        }
    }

    fn shown(list: &[PathBuf]) -> String {
        list.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join("\n")
    }

    fn is(list: &[PathBuf], path: &str) -> bool {
        list.iter().any(|it| it == Path::new(path))
    }

    fn check(wall: &Wall, expected: &Expect) {
        let text = format!(
            "writable\n{}\n\nread-only\n{}\n\nhidden\n{}\n\nmade\n{}\n",
            shown(&wall.writable),
            shown(&wall.read_only),
            shown(&wall.hidden),
            shown(&wall.made)
        );
        expected.assert_eq(&text);
    }

    #[test]
    fn the_default_wall_is_made_of_the_lists() {
        check(
            &usual(&plan()).unwrap(),
            &expect![[r#"
                writable
                /dev/null
                /dev/zero
                /dev/full
                /dev/random
                /dev/urandom
                /dev/tty
                /dev/ptmx
                /dev/pts
                /dev/shm
                /proc
                /tmp/a1
                /home/ann/project
                /home/ann/.claude/projects/
                /home/ann/.claude/sessions/
                /home/ann/.claude/session-env/
                /home/ann/.claude/todos/
                /home/ann/.claude/file-history/
                /home/ann/.claude/debug/
                /home/ann/.claude/backups/
                /home/ann/.claude/.credentials.json
                /home/ann/.claude/history.jsonl
                /home/ann/.npm
                /home/ann/.cache
                /home/ann/.cargo/registry
                /home/ann/.cargo/git
                /home/ann/go/pkg
                /home/ann/.m2/repository
                /home/ann/.gradle/caches
                /home/ann/.nuget/packages
                /home/ann/.bun/install/cache
                /home/ann/.local/share/pnpm/store
                /home/ann/.yarn/berry/cache
                /home/ann/.cargo/.package-cache
                /home/ann/.cargo/.package-cache-mutate

                read-only
                /home/ann/project/.chronicle
                /home/ann/project/.pi/chronicle
                /home/ann/project/.pi/damage-control-rules.yaml
                /home/ann/project/.pi/damage-control-rules.yml
                /home/ann/project/.pi/settings.json
                /home/ann/project/.pi/extensions
                /home/ann/project/.pi/agent/settings.json
                /home/ann/project/.pi/agent/extensions
                /home/ann/project/.pi/agent/mcp.json
                /home/ann/project/.claude/settings.json
                /home/ann/project/.claude/settings.local.json
                /home/ann/project/.claude/hooks
                /home/ann/project/.claude/plugins
                /home/ann/project/.claude.json
                /home/ann/project/.mcp.json
                /home/ann/project/.codex/config.toml
                /home/ann/project/.codex/hooks.json
                /home/ann/project/.gemini/settings.json
                /home/ann/project/.opencode/plugin
                /home/ann/project/.opencode/plugins
                /home/ann/project/.config/chronicle
                /home/ann/project/.git/hooks
                /home/ann/project/.git/config
                /home/ann/project/.git/config.worktree
                /home/ann/project/.git/info/attributes
                /home/ann/project/.git/commondir
                /home/ann/.claude

                hidden
                /run/user/1000
                /home/ann/.ssh
                /home/ann/.gnupg
                /home/ann/.docker
                /run/docker.sock
                /var/run/docker.sock
                /run/docker
                /home/ann/.config/containers
                /run/podman
                /run/containerd
                /run/crio
                /run/buildkit
                /run/k3s
                /run/dbus
                /run/systemd/private
                /tmp/tmux-1000
                /home/ann/.screen
                /run/screen
                /tmp/screens
                /home/ann/.Xauthority
                /home/ann/.ICEauthority
                /tmp/.X11-unix
                /tmp/.ICE-unix
                /home/ann/.emacs.d/server
                /tmp/emacs1000
                /run/libvirt
                /var/lib/lxd/unix.socket
                /var/snap/lxd/common/lxd
                /var/lib/incus/unix.socket
                /run/snapd.socket
                /run/snapd-snap.socket
                /home/ann/.local/state/watchman
                /usr/local/var/run/watchman
                /home/ann/.local/share/keyrings
                /home/ann/.local/share/kwalletd
                /home/ann/.password-store
                /home/ann/.aws
                /home/ann/.azure
                /home/ann/.config/gcloud
                /home/ann/.kube
                /home/ann/.config/gh
                /home/ann/.config/glab-cli
                /home/ann/.git-credentials
                /home/ann/.config/git/credentials
                /home/ann/.netrc
                /home/ann/.cargo/credentials.toml
                /home/ann/.cargo/credentials
                /home/ann/.pypirc
                /home/ann/.gem/credentials
                /home/ann/.local/share/gem/credentials
                /home/ann/.pgpass
                /home/ann/.my.cnf
                /home/ann/.mylogin.cnf
                /home/ann/.dbshell
                /home/ann/.snowsql
                /home/ann/.databrickscfg
                /home/ann/.oci
                /home/ann/.fly
                /home/ann/.config/doctl
                /home/ann/.config/hcloud
                /home/ann/.config/linode-cli
                /home/ann/.config/scw
                /home/ann/.config/stripe
                /home/ann/.config/heroku
                /home/ann/.config/netlify
                /home/ann/.config/vercel
                /home/ann/.local/share/com.vercel.cli
                /home/ann/.wrangler
                /home/ann/.config/.wrangler
                /home/ann/.boto
                /home/ann/.s3cfg
                /home/ann/.sentryclirc
                /home/ann/.cache/huggingface/token
                /home/ann/.huggingface
                /home/ann/.kaggle
                /home/ann/.config/github-copilot
                /home/ann/.config/age
                /home/ann/.age
                /home/ann/.bash_history
                /home/ann/.zsh_history
                /home/ann/.local/share/fish/fish_history
                /home/ann/.python_history
                /home/ann/.node_repl_history
                /home/ann/.psql_history
                /home/ann/.mysql_history
                /home/ann/.sqlite_history
                /home/ann/.terraform.d/credentials.tfrc.json
                /home/ann/.vault-token
                /home/ann/.config/op
                /home/ann/.config/sops
                /home/ann/.config/rclone
                /home/ann/.mozilla
                /home/ann/.config/google-chrome
                /home/ann/.config/chromium
                /home/ann/.config/BraveSoftware
                /home/ann/.config/microsoft-edge
                /home/ann/.pi/agent/auth.json
                /home/ann/.codex/auth.json
                /home/ann/.gemini/oauth_creds.json
                /home/ann/.local/share/opencode/auth.json

                made
                /home/ann/.npm
                /home/ann/.cache
                /home/ann/.cargo/registry
                /home/ann/.cargo/git
                /home/ann/go/pkg
                /home/ann/.m2/repository
                /home/ann/.gradle/caches
                /home/ann/.nuget/packages
                /home/ann/.bun/install/cache
                /home/ann/.local/share/pnpm/store
                /home/ann/.yarn/berry/cache
                /home/ann/project/.git/hooks
            "#]],
        );
    }

    #[test]
    fn a_phase_that_only_reads_has_no_project_to_write_but_what_it_names() {
        let wall =
            usual(&WallPlan { files: WallFiles::Read, paths: &texts(&["target"]), ..plan() })
                .unwrap();
        assert!(!is(&wall.writable, "/home/ann/project"));
        assert!(is(&wall.writable, "/home/ann/project/target") && is(&wall.writable, "/tmp/a1"));
        assert!(!is(&wall.made, "/home/ann/project/.git/hooks"));
    }

    #[test]
    fn a_work_tree_writes_its_repository_but_not_what_that_runs() {
        let git = ProjectGit::Elsewhere {
            folder: Path::new("/home/ann/main/.git/worktrees/w1"),
            common: Path::new("/home/ann/main/.git"),
        };
        let wall = usual(&WallPlan { git, ..plan() }).unwrap();
        assert!(is(&wall.writable, "/home/ann/main/.git") && !is(&wall.writable, "/home/ann/main"));
        for path in [
            "project/.git",
            "main/.git/hooks",
            "main/.git/config",
            "main/.git/worktrees/w1/commondir",
        ] {
            assert!(is(&wall.read_only, &format!("/home/ann/{path}")), "{path}");
        }
        assert!(is(&wall.made, "/home/ann/main/.git/hooks"));
    }

    #[test]
    fn what_is_opened_by_name_is_neither_hidden_nor_lost_with_its_folder() {
        let sockets = [
            ("ssh", PathBuf::from("/tmp/ssh-x/agent.1")),
            ("editor", PathBuf::from("/tmp/vscode.sock")),
        ];
        let open = WallPlan { open: &texts(&["docker", "ssh"]), sockets: &sockets, ..plan() };
        let wall = usual(&open).unwrap();
        assert!(!is(&wall.hidden, "/run/docker.sock") && !is(&wall.hidden, "/home/ann/.ssh"));
        assert!(
            is(&wall.read_only, "/run/user/1000/docker.sock")
                && is(&wall.read_only, "/tmp/ssh-x/agent.1")
        );
        assert!(is(&wall.hidden, "/run/user/1000") && is(&wall.hidden, "/home/ann/.gnupg"));
        assert!(is(&wall.hidden, "/tmp/vscode.sock"), "what has no name cannot be opened");
        let wall = usual(&WallPlan { sockets: &sockets, ..plan() }).unwrap();
        assert!(is(&wall.hidden, "/tmp/ssh-x/agent.1"));
    }

    #[test]
    fn paths_open_what_is_protected_and_hidden_if_they_name_it() {
        let wall = usual(&WallPlan {
            paths: &texts(&[".git/config", "~/.gnupg", "~/exports/"]),
            ..plan()
        })
        .unwrap();
        assert!(!is(&wall.read_only, "/home/ann/project/.git/config"));
        assert!(!is(&wall.hidden, "/home/ann/.gnupg") && is(&wall.writable, "/home/ann/.gnupg"));
        assert!(
            is(&wall.writable, "/home/ann/exports")
                && is(&wall.read_only, "/home/ann/project/.git/hooks")
        );
    }

    #[test]
    fn an_agent_has_its_own_folders_and_not_what_guards_it() {
        let pi = usual(&WallPlan { agent: "pi", ..plan() }).unwrap();
        assert!(is(&pi.writable, "/home/ann/.pi/agent") && !is(&pi.writable, "/home/ann/.claude"));
        assert!(is(&pi.read_only, "/home/ann/.pi/agent/extensions"));
        assert!(is(&pi.read_only, "/home/ann/.pi/agent/settings.json"));
        let told = [PathBuf::from("/tmp/a1/claude")];
        let told = usual(&WallPlan { agent_folders: &told, ..plan() }).unwrap();
        assert!(is(&told.writable, "/tmp/a1/claude/projects"));
        assert!(
            is(&told.read_only, "/tmp/a1/claude")
                && is(&told.fresh, "/tmp/a1/claude/shell-snapshots")
        );
        assert!(!told.writable.iter().any(|path| path.starts_with("/home/ann/.claude")));
        // Its own login is open to it, those of others are not there.
        assert!(is(&pi.hidden, "/home/ann/.claude/.credentials.json"));
        assert!(!is(&pi.hidden, "/home/ann/.pi/agent/auth.json"));
        let other = usual(&WallPlan { agent: "command", ..plan() }).unwrap();
        assert!(!other.writable.iter().any(|path| path.ends_with(".claude")));
    }

    #[test]
    fn plans_that_leave_nothing_of_a_wall_are_refused() {
        let error = |paths: &[&str], hide: &[&str], open: &[&str]| {
            let (paths, hide, open) = (&texts(paths), &texts(hide), &texts(open));
            usual(&WallPlan { paths, hide, open, ..plan() }).unwrap_err().to_string()
        };
        for path in ["/", "~", "~/", "/home", "/home/ann"] {
            assert!(error(&[path], &[], &[]).contains("would open everything"), "{path}");
        }
        for path in ["../other", "target/../..", "~/../bob"] {
            assert!(error(&[path], &[], &[]).contains("leads upwards"), "{path}");
        }
        for path in [".chronicle", ".chronicle/runs", "/home/ann/project/.chronicle/"] {
            assert!(error(&[path], &[], &[]).contains("Chronicle's own record"), "{path}");
        }
        for path in [".", "/", "/tmp/a1", "~/.claude", "/dev/null"] {
            assert!(error(&[], &[path], &[]).contains("cannot be hidden"), "{path}");
        }
        assert!(
            error(&[], &[], &["dokcer"])
                .starts_with("nothing is hidden by the name `dokcer`; known are `ssh`")
        );
    }

    #[test]
    fn every_name_is_unique_and_every_path_is_whole() {
        let mut names: Vec<&str> = SECRETS.iter().map(|secret| secret.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), SECRETS.len());
        let wall = usual(&plan()).unwrap();
        let all = [&wall.writable, &wall.read_only, &wall.hidden, &wall.made];
        assert!(
            all.into_iter()
                .flatten()
                .all(|path| path.is_absolute() && !path.to_string_lossy().contains('{'))
        );
    }
}
