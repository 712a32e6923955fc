//! What stands beside the truth: `state.cache`, `run.json` and its mirror. None of it may ever change what is seen.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::fs;
use std::path::Path;

use chronicle_core::base::ids::RunId;
use chronicle_core::event::input::{Answer, Command};
use chronicle_core::state::{Standing, State, Status};
use chronicle_core::view::{self, RunView};
use chronicle_runtime::for_tests::ledger::{self, Cursor, Folder, Head, Ledger, LedgerError};
use chronicle_runtime::handle::{self, Asker, HandleError, Project, RunFolder};
use serde_json::Value;

use crate::world::start;

const WORKFLOW: &str =
    "{name: Gated, phases: {plan: {approval: before, next: [build]}, build: {}}}";

fn asker() -> Asker {
    Asker {
        who: "ann".to_owned(),
        command: "test".to_owned(),
        chronicle: "chronicle".into(),
        signals: None,
        no_walls: false,
    }
}

fn ledger_of(run: &RunFolder) -> Folder {
    Folder::new(run.path.clone())
}

fn new_run(root: &Path, id: &str) -> RunFolder {
    handle::new_run(&Project::at(root), RunId::from(id)).unwrap()
}

fn record(run: &RunFolder, command: Command) {
    let answer = handle::record(run, &asker(), command).unwrap();
    assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}");
}

/// A run that waits at its first gate.
fn waiting(root: &Path, id: &str) -> RunFolder {
    let run = new_run(root, id);
    let mut started = start(WORKFLOW);
    started.run = RunId::from(id);
    record(&run, Command::Start(Box::new(started)));
    run
}

fn pause(run: &RunFolder) {
    record(run, Command::Pause { reason: "lunch".to_owned() });
}

fn view(run: &RunFolder) -> RunView {
    let (view, newer) = handle::view(run).unwrap();
    assert!(newer.is_none());
    view
}

/// The fold of every line, whatever the cache says.
fn folded(run: &RunFolder) -> (Head, State) {
    let (mut head, mut state) = (Head::EMPTY, State::default());
    for line in ledger_of(run).read(Head::EMPTY).unwrap() {
        let (line, after) = line.unwrap();
        state.apply(&line);
        head = after;
    }
    (head, state)
}

fn assert_damaged(run: &RunFolder, what: &str) {
    let found = handle::view(run);
    let is_damage = matches!(found, Err(HandleError::Ledger(LedgerError::Conflict { .. })));
    assert!(is_damage, "{what}: {found:?}");
}

fn exact(run: &RunFolder) -> RunView {
    view::run(&folded(run).1, false).unwrap()
}

/// A state that no ledger says, to see whether it is believed.
fn lie(state: &State) -> State {
    let mut facts = serde_json::to_value(state).unwrap();
    facts["cancelled"] = "a lie".into();
    serde_json::from_value(facts).unwrap()
}

#[test]
fn a_cache_that_fits_is_believed_and_lines_after_it_are_added() {
    let folder = tempfile::tempdir().unwrap();
    let run = waiting(folder.path(), "0199-a");
    assert_eq!(view(&run), exact(&run));
    let (head, state) = folded(&run);
    ledger::save(&ledger_of(&run), &head, &lie(&state)).unwrap();
    assert_eq!(view(&run).status, Standing::Cancelled, "the cache was not used at all");

    // A longer ledger: the cache as it was, and what came since.
    ledger::save(&ledger_of(&run), &head, &state).unwrap();
    let kept = fs::read(run.path.join("state.cache")).unwrap();
    pause(&run);
    fs::write(run.path.join("state.cache"), kept).unwrap();
    assert_eq!(view(&run), exact(&run));
    assert_eq!(view(&run).reason.as_deref(), Some("lunch"));
}

#[test]
fn a_cache_that_knows_a_line_which_is_not_there_is_a_sign_of_damage() {
    let folder = tempfile::tempdir().unwrap();
    let (run, other) = (waiting(folder.path(), "0199-a"), waiting(folder.path(), "0199-b"));
    let (head, state) = folded(&other);
    ledger::save(&ledger_of(&run), &head, &lie(&state)).unwrap();
    assert_damaged(&run, "another ledger's");

    let (head, state) = folded(&run);
    ledger::save(
        &ledger_of(&run),
        &Head { at: Cursor::of_backend(head.at.for_backend() + 1), ..head },
        &lie(&state),
    )
    .unwrap();
    assert_damaged(&run, "after the last byte");

    ledger::save(
        &ledger_of(&run),
        &Head { at: Cursor::of_backend(head.at.for_backend() - 1), ..head },
        &lie(&state),
    )
    .unwrap();
    assert_damaged(&run, "in the middle of a line");

    // The ledger went back to an earlier copy.
    fs::remove_file(run.path.join("state.cache")).unwrap();
    let before = fs::read(ledger_of(&run).ledger_path()).unwrap();
    pause(&run);
    let (head, state) = folded(&run);
    ledger::save(&ledger_of(&run), &head, &lie(&state)).unwrap();
    fs::write(ledger_of(&run).ledger_path(), before).unwrap();
    assert_damaged(&run, "a ledger that is shorter than its cache");
    // Without the cache nothing in the folder knows better but `run.json`.
    fs::remove_file(run.path.join("state.cache")).unwrap();
    assert_damaged(&run, "`run.json` knows");
}

