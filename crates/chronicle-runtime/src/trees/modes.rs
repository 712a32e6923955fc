//! File modes. Git only records whether a file is executable, so the other bits are kept beside each tree.
//!
//! Most files have the same mode, which is stored once; a list has the others. A tree that is recorded again with other modes
//! keeps what both allow: restoring a file must never open it to more people.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use chronicle_core::base::ids::TreeId;

use super::names::{Name, parts};
use super::{OWN_MAX, Trees, TreesError};
use crate::ledger::atomic_write;
use crate::regular::{self, Links};

/// Mode bits that are kept.
pub(super) const BITS: u32 = 0o777;
/// Git's mode of an executable file.
pub(super) const PROGRAM: &str = "100755";
const MAY_RUN: u32 = 0o111;
/// Default modes of plain and executable files.
const USUAL: [u32; 2] = [0o644, 0o755];

/// The modes of the files of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Modes {
    /// Most common mode of plain files, and of executable ones.
    usual: [u32; 2],
    other: BTreeMap<Name, u32>,
}

impl Default for Modes {
    fn default() -> Self {
        Self { usual: USUAL, other: BTreeMap::new() }
    }
}

impl Modes {
    /// Takes the most common modes of these files as the usual ones.
    pub(super) fn first(seen: &BTreeMap<Name, u32>) -> Self {
        let mut modes = Self::default();
        for (program, usual) in [false, true].into_iter().zip(&mut modes.usual) {
            let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
            for mode in seen.values().filter(|mode| is_program(**mode) == program) {
                *counts.entry(*mode).or_default() += 1;
            }
            // The most common mode of the project follows from the person's umask. Only exceptions from it are stored.
            let most = counts.into_iter().max_by_key(|(_, count)| *count);
            *usual = most.map_or(*usual, |(mode, _)| mode);
        }
        modes.see(seen);
        modes
    }

    /// Updates the modes with those that were seen.
    pub(super) fn see(&mut self, seen: &BTreeMap<Name, u32>) {
        for (name, mode) in seen {
            self.set(name, *mode);
        }
    }

    pub(super) fn set(&mut self, name: &[u8], mode: u32) {
        if self.usual[usize::from(is_program(mode))] == mode {
            self.other.remove(name);
        } else {
            self.other.insert(name.to_owned(), mode);
        }
    }

    pub(super) fn forget(&mut self, name: &[u8]) {
        self.other.remove(name);
    }

    /// The mode of a file that git knows by that mode.
    pub(super) fn of(&self, name: &[u8], git: &str) -> u32 {
        let usual = self.usual[usize::from(git == PROGRAM)];
        self.other
            .get(name)
            .copied()
            .filter(|mode| is_program(*mode) == (git == PROGRAM))
            .unwrap_or(usual)
    }

    /// Keeps only the bits that both allow.
    fn meet(mut self, other: &Self) -> Self {
        let names: Vec<Name> = self.other.keys().chain(other.other.keys()).cloned().collect();
        for name in names {
            let both = [&self, other].map(|modes| modes.other.get(&name).copied());
            let mode = match both {
                [Some(one), Some(two)] => one & two,
                [Some(one), None] => one & other.usual[usize::from(is_program(one))],
                [None, Some(two)] => two & self.usual[usize::from(is_program(two))],
                [None, None] => continue,
            };
            self.set(&name, mode);
        }
        self
    }

    fn text(&self) -> Vec<u8> {
        let mut text = format!("{:o} {:o}\0", self.usual[0], self.usual[1]).into_bytes();
        for (name, mode) in &self.other {
            let mut head = String::new();
            let _ = write!(head, "{mode:o} ");
            text.extend_from_slice(head.as_bytes());
            text.extend_from_slice(name);
            text.push(0);
        }
        text
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut lines = parts(bytes);
        let octal = |text: &[u8]| u32::from_str_radix(std::str::from_utf8(text).ok()?, 8).ok();
        let split = |line: &'_ [u8]| {
            let at = line.iter().position(|byte| *byte == b' ')?;
            Some((line[..at].to_owned(), line[at + 1..].to_owned()))
        };
        let (file, program) = split(lines.next()?)?;
        let usual = [octal(&file)?, octal(&program)?];
        let mut other = BTreeMap::new();
        for line in lines {
            let (mode, name) = split(line)?;
            other.insert(name, octal(&mode)?);
        }
        Some(Self { usual, other })
    }
}

