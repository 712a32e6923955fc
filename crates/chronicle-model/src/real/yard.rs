//! A throw-away place for one agent: a home, a project, and nothing else.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Deleted when it is dropped.
pub struct Yard {
    folder: TempDir,
}

impl Yard {
    /// With an empty home and an empty project.
    pub fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("yard-").tempdir()?;
        std::fs::create_dir(folder.path().join("home"))?;
        std::fs::create_dir(folder.path().join("project"))?;
        Ok(Self { folder })
    }

    /// The folder that contains all others.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Private home folder of the agent.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Where the agent works.
    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Writes a file below the project.
    pub fn write(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.project().join(name);
        std::fs::write(&path, text)?;
        Ok(path)
    }

    /// A command that sees this yard and a plain path, nothing else of the machine.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.project()).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", self.home());
        command.env("LANG", "C.UTF-8").env("TMPDIR", self.folder());
        command
    }
}
