//! Named pipes and sockets where files are expected: no recording waits for them, and none is taken for another file.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use chronicle_runtime::for_tests::trees::{Trees, TreesError};
use rustix::fs::{CWD, mkfifoat};

use crate::trees::Yard;

fn pipe(path: &Path) {
    let _ = fs::remove_file(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    mkfifoat(CWD, path, 0o600.into()).unwrap();
}

fn yard() -> (Yard, Trees) {
    let yard = Yard::new();
    yard.write("file", "one\n");
    yard.write("sub/file", "two\n");
    yard.git(".", &["init", "-q", "-b", "main"]);
    let trees = Trees::open(&yard.root).unwrap();
    trees.record(Some("run/1")).unwrap();
    (yard, trees)
}

/// The pipe that stopped a recording.
fn stopped_by(recorded: Result<impl Sized, TreesError>) -> PathBuf {
    match recorded.map(drop) {
        Err(TreesError::Pipe(Some(path))) => path,
        other => panic!("{other:?}"),
    }
}

/// Git itself follows a link at `packed-refs`, and replaces the file that it leads to.
#[test]
fn needs_git_nothing_is_written_through_a_link_in_our_repository() {
    for name in ["packed-refs", "config", "HEAD", "info", "refs"] {
        let (yard, trees) = yard();
        let (path, other) =
            (yard.root.join(".chronicle/trees.git").join(name), yard.root.join("other"));
        fs::write(&other, "somebody's\n").unwrap();
        let _ = fs::rename(&path, path.with_extension("away"));
        std::os::unix::fs::symlink(&other, &path).unwrap();
        yard.write("file", "changed\n");
        let recorded = trees.record(Some("run/2")).map(drop);
        assert!(recorded.is_err(), "{name}");
        assert!(trees.clear(BTreeSet::new).is_err(), "{name}");
        assert_eq!(fs::read_to_string(&other).unwrap(), "somebody's\n", "{name}");
    }
}

#[test]
fn needs_git_a_pipe_that_git_would_read_stops_the_recording_by_name() {
    for name in [
        ".gitignore",
        ".gitattributes",
        "sub/.gitignore",
        ".chronicle/trees.git/config",
        ".chronicle/trees.git/packed-refs",
    ] {
        let (yard, trees) = yard();
        let path = yard.root.join(name);
        pipe(&path);
        yard.write("file", "changed\n");
        assert_eq!(stopped_by(trees.record(None)), path, "{name}");
        // Once it is away, all is well again.
        fs::remove_file(&path).unwrap();
        if name.ends_with("config") {
            yard.write(name, "[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
        }
        trees.record(None).unwrap();
    }
}

#[test]
fn needs_git_a_pipe_in_the_persons_repository_is_not_taken_for_no_repository() {
    for name in [".git/config", ".git/HEAD", ".git/info/exclude", ".git/index"] {
        let (yard, _) = yard();
        let path = yard.root.join(name);
        pipe(&path);
        assert_eq!(stopped_by(Trees::open(&yard.root)), path, "{name}");
    }
}

#[test]
fn needs_git_a_pipe_in_the_place_of_a_recorded_content_is_found() {
    let (yard, trees) = yard();
    let before = trees.record(None).unwrap().tree;
    let (fan, rest) = before.as_str().split_at(2);
    let path = yard.root.join(".chronicle/trees.git/objects").join(fan).join(rest);
    pipe(&path);
    yard.write("file", "changed\n");
    let after = trees.record(None).unwrap().tree;
    assert_eq!(stopped_by(trees.changes(Some(&before), &after)), path);
}

#[test]
fn needs_git_pipes_in_the_place_of_our_own_files_are_replaced() {
    for name in [
        "HEAD",
        "info/exclude",
        "info/attributes",
        "chronicle/project.index",
        "chronicle/project.tree",
        "chronicle/project.modes",
        "chronicle/project.missing",
    ] {
        let (yard, trees) = yard();
        let first = trees.record(None).unwrap().tree;
        let path = yard.root.join(".chronicle/trees.git").join(name);
        pipe(&path);
        let trees = Trees::open(&yard.root).unwrap();
        assert_eq!(trees.record(None).unwrap().tree, first, "{name}");
        assert!(trees.changes(None, &first).unwrap().files >= 2, "{name}");
    }
}

#[test]
fn needs_git_pipes_and_sockets_among_the_files_are_no_files() {
    let (yard, trees) = yard();
    let before = trees.record(None).unwrap().tree;
    pipe(&yard.root.join("new"));
    let _new = UnixListener::bind(yard.root.join("sub/new")).unwrap();
    assert_eq!(trees.record(None).unwrap().tree, before);
    // In the place of a file that is known, they mean that it is gone.
    pipe(&yard.root.join("file"));
    fs::remove_file(yard.root.join("sub/file")).unwrap();
    let _known = UnixListener::bind(yard.root.join("sub/file")).unwrap();
    let after = trees.record(None).unwrap().tree;
    let gone = trees.changes(Some(&before), &after).unwrap();
    assert_eq!((gone.files, gone.added), (2, 0), "{gone:?}");
}

#[test]
fn needs_git_a_pipe_as_the_list_of_what_is_ignored_everywhere_is_named() {
    let yard = Yard::new();
    yard.write("file", "one\n");
    yard.git(".", &["init", "-q", "-b", "main"]);
    let path = yard.root.parent().unwrap().join("ignored-everywhere");
    fs::write(&path, "*.log\n").unwrap();
    yard.git(".", &["config", "core.excludesFile", path.to_str().unwrap()]);
    let trees = Trees::open(&yard.root).unwrap();
    trees.record(None).unwrap();
    pipe(&path);
    assert_eq!(stopped_by(trees.record(None)), path);
    // A folder inside a repository asks the person's git what is ignored, which reads the same list.
    let inner = yard.root.join("inner");
    fs::create_dir_all(&inner).unwrap();
    let recorded = Trees::open(&inner).and_then(|trees| trees.record(None));
    assert_eq!(stopped_by(recorded), path);
}

#[test]
fn needs_git_a_socket_in_our_repository_is_damage() {
    for name in
        ["", "info", "config", "packed-refs", "refs", "objects", "chronicle", "chronicle/modes"]
    {
        let (yard, _) = yard();
        let dir = yard.root.join(".chronicle/trees.git");
        let path = dir.join(name);
        if path.exists() {
            fs::rename(&path, yard.root.join(".chronicle/away")).unwrap();
        }
        // The name of a socket may have no more than 108 bytes, so it is made where that is short.
        let short = tempfile::tempdir_in("/tmp").unwrap();
        let _socket = UnixListener::bind(short.path().join("s")).unwrap();
        fs::rename(
            short.path().join("s"),
            if name.is_empty() { dir.clone() } else { path.clone() },
        )
        .unwrap();
        yard.write("file", "changed\n");
        match Trees::open(&yard.root).and_then(|trees| trees.record(Some("run/2"))).map(drop) {
            Err(TreesError::Damaged { why, .. }) => {
                let is_named = why.contains("is a socket") && why.contains("trees.git");
                assert!(is_named || why.contains("not a git repository"), "{name}: {why}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}
