//! Programs in other languages that a command hands to an interpreter, such as `python -c`.
//!
//! They are not parsed. What they name as text is looked at as paths, and words that run programs or hide what is done are doubtful.

use std::fmt::Write as _;

use super::aliases::{spelled_out, taken_names};
use super::assembled;
use super::called;
use super::code_words::{REMOVERS, RUNNERS, SHELL_RUNNERS, WRITERS};
use super::commanded::commanded;
use super::escapes;
use super::facts::Access;
use super::foreign;
use super::given::DATABASES;
use super::joined;
use super::literals::in_quotes;

/// Most texts of one program that are looked at.
const TEXTS_MAX: usize = 500;
/// Longest text that can be a path.
const PATH_MAX: usize = 1_000;

/// What can be told about a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CodeSeen {
    /// The most that it does to the paths that it names.
    pub(super) access: Access,
    /// Every text in it that may be a path.
    pub(super) paths: Vec<String>,
    /// Paths that it may put together of its texts, where it changes any.
    pub(super) assembled: Vec<String>,
    /// Why nobody can tell what it does.
    pub(super) doubt: Option<String>,
}

/// Looks at a program. What it starts by words that are all in its text is looked at by itself.
pub(super) fn look(interpreter: &str, code: &str) -> CodeSeen {
    let seen = look_at(interpreter, code);
    match commanded(interpreter, code) {
        Some(found) => CodeSeen { doubt: look_at(interpreter, &found.rest).doubt, ..seen },
        None => seen,
    }
}

fn look_at(interpreter: &str, code: &str) -> CodeSeen {
    let whole = code;
    let plain = in_quotes(interpreter, code);
    let code = plain.as_deref().unwrap_or(code);
    let without = meant(interpreter, code);
    let mut paths = texts_of(whole, plain.as_deref());
    let code = without.as_deref().unwrap_or(code);
    // Names that are imported, and those that are put together, count as if they were written out.
    let own = spelled_out(code);
    let as_written = plain.as_ref().map_or_else(String::new, |_| {
        meant(interpreter, whole).unwrap_or_else(|| whole.to_owned())
    });
    let spelled = format!("{code}\n{}\n{own}\n{}\n{as_written}", imported(code), taken_names(code));
    let spelled = match with_parts_joined(code) {
        joined if joined == code => spelled,
        joined => format!("{spelled}\n{joined}"),
    };
    let has = |words: &'static [&'static str]| words.iter().find(|word| spelled.contains(**word));
    let dense: String = spelled.chars().filter(|letter| !letter.is_whitespace()).collect();
    let remover = has(REMOVERS);
    let access = access_of(remover.is_some(), code, &dense);
    let foreign = foreign::told(interpreter, code);
    let access = foreign.as_ref().map_or(access, |it| it.access.max(access));
    // Whoever only looks for names uses none of those files.
    let is_listing = access == Access::Read && !CONTENTS.iter().any(|word| dense.contains(word));
    paths.retain(|text| !(is_listing && is_everything(text)));
    let mut assembled = Vec::new();
    if access != Access::Read {
        assembled = assembled::paths(code, &paths);
        paths.extend(landed(code));
    }
    let is_shell_like = ["perl", "ruby", "php", "awk", "gawk", "mawk", "tclsh", "lua"]
        .iter()
        .any(|name| interpreter.starts_with(name));
    let is_database = DATABASES.iter().any(|(name, _)| *name == interpreter);
    if is_database {
        return statements(interpreter, code, paths);
    }
    let runner = has(RUNNERS).or_else(|| has(SHELL_RUNNERS).filter(|_| is_shell_like));
    // In these languages a file may be the output of a program, or its input.
    let pipes = ["perl", "ruby"].iter().any(|name| interpreter.starts_with(name))
        && code.contains("open")
        && paths.iter().any(|text| is_pipe(text));
    let ends_all = code.contains("process_iter")
        && [".kill(", ".terminate("].iter().any(|it| code.contains(it));
    let runner = runner.or_else(|| foreign.as_ref()?.runner.as_ref());
    let by_name = called::is_ruby(interpreter) && called::by_unknown_names(code);
    let runner = runner
        .copied()
        .or(by_name.then_some("send"))
        .or(pipes.then_some("open"))
        .or(ends_all.then_some("process_iter"));
    let runner =
        runner.map(|word| format!("its code uses `{}`", word.trim_end_matches(['(', ' '])));
    // What it removes is not in its text.
    let remover = match &foreign {
        Some(told) => told.unnamed,
        None => remover.copied().filter(|_| is_nameless(code, &paths) || !removes_named(&own)),
    };
    let unnamed = remover.map(|word| {
        format!("its code uses `{}` on what is not in its text", word.trim_end_matches(['(', ' ']))
    });
    let unnamed = unnamed.or_else(|| at_home(code).filter(|_| access != Access::Read));
    let too_many =
        (paths.len() >= TEXTS_MAX).then(|| "its code is too large to be looked at".to_owned());
    let by_numbers = access != Access::Read && assembled::spells_by_numbers(&paths);
    let by_numbers = by_numbers.then(|| "its code spells a name by numbers".to_owned());
    let doubt = runner.or(unnamed).or(too_many).or(by_numbers);
    CodeSeen { access, paths, assembled, doubt }
}

