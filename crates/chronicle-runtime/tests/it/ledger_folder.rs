//! What only a ledger on disk can show: other processes, other hosts, real disks, files that others touch.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use chronicle_core::event::record::Line;
use chronicle_runtime::for_tests::ledger::{
    ArtifactId, Folder, HEARTBEAT_LIMIT, Head, LedgerError, atomic_write, load, open, save,
};

use crate::ledger_backends::{InFolder, mount, unmount};
use crate::ledger_contract::{Backend, poll};
use crate::ledger_file::FileBackend;
use crate::ledger_lines::{append, line, lines, open_all, read_all, who, written};

#[test]
fn a_killed_writer_leaves_a_ledger_that_opens() {
    let at = InFolder::new();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "ledger_folder::holds_a_ledger_until_killed", "--nocapture"])
        .env("LEDGER_TO_HOLD", at.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().ends_with("holding")));

    assert_eq!(at.ledger().holder().unwrap().pid, child.id());
    let held = at.ledger().claim(who("second")).err().unwrap();
    let LedgerError::Held { holder: Some(holder), .. } = held else { panic!("{held}") };
    assert_eq!(holder.pid, child.id());
    child.kill().unwrap();
    child.wait().unwrap();

    assert_eq!(at.ledger().holder(), None);
    let (writer, read) = open_all(at.ledger().as_ref()).unwrap();
    assert_eq!((read, writer.epoch()), (lines(3), 2));
}

/// The child of `a_killed_writer_leaves_a_ledger_that_opens`; by itself it has nothing to do.
#[test]
fn holds_a_ledger_until_killed() {
    let Some(path) = std::env::var_os("LEDGER_TO_HOLD") else { return };
    let (mut writer, _) = open_all(&Folder::new(path)).unwrap();
    append(writer.as_mut(), 3);
    writer.sync().unwrap();
    append(writer.as_mut(), 1);
    println!("holding");
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// Between its start and its becoming another program, a child has every file open that we have.
#[test]
fn a_child_being_started_does_not_keep_the_lock() {
    let at = InFolder::new();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                Command::new("true").status().unwrap();
            }
        });
        let claims: Result<Vec<_>, _> =
            (0..300).map(|_| at.ledger().claim(who("claims")).map(|claim| claim.epoch())).collect();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(claims.unwrap().len(), 300);
    });
}

fn beat(at: &InFolder, age: Duration) {
    let lock = File::options().write(true).open(at.path().join("lock")).unwrap();
    lock.set_modified(SystemTime::now() - age).unwrap();
}

fn hold_elsewhere(at: &InFolder, epoch: u64) {
    let mut holder = serde_json::to_value(who("elsewhere")).unwrap();
    holder["host"] = "another-host".into();
    let content = serde_json::json!({"epoch": epoch, "holder": holder});
    fs::write(at.path().join("lock"), format!("{content}\n")).unwrap();
}

#[test]
fn a_holder_on_another_host_lives_until_its_heartbeat_is_old() {
    let at = InFolder::new();
    hold_elsewhere(&at, 7);
    let error = at.ledger().claim(who("here")).err().unwrap();
    let LedgerError::Held { holder: Some(holder), .. } = error else { panic!("{error}") };
    assert_eq!(holder.host, "another-host");
    assert_eq!(at.ledger().holder(), Some(*holder));

    // Without the margin, a slow machine would find it too old.
    beat(&at, HEARTBEAT_LIMIT / 2);
    assert!(at.ledger().claim(who("here")).is_err());
    beat(&at, HEARTBEAT_LIMIT + Duration::from_secs(1));
    assert_eq!(at.ledger().holder(), None);
    assert_eq!(at.ledger().claim(who("here")).unwrap().epoch(), 8);

    hold_elsewhere(&at, 9);
    at.ledger().force().unwrap();
    assert_eq!(at.ledger().claim(who("here")).unwrap().epoch(), 10);
}

#[test]
fn a_heartbeat_renews_the_time_of_the_lock() {
    let at = InFolder::new();
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    beat(&at, HEARTBEAT_LIMIT * 2);
    let age = || {
        let beat = fs::metadata(at.path().join("lock")).unwrap().modified().unwrap();
        beat.elapsed().unwrap_or_default()
    };
    assert!(age() > HEARTBEAT_LIMIT);
    writer.heartbeat().unwrap();
    assert!(age() < HEARTBEAT_LIMIT);
}

#[test]
fn a_writer_that_another_host_has_overtaken_is_fenced() {
    let at = InFolder::new();
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    append(writer.as_mut(), 1);
    hold_elsewhere(&at, 2);
    assert!(matches!(writer.sync(), Err(LedgerError::Fenced { .. })));
    drop(writer);
    assert_eq!(at.ledger().holder().unwrap().host, "another-host");
}

#[test]
fn a_removed_lock_fences_and_a_removed_ledger_is_told() {
    let at = InFolder::new();
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    fs::remove_file(at.path().join("lock")).unwrap();
    writer.append(1, &line(1)).unwrap();
    assert!(matches!(writer.sync(), Err(LedgerError::Fenced { .. })));
    drop(writer);

    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    fs::remove_file(at.ledger_path()).unwrap();
    writer.append(1, &line(1)).unwrap();
    assert!(matches!(writer.sync(), Err(LedgerError::Removed { .. })));
}

