//! Ignore rules that change while a run works. A worker can write them, so they must not hide its work.
//!
//! What a run has once recorded stays recorded, whatever the rules become: changes of it are seen, and so is the return of a
//! file that was gone. Only a file that is new and ignored is left out, as git does. The next run starts with the rules as it
//! finds them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::excludes::Excludes;
use super::found::Found;
use super::git::Git;
use super::ignored::Ignored;
use super::names::{Name, below, joined, parts};
use super::record::{STAND_IN, removal};
use super::repository::RulesBefore;
use super::{OWN_MAX, Trees, TreesError};
use crate::ledger::atomic_write;
use crate::process::Leash;
use crate::regular::{self, Links};

/// What is known of the rules during one recording.
pub(super) struct IgnoreRules {
    work: PathBuf,
    /// True if they differ from those of the last tree.
    changed: bool,
    /// True if the last tree is of the same run, so that all that it has stays.
    stays: bool,
    /// Files that the person tracks though they are ignored; asked for once.
    theirs: Option<Vec<u8>>,
    leash: Leash,
}

impl IgnoreRules {
    pub(super) fn new(git: &Git, told: &RulesBefore, is_begun: bool) -> Self {
        let stays = is_begun && !told.other_run;
        let (work, leash) = (git.work.clone(), git.leash.clone());
        Self { work, changed: told.changed, stays, theirs: None, leash }
    }

    /// Learns from what was found whether a file of rules changed.
    pub(super) fn see(&mut self, found: &Found) {
        let mut names = found.present.iter().chain(&found.gone);
        self.changed |= names.any(|name| name.ends_with(b".gitignore"));
    }

    fn theirs(&mut self) -> &[u8] {
        self.theirs.get_or_insert_with(|| Excludes::kept_anyway(&self.work, &self.leash))
    }
}

impl Trees {
    /// Looks at files that git does not name: ignored by now, but tracked by the person, or gone before and recorded until then.
    pub(super) fn find_hidden(&self, rules: &mut IgnoreRules, found: &mut Found, is_first: bool) {
        if rules.changed && !is_first {
            found.sort(parts(rules.theirs()));
        }
        let missing = self.missing();
        let is_back = |name: &&[u8]| {
            fs::symlink_metadata(below(&self.git.work, name)).is_ok_and(|meta| !meta.is_dir())
        };
        let mut back: BTreeSet<&[u8]> = parts(&missing).filter(is_back).collect();
        if !rules.stays && !back.is_empty() {
            let theirs: BTreeSet<&[u8]> = parts(rules.theirs()).collect();
            back.retain(|name| theirs.contains(name));
        }
        found.sort(back.into_iter());
    }

    /// Names that an index has dropped and whose return it would not notice if they are ignored.
    fn missing(&self) -> Vec<u8> {
        let path = self.index().with_extension("missing");
        regular::read(&path, OWN_MAX, Links::Refused).unwrap_or_default()
    }

    /// Keeps the names of files that are gone: all that this run has recorded, and for the next one those that the person tracks.
    pub(super) fn note_missing(
        &self,
        rules: &mut IgnoreRules,
        found: &Found,
    ) -> Result<(), TreesError> {
        let before = self.missing();
        if found.gone.is_empty() && before.is_empty() {
            return Ok(());
        }
        let is_there =
            |name: &[u8]| found.present.contains(name) || name.ends_with(STAND_IN.as_bytes());
        let gone = parts(&before).chain(found.gone.iter().map(Vec::as_slice));
        let mut missing: BTreeSet<&[u8]> = gone.filter(|name| !is_there(name)).collect();
        if !rules.stays && !missing.is_empty() {
            let theirs: BTreeSet<&[u8]> = parts(rules.theirs()).collect();
            missing.retain(|name| theirs.contains(name));
        }
        let missing = joined(missing);
        if missing == before {
            return Ok(());
        }
        write(&self.index().with_extension("missing"), &missing)
    }

    /// Drops what is ignored by now, unless it stays for the rest of the run. True if the index was changed.
    pub(super) fn follow(
        &self,
        index: &Path,
        rules: &mut IgnoreRules,
        from_the_start: &Ignored,
    ) -> Result<bool, TreesError> {
        let held = self.index().with_extension("held");
        if rules.stays {
            if rules.changed && !held.exists() {
                write(&held, b"")?;
            }
            return Ok(false);
        }
        if !rules.changed && !held.exists() {
            return Ok(false);
        }
        self.forget_ignored(index, rules, from_the_start)?;
        let _ = fs::remove_file(held);
        Ok(true)
    }

    /// Removes files that have become ignored, except those tracked in the person's repository; also those that were ignored when
    /// the run began, if another run's trees have them.
    fn forget_ignored(
        &self,
        index: &Path,
        rules: &mut IgnoreRules,
        from_the_start: &Ignored,
    ) -> Result<(), TreesError> {
        let everywhere = self.excludes.rule();
        let args = ["ls-files", "-z", "--cached", "--ignored", "--exclude-standard"];
        let ran =
            self.git.run("look for ignored files", self.git.call(index, &[everywhere], &args))?;
        let anyway: BTreeSet<&[u8]> = parts(rules.theirs()).collect();
        let ignored = parts(&ran.stdout).filter(|name| !anyway.contains(name));
        let mut entries: Vec<Name> = ignored.map(removal).collect();
        if from_the_start.mark().is_some() {
            let all = self.git.call(index, &[], &["ls-files", "-z", "--cached"]);
            let all = self.git.run("list files", all)?.stdout;
            entries.extend(parts(&all).filter(|name| from_the_start.has(name)).map(removal));
        }
        if entries.is_empty() { Ok(()) } else { self.index_info(index, &entries) }
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), TreesError> {
    let written = atomic_write(path, bytes);
    written.map_err(std::io::Error::other).map_err(TreesError::io(path))
}
