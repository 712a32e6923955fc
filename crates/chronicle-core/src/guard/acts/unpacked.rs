//! Archives that are unpacked where git keeps what is its own: nobody knows what comes to lie there.

use super::TouchKind;
use super::invoke::Call;
use super::state::State;
use super::value::Field;
use super::walk::Walker;
use super::written::place;

impl Walker<'_> {
    /// Touches what git runs and reads in a folder of its own that an archive is unpacked to.
    pub(super) fn unpacked(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) {
        let known: Vec<&str> = words.iter().map(|it| it.known().unwrap_or_default()).collect();
        let (name, known) = match known.as_slice() {
            // A module of Python is such a program too.
            [.., "-m", module @ ("tarfile" | "zipfile"), "-e" | "--extract", _, folder] => {
                (*module, vec![*folder])
            }
            _ => (name, known),
        };
        let Some(folder) = unpacked_to(name, &known) else { return };
        let mut places: Vec<String> =
            state.folders.iter().filter_map(|it| place(it, &folder)).collect();
        // What is unpacked may get a folder by other options, and by what its names are made into.
        if known.iter().any(|it| mentions_git(it)) {
            places.extend(state.folders.iter().filter_map(|it| place(it, ".git")));
        }
        for place in places.iter().filter(|it| it.split('/').any(|name| name == ".git")) {
            let path = Field::text(&format!("/{place}/config"));
            self.touch(TouchKind::Write, &path, state, name, call.span);
        }
    }
}

/// The folder that a program unpacks an archive to; `None` if it unpacks none.
fn unpacked_to(name: &str, words: &[&str]) -> Option<String> {
    let has = |all: &[&str]| words.iter().any(|word| all.contains(word));
    let is_short = |word: &&&str| word.starts_with('-') && !word.starts_with("--");
    let has_letter = |letter: char| words.iter().filter(is_short).any(|it| it.contains(letter));
    let (unpacks, options): (bool, &[&str]) = match name {
        "tar" | "gtar" | "bsdtar" => {
            let first = words.first().is_some_and(|it| !it.starts_with('-') && it.contains('x'));
            (first || has_letter('x') || has(&["--extract", "--get"]), &["-C", "--directory"])
        }
        "unzip" => (!has(&["-l", "-t", "-Z", "-p", "-v"]), &["-d"]),
        "7z" | "7za" | "7zz" | "7zr" => (has(&["x", "e"]), &["-o"]),
        "cpio" => (has_letter('i') || has(&["--extract"]), &["-D", "--directory"]),
        "pax" => (has_letter('r'), &[]),
        "jar" => (words.first().is_some_and(|it| it.contains('x')), &["-C"]),
        "unar" | "unrar" | "rar" => (name == "unar" || has(&["x", "e"]), &["-o"]),
        "ditto" => (has(&["-x"]), &[]),
        "tarfile" | "zipfile" => return words.first().map(|it| (*it).to_owned()),
        _ => return None,
    };
    if !unpacks {
        return None;
    }
    let mut folder = ".".to_owned();
    for (at, word) in words.iter().enumerate() {
        let value = options.iter().find_map(|option| match word.strip_prefix(option)? {
            "" => words.get(at + 1).copied(),
            rest if option.starts_with("--") => rest.strip_prefix('='),
            rest => Some(rest),
        });
        if let Some(value) = value {
            // Each folder is from the one before.
            folder =
                if value.starts_with('/') { value.to_owned() } else { format!("{folder}/{value}") };
        }
    }
    Some(folder)
}

/// True if a word names the folder of git, alone or in what makes names: `s#^#.git/#`, `-od.git`.
fn mentions_git(word: &str) -> bool {
    let is_name = |it: char| it.is_alphanumeric() || "._-".contains(it);
    let is_option = word.starts_with('-') && !word.starts_with("--");
    !word.contains("exclude")
        && word.match_indices(".git").any(|(at, own)| {
            let before = word[..at].chars().next_back();
            let after = word[at + own.len()..].chars().next();
            after.is_none_or(|it| !is_name(it))
                && (is_option || before.is_none_or(|it| !is_name(it)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_git_is_found_in_options() {
        for word in [".git", "-od.git", "--one-top-level=.git", "s#^#.git/#", ",^,.git/,", "./.git"]
        {
            assert!(mentions_git(word), "{word}");
        }
        for word in ["--exclude=.git", ".gitignore", "repo.git", "a.git.tar", ".github/x"] {
            assert!(!mentions_git(word), "{word}");
        }
    }

    #[test]
    fn where_an_archive_goes_is_read() {
        for (name, words, expected) in [
            ("tar", &["xf", "a.tar", "-C", ".git"][..], Some("./.git")),
            ("tar", &["-xf", "a.tar", "--directory=.git"], Some("./.git")),
            ("tar", &["xf", "a.tar"], Some(".")),
            ("tar", &["cf", "a.tar", "-C", ".git", "."], None),
            ("unzip", &["a.zip", "-d", "out"], Some("./out")),
            ("unzip", &["-l", "a.zip"], None),
            ("7z", &["x", "a.7z", "-o.git"], Some("./.git")),
            ("cpio", &["-id", "-D", "/a/.git"], Some("/a/.git")),
        ] {
            assert_eq!(unpacked_to(name, words).as_deref(), expected, "{name} {words:?}");
        }
    }
}
