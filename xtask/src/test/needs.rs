//! Programs that some tests need and that a machine may lack.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::process::{Command, Stdio};

/// The first version of the kernel with Landlock.
const LANDLOCK_SINCE: (u32, u32) = (5, 13);

#[derive(Debug)]
pub(crate) struct Need {
    pub(crate) program: &'static str,
    /// What the tests do with it.
    pub(crate) about: &'static str,
}

const PROGRAMS: &[Need] = &[
    Need { program: "git", about: "trees, worktrees and merges" },
    Need { program: "python3", about: "the agent in the protocol's page" },
    Need { program: "sh", about: "command phases" },
    Need { program: "bash", about: "what a shell really runs" },
    Need { program: "curl", about: "notices by a webhook" },
    Need { program: "tmux", about: "screens on a real terminal" },
    Need { program: "node", about: "ordinary work behind walls" },
];

/// What the kernel must allow, with how that is found out.
type Ability = (Need, fn() -> bool);

const ABILITIES: &[Ability] = &[
    (Need { program: "namespaces", about: "walls" }, has_namespaces),
    (Need { program: "landlock", about: "the second layer of walls" }, has_landlock),
];

impl Need {
    /// A test whose name or module holds this word needs the program.
    pub(super) fn mark(&self) -> String {
        format!("needs_{}", self.program)
    }

    /// The sentence for a person.
    pub(crate) fn why(&self) -> String {
        let Self { program, about } = self;
        let is_ability = ABILITIES.iter().any(|(need, _)| need.program == *program);
        let lacking = if is_ability { "is refused by this machine" } else { "is not installed" };
        format!("`{program}` {lacking}: tests of {about} (`{}`) do not run", self.mark())
    }
}

/// Those that are not on the path, and those that the kernel refuses.
pub(super) fn missing() -> Vec<&'static Need> {
    let path = env::var_os("PATH").unwrap_or_default();
    let programs = PROGRAMS.iter().filter(|need| !is_installed(need.program, &path));
    let abilities = ABILITIES.iter().filter(|(_, has)| !has()).map(|(need, _)| need);
    programs.chain(abilities).collect()
}

/// Found out by doing. Where there is no program to do it with, the tests themselves find out.
fn has_namespaces() -> bool {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-current-user", "--mount", "--pid", "--ipc", "--net", "--fork"]);
    command.args(["--mount-proc", "true"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let tried = command.status();
    cfg!(target_os = "linux") && tried.map_or_else(|_| true, |status| status.success())
}

/// By the kernel's list of its security modules. Where it cannot be read, by the version that brought Landlock.
fn has_landlock() -> bool {
    if let Ok(modules) = fs::read_to_string("/sys/kernel/security/lsm") {
        return modules.split(',').any(|module| module.trim() == "landlock");
    }
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    is_since(&release, LANDLOCK_SINCE)
}

/// True for a kernel's version such as `6.1.0-9-amd64` that is not older.
fn is_since(release: &str, since: (u32, u32)) -> bool {
    let mut numbers = release.trim().split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= since
}

fn is_installed(program: &str, path: &OsStr) -> bool {
    env::split_paths(path).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_known() {
        assert!(PROGRAMS.iter().all(|need| !is_installed(need.program, OsStr::new(""))));
        let here = OsStr::new(env!("CARGO_MANIFEST_DIR"));
        assert!(is_installed("Cargo.toml", here));
    }

    #[test]
    fn versions_of_the_kernel_are_compared_as_numbers() {
        let landlock = |release| is_since(release, LANDLOCK_SINCE);
        assert!(landlock("5.13.0") && landlock("6.1.0-9-amd64\n") && landlock("6.18.44"));
        assert!(!landlock("5.9.1") && !landlock("4.19") && !landlock("") && !landlock("Darwin"));
    }

    #[test]
    fn the_sentence_names_the_program_and_the_mark() {
        let why = Need { program: "git", about: "trees" }.why();
        assert_eq!(why, "`git` is not installed: tests of trees (`needs_git`) do not run");
        let why = ABILITIES[1].0.why();
        assert!(why.starts_with("`landlock` is refused by this machine: tests of "), "{why}");
    }
}
