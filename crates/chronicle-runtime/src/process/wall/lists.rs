//! What stands open and what is hidden behind every wall, as data. [`super::usual`] makes a wall of it.
//!
//! Each entry of a writable list was seen to be needed; what can start programs outside is not on it. So `~/.cargo` is not, since
//! `~/.cargo/bin` and its settings are in it, but its downloads are.

/// Devices and the like that every program needs. `/proc` is for what a process says of itself; root does not get it.
pub(super) const ALWAYS_WRITABLE: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
    "/proc",
];

/// Where a known agent keeps its things, below the user's home. Settings, hooks, extensions and programs in it are started by the user's own
/// sessions, outside of any wall: no worker may change them.
pub(super) struct OwnFolders {
    pub(super) agent: &'static str,
    /// The folder with its settings and sessions.
    pub(super) folder: &'static str,
    /// What of it a worker can change. A folder ends in `/`, and is made if it is missing.
    pub(super) open: OpenIn,
    /// Folders in it that are empty behind a wall, and can be written: the agent reads there what it runs.
    pub(super) fresh: &'static [&'static str],
}

/// What of an agent's folder is open.
pub(super) enum OpenIn {
    /// Nothing but what is listed here.
    Only(&'static [&'static str]),
    /// All but this. What is missing of it is made, since what does not exist cannot be protected.
    AllBut(&'static [&'static str]),
}

pub(super) const AGENTS: &[OwnFolders] = &[
    OwnFolders {
        agent: "claude",
        folder: ".claude",
        open: OpenIn::Only(&[
            "projects/",
            "sessions/",
            "session-env/",
            "todos/",
            "file-history/",
            "debug/",
            "backups/",
            ".credentials.json",
            "history.jsonl",
        ]),
        fresh: &["shell-snapshots/"],
    },
    OwnFolders {
        agent: "pi",
        folder: ".pi/agent",
        // It locks files beside them, so the folder itself stays open.
        open: OpenIn::AllBut(&[
            "settings.json",
            "extensions/",
            "bin/",
            "npm/",
            "git/",
            "packages/",
            "tools/",
            "hooks/",
            "skills/",
            "prompts/",
            "themes/",
            "mcp.json",
            "AGENTS.md",
            "SYSTEM.md",
            "APPEND_SYSTEM.md",
        ]),
        fresh: &[],
    },
    OwnFolders {
        agent: "codex",
        folder: ".codex",
        open: OpenIn::AllBut(&[
            "config.toml",
            "hooks.json",
            "AGENTS.md",
            "prompts/",
            "skills/",
            "rules/",
        ]),
        fresh: &[],
    },
];

/// What agents load of a project and run, beside what guards protect: settings name servers, plugins and formatters.
pub(crate) const LOADED: &[&[&str]] = &[
    &["opencode.json"],
    &["opencode.jsonc"],
    &[".opencode", "opencode.json"],
    &[".opencode", "opencode.jsonc"],
    &[".opencode", "tool"],
    &[".opencode", "tools"],
    // Of a project that is a home.
    &[".config", "opencode"],
];

/// The logins of agents, below the user's home. Those of other agents than the one that works are hidden, each by its agent's name.
pub(super) const LOGINS: &[(&str, &str)] = &[
    ("claude", ".claude/.credentials.json"),
    ("pi", ".pi/agent/auth.json"),
    ("codex", ".codex/auth.json"),
    ("gemini", ".gemini/oauth_creds.json"),
    ("opencode", ".local/share/opencode/auth.json"),
    ("opencode", ".local/share/opencode/mcp-auth.json"),
];

/// Downloads of package managers and caches of compilers, below the user's home. They are made if they are missing, as the tools do.
pub(super) const CACHES: &[&str] = &[
    ".npm",
    ".cache",
    ".cargo/registry",
    ".cargo/git",
    "go/pkg",
    ".m2/repository",
    ".gradle/caches",
    ".nuget/packages",
    ".bun/install/cache",
    ".local/share/pnpm/store",
    ".yarn/berry/cache",
];
/// The same for files, which are not made.
pub(super) const CACHE_FILES: &[&str] = &[".cargo/.package-cache", ".cargo/.package-cache-mutate"];

/// What is hidden until it is opened by its name.
pub(super) struct Secret {
    pub(super) name: &'static str,
    /// Below the user's home.
    pub(super) home: &'static [&'static str],
    /// Below the folder of the user's session, which is hidden as a whole.
    pub(super) session: &'static [&'static str],
    /// Anywhere. `{uid}` stands for the user's number.
    pub(super) machine: &'static [&'static str],
    /// Anywhere too, but a worker has an empty folder there that it can write: it may start such a daemon of its own, behind its wall.
    pub(super) fresh: &'static [&'static str],
}

