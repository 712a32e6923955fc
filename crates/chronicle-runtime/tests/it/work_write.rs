//! What a merge brings into a folder where people and programs work at the same time.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use chronicle_core::base::ids::TreeId;
use chronicle_runtime::for_tests::fail::{Cut, Fate, Point, on_this_thread};
use chronicle_runtime::for_tests::process::Tool;
use chronicle_runtime::for_tests::trees::{FilesWritten, Planned, Trees};
use chronicle_runtime::for_tests::work;

use crate::trees::{Yard, everything, files, record};

/// A project, and a tree that is to be brought into it.
struct Merge {
    yard: Yard,
    trees: Trees,
    from: TreeId,
    to: TreeId,
}

impl Merge {
    /// `change` makes the second state out of the first.
    fn new(first: impl Fn(&Yard), change: impl Fn(&Yard)) -> Self {
        let yard = Yard::new();
        first(&yard);
        let trees = yard.trees();
        let from = record(&trees);
        change(&yard);
        let to = trees.record(Some("run/to")).unwrap().tree;
        // The files as they were at first.
        let restored = trees.restore(&to, &from, "run/back").unwrap();
        assert!(restored.kept.is_empty() && restored.edited.is_empty(), "{restored:?}");
        Self { yard, trees, from, to }
    }

    /// All kinds of changes: a line, a new file in a new folder, one that goes with its folder, a program, links, a file for a folder
    /// and the other way round.
    fn of_all_kinds() -> Self {
        let first = |yard: &Yard| {
            yard.write("changed", "one\n");
            yard.write("old/deep/gone", "gone\n");
            yard.write("stays", "stays\n");
            yard.write("tool", "tool\n");
            yard.write("file", "was a file\n");
            yard.write("prog", "#!/bin/sh\n");
            fs::set_permissions(yard.root.join("prog"), PermissionsExt::from_mode(0o755)).unwrap();
            yard.write("folder/in", "was in a folder\n");
            symlink("stays", yard.root.join("link")).unwrap();
        };
        let change = |yard: &Yard| {
            let at = |name: &str| yard.root.join(name);
            yard.write("changed", "two\n");
            yard.write("new/deep/come", "come\n");
            fs::remove_dir_all(at("old")).unwrap();
            fs::set_permissions(at("tool"), PermissionsExt::from_mode(0o755)).unwrap();
            yard.write("prog", "#!/bin/sh\nexit 1\n");
            yard.write("new/prog", "#!/bin/sh\n");
            fs::set_permissions(at("new/prog"), PermissionsExt::from_mode(0o755)).unwrap();
            fs::remove_file(at("file")).unwrap();
            yard.write("file/in", "is in a folder now\n");
            fs::remove_dir_all(at("folder")).unwrap();
            yard.write("folder", "is a file now\n");
            fs::remove_file(at("link")).unwrap();
            symlink("changed", at("link")).unwrap();
            symlink("nowhere", at("new/link")).unwrap();
        };
        Self::new(first, change)
    }

    fn staging(&self) -> PathBuf {
        self.yard.root.join(".chronicle/merge/7.0")
    }

    fn write(&self) -> FilesWritten {
        self.write_from(&self.from)
    }

    fn write_from(&self, from: &TreeId) -> FilesWritten {
        work::write(&self.yard.root, &self.staging(), from, &self.to, &self.trees).unwrap()
    }

    fn now(&self) -> TreeId {
        self.trees.record(Some("run/now")).unwrap().tree
    }

    fn is_clear(&self) -> bool {
        let left = fs::read_dir(self.staging().parent().unwrap());
        left.map_or(0, Iterator::count) == 0
    }

    /// Plans and writes until nothing is left to do, as a run does. Returns the number of rounds.
    fn finish(&self) -> usize {
        for round in 1..=5 {
            let ours = self.now();
            let planned =
                self.trees.plan_merge(&self.from, &ours, &self.to, None, "run/m").unwrap();
            let Planned::Clean { result, .. } = planned else { panic!("{planned:?}") };
            let staging = self.staging().with_file_name(format!("{round}.9"));
            let written =
                work::write(&self.yard.root, &staging, &ours, &result, &self.trees).unwrap();
            assert_eq!(written.error, None);
            if written.late.is_empty() {
                assert_eq!(self.now(), result);
                return round;
            }
        }
        panic!("it does not come to an end");
    }
}

