//! What programs print when a wall stops them.

use std::path::{Component, Path, PathBuf};

use crate::process::wall::Wall;

/// Most bytes of a line that are kept.
const SAID_MAX: usize = 300;
/// Most places of an output that are looked at: a program may print the same again and again.
const PLACES_MAX: usize = 200;
/// The kernel's words, and the names by which Node.js and others call the same. What Landlock refuses looks like any other file without
/// rights, and tells nothing.
/// A file that is mounted cannot be replaced: git says so of its settings.
const WORDS: [&str; 4] = [
    "Read-only file system",
    "EROFS",
    "read-only file system",
    ".git/config: Device or resource busy",
];
/// How a line ends, also where it is escaped, as in JSON.
const ENDS: [&str; 4] = ["\n", "\\n", "\"", "\\\""];
/// What programs put around a path.
const QUOTES: [(char, char); 4] = [('\'', '\''), ('`', '\''), ('`', '`'), ('‘', '’')];

/// The first line of an output that shows how a wall stopped something: it has the kernel's words, and names a path that the wall does
/// not let be changed. The words alone are no proof: a program may print them for any reason.
pub(crate) fn refusal(output: &str, wall: &Wall, folder: &Path) -> Option<String> {
    let mut at: Vec<(usize, &str)> =
        WORDS.iter().flat_map(|word| output.match_indices(*word)).take(PLACES_MAX).collect();
    at.sort_unstable();
    let lines = at.into_iter().map(|(at, word)| line_at(output, at, word));
    lines
        .into_iter()
        .find(|(said, at)| is_held(said, *at, wall, folder))
        .map(|(said, _)| said.to_owned())
}

/// The line around some words, and where in it they are.
fn line_at<'o>(output: &'o str, at: usize, word: &str) -> (&'o str, usize) {
    let from = output.ceil_char_boundary(at.saturating_sub(SAID_MAX));
    let to = output.floor_char_boundary(output.len().min(at + SAID_MAX));
    let before = &output[from..at];
    let begin = ENDS.iter().filter_map(|end| Some(before.rfind(end)? + end.len())).max();
    let begin = from + begin.unwrap_or(0);
    let after = &output[at + word.len()..to.max(at + word.len())];
    let end = ENDS.iter().filter_map(|end| after.find(end)).min().unwrap_or(after.len());
    let said = &output[begin..at + word.len() + end];
    let trimmed = said.trim_start();
    (trimmed.trim_end(), at - begin - (said.len() - trimmed.len()))
}

/// Whether a line names something that the wall holds.
fn is_held(said: &str, at: usize, wall: &Wall, folder: &Path) -> bool {
    named(said, at).iter().any(|name| {
        let path = plain(&folder.join(name));
        // By where it lies really too: what is listed has no links in it.
        let real = path.parent().and_then(|parent| parent.canonicalize().ok());
        let real = real.zip(path.file_name()).map(|(parent, name)| parent.join(name));
        !wall.lets_change(real.as_deref().unwrap_or(&path))
    })
}

/// Paths that a line names: whatever is quoted, and the word before the kernel's.
fn named(said: &str, at: usize) -> Vec<&str> {
    let mut names = Vec::new();
    for (open, close) in QUOTES {
        let mut rest = said;
        while let Some((_, after)) = rest.split_once(open)
            && let Some((name, later)) = after.split_once(close)
        {
            names.push(name);
            rest = later;
        }
    }
    let before = said.get(..at).unwrap_or_default();
    // `.git/config` is a part of the words that tell it.
    let before = if said[before.len()..].starts_with(".git/config") {
        said.split_once(": Device").map_or(before, |(before, _)| before)
    } else {
        before.trim_end().strip_suffix(':').unwrap_or_default()
    };
    names.extend(before.rsplit([' ', '\t']).next());
    names.retain(|name| !name.is_empty() && !WORDS.contains(name));
    names
}

/// A path without the parts that lead upwards, as it is read.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut all, part| {
        match part {
            Component::ParentDir => {
                all.pop();
            }
            part => all.push(part),
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(output: &str) -> String {
        let wall = Wall {
            writable: vec!["/p".into(), "/tmp".into()],
            read_only: vec!["/p/.chronicle".into(), "/p/.git/config".into(), "/p/kept".into()],
            ..Wall::default()
        };
        refusal(output, &wall, Path::new("/p")).unwrap_or_default()
    }

    #[test]
    fn the_line_that_shows_a_refusal_is_found() {
        let plain = "touch: kept: Read-only file system";
        assert_eq!(found(&format!("a\n{plain}\nb")), plain);
        let json = r#"{"content":"one\ntouch: 'kept/x': Read-only file system\ntwo","ok":false}"#;
        assert_eq!(found(json), "touch: 'kept/x': Read-only file system");
        let node = r#"{"text":"EROFS: read-only file system, open '/etc/a'"}"#;
        assert_eq!(found(node), "EROFS: read-only file system, open '/etc/a'");
        for said in [
            "mkdir: cannot create directory ‘/usr/made’: Read-only file system",
            "sh: 1: cannot create ../outside: Read-only file system",
            "bash: line 1: .chronicle/rules.yaml: Read-only file system",
            "OSError: [Errno 30] Read-only file system: 'kept'",
            "error: could not write config file .git/config: Device or resource busy",
            "fatal: Unable to create '/q/.git/index.lock': Read-only file system",
        ] {
            assert_eq!(found(said), said);
        }
        let long = format!("{} /etc/x: Read-only file system{}", "é".repeat(400), "é".repeat(400));
        assert!(found(&long).contains("Read-only") && found(&long).len() < 700);
    }

    #[test]
    fn words_without_something_that_the_wall_holds_are_no_refusal() {
        for said in [
            "Permission denied",
            "Read-only file system",
            "the error is called EROFS, or Read-only file system",
            "cp: 'built/x': Read-only file system",
            "touch: /tmp/x: Read-only file system",
            "docs: say what `EROFS` means",
        ] {
            assert_eq!(found(said), "", "{said}");
        }
        // A later line can still show one.
        let both = "Read-only file system\ntouch: kept: Read-only file system";
        assert_eq!(found(both), "touch: kept: Read-only file system");
    }
}
