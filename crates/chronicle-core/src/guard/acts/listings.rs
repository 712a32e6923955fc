//! Names of files that commands print, and the places that they are below: `find`, `grep -l`, `git ls-files`, `ls`.

use super::options::{Valued, read};
use super::output::{NAME_TESTS, sieve_of_find, wanted};
use super::value::{Field, Listing, Piece};
use super::walk::Input;
use super::{CommandWord, KnownToGit, Sieve};
use crate::guard::pathspecs::Pathspec;

/// Options with values of programs that search files.
const SEARCH: &str = "e f:r A B C m d D regexp file:r max-count after-context before-context context include exclude exclude-from:r exclude-dir g glob iglob \
    t type T type-not j threads M max-columns E encoding sort max-depth extension x: X:";

/// What is handed on of names of files: `grep -v word` leaves out those with the word in them.
pub(super) fn narrowed(input: &Input, name: &str, words: &[Field]) -> Input {
    let mut input = input.clone();
    let is_grep = ["grep", "egrep", "fgrep", "rg"].contains(&name);
    let known: Vec<&str> = words.iter().filter_map(Field::known).collect();
    let is_not = known.iter().any(|it| it.starts_with('-') && it.contains('v'));
    let word = known.iter().find(|it| !it.starts_with('-'));
    let is_plain = |word: &&&str| {
        word.chars().all(|letter| letter.is_alphanumeric() || "_-/".contains(letter))
    };
    if let Input::Listed(listing) = &mut input
        && let Some(sieve) = &mut listing.sieve
        && let Some(word) = word.filter(is_plain).filter(|_| is_grep && is_not)
    {
        sieve.leave_out(&format!("*{}*", word.trim_matches('/')));
    }
    if let Input::Listed(listing) = &mut input
        && let Some(sieve) = &mut listing.sieve
        && let [pattern] | ["-E", pattern] = known.as_slice()
        && let Some(endings) = endings_of(pattern).filter(|_| is_grep)
    {
        for ending in endings {
            sieve.take_only(&format!("*.{ending}"));
        }
    }
    input
}

/// What names end with that a pattern for lines finds: `\.rs$`, `\.(js|ts)$`. `None` if it may find others too.
fn endings_of(pattern: &str) -> Option<Vec<&str>> {
    let inner = pattern.strip_prefix("\\.")?.strip_suffix('$')?;
    let inner = inner.strip_prefix('(').and_then(|it| it.strip_suffix(')')).unwrap_or(inner);
    let is_plain = |it: &&str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric());
    let endings: Vec<&str> = inner.split('|').collect();
    endings.iter().all(is_plain).then_some(endings)
}

/// `ls` of patterns, which prints what they find.
pub(super) fn shown(name: &str, words: &[Field]) -> Option<Listing> {
    if name != "ls" {
        return None;
    }
    let (options, operands): (Vec<&Field>, Vec<&Field>) =
        words.iter().partition(|it| it.begins().starts_with('-'));
    let is_usual = |it: &&Field| {
        it.known().is_some_and(|text| text.chars().all(|letter| "-1trSvd".contains(letter)))
    };
    let root = |it: &&Field| match it.pieces.as_slice() {
        [Piece::Text(before), Piece::Glob(_), rest @ ..] => {
            let is_one =
                rest.iter().all(|it| matches!(it, Piece::Text(text) if !text.contains('/')));
            let folder = before.rfind('/').map_or(".", |at| &before[..=at]);
            is_one.then(|| folder.to_owned())
        }
        [Piece::Glob(_), Piece::Text(end)] if !end.contains('/') => Some(".".to_owned()),
        _ => None,
    };
    let roots: Option<Vec<String>> = operands.iter().map(root).collect();
    let roots = roots.filter(|roots| !roots.is_empty() && options.iter().all(is_usual))?;
    let picked = operands.into_iter().cloned().collect();
    Some(Listing { roots, picked, is_picky: true, ..Listing::default() })
}

/// A word that is known, or a pattern.
fn text_of(word: &Field) -> Option<String> {
    match word.to_word() {
        CommandWord::Known(text) | CommandWord::Glob(text) => Some(text),
        CommandWord::Unknown { .. } => None,
    }
}

/// The folder that all that a pattern finds is below; another path as it is.
fn folder_of(path: &str) -> String {
    let Some(at) = path.find(['*', '?', '[']) else { return path.to_owned() };
    path[..at].rfind('/').map_or_else(|| ".".to_owned(), |at| path[..=at].to_owned())
}

