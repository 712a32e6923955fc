//! Three-way merges of trees, in our repository: no file of the project is read or written.
//!
//! A merge is planned from three trees that do not change, so that it can be planned again at any time. Neither settings nor
//! attributes of the person take part, and no driver of the project runs.
//!
//! What a tree has only a mark for (see `unrecorded.rs`) is never merged: its content is nowhere but in its folder.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use chronicle_core::base::ids::TreeId;
use chronicle_core::event::pool::{ConflictFile, Side};
use chronicle_core::event::trees::Changes;

use super::blobs::InMemory;
use super::diff::{DiffEntry, NO_MODE};
use super::git::is_killed;
use super::names::{Name, parts, shown};
use super::record::removal;
use super::unrecorded::MARK_ID;
use super::{Trees, TreesError};
use crate::process::ToolOutput;

const WHAT: &str = "merge trees";
/// Names of both sides at conflict marks.
const LABELS: [&str; 2] = ["ours: the project", "theirs: the work"];
/// Endings of files that stand beside a folder of the same name.
const BESIDE: [&str; 2] = ["~project", "~work"];
/// Settings of a merge. Folders are not taken to be renamed: a new file stays where it was put.
const SETTINGS: [&str; 4] = [
    "merge.directoryRenames=false",
    "merge.renameLimit=1000",
    "merge.conflictStyle=merge",
    "merge.renormalize=false",
];
/// Conflicts in one file that has the same name on both sides, so that they can be settled file by file.
const SIMPLE: [&str; 3] = ["CONFLICT (contents)", "CONFLICT (binary)", "CONFLICT (modify/delete)"];

/// Without names for the sides, no name of a file ends with one.
const NO_LABELS: [String; 2] = [String::new(), String::new()];

/// What a merge would bring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Planned {
    /// Both sides go together.
    Clean {
        /// The tree of both.
        result: TreeId,
        /// How it differs from ours.
        changes: Changes,
    },
    /// Somebody has to decide.
    Conflict {
        /// Where, and what is the matter.
        files: Vec<ConflictFile>,
        /// The tree of both, with marks at the lines in conflict.
        marked: TreeId,
    },
}

/// What git says of a merge.
struct Merged {
    tree: TreeId,
    /// Files in conflict, each with its mode, content and side: 1 is the base, 2 is ours, 3 is theirs.
    stages: Vec<(Name, u8, Entry)>,
    /// Kinds of what git said, with the files that they are about.
    kinds: Vec<(String, Vec<Name>)>,
    /// How git calls both sides, in marks and names.
    labels: [String; 2],
}

/// Mode and content of a file.
type Entry = (String, String);

/// All that git says of one place.
#[derive(Default)]
struct Place {
    /// The base, ours and theirs.
    sides: [Option<Entry>; 3],
    /// Names that git made up, since a folder or another kind of file is in the place.
    beside: Vec<Name>,
}

impl Trees {
    /// Plans a merge of `theirs` into `ours`, both made from `base`. With a favoured side nothing is left to decide: lines in conflict
    /// are that side's, as is a file that cannot be merged by lines. Only what the step could not record stays in conflict then.
    /// The tree is kept under that name.
    pub fn plan_merge(
        &self,
        base: &TreeId,
        ours: &TreeId,
        theirs: &TreeId,
        favour: Option<Side>,
        keep: &str,
    ) -> Result<Planned, TreesError> {
        // What is written here must not be pruned before it is kept.
        let _lock = self.lock()?;
        self.sweep()?;
        self.attribute()?;
        let (theirs, mut blocked) = self.without_marks(base, ours, theirs)?;
        if favour == Some(Side::Ours) {
            blocked.clear();
        }
        let merged = self.merge(base, ours, &theirs)?;
        let is_hard = |kind: &str| kind.starts_with("CONFLICT") && !SIMPLE.contains(&kind);
        let is_hard = merged.kinds.iter().any(|(kind, _)| is_hard(kind));
        let mut files = blocked;
        let tree = match favour {
            Some(side) if is_hard => self.merge_by_names(base, ours, &theirs, side)?,
            Some(side) if !merged.stages.is_empty() => self.settle_conflicts(&merged, side)?,
            Some(_) => merged.tree.clone(),
            None => {
                files.extend(merged.places().iter().map(|(name, place)| ConflictFile {
                    path: shown(name),
                    what: merged.words(name, place),
                    is_unrecorded: false,
                }));
                self.label(&merged)?
            }
        };
        self.keep(keep, &tree)?;
        self.keep_merged_modes(ours, &theirs, &tree)?;
        if files.is_empty() {
            let changes = self.changes(Some(ours), &tree)?;
            return Ok(Planned::Clean { result: tree, changes });
        }
        files.sort_by(|one, two| one.path.cmp(&two.path));
        files.dedup_by(|one, two| one.path == two.path);
        Ok(Planned::Conflict { files, marked: tree })
    }

