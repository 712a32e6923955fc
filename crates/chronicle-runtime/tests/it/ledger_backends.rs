//! The contract, run for each backend.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use chronicle_runtime::for_tests::ledger::{Faults, Folder, LOCK_PATIENCE, Ledger, Memory};

use crate::ledger_contract::Backend;

mod folder {
    crate::ledger_contract::contract!(super::InFolder);
}

mod memory {
    crate::ledger_contract::contract!(super::InMemory);
}

pub(crate) struct InFolder {
    above: tempfile::TempDir,
    faults: Faults,
    is_mounted: Cell<bool>,
}

impl InFolder {
    pub(crate) fn path(&self) -> PathBuf {
        self.above.path().join("runs/r1")
    }

    pub(crate) fn ledger_path(&self) -> PathBuf {
        self.path().join("ledger.jsonl")
    }
}

impl Backend for InFolder {
    fn new() -> Self {
        let above = tempfile::tempdir().unwrap();
        let new = Self { above, faults: Faults::default(), is_mounted: Cell::new(false) };
        Folder::create(new.path()).unwrap();
        new
    }

    fn ledger(&self) -> Box<dyn Ledger> {
        let folder = Folder::new(self.path()).with_patience(Duration::ZERO);
        Box::new(folder.with_faults(self.faults.clone()))
    }

    fn patient(&self) -> Box<dyn Ledger> {
        Box::new(Folder::new(self.path()).with_patience(LOCK_PATIENCE * 10))
    }

    fn faults(&self) -> &Faults {
        &self.faults
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.ledger_path()).unwrap()
    }

    fn overwrite(&self, bytes: &[u8]) {
        fs::write(self.ledger_path(), bytes).unwrap();
    }

    fn replace(&self) {
        let other = self.path().join("other");
        fs::copy(self.ledger_path(), &other).unwrap();
        fs::rename(other, self.ledger_path()).unwrap();
    }

    fn set_aside(&self, file: &str) -> Vec<u8> {
        fs::read(self.path().join(file)).unwrap()
    }

    fn remove(&self) {
        fs::remove_dir_all(self.path()).unwrap();
    }

    fn make_read_only(&self) -> bool {
        let path = self.path();
        if !is_root() {
            let mut permissions = fs::metadata(&path).unwrap().permissions();
            permissions.set_readonly(true);
            fs::set_permissions(&path, permissions).unwrap();
            return true;
        }
        // Permissions do not stop root: only a mount does.
        let path = path.to_str().unwrap();
        self.is_mounted.set(mount(&["--bind", path, path]));
        self.is_mounted.get() && mount(&["-o", "remount,bind,ro", path])
    }
}

impl Drop for InFolder {
    fn drop(&mut self) {
        if self.is_mounted.get() {
            unmount(&self.path());
        }
        if let Ok(metadata) = fs::metadata(self.path()) {
            use std::os::unix::fs::PermissionsExt;
            let mut permissions = metadata.permissions();
            permissions.set_mode(0o755);
            let _ = fs::set_permissions(self.path(), permissions);
        }
    }
}

pub(crate) fn mount(arguments: &[&str]) -> bool {
    Command::new("mount").args(arguments).output().is_ok_and(|output| output.status.success())
}

pub(crate) fn unmount(path: &std::path::Path) {
    Command::new("umount").arg(path).output().unwrap();
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

struct InMemory(Memory);

impl Backend for InMemory {
    fn new() -> Self {
        Self(Memory::new())
    }

    fn ledger(&self) -> Box<dyn Ledger> {
        Box::new(self.0.clone().with_patience(Duration::ZERO))
    }

    fn patient(&self) -> Box<dyn Ledger> {
        Box::new(self.0.clone().with_patience(LOCK_PATIENCE * 10))
    }

    fn faults(&self) -> &Faults {
        self.0.faults()
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.bytes()
    }

    fn overwrite(&self, bytes: &[u8]) {
        self.0.overwrite(bytes);
    }

    fn replace(&self) {
        self.0.replace(self.0.bytes());
    }

    fn set_aside(&self, file: &str) -> Vec<u8> {
        self.0.set_aside(file).unwrap()
    }

    fn remove(&self) {
        self.0.remove();
    }

    fn make_read_only(&self) -> bool {
        self.0.faults().make_read_only();
        true
    }
}
