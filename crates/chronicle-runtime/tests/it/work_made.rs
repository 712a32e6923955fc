//! Work folders: made from the project or from a tree, apart from the person's repository, and removed.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use chronicle_core::base::ids::{FolderId, RunId, TreeId};
use chronicle_runtime::for_tests::fail::{Cut, Fate, Point, on_this_thread};
use chronicle_runtime::for_tests::process::Tool;
use chronicle_runtime::for_tests::trees::{Planned, Trees};
use chronicle_runtime::for_tests::work::{self, Leash, Made, WorkError};
use chronicle_runtime::handle::{self, Project, RunFolder};

use crate::trees::{Yard, everything, files};

/// A run of a project, whose work folders are removed at the end.
struct Pool {
    yard: Yard,
    run: RunFolder,
}

impl Drop for Pool {
    fn drop(&mut self) {
        for number in 1..4 {
            let _ = work::drop_folder(&self.run, number);
        }
        let state = self.run.work(1).unwrap();
        let state = state.ancestors().nth(4).unwrap();
        for of in ["runs", "begun"] {
            let _ = fs::remove_file(state.join(of).join(self.run.id.as_str()));
        }
    }
}

impl Pool {
    fn of(yard: Yard) -> Self {
        let run =
            handle::new_run(&Project::at(&yard.root), RunId::new(handle::new_run_id())).unwrap();
        Self { yard, run }
    }

    /// A repository with an ignored file, and edits that are not committed.
    fn repository() -> Self {
        let yard = Yard::repository();
        yard.write(".gitignore", ".env\nnode_modules/\nkept.log\n");
        yard.write("kept.log", "tracked though ignored\n");
        yard.git(".", &["add", "-f", "kept.log"]);
        yard.commit(".");
        yard.write("first", "edited\n");
        yard.write("untracked", "new\n");
        yard.write(".env", "secret\n");
        Self::of(yard)
    }

    fn make(&self, from: Option<&TreeId>, carry: &[&str]) -> Result<Made, WorkError> {
        let carry: Vec<String> = carry.iter().map(|glob| (*glob).to_owned()).collect();
        work::make(&self.run, 1, from, &carry, &Leash::default())
    }

    fn folder(&self) -> PathBuf {
        self.run.path_of(FolderId::Work(1)).unwrap()
    }

    fn project(&self) -> Trees {
        Trees::open_for(&self.run, FolderId::Project).unwrap()
    }

    fn work(&self) -> Trees {
        Trees::open_for(&self.run, FolderId::Work(1)).unwrap()
    }

    fn git(&self, args: &[&str]) -> String {
        self.try_git(args).unwrap()
    }

    fn try_git(&self, args: &[&str]) -> Result<String, String> {
        let who = ["-c", "user.name=bob", "-c", "user.email=bob@example.org"];
        let line = ["git"].into_iter().chain(who).chain(args.iter().copied());
        let ran = Tool::new(line, &self.folder()).run().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        if ran.status.success() { Ok(said) } else { Err(ran.stderr) }
    }
}

/// All that the person's repository is made of.
fn repository(yard: &Yard) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    everything(&yard.root.join(".git"))
}

#[test]
fn needs_git_a_work_folder_has_the_files_as_they_are_and_a_repository_of_its_own() {
    let pool = Pool::repository();
    let before = repository(&pool.yard);
    assert!(pool.run.path_of(FolderId::Work(1)).is_err());
    let made = pool.make(None, &[]).unwrap();
    assert_eq!(made.plain, None);
    let folder = pool.folder();
    assert_eq!(Some(&folder), pool.run.work(1).as_ref());
    assert!(folder.ends_with(format!("{}/w1/project", pool.run.id)));
    assert_eq!(fs::read_to_string(folder.join("first")).unwrap(), "edited\n");
    assert_eq!(fs::read_to_string(folder.join("untracked")).unwrap(), "new\n");
    assert!(!folder.join(".env").exists());
    for above in folder.ancestors().take(3) {
        assert_eq!(fs::metadata(above).unwrap().mode() & 0o777, 0o700, "{}", above.display());
    }
    // The same commit and branch, and the same things not committed.
    let head = pool.yard.git(".", &["rev-parse", "HEAD", "--symbolic-full-name", "HEAD"]);
    assert_eq!(pool.git(&["rev-parse", "HEAD", "--symbolic-full-name", "HEAD"]), head);
    assert_eq!(pool.git(&["status", "--porcelain"]), " M first\n?? .chronicle/\n?? untracked\n");
    assert_eq!(pool.git(&["log", "--format=%s"]), "all\nall\n");
    assert_eq!(pool.git(&["remote"]), "");
    // What a worker does with git stays in its folder.
    pool.git(&["stash"]);
    pool.git(&["checkout", "-qb", "other"]);
    pool.git(&["commit", "-qm", "empty", "--allow-empty"]);
    pool.git(&["config", "core.fsmonitor", "true"]);
    assert!(pool.try_git(&["push", "origin", "other"]).is_err());
    assert_eq!(repository(&pool.yard), before);
}

