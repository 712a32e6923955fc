//! Trees of a run: which are awaited, and which are the base of later comparisons.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Attempt, Facts, Impossible};
use crate::base::ids::{AttemptId, Cause, FolderId, FramePath, Place, SHELL, TreeId};
use crate::event::trees::{
    Changes, ForbiddenChange, Moment, RepositoryHead, Restored, TREE_FILES_MAX, TreeRecorded,
    UndoStarted,
};
use crate::event::{AttemptStarted, Why};

/// The trees that something still depends on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunTrees {
    /// Per recorded folder; the project's own is read with `project`.
    #[serde(with = "by_folder")]
    folders: BTreeMap<FolderId, FolderTrees>,
    /// Attempts that start once the files are recorded.
    pub before: BTreeMap<AttemptId, Cause>,
    /// The tree before each attempt that is not finished.
    pub known: BTreeMap<AttemptId, TreeId>,
    /// Ended attempts with their places: nothing follows there until the files are recorded.
    pub after: BTreeMap<AttemptId, (Cause, Place)>,
    /// Attempts under which their folder was removed, until their files would have been recorded.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    lost: BTreeSet<AttemptId>,
}

/// Trees of one folder.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FolderTrees {
    /// The last tree and its line.
    pub last: Option<(TreeId, u64)>,
    /// A restore in progress.
    pub undo: Option<Undo>,
    /// Why the last tree could not be recorded.
    pub missed: Option<String>,
    /// Changes during or after attempts that are not known to be theirs.
    #[serde(default, skip_serializing_if = "Changes::is_none")]
    pub unclear: Changes,
    /// Changes that the rules forbid, with the attempt that left them, until they are undone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbidden: Vec<(AttemptId, ForbiddenChange)>,
    /// Those that were undone, each with the line of its undo: whoever takes that back brings them back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    undone: Vec<(u64, AttemptId, ForbiddenChange)>,
    /// Head of the person's repository at the last tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<RepositoryHead>,
}

impl FolderTrees {
    /// Keeps what an attempt changed against the rules; what it changed once more is its own now.
    fn forbid(&mut self, attempt: AttemptId, found: &[ForbiddenChange]) {
        self.forbidden.retain(|(_, old)| !found.iter().any(|new| new.path == old.path));
        self.forbidden.extend(found.iter().map(|change| (attempt, change.clone())));
        self.forbidden.truncate(TREE_FILES_MAX);
    }

    /// What the rules forbid and the restore in progress may bring back, since it takes back the undo of it.
    pub fn comes_back(&self) -> impl Iterator<Item = &ForbiddenChange> {
        let since = self.undo.as_ref().and_then(|undo| undo.back);
        let is_meant = move |line: u64| since.is_some_and(|since| line >= since);
        self.undone.iter().filter(move |(line, ..)| is_meant(*line)).map(|(_, _, change)| change)
    }

    /// A restore has ended: what the rules forbid in these files is gone, or there again.
    fn restore(&mut self, undo: &Undo, is_restored: impl Fn(&ForbiddenChange) -> bool) {
        let (gone, stay): (Vec<_>, Vec<_>) = std::mem::take(&mut self.forbidden)
            .into_iter()
            .partition(|(_, change)| is_restored(change));
        self.forbidden = stay;
        let Some(since) = undo.back else {
            let line = undo.cause.seq;
            self.undone.extend(gone.into_iter().map(|(attempt, change)| (line, attempt, change)));
            // The oldest go first: what was undone last is the likeliest to be taken back.
            let over = self.undone.len().saturating_sub(TREE_FILES_MAX);
            self.undone.drain(..over);
            return;
        };
        let (back, stay): (Vec<_>, Vec<_>) = std::mem::take(&mut self.undone)
            .into_iter()
            .partition(|(line, _, change)| *line >= since && is_restored(change));
        self.undone = stay;
        for (_, attempt, change) in back {
            // Of several undos of one file the first is what the files are brought back to.
            if !self.forbidden.iter().any(|(_, known)| known.path == change.path) {
                self.forbidden.push((attempt, change));
            }
        }
    }
}