#[test]
fn a_cache_of_an_earlier_shape_is_as_good_as_none() {
    let folder = tempfile::tempdir().unwrap();
    let run = waiting(folder.path(), "0199-a");
    let (head, state) = folded(&run);
    ledger::save(&ledger_of(&run), &head, &lie(&state)).unwrap();
    let cache = run.path.join("state.cache");
    let text = fs::read_to_string(&cache).unwrap();
    assert!(text.starts_with(r#"{"format":33,"#), "{text}");
    let earlier = text.replacen(r#""format":33"#, r#""format":4"#, 1);
    fs::write(&cache, &earlier).unwrap();
    assert_eq!(view(&run), exact(&run), "its first line says so");
    // A place in the ledger was once called by what it counts.
    for text in [earlier, text] {
        fs::write(&cache, text.replacen(r#""at":"#, r#""bytes":"#, 1)).unwrap();
        assert_eq!(view(&run), exact(&run));
    }
    // Every attempt in a list, as it once was, under today's first line.
    let old = serde_json::json!({"seq": head.seq, "attempts": [], "gates": [], "visits": []});
    ledger::save(&ledger_of(&run), &head, &old).unwrap();
    assert_eq!(view(&run), exact(&run));
    pause(&run);
    assert_eq!(view(&run).reason.as_deref(), Some("lunch"));
}

#[test]
fn a_damaged_cache_is_as_good_as_none() {
    let folder = tempfile::tempdir().unwrap();
    let run = waiting(folder.path(), "0199-a");
    let cache = run.path.join("state.cache");
    let whole = fs::read(&cache).unwrap();
    let exact = exact(&run);
    for at in (0..whole.len()).step_by(41) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&cache, bytes).unwrap();
        assert_eq!(view(&run), exact, "byte {at} changed");
        fs::write(&cache, &whole[..at]).unwrap();
        assert_eq!(view(&run), exact, "cut at byte {at}");
    }
    fs::remove_file(&cache).unwrap();
    assert_eq!(view(&run), exact);
}

#[test]
fn a_recorded_command_decides_on_the_cache_as_on_the_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let run = waiting(folder.path(), "0199-a");
    let (head, state) = folded(&run);
    ledger::save(&ledger_of(&run), &head, &state).unwrap();
    record(&run, Command::Approve { gate: None, note: String::new(), scope: None });
    fs::remove_file(run.path.join("state.cache")).unwrap();
    assert_eq!(view(&run).status, Standing::Ready);
    assert_eq!(handle::row(&run).unwrap().needs_you, 0);
}

#[test]
fn a_forged_cache_decides_nothing() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (run, other) = (waiting(folder.path(), "0199-a"), waiting(elsewhere.path(), "0199-a"));
    record(&other, Command::Approve { gate: None, note: String::new(), scope: None });
    // The state of a run whose gate was answered, under a head and a sum that fit this one.
    let ((head, _), (_, answered)) = (folded(&run), folded(&other));
    ledger::save(&ledger_of(&run), &head, &answered).unwrap();
    assert_eq!(handle::row(&run).unwrap().needs_you, 0, "shown as it is forged");
    assert_eq!(handle::audit(&run).unwrap().status, Status::Waiting);
    record(&run, Command::Reject { gate: None, note: "no".to_owned() });
    assert_eq!(view(&run), exact(&run), "the next command writes it anew");
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with("}\n"), "{text}");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn run_json_says_what_the_ledger_says_and_follows_it() {
    let folder = tempfile::tempdir().unwrap();
    let run = waiting(folder.path(), "0199-a");
    let expected = |run: &RunFolder| {
        let (head, state) = folded(run);
        let mut json = view::run_json(&state).unwrap();
        json["ledger"] = serde_json::json!(head);
        json
    };
    assert_eq!(json(&run.run_json()), expected(&run));
    assert_eq!(json(&run.run_json())["status"], "paused", "a gate is a pause in the older format");
    assert_eq!(json(&run.run_json())["currentState"], "plan");
    record(&run, Command::Cancel { reason: String::new() });
    assert_eq!(json(&run.run_json()), expected(&run));
    assert_eq!(json(&run.run_json())["standing"], "cancelled");
}

#[test]
fn the_mirror_is_kept_only_where_the_older_format_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let run = waiting(folder.path(), "0199-a");
    assert!(!folder.path().join(".pi").exists(), "nothing is made for a format nobody uses");
    fs::create_dir(folder.path().join(".pi")).unwrap();
    pause(&run);
    let mirror = folder.path().join(".pi/chronicle/sessions/0199-a.json");
    assert_eq!(fs::read(&mirror).unwrap(), fs::read(run.run_json()).unwrap());
    assert_eq!(json(&mirror)["id"], "0199-a");
}

