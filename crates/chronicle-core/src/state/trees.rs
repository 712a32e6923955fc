//! What a run knows of its trees: which are awaited, and those that what follows is compared with.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Facts;
use crate::base::ids::{AttemptId, Cause, FolderId, FramePath, Place, SHELL, TreeId};
use crate::event::AttemptStarted;
use crate::event::trees::{Changes, Moment, RepositoryHead, TreeRecorded, UndoStarted};

/// The trees of a run, as far as anything still depends on them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Trees {
    /// What is known of each folder that was recorded; the project's own is read by `project`.
    #[serde(with = "by_folder")]
    folders: BTreeMap<FolderId, FolderTrees>,
    /// Attempts that begin once the files are recorded.
    pub before: BTreeMap<AttemptId, Cause>,
    /// The files before each attempt that is not quite over.
    pub known: BTreeMap<AttemptId, TreeId>,
    /// Attempts that have ended, and where: nothing follows there until the files are recorded.
    pub after: BTreeMap<AttemptId, (Cause, Place)>,
}

/// What is known of one folder.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FolderTrees {
    /// The last tree, and the line that has it.
    pub last: Option<(TreeId, u64)>,
    /// Files that are being put back.
    pub undo: Option<Undo>,
    /// Why the last tree could not be recorded.
    pub missed: Option<String>,
    /// What changed while attempts worked, or after they were lost, and is not known to be theirs.
    #[serde(default, skip_serializing_if = "Changes::is_none")]
    pub unclear: Changes,
    /// Where the person's repository stood at the last tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<RepositoryHead>,
}

/// A folder of which nothing is known.
static UNKNOWN: FolderTrees = FolderTrees {
    last: None,
    undo: None,
    missed: None,
    unclear: Changes { files: 0, added: 0, removed: 0, list: Vec::new() },
    head: None,
};

/// A map in JSON has texts as keys, and a folder is none.
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

/// Files that are being put back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// The event that made it due.
    pub cause: Cause,
    /// Whose work is undone, as a person said it.
    pub what: String,
    /// The files as they were found: whatever is otherwise by now, somebody changed since.
    pub from: TreeId,
    /// The files as they are to be.
    pub to: TreeId,
}

impl Trees {
    /// What is known of a folder.
    pub fn folder(&self, id: FolderId) -> &FolderTrees {
        self.folders.get(&id).unwrap_or(&UNKNOWN)
    }

    /// What is known of the project's own folder.
    pub fn project(&self) -> &FolderTrees {
        self.folder(FolderId::Project)
    }

    /// The files that are being put back, and in which folder.
    pub fn undo(&self) -> Option<(FolderId, &Undo)> {
        self.folders.iter().find_map(|(id, of)| Some((*id, of.undo.as_ref()?)))
    }

    fn folder_mut(&mut self, id: FolderId) -> &mut FolderTrees {
        self.folders.entry(id).or_default()
    }

    /// Whether nothing may follow in that frame before the files are recorded.
    pub fn is_awaited_at(&self, frame: &FramePath) -> bool {
        self.after.values().any(|(_, place)| place.frame() == *frame)
    }

    /// Whether a tree is waited for.
    pub fn is_awaited(&self, moment: Moment) -> bool {
        match moment {
            Moment::Before(attempt) => self.before.contains_key(&attempt),
            Moment::After(attempt) => self.after.contains_key(&attempt),
            Moment::Undo => self.undo().is_none(),
        }
    }

    /// Whether files are to be recorded after an attempt, or put back.
    pub fn is_busy(&self) -> bool {
        !self.after.is_empty() || self.undo().is_some()
    }

    /// What a new tree of a folder is compared with: the attempt's own, else the last of the folder.
    pub fn base(&self, folder: FolderId, moment: Moment) -> Option<&TreeId> {
        let own = match moment {
            Moment::After(attempt) => self.known.get(&attempt),
            Moment::Before(_) | Moment::Undo => None,
        };
        own.or_else(|| self.folder(folder).last.as_ref().map(|(tree, _)| tree))
    }

    /// Where nothing happened since the last tree, it is the new attempt's too.
    pub(super) fn begin(&mut self, cause: Cause, intent: &AttemptStarted) {
        if !intent.recorded {
            return;
        }
        match &self.folder(intent.folder).last {
            Some((tree, seq)) if *seq == cause.seq => {
                let tree = tree.clone();
                self.known.insert(intent.attempt, tree);
            }
            Some(_) | None => {
                self.before.insert(intent.attempt, cause);
            }
        }
    }

    /// An attempt that never began leaves nothing to record.
    pub(super) fn end(&mut self, cause: Cause, intent: &AttemptStarted) {
        let never_began = self.before.remove(&intent.attempt).is_some();
        if intent.recorded && !never_began {
            self.after.insert(intent.attempt, (cause, intent.place.clone()));
        }
    }

    fn settle(&mut self, moment: Moment) -> Option<Place> {
        match moment {
            Moment::Before(attempt) => {
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
    /// What an attempt did to files: none until it has ended and they are recorded, or if they could not be.
    pub fn changes_of(&self, attempt: AttemptId) -> Option<&Changes> {
        self.attempt(attempt)?.changes.as_deref()
    }

    /// What all attempts at a place did to files, over all visits; none where nothing is known to have changed.
    pub fn changes_at(&self, place: &Place) -> Option<&Changes> {
        self.tally(place).map(|tally| &tally.changes).filter(|changes| !changes.is_none())
    }

    /// The folder that a tree is of: where its attempt works. People put back the project's own files.
    pub fn folder_of(&self, moment: Moment) -> FolderId {
        match moment {
            Moment::Before(attempt) | Moment::After(attempt) => {
                self.attempt(attempt).map_or(FolderId::Project, |it| it.intent.folder)
            }
            Moment::Undo => FolderId::Project,
        }
    }

    pub(super) fn begin_undo(&mut self, cause: Cause, undo: &UndoStarted) {
        let UndoStarted { what, folder, from, to, .. } = undo.clone();
        self.trees.folder_mut(folder).undo = Some(Undo { cause, what, from, to });
    }

    pub(super) fn end_undo(&mut self, folder: FolderId) {
        self.trees.folder_mut(folder).undo = None;
    }

    pub(super) fn record_tree(&mut self, cause: Cause, recorded: &TreeRecorded) {
        let place = self.trees.settle(recorded.moment);
        let folder = self.trees.folder_mut(recorded.folder);
        folder.missed = None;
        folder.last = Some((recorded.found().clone(), cause.seq));
        folder.head.clone_from(&recorded.head);
        if let Some(unclear) = &recorded.unclear {
            folder.unclear.then(&unclear.changes);
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
            frame.evidence.recorded(!recorded.changes.is_none(), recorded.unclear.is_some());
        }
        if let Some(place) = place
            && counts
            && !recorded.changes.is_none()
        {
            self.tally_mut(&place).changes.then(&recorded.changes);
            self.get_on_by(cause, recorded.moment);
        }
    }

    /// A worker that changed files got on. A command that is run again changes the same ones again: that is no progress.
    fn get_on_by(&mut self, cause: Cause, moment: Moment) {
        let Moment::After(id) = moment else { return };
        if self.attempt(id).is_some_and(|attempt| attempt.intent.agent != SHELL) {
            self.get_on(cause, id);
        }
    }

    pub(super) fn miss_tree(&mut self, moment: Moment, folder: FolderId, why: &str) {
        self.trees.settle(moment);
        self.trees.folder_mut(folder).missed = Some(why.to_owned());
    }
}
