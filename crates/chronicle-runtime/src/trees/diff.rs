//! Differences between two trees: as facts for the ledger, and as text for people.

use std::io::{self, Write};

use chronicle_core::base::ids::TreeId;
use chronicle_core::event::Change;
use chronicle_core::event::trees::{Changes, FileChange};

use super::names::{parts, shown};
use super::unrecorded::MARK_ID;
use super::{Trees, TreesError};

/// Git's id of the tree without files.
pub(super) const EMPTY_TREE: &str = crate::project::EMPTY_TREE;

const RENAMES: &str = "-M";
const NO_RENAMES: &str = "--no-renames";

/// How differences are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffForm {
    /// Unified diff with all changed lines.
    Patch,
    /// A line per file.
    Stat,
    /// One file name per line.
    Names,
}

impl Trees {
    /// Counted differences; to the empty tree if there is no tree before.
    pub fn changes(&self, from: Option<&TreeId>, to: &TreeId) -> Result<Changes, TreesError> {
        let from = from.map_or(EMPTY_TREE, TreeId::as_str);
        if from == to.as_str() {
            return Ok(Changes::default());
        }
        let compared = self.compared(from, to, RENAMES)?;
        // All marks have the same content, so that one that goes and one that comes look like a renamed file.
        let is_confused = parts_kept(&compared).any(is_renamed_mark);
        Ok(read(&if is_confused { self.compared(from, to, NO_RENAMES)? } else { compared }))
    }

    fn compared(&self, from: &str, to: &TreeId, renames: &str) -> Result<Vec<u8>, TreesError> {
        let how = ["diff-tree", "-r", "-z", renames, "--raw", "--numstat", "--no-ext-diff"];
        let args: Vec<&str> = how.into_iter().chain([from, to.as_str()]).collect();
        let call = self.git.call(&self.index(), &[], &args);
        let ran =
            self.git.run("compare trees", call).map_err(|error| self.explain(error, from, to))?;
        Ok(ran.stdout)
    }

    /// Writes the differences for people, in git's format and without a pager.
    pub fn show(
        &self,
        from: Option<&TreeId>,
        to: &TreeId,
        form: DiffForm,
        colour: bool,
        out: &mut dyn Write,
    ) -> Result<(), TreesError> {
        let from = from.map_or(EMPTY_TREE, TreeId::as_str);
        let form = match form {
            DiffForm::Patch => "--patch",
            DiffForm::Stat => "--stat=100",
            DiffForm::Names => "--name-only",
        };
        let colour = if colour { "--color=always" } else { "--color=never" };
        // External diff programs and text conversions come from attributes of the project, which a worker can write. They would
        // run with the rights of whoever looks at the difference.
        let entries = self.entries(&TreeId::from(from), to)?;
        let has_mark = entries.iter().any(DiffEntry::is_unrecorded);
        let renames = if has_mark { NO_RENAMES } else { RENAMES };
        // Git marks blanks at the end of a line with a background, which is not passed on to a terminal.
        let plain = "--ws-error-highlight=none";
        let safe = ["diff-tree", "-r", renames, "--no-ext-diff", "--no-textconv", plain];
        let args: Vec<&str> = safe.into_iter().chain([form, colour, from, to.as_str()]).collect();
        let what = "show what differs";
        // Git's own quoting where a name is not text; elsewhere letters of all languages are shown as they are.
        let is_text = entries.iter().all(|entry| std::str::from_utf8(&entry.name).is_ok());
        let quote = [format!("core.quotePath={}", !is_text).into()];
        self.git.check()?;
        let ran = match self.git.call(&self.index(), &quote, &args).stream(out) {
            Ok(ran) => ran,
            // The person has quit the pager.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Err(error) => return Err(self.git.failed(what, error)),
        };
        if ran.status.success() {
            return Ok(());
        }
        Err(self.explain(self.git.refused(what, &ran), from, to))
    }

    /// True if a tree still exists.
    pub fn has(&self, tree: &TreeId) -> bool {
        let name = format!("{tree}^{{tree}}");
        let call = self.git.call(&self.index(), &[], &["cat-file", "-e", &name]);
        self.git.run("look for a tree", call).is_ok()
    }

    fn explain(&self, error: TreesError, from: &str, to: &TreeId) -> TreesError {
        // Whoever could not look does not know what is gone.
        if !matches!(error, TreesError::Git { .. } | TreesError::Damaged { .. }) {
            return error;
        }
        let from = TreeId::from(from);
        let lost =
            [&from, to].into_iter().find(|tree| tree.as_str() != EMPTY_TREE && !self.has(tree));
        // Git says "bad object" for a tree that `gc` has removed, which nobody understands. A tree that is kept under a name was
        // not removed by `gc`.
        match lost {
            Some(tree) if !self.is_named(tree) => TreesError::Gone(tree.to_string()),
            Some(_) | None => error,
        }
    }
}

/// True for the status of a file whose content was not recorded, and that git took for a renamed or copied one.
fn is_renamed_mark(field: &[u8]) -> bool {
    let text = std::str::from_utf8(field).unwrap_or_default();
    let sign = text.strip_prefix(':').and_then(|raw| raw.rsplit(' ').next()).unwrap_or_default();
    sign.starts_with(['R', 'C']) && text.contains(MARK_ID)
}

