//! Paths as git prints them: arbitrary bytes.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use chronicle_core::base::limits::bounded;
use chronicle_core::base::quote::is_deceptive;
use chronicle_core::event::trees::TREE_PATH_MAX;

/// A path below the project, as git prints it. Not a `String`: git passes on whatever bytes the disk has.
pub(super) type Name = Vec<u8>;

/// The parts between zero bytes.
pub(super) fn parts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty())
}

/// The path below a folder.
pub(super) fn below(root: &Path, name: &[u8]) -> PathBuf {
    root.join(OsStr::from_bytes(name))
}

/// The first thing on the way to a file that is no folder, such as a link to one: what is behind it is in another place.
pub(super) fn obstacle(root: &Path, path: &Path) -> Option<Metadata> {
    let folders: Vec<&Path> =
        path.ancestors().skip(1).take_while(|folder| *folder != root).collect();
    let metas = folders.into_iter().rev().map(fs::symlink_metadata);
    metas.map_while(Result::ok).find(|meta| !meta.is_dir())
}

/// A name for people: on one line, whatever its bytes.
pub(crate) fn shown(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    let mut plain = String::with_capacity(text.len());
    for sign in text.chars() {
        if is_deceptive(sign) {
            plain.extend(sign.escape_default());
        } else {
            plain.push(sign);
        }
    }
    bounded(&plain, TREE_PATH_MAX)
}

/// Names joined in the form that git reads.
pub(super) fn joined<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for name in names {
        bytes.extend_from_slice(name);
        bytes.push(0);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_is_shown_on_one_line() {
        assert_eq!(shown(b"a b"), "a b");
        assert_eq!(shown(b"a\nb\x1b[1m"), "a\\nb\\u{1b}[1m");
        assert_eq!(shown(b"\xffx"), "\u{fffd}x");
    }
}
