//! The programs that are measured, and a project for them to work in.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A workflow of one phase.
const WORKFLOW: &str = "name: One\nphases:\n  work: {instructions: Work, next: [done]}\n";

/// The release build of the product, beside this program's folder.
pub(crate) fn chronicle() -> PathBuf {
    built("chronicle")
}

/// The release build of the smallest program with a command line.
pub(crate) fn hello() -> PathBuf {
    built("examples/hello")
}

fn built(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.ancestors().nth(2).unwrap().join(name);
    assert!(path.is_file(), "`{name}` is not built: use `cargo xtask bench`");
    path
}

/// A project with the workflow `one`.
pub(crate) struct Project {
    root: PathBuf,
}

impl Project {
    pub(crate) fn new(root: &Path) -> Self {
        let workflows = root.join(".chronicle/workflows");
        std::fs::create_dir_all(&workflows).unwrap();
        std::fs::write(workflows.join("one.yaml"), WORKFLOW).unwrap();
        Self { root: root.to_owned() }
    }

    /// A script for the scripted agent, which plays these steps and then leaves.
    pub(crate) fn script(&self, name: &str, steps: &str) -> PathBuf {
        let path = self.root.join(name);
        let leave = "  - transition: {to: done, summary: all done}\n";
        std::fs::write(&path, format!("work:\n{steps}{leave}")).unwrap();
        path
    }

    /// A whole run on that script, with its supervisor, until it is done.
    pub(crate) fn run(&self, script: &Path) {
        let agent = format!("scripted:{}", script.display());
        let mut command = self.command(&["run", "one", "a task", "--agent", &agent, "--trust"]);
        let status = command.stderr(Stdio::null()).status().unwrap();
        assert!(status.success(), "the run ended with {status}");
    }

    /// Our program in this project, quiet.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(chronicle());
        command.args(words).current_dir(&self.root);
        command.env("CHRONICLE_SCRIPTED_HOME", self.root.join("agent-home"));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }
}