#[test]
fn whatever_the_lock_file_says_it_can_be_claimed() {
    let at = InFolder::new();
    for (content, epoch) in [
        ("", 1),
        ("{", 1),
        ("\n\n", 1),
        ("{\"epoch\":41,\"holder\":{\"pid\":1", 42),
        ("{\"epoch\":41}\nolder words", 42),
        ("{\"epoch\":-1,", 1),
        ("\0\0\0", 1),
    ] {
        fs::write(at.path().join("lock"), content).unwrap();
        assert_eq!(at.ledger().holder(), None);
        assert_eq!(at.ledger().claim(who("x")).unwrap().epoch(), epoch, "{content}");
    }
    fs::write(at.path().join("lock"), vec![b'['; 100_000]).unwrap();
    assert_eq!(at.ledger().claim(who("x")).unwrap().epoch(), 1);
}

#[test]
fn a_real_disk_that_is_full_is_said_so() {
    let above = tempfile::tempdir().unwrap();
    if !mount(&["-t", "tmpfs", "-o", "size=64k", "tmpfs", above.path().to_str().unwrap()]) {
        eprintln!("SKIPPED: a small disk can be mounted by root only");
        return;
    }
    let folder = Folder::create(above.path().join("r1")).unwrap();
    let filled = {
        let (mut writer, _) = open_all(&folder).unwrap();
        let error = loop {
            let seq = writer.head().seq + 1;
            if let Err(error) = writer.append(seq, &line(seq)).and_then(|_| writer.sync()) {
                break error;
            }
        };
        let poisoned = writer.append(writer.head().seq + 1, &line(writer.head().seq + 1));
        (error, poisoned, writer.head().seq)
    };
    fs::remove_dir_all(folder.path().join("artifacts")).unwrap();
    let (read, problem) = read_all(&folder);
    // Setting the torn tail aside needs room too: it is refused, and nothing is cut.
    let before = fs::metadata(folder.ledger_path()).unwrap().len();
    let reopened = open_all(&folder).map(|(writer, _)| writer.torn().cloned());
    let after = fs::metadata(folder.ledger_path()).unwrap().len();
    unmount(above.path());

    assert!(matches!(filled.0, LedgerError::Full { .. }), "{:?}", filled.0);
    assert!(filled.0.to_string().starts_with("no room on the disk to append to `"));
    assert!(matches!(filled.1, Err(LedgerError::Poisoned { .. })));
    assert!(problem.is_none());
    assert_eq!(read, lines(filled.2));
    match reopened {
        Err(LedgerError::Full { .. }) => assert_eq!(before, after),
        Err(error) => panic!("{error}"),
        Ok(torn) => assert_eq!(before - after, torn.map_or(0, |torn| torn.bytes)),
    }
}

#[test]
fn a_folder_is_made_with_all_above_it_and_may_be_there_already() {
    let above = tempfile::tempdir().unwrap();
    let path = above.path().join("a/b/c");
    for _ in 0..2 {
        let folder = Folder::create(&path).unwrap();
        let (read, problem) = read_all(&folder);
        assert!(read.is_empty() && problem.is_none());
    }
    fs::write(above.path().join("file"), "").unwrap();
    let error = Folder::create(above.path().join("file/run")).unwrap_err();
    assert!(error.to_string().starts_with("cannot make the folder `"), "{error}");
}

#[test]
fn what_a_killed_writer_left_unfinished_is_swept() {
    let at = InFolder::new();
    let left = [".run.json.x1.unfinished", "artifacts/.abc.x2.unfinished"];
    for name in left {
        fs::write(at.path().join(name), "half").unwrap();
    }
    fs::write(at.path().join("notes.unfinished"), "a person's").unwrap();
    open_all(at.ledger().as_ref()).unwrap();
    assert!(left.iter().all(|name| !at.path().join(name).exists()));
    assert!(at.path().join("notes.unfinished").exists());
}

#[test]
fn a_damaged_artifact_is_found_and_can_be_put_again() {
    let at = InFolder::new();
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    let id = writer.put_artifact(b"body").unwrap();
    fs::write(at.path().join("artifacts").join(id.to_string()), "b0dy").unwrap();
    let error = at.ledger().artifact(&id).unwrap_err();
    assert!(error.to_string().contains("is damaged"), "{error}");
    writer.put_artifact(b"body").unwrap();
    assert_eq!(at.ledger().artifact(&id).unwrap(), b"body");
}

