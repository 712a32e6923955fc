//! The contract, run for each backend, and what files must do, run for each disk.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use chronicle_runtime::for_tests::ledger::{Folder, Head, LOCK_PATIENCE, Ledger, Real};
use chronicle_testkit::{Faults, Memory, Table};

use crate::ledger_contract::Backend;
use crate::ledger_file::FileBackend;
use crate::ledger_lines::by_hand;

mod folder {
    crate::ledger_contract::contract!(super::InFolder);
    crate::ledger_file::in_a_file!(super::InFolder);
}

mod memory {
    crate::ledger_contract::contract!(super::InMemory);
    crate::ledger_file::in_a_file!(super::InMemory);
}

mod table {
    crate::ledger_contract::contract!(super::InTable);
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
        let disk = self.faults.on(Arc::new(Real));
        Box::new(Folder::on(disk, self.path()).with_patience(Duration::ZERO))
    }

    fn patient(&self) -> Box<dyn Ledger> {
        Box::new(Folder::new(self.path()).with_patience(LOCK_PATIENCE * 10))
    }

    fn kept(&self) -> Vec<u8> {
        self.bytes()
    }

    fn fail_syncs(&self) {
        self.faults().fail_syncs();
    }

    fn fill(&self) {
        self.faults().fill_disk_after(0);
    }

    fn mend(&self) {
        self.faults().clear();
    }

    fn crash(&self) {
        // No disk loses its power here: the writer loses its lock.
        self.ledger().force().unwrap();
    }

    fn damage(&self, seq: u64) {
        damage(self, seq);
    }

    fn put(&self, last: &Head, json: &str) {
        put(self, last, json);
    }

    fn take_last(&self) {
        take_last(self);
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

impl FileBackend for InFolder {
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

    fn kept(&self) -> Vec<u8> {
        self.bytes()
    }

    fn fail_syncs(&self) {
        self.faults().fail_syncs();
    }

    fn fill(&self) {
        self.faults().fill_disk_after(0);
    }

    fn mend(&self) {
        self.faults().clear();
    }

    fn crash(&self) {
        self.0.lose_power(0);
    }

    fn damage(&self, seq: u64) {
        damage(self, seq);
    }

    fn put(&self, last: &Head, json: &str) {
        put(self, last, json);
    }

    fn take_last(&self) {
        take_last(self);
    }

    fn remove(&self) {
        self.0.remove();
    }

    fn make_read_only(&self) -> bool {
        self.0.faults().make_read_only();
        true
    }
}

impl FileBackend for InMemory {
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
}

/// Flips a bit in the middle of a line.
fn damage(at: &impl FileBackend, seq: u64) {
    let (mut bytes, ends) = (at.bytes(), at.ends());
    let seq = usize::try_from(seq).unwrap();
    bytes[usize::midpoint(ends[seq - 1], ends[seq])] ^= 1;
    at.overwrite(&bytes);
}

fn put(at: &impl FileBackend, last: &Head, json: &str) {
    let line = by_hand(json.strip_suffix('}').unwrap(), &last.sum);
    at.overwrite(&[at.bytes(), line].concat());
}

fn take_last(at: &impl FileBackend) {
    let ends = at.ends();
    at.overwrite(&at.bytes()[..ends[ends.len() - 2]]);
}

struct InTable(Table);

impl Backend for InTable {
    fn new() -> Self {
        Self(Table::with_run("r1"))
    }

    fn ledger(&self) -> Box<dyn Ledger> {
        Box::new(self.0.clone().with_patience(Duration::ZERO))
    }

    fn patient(&self) -> Box<dyn Ledger> {
        Box::new(self.0.clone().with_patience(LOCK_PATIENCE * 10))
    }

    fn kept(&self) -> Vec<u8> {
        (1..=self.0.rows()).filter_map(|seq| self.0.text(seq)).collect::<String>().into_bytes()
    }

    fn fail_syncs(&self) {
        self.0.fail_commits();
    }

    fn fill(&self) {
        self.0.fill();
    }

    fn mend(&self) {
        self.0.mend();
    }

    fn crash(&self) {
        self.0.crash();
    }

    fn damage(&self, seq: u64) {
        self.0.overwrite(seq, &self.0.text(seq).unwrap().replace("ada", "bob"));
    }

    fn put(&self, _: &Head, json: &str) {
        self.0.push(json);
    }

    fn take_last(&self) {
        self.0.delete(self.0.rows());
    }

    fn remove(&self) {
        self.0.remove();
    }

    fn make_read_only(&self) -> bool {
        self.0.make_read_only();
        true
    }
}