/// Code as its words are meant, where that is not how they are written: what is only searched for is not done.
fn meant(interpreter: &str, code: &str) -> Option<String> {
    match interpreter {
        it if it.starts_with("perl") => Some(without_patterns(code)),
        it if called::is_ruby(it) => Some(called::by_dots(code)),
        it if called::is_python(it) => Some(called::without_lists(code)),
        // What they take out of a table is no file.
        it if it.starts_with("lua") => Some(code.replace("table.remove", "table.take")),
        "elixir" => {
            let tables = ["List.", "Map.", "Keyword.", "MapSet."];
            let plain = |code: String, it: &&str| code.replace(&format!("{it}delete"), it);
            Some(tables.iter().fold(code.to_owned(), plain))
        }
        _ => None,
    }
}

/// The most that code does, by its words.
fn access_of(removes: bool, code: &str, dense: &str) -> Access {
    if removes || replaces(dense) || removes_by_path(code) {
        return Access::Delete;
    }
    let writes = WRITERS.iter().any(|word| dense.contains(word))
        || links(dense)
        || opens(dense)
        || writes_by_path(code)
        || makes_temporary(dense);
    if writes { Access::Write } else { Access::Read }
}

/// Why nobody knows what is changed where code asks for the home, which stands nowhere in its text.
fn at_home(code: &str) -> Option<String> {
    const WORDS: [&str; 10] = [
        "Path.home",
        "expanduser",
        "homedir(",
        "Dir.home",
        "getenv(\"HOME",
        "getenv('HOME",
        "UserHomeDir",
        "Getenv(\"HOME",
        "user.home",
        "home_dir(",
    ];
    let word = WORDS.iter().find(|word| code.contains(**word))?;
    Some(format!("its code changes what `{}` leads to", word.trim_end_matches('(')))
}

/// What Python imports from its modules by name, with the modules: `from os import remove as r` is `os.remove(`.
fn imported(code: &str) -> String {
    let mut all = String::new();
    for line in code.split(['\n', ';']) {
        let Some(rest) = line.trim_start().strip_prefix("from ") else { continue };
        let Some((module, names)) = rest.split_once(" import ") else { continue };
        for name in names.trim_matches(['(', ')', ' ']).split(',') {
            let name = name.split_whitespace().next().unwrap_or_default();
            let _ = writeln!(all, "{}.{name}(", module.trim());
        }
    }
    all
}

/// `Path("a").replace("b")` moves a file. Of a text it is only another text, and that takes two of them.
fn replaces(dense: &str) -> bool {
    let has_one = |(at, word): (usize, &str)| {
        let (mut depth, mut quote) = (0_usize, None);
        for letter in dense[at + word.len()..].chars() {
            match (letter, quote) {
                (_, Some(open)) if letter != open => {}
                (_, Some(_)) => quote = None,
                ('"' | '\'', None) => quote = Some(letter),
                ('(' | '[' | '{', None) => depth += 1,
                (')', None) if depth == 0 => return true,
                (')' | ']' | '}', None) => depth = depth.saturating_sub(1),
                (',', None) if depth == 0 => return false,
                _ => {}
            }
        }
        false
    };
    dense.contains("Path(") && dense.match_indices(".replace(").any(has_one)
}

