//! What lies below folders that a call reads or copies as a whole, and what patches in files change: only the disk knows.
//!
//! The call says where to look ([`Looked::folders`], [`Looked::to_read`]); the runtime goes there and asks [`Compiled::keeps`] about each
//! name, so that only what the rules keep is told.

use std::collections::BTreeMap;

use super::acts::{CommandFolder, CommandWord};
use super::code::whole_folders;
use super::compiled::{Compiled, RuleSet};
use super::facts::{Access, Acts, CallFacts, Looked, Reach, Whereabouts, Word};
use super::judgement::{Judgement, RuleKind, RuleRef, SHOWN_MAX};
use super::literals::in_quotes;
use super::paths::{Names, joined, relative};
use super::protected::{guards, secluded};
use super::sieve::Sieve;
use super::taken::access;
use crate::base::quote::line;
use crate::base::tools::patch::files as named_in;

/// Most files of one patch that are looked at.
const PATCHED_MAX: usize = 500;

/// A path of which all is used that lies below it, if it is a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeFolder {
    /// The absolute path or pattern.
    pub whole: String,
    /// What of it is used.
    pub sieve: Sieve,
    /// The absolute paths that copies of it may land below.
    to: Vec<String>,
    /// The most that is done to it.
    access: Access,
    by: String,
}

/// What was found below a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FolderSeen {
    /// Real paths of files that are used, and that the rules keep: the first of them, below which folder.
    pub kept: Vec<(String, String)>,
    /// True if there is more than is looked at.
    pub is_cut: bool,
}

/// A file with a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PatchText {
    /// The absolute path of the patch.
    whole: String,
    /// The folder that its paths are below.
    folder: String,
    strips: Vec<usize>,
    by: String,
}

impl WholeFolder {
    /// True if a program goes through just what it reaches so.
    pub(super) fn is_entered_by(&self, reach: &Reach) -> bool {
        reach.by == self.by && reach.whole.as_deref() == Some(self.whole.as_str())
    }

    /// True if something of it is changed where it lies.
    pub fn is_changed(&self) -> bool {
        self.access.changes() || self.may_change()
    }

    /// True if a program gets it that most likely changes what it is given, such as a formatter.
    fn may_change(&self) -> bool {
        self.access == Access::Likely
    }

    /// True if nothing of it is changed or copied.
    pub fn is_only_read(&self) -> bool {
        self.to.is_empty() && !self.is_changed()
    }
}

impl Looked {
    /// Folders to be looked into, each with what of it is used.
    pub fn folders(&self) -> &[WholeFolder] {
        &self.folders
    }

    /// Files with patches, whose text says what is changed.
    pub fn to_read(&self) -> impl Iterator<Item = &str> {
        self.patches.iter().map(|patch| patch.whole.as_str())
    }

    /// Adds what the patches change. A file that is not there changes nothing; what cannot be read as a whole makes the look partial.
    pub fn read_patches(&mut self, texts: &BTreeMap<String, Option<String>>, place: &Whereabouts) {
        for patch in std::mem::take(&mut self.patches) {
            match texts.get(&patch.whole) {
                None => {}
                Some(None) => self.is_partial = true,
                Some(Some(text)) => {
                    let files = named_in(text);
                    self.is_partial |= files.len() > PATCHED_MAX;
                    for (name, is_removed) in files.into_iter().take(PATCHED_MAX) {
                        self.patch_reaches(&patch, &name, is_removed, place);
                    }
                }
            }
        }
    }

    fn patch_reaches(
        &mut self,
        patch: &PatchText,
        name: &str,
        is_removed: bool,
        place: &Whereabouts,
    ) {
        let access = if is_removed { Access::Delete } else { Access::Write };
        for count in &patch.strips {
            let name = name.splitn(count + 1, '/').nth(*count).unwrap_or(name);
            let word = Word::Known(name.to_owned());
            let reach = Reach::of(access, word, Some(&patch.folder), place, &patch.by);
            if !self.reaches.contains(&reach) {
                self.reaches.push(reach);
            }
        }
    }

