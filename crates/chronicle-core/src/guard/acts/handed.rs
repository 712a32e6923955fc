//! Commands that build tools and watchers are handed by their options, and options that programs read from a file.

use super::DoubtKind;
use super::behind::value_of;
use super::invoke::Call;
use super::options::{Valued, read};
use super::state::State;
use super::value::Field;
use super::walk::Walker;

/// Programs, and their options whose value is a command that they start, with one dash or two. One that ends in `=` takes no next word.
const STARTING: &[(&str, &str)] = &[
    ("go", "toolexec exec vettool"),
    ("bazel bazelisk blaze buck buck2", "run_under workspace_status_command"),
    ("air", "build.cmd build.bin build.full_bin build.pre_cmd build.post_cmd"),
    ("CompileDaemon compiledaemon", "command build"),
    ("ptw pytest-watch", "runner onpass onfail beforerun afterrun onexit oninterrupt"),
    ("meson", "wrapper wrap"),
    ("nx", "command"),
    ("vault", "exec"),
    ("nodemon", "exec x"),
    (
        "tsc-watch tsup",
        "onSuccess onFirstSuccess onFailure onEmit onCompilationStarted onCompilationComplete",
    ),
    ("latexmk", "latex= pdflatex= lualatex= xelatex="),
    ("java", "XX:OnError= XX:OnOutOfMemoryError="),
    ("watchmedo chokidar", "command c"),
    ("lint-staged", "shell"),
    ("gcc cc g++ c++ clang clang++", "fuse-ld="),
    ("protoc", "plugin"),
    ("rustc rustdoc cargo", "Clinker= codegen=linker="),
];
/// Programs whose operands are commands, each of them one text.
const TEXTS: [&str; 3] = ["concurrently", "start-server-and-test", "server-test"];
/// Programs that start the command behind `--` whenever a file changes.
const WATCHERS: [&str; 3] = ["watchexec", "onchange", "reflex"];
/// Options of these that take the next word.
const OF_WATCHERS: &str = "w watch W watch-non-recursive e exts i ignore f filter s signal stop-signal d debounce o on-busy-update \
    shell workdir:C project-origin E env delay-run poll g glob r_ regex R G start-service";
/// Ends of the names of variables of `cmake` that hold a program.
const OF_CMAKE: [&str; 13] = [
    "RULE_LAUNCH_COMPILE",
    "RULE_LAUNCH_LINK",
    "RULE_LAUNCH_CUSTOM",
    "_COMPILER",
    "_LAUNCHER",
    "_EMULATOR",
    "CMAKE_LINKER",
    "CMAKE_MAKE_PROGRAM",
    "_CLANG_TIDY",
    "_CPPCHECK",
    "_CPPLINT",
    "_INCLUDE_WHAT_YOU_USE",
    "_LINK_WHAT_YOU_USE_CHECK",
];
/// Programs that take `@file` for the words that it holds.
const RESPONDING: &str = "ar gcc cc g++ c++ clang clang++ cpp ld ld.lld lld gold mold as nm objcopy objdump strip ranlib rustc rustdoc \
    javac java javadoc jar swiftc kotlinc scalac csc dmd ldc2 protoc";

pub(super) fn is_in(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|it| it == name)
}