/// `Pathname("a").delete` of Ruby removes a file, without a word for that which others do not use.
fn removes_by_path(code: &str) -> bool {
    let is_called = [".delete(\"", ".delete('"].iter().any(|it| code.contains(it));
    let is_path = ["Pathname", "Bun.file("].iter().any(|it| code.contains(it));
    let is_taken = code.contains("Deno") && code.contains("remove");
    is_called || is_taken || is_path && [".delete", ".rmtree"].iter().any(|it| code.contains(it))
}

/// True if code in Ruby writes a file by what stands for its path: `Pathname("a").write("b")`.
fn writes_by_path(code: &str) -> bool {
    const WORDS: [&str; 4] = [".write", ".binwrite", ".mkpath", ".make_"];
    code.contains("Pathname") && WORDS.iter().any(|it| code.contains(it))
}

/// True if code uses the words or the variables that it is given.
pub(super) fn uses_arguments(code: &str) -> bool {
    let words = [
        "argv", "ARGV", "ARGF", "shift", "<>", "environ", "getenv", ".env", "ENV", "$^I",
        "$INPLACE",
    ];
    words.iter().any(|word| code.contains(word))
}

/// True if code makes another name for a file, by which it can be written to. Who only follows a link does not.
fn links(dense: &str) -> bool {
    let calls = dense.match_indices("link(").chain(dense.match_indices("linkSync("));
    let looks = |at: usize| ["read", "is", "is_"].iter().any(|it| dense[..at].ends_with(it));
    calls.into_iter().any(|(at, _)| !looks(at))
}

/// True if code makes files for a while in a folder that it names.
fn makes_temporary(dense: &str) -> bool {
    const MAKERS: [&str; 5] =
        ["mkstemp(", "mkdtemp(", "NamedTemporaryFile(", "TemporaryFile(", "TemporaryDirectory("];
    dense.contains("dir=") && MAKERS.iter().any(|word| dense.contains(word))
}

/// Calls that copy or move a file, which lands under its own name in a folder.
const COPIERS: [&str; 10] = [
    "copy(",
    "copy2(",
    "copyfile(",
    "move(",
    "copytree(",
    "cpSync(",
    "copySync(",
    ".cp(",
    ".mv(",
    "cp_r(",
];

/// Where files land that code copies to folders.
fn landed(code: &str) -> Vec<String> {
    let place = |(from, to): (String, String)| {
        let name = from.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        format!("{}/{name}", to.trim_end_matches('/'))
    };
    let mut all: Vec<String> = copies(code, &COPIERS).into_iter().map(place).collect();
    // Nobody knows what comes to lie where an archive is unpacked.
    if ["extractall(", "unpack_archive(", ".x(", "extract("].iter().any(|it| code.contains(it)) {
        let is_own = |it: &String| it.split('/').any(|name| name == ".git");
        let mut folders = Vec::new();
        put_texts(code, &mut folders);
        all.extend(folders.iter().filter(|it| is_own(it)).map(|it| format!("{it}/config")));
    }
    all
}

/// Folders that code copies as a whole, and where to; archives are made of some and land nowhere.
pub(super) fn whole_folders(code: &str) -> Vec<(String, Option<String>)> {
    let copied = copies(code, &["copytree(", "cpSync(", "copySync(", "cp_r("]);
    let copied = copied.into_iter().map(|(from, to)| (from, Some(to)));
    let archived = arguments(code, &["make_archive("]).into_iter().map(|all| {
        // The name of the archive, its format, and the folder.
        let folder = all.get(2).cloned().unwrap_or_else(|| ".".to_owned());
        (folder, None)
    });
    copied.chain(archived).collect()
}

fn copies(code: &str, names: &[&str]) -> Vec<(String, String)> {
    let pair = |all: Vec<String>| match all.as_slice() {
        [from, to, ..] => Some((from.clone(), to.clone())),
        _ => None,
    };
    arguments(code, names).into_iter().filter_map(pair).collect()
}