/// Names of files that a command prints, and the places that they are below.
pub(super) fn listed(name: &str, words: &[Field]) -> Option<Listing> {
    let said: Option<Vec<String>> = words.iter().map(text_of).collect();
    let said = said?;
    let known: Vec<&str> = said.iter().map(String::as_str).collect();
    match name {
        "find" => listed_by_find(&known),
        "git" => listed_by_git(&known),
        "fd" | "fdfind" | "grep" | "egrep" | "fgrep" | "rg" | "ag" => listed_by_search(name, words),
        _ => None,
    }
}

/// The places that names are below: without any, where the command runs.
fn roots(places: &[&str]) -> Vec<String> {
    let all: Vec<String> = places.iter().map(|it| folder_of(it)).collect();
    if all.is_empty() { vec![".".to_owned()] } else { all }
}

pub(super) fn is_telling(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

fn listed_by_find(known: &[&str]) -> Option<Listing> {
    let ends = |word: &&str| word.starts_with(['-', '(', '!']) || *word == ")";
    let at = known.iter().position(ends).unwrap_or(known.len());
    let (places, tests) = known.split_at(at);
    let is_other = |word: &&str| {
        [
            "-exec", "-execdir", "-ok", "-okdir", "-printf", "-fprintf", "-fprint", "-ls", "-fls",
            "-delete",
        ]
        .contains(word)
    };
    if tests.iter().any(is_other) {
        return None;
    }
    let by_name =
        tests.windows(2).filter(|pair| NAME_TESTS.contains(&pair[0]) && is_telling(pair[1]));
    let ors = tests.iter().filter(|word| ["-o", "-or", ","].contains(*word)).count();
    let (is_picky, names) = (by_name.count() > ors, wanted(tests));
    let sieve = Some(sieve_of_find(tests, is_picky));
    Some(Listing { roots: roots(places), is_picky, names, sieve, ..Listing::default() })
}

/// Options of git's listing commands that take the next word.
const GIT_VALUED: &[&str] =
    &["-x", "-X", "-e", "-n", "-A", "-B", "-C", "-m", "-U", "-O", "-G", "-S", "--exclude-from"];

fn listed_by_git(known: &[&str]) -> Option<Listing> {
    let known = match known {
        ["--no-pager" | "-P", rest @ ..] | ["-c", _, rest @ ..] => rest,
        all => all,
    };
    let (command, rest) = known.split_first()?;
    let lists = match *command {
        "ls-files" => true,
        "diff" | "show" | "log" | "diff-tree" | "ls-tree" | "diff-index" | "diff-files" => {
            rest.contains(&"--name-only")
        }
        "grep" => rest.iter().any(|it| {
            ["-l", "-L", "--files-with-matches", "--files-without-match", "--name-only"]
                .contains(it)
                || is_short(it) && it.contains(['l', 'L'])
        }),
        _ => false,
    };
    if !lists {
        return None;
    }
    let (specs, is_all) = specs_of(command, rest);
    let (mut roots, mut sieve) = (Vec::new(), Sieve::of(known_to_git(command, rest)));
    for spec in &specs {
        match Pathspec::read(spec) {
            Some(left_out) if left_out.is_left_out && !left_out.ignores_case => {
                sieve.leave_out(&left_out.path);
            }
            // Where the others begin is not known here.
            Some(_) => return None,
            None => roots.push(folder_of(spec)),
        }
    }
    // Several of them are all looked below for the same.
    let endings: Option<Vec<String>> =
        specs.iter().filter(|it| !it.starts_with(':')).map(|it| ending_of(it)).collect();
    for ending in endings.filter(|_| !is_all).unwrap_or_default() {
        sieve.take_only(&ending);
    }
    if roots.is_empty() || is_all {
        roots.push(".".to_owned());
    }
    let is_picky = *command != "ls-files" || specs.iter().any(|it| is_telling(it));
    // Git's patterns go over folders too, and find a folder by the beginning of its name.
    let picked = specs.iter().filter(|it| it.contains(['*', '?', '[']) && ending_of(it).is_none());
    let picked = picked.map(|it| Field::of(Piece::Glob((*it).to_owned()))).collect();
    Some(Listing { roots, picked, is_picky, sieve: Some(sieve), ..Listing::default() })
}

fn is_short(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--")
}

/// Which files a command of git may print.
fn known_to_git(command: &str, rest: &[&str]) -> KnownToGit {
    if command != "ls-files" {
        return KnownToGit::Tracked;
    }
    let has = |letter: char, name: &str| {
        rest.iter().any(|it| *it == name || is_short(it) && it.contains(letter))
    };
    let is_standard = rest.contains(&"--exclude-standard");
    match (has('o', "--others"), has('i', "--ignored"), has('c', "--cached")) {
        (false, false, _) if !rest.iter().any(|it| it.starts_with("--exclude=")) => {
            KnownToGit::Tracked
        }
        (true, false, false) if is_standard => KnownToGit::Untracked,
        (true, false, true) if is_standard => KnownToGit::NotIgnored,
        _ => KnownToGit::Any,
    }
}

/// The pathspecs among the words of a command of git, and whether it may be told none: a word may be a revision instead.
fn specs_of<'w>(command: &str, rest: &[&'w str]) -> (Vec<&'w str>, bool) {
    let mark = rest.iter().position(|it| *it == "--");
    let (before, marked) = rest.split_at(mark.unwrap_or(rest.len()));
    let marked = marked.get(1..).unwrap_or_default();
    let is_value = |at: usize| at > 0 && GIT_VALUED.contains(&before[at - 1]);
    let words = before.iter().enumerate();
    let words = words.filter(|(at, it)| !it.starts_with('-') && !is_value(*at)).map(|(_, it)| *it);
    let has_pattern = before.iter().any(|it| ["-e", "-f"].contains(it));
    let skips = match command {
        "ls-tree" => 1,
        "grep" if !has_pattern => 1,
        _ => 0,
    };
    let mut specs: Vec<&str> = words.skip(skips).collect();
    // What `git grep` finds in a revision is no path.
    let is_sure = ["ls-files", "grep", "ls-tree"].contains(&command);
    if !is_sure && !marked.is_empty() {
        specs.clear();
    }
    let is_path = |it: &&str| it.contains(['*', '?', '[']) || it.ends_with('/');
    let is_all = !is_sure && marked.is_empty() && !specs.iter().any(is_path);
    specs.extend(marked);
    (specs, is_all)
}

