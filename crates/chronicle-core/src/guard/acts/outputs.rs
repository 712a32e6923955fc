//! Options by which programs are told where to put something, and programs that change the files that they are given. No table can
//! have every option of every program, so what one is called counts too.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::options::{Valued, read};
use super::output_names::{LAST, MAKERS, PLACES, WORDS, WRITTEN};
use super::state::State;
use super::table::by_names;
use super::value::Field;
use super::walk::Walker;
use super::{ByteSpan, CommandWord, TouchKind};

/// A program that changes the files that it is given.
struct Changer {
    names: &'static str,
    /// Options that take a value.
    valued: &'static str,
    /// Options of which one must be there; empty if it changes them anyway.
    needs: &'static [&'static str],
    /// Options with which it changes nothing.
    spares: &'static [&'static str],
}

static BY_NAME: LazyLock<BTreeMap<&'static str, &'static Changer>> =
    LazyLock::new(|| by_names(CHANGERS, |changer| changer.names));

const CHANGERS: &[Changer] = &[
    Changer {
        names: "prettier eslint stylelint biome standard xo oxlint markdownlint",
        valued: "c config ignore-path plugin parser rulesdir ext f format formatter o output-file cache-location rule env global max-warnings print-width tab-width end-of-line",
        needs: &["w", "write", "fix", "apply", "apply-unsafe"],
        spares: &["check", "list-different", "fix-dry-run"],
    },
    Changer {
        names: "black isort",
        valued: "l line-length t target-version config exclude extend-exclude include force-exclude sp settings-path p profile src stdin-filename",
        needs: &[],
        spares: &["check", "check-only", "diff", "c", "version"],
    },
    Changer {
        names: "autopep8 autoflake docformatter yapf clang-format",
        valued: "style assume-filename fallback-style max-line-length select ignore",
        needs: &["i", "in-place", "inplace"],
        spares: &[],
    },
    Changer {
        names: "gofmt goimports gofumpt shfmt",
        valued: "r cpuprofile i local",
        needs: &["w", "write"],
        spares: &[],
    },
    Changer {
        names: "rustfmt strip ranlib pyupgrade",
        valued: "edition config config-path o N K",
        needs: &[],
        spares: &["check", "o"],
    },
    Changer {
        names: "rubocop standardrb erb_lint erblint swiftlint djlint codespell typos textlint oxfmt semgrep",
        valued: "c config only except format f o out I ignore-words S skip reporter d dir",
        needs: &[
            "a",
            "A",
            "autocorrect",
            "auto-correct",
            "autocorrect-all",
            "auto-correct-all",
            "fix",
            "autofix",
            "reformat",
            "w",
            "write-changes",
        ],
        spares: &["list-different"],
    },
    Changer {
        names: "postcss",
        valued: "c config o output d dir u use",
        needs: &["r", "replace"],
        spares: &[],
    },
    Changer {
        names: "ktlint",
        valued: "reporter editorconfig",
        needs: &["F", "format"],
        spares: &[],
    },
    Changer {
        names: "google-java-format ormolu fourmolu brittany hindent stylish-haskell ocamlformat cmake-format cmakelang pg_format astyle uncrustify \
            tidy xmlstarlet gifsicle",
        valued: "mode o c s d to margin",
        needs: &[
            "i",
            "inplace",
            "in-place",
            "replace",
            "m",
            "modify",
            "L",
            "b",
            "batch",
            "no-backup",
        ],
        spares: &[],
    },
    Changer {
        names: "phpcbf mdformat stylua alejandra nixfmt elm-format buildifier optipng oxipng jpegoptim advpng mogrify rpl sad fastmod \
            swiftformat autocorrect pngcrush mp3gain dos2unix ssort standardjs",
        valued: "o out dir standard extensions config quality resize lint-mode output d dest m max strip",
        needs: &[],
        spares: &["check", "lint", "dry-run", "stdout", "dryrun", "validate"],
    },
];
/// Options of compilers whose value may follow their letters at once.
const GLUED: [&str; 2] = ["MF", "MJ"];
impl Walker<'_> {
    /// What a program is told to write by its options, or because that is what it does.
    pub(super) fn put_out(&mut self, name: &str, words: &[Field], state: &State, span: ByteSpan) {
        for (at, word) in words.iter().enumerate() {
            self.steps += 1;
            let next = words.get(at + 1).filter(|next| !next.begins().starts_with('-'));
            let begins = word.begins();
            let Some(option) = begins.strip_prefix('-') else {
                // `of=path`, `dest=path`.
                if let Some((key, _)) = begins.split_once('=').filter(|(key, _)| is_output(key)) {
                    self.likely(&word.after(key.len() + 1), state, name, span);
                }
                continue;
            };
            let long = option.trim_start_matches('-');
            let dashes = begins.len() - long.len();
            if let Some((option, _)) = long.split_once('=') {
                let value = word.after(dashes + option.len() + 1);
                // `-DoutputFile=path` sets a property.
                let property = option.strip_prefix('D').filter(|_| dashes == 1);
                self.put_by(name, property.unwrap_or(option), &value, state, span);
            } else if let (Some(next), true) = (next, word.is_known() && takes_next(name, long)) {
                self.put_by(name, long, next, state, span);
            } else if dashes == 1 && long.len() > 1 && long.starts_with(['I', 'L']) {
                self.touch(TouchKind::Maybe, &word.after(2), state, name, span);
            } else if let Some(option) = glued_to(name, long).filter(|_| dashes == 1) {
                self.put_by(name, option, &word.after(1 + option.len()), state, span);
            } else if dashes == 1 && is_joined(name, long) {
                self.put_by(name, &long[..1], &word.after(2), state, span);
            }
        }
        for file in behind_colons(name, words) {
            self.written_to(&Field::text(&file), state, name, span);
        }
        if name == "vite" && words.iter().any(|it| it.known() == Some("--emptyOutDir")) {
            let (found, _) = read(words, Valued("outDir"), false);
            for folder in found.values(&["outDir"]) {
                self.touch(TouchKind::Delete, folder, state, name, span);
            }
        }
        self.changed(name, words, state, span);
        self.changed_by_command(name, words, state, span);
    }

    /// The value of an option that is unknown, or known to be written.
    pub(super) fn put_by(
        &mut self,
        name: &str,
        option: &str,
        value: &Field,
        state: &State,
        span: ByteSpan,
    ) {
        // It empties the folder first.
        if option == "basetemp" && matches!(name, "pytest" | "py.test") {
            self.touch(TouchKind::Delete, value, state, name, span);
        }
        if is_written(name, option) {
            self.written_to(value, state, name, span);
            // `type=local,dest=path`, `html:path`.
            if value.begins().contains(['=', ':']) {
                self.likely(value, state, name, span);
            }
        } else if is_output(option) || option == "o" {
            self.likely(value, state, name, span);
        }
    }

    /// A path that is surely written. One that is not known is no question here: the program makes something new.
    pub(super) fn written_to(&mut self, path: &Field, state: &State, by: &str, span: ByteSpan) {
        let kind = if path.is_known() { TouchKind::Write } else { TouchKind::Likely };
        self.touch(kind, path, state, by, span);
    }

    /// A path that is most likely written, and the parts of a value that may be one: `html:path`, `type=local,dest=path`.
    fn likely(&mut self, value: &Field, state: &State, by: &str, span: ByteSpan) {
        self.touch(TouchKind::Likely, value, state, by, span);
        let Some(text) = value.known() else { return };
        for part in text.split(['=', ':', ',']).skip(1).filter(|it| !it.is_empty()).take(8) {
            self.touch(TouchKind::Likely, &Field::text(part), state, by, span);
        }
    }

    /// Folders and files that a command of a program makes at its last operand.
    fn made(&mut self, name: &str, words: &[Field], state: &State, span: ByteSpan) {
        let makes = |(names, commands): &&(&str, &str)| {
            let is_it = |list: &str, wanted: &str| list.split(' ').any(|it| it == wanted);
            let mut known = words.iter().take(3).filter_map(Field::known);
            is_it(names, name) && known.any(|word| is_it(commands, word))
        };
        let mut operands = words.iter().filter(|it| !it.begins().starts_with('-'));
        if MAKERS.iter().any(|it| makes(&it))
            && operands.clone().count() > 1
            && let Some(last) = operands.next_back()
        {
            self.written_to(last, state, name, span);
        }
    }

    /// Files that a program changes where they are, or makes.
    pub(super) fn changed(&mut self, name: &str, words: &[Field], state: &State, span: ByteSpan) {
        if name == "ruff" {
            return self.ruff(words, state, span);
        }
        if LAST.contains(&name) {
            let mut operands = words.iter().filter(|it| !it.begins().starts_with('-'));
            if operands.clone().count() > 1
                && let Some(last) = operands.next_back()
            {
                self.written_to(last, state, name, span);
            }
        }
        self.made(name, words, state, span);
        if matches!(name, "ar" | "7z" | "7za" | "7zr" | "jar") {
            let makes = |it: &Field| {
                it.begins().trim_start_matches('-').starts_with(['r', 'q', 'c', 'a', 'u', 'd', 'm'])
            };
            if words.first().is_some_and(makes)
                && let Some(archive) = words.iter().skip(1).find(|it| !it.begins().starts_with('-'))
            {
                self.written_to(archive, state, name, span);
            }
        }
        // `jar --create --file path`.
        let is_making =
            |it: &Field| matches!(it.known(), Some("-c" | "--create" | "-u" | "--update"));
        if name == "jar" && words.iter().any(is_making) {
            let (found, _) = read(words, Valued("f file"), false);
            for path in found.values(&["f", "file"]) {
                self.written_to(path, state, name, span);
            }
        }
        let Some(changer) = BY_NAME.get(name) else { return };
        let (found, _) = read(words, Valued(changer.valued), false);
        let has = |names: &[&str]| found.options.iter().any(|(it, _)| names.contains(&it.as_str()));
        if (changer.needs.is_empty() || has(changer.needs)) && !has(changer.spares) {
            for path in &found.operands {
                self.written_to(path, state, name, span);
            }
        }
    }

    /// `ruff format`, and `ruff check --fix`.
    fn ruff(&mut self, words: &[Field], state: &State, span: ByteSpan) {
        const VALUED: &str = "config select ignore extend-select target-version line-length output-format o output-file:w exclude stdin-filename";
        let (found, _) = read(words, Valued(VALUED), false);
        let Some((command, paths)) = found.operands.split_first() else { return };
        let changes = match command.known() {
            Some("format") => !found.has(&["check", "diff"]),
            Some("check") => {
                found.has(&["fix", "unsafe-fixes", "fix-only"]) && !found.has(&["diff"])
            }
            _ => false,
        };
        for path in paths.iter().filter(|_| changes) {
            self.written_to(path, state, "ruff", span);
        }
    }
}