    /// What the commands used and patch, where they begin.
    pub(super) fn below(&mut self, acts: &Acts, start: &str, place: &Whereabouts) {
        let begins = |folder: &CommandFolder| match folder {
            CommandFolder::Known(folder) => joined(folder, Some(start), place),
            CommandFolder::Unknown => None,
        };
        let whole = |word: &CommandWord, folder: Option<&str>| match word {
            CommandWord::Known(path) | CommandWord::Glob(path) => joined(path, folder, place),
            CommandWord::Unknown { .. } => None,
        };
        for used in &acts.deep {
            let folder = begins(&used.folder);
            // What is not known is asked about by itself.
            let Some(from) = whole(&used.path, folder.as_deref()) else { continue };
            let to = used.to.as_ref().and_then(|to| whole(to, folder.as_deref()));
            let to = to.map(|to| landings(&from, &to)).unwrap_or_default();
            let sieve = used.sieve.clone();
            let (access, by) = (access(used.kind), used.by.clone());
            self.folders.push(WholeFolder { whole: from, sieve, to, access, by });
        }
        for patch in &acts.patches {
            let Some(folder) = begins(&patch.folder) else { continue };
            let Some(whole) = whole(&patch.path, Some(&folder)) else { continue };
            let below = patch.below.as_ref().and_then(|below| joined(below, Some(&folder), place));
            let (strips, by) = (patch.strips.clone(), patch.by.clone());
            self.patches.push(PatchText { whole, folder: below.unwrap_or(folder), strips, by });
        }
    }

    /// Folders that code uses as a whole.
    pub(super) fn below_by_code(&mut self, acts: &Acts, start: &str, place: &Whereabouts) {
        let code = acts.code.iter().flat_map(|code| code.folders.iter().map(move |at| (code, at)));
        for (code, folder) in code {
            let start = folder.from(start);
            let plain = in_quotes(&code.by, &code.text);
            for (from, to) in whole_folders(plain.as_deref().unwrap_or(&code.text)) {
                let Some(whole) = joined(&from, start.as_deref(), place) else { continue };
                let to = to.and_then(|to| joined(&to, start.as_deref(), place));
                let to = to.map(|to| landings(&whole, &to)).unwrap_or_default();
                let (sieve, access, by) = (Sieve::default(), Access::Read, code.by.clone());
                self.folders.push(WholeFolder { whole, sieve, to, access, by });
            }
        }
    }

    /// A tool that searches what files contain, below a path.
    pub(super) fn searched(&mut self, path: &str, sieve: &Sieve, tool: &str) {
        let (whole, by) = (path.to_owned(), tool.to_owned());
        let (sieve, to, access) = (sieve.clone(), Vec::new(), Access::Read);
        self.folders.push(WholeFolder { whole, sieve, to, access, by });
    }
}

/// Where copies land: in the target, or in a folder of the source's name there.
fn landings(from: &str, to: &str) -> Vec<String> {
    let to = to.trim_end_matches('/');
    let name = from.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let has_name = !["", ".", ".."].contains(&name) && !name.contains(['*', '?', '[']);
    let inside = has_name.then(|| format!("{to}/{name}"));
    std::iter::once(to.to_owned()).chain(inside).collect()
}

impl Compiled {
    /// Whether the rules keep what is at a real path from a used, and so all below it. `below` is its path below the folders_seen folder.
    pub fn keeps(&self, used: &WholeFolder, real: &str, below: &str) -> bool {
        self.kept_by(used, real, below).is_some()
    }

    fn kept_by(&self, used: &WholeFolder, real: &str, below: &str) -> Option<(RuleRef, Kept)> {
        let last = real.rsplit('/').next().unwrap_or(real);
        let names = relative(real);
        if used.is_changed() {
            return self.changed_by(used.access, last, &names);
        }
        if let Some(secluded) = secluded(&names, &self.place) {
            return Some((secluded.rule(), Kept::Hidden));
        }
        if let Some(rule) = self.sets.iter().find_map(|set| hidden_by(set, last, &names)) {
            return Some((rule, Kept::Hidden));
        }
        let landed = |to: &String| relative(&format!("{to}/{below}"));
        // A copy elsewhere replaces nothing that the rules are about.
        let is_here = |names: &Names| names.is_at_or_below(&self.place.project);
        let mut landed = used.to.iter().map(landed).filter(is_here);
        landed.find_map(|names| self.fixed_by(last, &names))
    }