/// Stands for a folder without any trees.
static UNKNOWN: FolderTrees = FolderTrees {
    last: None,
    undo: None,
    missed: None,
    unclear: Changes { files: 0, added: 0, removed: 0, list: Vec::new() },
    forbidden: Vec::new(),
    undone: Vec::new(),
    head: None,
};

/// JSON map keys must be strings, which a folder id is not.
mod by_folder {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{FolderId, FolderTrees};

    type Folders = BTreeMap<FolderId, FolderTrees>;

    pub(super) fn serialize<S: Serializer>(folders: &Folders, to: S) -> Result<S::Ok, S::Error> {
        folders.iter().collect::<Vec<_>>().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Folders, D::Error> {
        Ok(Vec::<(FolderId, FolderTrees)>::deserialize(from)?.into_iter().collect())
    }
}

/// A restore in progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// The event that made it due.
    pub cause: Cause,
    /// Whose work is undone, as the person named it.
    pub what: String,
    /// The files as they were found: later differences were made by somebody else.
    pub from: TreeId,
    /// The files as they should be.
    pub to: TreeId,
    /// The line of the undo that is taken back, with every later one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<u64>,
}

impl RunTrees {
    /// What is known of a folder.
    pub fn folder(&self, id: FolderId) -> &FolderTrees {
        self.folders.get(&id).unwrap_or(&UNKNOWN)
    }

    /// What is known of the project's own folder.
    pub fn project(&self) -> &FolderTrees {
        self.folder(FolderId::Project)
    }

    /// The restore in progress, and its folder.
    pub fn undo(&self) -> Option<(FolderId, &Undo)> {
        self.folders.iter().find_map(|(id, of)| Some((*id, of.undo.as_ref()?)))
    }

    fn folder_mut(&mut self, id: FolderId) -> &mut FolderTrees {
        self.folders.entry(id).or_default()
    }

    /// The project was as recorded last, and a merge made other files of it.
    pub(super) fn merged(&mut self, ours: &TreeId, result: TreeId) {
        let project = self.folders.get_mut(&FolderId::Project);
        if let Some((last, _)) = project.and_then(|project| project.last.as_mut())
            && last == ours
        {
            *last = result;
        }
    }

    /// Drops what is known of a folder that is gone.
    pub(super) fn forget(&mut self, id: FolderId) {
        self.folders.remove(&id);
    }

    /// True if nothing may follow in that frame before the files are recorded.
    pub fn is_awaited_at(&self, frame: &FramePath) -> bool {
        self.after.values().any(|(_, place)| place.frame() == *frame)
    }

    /// True if this tree is awaited.
    pub fn is_awaited(&self, moment: Moment) -> bool {
        match moment {
            Moment::Before(attempt) => self.before.contains_key(&attempt),
            Moment::After(attempt) => self.after.contains_key(&attempt),
            // A person may ask for one at any time, but not while files are put back: it would show them half-way.
            Moment::Undo => self.undo().is_none(),
        }
    }

    /// True if files are being recorded after an attempt, or restored.
    pub fn is_busy(&self) -> bool {
        !self.after.is_empty() || self.undo().is_some()
    }

    /// The tree that a new one is compared with: the attempt's own, otherwise the folder's last.
    pub fn base(&self, folder: FolderId, moment: Moment) -> Option<&TreeId> {
        let own = match moment {
            Moment::After(attempt) => self.known.get(&attempt),
            Moment::Before(_) | Moment::Undo => None,
        };
        own.or_else(|| self.folder(folder).last.as_ref().map(|(tree, _)| tree))
    }