/// The texts that stand in calls of these names, in order.
fn arguments(code: &str, names: &[&str]) -> Vec<Vec<String>> {
    const CALLS_MAX: usize = 16;
    let calls = names.iter().flat_map(|name| code.match_indices(name));
    let inside = |(at, name): (usize, &str)| {
        let rest = code.get(at + name.len()..).unwrap_or_default();
        let (mut found, mut depth, mut letters) = (Vec::new(), 0_usize, rest.chars());
        while let Some(letter) = letters.next() {
            match letter {
                '(' => depth += 1,
                ')' if depth == 0 => break,
                ')' => depth -= 1,
                '"' | '\'' | '`' => {
                    let text: String = letters.by_ref().take_while(|it| *it != letter).collect();
                    found.push(escapes::decoded(&text).unwrap_or(text));
                }
                _ => {}
            }
            if found.len() > 8 {
                break;
            }
        }
        found
    };
    calls.take(CALLS_MAX).map(inside).collect()
}

/// True if code in JavaScript opens a file for more than reading, or takes some out of an archive.
fn opens(dense: &str) -> bool {
    let is_read = |mode: &str| {
        let is_plain = ["'r'", "\"r\"", "'rs'", "\"rs\"", "O_RDONLY", "fs.constants.O_RDONLY"];
        let is_other =
            mode.starts_with(['(', '{']) || mode.starts_with("func") || mode.contains("=>");
        is_plain.iter().any(|it| mode.starts_with(it)) || is_other
    };
    let more = |(at, word): (usize, &str)| {
        let inside = dense.get(at + word.len()..).unwrap_or_default();
        let quote = inside.chars().next().filter(|it| ['\'', '"', '`'].contains(it));
        let after = quote.and_then(|quote| inside.get(1..)?.split_once(quote)).map(|(_, it)| it);
        after.and_then(|it| it.strip_prefix(',')).is_some_and(|mode| !is_read(mode))
    };
    let is_archive = ["zipfile", "tarfile"].iter().any(|it| dense.contains(it));
    dense.match_indices("openSync(").any(more)
        || dense.match_indices("sysopen").any(|(at, _)| !only_reads(&dense[at..]))
        || dense.match_indices("fs.open(").any(more)
        || dense.match_indices("promises.open(").any(more)
        || is_archive && dense.contains(".extract(")
}

/// True if a `sysopen` of perl says that it only reads.
fn only_reads(call: &str) -> bool {
    let call = call.split(';').next().unwrap_or(call);
    call.contains("O_RDONLY") && !["O_CREAT", "O_TRUNC"].iter().any(|it| call.contains(it))
}