/// What all names end with that a pathspec finds, as a pattern of names; `None` if that is not known.
fn ending_of(spec: &str) -> Option<String> {
    let (_, ending) = spec.rsplit_once('*')?;
    let is_plain = !ending.is_empty() && !ending.contains(['/', '?', '[', ']', '\\']);
    is_plain.then(|| format!("*{ending}"))
}

fn listed_by_search(name: &str, words: &[Field]) -> Option<Listing> {
    let (found, _) = read(words, Valued(SEARCH), false);
    let finds = name.starts_with("fd");
    let all = found.has(&["files"]);
    let lists = finds || all || found.has(&["l", "files-with-matches", "L", "files-without-match"]);
    if !lists || found.has(&["x", "exec", "X", "exec-batch", "pre", "f", "file"]) {
        return None;
    }
    let operands: Vec<String> = found.operands.iter().filter_map(text_of).collect();
    let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
    // `-e` of `fd` is an ending, and a pattern stands before the places still.
    let skips = usize::from(!all && (finds || !found.has(&["e", "regexp"])));
    let pattern = operands.first().copied().unwrap_or_default();
    let is_ending = finds && found.has(&["e", "extension"]);
    let is_picky = !all && (is_telling(pattern) || is_ending);
    let plain = pattern.trim_start_matches('^').trim_end_matches('$').replace('\\', "");
    let names = if finds && is_telling(&plain) { vec![plain] } else { Vec::new() };
    let ignored = found.has(&["I", "no-ignore", "u", "unrestricted"]);
    let mut sieve = Sieve::of(if ignored { KnownToGit::Any } else { KnownToGit::NotIgnored });
    sieve.skips_hidden = !found.has(&["H", "hidden", "u", "unrestricted"]);
    for name in names.iter().filter(|_| !is_ending) {
        sieve.take_only(&format!("*{name}*"));
    }
    for ending in found.values(&["e", "extension"]).filter_map(Field::known) {
        sieve.take_only(&format!("*.{ending}"));
    }
    let roots = roots(operands.get(skips..).unwrap_or_default());
    let is_read = !finds && !all;
    let sieve = if is_read { super::deep::sieve_of(name, &found) } else { Some(sieve) };
    // Who does not go down prints what it is given.
    let picked = found.operands.iter().skip(skips).filter(|_| sieve.is_none()).cloned().collect();
    Some(Listing { roots, picked, is_picky, names, sieve, is_read })
}