#[test]
fn needs_git_a_work_folder_that_is_there_is_left_as_it_is_and_one_that_is_gone_is_made_again() {
    let pool = Pool::repository();
    let made = pool.make(None, &[]).unwrap();
    fs::write(pool.folder().join("first"), "by the worker\n").unwrap();
    pool.yard.write("first", "by the person\n");
    assert_eq!(pool.make(None, &[]).unwrap(), made);
    assert_eq!(fs::read_to_string(pool.folder().join("first")).unwrap(), "by the worker\n");
    let last = pool.work().record(Some("run/last")).unwrap().tree;
    work::drop_folder(&pool.run, 1).unwrap();
    assert!(pool.run.path_of(FolderId::Work(1)).is_err());
    work::drop_folder(&pool.run, 1).unwrap();
    assert_eq!(pool.make(Some(&last), &[]).unwrap().tree, last);
    assert_eq!(fs::read_to_string(pool.folder().join("first")).unwrap(), "by the worker\n");
    // Without its files, it is made again; what is not ours is not touched.
    fs::remove_dir_all(pool.folder()).unwrap();
    assert_eq!(pool.make(Some(&last), &[]).unwrap().tree, last);
    let made = pool.folder().with_file_name("made");
    fs::remove_file(&made).unwrap();
    assert!(matches!(pool.make(None, &[]), Err(WorkError::InTheWay(_))));
    assert!(pool.run.work(1).unwrap().join("first").exists());
}

#[test]
fn needs_git_what_a_worker_does_is_recorded_and_merged() {
    let pool = Pool::repository();
    let base = pool.make(None, &[".env"]).unwrap().tree;
    let work = pool.work();
    // Nothing was done: what is tracked though it is ignored is not taken for removed.
    assert_eq!(work.record(None).unwrap().tree, base);
    let folder = pool.folder();
    fs::write(folder.join("by-worker"), "new\n").unwrap();
    fs::write(folder.join("kept.log"), "changed by the worker\n").unwrap();
    fs::write(folder.join(".env"), "changed by the worker\n").unwrap();
    pool.yard.write("by-person", "new\n");
    let theirs = work.record(Some("run/theirs")).unwrap().tree;
    let project = pool.project();
    let ours = project.record(Some("run/ours")).unwrap().tree;
    let planned = project.plan_merge(&base, &ours, &theirs, None, "run/merged").unwrap();
    let Planned::Clean { result, changes } = planned else { panic!("{planned:?}") };
    assert_eq!(changes.files, 2);
    let staging = pool.yard.root.join(".chronicle/merge/1.0");
    let written = work::write(&pool.yard.root, &staging, &ours, &result, &project).unwrap();
    assert_eq!((written.files, written.late, written.error), (2, vec![], None));
    assert_eq!(pool.yard.read("kept.log"), "changed by the worker\n");
    assert_eq!(pool.yard.read(".env"), "secret\n");
    assert_eq!(pool.yard.read("by-person"), "new\n");
    // The indexes of both folders do not meet; without one, the next tree is the same.
    assert_eq!(pool.work().record(None).unwrap().tree, theirs);
    for entry in fs::read_dir(pool.yard.root.join(".chronicle/trees.git/chronicle")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "index") {
            fs::remove_file(path).unwrap();
        }
    }
    assert_eq!(pool.work().record(None).unwrap().tree, theirs);
    assert_eq!(pool.project().record(None).unwrap().tree, result);
    let named = files(&project, &result);
    assert!(named.iter().all(|name| !name.starts_with(".chronicle/merge")), "{named:?}");
}