    /// Theirs without changes of files whose content is in no tree, and those of these changes that must not be passed over.
    fn without_marks(
        &self,
        base: &TreeId,
        ours: &TreeId,
        theirs: &TreeId,
    ) -> Result<(TreeId, Vec<ConflictFile>), TreesError> {
        let changed = self.entries(base, theirs)?;
        let unknown = self.entries(base, ours)?;
        let unknown = unknown.iter().filter(|entry| entry.is_unrecorded());
        let unknown: BTreeSet<&[u8]> = unknown.map(|entry| entry.name.as_slice()).collect();
        let (mut back, mut blocked) = (Vec::new(), Vec::new());
        for DiffEntry { name, before, after } in &changed {
            let what = if after.1 == MARK_ID {
                "too large to be recorded in the work folder, or unreadable there"
            } else if before.1 == MARK_ID || unknown.contains(name.as_slice()) {
                "too large to be recorded in the project, or unreadable there"
            } else {
                continue;
            };
            back.push(index_line(name, Some(before)));
            // It was never in the step's folder, or its content is the project's own: nothing is to be decided.
            if !(before.1 == MARK_ID && after.0 == NO_MODE) {
                let (path, what) = (shown(name), what.to_owned());
                blocked.push(ConflictFile { path, what, is_unrecorded: true });
            }
        }
        let theirs = if back.is_empty() { theirs.clone() } else { self.edited(theirs, &back)? };
        Ok((theirs, blocked))
    }

    fn merge(&self, base: &TreeId, ours: &TreeId, theirs: &TreeId) -> Result<Merged, TreesError> {
        let labels = [ours.to_string(), theirs.to_string()];
        let ran = self.merge_tree(Some(base.as_str()), labels.each_ref())?;
        if let Some(merged) = merged(&ran, labels) {
            return Ok(merged);
        }
        // An older git takes commits only, and finds their base itself.
        self.merge_commits(base, ours, theirs).map_err(|_| self.git.refused(WHAT, &ran))
    }

    /// The same, by commits that nobody refers to.
    fn merge_commits(
        &self,
        base: &TreeId,
        ours: &TreeId,
        theirs: &TreeId,
    ) -> Result<Merged, TreesError> {
        let below = self.commit(base, None)?;
        let labels = [self.commit(ours, Some(&below))?, self.commit(theirs, Some(&below))?];
        let ran = self.merge_tree(None, labels.each_ref())?;
        merged(&ran, labels).ok_or_else(|| self.git.refused(WHAT, &ran))
    }

    fn merge_tree(
        &self,
        base: Option<&str>,
        sides: [&String; 2],
    ) -> Result<ToolOutput, TreesError> {
        let base = base.map(|base| format!("--merge-base={base}"));
        let how = ["merge-tree", "--write-tree", "-z", "--messages"];
        let sides = sides.map(String::as_str);
        let args: Vec<&str> = how.into_iter().chain(base.as_deref()).chain(sides).collect();
        let settings: Vec<OsString> = SETTINGS.iter().map(OsString::from).collect();
        let call = self.git.call(&self.index(), &settings, &args);
        self.git.check()?;
        let run = || call.clone().run().map_err(|error| self.git.failed(WHAT, error));
        let ran = run()?;
        if is_killed(&ran) { run() } else { Ok(ran) }
    }

    fn commit(&self, tree: &TreeId, parent: Option<&str>) -> Result<String, TreesError> {
        let parent = parent.map(|parent| ["-p", parent]).into_iter().flatten();
        let args: Vec<&str> =
            ["commit-tree", "-m", "merge", tree.as_str()].into_iter().chain(parent).collect();
        let mut call = self.git.call(&self.index(), &[], &args);
        for who in ["AUTHOR", "COMMITTER"] {
            call = call
                .env(&format!("GIT_{who}_NAME"), "chronicle")
                .env(&format!("GIT_{who}_EMAIL"), "chronicle")
                .env(&format!("GIT_{who}_DATE"), "1000000000 +0000");
        }
        let ran = self.git.run(WHAT, call)?;
        Ok(String::from_utf8_lossy(&ran.stdout).trim().to_owned())
    }

