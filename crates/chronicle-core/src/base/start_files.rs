//! Files that make a program run commands at its next start: settings, hooks, extensions and servers of agents, and git's own folder.
//!
//! A worker that may not run commands may not write them either, or its next attempt would run what it wrote.

/// Folders and what in them is read by an agent when it starts. Other things in them, such as worktrees, are harmless.
const FOLDERS: [(&str, &[&str]); 2] = [
    (
        ".claude",
        &[
            "settings.json",
            "settings.local.json",
            "hooks",
            "agents",
            "skills",
            "commands",
            "plugins",
        ],
    ),
    // The user's own folder of Pi is `~/.pi/agent`.
    (".pi", &["settings.json", "extensions", "agent", "agents", "skills", "prompts", "npm", "git"]),
];
/// Files that name servers to start, in the project and in the user's home.
const FILES: [&str; 2] = [".mcp.json", ".claude.json"];
/// Its `config` and `hooks` name programs, and agents ask git for its status when they start.
const GIT: &str = ".git";

/// True if a program may run commands because of that file. Judged by the path alone: links are not followed.
pub fn runs_at_start(path: &str) -> bool {
    let parts = parts(path);
    let is_in = |pair: &[String]| {
        let [folder, entry] = pair else { return false };
        let known = FOLDERS.iter().find(|(name, _)| name == folder);
        known.is_some_and(|(_, entries)| entries.contains(&entry.as_str()))
    };
    let is_file = parts.last().is_some_and(|last| FILES.contains(&last.as_str()));
    is_file || parts.iter().any(|part| part == GIT) || parts.windows(2).any(is_in)
}

/// The names in a path, without `.` and `..`. Case does not count, because on some disks it does not.
fn parts(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    // Pi leaves out an `@` before a path.
    for part in path.trim().trim_start_matches('@').split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part.to_lowercase()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::runs_at_start;

    #[test]
    fn files_that_run_commands_are_told_from_others() {
        for path in [
            ".claude/settings.json",
            "/home/ann/project/.claude/settings.local.json",
            "./src/../.claude//./settings.json",
            "@.claude/settings.json",
            ".Claude/Settings.JSON",
            "~/.claude/hooks/check.sh",
            ".mcp.json",
            "sub/.mcp.json",
            ".pi/extensions/mine.ts",
            "~/.pi/agent/settings.json",
            ".git/config",
            ".git/hooks/pre-commit",
            ".git",
        ] {
            assert!(runs_at_start(path), "{path}");
        }
        for path in [
            "",
            "src/main.rs",
            "settings.json",
            ".claude/worktrees/one/src/agents/main.rs",
            ".claude/plans/plan.md",
            ".claude/settings.json/../../notes.md",
            ".pi/todos/one.md",
            ".github/workflows/ci.yml",
            ".gitignore",
            "mcp.json",
        ] {
            assert!(!runs_at_start(path), "{path}");
        }
    }
}
