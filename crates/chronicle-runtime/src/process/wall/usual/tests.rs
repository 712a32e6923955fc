//! The lists that walls are made of.

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
        uid: 1000,
        tmp: tmp(),
        session: Some(Path::new("/run/user/1000")),
        agent: "claude",
        ..WallPlan::plain(Path::new("/home/ann/project"), Path::new("/home/ann"))
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
        "writable\n{}\n\nread-only\n{}\n\nhidden\n{}\n\nfresh\n{}\n\nmade\n{}\n",
        shown(&wall.writable),
        shown(&wall.read_only),
        shown(&wall.hidden),
        shown(&wall.fresh),
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
            /home/ann/project/.pi/npm
            /home/ann/project/.pi/git
            /home/ann/project/.pi/mcp.json
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
            /home/ann/project/opencode.json
            /home/ann/project/opencode.jsonc
            /home/ann/project/.opencode/opencode.json
            /home/ann/project/.opencode/opencode.jsonc
            /home/ann/project/.opencode/tool
            /home/ann/project/.opencode/tools
            /home/ann/project/.config/opencode
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
            /home/ann/.config/hub
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
            /home/ann/.qwen/oauth_creds.json
            /home/ann/.local/share/amp/secrets.json
            /home/ann/.config/goose/secrets.yaml
            /home/ann/.config/cursor/auth.json
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
            /home/ann/.local/share/opencode/mcp-auth.json

            fresh
            /home/ann/.claude/shell-snapshots/
            /tmp/tmux-1000

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
        usual(&WallPlan { files: WallFiles::Read, paths: &texts(&["target"]), ..plan() }).unwrap();
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
    for path in
        ["project/.git", "main/.git/hooks", "main/.git/config", "main/.git/worktrees/w1/commondir"]
    {
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
    let wall =
        usual(&WallPlan { paths: &texts(&[".git/config", "~/.gnupg", "~/exports/"]), ..plan() })
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
        is(&told.read_only, "/tmp/a1/claude") && is(&told.fresh, "/tmp/a1/claude/shell-snapshots")
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
