//! Programs that some tests need and that a machine may lack.

use std::env;
use std::ffi::OsStr;

#[derive(Debug)]
pub(crate) struct Need {
    pub(crate) program: &'static str,
    /// What the tests do with it.
    pub(crate) about: &'static str,
}

const NEEDS: &[Need] = &[
    Need { program: "git", about: "trees, worktrees and merges" },
    Need { program: "python3", about: "the agent in the protocol's page" },
    Need { program: "sh", about: "command phases" },
    Need { program: "bash", about: "what a shell really runs" },
    Need { program: "curl", about: "notices by a webhook" },
    Need { program: "tmux", about: "screens on a real terminal" },
];

impl Need {
    /// A test whose name or module holds this word needs the program.
    pub(super) fn mark(&self) -> String {
        format!("needs_{}", self.program)
    }

    /// The sentence for a person.
    pub(crate) fn why(&self) -> String {
        let Self { program, about } = self;
        format!("`{program}` is not installed: tests of {about} (`{}`) do not run", self.mark())
    }
}

/// Those that are not on the path.
pub(super) fn missing() -> Vec<&'static Need> {
    let path = env::var_os("PATH").unwrap_or_default();
    NEEDS.iter().filter(|need| !is_installed(need.program, &path)).collect()
}

fn is_installed(program: &str, path: &OsStr) -> bool {
    env::split_paths(path).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_known() {
        assert!(NEEDS.iter().all(|need| !is_installed(need.program, OsStr::new(""))));
        let here = OsStr::new(env!("CARGO_MANIFEST_DIR"));
        assert!(is_installed("Cargo.toml", here));
    }

    #[test]
    fn the_sentence_names_the_program_and_the_mark() {
        let why = Need { program: "git", about: "trees" }.why();
        assert_eq!(why, "`git` is not installed: tests of trees (`needs_git`) do not run");
    }
}
