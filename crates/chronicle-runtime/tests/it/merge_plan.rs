//! Merges of trees by the real git, compared with what git itself does in a repository of its own.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use chronicle_core::base::ids::TreeId;
use chronicle_core::event::pool::Side;
use chronicle_runtime::for_tests::process::Tool;
use chronicle_runtime::for_tests::trees::{Planned, Trees};
use chronicle_runtime::for_tests::work;

use crate::trees::{Yard, everything, record};

const KEEP: &str = "run/merge";

/// The files of a tree, each with its content.
fn contents(yard: &Yard, tree: &TreeId) -> BTreeMap<String, String> {
    let git = ["--git-dir", ".chronicle/trees.git"];
    let listed =
        yard.git(".", &[&git[..], &["ls-tree", "-r", "--name-only", tree.as_str()]].concat());
    let content = |name: &str| {
        let object = format!("{tree}:{name}");
        (name.to_owned(), yard.git(".", &[&git[..], &["cat-file", "-p", &object]].concat()))
    };
    listed.lines().map(content).collect()
}

/// Removes all files but ours.
fn empty(yard: &Yard) {
    for entry in fs::read_dir(&yard.root).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with(".chronicle") {
            continue;
        }
        if fs::symlink_metadata(&path).unwrap().is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }
}

fn tree(yard: &Yard, trees: &Trees, files: &[(&str, &str)]) -> TreeId {
    empty(yard);
    for (name, text) in files {
        yard.write(name, text);
    }
    record(trees)
}

struct Three {
    yard: Yard,
    trees: Trees,
    base: TreeId,
    ours: TreeId,
    theirs: TreeId,
}

impl Three {
    fn new(base: &[(&str, &str)], ours: &[(&str, &str)], theirs: &[(&str, &str)]) -> Self {
        let yard = Yard::new();
        let trees = yard.trees();
        let [base, ours, theirs] = [base, ours, theirs].map(|files| tree(&yard, &trees, files));
        Self { yard, trees, base, ours, theirs }
    }

    fn plan(&self, favour: Option<Side>) -> Planned {
        self.trees.plan_merge(&self.base, &self.ours, &self.theirs, favour, KEEP).unwrap()
    }

    fn clean(&self, favour: Option<Side>) -> BTreeMap<String, String> {
        let Planned::Clean { result, .. } = self.plan(favour) else { panic!("a conflict") };
        contents(&self.yard, &result)
    }

    fn conflicts(&self) -> (Vec<(String, String)>, BTreeMap<String, String>) {
        let Planned::Conflict { files, marked } = self.plan(None) else { panic!("no conflict") };
        let files = files.into_iter().map(|file| (file.path, file.what)).collect();
        (files, contents(&self.yard, &marked))
    }
}

