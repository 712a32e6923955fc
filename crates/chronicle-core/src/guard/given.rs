//! Finds the text of a program in another language that a command hands to an interpreter: as an argument or as a here-document.

use super::acts::{CommandWord, Doubt, DoubtKind, ProgramRun};
use super::facts::{Code, Folder};
use super::fed;
use super::quotes::Marked;
use super::taken::folder;

/// Interpreters, and the options after which a program follows.
const INTERPRETERS: &[(&str, &[&str])] = &[
    ("python", &["-c"]),
    ("pypy", &["-c"]),
    ("node", &["-e", "--eval", "-p", "--print", "-pe"]),
    ("bun", &["-e", "--eval", "-p"]),
    ("deno", &["eval"]),
    ("perl", &["-e", "-E", "-ne", "-pe", "-lne", "-lpe", "-nle", "-ple"]),
    ("ruby", &["-e", "-ne", "-pe"]),
    ("irb", &[]),
    ("ipython", &["-c"]),
    ("jshell", &[]),
    ("kotlin", &["-e"]),
    ("rails", &["runner", "r"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
    ("Rscript", &["-e"]),
    ("julia", &["-e", "-E", "--eval", "--print"]),
    ("elixir", &["-e", "--eval"]),
];
/// Programs that are given statements for a database, and the options after which they follow.
pub(super) const DATABASES: &[(&str, &[&str])] = &[
    ("psql", &["-c", "--command"]),
    ("mysql", &["-e", "--execute"]),
    ("sqlite3", &[]),
    ("duckdb", &["-c", "-s"]),
];

/// The program that a doubt is about; `None` if its text is not all there.
pub(super) fn code_of(
    doubt: &Doubt,
    runs: &[ProgramRun],
    command: &str,
    marked: &Marked<'_>,
) -> Option<Code> {
    if doubt.kind != DoubtKind::Code {
        return None;
    }
    let is_about = |run: &&ProgramRun| {
        run.span == doubt.span
            && doubt.why.to_lowercase().starts_with(&format!("`{}` ", run.program.to_lowercase()))
    };
    let here: Vec<&ProgramRun> = runs.iter().filter(is_about).collect();
    let run = *here.first()?;
    // Two of them at one place cannot be told apart, unless it is one in several folders.
    if here.iter().any(|other| other.words != run.words) {
        return None;
    }
    let code = if let Some((_, options)) = DATABASES.iter().find(|(name, _)| *name == run.program) {
        let here = command.get(doubt.span.start..doubt.span.end).unwrap_or_default();
        let is_outer = only_outer(here, command);
        statements(run, options, is_outer).or_else(|| piped(run, runs, marked))
    } else {
        let (_, options) = INTERPRETERS.iter().find(|(name, _)| run.program.starts_with(name))?;
        argument(run, options).or_else(|| timed(run)).or_else(|| piped(run, runs, marked))
    };
    let text = with_modules(run, code.or_else(|| document(doubt, run, command, marked))?);
    let folders = here.iter().map(|it| led(run, folder(&it.folder))).collect();
    Some(Code { by: run.program.clone(), text, folders })
}

/// The folder that a program goes to before it runs its code: `ruby -C folder`, `bun --cwd folder`.
fn led(run: &ProgramRun, start: Folder) -> Folder {
    let mut at = start;
    let mut words = run.words.iter().skip(1);
    while let Some(word) = words.next() {
        let Some(text) = word.known().filter(|it| it.starts_with('-')) else { continue };
        let value = match (run.program.as_str(), text) {
            ("bun", "--cwd") => words.next().and_then(CommandWord::known),
            ("bun", _) => match text.strip_prefix("--cwd=") {
                Some(path) => Some(path),
                None => continue,
            },
            (name, _) if name.contains("ruby") => match changed_folder(text) {
                Some("") => words.next().and_then(CommandWord::known),
                Some(path) => Some(path),
                None => continue,
            },
            _ => continue,
        };
        at = match (value, &at) {
            (Some(path), Folder::Known(folder)) if !path.starts_with(['/', '~']) => {
                Folder::Known(format!("{}/{path}", folder.trim_end_matches('/')))
            }
            (Some(path), Folder::Known(_) | Folder::Start) => Folder::Known(path.to_owned()),
            (Some(path), Folder::Unknown) if path.starts_with('/') => {
                Folder::Known(path.to_owned())
            }
            (_, _) => Folder::Unknown,
        };
    }
    at
}

/// What follows the letter of Ruby for another folder in a word of options; empty if it is the next word.
fn changed_folder(text: &str) -> Option<&str> {
    let (before, path) = text.strip_prefix('-')?.split_once(['C', 'X'])?;
    before.chars().all(|it| "nplasvwyc".contains(it)).then_some(path)
}

/// Code with what perl is told to load before it, which is code too: `-MPOSIX;text` is `use POSIX;text`.
fn with_modules(run: &ProgramRun, code: String) -> String {
    if !run.program.starts_with("perl") {
        return code;
    }
    let module = |word: &str| {
        let (before, module) = word.strip_prefix('-')?.split_once(['M', 'm'])?;
        let is_letter = |it: char| it.is_ascii_digit() || "wlnpasctTuUWX".contains(it);
        before.chars().all(is_letter).then(|| format!("use {module};"))
    };
    let words = run.words.iter().skip(1).filter_map(CommandWord::known);
    let all: Vec<String> = words.filter_map(module).chain([code]).collect();
    all.join("\n")
}

/// Everything that follows one of the options. Before the last of it every word must be known: it could be an option too.
fn argument(run: &ProgramRun, options: &[&str]) -> Option<String> {
    let mut code: Vec<&str> = Vec::new();
    let mut words = run.words.iter().skip(1).peekable();
    while let Some(word) = words.next() {
        let Some(text) = word.known() else { break };
        if !is_option(text, options) {
            continue;
        }
        if !text.starts_with('-') {
            // A command, which has options of its own.
            for word in words {
                code.push(word.known()?);
            }
            break;
        }
        // What follows may be an option too: letters that end so may be the value of another one.
        code.push(words.peek()?.known()?);
    }
    (!code.is_empty()).then(|| code.join("\n"))
}

/// What `python -m timeit` measures: every word that follows is code, an option or a value of one.
fn timed(run: &ProgramRun) -> Option<String> {
    let words: Option<Vec<&str>> = run.words.iter().map(CommandWord::known).collect();
    let words = words?;
    let at = words.windows(2).position(|pair| pair == ["-m", "timeit"])?;
    Some(words[at + 2..].join("\n"))
}

/// True if a word is one of the options, or letters of which the last one is: `-Atc`.
fn is_option(word: &str, options: &[&str]) -> bool {
    let is_letters = |letters: &str| letters.chars().all(|it| it.is_ascii_alphanumeric());
    let is_last = |option: &&str| {
        let letter = option.strip_prefix('-').filter(|it| it.len() == 1);
        let letters = word.strip_prefix('-').filter(|it| is_letters(it));
        letter.is_some_and(|letter| letters.is_some_and(|letters| letters.ends_with(letter)))
    };
    options.contains(&word) || options.iter().any(is_last)
}

/// True if all that is not known of a command are variables in double quotes which the text does not set, such as `"$DATABASE_URL"`: who
/// wrote the command did not choose what is in them.
fn only_outer(here: &str, command: &str) -> bool {
    let mut parts = here.split('$');
    let mut before = parts.next().unwrap_or_default();
    if here.contains('`') {
        return false;
    }
    for part in parts {
        let inner = part.strip_prefix('{').unwrap_or(part);
        let end = inner.find(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        let (name, after) = inner.split_at(end.unwrap_or(inner.len()));
        let after = after.strip_prefix('}').unwrap_or(after);
        let is_alone = before.ends_with('"') && after.starts_with('"');
        let is_name = name.starts_with(|it: char| it.is_ascii_uppercase());
        let is_set = command.match_indices(name).count() > here.match_indices(name).count();
        if !is_name || !is_alone || is_set {
            return false;
        }
        before = after;
    }
    true
}

fn statements(run: &ProgramRun, options: &[&str], is_outer: bool) -> Option<String> {
    // What it is told to do is known.
    let is_text = |pair: &[CommandWord]| {
        pair[0].known().is_some_and(|it| is_option(it, options)) && pair[1].known().is_none()
    };
    let is_outer = is_outer && !options.is_empty() && !run.words.windows(2).any(is_text);
    let known = |word| match CommandWord::known(word) {
        None if is_outer => Some("…"),
        known => known,
    };
    let words: Option<Vec<&str>> = run.words.iter().skip(1).map(known).collect();
    let words = words?;
    let is_given = |word: &&str| {
        is_option(word, options)
            || options.iter().any(|option| word.starts_with(&format!("{option}=")))
    };
    // The second operand of these is a statement.
    let operands = words.iter().filter(|word| !word.starts_with('-')).count();
    let is_second = options.is_empty() || run.program == "duckdb";
    let has_any = words.iter().any(is_given) || is_second && operands > 1;
    has_any.then(|| words.join(" "))
}

/// Statements that a single `echo` hands to it.
fn piped(run: &ProgramRun, runs: &[ProgramRun], marked: &Marked<'_>) -> Option<String> {
    // With an unknown argument it may read something else.
    let is_known = run.words.iter().all(|word| word.known().is_some());
    fed::whole(runs, run, marked).filter(|_| is_known)
}

/// The here-document that is its only input.
fn document(doubt: &Doubt, run: &ProgramRun, command: &str, marked: &Marked<'_>) -> Option<String> {
    // With an unknown argument it may run something else.
    if run.words.iter().any(|word| word.known().is_none()) {
        return None;
    }
    let span = doubt.span.start..doubt.span.end;
    let documents = marked.documents_in(&span);
    let [(_, body)] = documents.as_slice() else { return None };
    let text = command.get(body.clone())?;
    // What the shell would put into it is not known.
    let is_plain = marked.is_quoted_document(&span) || !text.contains(['$', '`', '\\']);
    is_plain.then(|| text.to_owned())
}