    /// A tree with some lines of an index changed.
    fn edited(&self, tree: &TreeId, lines: &[Name]) -> Result<TreeId, TreesError> {
        let index = self.half_index("merge-index");
        self.git.run("read a tree", self.git.call(&index, &[], &["read-tree", tree.as_str()]))?;
        let tree = self.edited_index(&index, lines);
        let _ = fs::remove_file(&index);
        tree
    }

    /// The tree of an index with some lines changed.
    fn edited_index(&self, index: &Path, lines: &[Name]) -> Result<TreeId, TreesError> {
        // A file that comes in the place of a folder replaces it.
        let args = ["update-index", "--replace", "-z", "--index-info"];
        let input = super::names::joined(lines.iter().map(Vec::as_slice));
        self.git.run("note files", self.git.call(index, &[], &args).input(input))?;
        let ran = self.git.run("write a tree", self.git.call(index, &[], &["write-tree"]))?;
        Ok(TreeId::new(String::from_utf8_lossy(&ran.stdout).trim()))
    }

    /// Merges each file with those of the same name only, conflicts as one side has them. One place has then at most one file of each
    /// side, and none of them comes from elsewhere. Git itself always looks for renamed files.
    fn merge_by_names(
        &self,
        base: &TreeId,
        ours: &TreeId,
        theirs: &TreeId,
        side: Side,
    ) -> Result<TreeId, TreesError> {
        let index = self.half_index("merge-names");
        let _ = fs::remove_file(&index);
        let all = [base, ours, theirs].map(TreeId::as_str);
        let how = ["read-tree", "-i", "-m", "--aggressive"];
        let args: Vec<&str> = how.into_iter().chain(all).collect();
        self.git.run(WHAT, self.git.call(&index, &[], &args))?;
        let listed = self.git.call(&index, &[], &["ls-files", "--unmerged", "-z"]);
        let listed = self.git.run(WHAT, listed)?.stdout;
        let stages: Option<Vec<_>> = parts(&listed).map(stage).collect();
        let unread = || TreesError::Git { what: WHAT, why: "it said something else".to_owned() };
        let stages = stages.ok_or_else(unread)?;
        let merged = Merged { tree: ours.clone(), stages, kinds: Vec::new(), labels: NO_LABELS };
        let lines = self.settled(&merged, side)?;
        let tree = self.edited_index(&index, &lines);
        let _ = fs::remove_file(&index);
        tree
    }

    /// Settles every conflict for one side.
    fn settle_conflicts(&self, merged: &Merged, side: Side) -> Result<TreeId, TreesError> {
        self.edited(&merged.tree, &self.settled(merged, side)?)
    }

    /// The lines of an index that settle every conflict.
    fn settled(&self, merged: &Merged, side: Side) -> Result<Vec<Name>, TreesError> {
        let mut lines = Vec::new();
        // What goes makes room for what comes.
        for (name, place) in merged.places() {
            lines.extend(place.beside.iter().map(removal));
            // All its sides, where an index has them.
            lines.push(removal(&name));
            let by_lines = if place.is_text() { self.merge_lines(&place, side)? } else { None };
            let whole = || place.sides[place_of(side)].clone();
            lines.extend(by_lines.or_else(whole).map(|entry| index_line(&name, Some(&entry))));
        }
        lines.sort_by_key(|line| !line.starts_with(b"0 "));
        Ok(lines)
    }