/// What happens at the nth hit of a point.
type Act = (Point, u64, Box<dyn Fn()>);

/// Dies at the nth hit of a point, or does something else there.
struct Mortal {
    death: Option<(Point, u64)>,
    act: Option<Act>,
    hits: RefCell<BTreeMap<Point, u64>>,
}

struct Died;

impl Fate for Mortal {
    fn is_end(&self, point: Point) -> bool {
        let count = {
            let mut hits = self.hits.borrow_mut();
            let count = hits.entry(point).or_default();
            *count += 1;
            *count
        };
        if let Some((at, nth, act)) = &self.act
            && (*at, *nth) == (point, count)
        {
            act();
        }
        self.death == Some((point, count))
    }

    fn cut(&self) -> Cut {
        Cut::Half
    }

    fn end(&self, _: Point) -> ! {
        resume_unwind(Box::new(Died))
    }
}

fn with_fate<T>(
    death: Option<(Point, u64)>,
    act: Option<Act>,
    body: impl FnOnce() -> T,
) -> Option<T> {
    let _armed = on_this_thread(Rc::new(Mortal { death, act, hits: RefCell::default() }));
    catch_unwind(AssertUnwindSafe(body)).ok()
}

const POINTS: [Point; 5] = [
    Point::BeforeMergeStage,
    Point::BeforeMergeWrite,
    Point::InMergeWrite,
    Point::InMergeSwap,
    Point::BeforeMergeEnd,
];

#[test]
fn needs_git_all_kinds_of_changes_are_brought_and_nothing_else_is_touched() {
    let merge = Merge::of_all_kinds();
    let before = fs::metadata(merge.yard.root.join("stays")).unwrap();
    fs::create_dir(merge.yard.root.join("empty")).unwrap();
    let written = merge.write();
    assert_eq!((written.late, written.error), (vec![], None));
    assert_eq!(written.files, 12);
    assert_eq!(merge.now(), merge.to);
    let after = fs::metadata(merge.yard.root.join("stays")).unwrap();
    assert_eq!((before.ino(), before.ctime_nsec()), (after.ino(), after.ctime_nsec()));
    assert!(!merge.yard.root.join("old").exists() && merge.yard.root.join("empty").exists());
    assert!(merge.is_clear());
    // Once more: all is as it shall be.
    assert_eq!(merge.write().files, 12);
}

#[test]
fn needs_git_an_edit_between_plan_and_write_stays_and_is_told() {
    let merge = Merge::of_all_kinds();
    merge.yard.write("changed", "by a person\n");
    merge.yard.write("old/deep/gone", "by a person\n");
    merge.yard.write("new/deep/come", "by a person\n");
    let mut written = merge.write();
    written.late.sort();
    assert_eq!(written.late, ["changed", "new/deep/come", "old/deep/gone"]);
    for name in &written.late {
        assert_eq!(merge.yard.read(name), "by a person\n");
    }
    // Nothing of it comes before all of it can come.
    assert_eq!((written.files, merge.yard.read("file").as_str()), (0, "was a file\n"));
    assert_eq!(merge.yard.read("stays"), "stays\n");
    assert!(merge.is_clear() && !merge.yard.root.join("new/link").is_symlink());
}

#[test]
fn needs_git_with_something_in_the_way_all_stays_as_it_was() {
    let merge = Merge::new(
        |yard| {
            yard.write("d/one", "one\n");
            yard.write("d/deep/two", "two\n");
        },
        |yard| {
            fs::remove_dir_all(yard.root.join("d")).unwrap();
            yard.write("d", "is a file now\n");
            yard.write("new", "new\n");
        },
    );
    merge.yard.write(".git/info/exclude", "*.log\n");
    merge.yard.write("d/deep/my.log", "private\n");
    let written = merge.write();
    assert_eq!((written.files, written.late.as_slice()), (0, &["d".to_owned()][..]));
    assert_eq!(merge.yard.read("d/one"), "one\n");
    assert!(!merge.yard.root.join("new").exists() && merge.is_clear());
    fs::remove_file(merge.yard.root.join("d/deep/my.log")).unwrap();
    let written = merge.write();
    assert_eq!((written.files, written.late.len()), (4, 0));
    assert_eq!(merge.yard.read("d"), "is a file now\n");
}