/// Workers are told the names of these files, which no sync brought to disk.
#[test]
fn the_file_of_a_text_is_laid_out_and_laid_out_again_where_it_is_lost() {
    let at = InFolder::new();
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    let told = Line { texts: vec!["told".to_owned()], ..line(1) };
    let id = ArtifactId::of(b"told");
    let file = at.path().join("artifacts").join(id.to_string());
    writer.append(1, &told).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"told");
    writer.sync().unwrap();
    drop(writer);
    let spoil: [fn(&Path); 3] = [
        |file| fs::remove_file(file).unwrap(),
        |file| fs::write(file, "").unwrap(),
        |file| fs::write(file, "t0ld").unwrap(),
    ];
    for spoil in spoil {
        spoil(&file);
        assert_eq!(at.ledger().artifact(&id).unwrap(), b"told", "the line has it");
        open_all(at.ledger().as_ref()).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"told");
    }
}

/// Between the append and the sync: nobody acts on what was decided by a writer that lost its ledger meanwhile.
#[test]
fn a_writer_that_loses_its_lock_or_its_ledger_before_the_sync_is_stopped_there() {
    let lose: [fn(&InFolder); 5] = [
        |at| at.ledger().force().unwrap(),
        |at| fs::remove_file(at.path().join("lock")).unwrap(),
        |at| hold_elsewhere(at, 2),
        |at| fs::remove_file(at.ledger_path()).unwrap(),
        |at| atomic_write(&at.ledger_path(), &at.kept()).unwrap(),
    ];
    for (number, lose) in lose.into_iter().enumerate() {
        let at = InFolder::new();
        let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
        append(writer.as_mut(), 1);
        lose(&at);
        let stopped = writer.sync().unwrap_err();
        let is_lock = matches!(stopped, LedgerError::Fenced { .. });
        let is_ledger =
            matches!(stopped, LedgerError::Removed { .. } | LedgerError::Conflict { .. });
        assert_eq!((is_lock, is_ledger), (number < 3, number >= 3), "{number}: {stopped}");
        assert!(matches!(writer.append(2, &line(2)), Err(LedgerError::Poisoned { .. })));
    }
}

#[test]
fn a_file_is_replaced_whole_and_leaves_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    for content in ["one", "two, which is longer", ""] {
        atomic_write(&path, content.as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(atomic_write(&folder.path().join("none/run.json"), b"").is_err());
}

#[test]
fn a_cache_is_believed_only_while_it_fits_the_ledger() {
    let at = InFolder::new();
    let (bytes, heads) = written(3);
    at.overwrite(&bytes);
    let loaded = || load::<Vec<String>>(&Folder::new(at.path()));
    assert_eq!(loaded(), None);
    let state = vec!["a".to_owned(), "b".to_owned()];
    for head in [heads[0], heads[2], heads[3]] {
        save(&Folder::new(at.path()), &head, &state).unwrap();
        assert_eq!(loaded(), Some((head, state.clone())));
    }
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    append(writer.as_mut(), 1);
    writer.sync().unwrap();
    drop(writer);
    let (head, _) = loaded().unwrap();
    let mut folded = vec![];
    open(at.ledger().as_ref(), who("opens"), head, |line| folded.push(line.seq)).unwrap();
    assert_eq!(folded, [4]);

    at.overwrite(&bytes[..bytes.len() - 1]);
    assert_eq!(loaded(), None, "the ledger is shorter");
    let end = usize::try_from(heads[3].at.for_backend()).unwrap();
    let mut other = bytes.clone();
    other[end - 10] = if other[end - 10] == b'0' { b'1' } else { b'0' };
    at.overwrite(&other);
    assert_eq!(loaded(), None, "the line is another");
    fs::remove_file(at.ledger_path()).unwrap();
    assert_eq!(loaded(), None, "there is no ledger");
}

#[test]
fn a_changed_byte_anywhere_makes_a_cache_worthless() {
    let at = InFolder::new();
    let (bytes, heads) = written(2);
    at.overwrite(&bytes);
    save(&Folder::new(at.path()), &heads[2], &vec![1, 2, 3]).unwrap();
    let path = at.path().join("state.cache");
    let cache = fs::read(&path).unwrap();
    for index in 0..cache.len() {
        let mut changed = cache.clone();
        changed[index] ^= 1;
        fs::write(&path, &changed).unwrap();
        assert_eq!(load::<Vec<u32>>(&Folder::new(at.path())), None, "{index}");
        fs::write(&path, &cache[..index]).unwrap();
        assert_eq!(load::<Vec<u32>>(&Folder::new(at.path())), None, "{index}");
    }
    fs::write(&path, &cache).unwrap();
    assert_eq!(load::<Vec<String>>(&Folder::new(at.path())), None, "another state");
    assert_eq!(load::<Vec<u32>>(&Folder::new(at.path())), Some((heads[2], vec![1, 2, 3])));
}

#[test]
fn a_run_that_was_just_made_is_empty_to_its_readers() {
    let at = InFolder::new();
    let mut tail = at.ledger().read(Head::EMPTY).unwrap();
    assert_eq!(poll(tail.as_mut()).unwrap(), None);
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    append(writer.as_mut(), 1);
    assert_eq!(poll(tail.as_mut()).unwrap(), None, "nobody sees what may still be lost");
    writer.sync().unwrap();
    assert_eq!(poll(tail.as_mut()).unwrap().unwrap().0, line(1));
}