    /// If nothing happened since the last tree, the new attempt uses it too.
    pub(super) fn begin(&mut self, cause: Cause, intent: &AttemptStarted) {
        if !intent.recorded {
            return;
        }
        match &self.folder(intent.folder).last {
            // Recorded in the very line that starts this attempt: nothing can have happened in between, so no second tree is
            // needed.
            Some((tree, seq)) if *seq == cause.seq => {
                let tree = tree.clone();
                self.known.insert(intent.attempt, tree);
            }
            Some(_) | None => {
                self.before.insert(intent.attempt, cause);
            }
        }
    }

    /// What was recorded before an attempt that waits is not what it finds when it begins.
    pub(super) fn begin_again(&mut self, cause: Cause, intent: &AttemptStarted) {
        if intent.recorded {
            self.known.remove(&intent.attempt);
            self.before.insert(intent.attempt, cause);
        }
    }

    /// An attempt that never started has nothing to record.
    pub(super) fn end(&mut self, cause: Cause, intent: &AttemptStarted) {
        // An attempt that ended before its first tree was recorded has changed nothing.
        let never_began = self.before.remove(&intent.attempt).is_some();
        if intent.recorded && !never_began {
            // With its place, since the frame must wait there and the attempt itself may be dropped meanwhile.
            self.after.insert(intent.attempt, (cause, intent.place.clone()));
        }
    }

    /// A folder is gone: so is what these attempts changed in it.
    pub(super) fn lose(&mut self, attempts: impl IntoIterator<Item = AttemptId>) {
        // Nobody begins before the files are recorded.
        let began = attempts.into_iter().filter(|attempt| !self.before.contains_key(attempt));
        self.lost.extend(began.collect::<Vec<_>>());
    }

    fn settle(&mut self, moment: Moment) -> Option<Place> {
        match moment {
            Moment::Before(attempt) => {
                // If nothing was recorded, the attempt has no tree of its own. It is then compared with the last one of its
                // folder.
                self.before.remove(&attempt);
                None
            }
            Moment::After(attempt) => {
                self.known.remove(&attempt);
                self.after.remove(&attempt).map(|(_, place)| place)
            }
            Moment::Undo => None,
        }
    }
}

impl Facts {
    /// True if a tree is due: an attempt waits for it, or has ended and its changes are not recorded yet.
    pub fn is_recording(&self) -> bool {
        let waits = |id: &AttemptId| self.attempt(*id).is_some_and(Attempt::awaits_room);
        !self.trees.after.is_empty() || self.trees.before.keys().any(|id| !waits(id))
    }

    /// File changes of an attempt; `None` until they are recorded, or if they could not be.
    pub fn changes_of(&self, attempt: AttemptId) -> Option<&Changes> {
        self.attempt(attempt)?.changes.as_deref()
    }

    /// File changes of all attempts at a place, over all visits; `None` if none are known.
    pub fn changes_at(&self, place: &Place) -> Option<&Changes> {
        self.tally(place).map(|tally| &tally.changes).filter(|changes| !changes.is_none())
    }

    /// The folder of a tree: where its attempt works. People restore the project's own files.
    pub fn folder_of(&self, moment: Moment) -> FolderId {
        match moment {
            Moment::Before(attempt) | Moment::After(attempt) => {
                self.attempt(attempt).map_or(FolderId::Project, |it| it.intent.folder)
            }
            Moment::Undo => FolderId::Project,
        }
    }

    pub(super) fn begin_undo(&mut self, cause: Cause, undo: &UndoStarted) {
        let UndoStarted { what, folder, from, to, back } = undo.clone();
        if folder.is_project() {
            self.make_merges_stale();
        }
        self.trees.folder_mut(folder).undo = Some(Undo { cause, what, from, to, back });
    }

