//! Where a command runs and with which settings: a command proves something only in the project's folder, and only with the
//! programs and options that anybody would get who types it there.

use super::command::{begins, is_variable};
use super::tokens::Word;

/// Variables that decide which programs, libraries and start-up files are used, or which project a program works on.
const MEANING: [&str; 24] = [
    "BASH_ENV",
    "BASHOPTS",
    "CARGO_HOME",
    "CDPATH",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "ENV",
    "GIT_CONFIG_GLOBAL",
    "GIT_DIR",
    "GIT_EXEC_PATH",
    "GIT_WORK_TREE",
    "HOME",
    "IFS",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "RUSTC",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "SHELL",
    "SHELLOPTS",
    "ZDOTDIR",
];
/// Variables that pass options which the line itself does not show, such as `--collect-only`.
const OPTIONS: [&str; 9] = [
    "GNUMAKEFLAGS",
    "GOFLAGS",
    "JAVA_TOOL_OPTIONS",
    "MAKEFILES",
    "MAKEFLAGS",
    "PERL5OPT",
    "PYTEST_ADDOPTS",
    "PYTEST_PLUGINS",
    "RUBYOPT",
];
/// Variables that list folders with code. Folders of the project are fine: `PYTHONPATH=src pytest` is how it is typed.
const FOLDERS: [&str; 5] = ["NODE_PATH", "PATH", "PERL5LIB", "PYTHONPATH", "RUBYLIB"];
/// Commands that set the variables they name.
const SETTING: [&str; 5] = ["export", "declare", "typeset", "readonly", "local"];
/// Commands that give the variables they name another value, which the line does not show.
const TAKING: [&str; 5] = ["read", "printf", "unset", "mapfile", "readarray"];
/// Commands that move the shell to another folder.
const MOVING: [&str; 3] = ["cd", "pushd", "popd"];
/// Options that name the folder or the file to work with.
const ELSEWHERE: [&str; 17] = [
    "-C",
    "-f",
    "--chdir",
    "--cwd",
    "--dir",
    "--directory",
    "--file",
    "--git-dir",
    "--justfile",
    "--makefile",
    "--manifest-path",
    "--prefix",
    "--project",
    "--root",
    "--rootdir",
    "--work-tree",
    "--working-directory",
];
/// Folders that anybody may write to: a program found there may be anything.
const TEMPORARY: [&str; 4] = ["/tmp", "/var/tmp", "/dev/shm", "/run"];
/// Last names of folders that hold installed programs.
const PROGRAMS: [&str; 4] = ["bin", "sbin", ".bin", "shims"];
/// The project's folder where its path is unknown: no path in a line is below it.
const UNKNOWN: &str = "/\0";

/// Something about a command that makes it prove nothing, unless the wanted command has the same word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(super) word: String,
    pub(super) why: String,
}

/// An absolute path, normalised; `None` if only the shell knows it.
type Path = Option<Vec<String>>;

/// The folder that the next command of a line runs in.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    project: Vec<String>,
    here: Path,
    /// Where `cd -` goes.
    before: Path,
    /// The folder that `popd` returns to is the last of these.
    pushed: Vec<Path>,
    /// Why the folder is not in the project.
    left: Option<String>,
    /// The same, of any command so far.
    ever_left: Option<String>,
}

impl Ground {
    /// Each line is read as if it began in the project's folder.
    pub(super) fn new(project: &str) -> Self {
        let project = if project.is_empty() { UNKNOWN } else { project };
        let project = joined(Vec::new(), project);
        let here = Some(project.clone());
        Self { project, here, before: None, pushed: Vec::new(), left: None, ever_left: None }
    }

    /// The same folder for another shell.
    pub(super) fn for_inner(&self) -> Self {
        Self { left: None, ever_left: None, ..self.clone() }
    }

    pub(super) fn doubt(&self) -> Option<&str> {
        self.left.as_deref()
    }

    /// Follows `cd`, `pushd` and `popd`. `is_certain`: what follows runs only if this has succeeded.
    pub(super) fn follow(&mut self, words: &[Word], is_certain: bool) {
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let moves = |at: &usize| texts.get(*at).is_some_and(|it| MOVING.contains(it));
        // `command cd` and `A=1 cd` move as `cd` does.
        let Some(at) = begins(&texts).into_iter().find(moves) else { return };
        let words = &words[at..];
        let Some((program, rest)) = words.split_first() else { return };
        let target = rest.iter().find(|word| !is_cd_option(&word.text));
        let to = match (program.text.as_str(), target) {
            ("cd", Some(word)) if word.text == "-" => self.before.clone(),
            ("cd" | "pushd", Some(word)) => self.path_of(word),
            ("cd", None) => None,
            ("pushd" | "popd", _) => self.pushed.pop().flatten(),
            _ => return,
        };
        if program.text == "pushd" {
            self.pushed.push(self.here.clone());
        }
        self.before = std::mem::replace(&mut self.here, to);
        if !self.is_inside(self.here.as_ref()) {
            let shown = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            self.left = Some(format!("`{shown}` before it may leave the project's folder"));
            self.ever_left.clone_from(&self.left);
        } else if is_certain {
            // A `cd` back that may have failed or been skipped would leave the command where it was.
            self.left = None;
        }
    }