fn map(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

fn lines(edit: &[(usize, &str)]) -> String {
    let mut lines: Vec<String> = (1..=20).map(|line| format!("line {line}\n")).collect();
    for (at, text) in edit {
        lines[*at - 1] = format!("{text}\n");
    }
    lines.concat()
}

#[test]
fn needs_git_edits_of_different_lines_and_files_go_together() {
    let (old, one) = (lines(&[]), lines(&[(2, "ours")]));
    let (two, both) = (lines(&[(18, "theirs")]), lines(&[(2, "ours"), (18, "theirs")]));
    let three = Three::new(
        &[("a", &old), ("gone", "g\n"), ("same", "s\n")],
        &[("a", &one), ("gone", "g\n"), ("same", "s\n"), ("mine", "m\n")],
        &[("a", &two), ("same", "s\n"), ("new/x", "n\n")],
    );
    assert_eq!(
        three.clean(None),
        map(&[("a", &both), ("same", "s\n"), ("mine", "m\n"), ("new/x", "n\n")])
    );
    let Planned::Clean { result, changes } = three.plan(None) else { panic!() };
    assert_eq!(changes.files, 3);
    // What is merged already merges cleanly again.
    let again = three.trees.plan_merge(&three.base, &result, &three.theirs, None, KEEP).unwrap();
    assert!(
        matches!(again, Planned::Clean { result: it, changes } if it == result && changes.files == 0)
    );
}

#[test]
fn needs_git_a_renamed_file_takes_the_edits_of_the_other_side_along() {
    let (old, one) = (lines(&[]), lines(&[(2, "ours")]));
    let three = Three::new(&[("a", &old)], &[("a", &one)], &[("b", &old)]);
    assert_eq!(three.clean(None), map(&[("b", &one)]));
    assert_eq!(three.clean(Some(Side::Ours)), map(&[("b", &one)]));
}

#[test]
fn needs_git_lines_in_conflict_are_marked_with_the_names_of_the_sides() {
    let three = Three::new(&[("a", "1\n")], &[("a", "2\n")], &[("a", "3\n")]);
    let (files, marked) = three.conflicts();
    let what = "changed on both sides, in the same lines";
    assert_eq!(files, [("a".to_owned(), what.to_owned())]);
    let text = "<<<<<<< ours: the project\n2\n=======\n3\n>>>>>>> theirs: the work\n";
    assert_eq!(marked, map(&[("a", text)]));
}

#[test]
fn needs_git_a_favoured_side_has_only_the_lines_in_conflict() {
    let old = lines(&[]);
    let one = lines(&[(2, "ours"), (10, "ours")]);
    let two = lines(&[(10, "theirs"), (18, "theirs")]);
    let three = Three::new(&[("a", &old)], &[("a", &one)], &[("a", &two), ("new", "n\n")]);
    for (side, name) in [(Side::Ours, "ours"), (Side::Theirs, "theirs")] {
        let both = lines(&[(2, "ours"), (10, name), (18, "theirs")]);
        assert_eq!(three.clean(Some(side)), map(&[("a", &both), ("new", "n\n")]));
    }
}

#[test]
fn needs_git_what_one_side_removed_and_the_other_changed_is_a_favoured_sides() {
    let three = Three::new(
        &[("a", "1\n"), ("b", "1\n"), ("c", "1\n")],
        &[("a", "2\n"), ("c", "1\n"), ("mine", "m\n")],
        &[("b", "2\n"), ("c", "3\n")],
    );
    let (files, _) = three.conflicts();
    let words = [
        "changed in the project, deleted by the work",
        "deleted in the project, changed by the work",
    ];
    assert_eq!(
        files,
        [("a".to_owned(), words[0].to_owned()), ("b".to_owned(), words[1].to_owned())]
    );
    assert_eq!(three.clean(Some(Side::Ours)), map(&[("a", "2\n"), ("c", "3\n"), ("mine", "m\n")]));
    assert_eq!(
        three.clean(Some(Side::Theirs)),
        map(&[("b", "2\n"), ("c", "3\n"), ("mine", "m\n")])
    );
}

#[test]
fn needs_git_a_file_against_a_folder_is_a_favoured_sides_as_a_whole() {
    let three = Three::new(
        &[("k", "k\n")],
        &[("k", "k\n"), ("d", "file\n"), ("mine", "m\n")],
        &[("k", "K\n"), ("d/x", "x\n"), ("d/y", "y\n")],
    );
    let (files, marked) = three.conflicts();
    assert_eq!(files[0].0, "d");
    assert_eq!(marked["d~project"], "file\n");
    let ours = map(&[("k", "K\n"), ("d", "file\n"), ("mine", "m\n")]);
    assert_eq!(three.clean(Some(Side::Ours)), ours);
    let theirs = map(&[("k", "K\n"), ("d/x", "x\n"), ("d/y", "y\n"), ("mine", "m\n")]);
    assert_eq!(three.clean(Some(Side::Theirs)), theirs);
}

#[test]
fn needs_git_no_file_is_lost_when_both_sides_rename() {
    let old = lines(&[]);
    let (one, two) = (lines(&[(2, "ours")]), lines(&[(18, "theirs")]));
    let three = Three::new(&[("a", &old)], &[("b", &one)], &[("c", &two)]);
    let (files, _) = three.conflicts();
    assert!(files.iter().any(|(_, what)| what.contains("renamed on both sides")), "{files:?}");
    for side in [Side::Ours, Side::Theirs] {
        let result = three.clean(Some(side));
        assert_eq!(result, map(&[("b", &one), ("c", &two)]));
    }
}

#[test]
fn needs_git_what_is_no_text_is_a_favoured_sides_as_a_whole() {
    let three = Three::new(&[("a", "\0one")], &[("a", "\0two")], &[("a", "\0three")]);
    assert_eq!(three.conflicts().0.len(), 1);
    assert_eq!(three.clean(Some(Side::Ours)), map(&[("a", "\0two")]));
    assert_eq!(three.clean(Some(Side::Theirs)), map(&[("a", "\0three")]));
}

#[test]
fn needs_git_a_driver_of_the_project_does_not_run_and_its_attributes_do_not_count() {
    let rules = "a merge=evil\nb merge=union conflict-marker-size=20\n";
    let three = Three::new(
        &[(".gitattributes", rules), ("a", "1\n"), ("b", "1\n")],
        &[(".gitattributes", rules), ("a", "2\n"), ("b", "2\n")],
        &[(".gitattributes", rules), ("a", "3\n"), ("b", "3\n")],
    );
    let ran = three.yard.root.join("ran");
    let evil = format!("[merge \"evil\"]\n\tdriver = touch {}\n", ran.display());
    let config = three.yard.root.join(".chronicle/trees.git/config");
    let before = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{before}{evil}")).unwrap();
    let (files, marked) = three.conflicts();
    assert_eq!(files.len(), 2);
    assert!(marked["b"].starts_with("<<<<<<< ours"), "{}", marked["b"]);
    assert!(!ran.exists());
}

#[test]
fn needs_git_a_program_and_a_link_stay_what_they_are() {
    let three = Three::new(&[("a", "1\n"), ("l", "x")], &[("a", "1\n"), ("l", "x")], &[]);
    let yard = &three.yard;
    yard.write("a", "1\n");
    fs::set_permissions(yard.root.join("a"), PermissionsExt::from_mode(0o755)).unwrap();
    symlink("a", yard.root.join("l")).unwrap();
    let theirs = record(&three.trees);
    let planned = three.trees.plan_merge(&three.base, &three.ours, &theirs, None, KEEP).unwrap();
    assert!(matches!(planned, Planned::Clean { result, .. } if result == theirs));
}

#[test]
fn needs_git_what_is_in_no_tree_is_never_merged() {
    let three = Three::new(&[], &[], &[]);
    let yard = &three.yard;
    let trees = yard.trees().up_to(10);
    let big = "a text of more than ten bytes\n";
    let base = tree(yard, &trees, &[("big", big), ("a", "1\n")]);
    let without = tree(yard, &trees, &[("a", "2\n")]);
    let plan =
        |theirs: &TreeId, favour| trees.plan_merge(&base, &base, theirs, favour, KEEP).unwrap();
    // It was not in the step's folder: nobody removed it.
    let Planned::Clean { changes, .. } = plan(&without, None) else { panic!() };
    let changed: Vec<&str> = changes.list.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(changed, ["a"]);
    // Its new content would replace one that is nowhere else.
    let small = tree(yard, &trees, &[("big", "small\n"), ("a", "1\n")]);
    let new = tree(yard, &trees, &[("big", big), ("a", "1\n"), ("huge", big)]);
    for (theirs, name) in [(small, "big"), (new, "huge")] {
        for favour in [None, Some(Side::Theirs)] {
            let Planned::Conflict { files, .. } = plan(&theirs, favour) else { panic!() };
            assert_eq!(files[0].path, name);
        }
        assert!(
            matches!(plan(&theirs, Some(Side::Ours)), Planned::Clean { result, .. } if result == base)
        );
    }
}

/// Numbers from a seed, the same everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        // The constants of Knuth's generator; its upper bits are used.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }
}

