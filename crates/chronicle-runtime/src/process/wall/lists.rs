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

/// Folders of a known agent, below the user's home.
pub(super) struct OwnFolders {
    pub(super) agent: &'static str,
    /// What it keeps of sessions, and its settings.
    pub(super) folders: &'static [&'static str],
    /// What it writes by itself although it also guards a run.
    pub(super) written: &'static [&'static str],
}

pub(super) const AGENTS: &[OwnFolders] = &[
    OwnFolders {
        agent: "claude",
        folders: &[".claude", ".claude.json"],
        written: &[".claude.json"],
    },
    OwnFolders { agent: "pi", folders: &[".pi/agent"], written: &[".pi/agent/settings.json"] },
    OwnFolders { agent: "codex", folders: &[".codex"], written: &[] },
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
}

impl Secret {
    const fn of(name: &'static str, home: &'static [&'static str]) -> Self {
        Self { name, home, session: &[], machine: &[] }
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
    Secret { machine: &["/tmp/tmux-{uid}"], ..Secret::of("tmux", &[]) },
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
    Secret::of("gh", &[".config/gh"]),
    Secret::of("glab", &[".config/glab-cli"]),
    Secret::of("git", &[".git-credentials", ".config/git/credentials"]),
    Secret::of("netrc", &[".netrc"]),
    Secret::of("cargo", &[".cargo/credentials.toml", ".cargo/credentials"]),
    Secret::of("pypi", &[".pypirc"]),
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