    /// What is sure after a list of commands of which some may not have run.
    pub(super) fn after(&mut self, before: &Self) {
        self.left.clone_from(&self.ever_left);
        let (Some(here), Some(was)) = (&self.here, &before.here) else { return };
        // Where `..` begins: a `cd` that failed did not go deeper.
        let common = here.iter().zip(was).take_while(|(a, b)| a == b).count();
        self.here = Some(here[..common].to_vec());
    }

    /// What of a command's own words makes it run something else, or elsewhere.
    pub(super) fn turns(&self, words: &[String]) -> Vec<Turn> {
        let texts: Vec<&str> = words.iter().map(String::as_str).collect();
        let begins = begins(&texts);
        let (before, own) = texts.split_at(begins.last().copied().unwrap_or_default());
        let set = before
            .iter()
            .filter(|word| self.disturbs(word))
            .map(|word| Turn { word: (*word).to_owned(), why: set_before(word) });
        // A shell in front too: `/tmp/x/sh check.sh` runs whatever that program makes of the script.
        let programs = begins.iter().filter_map(|begin| texts.get(*begin));
        let mut programs = programs.filter(|word| word.contains('/') && !is_variable(word));
        let foreign =
            programs.find(|program| !self.is_known_program(program)).map(|program| Turn {
                word: (*program).to_owned(),
                why: format!(
                    "`{program}` is not in a folder of the project or of installed programs"
                ),
            });
        let elsewhere = elsewhere(before).chain(elsewhere(own));
        let elsewhere =
            elsewhere.filter(|(_, value)| !self.holds(value)).map(|(word, value)| Turn {
                word: word.to_owned(),
                why: format!("with `{value}` it may not work on the project"),
            });
        set.chain(foreign).chain(elsewhere).collect()
    }

    /// Why a command changes what the same line runs after it: it sets a variable.
    pub(super) fn set_by(&self, words: &[&str]) -> Option<String> {
        let (program, rest) = words.split_first()?;
        let set: &[&str] = if is_variable(program) { words } else { rest };
        let is_setting = is_variable(program) || SETTING.contains(program);
        let takes = TAKING.contains(program);
        let found = set.iter().find(|word| {
            (is_setting && self.disturbs(word)) || (takes && is_disturbing_name(name(word)))
        });
        found.map(|word| set_before(word))
    }

    /// True if an assignment may change which program a command is, or what it does.
    fn disturbs(&self, word: &str) -> bool {
        let Some((name, value)) = word.split_once('=').filter(|_| is_variable(word)) else {
            return false;
        };
        match name.strip_suffix('+').unwrap_or(name) {
            "NODE_OPTIONS" => {
                ["require", "import", "loader", "-r"].iter().any(|it| value.contains(it))
            }
            name if FOLDERS.contains(&name) => value.split(':').any(|entry| {
                let is_same = entry == format!("${name}") || entry == format!("${{{name}}}");
                let is_known = name == "PATH" && self.holds_programs(entry);
                !is_same && !is_known && !self.holds(entry)
            }),
            name => is_disturbing_name(name),
        }
    }

    fn is_known_program(&self, program: &str) -> bool {
        let folder = program.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folder = if folder.is_empty() { "/" } else { folder };
        self.holds(folder) || self.holds_programs(folder)
    }

