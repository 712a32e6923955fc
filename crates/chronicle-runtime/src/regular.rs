//! Opens regular files and nothing else, and knows folders from links to them.
//!
//! A run's folder is inside the project, where a worker may replace any file with a pipe, a device or a link. A pipe blocks its
//! reader, a device never ends, a link leads out of the folder. So every file of ours is opened here.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Whether the path may be a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// Refused: nobody has a reason to link a file that Chronicle itself makes.
    Refused,
    /// Followed: the file belongs to a person, who may link it.
    Followed,
}

/// Opens a regular file; anything else is an error of kind `InvalidInput`. Never blocks.
pub(crate) fn open(path: &Path, options: &mut OpenOptions, links: Links) -> io::Result<File> {
    // Without NONBLOCK, opening a pipe waits until somebody opens its other end. It means nothing to a regular file.
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    if links == Links::Refused {
        flags |= OFlags::NOFOLLOW;
    }
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    let file = options.open(path).map_err(|error| explained(path, error))?;
    // Asked of the open file, not of the path: what stands at the path may change in between.
    if file.metadata()?.is_file() { Ok(file) } else { Err(irregular(path)) }
}

/// Reads a whole regular file of at most that many bytes.
pub(crate) fn read(path: &Path, limit: u64, links: Links) -> io::Result<Vec<u8>> {
    let file = open(path, OpenOptions::new().read(true), links)?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// An error of kind `InvalidInput` if something other than a folder is there, such as a link to one. Nothing at all is fine.
pub(crate) fn check_folder(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if !found.is_dir() => {
            let why = format!("{} is in the place of the folder", kind(&found));
            Err(io::Error::new(io::ErrorKind::InvalidInput, why))
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Turns the system's errors about links, sockets, pipes and folders into clear ones.
fn explained(path: &Path, error: io::Error) -> io::Error {
    let is_other = std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_file());
    if is_other { irregular(path) } else { error }
}

fn irregular(path: &Path) -> io::Error {
    let what = std::fs::symlink_metadata(path).map_or("something else", |found| kind(&found));
    let why = format!("{what} is in the place of the file");
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// What something on the disk is, in words.
pub(crate) fn kind(found: &std::fs::Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    let kind = found.file_type();
    match () {
        () if kind.is_symlink() => "a symbolic link",
        () if kind.is_dir() => "a folder",
        () if kind.is_file() => "a file",
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () if kind.is_block_device() || kind.is_char_device() => "a device",
        () => "something else",
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn nothing_but_a_regular_file_is_opened() {
        let yard = tempfile::tempdir().unwrap();
        let at = |name: &str| yard.path().join(name);
        fs::write(at("file"), "text").unwrap();
        fs::create_dir(at("folder")).unwrap();
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("device")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        let why = |name: &str, links| read(&at(name), 100, links).map_err(|it| it.to_string());
        assert_eq!(why("file", Links::Refused), Ok(b"text".to_vec()));
        assert_eq!(why("link", Links::Followed), Ok(b"text".to_vec()));
        for (name, what) in [
            ("pipe", "a pipe"),
            ("folder", "a folder"),
            ("link", "a symbolic link"),
            ("device", "a symbolic link"),
            ("socket", "a socket"),
        ] {
            let told = format!("{what} is in the place of the file");
            assert_eq!(why(name, Links::Refused), Err(told.clone()), "{name}");
            let mut options = OpenOptions::new();
            let written = open(&at(name), options.write(true).create(true), Links::Refused);
            assert_eq!(written.map(drop).map_err(|it| it.to_string()), Err(told), "{name}");
        }
        assert!(why("device", Links::Followed).is_err() && why("pipe", Links::Followed).is_err());
        assert_eq!(
            read(&at("file"), 3, Links::Refused).unwrap_err().kind(),
            io::ErrorKind::FileTooLarge
        );
        let gone = read(&at("gone"), 3, Links::Refused).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    }
}