/// An edit that comes while the files are written.
fn edits_in_the_middle(merge: &Merge) -> Act {
    let root = merge.yard.root.clone();
    // Some files have been brought by then; this one comes late.
    let act = move || fs::write(root.join("tool"), "by a person\n").unwrap();
    (Point::InMergeWrite, 4, Box::new(act))
}

#[test]
fn needs_git_what_was_brought_before_an_edit_in_the_middle_is_taken_back() {
    let merge = Merge::of_all_kinds();
    let before = everything(&merge.yard.root);
    let act = Some(edits_in_the_middle(&merge));
    let written = with_fate(None, act, || merge.write()).unwrap();
    assert_eq!((written.files, written.late.as_slice()), (0, &["tool".to_owned()][..]));
    assert_eq!(merge.yard.read("tool"), "by a person\n");
    fs::write(merge.yard.root.join("tool"), "tool\n").unwrap();
    assert_eq!(everything(&merge.yard.root), before);
    assert!(merge.is_clear());
    // The next round has the edit.
    merge.yard.write("stays", "by a person\n");
    assert_eq!(merge.finish(), 1);
    assert_eq!(merge.yard.read("stays"), "by a person\n");
}

#[test]
fn needs_git_a_death_while_it_is_taken_back_loses_nothing() {
    let mut died = 0;
    for point in POINTS {
        for nth in 1..=16 {
            let merge = Merge::of_all_kinds();
            let act = Some(edits_in_the_middle(&merge));
            if with_fate(Some((point, nth)), act, || merge.write()).is_some() {
                break;
            }
            died += 1;
            let is_edited = merge.yard.read("tool") == "by a person\n";
            // The same write again, as whoever resumes does: with the edit it is taken back as a whole.
            let again = merge.write();
            if is_edited {
                assert_eq!(
                    (again.files, again.late.as_slice()),
                    (0, &["tool".to_owned()][..]),
                    "{point:?} {nth}"
                );
                assert_eq!(merge.yard.read("tool"), "by a person\n");
                fs::write(merge.yard.root.join("tool"), "tool\n").unwrap();
                assert_eq!(merge.now(), merge.from, "{point:?} {nth}");
            }
            merge.finish();
            assert_eq!(merge.now(), merge.to, "{point:?} {nth}");
            assert!(merge.is_clear(), "{point:?} {nth}");
        }
    }
    assert!(died > 12, "{died}");
}

#[test]
fn needs_git_a_file_in_the_place_of_a_link_has_the_permissions_of_its_tree() {
    let merge = Merge::new(
        |yard| symlink("nowhere", yard.root.join("a")).unwrap(),
        |yard| {
            fs::remove_file(yard.root.join("a")).unwrap();
            yard.write("a", "file\n");
            fs::set_permissions(yard.root.join("a"), PermissionsExt::from_mode(0o644)).unwrap();
        },
    );
    assert_eq!(merge.write().files, 1);
    assert_eq!(fs::metadata(merge.yard.root.join("a")).unwrap().mode() & 0o777, 0o644);
}

#[test]
fn needs_git_an_edit_in_the_moment_of_the_exchange_goes_back() {
    // The first exchange is of a file that goes, to make room; the next ones of files that change.
    for nth in 1..=7 {
        let merge = Merge::of_all_kinds();
        let root = merge.yard.root.clone();
        let swapped = Rc::new(RefCell::new(false));
        let (staging, told) = (merge.staging(), Rc::clone(&swapped));
        // As if somebody had written right before the exchange: what came out is something else.
        let act = move || {
            for number in 0..20 {
                let path = staging.join(number.to_string());
                let is_old = fs::symlink_metadata(&path).is_ok_and(|it| it.is_file())
                    && fs::read_to_string(&path).is_ok_and(|it| it == "one\n" || it == "gone\n");
                if is_old {
                    fs::write(path, "by a person\n").unwrap();
                    *told.borrow_mut() = true;
                }
            }
        };
        let act: Option<Act> = Some((Point::InMergeSwap, nth, Box::new(act)));
        let written = with_fate(None, act, || merge.write()).unwrap();
        if *swapped.borrow() && written.late.len() == 1 {
            let text = fs::read_to_string(root.join(&written.late[0])).unwrap();
            assert_eq!(text, "by a person\n", "{nth}");
            assert!(merge.is_clear());
            return;
        }
    }
    panic!("no exchange was met");
}

