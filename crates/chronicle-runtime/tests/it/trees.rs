//! Trees of real folders by the real git: every kind of file, and nothing of the person's touched.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use chronicle_core::base::ids::TreeId;
use chronicle_core::event::Change;
use chronicle_core::event::trees::{Changes, Restored};
use chronicle_runtime::for_tests::process::Tool;
use chronicle_runtime::for_tests::trees::{DiffForm, Trees, TreesError};

pub(crate) struct Yard {
    _folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

impl Yard {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("project");
        fs::create_dir(&root).unwrap();
        Self { _folder: folder, root }
    }

    /// A folder that git looks after, with one commit of what is in it.
    pub(crate) fn repository() -> Self {
        let yard = Self::new();
        yard.write("first", "first\n");
        yard.git(".", &["init", "-q", "-b", "main"]);
        yard.commit(".");
        yard
    }

    pub(crate) fn git(&self, folder: &str, args: &[&str]) -> String {
        let who = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"];
        let line = ["git"].into_iter().chain(who).chain(args.iter().copied());
        let ran = Tool::new(line, &self.root.join(folder)).run().unwrap();
        assert!(ran.status.success(), "{args:?}: {}", ran.stderr);
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    pub(crate) fn commit(&self, folder: &str) {
        self.git(folder, &["add", "-A"]);
        self.git(folder, &["commit", "-qm", "all"]);
    }

    pub(crate) fn write(&self, name: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap()
    }

    pub(crate) fn trees(&self) -> Trees {
        Trees::open(&self.root).unwrap()
    }

    fn shadow(&self) -> PathBuf {
        self.root.join(".chronicle/trees.git")
    }
}

pub(crate) fn record(trees: &Trees) -> TreeId {
    let recorded = trees.record(None).unwrap();
    assert_eq!(recorded.unreadable_files, Vec::<String>::new());
    recorded.tree
}

/// Makes the files those of a tree, whatever they are.
fn put_back(trees: &Trees, to: &TreeId, keep: &str) -> Result<Restored, TreesError> {
    let now = trees.record(None)?.tree;
    trees.restore(&now, to, keep)
}

/// `+ name`, `~ name`, `- name`, `old > new`, each with its lines.
fn told(changes: &Changes) -> Vec<String> {
    let lines = |count: Option<u64>| count.map_or("bin".to_owned(), |count| count.to_string());
    let told = changes.list.iter().map(|file| {
        let (added, removed) = (lines(file.added), lines(file.removed));
        match (&file.from, file.change) {
            (Some(from), _) => format!("{from} > {} {added} {removed}", file.path),
            (None, Change::Created) => format!("+ {} {added}", file.path),
            (None, Change::Changed) => format!("~ {} {added} {removed}", file.path),
            (None, Change::Deleted) => format!("- {} {removed}", file.path),
        }
    });
    told.collect()
}

pub(crate) fn files(trees: &Trees, tree: &TreeId) -> Vec<String> {
    let mut out = Vec::new();
    trees.show(None, tree, DiffForm::Names, false, &mut out).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

/// Every file, link and folder below, with its bytes and mode; our own folder apart.
pub(crate) fn everything(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let bytes = match () {
                () if path.ends_with(".chronicle") => continue,
                () if meta.is_symlink() => {
                    fs::read_link(&path).unwrap().into_os_string().as_bytes().to_vec()
                }
                () if meta.is_dir() => {
                    folders.push(path.clone());
                    Vec::new()
                }
                () if meta.is_file() => fs::read(&path).unwrap(),
                () => Vec::new(),
            };
            let name = path.strip_prefix(root).unwrap().to_owned();
            found.insert(name, (meta.permissions().mode(), bytes));
        }
    }
    found
}