#[test]
fn needs_git_files_that_are_ignored_come_along_if_they_are_named() {
    let pool = Pool::repository();
    let at = |name: &str| pool.yard.root.join(name);
    pool.yard.write("node_modules/a/index.js", "js\n");
    pool.yard.write("node_modules/a/run", "sh\n");
    fs::set_permissions(at("node_modules/a/run"), PermissionsExt::from_mode(0o755)).unwrap();
    symlink("../a/run", at("node_modules/link")).unwrap();
    symlink("/etc", at("node_modules/out")).unwrap();
    fs::set_permissions(at("node_modules/a"), PermissionsExt::from_mode(0o555)).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, at("node_modules/pipe"), 0o600.into()).unwrap();
    pool.make(None, &["node_modules", ".e*"]).unwrap();
    let there = |name: &str| pool.folder().join(name);
    assert_eq!(fs::read_to_string(there(".env")).unwrap(), "secret\n");
    assert_eq!(fs::read_to_string(there("node_modules/a/index.js")).unwrap(), "js\n");
    let (one, two) = ("node_modules/a/run", fs::metadata(there("node_modules/a/run")).unwrap());
    let one = fs::metadata(at(one)).unwrap();
    assert_eq!((one.mode(), one.mtime_nsec()), (two.mode(), two.mtime_nsec()));
    assert_ne!(one.ino(), two.ino());
    assert_eq!(fs::read_link(there("node_modules/link")).unwrap(), Path::new("../a/run"));
    assert_eq!(fs::read_link(there("node_modules/out")).unwrap(), Path::new("/etc"));
    assert!(!there("node_modules/pipe").exists());
    for glob in ["../x", "/etc", ".git/config", "[a]"] {
        assert!(matches!(pool.make(None, &[glob]), Err(WorkError::Carry { .. })), "{glob}");
    }
    // A worker cannot make its folder stay.
    fs::set_permissions(there("node_modules"), PermissionsExt::from_mode(0o000)).unwrap();
    work::drop_folder(&pool.run, 1).unwrap();
    assert!(at("node_modules/a/run").exists() && Path::new("/etc/passwd").exists());
    fs::set_permissions(at("node_modules/a"), PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn needs_git_every_kind_of_repository_is_handled() {
    // None at all.
    let pool = Pool::of(Yard::new());
    pool.yard.write("a", "a\n");
    assert_eq!(pool.make(None, &[]).unwrap().plain, None);
    assert!(pool.folder().join("a").exists() && !pool.folder().join(".git").exists());
    // Without a commit.
    let pool = Pool::of(Yard::new());
    pool.yard.git(".", &["init", "-q", "-b", "trunk"]);
    pool.yard.write("a", "a\n");
    assert_eq!(pool.make(None, &[]).unwrap().plain, None);
    assert_eq!(pool.git(&["symbolic-ref", "HEAD"]), "refs/heads/trunk\n");
    assert_eq!(pool.git(&["status", "--porcelain"]), "?? .chronicle/\n?? a\n");
    // On no branch, shallow, and from a worktree of another repository.
    let pool = Pool::repository();
    let away = pool.yard.root.with_file_name("away");
    let away = away.to_str().unwrap();
    pool.yard.git(".", &["worktree", "add", "-q", "--detach", away]);
    let other = Pool::of(Yard::new());
    fs::remove_dir_all(&other.yard.root).unwrap();
    let url = format!("file://{}", pool.yard.root.display());
    let root = other.yard.root.to_str().unwrap();
    pool.yard.git(".", &["clone", "-q", "--depth", "1", &url, root]);
    other.yard.git(".", &["checkout", "-q", "--detach"]);
    let other = Pool {
        run: handle::new_run(&Project::at(&other.yard.root), RunId::new(handle::new_run_id()))
            .unwrap(),
        yard: Yard::new(),
    };
    assert_eq!(other.make(None, &[]).unwrap().plain, None);
    assert_eq!(other.git(&["log", "--format=%s"]), "all\n");
    assert!(other.try_git(&["symbolic-ref", "-q", "HEAD"]).is_err());
    // Its remote is the person's own.
    let origin = pool.yard.root.canonicalize().unwrap();
    assert_eq!(other.git(&["remote", "get-url", "origin"]).trim(), origin.to_str().unwrap());
    let tree = Project::at(away);
    let tree = Pool {
        run: handle::new_run(&tree, RunId::new(handle::new_run_id())).unwrap(),
        yard: Yard::new(),
    };
    assert_eq!(tree.make(None, &[]).unwrap().plain, None);
    assert_eq!(tree.git(&["log", "--format=%s"]), "all\nall\n");
    assert_eq!(tree.git(&["worktree", "list"]).lines().count(), 1);
}

/// A word of what is told, and what makes the project so.
type Case = (&'static str, fn(&Yard));

#[test]
fn needs_git_what_cannot_be_borrowed_from_is_copied_and_told() {
    let cases: [Case; 4] = [
        ("partial clone", |yard| {
            yard.git(".", &["config", "remote.origin.promisor", "true"]);
        }),
        ("submodules", |yard| yard.write(".gitmodules", "[submodule \"x\"]\n")),
        ("sparse checkout", |yard| {
            yard.git(".", &["config", "core.sparseCheckout", "true"]);
        }),
        ("submodules", |yard| {
            let commit = yard.git(".", &["rev-parse", "HEAD"]);
            let info = format!("160000,{},module", commit.trim());
            yard.git(".", &["update-index", "--add", "--cacheinfo", &info]);
        }),
    ];
    for (word, prepare) in cases {
        let pool = Pool::repository();
        prepare(&pool.yard);
        let plain = pool.make(None, &[]).unwrap().plain.unwrap();
        assert!(plain.contains(word), "{plain}");
        assert_eq!(pool.make(None, &[]).unwrap().plain.as_ref(), Some(&plain));
        assert!(!pool.folder().join(".git").exists());
        assert_eq!(fs::read_to_string(pool.folder().join("first")).unwrap(), "edited\n");
    }
    let yard = Yard::repository();
    yard.write("inner/a", "a\n");
    let inner = Project::at(yard.root.join("inner"));
    let run = handle::new_run(&inner, RunId::new(handle::new_run_id())).unwrap();
    let pool = Pool { yard, run };
    assert!(pool.make(None, &[]).unwrap().plain.unwrap().contains("inside a repository"));
    assert!(pool.folder().join("a").exists());
}

#[test]
fn needs_git_nothing_that_is_planted_in_the_project_runs() {
    let pool = Pool::repository();
    let ran = pool.yard.root.with_file_name("ran");
    let evil = format!("touch {}", ran.display());
    let hook = |name: &str| {
        pool.yard.write(format!(".git/hooks/{name}"), format!("#!/bin/sh\n{evil}\n"));
        let path = pool.yard.root.join(".git/hooks").join(name);
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    };
    ["post-checkout", "post-index-change", "reference-transaction"].into_iter().for_each(hook);
    pool.yard.write(".gitattributes", "* filter=evil diff=evil merge=evil\n");
    for (name, value) in [
        ("core.fsmonitor", evil.as_str()),
        ("filter.evil.smudge", &evil),
        ("filter.evil.clean", &evil),
        ("filter.evil.process", &evil),
        ("diff.evil.textconv", &evil),
        ("merge.evil.driver", &evil),
        ("core.sshCommand", &evil),
        ("core.alternateRefsCommand", &evil),
        ("uploadpack.packObjectsHook", &evil),
        ("init.templateDir", "/tmp"),
        ("remote.origin.url", "ext::sh -c evil"),
    ] {
        pool.yard.git(".", &["config", name, value]);
    }
    let config = fs::read(pool.yard.root.join(".git/config")).unwrap();
    let _ = fs::remove_file(&ran);
    pool.make(None, &[]).unwrap();
    pool.work().record(None).unwrap();
    assert!(!ran.exists());
    assert_eq!(fs::read(pool.yard.root.join(".git/config")).unwrap(), config);
    let ours = fs::read_to_string(pool.folder().join(".git/config")).unwrap();
    assert!(!ours.contains("touch") && !ours.contains("ext::"), "{ours}");
    assert!(!pool.folder().join(".git/hooks").exists());
}

#[test]
fn needs_git_a_file_that_is_too_large_for_a_tree_is_there_and_stays_the_persons() {
    let pool = Pool::repository();
    let big = vec![b'x'; 60_000_000];
    pool.yard.write("big", &big);
    let made = pool.make(None, &[]).unwrap();
    assert_eq!(fs::metadata(pool.folder().join("big")).unwrap().len(), 60_000_000);
    assert_eq!(pool.work().record(None).unwrap().tree, made.tree);
}

struct AtOnce;

impl Fate for AtOnce {
    fn is_end(&self, point: Point) -> bool {
        point == Point::InWork
    }

    fn cut(&self) -> Cut {
        Cut::Half
    }

    fn end(&self, _: Point) -> ! {
        resume_unwind(Box::new(()))
    }
}

#[test]
fn needs_git_a_half_made_one_is_never_used_and_goes() {
    let pool = Pool::repository();
    {
        let _armed = on_this_thread(Rc::new(AtOnce));
        assert!(catch_unwind(AssertUnwindSafe(|| pool.make(None, &[]))).is_err());
    }
    assert!(pool.run.path_of(FolderId::Work(1)).is_err());
    let works = pool.run.work(1).unwrap();
    let works = works.ancestors().nth(2).unwrap();
    let names = || -> Vec<String> {
        let entries = fs::read_dir(works).unwrap();
        let mut names: Vec<String> =
            entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert!(names().iter().any(|name| name.starts_with("w1.new-")), "{:?}", names());
    pool.make(None, &[]).unwrap();
    assert_eq!(names(), ["project", "w1"]);
    // Whoever clears up knows it by its run.
    let ours = |over: bool| {
        let mut left = work::leftovers(|_| over);
        left.retain(|it| it.run == pool.run.id);
        left
    };
    assert_eq!(ours(false), []);
    let left = ours(true);
    assert_eq!((left.len(), left[0].number), (1, 1));
    assert!(left[0].bytes > 0 && left[0].path.ends_with("w1"));
    fs::remove_dir_all(&pool.run.path).unwrap();
    assert_eq!(ours(false), left);
    work::remove(&left[0]).unwrap();
    assert!(!works.exists() && ours(true).is_empty());
}