#[test]
fn needs_git_a_death_anywhere_loses_nothing_and_the_merge_is_finished_then() {
    let mut died = 0;
    for point in POINTS {
        for nth in 1..=12 {
            let merge = Merge::of_all_kinds();
            if with_fate(Some((point, nth)), None, || merge.write()).is_some() {
                assert!(nth > 1, "{point:?} is never met");
                break;
            }
            died += 1;
            // Another file is a person's since.
            merge.yard.write("mine", "by a person\n");
            merge.finish();
            assert_eq!(merge.yard.read("mine"), "by a person\n");
            fs::remove_file(merge.yard.root.join("mine")).unwrap();
            assert_eq!(merge.now(), merge.to, "{point:?} {nth}");
            assert!(merge.is_clear(), "{point:?} {nth}");
            for name in ["prog", "new/prog", "tool"] {
                let found = fs::symlink_metadata(merge.yard.root.join(name)).unwrap();
                assert_eq!(found.permissions().mode() & 0o755, 0o755, "{name} {point:?} {nth}");
            }
        }
    }
    assert!(died > 12, "{died}");
}

#[test]
fn needs_git_an_edit_that_a_death_left_beside_comes_back() {
    let old = |text: &str| text == "one\n" || text == "gone\n" || text == "was a file\n";
    let mut back = 0;
    for nth in 1..=7 {
        let merge = Merge::of_all_kinds();
        if with_fate(Some((Point::InMergeSwap, nth)), None, || merge.write()).is_some() {
            break;
        }
        // What came out at the moment of the death was a person's edit, and nobody has looked at it.
        let mut edited = 0;
        for entry in fs::read_dir(merge.staging()).unwrap() {
            let path = entry.unwrap().path();
            let is_file = fs::symlink_metadata(&path).unwrap().is_file();
            if is_file && fs::read_to_string(&path).is_ok_and(|text| old(&text)) {
                fs::write(&path, format!("by a person {}\n", path.display())).unwrap();
                edited += 1;
            }
        }
        let ours = merge.now();
        let staging = merge.staging().with_file_name("8.0");
        let written =
            work::write(&merge.yard.root, &staging, &ours, &merge.to, &merge.trees).unwrap();
        let texts: Vec<String> = everything(&merge.yard.root)
            .into_values()
            .map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned())
            .filter(|text| text.starts_with("by a person"))
            .collect();
        let kept = fs::read_dir(merge.staging().parent().unwrap()).unwrap().count();
        // In its place, or beside with words about it; never gone.
        assert!(texts.len() == edited || kept > 0 && written.error.is_some(), "{nth}: {written:?}");
        back += texts.len();
    }
    assert!(back >= 2, "{back}");
}

#[test]
fn needs_git_a_link_in_the_place_of_a_folder_is_not_followed() {
    let merge = Merge::new(
        |yard| yard.write("d/a", "one\n"),
        |yard| {
            yard.write("d/a", "two\n");
            yard.write("d/b", "new\n");
        },
    );
    let outside = merge.yard.root.with_file_name("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a"), "one\n").unwrap();
    fs::remove_dir_all(merge.yard.root.join("d")).unwrap();
    symlink(&outside, merge.yard.root.join("d")).unwrap();
    let written = merge.write();
    assert_eq!(written.late, ["d/a", "d/b"]);
    assert_eq!(fs::read_to_string(outside.join("a")).unwrap(), "one\n");
    assert!(!outside.join("b").exists());
}

#[test]
fn needs_git_an_ignored_file_in_the_way_of_a_new_one_stays() {
    let merge = Merge::new(|yard| yard.write("a", "a\n"), |yard| yard.write("d/.env", "new\n"));
    merge.yard.write(".gitignore", ".env\n");
    merge.yard.write("d/.env", "secret\n");
    let written = merge.write();
    assert_eq!(written.late, ["d/.env"]);
    assert_eq!(merge.yard.read("d/.env"), "secret\n");
    // A folder with something in it does not make room for a file either.
    let merge = Merge::new(
        |yard| yard.write("f/in", "in\n"),
        |yard| {
            fs::remove_dir_all(yard.root.join("f")).unwrap();
            yard.write("f", "file\n");
        },
    );
    merge.yard.write("f/mine", "mine\n");
    assert_eq!(merge.write().late, ["f"]);
    assert_eq!(merge.yard.read("f/mine"), "mine\n");
}

