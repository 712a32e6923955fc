//! What of Chronicle's own lies elsewhere, by links that a person made: runs on a larger disk, settings in a folder of their own. The folder
//! around such a link is closed to workers. What it leads to is not, unless it is named.

use std::fs;
use std::path::{Path, PathBuf};

use chronicle_core::guard::GUARDS;

use super::CLAUDE_JSON;

/// Folders within folders that are looked into.
const DEPTH_MAX: usize = 3;
/// Most entries that are looked at in all.
const ENTRIES_MAX: usize = 2_000;
/// Folders with many files and no settings of a person.
const FULL: [&str; 9] = [
    "runs",
    "trees.git",
    "projects",
    "sessions",
    "todos",
    "file-history",
    "shell-snapshots",
    "node_modules",
    "cache",
];
/// Where agents keep what they load and run, below the user's home, and the kind of agent.
const AGENTS: [(&str, &str); 6] = [
    ("claude", ".claude"),
    ("pi", ".pi"),
    ("pi", ".pi/agent"),
    ("codex", ".codex"),
    ("gemini", ".gemini"),
    ("opencode", ".config/opencode"),
];

/// Variables that name folders or files of agents, the kind of agent, and the login in that folder.
pub(super) const NAMED: [(&str, &str, Option<&str>); 5] = [
    ("claude", "CLAUDE_CONFIG_DIR", Some(".credentials.json")),
    ("pi", "PI_CODING_AGENT_DIR", Some("auth.json")),
    ("codex", "CODEX_HOME", Some("auth.json")),
    ("opencode", "OPENCODE_CONFIG_DIR", None),
    ("opencode", NAMED_FILE, None),
];
/// The one of them that names a file.
pub(super) const NAMED_FILE: &str = "OPENCODE_CONFIG";
/// What of these folders starts programs, beside what is protected in every project.
const STARTING: [&str; 12] = [
    ".pi/agent/npm",
    ".pi/agent/git",
    ".pi/agent/bin",
    ".pi/agent/tools",
    ".pi/agent/hooks",
    ".pi/agent/packages",
    ".config/opencode/opencode.json",
    ".config/opencode/opencode.jsonc",
    ".config/opencode/plugin",
    ".config/opencode/plugins",
    ".config/opencode/tool",
    ".config/opencode/tools",
];

/// The folders of agents below the user's home.
pub(super) fn folders_of_agents(home: &Path) -> Vec<PathBuf> {
    AGENTS.iter().map(|(_, folder)| home.join(folder)).collect()
}

/// What agents load of their folders in the user's home, by its name. What lies deeper is not named: whoever develops an extension links it
/// there.
pub(super) fn listed_by_agents(home: &Path) -> Vec<PathBuf> {
    let is_of_agent = |names: &&&[&str]| {
        let first = names.first().copied().unwrap_or_default();
        first == CLAUDE_JSON || AGENTS.iter().any(|(_, folder)| *folder == first)
    };
    let guards = GUARDS.iter().filter(is_of_agent).map(|names| names.iter().collect::<PathBuf>());
    guards.chain(STARTING.map(PathBuf::from)).map(|path| home.join(path)).collect()
}

/// What is linked in Chronicle's folder of a project, and that folder itself.
pub(super) fn in_project(project: &Path) -> Vec<PathBuf> {
    let record = project.join(".chronicle");
    let (mut found, mut left) = (vec![record.clone()], ENTRIES_MAX);
    links_in(&record, DEPTH_MAX - 1, &mut left, &mut found);
    found
}

/// The links in the user's settings.
pub(super) fn in_settings(settings: &Path) -> Vec<PathBuf> {
    let (mut found, mut left) = (Vec::new(), ENTRIES_MAX);
    links_in(settings, DEPTH_MAX, &mut left, &mut found);
    found
}

/// The links in what Chronicle keeps of the user's: trust, anchors, its own program.
pub(super) fn in_state(state: &Path) -> Vec<PathBuf> {
    let (mut found, mut left) = (Vec::new(), ENTRIES_MAX);
    links_in(state, 1, &mut left, &mut found);
    found
}

/// What the links in folders of agents lead to: their settings may lie with other settings of the person, in a project of their own. What
/// the agent that works needs of its own folder is said elsewhere.
pub(super) fn led_to_by_agents(home: &Path, working: &str) -> Vec<PathBuf> {
    let (mut found, mut left) = (Vec::new(), ENTRIES_MAX);
    let real_home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    for (agent, folder) in AGENTS {
        let straight = real_home.join(folder);
        let folder = home.join(folder);
        // A link may lie above it: `~/.config` of many people is one.
        let real = folder.canonicalize().ok().filter(|real| *real != straight);
        found.extend(real.filter(|_| agent != working));
        look(&folder, DEPTH_MAX - 1, &mut left, &mut found);
    }
    found
}

/// What the links in Chronicle's folders lead to: those of a project, and those of the user.
pub(super) fn led_to(project: &Path, own: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let record = project.join(".chronicle");
    let mut found: Vec<PathBuf> = own.filter_map(|folder| folder.canonicalize().ok()).collect();
    let mut left = ENTRIES_MAX;
    for folder in std::iter::once(record).chain(found.clone()) {
        look(&folder, DEPTH_MAX, &mut left, &mut found);
    }
    found
}

fn look(folder: &Path, depth: usize, left: &mut usize, found: &mut Vec<PathBuf>) {
    let mut links = Vec::new();
    links_in(folder, depth, left, &mut links);
    found.extend(links.into_iter().filter_map(|link| link.canonicalize().ok()));
}

/// The links in a folder, and in folders in it.
fn links_in(folder: &Path, depth: usize, left: &mut usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_symlink() {
            found.push(entry.path());
        } else if kind.is_dir() && depth > 1 && !FULL.iter().any(|name| entry.file_name() == *name)
        {
            links_in(&entry.path(), depth - 1, left, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn settings_of_agents_are_found_where_they_lie() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in
            ["home/.claude/hooks", "home/.pi", "dotfiles/agent/extensions", "dotfiles/codex"]
        {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        fs::write(root.join("dotfiles/claude.json"), "").unwrap();
        symlink(root.join("dotfiles/claude.json"), root.join("home/.claude/settings.json"))
            .unwrap();
        symlink(root.join("dotfiles/agent"), root.join("home/.pi/agent")).unwrap();
        symlink(root.join("dotfiles/codex"), root.join("home/.codex")).unwrap();
        let mut found = led_to_by_agents(&root.join("home"), "codex");
        found.sort();
        found.dedup();
        assert_eq!(found, ["dotfiles/agent", "dotfiles/claude.json"].map(|path| root.join(path)));
    }

    #[test]
    fn what_links_of_a_person_lead_to_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (project, config) = (root.join("project"), root.join("config"));
        for path in ["project/.chronicle/workflows", "config", "disk/runs/one", "dotfiles"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        for file in ["dotfiles/a.yaml", "dotfiles/config.toml"] {
            fs::write(root.join(file), "").unwrap();
        }
        symlink(root.join("disk/runs"), project.join(".chronicle/runs")).unwrap();
        symlink("../../../dotfiles/a.yaml", project.join(".chronicle/workflows/a.yaml")).unwrap();
        symlink("../dotfiles/config.toml", config.join("config.toml")).unwrap();
        symlink("nowhere", config.join("broken")).unwrap();
        let mut found = led_to(&project, std::iter::once(config.clone()));
        found.sort();
        let all = ["config", "disk/runs", "dotfiles/a.yaml", "dotfiles/config.toml"];
        assert_eq!(found, all.map(|path| root.join(path)));
    }
}