    /// Merges a file by its lines, those in conflict as one side has them; `None` if it is no text.
    fn merge_lines(&self, place: &Place, side: Side) -> Result<Option<Entry>, TreesError> {
        let [base, Some(ours), Some(theirs)] = &place.sides else { return Ok(None) };
        let ids: Vec<&str> = [Some(ours), base.as_ref(), Some(theirs)]
            .into_iter()
            .flatten()
            .map(|it| it.1.as_str())
            .collect();
        let mut contents = self.contents(&ids)?;
        if base.is_none() {
            contents.insert(1, Vec::new());
        }
        let folder = self.half_index("merge-files");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(TreesError::io(&folder))?;
        let files = ["ours", "base", "theirs"].map(|name| folder.join(name));
        for (file, content) in files.iter().zip(&contents) {
            fs::write(file, content).map_err(TreesError::io(file))?;
        }
        let favour = match side {
            Side::Ours => "--ours",
            Side::Theirs => "--theirs",
        };
        let args = ["merge-file", "-p", "-q", favour].map(OsString::from);
        let args: Vec<OsString> = args
            .into_iter()
            .chain(files.iter().map(|file| file.clone().into_os_string()))
            .collect();
        let call = self.git.call(&self.index(), &[], &args);
        let run = || call.clone().run().map_err(|error| self.git.failed(WHAT, error));
        let mut ran = run()?;
        if is_killed(&ran) {
            ran = run()?;
        }
        let _ = fs::remove_dir_all(&folder);
        // It refuses what is no text. All other reasons would be met again when the tree is written.
        if !ran.status.success() {
            return Ok(None);
        }
        let mode = match base {
            Some(base) if base.0 == ours.0 => &theirs.0,
            Some(base) if base.0 == theirs.0 => &ours.0,
            Some(_) | None if side == Side::Ours => &ours.0,
            Some(_) | None => &theirs.0,
        };
        Ok(Some((mode.clone(), self.written(ran.stdout)?)))
    }

    /// Files with our conflict marks in them, among those that differ: somebody has still to resolve them.
    pub fn still_marked(
        &self,
        from: &TreeId,
        to: &TreeId,
    ) -> Result<Vec<ConflictFile>, TreesError> {
        let marks = LABELS.map(|label| format!(" {label}").into_bytes());
        let is_mark = |line: &[u8]| {
            let begins = line.starts_with(b"<<<<<<<") || line.starts_with(b">>>>>>>");
            let rest = line.get(7..).unwrap_or_default();
            begins && marks.iter().any(|mark| rest.starts_with(mark))
        };
        let mut found = Vec::new();
        for entry in self.entries(from, to)? {
            let (mode, id) = &entry.after;
            if !mode.starts_with("100") || id == MARK_ID {
                continue;
            }
            let content = self.contents(&[id.as_str()])?.pop().unwrap_or_default();
            if content.split(|byte| *byte == b'\n').any(is_mark) {
                let what = "still has conflict marks".to_owned();
                let path = shown(&entry.name);
                found.push(ConflictFile { path, what, is_unrecorded: false });
            }
        }
        Ok(found)
    }

    fn contents(&self, ids: &[&str]) -> Result<Vec<Vec<u8>>, TreesError> {
        let mut contents = InMemory::default();
        self.blobs(ids, &mut contents)?.map_err(TreesError::io(&self.git.dir))?;
        let damaged = || TreesError::Damaged {
            path: self.git.dir.clone(),
            what: WHAT,
            why: "a content is missing".to_owned(),
        };
        contents.0.into_iter().map(|content| content.ok_or_else(damaged)).collect()
    }

    /// The id of a content, which is in our repository then.
    fn written(&self, content: Vec<u8>) -> Result<String, TreesError> {
        let call = self.git.call(&self.index(), &[], &["hash-object", "-w", "--stdin"]);
        let ran = self.git.run("write a file", call.input(content))?;
        Ok(String::from_utf8_lossy(&ran.stdout).trim().to_owned())
    }

    /// The tree with conflict marks that name the sides in words, and files beside folders with names that people understand.
    fn label(&self, merged: &Merged) -> Result<TreeId, TreesError> {
        let names: BTreeSet<&Name> = merged.stages.iter().map(|(name, ..)| name).collect();
        if names.is_empty() {
            return Ok(merged.tree.clone());
        }
        let found = self.listed_in(&merged.tree, &names)?;
        let mut lines = Vec::new();
        for (name, (mode, id)) in &found {
            let mut entry = (mode.clone(), id.clone());
            if mode.starts_with("100") && id != MARK_ID {
                let content = self.contents(&[id.as_str()])?.pop().unwrap_or_default();
                if let Some(labelled) = labelled(&content, &merged.labels) {
                    entry.1 = self.written(labelled)?;
                }
            }
            let (stem, beside) = stem(name, &merged.labels);
            let called = beside.map(|side| [stem, BESIDE[side].as_bytes()].concat());
            // One that is taken is somebody's file.
            let called = called.filter(|called| !found.contains_key(called));
            if called.is_some() {
                lines.push(removal(name));
            }
            if called.is_some() || entry.1 != *id {
                lines.push(index_line(called.as_ref().unwrap_or(name), Some(&entry)));
            }
        }
        if lines.is_empty() { Ok(merged.tree.clone()) } else { self.edited(&merged.tree, &lines) }
    }