#[test]
fn needs_git_a_folder_without_git_is_recorded_and_compared() {
    let yard = Yard::new();
    yard.write("a.txt", "one\ntwo\n");
    yard.write("deep/b.bin", [0, 1, 2]);
    yard.write("same", "a text that is long enough\nto be known again\nwhen it moves\n");
    fs::create_dir(yard.root.join("empty")).unwrap();
    let trees = yard.trees();
    let before = record(&trees);
    assert_eq!(files(&trees, &before), ["a.txt", "deep/b.bin", "same"]);
    assert_eq!(record(&trees), before);

    yard.write("a.txt", "one\nthree\n");
    yard.write("deep/b.bin", [0, 1, 3]);
    yard.write("new", "x\n");
    fs::rename(yard.root.join("same"), yard.root.join("moved")).unwrap();
    let after = record(&trees);
    let changes = trees.changes(Some(&before), &after).unwrap();
    let expected = ["~ a.txt 1 1", "~ deep/b.bin bin bin", "same > moved 0 0", "+ new 1"];
    assert_eq!(told(&changes), expected);
    assert_eq!((changes.files, changes.added, changes.removed), (4, 2, 1));
    assert!(trees.changes(Some(&after), &after).unwrap().is_none());

    fs::remove_dir_all(yard.root.join("deep")).unwrap();
    let last = record(&trees);
    assert_eq!(told(&trees.changes(Some(&after), &last).unwrap()), ["- deep/b.bin bin"]);
    assert_eq!(yard.trees().record(None).unwrap().tree, last);
}

#[test]
fn needs_git_any_name_and_any_kind_of_file() {
    let yard = Yard::new();
    let names: [&[u8]; 9] = [
        b"a\nb",
        b"-rf",
        b"\xff\xfe",
        b" lead",
        b"quote\"\\",
        "ünï".as_bytes(),
        b"*?[x]",
        b":(top)",
        b"#x",
    ];
    for name in names {
        yard.write(OsStr::from_bytes(name), name);
    }
    symlink("nowhere", yard.root.join("dangling")).unwrap();
    symlink("/etc", yard.root.join("folder-link")).unwrap();
    yard.write("program", "#!/bin/sh\n");
    fs::set_permissions(yard.root.join("program"), PermissionsExt::from_mode(0o755)).unwrap();
    let made = Tool::new(["mkfifo", "pipe"], &yard.root).run().unwrap();
    assert!(made.status.success());
    let trees = yard.trees();
    let before = record(&trees);
    let there = everything(&yard.root);
    let changes = trees.changes(None, &before).unwrap();
    assert_eq!(changes.files, 12, "{:?}", told(&changes));

    for name in names {
        fs::remove_file(yard.root.join(OsStr::from_bytes(name))).unwrap();
    }
    fs::remove_file(yard.root.join("folder-link")).unwrap();
    yard.write("folder-link/inside", "a folder now");
    fs::set_permissions(yard.root.join("program"), PermissionsExt::from_mode(0o644)).unwrap();
    fs::remove_file(yard.root.join("dangling")).unwrap();
    symlink("elsewhere", yard.root.join("dangling")).unwrap();
    let after = record(&trees);
    assert_eq!(trees.changes(Some(&before), &after).unwrap().files, 13);
    let restored = put_back(&trees, &before, "r/1").unwrap();
    assert_eq!((restored.files, restored.kept), (13, Vec::new()));
    assert_eq!(everything(&yard.root), there);
    assert_eq!(record(&trees), before);
    put_back(&trees, &after, "r/2").unwrap();
    assert_eq!(yard.read("folder-link/inside"), "a folder now");
    assert_eq!(record(&trees), after);
}

#[test]
fn needs_git_what_the_person_ignores_is_not_recorded_and_what_they_track_is() {
    let yard = Yard::repository();
    yard.write(".gitignore", "*.log\nbuild/\n");
    yard.write("kept.log", "tracked all the same\n");
    yard.git(".", &["add", "-f", "kept.log"]);
    yard.write("a.log", "ignored");
    yard.write("build/x", "ignored");
    yard.write(".git/info/exclude", "/private\n");
    yard.write("private", "ignored");
    yard.write("seen", "seen");
    let trees = yard.trees();
    let before = record(&trees);
    assert_eq!(files(&trees, &before), [".gitignore", "first", "kept.log", "seen"]);

    // What comes to be ignored leaves the trees, and stays in the folder.
    yard.write(".gitignore", "*.log\nbuild/\nseen\n");
    yard.write("kept.log", "changed\n");
    let after = record(&trees);
    assert_eq!(files(&trees, &after), [".gitignore", "first", "kept.log"]);
    put_back(&trees, &before, "r/1").unwrap();
    assert_eq!((yard.read("seen"), yard.read("a.log")), ("seen".into(), "ignored".into()));
    assert_eq!(yard.read("kept.log"), "tracked all the same\n");
}