    /// True if a folder has the name and place of one with installed programs.
    fn holds_programs(&self, folder: &str) -> bool {
        let home = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|it| folder.strip_prefix(it));
        let path = match home {
            Some(below) => Some(joined(vec!["~".to_owned()], below)),
            None => self.resolve(folder),
        };
        path.is_some_and(|path| {
            let whole = format!("/{}", path.join("/"));
            let is_temporary = TEMPORARY.iter().any(|it| is_below(&whole, it));
            !is_temporary && path.last().is_some_and(|last| PROGRAMS.contains(&last.as_str()))
        })
    }

    /// True if a path, as seen from the current folder, is in the project.
    fn holds(&self, path: &str) -> bool {
        self.is_inside(self.resolve(path).as_ref())
    }

    fn is_inside(&self, path: Option<&Vec<String>>) -> bool {
        path.is_some_and(|path| path.starts_with(&self.project))
    }

    fn path_of(&self, word: &Word) -> Path {
        match word.inner.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["git rev-parse --show-toplevel"] if word.text == "$()" => Some(self.project.clone()),
            ["pwd"] if word.text == "$()" => self.here.clone(),
            _ => self.resolve(&word.text),
        }
    }

    fn resolve(&self, path: &str) -> Path {
        let below_here = ["$PWD", "${PWD}"].iter().find_map(|it| path.strip_prefix(it));
        let below_home = ["~", "$HOME", "${HOME}"].iter().find_map(|it| path.strip_prefix(it));
        let (from, rest) = match (below_here, below_home) {
            (Some(rest), _) => (self.here.clone()?, rest),
            (None, Some(rest)) => (self.home()?, rest),
            (None, None) if path.starts_with('/') => (Vec::new(), path),
            (None, None) => (self.here.clone()?, path),
        };
        // After `~` or `$PWD` only a slash continues the path: `~bob` and `$PWDX` are something else.
        let is_whole = rest.len() == path.len() || rest.is_empty() || rest.starts_with('/');
        (is_whole && !rest.contains(['$', '`'])).then(|| joined(from, rest))
    }

    /// The home folder, if the project is in one of the usual place.
    fn home(&self) -> Path {
        let count = match self.project.first().map(String::as_str) {
            Some("home" | "Users") => 2,
            Some("root") => 1,
            Some(_) | None => return None,
        };
        self.project.get(..count).map(<[String]>::to_vec)
    }
}

/// The options that name a folder or file, each with its word and the value.
fn elsewhere<'w>(words: &[&'w str]) -> impl Iterator<Item = (&'w str, &'w str)> {
    let words = words.iter().take_while(|word| **word != "--").copied().collect::<Vec<_>>();
    let joined = words.clone().into_iter().filter_map(|word| {
        let (option, value) = word.split_once('=')?;
        ELSEWHERE.contains(&option).then_some((word, value))
    });
    let next = words.clone().into_iter().skip(1);
    let apart = words.into_iter().zip(next);
    let apart = apart.filter(|(option, _)| ELSEWHERE.contains(option));
    joined.chain(apart.map(|(_, value)| (value, value))).collect::<Vec<_>>().into_iter()
}

fn joined(mut from: Vec<String>, path: &str) -> Vec<String> {
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                from.pop();
            }
            _ => from.push(part.to_owned()),
        }
    }
    from
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_cd_option(word: &str) -> bool {
    ["-P", "-L", "-e", "--"].contains(&word)
}

fn is_disturbing_name(name: &str) -> bool {
    let is_runner = name.starts_with("CARGO_TARGET_") && name.ends_with("_RUNNER");
    is_runner || MEANING.contains(&name) || OPTIONS.contains(&name) || FOLDERS.contains(&name)
}

fn name(word: &str) -> &str {
    let name = word.split('=').next().unwrap_or(word);
    name.strip_suffix('+').unwrap_or(name)
}

fn set_before(word: &str) -> String {
    format!("`{}` was set for it, which may change what it does", name(word))
}

#[cfg(test)]
mod tests {
    use crate::base::shell::{self, CommandLine, Proof};

    fn proof(line: &str, wanted: &str, project: &str) -> Proof {
        shell::proof(&CommandLine::whole(line.to_owned()), wanted, project)
    }

    #[test]
    fn a_command_in_the_project_with_harmless_settings_is_proven() {
        for line in [
            "RUST_BACKTRACE=1 CI=1 cargo test",
            "export RUST_LOG=debug CI=1 && cargo test",
            "cd crates/a && cargo test",
            "cd crates/a && make && cd ../.. && cargo test",
            "cd /home/me/app && cargo test",
            "cd /home/me/app/crates/a/ && cargo test",
            "cd ~/app && cargo test",
            "cd \"$(git rev-parse --show-toplevel)\" && cargo test",
            "cd $PWD/crates && cargo test",
            "cd /tmp && curl x -O && cd - && cargo test",
            "cd /tmp && curl x -O && cd /home/me/app && cargo test",
            "pushd /tmp && popd && cargo test",
            "(cd /tmp && tar xf a.tar) && cargo test",
            "cd .. && cd app && cargo test",
            "PATH=\"$HOME/.cargo/bin:$PATH\" cargo test",
            "export PATH=$PATH:/usr/local/go/bin:node_modules/.bin; cargo test",
            "PYTHONPATH=src:. cargo test",
            "NODE_OPTIONS=--max-old-space-size=4096 cargo test",
            "cargo test --manifest-path crates/a/Cargo.toml",
            "cargo --config a=1 test --manifest-path=/home/me/app/Cargo.toml",
            "/usr/bin/cargo test",
            "~/.cargo/bin/cargo test",
            "env -C crates/a cargo test",
            "bash -c 'cd crates && cargo test'",
            "cd a && bash -c 'cd .. && cargo test'",
            "cargo test -- -C /elsewhere",
            "stdbuf -oL cargo test",
            "stdbuf -o L -eL cargo test",
            "cargo --config net.offline=true test",
            "time cargo test",
            "nice cargo test",
            "nice -5 cargo test",
            "ionice -c3 nice -n 5 cargo test",
            "command cargo test",
            "command cd crates && cargo test",
        ] {
            assert_eq!(proof(line, "cargo test", "/home/me/app"), Proof::Proven, "{line}");
        }
        for (line, wanted) in [
            ("LD_PRELOAD=./x.so cargo test -p a", "LD_PRELOAD=./x.so cargo test"),
            ("make -C ../common -j4 test", "make -C ../common test"),
            ("cd ../common && make", "cd ../common && make"),
        ] {
            assert_eq!(proof(line, wanted, "/home/me/app"), Proof::Proven, "{line}");
        }
    }

