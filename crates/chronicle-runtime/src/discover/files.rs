//! Reads untrusted files: bounded, and never blocking on a pipe.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use chronicle_core::definition::workflow::{FILE_MAX, Source, Trouble};

use super::places::{Places, harmless};

/// Most entries of one folder that are looked at.
const ENTRIES_MAX: usize = 10_000;

/// One entry of a folder.
#[derive(Debug, Clone)]
pub(super) struct FolderEntry {
    pub name: String,
    pub path: PathBuf,
    /// True for a folder, following links.
    pub is_folder: bool,
}

/// The entries of a folder, by name. A missing folder is empty; one that cannot be read is reported.
pub(super) fn entries(folder: &Path) -> (Vec<FolderEntry>, Option<Trouble>) {
    let found = match fs::read_dir(folder) {
        Ok(found) => found,
        // A link to a folder that is not there now, such as one on a disk that is not mounted, is not nothing: what is in it
        // must not give way to what comes later.
        Err(error) if error.kind() == io::ErrorKind::NotFound && !folder.is_symlink() => {
            return (Vec::new(), None);
        }
        Err(error) => return (Vec::new(), Some(trouble(&error))),
    };
    let mut entries = Vec::new();
    // One more than is kept, to know whether any were left out.
    for entry in found.flatten().take(ENTRIES_MAX + 1) {
        let is_folder = match entry.file_type() {
            // Links count as what they lead to: people keep shared workflows elsewhere and link them.
            Ok(kind) if kind.is_symlink() => entry.path().is_dir(),
            Ok(kind) => kind.is_dir(),
            Err(_) => false,
        };
        let name = entry.file_name().to_string_lossy().into_owned();
        entries.push(FolderEntry { name, path: entry.path(), is_folder });
    }
    let full = entries.len() > ENTRIES_MAX;
    entries.truncate(ENTRIES_MAX);
    // A folder lists its entries in any order: which of two definitions wins must not depend on the file system.
    entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    let message = format!("more than {ENTRIES_MAX} entries: the rest is not looked at");
    (entries, full.then_some(Trouble { code: "too-many-files", message, hint: None }))
}

/// A YAML file under both of its usual endings.
pub(super) fn yaml_or_yml(path: &Path) -> [PathBuf; 2] {
    ["yaml", "yml"].map(|ending| path.with_extension(ending))
}

/// True if something exists at the path.
pub(super) fn is_there(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Ok(_) => true,
        Err(error) => {
            // A file that cannot be looked at may exist. It must not give way silently to one that comes later.
            !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        }
    }
}

/// True if a file has this exact extension: other spellings are other files to the programs we share them with.
pub(super) fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().and_then(|found| found.to_str()) == Some(ending)
}

/// A text with the name that it is known by.
pub(super) fn source(path: &Path, key: &str) -> Result<Source, Trouble> {
    text(path).map(|text| Source {
        file: Some(path.to_owned()),
        name: Places::shown(path),
        key: key.to_owned(),
        text,
    })
}

/// Reads slightly more than the largest allowed file, so that a larger one is noticed.
pub(super) fn text(path: &Path) -> Result<String, Trouble> {
    // Without it, a pipe in the place of a definition would block every command of the project.
    let file = File::options().read(true).custom_flags_nonblock().open(path);
    let file = file.map_err(|error| trouble(&error))?;
    let metadata = file.metadata().map_err(|error| trouble(&error))?;
    let kind = metadata.file_type();
    if kind.is_dir() {
        return Err(Trouble::new("not-a-file", "it is a folder"));
    }
    if !kind.is_file() {
        return Err(Trouble::new("not-a-file", "it is neither a file nor a folder"));
    }
    // As much room as it needs: it is read in one piece.
    let expected = usize::try_from(metadata.len()).unwrap_or(FILE_MAX).min(FILE_MAX);
    let mut bytes = Vec::with_capacity(expected + 1);
    let read = file.take(FILE_MAX as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| trouble(&error))?;
    decoded(bytes)
}

fn decoded(bytes: Vec<u8>) -> Result<String, Trouble> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        let trouble = Trouble::new("not-text", "it is UTF-16, not UTF-8");
        return Err(trouble.hint("save it as UTF-8"));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        // Cut in the middle of a character by the limit: too large, which the reader says better.
        Err(error) if error.as_bytes().len() > FILE_MAX => {
            Ok(String::from_utf8_lossy(error.as_bytes()).into_owned())
        }
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let trouble = Trouble::new("not-text", format!("not text in UTF-8: byte {at} is none"));
            Err(trouble.hint("save it as UTF-8"))
        }
    }
}

fn trouble(error: &io::Error) -> Trouble {
    let message = format!("cannot be read: {error}");
    match error.kind() {
        io::ErrorKind::NotFound => Trouble::new("not-found", "there is no such file"),
        io::ErrorKind::PermissionDenied => {
            Trouble::new("permission-denied", message).hint("make it readable for you")
        }
        _ => Trouble::new("unreadable", message),
    }
}

/// A definition's folder, as named and as resolved.
pub(super) struct Folder<'p> {
    named: &'p Path,
    real: PathBuf,
}

impl<'p> Folder<'p> {
    /// Resolves the folder once for all of its files.
    pub(super) fn of(named: &'p Path) -> Self {
        Self { named, real: named.canonicalize().unwrap_or_else(|_| lexical(named)) }
    }

    /// The resolved path of a file; a missing one is resolved by its name.
    fn real(&self, name: &str, path: &Path) -> PathBuf {
        let mut parts = Path::new(name).components();
        let is_plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
        // A plain name cannot leave the folder, which is resolved once. Resolving each file costs a system call for every
        // part of its path.
        if is_plain && !path.is_symlink() {
            return self.real.join(name);
        }
        path.canonicalize().unwrap_or_else(|_| lexical(&self.real.join(name)))
    }
}

/// A phase file, named relative to the definition's folder. It must be inside one of the roots after following links.
pub(super) fn phase_file(
    roots: &[PathBuf],
    folder: &Folder<'_>,
    name: &str,
) -> Result<Source, Trouble> {
    let path = folder.named.join(name);
    let target = folder.real(name, &path);
    let is_inside = roots.iter().any(|root| target != *root && target.starts_with(root));
    // Checked on the real path, after links: a phase file is given to a model, and must not be any file of the user.
    if name.contains('\0') || !is_inside {
        let message = format!("the file `{}` is outside of the workflows' folder", harmless(name));
        return Err(Trouble::new("path-escape", message).hint("put it beside the workflow"));
    }
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
    let read = source(&path, &stem);
    read.map_err(|trouble| Trouble {
        message: format!("the phase file `{}`: {}", harmless(name), trouble.message),
        ..trouble
    })
}

/// A path without `.` and `..`, for files that may not exist.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

/// Opens pipes without waiting for a writer.
trait Nonblocking {
    fn custom_flags_nonblock(&mut self) -> &mut Self;
}

impl Nonblocking for fs::OpenOptions {
    fn custom_flags_nonblock(&mut self) -> &mut Self {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        self.custom_flags(i32::try_from(flags.bits()).unwrap_or_default())
    }
}
