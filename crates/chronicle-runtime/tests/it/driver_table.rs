//! The driver over a ledger in a table: while it cannot be reached nothing is answered, shown or performed; what was kept
//! without an answer is found and not written twice.

use std::sync::mpsc::sync_channel;
use std::time::Duration;

use chronicle_core::event::input::{Command, Input};
use chronicle_core::state::effect::Effect;
use chronicle_core::state::{State, Status};
use chronicle_runtime::for_tests::driver::{Patience, Rest, Run, World, drive};
use chronicle_runtime::for_tests::ledger::LedgerError;
use chronicle_testkit::{Memory, Table};

use crate::driver_faults::{assert_nothing_got_out, folded};
use crate::driver_stories::{STORIES, TWO};
use crate::world::{Story, end_of, person, start, who};
use crate::world_log::{Log, Recorded, Recorder};

const SCRIPT: &str = "plan: tool read; go nowhere; go build\nbuild: usage 5; go done";

fn table() -> Table {
    Table::with_run("r1").with_patience(Duration::ZERO)
}

fn recorded(table: &Table, log: &Log) -> Recorded<Table> {
    Recorded { ledger: table.clone(), log: log.clone() }
}

#[test]
fn every_story_ends_in_a_table_as_in_a_folder() {
    for (name, workflow, script) in STORIES {
        let in_folder = Story::new(workflow, script).play(&Memory::new()).unwrap();
        let table = table();
        let in_table = Story::new(workflow, script).play(&table).unwrap();
        assert_eq!(in_table.status(), Status::Done, "{name}");
        assert_eq!(end_of(&in_table), end_of(&in_folder), "{name}");
        assert_eq!(end_of(&folded(&table)), end_of(&in_folder), "{name}");
        // Somebody else finds it as it was left.
        let again = Run::open(&table, who(), None).unwrap();
        assert_eq!(end_of(again.state()), end_of(&in_folder), "{name}");
    }
}

/// Every line is shown once and in order, and between a failed sync and the one that succeeds there is nothing.
fn assert_held_back(context: &str, log: &Log, rows: u64) -> usize {
    let (entries, mut failures, mut shown) = (log.entries(), 0, 0);
    for (index, entry) in entries.iter().enumerate() {
        if entry == "failed sync" {
            failures += 1;
            let next = entries.get(index + 1).map(String::as_str);
            assert!(matches!(next, Some("sync" | "failed sync")), "{context}:\n{}", log.text());
        }
        for seq in entry.strip_prefix("show ").into_iter().flat_map(|seqs| seqs.split(' ')) {
            shown += 1;
            assert_eq!(seq.parse(), Ok(shown), "{context}:\n{}", log.text());
        }
    }
    assert_eq!(shown, rows, "{context}: each line is kept once and shown once");
    failures
}

#[test]
fn a_connection_lost_at_any_sync_holds_everything_back_and_the_run_goes_on() {
    let end = end_of(&Story::new(TWO, SCRIPT).play(&Memory::new()).unwrap());
    for (word, lose) in [
        ("the connection", Table::lose_connection as fn(&Table, u32)),
        ("the answer", Table::lose_answers),
    ] {
        for number in 1.. {
            let context = format!("{word} of sync {number} is lost");
            let (table, mut story) = (table(), Story::new(TWO, SCRIPT));
            let (mut count, lost) = (0, table.clone());
            story.log.interfere(move |what| {
                count += usize::from(what == "sync");
                if what == "sync" && count == number {
                    lose(&lost, 2);
                }
            });
            let state = story.play(&recorded(&table, &story.log)).unwrap();
            assert_eq!(end_of(&state), end, "{context}");
            assert_eq!(folded(&table).seq, state.seq, "{context}");
            match assert_held_back(&context, &story.log, table.rows()) {
                0 => {
                    assert!(number > 5, "{context}: there are more syncs than that");
                    break;
                }
                failures => assert_eq!(failures, 2, "{context}"),
            }
        }
    }
}

/// A world that must not be asked for anything.
struct Closed;

impl World for Closed {
    fn reconcile(&mut self, state: &State, _: &[Effect]) -> Vec<Input> {
        panic!("asked what to perform after line {}", state.seq);
    }

    fn is_idle(&self) -> bool {
        true
    }
}

#[test]
fn a_ledger_that_stays_out_of_reach_stops_the_driver_and_lets_nothing_out() {
    type Lose = fn(&Table, u32);
    for lose in [Table::lose_connection as Lose, Table::lose_answers] {
        let (table, log) = (table(), Log::default());
        let mut run = Run::open(&recorded(&table, &log), who(), None).unwrap();
        let (first_pause, longest_pause) = (Duration::ZERO, Duration::ZERO);
        run.patience = Patience { tries: 4, first_pause, longest_pause };
        let (_inbox, messages) = sync_channel(1);
        let first = log.asked("first", person(Command::Start(Box::new(start(TWO)))));
        lose(&table, u32::MAX);
        let mut watch = Recorder(log.clone());
        let driven =
            drive(&mut run, vec![first], Rest::AtGates, &messages, &mut Closed, &mut watch);
        log.settle();
        assert!(matches!(driven, Err(LedgerError::Unavailable { .. })), "{driven:?}");
        assert_nothing_got_out_after(&log, &table);
    }
}

/// Only tries and what nobody answered: the line may be kept or not.
fn assert_nothing_got_out_after(log: &Log, table: &Table) {
    let entries = log.entries();
    let tries = entries.iter().filter(|entry| *entry == "failed sync").count();
    assert_eq!(tries, 4, "{}", log.text());
    for entry in &entries {
        let is_quiet =
            ["append", "failed", "unanswered"].iter().any(|word| entry.starts_with(word));
        assert!(is_quiet, "`{entry}` got out:\n{}", log.text());
    }
    assert!(table.rows() <= 1);
}

#[test]
fn a_crash_of_the_server_at_any_moment_takes_nothing_that_anybody_knew() {
    let end = end_of(&Story::new(TWO, SCRIPT).play(&Memory::new()).unwrap());
    for moment in 1.. {
        let context = format!("moment {moment}");
        let (table, mut story) = (table(), Story::new(TWO, SCRIPT));
        let (mut count, crashed) = (0, table.clone());
        story.log.interfere(move |_| {
            count += 1;
            if count == moment {
                crashed.crash();
            }
        });
        let played = story.play(&recorded(&table, &story.log));
        if let Err(error) = &played {
            assert!(matches!(error, LedgerError::Fenced { .. }), "{context}: {error}");
            assert_nothing_got_out(&context, &story.log, &table);
        }
        story.log.interfere(|_| {});
        assert_eq!(end_of(&story.play(&table).unwrap()), end, "{context}");
        if played.is_ok() {
            assert!(moment > 10, "{context}: there are more moments than that");
            break;
        }
    }
}