    /// What is changed where it lies.
    fn changed_by(&self, access: Access, last: &str, names: &Names) -> Option<(RuleRef, Kept)> {
        let kept = |set: &RuleSet| {
            let mut rules = set.no_delete.iter().filter(|_| access == Access::Delete);
            let hit = rules.find(|it| it.pattern.may_end_with(last) && it.pattern.covers(names));
            hit.map(|it| (it.rule.clone(), Kept::Changed))
        };
        let fixed = self.fixed_by(last, names).map(|(rule, kept)| match kept {
            Kept::Fixed => (rule, Kept::Changed),
            Kept::Hidden | Kept::Guard | Kept::Changed => (rule, kept),
        });
        fixed.or_else(|| self.sets.iter().find_map(kept))
    }

    fn fixed_by(&self, last: &str, names: &Names) -> Option<(RuleRef, Kept)> {
        if let Some(guarded) = guards(names, Access::Write, &self.place) {
            return Some((guarded.rule(), Kept::Guard));
        }
        let fixed = |set: &RuleSet| {
            let mut rules = set.read_only.iter().chain(&set.zero_access);
            let hit = rules.find(|it| it.pattern.may_end_with(last) && it.pattern.covers(names));
            hit.map(|it| it.rule.clone())
        };
        Some((self.sets.iter().find_map(fixed)?, Kept::Fixed))
    }
}

/// Why something is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Hidden,
    Fixed,
    Changed,
    Guard,
}

fn hidden_by(set: &RuleSet, last: &str, names: &Names) -> Option<RuleRef> {
    let hit =
        set.zero_access.iter().find(|it| it.pattern.may_end_with(last) && it.pattern.covers(names));
    hit.map(|it| it.rule.clone())
}

/// The verdict on what lies below the folders that a call uses as a whole.
pub(super) fn by_folders(rules: &Compiled, facts: &CallFacts) -> Judgement {
    let mut worst = Judgement::Clear;
    for (at, used) in facts.looked.folders.iter().enumerate() {
        let shown = line(&used.whole, SHOWN_MAX);
        let Some(folders_seen) = facts.folders_seen.get(at) else {
            let rule = RuleRef::own(RuleKind::Unclear, "folders that were not looked into");
            let why = format!("nobody looked into `{shown}`");
            return worst.or_stricter(Judgement::Ask { rule, why });
        };
        for (real, below) in &folders_seen.kept {
            worst = worst.or_stricter(verdict(rules, used, real, below));
        }
        if folders_seen.is_cut {
            let rule = RuleRef::own(RuleKind::Unclear, "folders with too much in them");
            let why =
                format!("`{}` uses all of `{shown}`, which is more than is looked at", used.by);
            worst = worst.or_stricter(Judgement::Ask { rule, why });
        }
    }
    worst
}

fn verdict(rules: &Compiled, used: &WholeFolder, real: &str, below: &str) -> Judgement {
    // A rule over a folder holds for all that is in it.
    let above = |path: &str| -> Vec<String> {
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1);
        ends.map(|at| path[..at].to_owned()).chain([path.to_owned()]).collect()
    };
    let offset = real.len().saturating_sub(below.len());
    let hit = above(real)
        .into_iter()
        .find_map(|part| rules.kept_by(used, &part, part.get(offset..).unwrap_or_default()));
    let Some((rule, kept)) = hit else { return Judgement::Clear };
    let file = line(below, SHOWN_MAX);
    let by = &used.by;
    if used.may_change() {
        let why = format!(
            "`{by}` may change what is found in a folder, and `{file}` is among it: the rules name `{}`; leave it out",
            rule.text
        );
        return Judgement::Ask { rule, why };
    }
    match kept {
        Kept::Hidden => {
            let why = format!(
                "`{by}` reads all of a folder, and `{file}` in it is hidden by the rule `{}`; name what you need, or leave it out",
                rule.text
            );
            Judgement::Ask { rule, why }
        }
        Kept::Fixed => {
            let why = format!("a copy of `{file}` would land where the rules name `{}`", rule.text);
            Judgement::Deny { rule, why }
        }
        Kept::Changed => {
            let why = format!(
                "`{by}` changes what is found in a folder, and `{file}` is among it: the rules name `{}`",
                rule.text
            );
            Judgement::Deny { rule, why }
        }
        Kept::Guard if used.is_changed() => {
            let why = format!(
                "`{by}` changes what is found in a folder, and `{file}` is among it, which guards this run; leave it out"
            );
            Judgement::Deny { rule, why }
        }
        Kept::Guard => {
            let why = format!("a copy of `{file}` would change what guards this run");
            Judgement::Deny { rule, why }
        }
    }
}
