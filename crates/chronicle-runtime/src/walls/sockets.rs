//! What the environment names beside the usual places: sockets of daemons, which start programs outside of the wall for whoever reaches
//! them, and files with credentials.

use std::path::PathBuf;

/// Variables with the socket of a daemon or the place of credentials, and the name that opens it. Those without one of the known names cannot be opened.
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
    ("desktop", "WAYLAND_DISPLAY"),
    ("desktop", "PULSE_SERVER"),
    ("screen", "SCREENDIR"),
    ("emacs", "EMACS_SERVER_FILE"),
    ("x11", "XAUTHORITY"),
    ("gpg", "GNUPGHOME"),
    ("kube", "KUBECONFIG"),
    ("aws", "AWS_SHARED_CREDENTIALS_FILE"),
    ("aws", "AWS_CONFIG_FILE"),
    ("aws", "AWS_WEB_IDENTITY_TOKEN_FILE"),
    ("azure", "AZURE_CONFIG_DIR"),
    ("gcloud", "CLOUDSDK_CONFIG"),
    ("gcloud", "GOOGLE_APPLICATION_CREDENTIALS"),
    ("docker", "DOCKER_CONFIG"),
    ("gh", "GH_CONFIG_DIR"),
    ("netrc", "NETRC"),
    ("pass", "PASSWORD_STORE_DIR"),
    ("databases", "PGPASSFILE"),
    ("history", "HISTFILE"),
];

/// Variables with a folder, and what in it holds credentials.
const WITHIN: &[(&str, &str, &str)] = &[
    ("cargo", "CARGO_HOME", "credentials.toml"),
    ("cargo", "CARGO_HOME", "credentials"),
    ("git", "XDG_CONFIG_HOME", "git/credentials"),
    ("gh", "XDG_CONFIG_HOME", "gh"),
    ("gcloud", "XDG_CONFIG_HOME", "gcloud"),
];

/// Each socket that a variable of this process names.
pub(super) fn named() -> Vec<(&'static str, PathBuf)> {
    let said = NAMED.iter().filter_map(|(name, variable)| {
        let value = std::env::var_os(variable)?.into_string().ok()?;
        Some((*name, value))
    });
    let said = said.flat_map(|(name, value)| paths(&value).into_iter().map(move |it| (name, it)));
    let within = WITHIN.iter().filter_map(|(name, variable, inside)| {
        let folder = PathBuf::from(std::env::var_os(variable)?);
        folder.is_absolute().then(|| (*name, folder.join(inside)))
    });
    said.chain(within)
        .chain(tmux_folder().map(|path| ("tmux", path)))
        .filter(|(_, path)| path.exists())
        .collect()
}

/// Where tmux listens if a person told it another folder than the usual one. Whoever wants a server behind a wall must tell it another one.
fn tmux_folder() -> Option<PathBuf> {
    let told = std::env::var_os("TMUX_TMPDIR").map(PathBuf::from).filter(|it| it.is_absolute())?;
    Some(told.join(format!("tmux-{}", rustix::process::getuid().as_raw())))
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