    /// Files of a tree, with their modes and contents.
    fn listed_in(
        &self,
        tree: &TreeId,
        names: &BTreeSet<&Name>,
    ) -> Result<BTreeMap<Name, Entry>, TreesError> {
        // The whole list: a command line has no room for any number of names.
        let args = ["ls-tree", "-r", "-z", tree.as_str()];
        let ran = self.git.run("list a tree", self.git.call(&self.index(), &[], &args))?;
        let entries = parts(&ran.stdout).filter_map(|line| {
            let at = line.iter().position(|byte| *byte == b'\t')?;
            let name = line[at + 1..].to_vec();
            let mut words = std::str::from_utf8(&line[..at]).ok()?.split(' ');
            let (mode, id) = (words.next()?.to_owned(), words.nth(1)?.to_owned());
            names.contains(&name).then_some((name, (mode, id)))
        });
        Ok(entries.collect())
    }

    /// Modes of ours, with those of theirs for what they bring.
    fn keep_merged_modes(
        &self,
        ours: &TreeId,
        theirs: &TreeId,
        result: &TreeId,
    ) -> Result<(), TreesError> {
        let mut modes = self.modes_of(ours).unwrap_or_default();
        let brought = self.modes_of(theirs).unwrap_or_default();
        for DiffEntry { name, before, after } in self.entries(ours, result)? {
            if after.0 == NO_MODE {
                modes.forget(&name);
            } else if before.0 != after.0 {
                modes.set(&name, brought.of(&name, &after.0));
            }
        }
        self.keep_modes(result, &modes)
    }
}

/// Its place among the sides of a conflict.
fn place_of(side: Side) -> usize {
    match side {
        Side::Ours => 1,
        Side::Theirs => 2,
    }
}

impl Merged {
    /// Everything in conflict, by the place that it is about.
    fn places(&self) -> BTreeMap<Name, Place> {
        let mut places: BTreeMap<Name, Place> = BTreeMap::new();
        for (name, stage, entry) in &self.stages {
            let (stem, beside) = stem(name, &self.labels);
            let place = places.entry(stem.to_owned()).or_default();
            if beside.is_some() && !place.beside.contains(name) {
                place.beside.push(name.clone());
            }
            if let Some(side) = place.sides.get_mut(usize::from(stage.saturating_sub(1))) {
                *side = Some(entry.clone());
            }
        }
        places
    }

    /// What is the matter with a file.
    fn words(&self, name: &Name, place: &Place) -> String {
        let about = self.kinds.iter().filter(|(_, names)| names.contains(name));
        let hard = about.map(|(kind, _)| kind.as_str()).find(|kind| kind.contains("rename"));
        let [base, ours, theirs] = place.sides.each_ref().map(Option::is_some);
        let words = match hard {
            Some("CONFLICT (rename/delete)") => "renamed on one side, deleted on the other",
            Some("CONFLICT (rename/rename)") => "renamed on both sides, to different names",
            Some(_) => "renamed on one side, in the way of a file on the other",
            None if !place.beside.is_empty() => {
                "a file on one side, a folder or a link on the other"
            }
            None if ours && theirs && !place.is_text() => "changed on both sides, and no text",
            None if ours && theirs && base => "changed on both sides, in the same lines",
            None if ours && theirs => "added on both sides, with different content",
            None if ours => "changed in the project, deleted by the work",
            None if theirs => "deleted in the project, changed by the work",
            None => "deleted on both sides, in ways that do not go together",
        };
        words.to_owned()
    }
}

impl Place {
    /// True if it may be merged by lines.
    fn is_text(&self) -> bool {
        let is_file = |it: &Option<Entry>| it.as_ref().is_some_and(|it| it.0.starts_with("100"));
        let [base, ours, theirs] = &self.sides;
        let no_mark = self.sides.iter().flatten().all(|it| it.1 != MARK_ID);
        let is_based = base.is_none() || is_file(base);
        self.beside.is_empty() && is_based && is_file(ours) && is_file(theirs) && no_mark
    }
}