impl Secret {
    const fn of(name: &'static str, home: &'static [&'static str]) -> Self {
        Self { name, home, session: &[], machine: &[], fresh: &[] }
    }
}

/// Credentials, and sockets of daemons that start programs outside of the wall.
pub(super) const SECRETS: &[Secret] = &[
    Secret::of("ssh", &[".ssh"]),
    Secret { session: &["gnupg"], ..Secret::of("gpg", &[".gnupg"]) },
    Secret {
        session: &["docker.sock", "docker"],
        machine: &["/run/docker.sock", "/var/run/docker.sock", "/run/docker"],
        ..Secret::of("docker", &[".docker"])
    },
    Secret {
        session: &["podman", "containers"],
        machine: &["/run/podman"],
        ..Secret::of("podman", &[".config/containers"])
    },
    Secret {
        machine: &["/run/containerd", "/run/crio", "/run/buildkit", "/run/k3s"],
        ..Secret::of("containerd", &[])
    },
    Secret {
        session: &["bus", "systemd", "dbus-1"],
        machine: &["/run/dbus", "/run/systemd/private"],
        ..Secret::of("dbus", &[])
    },
    Secret { fresh: &["/tmp/tmux-{uid}"], ..Secret::of("tmux", &[]) },
    Secret { machine: &["/run/screen", "/tmp/screens"], ..Secret::of("screen", &[".screen"]) },
    Secret {
        machine: &["/tmp/.X11-unix", "/tmp/.ICE-unix"],
        ..Secret::of("x11", &[".Xauthority", ".ICEauthority"])
    },
    Secret {
        machine: &["/tmp/emacs{uid}"],
        session: &["emacs"],
        ..Secret::of("emacs", &[".emacs.d/server"])
    },
    Secret { session: &["libvirt"], machine: &["/run/libvirt"], ..Secret::of("libvirt", &[]) },
    Secret {
        machine: &[
            "/var/lib/lxd/unix.socket",
            "/var/snap/lxd/common/lxd",
            "/var/lib/incus/unix.socket",
        ],
        ..Secret::of("lxd", &[])
    },
    Secret { machine: &["/run/snapd.socket", "/run/snapd-snap.socket"], ..Secret::of("snap", &[]) },
    Secret {
        machine: &["/usr/local/var/run/watchman"],
        ..Secret::of("watchman", &[".local/state/watchman"])
    },
    Secret {
        session: &["keyring"],
        ..Secret::of("keyring", &[".local/share/keyrings", ".local/share/kwalletd"])
    },
    Secret::of("pass", &[".password-store"]),
    Secret::of("aws", &[".aws"]),
    Secret::of("azure", &[".azure"]),
    Secret::of("gcloud", &[".config/gcloud"]),
    Secret::of("kube", &[".kube"]),
    Secret::of("gh", &[".config/gh", ".config/hub"]),
    Secret::of("glab", &[".config/glab-cli"]),
    Secret::of("git", &[".git-credentials", ".config/git/credentials"]),
    Secret::of("netrc", &[".netrc"]),
    Secret::of("cargo", &[".cargo/credentials.toml", ".cargo/credentials"]),
    Secret::of("pypi", &[".pypirc"]),
    Secret::of("gem", &[".gem/credentials", ".local/share/gem/credentials"]),
    Secret::of(
        "databases",
        &[".pgpass", ".my.cnf", ".mylogin.cnf", ".dbshell", ".snowsql", ".databrickscfg"],
    ),
    Secret::of(
        "clouds",
        &[
            ".oci",
            ".fly",
            ".config/doctl",
            ".config/hcloud",
            ".config/linode-cli",
            ".config/scw",
            ".config/stripe",
            ".config/heroku",
            ".config/netlify",
            ".config/vercel",
            ".local/share/com.vercel.cli",
            ".wrangler",
            ".config/.wrangler",
            ".boto",
            ".s3cfg",
            ".sentryclirc",
        ],
    ),
    Secret::of(
        "models",
        &[
            ".cache/huggingface/token",
            ".huggingface",
            ".kaggle",
            ".config/github-copilot",
            ".qwen/oauth_creds.json",
            ".local/share/amp/secrets.json",
            ".config/goose/secrets.yaml",
            ".config/cursor/auth.json",
        ],
    ),
    Secret::of("age", &[".config/age", ".age"]),
    Secret::of(
        "history",
        &[
            ".bash_history",
            ".zsh_history",
            ".local/share/fish/fish_history",
            ".python_history",
            ".node_repl_history",
            ".psql_history",
            ".mysql_history",
            ".sqlite_history",
        ],
    ),
    Secret::of("terraform", &[".terraform.d/credentials.tfrc.json"]),
    Secret::of("vault", &[".vault-token"]),
    Secret::of("op", &[".config/op"]),
    Secret::of("sops", &[".config/sops"]),
    Secret::of("rclone", &[".config/rclone"]),
    Secret::of(
        "browser",
        &[
            ".mozilla",
            ".config/google-chrome",
            ".config/chromium",
            ".config/BraveSoftware",
            ".config/microsoft-edge",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use chronicle_core::definition::walls::OPENABLE;

    use super::{LOGINS, SECRETS};

    /// Whoever writes a name into a file is told of all of them, and each opens something.
    #[test]
    fn definitions_know_the_names_of_all_that_is_hidden() {
        let logins = LOGINS.iter().map(|(agent, _)| *agent);
        let mut names: Vec<&str> = SECRETS.iter().map(|secret| secret.name).chain(logins).collect();
        // Some have several places.
        names.dedup();
        assert_eq!(names, OPENABLE);
    }
}
