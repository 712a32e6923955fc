//! One run, killed two hundred times: the supervisor, a keeper or an agent, as the dice fall.

use rustix::process::Signal;

use crate::session::{Session, Started, agents, keepers, send, until};

const KILLS: usize = 200;

const WORKFLOW: &str = "
name: Stubborn
limits: {losses: 100000, nudges: 100000, retries: 100000}
phases:
  plan: {next: [build]}
  build: {next: [done]}
";

/// Works on until there was enough of it.
const SCRIPT: &str = r#"
plan:
  - write: {path: plan, text: "planned\n"}
  - usage: {input: 10, output: 1}
  - transition: {to: build, summary: planned}
build:
  - write: {path: built, text: "half\n"}
  - usage: {input: 10, output: 1}
  - write: {path: built, text: "whole\n"}
  - usage: {input: 10, output: 1}
  - wait_for: {file: enough}
  - transition: {to: done, summary: built}
"#;

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// Waits until the run has got on since the last kill, and its agent lives.
fn until_it_works(session: &Session, lines: usize) {
    until("the run goes on", || session.ledger_lines() > lines);
    until("an agent works", || !agents(&session.run_id()).is_empty());
}

#[test]
fn two_hundred_kills_of_anything_and_the_run_is_done() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let mut supervisor: Option<Started> = Some(session.spawn_run());
    until("the run has begun", || !session.runs().is_empty() && session.ledger_lines() > 2);
    let (mut dice, mut lines, mut killed) = (Dice(0x5eed), 0, [0usize; 3]);
    while killed.iter().sum::<usize>() < KILLS {
        supervisor.get_or_insert_with(|| session.spawn(&["resume"]));
        until_it_works(&session, lines);
        lines = session.ledger_lines();
        let run = session.run_id();
        let which = dice.roll(3);
        let target = match which {
            0 => supervisor.as_ref().map(Started::pid),
            1 => keepers(&run).first().copied(),
            _ => agents(&run).first().copied(),
        };
        // What was to be killed may have gone by itself since.
        let Some(target) = target else { continue };
        killed[usize::try_from(which).unwrap()] += 1;
        if which == 0 {
            supervisor.take().unwrap().kill();
        } else {
            send(target, Signal::KILL);
        }
    }
    session.write("enough", "");
    let last = supervisor.unwrap_or_else(|| session.spawn(&["resume"]));
    last.wait().exits(0);
    assert!(killed.iter().all(|count| *count > 30), "{killed:?}");
    assert_eq!(session.json(&["status"])["status"], "done");
    assert_eq!(session.path_of_phases(), ["plan", "build"]);
    assert_eq!(session.read("built"), "whole\n");
    session.assert_whole();
    session.assert_nothing_lives();
}