/// Parses `--raw --numstat -z`: first the status of each file, then its counts.
fn read(bytes: &[u8]) -> Changes {
    let mut changes = Changes::default();
    let mut fields = parts_kept(bytes).peekable();
    let mut status: Vec<u8> = Vec::new();
    while let Some(field) = fields.next() {
        if let Some(raw) = field.strip_prefix(b":") {
            let sign = raw.rsplit(|byte| *byte == b' ').next().and_then(<[u8]>::first).copied();
            status.push(sign.unwrap_or(b'M'));
            // The names come again with the counts below; here they only have to be skipped.
            let names = if matches!(sign, Some(b'R' | b'C')) { 2 } else { 1 };
            fields.by_ref().take(names).for_each(drop);
            continue;
        }
        let mut columns = field.splitn(3, |byte| *byte == b'\t');
        let (added, removed) = (columns.next().map(count), columns.next().map(count));
        let name = columns.next().unwrap_or_default();
        // A moved file has an empty name here, and then its two names.
        let (from, path) = if name.is_empty() {
            let from = fields.next().unwrap_or_default();
            (Some(shown(from)), fields.next().unwrap_or_default())
        } else {
            (None, name)
        };
        // Git prints all statuses first and then all counts, in the same order.
        let sign = status.get(usize::try_from(changes.files).unwrap_or(0)).copied();
        let change = match sign {
            Some(b'A') => Change::Created,
            Some(b'D') => Change::Deleted,
            _ => Change::Changed,
        };
        let (added, removed) = (added.flatten(), removed.flatten());
        changes.add(FileChange { path: shown(path), change, from, added, removed });
    }
    changes
}

/// Empty parts are kept: they mark a moved file. The last one follows the last zero byte.
fn parts_kept(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = bytes.strip_suffix(&[0]).unwrap_or(bytes);
    whole.split(|byte| *byte == 0).filter(move |_| !whole.is_empty())
}

/// Number of lines; `None` for a binary file, which has `-`.
fn count(column: &[u8]) -> Option<u64> {
    std::str::from_utf8(column).ok()?.parse().ok()
}

/// A name that differs between two trees, with its mode and content in each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DiffEntry {
    pub(super) name: Vec<u8>,
    pub(super) before: (String, String),
    pub(super) after: (String, String),
}

impl DiffEntry {
    /// The same difference on the way back, from after to before.
    pub(super) fn reversed(&self) -> Self {
        let (name, before, after) = (self.name.clone(), self.after.clone(), self.before.clone());
        Self { name, before, after }
    }
}

/// Git's mode for a missing file.
pub(super) const NO_MODE: &str = "000000";

impl Trees {
    /// Every file that differs, and whether it was removed.
    pub fn changed_files(
        &self,
        from: &TreeId,
        to: &TreeId,
    ) -> Result<Vec<(String, bool)>, TreesError> {
        let file = |entry: &DiffEntry| {
            (String::from_utf8_lossy(&entry.name).into_owned(), entry.after.0 == NO_MODE)
        };
        Ok(self.entries(from, to)?.iter().map(file).collect())
    }

    /// Every name that differs, without rename detection.
    pub(super) fn entries(&self, from: &TreeId, to: &TreeId) -> Result<Vec<DiffEntry>, TreesError> {
        // Without renames: an undo treats each name by itself.
        let args = ["diff-tree", "-r", "-z", "--no-renames", "--raw", from.as_str(), to.as_str()];
        let call = self.git.call(&self.index(), &[], &args);
        let ran = self
            .git
            .run("compare trees", call)
            .map_err(|error| self.explain(error, from.as_str(), to))?;
        let fields: Vec<&[u8]> = parts(&ran.stdout).collect();
        let entries = fields.chunks_exact(2).filter_map(|pair| entry(pair[0], pair[1]));
        Ok(entries.collect())
    }
}

/// `:100644 000000 oid oid D`
fn entry(raw: &[u8], name: &[u8]) -> Option<DiffEntry> {
    let raw = std::str::from_utf8(raw.strip_prefix(b":")?).ok()?;
    let mut words = raw.split(' ').map(str::to_owned);
    let modes = (words.next()?, words.next()?);
    let ids = (words.next()?, words.next()?);
    Some(DiffEntry { name: name.to_owned(), before: (modes.0, ids.0), after: (modes.1, ids.1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_differences_is_read() {
        let raw = b":100644 100644 a b M\0x y\0:100644 100644 c d R090\0old\0new\0:000000 100644 0 e A\0bin\0\
            1\t2\tx y\x000\t3\t\0old\0new\0-\t-\tbin\0";
        let changes = read(raw);
        assert_eq!((changes.files, changes.added, changes.removed), (3, 1, 5));
        let told: Vec<String> = changes
            .list
            .iter()
            .map(|file| format!("{:?} {} {:?} {:?}", file.change, file.path, file.from, file.added))
            .collect();
        let expected = [
            "Changed x y None Some(1)",
            "Changed new Some(\"old\") Some(0)",
            "Created bin None None",
        ];
        assert_eq!(told, expected);
        assert_eq!(read(b""), Changes::default());
    }
}