/// True for a program that changes the files that it is given.
pub(super) fn is_changer(name: &str) -> bool {
    BY_NAME.contains_key(name)
}

/// Tools of compilers, which lie beside each other with a machine or a maker in front and a version behind.
const TOOLS: &str =
    "ar strip objcopy ranlib ld gcc g++ cc c++ clang clang++ cpp as nm objdump windres";

/// True for the plain name of a tool of compilers.
pub(super) fn is_tool(name: &str) -> bool {
    TOOLS.split(' ').any(|it| it == name)
}

/// The plain name of a tool of compilers: `ar` for `llvm-ar` and `x86_64-linux-gnu-ar`, `gcc` for `gcc-12`.
pub(super) fn plain_tool(name: &str) -> &str {
    let is_version = |it: char| it.is_ascii_digit() || it == '.';
    let bare = name.trim_end_matches(is_version);
    let bare = if bare.len() < name.len() { bare.strip_suffix('-').unwrap_or(name) } else { name };
    let last = bare.rsplit_once('-').map_or(bare, |(_, last)| last);
    if is_tool(last) { last } else { name }
}

/// Files that options name behind a colon or within their values: `java -Xlog:gc:file=path`, `dotnet build -bl:path`.
fn behind_colons(name: &str, words: &[Field]) -> Vec<String> {
    let known = words.iter().filter_map(|it| match it.to_word() {
        CommandWord::Known(text) | CommandWord::Glob(text) => Some(text),
        CommandWord::Unknown { .. } => None,
    });
    let file = |word: &str| -> Option<String> {
        let within = |text: &str, sign: char, key: &str| {
            text.split(sign).find_map(|it| it.strip_prefix(key)).map(str::to_owned)
        };
        if name == "dotnet" || name == "msbuild" {
            let option = word.strip_prefix(['-', '/'])?.trim_start_matches('-');
            let (option, value) = option.split_once(':')?;
            return match option.trim_end_matches(|it: char| it.is_ascii_digit()) {
                "bl" | "binaryLogger" => {
                    Some(value.strip_prefix("LogFile=").unwrap_or(value).to_owned())
                }
                "flp" | "fileLoggerParameters" => {
                    within(&value.to_ascii_lowercase(), ';', "logfile=")?;
                    value.split(';').find_map(|it| Some(it.split_once('=')?.1.to_owned()))
                }
                _ => None,
            };
        }
        if let Some(log) = word.strip_prefix("-Xlog:") {
            let to = log.split(':').nth(1)?;
            let is_stream = ["", "stdout", "stderr"].contains(&to);
            return (!is_stream).then(|| to.strip_prefix("file=").unwrap_or(to).to_owned());
        }
        if let Some(recording) = word.strip_prefix("-XX:StartFlightRecording") {
            return within(recording.get(1..)?, ',', "filename=");
        }
        if let Some(dump) = word.strip_prefix("-dump:") {
            return within(dump, ',', "file=");
        }
        let begins = [
            "-Xloggc:",
            "-XX:ErrorFile=",
            "-XX:LogFile=",
            "-XX:HeapDumpPath=",
            "-XX:ArchiveClassesAtExit=",
            "-XX:DumpLoadedClassList=",
            "-XX:AOTCacheOutput=",
            "-XX:VMLogFile=",
        ];
        begins.iter().find_map(|it| word.strip_prefix(it)).map(str::to_owned)
    };
    if !matches!(name, "java" | "jmap" | "dotnet" | "msbuild") {
        return Vec::new();
    }
    known.filter_map(|it| file(&it)).collect()
}