/// Code of perl without what its patterns look for, and what it puts in the place of that. What may hold code stays.
fn without_patterns(code: &str) -> String {
    let mut out = String::new();
    let mut rest = code;
    while let Some(letter) = rest.chars().next() {
        if let Some(end) = pattern_at(&out, rest) {
            out.push_str("//");
            rest = rest.get(end..).unwrap_or_default();
        } else {
            out.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    out
}

/// How long a pattern is that stands here, if one does, and if nothing in it can be code.
fn pattern_at(before: &str, rest: &str) -> Option<usize> {
    let is_word = |it: char| it.is_alphanumeric() || "_$@%&>{'\"".contains(it);
    let begins = before.chars().next_back().is_none_or(|it| !is_word(it));
    let slash = rest.bytes().take(3).position(|byte| byte == b'/')?;
    let parts = match slash {
        0 if begins_pattern(before) => 1,
        1 if begins && rest.starts_with('m') => 1,
        1 if begins && rest.starts_with(['s', 'y']) => 2,
        2 if begins && rest.starts_with("qr") => 1,
        2 if begins && rest.starts_with("tr") => 2,
        _ => return None,
    };
    let mut at = slash + 1;
    for _ in 0..parts {
        at += end_of(rest.get(at..)?)? + 1;
    }
    let flags = rest[at..].chars().take_while(char::is_ascii_alphabetic).count();
    let (inner, flags) = (&rest[..at], &rest[at..at + flags]);
    let runs = flags.contains('e')
        || ["{[", "(?{", "(??{", "${", "@{", "\n"].iter().any(|it| inner.contains(it));
    (!runs).then_some(at + flags.len())
}

/// Where a part of a pattern ends.
fn end_of(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(at, letter)| {
        let ends = letter == '/' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends.then_some(at)
    })
}

/// True if a slash begins a pattern here, and is no division.
fn begins_pattern(before: &str) -> bool {
    let before = before.trim_end();
    let words = ["if", "unless", "and", "or", "not", "grep", "split", "while", "until", "return"];
    let last = before.rsplit(|it: char| !it.is_alphanumeric() && it != '_').next();
    before.is_empty()
        || before.ends_with(['(', '~', ',', '{', ';', '!', '&', '|', '?', ':'])
        || last.is_some_and(|last| words.contains(&last))
}

/// True for the name of a file that means a program: `ls|`, `| sh` and `-|`.
fn is_pipe(text: &str) -> bool {
    let text = text.trim();
    let begins = text.starts_with('|') && !text.starts_with("||");
    let ends = text.ends_with('|') && !text.ends_with("||");
    begins || ends
}

/// True if everything that is removed stands in quotes behind the word for it, or before it: `Path('a').unlink()`.
fn removes_named(code: &str) -> bool {
    let is_named = |(at, word): (usize, &str)| {
        let after = code.get(at + word.len()..).unwrap_or_default();
        // The rest of a longer name.
        let after = after.trim_start_matches(|it: char| it.is_alphanumeric() || it == '_');
        let Some(inside) = after.trim_start().strip_prefix('(') else {
            // Without parentheses it is called as in perl, or only imported.
            return after.trim_start().starts_with(['\'', '"', ',', ';', '\n', '}'])
                || after.is_empty();
        };
        let inside = inside.trim_start();
        if inside.starts_with(')') || inside.starts_with("missing_ok") {
            let before = code.get(..at).unwrap_or_default().trim_end_matches('.');
            return before.ends_with("')") || before.ends_with("\")");
        }
        if is_own_folder(inside, code) {
            return true;
        }
        let quote = inside.chars().next().filter(|it| ['\'', '"', '`'].contains(it));
        let text = quote.and_then(|quote| inside.get(1..)?.split_once(quote));
        // Nothing may be put before or behind it.
        text.is_some_and(|(text, rest)| {
            !text.contains("${") && rest.trim_start().starts_with([',', ')'])
        })
    };
    let calls = REMOVERS.iter().flat_map(|word| {
        let word = word.trim_end_matches(['(', ' ']);
        code.match_indices(word)
    });
    calls.into_iter().all(is_named)
}

/// Makes a folder for a while, with a name that nothing else has.
const MAKES_FOLDER: &str = "mkdtemp(";

/// True if code names nothing that it could remove, and makes nothing of its own.
fn is_nameless(code: &str, paths: &[String]) -> bool {
    paths.is_empty() && !code.contains(MAKES_FOLDER)
}

/// True if what stands in a call is a folder that the code itself made for a while: `tempfile.mkdtemp()`, or a name that it has.
fn is_own_folder(inside: &str, code: &str) -> bool {
    let is_made = |text: &str| {
        let text = text.trim_start();
        text.strip_prefix("tempfile.").unwrap_or(text).starts_with(MAKES_FOLDER)
    };
    if is_made(inside) {
        // What stands behind it could lead elsewhere.
        let after = inside.split_once(')').map_or("", |(_, after)| after.trim_start());
        return after.starts_with([',', ')']);
    }
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let end = inside.find(|it| !is_name(it)).unwrap_or(inside.len());
    let (name, after) = inside.split_at(end);
    if name.is_empty() || !after.trim_start().starts_with([',', ')']) {
        return false;
    }
    // It gets a value once, and that one.
    let mut values = code.match_indices(name).filter_map(|(at, _)| {
        let is_whole = !code[..at].ends_with(is_name);
        let after = code[at + name.len()..].trim_start();
        let value = after.strip_prefix('=').filter(|it| !it.starts_with('='));
        let before = code[..at].trim_end();
        let is_taken = ["for", "as", "global", "del"].iter().any(|it| before.ends_with(it));
        let is_listed = before.is_empty() || before.ends_with([';', ':', ',', '(', '[', '*']);
        let is_other = is_taken
            || [":=", "+=", "/=", "in "].iter().any(|it| after.starts_with(it))
            || after.starts_with(',') && is_listed && !before.ends_with('(');
        (is_whole && (value.is_some() || is_other)).then(|| value.unwrap_or_default())
    });
    let has_parameters = ["def ", "lambda"].iter().any(|it| code.contains(it));
    !has_parameters && values.next().is_some_and(is_made) && values.next().is_none()
}

/// Words of databases' clients that run programs or read files.
const CLIENT_RUNNERS: &[&str] = &[
    "\\!",
    "\\i ",
    "\\ir",
    "\\o",
    "\\copy",
    "\\g",
    "\\w",
    ".shell",
    ".system",
    ".read",
    ".load",
    ".output",
    ".once",
    ".import",
    ".open",
    "program",
    "load_extension",
    "readfile",
    "writefile",
    "outfile",
    "dumpfile",
    "\\s ",
    "pg_write",
    "pg_ls",
    "load data",
    "system ",
    "source ",
    "lo_import",
    "lo_export",
    "pg_read",
    "attach",
];

/// Words of code that uses what is in files, or hands it on.
const CONTENTS: &[&str] = &[
    "open", "read", "load", "copy", "slurp", "File.", "input", "parse", "exec", "system", "spawn",
    "popen", "run(", "move", "link", "tar", "zip", "upload", "send",
];

/// True if a text is a pattern for whatever there is.
fn is_everything(text: &str) -> bool {
    !text.is_empty() && text.split('/').all(|part| matches!(part, "*" | "**" | "*.*" | "."))
}

/// Commands of `sqlite3` that write or read files. A name in a statement may end like one.
const DOT_COMMANDS: &[&str] = &[
    ".backup", ".save", ".clone", ".log", ".restore", ".excel", ".archive", ".ar", ".cd", ".trace",
    ".www", ".session",
];

/// True if a word of a text begins so, and goes on with a blank or not at all.
fn begins(text: &str, word: &str) -> bool {
    let is_start =
        |at: usize| text[..at].chars().next_back().is_none_or(|it| it.is_whitespace() || it == ';');
    let is_end = |at: usize| text[at..].chars().next().is_none_or(char::is_whitespace);
    text.match_indices(word).any(|(at, _)| is_start(at) && is_end(at + word.len()))
}

/// Statements for a database. What they do to its data is for the rules.
fn statements(interpreter: &str, code: &str, paths: Vec<String>) -> CodeSeen {
    let small = code.to_lowercase();
    // In capitals it only shows one row below the other.
    let is_shown = |word: &str| word == "\\g" && !code.contains(word);
    let mut runners = CLIENT_RUNNERS.iter().filter(|word| !is_shown(word));
    let runner = runners.find(|word| small.contains(**word)).copied();
    let runner = runner.or_else(|| DOT_COMMANDS.iter().find(|word| begins(&small, word)).copied());
    let dense: Vec<&str> = small.split_whitespace().collect();
    let dense = dense.join(" ");
    let copies =
        dense.contains("copy ") && [" to '", " from '"].iter().any(|it| dense.contains(it));
    let vacuums = dense.contains("vacuum") && dense.contains(" into ");
    // This one names its files in quotes, and is used to make them.
    let is_named = interpreter == "duckdb" && copies;
    let access = if is_named { Access::Likely } else { Access::Read };
    let runner = runner.or(vacuums.then_some("vacuum into"));
    let runner = runner.or((copies && !is_named).then_some("copy"));
    let doubt = runner.map(|word| format!("its statements use `{}`", word.trim()));
    CodeSeen { access, paths, assembled: Vec::new(), doubt }
}

/// Texts of code as it is written, and of the same with all of them in quotes.
fn texts_of(whole: &str, plain: Option<&str>) -> Vec<String> {
    let mut all = texts(whole);
    for text in plain.map(texts).unwrap_or_default() {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    let made = joined::paths(plain.unwrap_or(whole));
    let is_path = |it: &String| !it.is_empty() && it.len() <= PATH_MAX && !it.contains('\n');
    for path in made.into_iter().filter(is_path) {
        if !all.contains(&path) && all.len() < TEXTS_MAX {
            all.push(path);
        }
    }
    all
}

/// Texts in quotes of any kind that may be paths.
fn texts(code: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    put_texts(code, &mut found);
    let joined = with_parts_joined(code);
    if joined != code {
        put_texts(&joined, &mut found);
    }
    let filled = with_parts_filled(code);
    if filled != code {
        put_texts(&filled, &mut found);
    }
    // A list of names in one text.
    if code.contains("split") {
        let words = found.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned);
        let words: Vec<String> = words.take(TEXTS_MAX).filter(|it| !found.contains(it)).collect();
        found.extend(words);
    }
    let decoded: Vec<String> = found.iter().filter_map(|text| escapes::decoded(text)).collect();
    found.extend(decoded);
    found
}

/// The code without what puts a text into another one that is there as it is: `a${'b'}` is `ab`.
fn with_parts_filled(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find("${") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        out.push_str(before);
        let inner = after.split_once('}').map(|(inner, after)| (inner.trim(), after));
        let text = inner.and_then(|(inner, after)| {
            let quote = inner.chars().next().filter(|it| ['"', '\'', '`'].contains(it))?;
            let text = inner.strip_prefix(quote)?.strip_suffix(quote)?;
            (!text.contains(['"', '\'', '`'])).then_some((text, after))
        });
        if let Some((text, after)) = text {
            out.push_str(text);
            rest = after;
        } else {
            out.push_str("${");
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// The code with texts in one that stand beside each other, or are put together by a sign: `'a' + 'b'`.
fn with_parts_joined(code: &str) -> String {
    const QUOTES: [char; 3] = ['"', '\'', '`'];
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(QUOTES) {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        let gap = after.trim_start().trim_start_matches(['+', '.']).trim_start();
        out.push_str(before);
        if gap.len() < after.len() && gap.starts_with(QUOTES) {
            rest = &gap[1..];
        } else {
            out.push_str(&rest[at..=at]);
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// The path of an address without its scheme: `//localhost/etc/x`, `///etc/x`, `x`.
fn without_host(address: &str) -> &str {
    let path = address.strip_prefix("//").unwrap_or(address);
    path.strip_prefix("localhost").unwrap_or(path)
}

fn put_texts(code: &str, found: &mut Vec<String>) {
    for quote in ['"', '\'', '`'] {
        // Every second part is in quotes; which ones cannot be told without parsing, so all are looked at.
        for part in code.split(quote).skip(1) {
            // How a file is opened may stand before its name.
            let part = part.trim_start_matches(['<', '>', '+']).trim_start();
            let part = part.strip_prefix("file:").map_or(part, without_host);
            let is_path = !part.is_empty()
                && part.len() <= PATH_MAX
                && !part.contains(['\n', '"', '\'', '`']);
            if is_path && found.len() < TEXTS_MAX && !found.iter().any(|it| it == part) {
                found.push(part.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_names_paths_and_says_what_it_does_to_them() {
        let seen = look("python3", "import json; print(json.load(open('.env'))['a'])");
        assert_eq!((seen.access, seen.doubt), (Access::Read, None));
        assert!(seen.paths.contains(&".env".to_owned()), "{:?}", seen.paths);
        let seen = look("python3", "open(\"src/a.py\",\"w\").write(s)");
        assert_eq!((seen.access, seen.doubt), (Access::Write, None));
        let seen = look("python3", "import shutil; shutil.rmtree('docs')");
        assert_eq!((seen.access, seen.doubt), (Access::Delete, None));
        assert!(look("python3", "import os,sys; os.remove(sys.argv[1])").doubt.is_some());
        assert!(look("python3", "import os; os.system('ls')").doubt.is_some());
        for code in [
            "for f in open('/tmp/l'): os.remove(f)",
            "fs.rmSync(f, {recursive: true}); console.log('x')",
            "os.remove('/tmp/' + name)",
            "Path.home().joinpath('x').write_text('a')",
            "from pathlib import Path; [p.unlink() for p in Path('a').glob('*')]",
        ] {
            assert!(look("python3", code).doubt.is_some(), "{code}");
        }
        for code in [
            "import os; os.remove('a.txt')",
            "const fs = require('fs'); fs.rmSync(\"dist\", {recursive: true})",
            "from pathlib import Path; Path('a').unlink()",
            "import importlib.metadata as m; print(m.version('x'))",
        ] {
            assert_eq!(look("python3", code).doubt, None, "{code}");
        }
        assert!(look("node", "require('child_process')").doubt.is_some());
    }
}