#[test]
fn needs_git_rules_above_a_project_inside_a_repository_count() {
    let yard = Yard::repository();
    yard.write(".gitignore", "*.tmp\n/inner/o \\[1\\]\n");
    for name in ["inner/a", "inner/b.tmp", "inner/o [1]", "inner/.chronicle/config.toml"] {
        yard.write(name, "x");
    }
    let trees = Trees::open(&yard.root.join("inner")).unwrap();
    assert_eq!(files(&trees, &record(&trees)), [".chronicle/config.toml", "a"]);
}

#[test]
fn needs_git_our_own_records_are_never_in_a_tree() {
    let yard = Yard::new();
    yard.write(".chronicle/.gitignore", "!runs/\n!trees.git/\n!worktrees/\n");
    for name in ["runs/1/ledger.jsonl", "worktrees/shared.lock", "workflows/a.yaml"] {
        yard.write(Path::new(".chronicle").join(name), "x");
    }
    yard.write(".pi/chronicle/sessions/1.json", "{}");
    yard.write(".pi/settings.json", "{}");
    let trees = yard.trees();
    let tree = record(&trees);
    let expected = [".chronicle/.gitignore", ".chronicle/workflows/a.yaml", ".pi/settings.json"];
    assert_eq!(files(&trees, &tree), expected);
}

#[test]
fn needs_git_nested_repositories_and_submodules_are_files_too() {
    let yard = Yard::repository();
    yard.write("fresh/a", "no commit yet");
    yard.git("fresh", &["init", "-q"]);
    yard.write("fresh/inner/b", "deeper");
    yard.git("fresh/inner", &["init", "-q"]);
    yard.write("../lib/lib.c", "int x;\n");
    yard.git("../lib", &["init", "-q"]);
    yard.commit("../lib");
    let add = ["-c", "protocol.file.allow=always", "submodule", "-q", "add", "../lib", "sub"];
    let from = yard.root.join("../lib").canonicalize().unwrap();
    let mut add = add.map(str::to_owned);
    add[5] = from.to_str().unwrap().to_owned();
    yard.git(".", &add.each_ref().map(String::as_str));
    let trees = yard.trees();
    let before = record(&trees);
    let expected = [".gitmodules", "first", "fresh/a", "fresh/inner/b", "sub/lib.c"];
    assert_eq!(files(&trees, &before), expected);
    yard.write("sub/lib.c", "int y;\n");
    yard.write("sub/new.c", "");
    let after = record(&trees);
    let changes = trees.changes(Some(&before), &after).unwrap();
    assert_eq!(told(&changes), ["~ sub/lib.c 1 1", "+ sub/new.c 0"]);
    put_back(&trees, &before, "r/1").unwrap();
    assert_eq!(yard.git("sub", &["status", "--porcelain"]), "");
}

