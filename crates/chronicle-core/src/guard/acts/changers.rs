//! Programs with commands that change the files that they are given, and builds that clean a folder.

use super::ByteSpan;
use super::TouchKind;
use super::behind::value_of;
use super::handed::is_in;
use super::invoke::Call;
use super::options::{Read, Valued, read};
use super::state::State;
use super::value::{Field, Piece};
use super::walk::Walker;

/// Commands of `sops` that change nothing, or say what else they change.
const OF_SOPS: &str = "exec-env exec-file publish keyservice filestatus groups decrypt encrypt rotate completion help";
/// Commands of programs with variables in a file, which is changed.
const OF_DOTENV: &str = "set unset encrypt decrypt rotate";
/// Commands of `jcmd` that a file follows.
const OF_JCMD: &str = "GC.heap_dump Thread.dump_to_file Compiler.perfmap VM.cds";

/// Programs with commands that change the files behind them, the option that these need, and options with which they change nothing.
const FORMATTERS: &[(&str, &str, &str, &str)] = &[
    ("deno", "fmt", "", "--check -c"),
    ("deno", "lint", "--fix", ""),
    ("terraform tofu packer terragrunt", "fmt", "", "-check -check=true -write=false"),
    ("php-cs-fixer sqlfluff", "fix", "", "--dry-run"),
    ("sqlfluff", "format", "", ""),
    ("dprint taplo", "fmt format", "", "--check --diff"),
    ("mix", "format", "", "--check-formatted --dry-run"),
    ("usort", "format", "", ""),
    ("ansible-vault", "encrypt decrypt rekey edit create", "", "--output"),
    ("svn hg", "revert", "", ""),
    ("jj", "restore", "", ""),
    ("dasel crudini toml", "put --set set", "", ""),
    ("ast-grep sg", "run scan", "-U --update-all", ""),
];

/// Programs, their options that name a folder or a file in it, the words that say that it is cleaned, and what is removed there.
const CLEANERS: &[(&str, &str, &str, &str)] = &[
    ("ninja", "-C", "clean cleandead", "*.o"),
    ("gradle gradlew", "-p --project-dir", "clean", "build"),
    ("mvn mvnw mvnd", "-f --file", "clean", "target"),
    ("meson", "-C", "--clean", "*.o"),
    ("cmake", "--build", "--clean-first clean", "*.o"),
    ("cmake", "-B", "--fresh", "CMakeCache.txt"),
    ("cargo", "--manifest-path", "clean", "target"),
    ("swift", "--package-path", "clean", ".build"),
];
/// Ends of files that say where a project is.
const PROJECT_FILES: [&str; 4] = [".xml", ".toml", ".gradle", ".kts"];

impl Walker<'_> {
    /// Files that a command of a program changes where they are.
    pub(super) fn changed_by_command(
        &mut self,
        name: &str,
        words: &[Field],
        state: &State,
        span: ByteSpan,
    ) {
        let files = match name {
            "sops" => changed_by_sops(words),
            "dotenv" | "dotenvx" => changed_by_dotenv(words),
            "buf" => {
                let (found, _) = read(words, Valued("config disable-symlinks path"), false);
                let formats = first_of(&found) == Some("format") && found.has(&["w", "write"]);
                if formats { others_of(&found) } else { Vec::new() }
            }
            "doxygen" => {
                let makes = |it: &Field| matches!(it.known(), Some("-g" | "-u" | "-l"));
                let is_file = |it: &&Field| !it.begins().starts_with('-');
                let makes = words.iter().any(makes);
                words.iter().filter(|_| makes).filter(is_file).cloned().collect()
            }
            _ if FORMATTERS.iter().any(|(names, ..)| is_in(names, name)) => {
                formatted_by(name, words)
            }
            "clang-tidy" => changed_by_checker(words),
            "jcmd" => changed_by_jcmd(words),
            _ => return,
        };
        for file in files {
            self.written_to(&file, state, name, span);
        }
    }

    /// What a build removes of a folder that it is told to clean.
    pub(super) fn cleaned(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) {
        let rows = CLEANERS.iter().filter(|(names, ..)| is_in(names, name));
        for (_, options, marks, what) in rows {
            let is_mark = |it: &Field| it.known().is_some_and(|it| is_in(marks, it));
            if !words.iter().any(is_mark) {
                continue;
            }
            let folders = (0..words.len()).filter_map(|at| value_of(options, words, at));
            for folder in folders {
                self.removed_below(&folder, what, state, name, call);
            }
        }
        let is_there = |word: &str| words.iter().any(|it| it.known() == Some(word));
        let mut operands = words.iter().filter(|it| !it.begins().starts_with('-'));
        match name {
            // Without another word it is where the project was built before.
            "cmake" if is_there("--fresh") => {
                for folder in operands {
                    self.removed_below(folder, "CMakeCache.txt", state, name, call);
                }
            }
            "meson" if is_there("--wipe") => {
                if let Some(folder) = operands.find(|it| it.known() != Some("setup")) {
                    self.touch(TouchKind::Delete, folder, state, name, call.span);
                }
            }
            // `:folder:clean` is a task of a part of the project.
            "gradle" | "gradlew" => {
                let tasks = operands.filter_map(|it| it.known()?.strip_suffix(":clean"));
                let folders: Vec<String> = tasks
                    .map(|it| it.trim_start_matches(':').replace(':', "/"))
                    .filter(|it| !it.is_empty())
                    .collect();
                for folder in folders {
                    self.removed_below(&Field::text(&folder), "build", state, name, call);
                }
            }
            _ => {}
        }
    }

    fn removed_below(
        &mut self,
        folder: &Field,
        what: &str,
        state: &State,
        by: &str,
        call: Call<'_>,
    ) {
        let text = folder.begins();
        let is_file = PROJECT_FILES.iter().any(|it| text.ends_with(it)) && folder.is_known();
        let mut path = match text.rsplit_once('/') {
            Some((above, _)) if is_file => Field::text(above),
            None if is_file => Field::text("."),
            _ => folder.clone(),
        };
        path.push_text("/");
        let is_glob = what.contains('*');
        let what = what.to_owned();
        path.push(if is_glob { Piece::Glob(what) } else { Piece::Text(what) });
        self.touch(TouchKind::Delete, &path, state, by, call.span);
    }
}