#[test]
fn needs_git_permissions_that_a_person_gave_stay() {
    let merge =
        Merge::new(|yard| yard.write("secret", "one\n"), |yard| yard.write("secret", "two\n"));
    let path = merge.yard.root.join("secret");
    fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    assert_eq!(merge.write().files, 1);
    assert_eq!(fs::metadata(path).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn needs_git_the_folders_of_a_merge_are_in_no_tree() {
    let yard = Yard::new();
    yard.write("a", "a\n");
    for folder in ["runs", "trees.git", "merge", "worktrees"] {
        yard.write(format!(".chronicle/{folder}/x/y"), "ours\n");
    }
    fs::remove_dir_all(yard.root.join(".chronicle/trees.git")).unwrap();
    let trees = yard.trees();
    assert_eq!(files(&trees, &record(&trees)), ["a"]);
}

#[test]
fn needs_git_the_cost_is_that_of_what_changes() {
    const ALL: usize = 20_000;
    let merge = Merge::new(
        |yard| {
            for number in 0..ALL {
                yard.write(format!("d{}/f{number}", number % 200), format!("{number}\n"));
            }
        },
        |yard| yard.write("d7/f7", "changed\n"),
    );
    let state = |root: &Path| -> BTreeMap<PathBuf, (u64, i64, i64)> {
        let names = everything(root).into_keys();
        names
            .map(|name| {
                let meta = fs::symlink_metadata(root.join(&name)).unwrap();
                (name, (meta.ino(), meta.ctime(), meta.ctime_nsec()))
            })
            .collect()
    };
    let before = state(&merge.yard.root);
    assert_eq!(merge.write().list, ["d7/f7"]);
    let after = state(&merge.yard.root);
    let touched: Vec<&PathBuf> =
        before.iter().filter(|(name, it)| after.get(*name) != Some(it)).map(|it| it.0).collect();
    assert_eq!(touched, [Path::new("d7"), Path::new("d7/f7")]);
}

/// A small disk that is full: nothing in the folder changes.
#[test]
fn needs_git_a_full_disk_is_met_before_the_first_file_changes() {
    let merge = Merge::new(
        |yard| yard.write("a", "one\n"),
        |yard| {
            yard.write("a", "two\n");
            yard.write("big", vec![b'x'; 3_000_000]);
        },
    );
    let disk = merge.yard.root.join(".chronicle/merge");
    fs::create_dir_all(&disk).unwrap();
    let mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none"];
    let mount = Tool::new(
        mount.into_iter().map(Into::into).chain([disk.clone().into_os_string()]),
        Path::new("/"),
    );
    if !mount.run().is_ok_and(|ran| ran.status.success()) {
        skipped();
        return;
    }
    let failed =
        work::write(&merge.yard.root, &merge.staging(), &merge.from, &merge.to, &merge.trees);
    let unmount =
        Tool::new([std::ffi::OsString::from("umount"), disk.into_os_string()], Path::new("/"));
    assert!(unmount.run().unwrap().status.success());
    let told = failed.unwrap_err().told();
    assert!(told.contains("No space left"), "{told}");
    assert_eq!(merge.yard.read("a"), "one\n");
    assert!(!merge.yard.root.join("big").exists());
    // With room again it is done, whatever a killed one left.
    fs::create_dir_all(merge.staging()).unwrap();
    fs::write(merge.staging().join("begun"), "").unwrap();
    fs::write(merge.staging().join("0"), "half a fi").unwrap();
    assert_eq!(merge.write().files, 2);
    assert_eq!(merge.now(), merge.to);
    assert!(merge.is_clear());
}

#[expect(clippy::print_stderr, reason = "nobody is to believe that it was shown")]
fn skipped() {
    eprintln!("SKIPPED: a full disk was not tried, since this user may not mount one");
}