/// Reads what git says of a merge; `None` if it did not merge.
fn merged(ran: &ToolOutput, labels: [String; 2]) -> Option<Merged> {
    if !matches!(ran.status.code(), Some(0 | 1)) {
        return None;
    }
    let mut fields = ran.stdout.split(|byte| *byte == 0);
    let tree = std::str::from_utf8(fields.next()?).ok()?.trim();
    let is_id = tree.len() >= 40 && tree.bytes().all(|byte| byte.is_ascii_hexdigit());
    let tree = is_id.then(|| TreeId::new(tree))?;
    let mut stages = Vec::new();
    // An empty field ends the list of files.
    for line in fields.by_ref().take_while(|line| !line.is_empty()) {
        stages.push(stage(line)?);
    }
    let mut kinds = Vec::new();
    while let Some(count) = fields.next().filter(|count| !count.is_empty()) {
        let count: usize = std::str::from_utf8(count).ok()?.trim().parse().ok()?;
        let names = fields.by_ref().take(count).map(<[u8]>::to_vec).collect();
        let kind = String::from_utf8_lossy(fields.next()?).into_owned();
        // The words for people, which are not stable.
        fields.next();
        kinds.push((kind, names));
    }
    // With conflicts there are files, or nobody could settle them.
    if ran.status.code() == Some(1) && stages.is_empty() {
        return None;
    }
    Some(Merged { tree, stages, kinds, labels })
}

/// `mode id stage TAB name`
fn stage(line: &[u8]) -> Option<(Name, u8, Entry)> {
    let at = line.iter().position(|byte| *byte == b'\t')?;
    let words: Vec<&str> = std::str::from_utf8(&line[..at]).ok()?.split(' ').collect();
    let [mode, id, stage] = words[..] else { return None };
    Some((line[at + 1..].to_vec(), stage.parse().ok()?, (mode.to_owned(), id.to_owned())))
}

/// A name without the ending that git gives to a file in whose place a folder is, and the side that it is of.
fn stem<'n>(name: &'n [u8], labels: &[String; 2]) -> (&'n [u8], Option<usize>) {
    for (side, label) in labels.iter().enumerate().filter(|(_, label)| !label.is_empty()) {
        let mark = format!("~{label}");
        let at = name.windows(mark.len()).rposition(|part| part == mark.as_bytes());
        let Some(at) = at else { continue };
        let rest = &name[at + mark.len()..];
        let is_number = rest.strip_prefix(b"_").is_some_and(|it| it.iter().all(u8::is_ascii_digit));
        if rest.is_empty() || is_number {
            return (&name[..at], Some(side));
        }
    }
    (name, None)
}

/// The content with marks that name the sides in words; `None` if it has no marks of git's.
fn labelled(content: &[u8], labels: &[String; 2]) -> Option<Vec<u8>> {
    let marks = [("<<<<<<< ", 0), (">>>>>>> ", 1)].map(|(mark, side)| {
        (format!("{mark}{}", labels[side]).into_bytes(), format!("{mark}{}", LABELS[side]))
    });
    let (mut text, mut is_marked) = (Vec::with_capacity(content.len()), false);
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        let mark = marks.iter().find(|(theirs, _)| line.starts_with(theirs));
        if let Some((theirs, ours)) = mark {
            is_marked = true;
            text.extend_from_slice(ours.as_bytes());
            // The name of a renamed file follows.
            text.extend_from_slice(&line[theirs.len()..]);
        } else {
            text.extend_from_slice(line);
        }
    }
    is_marked.then_some(text)
}

/// The line that sets a file in an index, or removes it.
fn index_line(name: &[u8], entry: Option<&Entry>) -> Name {
    match entry {
        Some((mode, id)) if mode != NO_MODE => [format!("{mode} {id}\t").as_bytes(), name].concat(),
        Some(_) | None => removal(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An older git knows no `--merge-base` and no trees here.
    #[test]
    fn needs_git_a_merge_by_commits_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let trees = Trees::open(folder.path()).unwrap();
        let tree = |a: &str, b: &str| {
            fs::write(folder.path().join("a"), a).unwrap();
            fs::write(folder.path().join("b"), b).unwrap();
            trees.record(None).unwrap().tree
        };
        let (base, ours) = (tree("1\n", "1\n"), tree("2\n", "1\n"));
        for (theirs, conflicts) in [(tree("1\n", "2\n"), 0), (tree("3\n", "2\n"), 3)] {
            let one = trees.merge(&base, &ours, &theirs).unwrap();
            let two = trees.merge_commits(&base, &ours, &theirs).unwrap();
            assert_eq!(one.stages, two.stages);
            assert_eq!(one.stages.len(), conflicts);
            assert_eq!(trees.label(&one).unwrap(), trees.label(&two).unwrap());
        }
    }
}
