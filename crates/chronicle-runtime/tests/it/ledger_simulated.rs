//! The real ledger on the simulated disk, where it once broke or could have: kills between any two things that a process
//! asks of the disk, names and bytes that a power cut takes, and syncs that fail and are forgotten.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chronicle_runtime::for_tests::ledger::{
    Disk, Folder, Head, How, Ledger, LedgerError, Writer, open,
};
use chronicle_testkit::{Faults, Simulated, SimulatedProcess};

use crate::ledger_lines::{line, who, written};

const FOLDER: &str = "/run";

fn disk() -> Simulated {
    Simulated::with_folder(Path::new(FOLDER))
}

fn folder(process: &SimulatedProcess, faults: &Faults) -> Folder {
    let disk = faults.on(Arc::new(process.clone()));
    Folder::on(disk, FOLDER).with_patience(Duration::ZERO)
}

fn opened(
    process: &SimulatedProcess,
    faults: &Faults,
) -> Result<(Box<dyn Writer>, u64), LedgerError> {
    let mut count = 0;
    let writer = open(&folder(process, faults), who("opens"), Head::EMPTY, |_| count += 1)?;
    Ok((writer, count))
}

/// Takes everything that was not synced.
fn lose_all(disk: &Simulated) {
    let mut nothing = |end: usize| usize::from(end == 2);
    disk.lose_power(Path::new("/run/ledger.jsonl"), &mut nothing);
}

fn lines_left(disk: &Simulated) -> usize {
    let read = folder(&disk.process(), &Faults::default()).read(Head::EMPTY).unwrap();
    read.map(Result::unwrap).count()
}

#[test]
fn a_power_cut_takes_names_and_bytes_that_were_not_synced() {
    let disk = disk();
    let process = disk.process();
    let (one, two) = (Path::new("/run/one"), Path::new("/run/two"));
    process.open(one, How::New).unwrap().append(b"1").unwrap();
    process.sync_folder(Path::new(FOLDER)).unwrap();
    let file = process.open(two, How::New).unwrap();
    file.append(b"2").unwrap();
    file.sync().unwrap();
    lose_all(&disk);
    assert_eq!(disk.bytes(one).unwrap(), b"", "its name was synced, its bytes were not");
    assert_eq!(disk.bytes(two), None, "its bytes were synced, its name was not");
    assert!(process.look(one).is_err(), "a process does not survive");
}

/// Wherever in its life a writer is killed, all that it had synced is there, and the lock is free.
#[test]
fn a_writer_may_be_killed_between_any_two_things() {
    for things in 0.. {
        let (disk, faults) = (disk(), Faults::default());
        let process = disk.process();
        process.kill_after(things);
        let synced = opened(&process, &faults).map_or(0, |(mut writer, _)| {
            let mut synced = 0;
            for seq in 1..=3 {
                let kept = writer.append(seq, &line(seq)).and_then(|_| writer.sync());
                synced += usize::from(kept.is_ok());
            }
            synced
        });
        if !process.is_dead() {
            assert!(things > 30, "{things} is too few for all of that");
            break;
        }
        let is_cut = things % 2 == 0;
        if is_cut {
            lose_all(&disk);
        }
        let (writer, read) = opened(&disk.process(), &faults).unwrap();
        assert!(read >= synced as u64, "{things}: {synced} were synced, {read} are there");
        assert!(writer.epoch() >= 1, "{things}");
    }
}

#[test]
fn a_sync_of_an_opening_that_fails_and_is_forgotten_is_not_believed_next_time() {
    let (disk, faults) = (disk(), Faults::default());
    let process = disk.process();
    let (writer, _) = opened(&process, &faults).unwrap();
    // What a writer leaves that is killed between its write and its sync.
    let ledger = process.open(Path::new("/run/ledger.jsonl"), How::Append).unwrap();
    ledger.append(&written(2).0).unwrap();
    process.kill();
    drop(writer);
    faults.fail_syncs_and_forget();
    assert!(opened(&disk.process(), &faults).is_err());
    faults.clear();
    // The lock could not be written, so nothing was forgotten of the ledger; now it can, and the ledger cannot be synced.
    let killed = disk.process();
    let claim = folder(&killed, &faults).claim(who("dies")).unwrap();
    let head = {
        let mut read = claim.read(Head::EMPTY).unwrap();
        while read.next().transpose().unwrap().is_some() {}
        read.head()
    };
    faults.fail_syncs_and_forget();
    assert!(claim.writer(head).is_err());
    faults.clear();
    let (writer, read) = opened(&disk.process(), &faults).unwrap();
    assert_eq!(read, 2, "it is acted upon");
    drop(writer);
    lose_all(&disk);
    assert_eq!(lines_left(&disk), 2);
}

#[test]
fn an_artifact_whose_writer_died_is_kept_by_the_next_who_has_the_same() {
    for things in 0..20 {
        let (disk, faults) = (disk(), Faults::default());
        let process = disk.process();
        let (mut writer, _) = opened(&process, &faults).unwrap();
        process.kill_after(things);
        let _ = writer.put_artifact(b"body");
        process.kill();
        drop(writer);
        let (mut writer, _) = opened(&disk.process(), &faults).unwrap();
        let id = writer.put_artifact(b"body").unwrap();
        lose_all(&disk);
        let kept = folder(&disk.process(), &faults).artifact(&id).unwrap();
        assert_eq!(kept, b"body", "killed after {things}");
    }
}

#[test]
fn a_folder_below_one_that_is_gone_is_an_error_or_made_and_never_ends_badly() {
    let disk = Simulated::default();
    let process = disk.process();
    Folder::on(Arc::new(process.clone()), "a/b").make().unwrap();
    process.kill();
    assert!(Folder::on(Arc::new(process), "c/d").make().is_err());
}

#[test]
fn a_lock_dies_with_its_process_and_excludes_while_it_lives() {
    let (disk, faults) = (disk(), Faults::default());
    let process = disk.process();
    let (writer, _) = opened(&process, &faults).unwrap();
    let refused = opened(&disk.process(), &faults);
    assert!(matches!(refused.err(), Some(LedgerError::Held { holder: Some(_), .. })));
    process.kill();
    let (next, _) = opened(&disk.process(), &faults).unwrap();
    assert!(next.epoch() > writer.epoch());
}