fn first_of(found: &Read) -> Option<&str> {
    found.operands.first().and_then(Field::known)
}

fn others_of(found: &Read) -> Vec<Field> {
    found.operands.get(1..).unwrap_or_default().to_vec()
}

/// `sops -i file`, `sops set file …`; a file alone is opened in an editor.
fn changed_by_sops(words: &[Field]) -> Vec<Field> {
    const VALUED: &str = "k kms p pgp a age input-type output-type output config extract set hc-vault-transit gcp-kms azure-kv \
        add-age add-pgp add-kms rm-age rm-pgp rm-kms encrypted-regex unencrypted-regex shamir-secret-sharing-threshold";
    let (found, _) = read(words, Valued(VALUED), false);
    let first = first_of(&found).unwrap_or_default();
    let in_place = found.has(&["i", "in-place"]);
    match first {
        "edit" | "set" | "unset" | "updatekeys" => {
            found.operands.get(1..2).unwrap_or_default().to_vec()
        }
        _ if is_in(OF_SOPS, first) && !in_place => Vec::new(),
        _ if is_in(OF_SOPS, first) => others_of(&found),
        _ => {
            let shows = found.has(&["d", "decrypt", "e", "encrypt", "r", "rotate", "version"]);
            if in_place || !shows { found.operands } else { Vec::new() }
        }
    }
}

/// `dotenv -f file set name value`; without a file it is the usual one.
fn changed_by_dotenv(words: &[Field]) -> Vec<Field> {
    let (found, _) = read(words, Valued("f file q quote e env-file fk env-keys-file k key"), false);
    if !first_of(&found).is_some_and(|it| is_in(OF_DOTENV, it)) {
        return Vec::new();
    }
    let files: Vec<Field> = found.values(&["f", "file", "env-file"]).cloned().collect();
    if files.is_empty() { vec![Field::text(".env")] } else { files }
}

/// `clang-tidy --fix files -- flags`.
fn changed_by_checker(words: &[Field]) -> Vec<Field> {
    let end = words.iter().position(|it| it.known() == Some("--")).unwrap_or(words.len());
    let own = words.get(..end).unwrap_or_default();
    let fixes = |it: &Field| it.begins().trim_start_matches('-').starts_with("fix");
    let is_option = |it: &Field| it.begins().starts_with('-');
    if !own.iter().any(|it| is_option(it) && fixes(it)) {
        return Vec::new();
    }
    own.iter().filter(|it| !is_option(it)).cloned().collect()
}

/// `jcmd process GC.heap_dump file`, `jcmd process JFR.dump filename=file`.
fn changed_by_jcmd(words: &[Field]) -> Vec<Field> {
    const NAMED: &str = "filename=";
    let named = words.iter().filter(|it| it.begins().starts_with(NAMED));
    let named = named.map(|it| it.after(NAMED.len()));
    let is_command = |it: &Field| it.known().is_some_and(|it| is_in(OF_JCMD, it));
    let behind = words.iter().skip_while(|it| !is_command(it)).skip(1);
    let behind = behind.filter(|it| !it.begins().starts_with('-') && !it.begins().contains('='));
    named.chain(behind.cloned()).collect()
}

/// The files behind a command that changes them.
fn formatted_by(name: &str, words: &[Field]) -> Vec<Field> {
    let has =
        |options: &str| words.iter().any(|it| it.known().is_some_and(|it| is_in(options, it)));
    let is_it = |(names, commands, needs, spares): &&(&str, &str, &str, &str)| {
        is_in(names, name) && has(commands) && (needs.is_empty() || has(needs)) && !has(spares)
    };
    let Some((_, commands, ..)) = FORMATTERS.iter().find(is_it) else { return Vec::new() };
    let behind = words.iter().skip_while(|it| !it.known().is_some_and(|it| is_in(commands, it)));
    behind.skip(1).filter(|it| !it.begins().starts_with('-')).cloned().collect()
}
