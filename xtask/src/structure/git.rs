//! Reads what git has, without touching anybody's files.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use crate::code::repo::Repo;

/// What a git command prints.
pub(super) fn text(root: &Path, arguments: &[&str]) -> io::Result<String> {
    let output =
        Command::new("git").args(arguments).current_dir(root).stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("`git {}` failed: {}", arguments.join(" "), said.trim())))
}

/// The full name of the commit that a revision means. It can then be no option of a later command.
pub(super) fn commit(root: &Path, revision: &str) -> io::Result<String> {
    let wanted = format!("{revision}^{{commit}}");
    let found = text(root, &["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]);
    let found = found.map_err(|_| io::Error::other(format!("git knows no commit `{revision}`")))?;
    Ok(found.trim().to_owned())
}

/// The Rust sources of all crates at a commit.
pub(super) fn repo(root: &Path, commit: &str) -> io::Result<Repo> {
    let listed = text(root, &["ls-tree", "-r", "-z", commit, "--", "crates"])?;
    let sources: Vec<(&str, &str)> = listed
        .split('\0')
        .filter_map(|entry| entry.split_once('\t'))
        .filter(|(_, path)| is_source(path))
        .filter_map(|(about, path)| Some((path, about.split(' ').nth(2)?)))
        .collect();
    let ids: Vec<&str> = sources.iter().map(|(_, id)| *id).collect();
    let texts = blobs(root, &ids)?;
    let files: Vec<(&str, &str)> =
        sources.iter().filter_map(|(path, id)| Some((*path, texts.get(*id)?.as_str()))).collect();
    Ok(Repo::of(&files))
}

/// Whether a path is a source file of a crate.
pub(super) fn is_source(path: &str) -> bool {
    let rust = Path::new(path).extension().is_some_and(|extension| extension == "rs");
    let below = path.strip_prefix("crates/").and_then(|rest| rest.split_once('/'));
    rust && below.is_some_and(|(_, rest)| rest.starts_with("src/"))
}

/// The text of each object, by its id.
pub(super) fn blobs(root: &Path, ids: &[&str]) -> io::Result<BTreeMap<String, String>> {
    let mut command = Command::new("git");
    command.args(["cat-file", "--batch"]).current_dir(root);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let Some(mut wanted) = child.stdin.take() else {
        return Err(io::Error::other("`git cat-file` has no standard input"));
    };
    let list: String = ids.iter().flat_map(|id| [*id, "\n"]).collect();
    // Git answers while it is asked: asking from here, both pipes would fill up and stand still.
    let asking = thread::spawn(move || wanted.write_all(list.as_bytes()));
    let output = child.wait_with_output()?;
    asking.join().map_err(|_| io::Error::other("nobody could ask `git cat-file`"))??;
    read_batch(&output.stdout)
}

/// Reads `ID blob SIZE\n` and so many bytes and a line break, again and again.
fn read_batch(mut bytes: &[u8]) -> io::Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
        let head = String::from_utf8_lossy(&bytes[..end]);
        let words: Vec<&str> = head.split(' ').collect();
        let size = words.get(2).and_then(|size| size.parse::<usize>().ok());
        let body = size.and_then(|size| bytes.get(end + 1..end + 1 + size));
        let Some(body) = body else {
            return Err(io::Error::other(format!("`git cat-file` said `{head}`")));
        };
        found.insert(words[0].to_owned(), String::from_utf8_lossy(body).into_owned());
        bytes = bytes.get(end + 2 + body.len()..).unwrap_or_default();
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_below_src_of_a_crate() {
        assert!(is_source("crates/a/src/b/c.rs"));
        assert!(!is_source("crates/a/tests/it/src/b.rs") && !is_source("xtask/src/main.rs"));
        assert!(!is_source("crates/a/src/b.toml"));
    }

    #[test]
    fn a_batch_is_read_whole() -> io::Result<()> {
        let found = read_batch(b"aa blob 4\nx\ny\n\nbb blob 0\n\n")?;
        assert_eq!(found["aa"], "x\ny\n");
        assert_eq!(found["bb"], "");
        assert!(read_batch(b"aa missing\n").is_err());
        Ok(())
    }
}
