//! Programs that print where something of theirs is installed, which commands then start from there.
//!
//! The path is the usual one. It stands for a folder of the same kind: what lies in it is judged by its name, and what is removed or
//! written there by whether it belongs to the project.

use super::state::State;
use super::value::Field;
use super::walk::Walker;

/// Where a tool keeps things.
enum Kept {
    /// Below the folder that it runs in.
    Here(&'static str),
    /// Below the folder of the person, who installed it there.
    Home(&'static str),
    /// At this place, for everybody.
    At(&'static str),
}

impl Walker<'_> {
    /// The folder or the program that a tool prints.
    pub(super) fn installed(&self, name: &str, words: &[&str], state: &State) -> Option<Field> {
        if self.is_told_elsewhere(name) {
            return None;
        }
        let (kept, program) = kept(name, words)?;
        let folder = match kept {
            Kept::Here(path) => format!("{}/{path}", state.folder()?),
            Kept::Home(path) => format!("{}/{path}", self.home(state).known()?),
            Kept::At(path) => path.to_owned(),
        };
        let folder = folder.trim_end_matches('/');
        let is_name =
            |it: &&str| !it.starts_with(['-', '.']) && !it.contains('/') && !it.is_empty();
        match program {
            None => Some(Field::text(folder)),
            Some(program) => Some(program)
                .filter(is_name)
                .map(|program| Field::text(&format!("{folder}/{program}"))),
        }
    }

    /// True if this text told the tool to keep things elsewhere.
    fn is_told_elsewhere(&self, name: &str) -> bool {
        let tells = |word: &super::CommandWord| !matches!(word.known(), Some(word) if !["-w", "set", "config"].contains(&word));
        let mut runs = self.acts.runs.iter().filter(|run| run.program == name);
        runs.any(|run| run.words.iter().skip(1).any(tells))
    }
}

/// What a tool prints for these words: a folder, and perhaps the name of a program in it.
fn kept<'w>(name: &str, words: &[&'w str]) -> Option<(Kept, Option<&'w str>)> {
    let folder = match (name, words) {
        ("go", ["env", "GOPATH"]) => Kept::Home("go"),
        ("go", ["env", "GOROOT"]) => Kept::At("/usr/local/go"),
        ("npm" | "pnpm" | "yarn", ["bin"]) => Kept::Here("node_modules/.bin"),
        ("npm" | "pnpm", ["root"]) => Kept::Here("node_modules"),
        ("npm" | "pnpm", ["root", "-g" | "--global"] | ["-g", "root"]) => {
            Kept::At("/usr/lib/node_modules")
        }
        ("npm" | "pnpm", ["bin", "-g"]) | ("yarn", ["global", "bin"]) => Kept::At("/usr/local/bin"),
        ("npm", ["prefix"]) => Kept::Here(""),
        ("npm", ["prefix", "-g" | "--global"] | ["config", "get", "prefix"]) => {
            Kept::At("/usr/local")
        }
        ("yarn", ["bin", program]) => {
            return Some((Kept::Here("node_modules/.bin"), Some(program)));
        }
        ("pyenv", ["prefix"] | ["prefix", _]) => Kept::Home(".pyenv/versions/3"),
        ("pyenv" | "rbenv" | "nodenv", ["root"]) => Kept::Home(".pyenv"),
        ("rbenv" | "nodenv", ["prefix"] | ["prefix", _]) => Kept::Home(".rbenv/versions/3"),
        ("pyenv" | "rbenv" | "nodenv" | "rustup" | "mise" | "asdf", ["which", program]) => {
            return Some((Kept::Home(".local/share/tools/bin"), Some(program)));
        }
        ("mise" | "asdf", ["where", _]) => Kept::Home(".local/share/tools"),
        ("brew", ["--prefix"] | ["--prefix", _]) => Kept::At("/opt/homebrew"),
        ("poetry", ["env", "info", "-p" | "--path"]) | ("pipenv", ["--venv"]) => {
            Kept::Home(".cache/virtualenvs/project")
        }
        ("python" | "python3", ["-m", "site", "--user-base"]) => Kept::Home(".local"),
        ("rustc", ["--print", "sysroot"] | ["--print=sysroot"]) => {
            Kept::Home(".rustup/toolchains/stable")
        }
        ("llvm-config" | "pg_config", ["--bindir"]) => Kept::At("/usr/lib/tools/bin"),
        ("xcode-select", ["-p" | "--print-path"]) => Kept::At("/Library/Developer"),
        ("xcrun", ["-f" | "--find", program]) => {
            return Some((Kept::At("/usr/bin"), Some(program)));
        }
        _ => return None,
    };
    Some((folder, None))
}