type Files = BTreeMap<String, String>;

const CASES: u64 = 240;

/// The files of one case, in a folder of its own. No line is in two cases, so that no file is taken for one of another.
fn first(dice: &mut Dice, case: u64) -> Files {
    let name = |number: usize| {
        let folder = if number.is_multiple_of(2) { "d/" } else { "" };
        format!("c{case}/{folder}f{number}")
    };
    let text = |dice: &mut Dice, number: usize| {
        let lines = (0..3 + dice.below(12)).map(|line| format!("{case} {number} {line}\n"));
        lines.collect::<Vec<_>>().concat()
    };
    (0..4).map(|number| (name(number), text(dice, number))).collect()
}

/// A few edits: lines changed, added and removed, files added and removed.
fn edit(dice: &mut Dice, files: &Files, case: u64, who: &str) -> Files {
    let mut files = files.clone();
    for _ in 0..=dice.below(4) {
        let names: Vec<String> = files.keys().cloned().collect();
        let name = names[dice.below(names.len())].clone();
        let mut lines: Vec<String> =
            files[&name].split_inclusive('\n').map(str::to_owned).collect();
        let at = dice.below(lines.len().max(1));
        match dice.below(8) {
            0..=3 if !lines.is_empty() => lines[at] = format!("{case} {who} {}\n", dice.below(3)),
            4 => lines.insert(at, format!("{case} {who} new\n")),
            5 if lines.len() > 1 => drop(lines.remove(at)),
            6 => {
                let new = format!("c{case}/n{}", dice.below(3));
                files.insert(new, format!("{case} new by {who}\n"));
                continue;
            }
            7 if names.len() > 2 => {
                files.remove(&name);
                continue;
            }
            _ => continue,
        }
        files.insert(name, lines.concat());
    }
    files
}

