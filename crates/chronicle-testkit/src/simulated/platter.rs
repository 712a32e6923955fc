//! The disk itself: files, their names, and the processes that use them.

use std::io;
use std::path::Path;
use std::time::SystemTime;

use chronicle_runtime::for_tests::ledger::{Entry, Identity};

use super::node::DiskNode;

#[derive(Debug, Default)]
pub(super) struct Platter {
    pub(super) nodes: Vec<DiskNode>,
    /// The names that are there, and the names that would be after a power cut.
    pub(super) names: Names,
    pub(super) names_on_disk: Names,
    /// Changes of names that no sync brought to the disk yet.
    pub(super) pending: Vec<Renaming>,
    pub(super) lives: Vec<Life>,
    pub(super) handles: u64,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Life {
    pub(super) is_over: bool,
    /// After so many more things it is.
    pub(super) left: Option<u32>,
}

/// Few names: the fastest way is to look at each.
#[derive(Debug, Clone, Default)]
pub(super) struct Names(pub(super) Vec<(Vec<u8>, usize)>);

#[derive(Debug, Clone)]
pub(super) struct Renaming {
    pub(super) from: Option<Vec<u8>>,
    pub(super) to: Option<(Vec<u8>, usize)>,
}

impl Names {
    pub(super) fn get(&self, name: &[u8]) -> Option<usize> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, node)| *node)
    }

    pub(super) fn apply(&mut self, change: &Renaming) {
        if let Some(from) = &change.from {
            self.0.retain(|(known, _)| known != from);
        }
        if let Some((to, node)) = &change.to {
            // A rename replaces what had the name. The file itself lives on for those who have it open.
            self.0.retain(|(known, _)| known != to);
            self.0.push((to.clone(), *node));
        }
    }
}

impl Renaming {
    /// Whether it changes what is directly in that folder.
    pub(super) fn is_in(&self, folder: &[u8]) -> bool {
        let name = self.to.as_ref().map(|(to, _)| to).or(self.from.as_ref());
        name.is_some_and(|name| above(name) == folder)
    }
}

pub(super) fn above(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    &name[..end]
}

pub(super) fn key(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

impl Platter {
    pub(super) fn change_names(&mut self, change: Renaming) {
        self.names.apply(&change);
        self.pending.push(change);
    }

    pub(super) fn make(&mut self, name: &[u8], is_folder: bool) -> usize {
        self.nodes.push(DiskNode { is_folder, ..DiskNode::default() });
        let node = self.nodes.len() - 1;
        self.change_names(Renaming { from: None, to: Some((name.to_owned(), node)) });
        node
    }

    pub(super) fn entry(&self, node: usize) -> Entry {
        let DiskNode { is_folder, bytes, .. } = &self.nodes[node];
        Entry {
            identity: Identity { device: 1, inode: node as u64 },
            length: bytes.len() as u64,
            is_folder: *is_folder,
            changed: SystemTime::UNIX_EPOCH,
        }
    }

    pub(super) fn kill(&mut self, process: usize) {
        self.lives[process].is_over = true;
        for node in &mut self.nodes {
            // The kernel releases the locks of a process that dies. Everything that it had written stays in the cache.
            node.locks.retain(|held| held.process != process);
        }
    }

    /// One more thing that a process asks for.
    pub(super) fn turn(&mut self, process: usize) -> io::Result<()> {
        let life = &mut self.lives[process];
        // Counted before the call takes effect: the process dies between two calls, never within one.
        if life.left == Some(0) {
            self.kill(process);
        } else {
            life.left = life.left.map(|left| left - 1);
        }
        let is_over = self.lives[process].is_over;
        if is_over { Err(io::Error::other("this process was killed")) } else { Ok(()) }
    }
}