#[test]
fn needs_git_filters_line_endings_and_hooks_of_the_person_do_not_run() {
    let yard = Yard::repository();
    let told = yard.root.join("../told");
    let tell = format!("sh -c 'echo ran >> {}; cat'", told.display());
    for (name, value) in [
        ("filter.lfs.clean", tell.as_str()),
        ("filter.lfs.smudge", tell.as_str()),
        ("filter.lfs.required", "true"),
        ("core.autocrlf", "true"),
        ("core.safecrlf", "true"),
        ("core.fsmonitor", tell.as_str()),
        ("core.hooksPath", "hooks"),
        ("commit.gpgsign", "true"),
        ("diff.t.textconv", tell.as_str()),
    ] {
        yard.git(".", &["config", name, value]);
    }
    for hook in ["pre-commit", "post-index-change", "reference-transaction", "post-checkout"] {
        yard.write(Path::new("hooks").join(hook), format!("#!/bin/sh\n{tell}\n"));
        let path = yard.root.join("hooks").join(hook);
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let attributes = "[attr]big filter=lfs\n*.bin big diff=t\n*.txt text eol=crlf ident\n*.u working-tree-encoding=UTF-16\n";
    yard.write(".gitattributes", attributes);
    yard.write("a.bin", "version https://git-lfs.github.com/spec/v1\n");
    yard.write("a.txt", "unix\ndos\r\n$Id$\n");
    yard.write("a.u", "not utf 16");
    let there = everything(&yard.root);
    let trees = yard.trees();
    let before = record(&trees);
    for name in ["a.bin", "a.txt", "a.u"] {
        yard.write(name, "other\r\n");
    }
    let after = record(&trees);
    trees.show(Some(&before), &after, DiffForm::Patch, false, &mut Vec::new()).unwrap();
    put_back(&trees, &before, "r/1").unwrap();
    assert_eq!(everything(&yard.root), there);
    assert!(!told.exists(), "{}", fs::read_to_string(told).unwrap());
}

#[test]
fn needs_git_the_persons_repository_is_the_same_byte_for_byte() {
    let yard = Yard::repository();
    yard.write("staged", "staged");
    yard.git(".", &["add", "staged"]);
    yard.write("first", "stashed\n");
    yard.git(".", &["stash", "-q"]);
    yard.write("first", "changed\n");
    let before = everything(&yard.root.join(".git"));
    let trees = yard.trees();
    let tree = record(&trees);
    yard.write("first", "again\n");
    trees.record(Some("run/1.0")).unwrap();
    put_back(&trees, &tree, "run/undo").unwrap();
    trees.clear(std::collections::BTreeSet::new).unwrap();
    assert_eq!(everything(&yard.root.join(".git")), before);
    assert_eq!(yard.read("first"), "changed\n");
}

#[test]
fn needs_git_what_cannot_be_read_is_named_and_stops_nothing() {
    let yard = Yard::new();
    yard.write("open", "open");
    yard.write("closed", "known before");
    let trees = yard.trees();
    let before = record(&trees);
    yard.write("closed", "changed and then closed");
    yard.write("folder/in", "x");
    yard.write("open", "changed");
    for name in ["closed", "folder"] {
        fs::set_permissions(yard.root.join(name), PermissionsExt::from_mode(0o000)).unwrap();
    }
    // Nothing is closed to the system's own user.
    let is_closed = fs::read(yard.root.join("closed")).is_err();
    let recorded = trees.record(None).unwrap();
    fs::set_permissions(yard.root.join("folder"), PermissionsExt::from_mode(0o755)).unwrap();
    let names: &[&str] = if is_closed { &["closed", "folder/"] } else { &[] };
    assert_eq!(recorded.unreadable_files, names);
    assert_eq!(recorded.unreadable as usize, names.len());
    let changes = told(&trees.changes(Some(&before), &recorded.tree).unwrap());
    let expected: &[&str] = if is_closed {
        &["~ closed bin bin", "+ folder bin", "~ open 1 1"]
    } else {
        &["~ closed 1 1", "+ folder/in 1", "~ open 1 1"]
    };
    assert_eq!(changes, expected);
}

/// Somebody writes, cuts, removes and makes files again and again while they are read.
#[test]
fn needs_git_files_that_change_while_they_are_read_stop_nothing() {
    let yard = Yard::new();
    // Large enough that git maps it, and small enough that it does not; ten that nobody touches.
    let (large, small) = (vec![b'x'; 300_000], b"short\n".to_vec());
    let restless = ["large", "small", "comes-and-goes"];
    for number in 0..10 {
        yard.write(format!("calm-{number}"), format!("calm {number}\n"));
    }
    let trees = yard.trees();
    let before = record(&trees);
    let over = AtomicBool::new(false);
    let rounds = AtomicU32::new(0);
    let trees_made: Vec<TreeId> = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                fs::write(yard.root.join("large"), &large).unwrap();
                fs::write(yard.root.join("small"), &small).unwrap();
                fs::write(yard.root.join("comes-and-goes"), &large).unwrap();
                fs::File::create(yard.root.join("large")).unwrap();
                fs::File::create(yard.root.join("small")).unwrap();
                fs::remove_file(yard.root.join("comes-and-goes")).unwrap();
                rounds.fetch_add(1, Ordering::Relaxed);
            }
        });
        let made = (0..8).map(|_| trees.record(None).unwrap().tree).collect();
        over.store(true, Ordering::Relaxed);
        made
    });
    assert!(rounds.load(Ordering::Relaxed) > 0, "nobody wrote");
    for tree in &trees_made {
        let changes = trees.changes(Some(&before), tree).unwrap();
        let strange: Vec<_> =
            changes.list.iter().filter(|file| !restless.contains(&file.path.as_str())).collect();
        assert!(strange.is_empty(), "{strange:?}");
    }
    // Once they rest, the tree has them as they are.
    yard.write("large", "large at last\n");
    yard.write("small", "small at last\n");
    let after = record(&trees);
    let changes = trees.changes(Some(&before), &after).unwrap();
    assert_eq!(told(&changes), ["+ large 1", "+ small 1"]);
    yard.write("small", "other\n");
    put_back(&trees, &after, "r/1").unwrap();
    assert_eq!(yard.read("small"), "small at last\n");
}

