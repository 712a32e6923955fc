//! Mounts as the kernel lists them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use nix::mount::MsFlags;

/// One mount as the kernel lists it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mounted {
    /// What of its file system is mounted.
    pub(super) root: PathBuf,
    pub(super) point: PathBuf,
    pub(super) flags: MsFlags,
    pub(super) kind: Vec<u8>,
    /// The options of the file system itself.
    pub(super) options: Vec<Vec<u8>>,
}

impl Mounted {
    /// Whether who may write there sets limits on processes, or leaves them.
    pub(super) fn counts_processes(&self) -> bool {
        self.kind == b"cgroup" || self.kind == b"cgroup2"
    }
}

/// Reads the kernel's list: `36 35 98:0 /root /point options tags - kind source options`.
pub(super) fn mounted(table: &[u8]) -> Vec<Mounted> {
    table.split(|byte| *byte == b'\n').filter_map(read_mount).collect()
}

fn read_mount(line: &[u8]) -> Option<Mounted> {
    let mut fields = line.split(|byte| *byte == b' ');
    let root = unescaped(fields.nth(3)?);
    let point = unescaped(fields.next()?);
    let flags = flags(fields.next()?);
    let mut fields = fields.skip_while(|field| *field != b"-").skip(1);
    let kind = fields.next()?.to_vec();
    let options = fields.nth(1).unwrap_or_default().split(|byte| *byte == b',');
    Some(Mounted { root, point, flags, kind, options: options.map(<[u8]>::to_vec).collect() })
}

/// A mount's own flags, which a remount must repeat: it may not take any back. Those about times are kept if none is named.
fn flags(options: &[u8]) -> MsFlags {
    let known = options.split(|byte| *byte == b',').map(|option| match option {
        b"nosuid" => MsFlags::MS_NOSUID,
        b"nodev" => MsFlags::MS_NODEV,
        b"noexec" => MsFlags::MS_NOEXEC,
        _ => MsFlags::empty(),
    });
    known.fold(MsFlags::empty(), MsFlags::union)
}

/// Blanks and the like are written as `\040`.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, after @ ..] = rest {
        let code = after.get(..3).filter(|_| *first == b'\\');
        let code =
            code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn mounts_are_read_with_their_flags_and_odd_names() {
        let table = b"36 35 98:0 /mnt1 /a\\040b\\134c rw,nosuid,noatime master:1 shared:2 - ext4 /dev/root rw\n\
            37 36 0:5 / /proc rw,nosuid,nodev,noexec - proc proc rw\ntorn";
        let mounts: [Mounted; 2] = mounted(table).try_into().unwrap();
        assert_eq!(mounts[0].point.as_os_str().as_bytes(), b"/a b\\c");
        assert_eq!(
            (mounts[0].flags, mounts[0].kind.as_slice()),
            (MsFlags::MS_NOSUID, b"ext4".as_slice())
        );
        let all = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        assert_eq!((mounts[1].flags, mounts[1].kind.as_slice()), (all, b"proc".as_slice()));
        assert_eq!(
            mounts.map(|it| (it.root, it.options)),
            [("/mnt1".into(), vec![b"rw".to_vec()]), ("/".into(), vec![b"rw".to_vec()])]
        );
    }
}