    pub(super) fn end_undo(&mut self, restored: &Restored) {
        let folder = restored.folder;
        // Of many restored files the list names only the first: then any of them may be among the others.
        let is_whole = usize::try_from(restored.files).is_ok_and(|all| all <= restored.list.len());
        let is_restored =
            |change: &ForbiddenChange| !is_whole || restored.list.contains(&change.path);
        let of = self.trees.folder_mut(folder);
        match of.undo.take() {
            Some(undo) => of.restore(&undo, is_restored),
            None => self.impossible(Impossible::Undo(folder)),
        }
    }

    pub(super) fn record_tree(&mut self, cause: Cause, recorded: &TreeRecorded) {
        let place = self.trees.settle(recorded.moment);
        self.settle_lost(recorded.moment, place.as_ref(), !recorded.changes.is_none());
        self.leave_out(recorded);
        let folder = self.trees.folder_mut(recorded.folder);
        // What could be recorded now is all right again: an old reason must not stay in `status`.
        folder.missed = None;
        // The files as they were found, unclear changes included: what comes next is compared with the disk, not with a
        // worker's part of it.
        folder.last = Some((recorded.found().clone(), cause.seq));
        folder.head.clone_from(&recorded.head);
        if let Some(unclear) = &recorded.unclear {
            folder.unclear.then(&unclear.changes);
        }
        if let Moment::After(attempt) = recorded.moment {
            folder.forbid(attempt, &recorded.forbidden_files);
        }
        if let Moment::Before(attempt) = recorded.moment {
            self.trees.known.insert(attempt, recorded.tree.clone());
        }
        if let Moment::After(attempt) = recorded.moment {
            let changes = Some(Arc::new(recorded.changes.clone()));
            self.change(attempt, |attempt| attempt.changes = changes);
        }
        // What verifies or puts away is nobody's work, and no progress.
        let is_work = |attempt| self.attempt(attempt).is_none_or(|it| it.duty().is_none());
        let counts = !matches!(recorded.moment, Moment::After(attempt) if !is_work(attempt));
        if let Some(frame) = place.as_ref().and_then(|it| self.frames.get_mut(&it.frame()))
            && counts
        {
            frame.evidence.recorded(recorded.changes.has_work(), recorded.unclear.is_some());
        }
        if let Some(place) = place
            && counts
            && !recorded.changes.is_none()
        {
            self.tally_mut(&place).changes.then(&recorded.changes);
            self.get_on_by(cause, recorded.moment);
        }
    }

    /// Changed files count as progress of a worker. Commands that run again change the same files again, so they do not count.
    fn get_on_by(&mut self, cause: Cause, moment: Moment) {
        let Moment::After(id) = moment else { return };
        // Files that commands write, such as build results, change each time: they would renew the allowance of a loop for
        // ever.
        if self.attempt(id).is_some_and(|attempt| attempt.intent.agent != SHELL) {
            self.get_on(cause, id);
        }
    }

    pub(super) fn miss_tree(&mut self, moment: Moment, folder: FolderId, why: &str) {
        // Settled although nothing was recorded: what waits for these files must not wait for ever.
        let place = self.trees.settle(moment);
        self.settle_lost(moment, place.as_ref(), false);
        self.trees.folder_mut(folder).missed = Some(why.to_owned());
    }

    /// Work that was lost with its folder is work that its place lacks, until somebody who was told of it has worked there, or has said
    /// once more that it is done.
    fn settle_lost(&mut self, moment: Moment, place: Option<&Place>, has_worked: bool) {
        let Moment::After(id) = moment else { return };
        let is_lost = self.trees.lost.remove(&id);
        let intent = self.attempt(id).map(|attempt| &attempt.intent);
        // What verifies or puts away leaves no work.
        let Some(intent) = intent.filter(|it| it.chore.is_none()) else { return };
        let was_sent_back = matches!(intent.why, Why::Lacking { .. });
        let Some(frame) = place.and_then(|it| self.frames.get_mut(&it.frame())) else { return };
        if is_lost {
            frame.evidence.lose();
        } else if has_worked || was_sent_back {
            frame.evidence.lost = false;
        }
    }
}