impl Walker<'_> {
    /// What a program is handed to start.
    pub(super) fn handed(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) {
        self.handed_by_option(name, words, state, call);
        match name {
            "mvn" | "mvnw" | "mvnd" => self.handed_to_maven(words, state, call),
            "cmake" => self.handed_to_cmake(words, state, call),
            "just" => self.handed_to_just(words, state, call),
            "rustc" | "rustdoc" | "cargo" => {
                let behind = words.windows(2).filter(|pair| {
                    matches!(pair[0].known(), Some("-C" | "--codegen"))
                        && pair[1].begins().starts_with("linker=")
                });
                for pair in behind {
                    self.joined_text(&[pair[1].after("linker=".len())], state, call);
                }
            }
            _ if TEXTS.contains(&name) => {
                for text in words.iter().filter(|it| !it.begins().starts_with('-')) {
                    self.joined_text(std::slice::from_ref(text), state, call);
                }
            }
            _ if WATCHERS.contains(&name) => {
                let mark = words.iter().position(|it| it.known() == Some("--"));
                let at = match mark {
                    Some(at) => at + 1,
                    None if name == "watchexec" => read(words, Valued(OF_WATCHERS), true).1,
                    None => words.len(),
                };
                self.watching(words.get(at..).unwrap_or_default(), state, call);
            }
            _ => {}
        }
        if is_in(RESPONDING, name) {
            self.responded(name, words, state, call);
        }
    }

    /// Some hand on the words as they are, and others a text that they join.
    fn watching(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let first = words.first().and_then(Field::known).unwrap_or_default();
        if words.len() > 1 {
            self.start(words, state, call);
        }
        if !super::shells::SHELLS.contains(&super::invoke::base(first)) {
            self.joined_text(words, state, call);
        }
    }

    fn handed_by_option(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) {
        for (_, options) in STARTING.iter().filter(|(names, _)| is_in(names, name)) {
            for (at, word) in words.iter().enumerate() {
                let text = word.begins();
                let long = text.trim_start_matches('-');
                if long.len() == text.len() {
                    continue;
                }
                let behind = |option: &str| long.strip_prefix(option)?.strip_prefix('=');
                let joined = options.split(' ').find_map(|it| behind(it.trim_end_matches('=')));
                let value = match joined {
                    Some(rest) => word.after(text.len() - rest.len()),
                    None if is_in(options, long) => words.get(at + 1).cloned().unwrap_or_default(),
                    None => continue,
                };
                // `--plugin=name=path`.
                let sign = value.begins().find('=').filter(|_| name == "protoc");
                let value = sign.map_or(value.clone(), |at| value.after(at + 1));
                self.joined_text(std::slice::from_ref(&value), state, call);
                if name == "nodemon" {
                    let next = at + if joined.is_some() { 1 } else { 2 };
                    let rest = words.get(next..).unwrap_or_default();
                    self.command_with_rest(&value, rest, state, call);
                }
            }
        }
    }

    /// `mvn exec:exec -Dexec.executable=program -Dexec.args=words`.
    fn handed_to_maven(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let property = |name: &str| {
            let begins = format!("-Dexec.{name}=");
            let word = words.iter().rev().find(|it| it.begins().starts_with(&begins))?;
            Some(word.after(begins.len()))
        };
        let Some(mut command) = property("executable") else { return };
        for arguments in ["args", "commandlineArgs"].iter().filter_map(|it| property(it)) {
            command.push_text(" ");
            // What it fills in itself is no text for a shell.
            let filled = arguments.known().map(|it| Field::text(&it.replace("${", "{")));
            command.extend(&filled.unwrap_or(arguments));
        }
        self.joined_text(&[command], state, call);
    }

    /// `just --command program words`, and recipes that run in a folder of the call's choice.
    fn handed_to_just(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        const FOLDER: &str = "-d --working-directory";
        // Other letters may stand before it.
        let is_short = |it: &str| {
            let before = it.strip_prefix('-').and_then(|it| it.strip_suffix('c'));
            before.is_some_and(|it| it.chars().all(|it| "glnquvy".contains(it)))
        };
        let is_mark = |it: &Field| it.known().is_some_and(|it| it == "--command" || is_short(it));
        let at = words.iter().position(is_mark).unwrap_or(words.len());
        let (before, command) = words.split_at(at);
        let mut own = state.clone();
        let folder = (0..before.len()).find_map(|at| value_of(FOLDER, before, at));
        if let Some(folder) = folder {
            own.folders = super::wrappers::led_to(state, &folder);
            let (found, _) = read(before, Valued("f justfile d working-directory"), false);
            // Its file is looked for from where it is started.
            self.recipes_in("just", &found, state, &own, call);
        }
        self.start(command.get(1..).unwrap_or_default(), &own, call);
    }

    /// Programs in variables, their words parted by `;`: `cmake -DCMAKE_C_COMPILER_LAUNCHER=program;word`.
    fn handed_to_cmake(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let mut pairs = words.windows(2);
        if pairs.any(|it| it[0].known() == Some("-P") && super::shells::is_stream(&it[1])) {
            self.doubt(DoubtKind::Text, "`cmake` runs a script that it reads", call.span);
        }
        for (at, word) in words.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| words.get(at)?.known());
            let start = if word.begins().starts_with("-D") { 2 } else { 0 };
            if start == 0 && before != Some("-D") {
                continue;
            }
            let own = word.after(start);
            let Some((variable, _)) = own.begins().split_once('=') else { continue };
            let name = variable.split(':').next().unwrap_or(variable);
            if !OF_CMAKE.iter().any(|it| name.ends_with(it)) {
                continue;
            }
            let value = own.after(variable.len() + 1);
            let value =
                value.known().map_or(value.clone(), |it| Field::text(&it.replace(';', " ")));
            self.joined_text(&[value], state, call);
        }
    }

    /// `program @file`: the words of a file that this text wrote, or of what the program reads.
    fn responded(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) {
        for (at, word) in words.iter().enumerate() {
            if !word.begins().starts_with('@') {
                continue;
            }
            let file = word.after(1);
            let Some(text) = self.code_in(&file, state, call) else { continue };
            let is_read = super::shells::is_stream(&file);
            let parts = text.known().map(|it| it.split_whitespace().map(unquoted));
            let parts: Option<Vec<Field>> = parts.map(Iterator::collect);
            let is_more = |it: &Field| it.begins().starts_with('@');
            match parts {
                Some(parts) if !parts.iter().any(is_more) => {
                    let (before, after) = words.split_at(at);
                    let after = after.get(1..).unwrap_or_default();
                    let own = [&[Field::text(name)], before, &parts, after].concat();
                    self.start(&own, state, call);
                }
                // A list of sources that something else printed.
                None if !is_read => self.names_from(Some(&file), state, name, call),
                _ => {
                    let why = format!("`{name}` reads options that are not known");
                    self.doubt(DoubtKind::Option, &why, call.span);
                }
            }
        }
    }
}

/// A word of such a file, which may stand in quotes.
fn unquoted(word: &str) -> Field {
    Field::text(word.trim_matches(['"', '\'']))
}