#[test]
fn needs_git_what_a_killed_git_left_blocks_nobody() {
    let yard = Yard::new();
    yard.write("a", "a");
    let trees = yard.trees();
    let before = record(&trees);
    let left = yard.shadow().join("chronicle");
    for name in ["half-record-77", "half-record-77.lock", "project.index.lock"] {
        fs::write(left.join(name), "half").unwrap();
    }
    yard.write("a", "b");
    let after = record(&trees);
    assert_eq!(told(&trees.changes(Some(&before), &after).unwrap()), ["~ a 1 1"]);
    let mut names: Vec<_> =
        fs::read_dir(&left).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["modes", "project.index", "project.modes", "project.tree"]);

    // Nor does an index or a memory that a full disk cut short.
    fs::write(left.join("project.index"), "DIRC").unwrap();
    assert_eq!(record(&trees), after);
    // Not even one that git would take: it was written by nobody.
    let index = fs::read(left.join("project.index")).unwrap();
    let spoiled: Vec<u8> =
        index.iter().map(|byte| if *byte == b'a' { b'z' } else { *byte }).collect();
    fs::write(left.join("project.index"), spoiled).unwrap();
    assert_eq!(record(&trees), after);
    fs::write(left.join("project.tree"), "nonsense").unwrap();
    assert_eq!(record(&trees), after);
    // Nor one that died while it gave a tree its name, or packed names.
    fs::create_dir_all(yard.shadow().join("refs/runs/r")).unwrap();
    for name in ["refs/runs/r/1.0.lock", "packed-refs.lock"] {
        fs::write(yard.shadow().join(name), "").unwrap();
    }
    assert_eq!(trees.record(Some("r/1.0")).unwrap().tree, after);
    trees.clear(|| std::collections::BTreeSet::from(["r".to_owned()])).unwrap();
    assert!(trees.has(&after));
    fs::remove_dir_all(yard.shadow()).unwrap();
    fs::create_dir_all(yard.root.join(".chronicle/worktrees/trees.git.half/x")).unwrap();
    assert_eq!(record(&yard.trees()), after);
}

/// What somebody put in the place of our repository may be all that they have of it.
#[test]
fn needs_git_a_folder_of_somebody_else_in_its_place_is_named_and_stays() {
    let yard = Yard::new();
    yard.write(".chronicle/trees.git/notes.txt", "mine\n");
    yard.write("file", "one\n");
    let why = Trees::open(&yard.root).map(drop).unwrap_err().to_string();
    assert!(why.contains("trees.git` is a folder with something else in it"), "{why}");
    assert!(why.contains("move it away"), "{why}");
    assert_eq!(yard.read(".chronicle/trees.git/notes.txt"), "mine\n");
    fs::rename(yard.shadow(), yard.root.join(".chronicle/away")).unwrap();
    // An empty one is nobody's.
    fs::create_dir(yard.shadow()).unwrap();
    record(&yard.trees());
}

#[test]
fn needs_git_only_unneeded_trees_are_removed() {
    let yard = Yard::new();
    let trees = yard.trees();
    let blob = |seed: u32| -> Vec<u8> {
        let mut number = seed;
        let next = std::iter::repeat_with(|| {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (number >> 24).to_le_bytes()[0]
        });
        next.take(400_000).collect()
    };
    yard.write("big", blob(1));
    let old = trees.record(Some("old/1.0")).unwrap().tree;
    yard.write("big", blob(2));
    let new = trees.record(Some("new/1.0")).unwrap().tree;
    let stay = std::collections::BTreeSet::from(["new".to_owned()]);
    let room = trees.room(&stay).unwrap();
    assert_eq!(room.runs, ["old"]);
    assert!((380_000..450_000).contains(&room.frees_bytes), "{room:?}");
    let freed = trees.clear(|| stay.clone()).unwrap();
    assert!((380_000..450_000).contains(&freed), "{freed} of {room:?}");
    assert!(trees.has(&new) && !trees.has(&old));
    assert!(matches!(
        trees.changes(Some(&old), &new),
        Err(chronicle_runtime::for_tests::trees::TreesError::Gone(_))
    ));
    assert_eq!(record(&trees), new);
    assert!(trees.room(&stay).unwrap().runs.is_empty());
}