#[test]
fn what_a_killed_writer_left_beside_the_mirror_and_the_ignored_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let project = Project::at(folder.path());
    handle::new_run(&project, RunId::from("0199-z")).unwrap();
    let run = waiting(folder.path(), "0199-a");
    fs::create_dir_all(folder.path().join(".pi/chronicle/sessions")).unwrap();
    let own = folder.path().join(".pi/chronicle/sessions/.0199-a.json.x1.unfinished");
    let others = folder.path().join(".pi/chronicle/sessions/.0199-b.json.x1.unfinished");
    let ignore = folder.path().join(".chronicle/..gitignore.x1.unfinished");
    for path in [&own, &others, &ignore] {
        fs::write(path, "half").unwrap();
    }
    pause(&run);
    assert_eq!((own.exists(), others.exists()), (false, true), "another run's may be in hand");
    handle::new_run(&project, RunId::from("0199-c")).unwrap();
    assert!(!ignore.exists() && folder.path().join(".chronicle/.gitignore").is_file());
}

#[test]
fn projections_that_cannot_be_written_stop_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let run = waiting(folder.path(), "0199-a");
    // Folders stand where files should: each write fails.
    for path in [run.run_json(), run.path.join("state.cache")] {
        fs::remove_file(&path).unwrap();
        fs::create_dir_all(path.join("in-the-way")).unwrap();
    }
    fs::write(folder.path().join(".pi"), "a file").unwrap();
    pause(&run);
    assert_eq!(view(&run).status, Standing::Paused);
}

#[test]
fn a_refused_command_changes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let run = waiting(folder.path(), "0199-a");
    let files = || {
        let names = [ledger_of(&run).ledger_path(), run.run_json(), run.path.join("state.cache")];
        names.map(|path| fs::read(path).unwrap())
    };
    let before = files();
    let answer = handle::record(&run, &asker(), Command::Start(Box::new(start(WORKFLOW)))).unwrap();
    assert_eq!(answer, Answer::Refused("this run has started already".to_owned()));
    assert_eq!(files(), before);
}

#[test]
fn a_folder_without_a_first_line_never_started() {
    let folder = tempfile::tempdir().unwrap();
    let run = new_run(folder.path(), "0199-a");
    let error = handle::view(&run).unwrap_err();
    assert!(matches!(error, HandleError::NotStarted { .. }), "{error}");
    assert!(matches!(handle::row(&run), Err(HandleError::NotStarted { .. })));
    fs::remove_dir_all(&run.path).unwrap();
    let error = handle::view(&run).unwrap_err();
    assert!(matches!(error, HandleError::Ledger(LedgerError::Missing { .. })), "{error}");
}

#[test]
fn a_timeline_is_followed_from_the_first_line_on() {
    let folder = tempfile::tempdir().unwrap();
    let run = waiting(folder.path(), "0199-a");
    let mut follow = handle::follow(&run);
    let seqs: Vec<u64> = follow.poll().unwrap().iter().map(|entry| entry.seq).collect();
    assert_eq!(seqs, [1, 1, 1, 1], "four events in one line");
    assert!(follow.poll().unwrap().is_empty());
    assert!(!follow.is_supervised());
    pause(&run);
    let more: Vec<String> = follow.poll().unwrap().into_iter().map(|entry| entry.text).collect();
    assert_eq!(more, ["paused: lunch"]);
}

#[test]
fn an_audit_counts_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let run = waiting(folder.path(), "0199-a");
    pause(&run);
    let audit = handle::audit(&run).unwrap();
    let (head, _) = folded(&run);
    assert_eq!((audit.lines, audit.events, audit.bytes), (2, 5, ledger_of(&run).bytes(&head)));
    assert_eq!(audit.head, head.sum.to_string());
    assert_eq!((audit.orphans, audit.open_attempts), (vec![], vec![]));
    let ledger = ledger_of(&run).ledger_path();
    let mut bytes = fs::read(&ledger).unwrap();
    bytes[30] ^= 1;
    fs::write(&ledger, bytes).unwrap();
    assert!(handle::audit(&run).is_err(), "a cache must not hide damage from an audit");
}