/// What `git merge` makes of three trees: the contents of all clean files, and the names of the others.
fn by_git(yard: &Yard, three: &[TreeId; 3], option: &[&str]) -> (Files, BTreeSet<String>) {
    let scratch = yard.root.with_file_name("scratch");
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir(&scratch).unwrap();
    let try_git = |args: &[&str]| {
        let who = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"];
        let how = ["-c", "merge.directoryRenames=false", "-c", "merge.renameLimit=1000"];
        let line = ["git"].into_iter().chain(who).chain(how).chain(args.iter().copied());
        Tool::new(line, &scratch).run().unwrap()
    };
    let git = |args: &[&str]| {
        let ran = try_git(args);
        assert!(ran.status.success(), "{args:?}: {}", ran.stderr);
        String::from_utf8(ran.stdout).unwrap()
    };
    git(&["init", "-q", "-b", "x"]);
    let objects = yard.root.join(".chronicle/trees.git/objects");
    fs::write(scratch.join(".git/objects/info/alternates"), format!("{}\n", objects.display()))
        .unwrap();
    let base = git(&["commit-tree", "-m", "b", three[0].as_str()]);
    let [ours, theirs] = [&three[1], &three[2]]
        .map(|tree| git(&["commit-tree", "-m", "x", "-p", base.trim(), tree.as_str()]));
    git(&["checkout", "-q", "--detach", ours.trim()]);
    try_git(&[&["merge", "-q", "-m", "m", "-s", "ort"], option, &[theirs.trim()]].concat());
    let open = git(&["ls-files", "--unmerged"]);
    let open = open.lines().map(|line| line.split_once('\t').unwrap().1.to_owned()).collect();
    let listed = git(&["ls-files"]);
    let clean = listed.lines().filter(|name| !BTreeSet::contains(&open, *name));
    let read = |name: &str| fs::read_to_string(scratch.join(name)).unwrap();
    (clean.map(|name| (name.to_owned(), read(name))).collect(), open)
}

/// All files of a tree, put into a folder.
fn put(yard: &Yard, trees: &Trees, tree: &TreeId) -> Files {
    empty(yard);
    let none = record(trees);
    let staging = yard.root.join(".chronicle/merge/put");
    let written = work::write(&yard.root, &staging, &none, tree, trees).unwrap();
    assert_eq!((written.error, written.late), (None, vec![]));
    let all = everything(&yard.root).into_iter();
    let files = all.filter(|(_, (mode, _))| mode & 0o170_000 == 0o100_000);
    let text = |(name, (_, bytes)): (PathBuf, (u32, Vec<u8>))| {
        (name.to_str().unwrap().to_owned(), String::from_utf8(bytes).unwrap())
    };
    files.map(text).collect()
}

/// Many merges, as git itself does them: clean or not, and line by line for a favoured side.
#[test]
fn needs_git_random_merges_are_those_of_git() {
    let mut all = [Files::new(), Files::new(), Files::new()];
    for case in 0..CASES {
        let mut dice = Dice(case * 7_919 + 1);
        let base = first(&mut dice, case);
        let sides = ["ours", "theirs"].map(|who| edit(&mut dice, &base, case, who));
        let [ours, theirs] = sides;
        for (all, files) in all.iter_mut().zip([base, ours, theirs]) {
            all.extend(files);
        }
    }
    let yard = Yard::new();
    let trees = yard.trees();
    let three = all.each_ref().map(|files| {
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        tree(&yard, &trees, &files)
    });
    let plan = |favour| trees.plan_merge(&three[0], &three[1], &three[2], favour, KEEP).unwrap();
    let (clean, open) = by_git(&yard, &three, &[]);
    let Planned::Conflict { files, marked } = plan(None) else { panic!("no conflict") };
    assert_eq!(files.into_iter().map(|file| file.path).collect::<BTreeSet<_>>(), open);
    let mut merged = put(&yard, &trees, &marked);
    merged.retain(|name, _| !open.contains(name));
    assert_eq!(merged, clean);
    let in_conflict: BTreeSet<&str> =
        open.iter().filter_map(|name| name.split('/').next()).collect();
    assert!(in_conflict.len() > 60 && in_conflict.len() < 180, "{}", in_conflict.len());
    for (side, option) in [(Side::Ours, "-Xours"), (Side::Theirs, "-Xtheirs")] {
        let Planned::Clean { result, .. } = plan(Some(side)) else { panic!("a conflict") };
        let (clean, open) = by_git(&yard, &three, &[option]);
        let merged = put(&yard, &trees, &result);
        let favoured = &all[if side == Side::Ours { 1 } else { 2 }];
        // What one side removed and the other changed git leaves to a person.
        for name in &open {
            assert_eq!(merged.get(name), favoured.get(name), "{name}");
        }
        let merged: Files = merged.into_iter().filter(|(name, _)| !open.contains(name)).collect();
        assert_eq!(merged, clean, "{option}");
    }
}