fn own(path: &Path) -> Option<Vec<u8>> {
    regular::read(path, OWN_MAX, Links::Refused).ok()
}

fn is_program(mode: u32) -> bool {
    mode & MAY_RUN != 0
}

impl Trees {
    /// Modes of the last index; `None` if they were not kept, and the index is built again.
    pub(super) fn last_modes(&self) -> Option<Modes> {
        Modes::read(&own(&self.index().with_extension("modes"))?)
    }

    /// Saves the modes for the next index. Written first: files that changed since are found to have changed again.
    pub(super) fn keep_last_modes(&self, modes: &Modes) -> Result<(), TreesError> {
        let path = self.index().with_extension("modes");
        let text = modes.text();
        // Most recordings change no mode, and each write costs a sync.
        if own(&path).is_some_and(|there| there == text) {
            return Ok(());
        }
        write(&path, &text)
    }

    fn modes_file(&self, tree: &TreeId) -> PathBuf {
        self.modes_folder().join(tree.as_str())
    }

    pub(super) fn modes_folder(&self) -> PathBuf {
        self.index().with_file_name("modes")
    }

    /// Modes of a tree's files; `None` for a tree of an older version.
    pub(super) fn modes_of(&self, tree: &TreeId) -> Option<Modes> {
        Modes::read(&own(&self.modes_file(tree))?)
    }

    pub(super) fn keep_modes(&self, tree: &TreeId, modes: &Modes) -> Result<(), TreesError> {
        let known = self.modes_of(tree);
        // Two recordings can have the same tree and different modes, since git knows only one bit of them. The stricter mode is
        // kept: restoring a file must never open it to more people than before.
        let both = known.clone().map_or_else(|| modes.clone(), |known| known.meet(modes));
        if known.as_ref() == Some(&both) {
            return Ok(());
        }
        let folder = self.modes_folder();
        fs::create_dir_all(&folder).map_err(TreesError::io(&folder))?;
        write(&self.modes_file(tree), &both.text())
    }

    /// Removes the modes of trees that are gone.
    pub(super) fn clear_modes(&self, stays: impl Fn(&[u8]) -> bool) {
        for entry in fs::read_dir(self.modes_folder()).into_iter().flatten().flatten() {
            if !stays(entry.file_name().as_bytes()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn write(path: &std::path::Path, text: &[u8]) -> Result<(), TreesError> {
    let written = atomic_write(path, text);
    written.map_err(std::io::Error::other).map_err(TreesError::io(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(modes: &[(&str, u32)]) -> BTreeMap<Name, u32> {
        modes.iter().map(|(name, mode)| (name.as_bytes().to_vec(), *mode)).collect()
    }

    #[test]
    fn what_is_unusual_is_kept_and_read_again() {
        let modes =
            Modes::first(&seen(&[("a", 0o664), ("b c", 0o600), ("d", 0o664), ("x", 0o750)]));
        assert_eq!(modes.usual, [0o664, 0o750]);
        assert_eq!(Modes::read(&modes.text()), Some(modes.clone()));
        assert_eq!((modes.of(b"b c", "100644"), modes.of(b"new", "100644")), (0o600, 0o664));
        assert_eq!(modes.of(b"b c", PROGRAM), 0o750, "it was no program then");
    }

    #[test]
    fn of_two_modes_what_both_allow_is_kept() {
        let one = Modes::first(&seen(&[("a", 0o644), ("b", 0o644), ("secret", 0o600)]));
        let two = Modes::first(&seen(&[("a", 0o644), ("b", 0o640), ("secret", 0o644)]));
        let both = one.meet(&two);
        assert_eq!(
            [b"a".as_slice(), b"b", b"secret"].map(|name| both.of(name, "100644")),
            [0o644, 0o640, 0o600]
        );
    }
}
