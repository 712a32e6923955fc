//! Sockets that the environment names: whoever reaches such a daemon can have it start programs outside of the wall.

use std::path::PathBuf;

/// Variables with the socket of a daemon, and the name that opens it. Those without one of the known names cannot be opened.
const NAMED: &[(&str, &str)] = &[
    ("ssh", "SSH_AUTH_SOCK"),
    ("gpg", "GPG_AGENT_INFO"),
    ("docker", "DOCKER_HOST"),
    ("podman", "CONTAINER_HOST"),
    ("containerd", "CONTAINERD_ADDRESS"),
    ("containerd", "BUILDKIT_HOST"),
    ("dbus", "DBUS_SESSION_BUS_ADDRESS"),
    ("dbus", "DBUS_SYSTEM_BUS_ADDRESS"),
    ("tmux", "TMUX"),
    ("watchman", "WATCHMAN_SOCK"),
    ("editor", "VSCODE_IPC_HOOK_CLI"),
    ("editor", "VSCODE_IPC_HOOK"),
    ("editor", "VSCODE_GIT_IPC_HANDLE"),
    ("editor", "NVIM"),
    ("editor", "NVIM_LISTEN_ADDRESS"),
    ("editor", "EMACS_SOCKET_NAME"),
    ("terminal", "KITTY_LISTEN_ON"),
    ("terminal", "WEZTERM_UNIX_SOCKET"),
    ("terminal", "ALACRITTY_SOCKET"),
    ("terminal", "ZELLIJ_SOCKET_DIR"),
    ("desktop", "SWAYSOCK"),
    ("desktop", "I3SOCK"),
];

/// Each socket that a variable of this process names.
pub(super) fn named() -> Vec<(&'static str, PathBuf)> {
    let said = NAMED.iter().filter_map(|(name, variable)| {
        let value = std::env::var_os(variable)?.into_string().ok()?;
        Some((*name, value))
    });
    said.flat_map(|(name, value)| paths(&value).into_iter().map(move |path| (name, path)))
        .filter(|(_, path)| path.exists())
        .collect()
}

/// The whole paths in such a value: a path, an address, or several of them.
fn paths(value: &str) -> Vec<PathBuf> {
    let parts = value.split(['=', ',', ';', ':']).filter(|part| part.starts_with('/'));
    // An address has two slashes before its path.
    let paths = parts.map(|part| PathBuf::from(format!("/{}", part.trim_start_matches('/'))));
    paths.filter(|path| path.components().count() > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_what_variables_hold() {
        let found = |value: &str| -> Vec<String> {
            paths(value).iter().map(|path| path.display().to_string()).collect()
        };
        assert_eq!(found("/tmp/ssh-x/agent.1"), ["/tmp/ssh-x/agent.1"]);
        assert_eq!(found("unix:///run/docker.sock"), ["/run/docker.sock"]);
        assert_eq!(found("unix:path=/run/user/1/bus,guid=1"), ["/run/user/1/bus"]);
        assert_eq!(found("/tmp/tmux-1/default,12,0"), ["/tmp/tmux-1/default"]);
        assert_eq!(found("/run/S.gpg-agent:0:1"), ["/run/S.gpg-agent"]);
        assert_eq!(found("tcp://127.0.0.1:2375"), ["/127.0.0.1"]);
        assert_eq!(found("/"), [""; 0]);
    }
}