    #[test]
    fn another_folder_or_another_meaning_proves_nothing() {
        let outside = "may leave the project's folder";
        let (set, not_on) = ("was set for it", "may not work on the project");
        for (line, reason) in [
            ("PATH=/tmp/fake:$PATH cargo test", "`PATH` was set for it"),
            ("PATH=/tmp/fake/bin:$PATH cargo test", set),
            ("export PATH=/tmp/fake:$PATH; cargo test", set),
            ("PATH=/tmp/fake A=1\ncargo test", set),
            ("declare -x LD_PRELOAD=/x.so && cargo test", set),
            ("read PATH <<< /tmp/fake; cargo test", set),
            ("LD_PRELOAD=/x.so cargo test", set),
            ("env BASH_ENV=/x cargo test", set),
            ("GIT_DIR=/x timeout 5 cargo test", set),
            ("PATH=/tmp/fake:$PATH bash -c 'cargo test'", set),
            ("PYTHONPATH=/tmp/x cargo test", set),
            ("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=true cargo test", set),
            ("NODE_OPTIONS='--require /x.js' cargo test", set),
            ("cd /outside && cargo test", "`cd /outside` before it may leave the project's folder"),
            ("cd /home/me/app2 && cargo test", outside),
            ("cd .. && cargo test", outside),
            ("cd crates/../.. && cargo test", outside),
            ("cd && cargo test", outside),
            ("cd ~ && cargo test", outside),
            ("cd ~bob/app && cargo test", outside),
            ("cd - && cargo test", outside),
            ("cd $X && cargo test", outside),
            ("pushd /x; cargo test", outside),
            ("/tmp/x/sh cargo test", "`/tmp/x/sh` is not in a folder"),
            ("$X/sh -e cargo test", "`$X/sh` is not in a folder"),
            ("A=1 ../sh cargo test", "`../sh` is not in a folder"),
            ("command cd /tmp && cargo test", outside),
            ("A=1 cd /tmp && cargo test", outside),
            ("builtin cd /tmp && cargo test", "`builtin` before it"),
            ("(cd /x; cargo test)", outside),
            ("(cd /x && cargo test)", outside),
            ("PATH+=:/tmp/fake; cargo test", set),
            ("export PATH=/tmp/fake\ncargo test", set),
            ("alias cargo=true; cargo test", "`alias` before it"),
            ("cargo() { true; }; cargo test", "defines a function"),
            ("function cargo { true; }; cargo test", "compound command"),
            ("popd; cargo test", outside),
            ("cd /x && bash -c 'cargo test'", outside),
            ("{ cd /x; }; cargo test", outside),
            ("cd /x; cd /home/me/app/none; cargo test", outside),
            ("cd /x; true || cd /home/me/app && cargo test", outside),
            ("cd /x; ! cd /home/me/app/none && cargo test", outside),
            ("cd /x; cd /home/me/app/none || true && cargo test", outside),
            ("cd none; cd .. && cargo test", outside),
            ("env -C /x cargo test", not_on),
            ("env --chdir=/x cargo test", not_on),
            ("cargo -C /x test", not_on),
            ("cargo test --manifest-path=../x/Cargo.toml", not_on),
            ("/tmp/fake/cargo test", "`/tmp/fake/cargo` is not in a folder of the project"),
            ("../fake/cargo test", "is not in a folder of the project"),
        ] {
            match proof(line, "cargo test", "/home/me/app") {
                Proof::Doubtful(why) => assert!(why.contains(reason), "{line}: {why}"),
                other @ (Proof::Absent | Proof::Proven) => panic!("{line}: {other:?}"),
            }
        }
        // Where the project's path is unknown, no absolute path is known to be in it.
        assert_ne!(proof("cd /home && make", "make", ""), Proof::Proven);
        assert_eq!(proof("cd home && make", "make", ""), Proof::Proven);
    }
}