/// Whether a program surely writes the value of an option.
fn is_written(name: &str, option: &str) -> bool {
    let is_it = |list: &str, wanted: &str| list.split(' ').any(|it| it == wanted);
    let joined = format!("{option}=");
    WRITTEN.iter().any(|(names, options)| {
        is_it(names, name) && (is_it(options, option) || is_it(options, &joined))
    })
}

/// The option that a word of a compiler begins with, whose value follows at once: `-MFpath`.
fn glued_to(name: &str, word: &str) -> Option<&'static str> {
    let is_one = |it: &&&str| word.len() > it.len() && word.starts_with(**it);
    GLUED.iter().filter(|it| is_written(name, it)).find(is_one).copied()
}

/// Whether a program takes the value of an option only behind a sign.
fn is_signed(name: &str, option: &str) -> bool {
    let joined = format!("{option}=");
    let is_it = |list: &str, wanted: &str| list.split(' ').any(|it| it == wanted);
    WRITTEN.iter().any(|(names, options)| is_it(names, name) && is_it(options, &joined))
}

/// Whether an option is called like one whose value is written.
pub(super) fn is_output(option: &str) -> bool {
    let words = words_of(option);
    words.first().is_some_and(|first| !["no", "disable", "without"].contains(&first.as_str()))
        && words.iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Whether the next word is the value of an option, and written.
fn takes_next(name: &str, option: &str) -> bool {
    let is_place = |words: &[String]| words.last().is_some_and(|it| PLACES.contains(&it.as_str()));
    let is_emit = option == "emit" && matches!(name, "rustc" | "cargo");
    option == "o"
        || is_emit
        || is_written(name, option) && !is_signed(name, option)
        || is_output(option) && is_place(&words_of(option))
}

/// Whether the value of a short option follows its letter at once: `-opath`.
fn is_joined(name: &str, letters: &str) -> bool {
    letters.len() > 1
        && letters.is_char_boundary(1)
        && (letters.starts_with('o') || is_written(name, &letters[..1]))
}

/// The words of an option's name, in lower case: `outDir`, `out-dir` and `out_dir` are the same.
fn words_of(option: &str) -> Vec<String> {
    let mut spread = String::new();
    for letter in option.chars() {
        if letter.is_ascii_uppercase() {
            spread.push('-');
        }
        spread.push(letter.to_ascii_lowercase());
    }
    let words = spread.split(['-', '_', '.']).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_known_by_its_words() {
        for option in ["output", "out-dir", "outDir", "log-file", "junit-xml", "go_out"] {
            assert!(is_output(option), "{option}");
        }
        for option in ["config", "no-cache", "source-dir", "input", "route", "without-log"] {
            assert!(!is_output(option), "{option}");
        }
        assert!(takes_next("tool", "cache-dir") && !takes_next("tool", "cache"));
        assert!(takes_next("pip", "t") && !takes_next("tool", "t"));
    }
}
