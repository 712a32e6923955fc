//! The moves of a scripted world, read from their words.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use chronicle_core::base::ids::{
    AttemptId, FolderId, FramePath, GateId, Outcome, PhaseId, Place, SessionId, TreeId,
};
use chronicle_core::base::time::Millis;
use chronicle_core::base::usage::{Scope, Usage};
use chronicle_core::definition::guard::RuleAt;
use chronicle_core::event::carried::{Carried, CarriedFrame};
use chronicle_core::event::input::{AttemptReport, Command, EndSeen, SaidBefore, TimerKind};
use chronicle_core::event::room::RoomLimit;
use chronicle_core::event::signal::{Signal, parse};
use chronicle_core::event::{
    Call, Change, CrashClass, GrantScope, Issues, LedgerRepaired, Message,
};
use chronicle_core::guard::{Judgement, RuleKind, RuleRef};
use chronicle_core::state::State;

/// A call as an adapter reports it. The input is JSON, or else a text; it is shown as it stands here.
pub(crate) fn calls(id: &str, tool: &str, input: &str) -> AttemptReport {
    let whole = serde_json::from_str(input).unwrap_or_else(|_| input.into());
    let call = Call { shown: input.to_owned(), ..Call::new(id, tool, &whole, &[]) };
    AttemptReport::ToolCalled { call: Box::new(call), judged: Judgement::Clear }
}

/// A shell command that needs a person's leave.
pub(crate) fn needs_leave(id: &str, command: &str) -> AttemptReport {
    let call = Call::new(id, "bash", &serde_json::json!({ "command": command }), &[]);
    let rule = RuleRef { kind: RuleKind::Command, text: "rm *".to_owned(), at: None };
    let judged = Judgement::Ask { rule, why: "it deletes files".to_owned() };
    AttemptReport::ToolCalled { call: Box::new(call), judged }
}

/// A shell command that ran although nobody was asked.
fn unasked(id: &str, command: &str) -> AttemptReport {
    let call = Call::new(id, "bash", &serde_json::json!({ "command": command }), &[]);
    let (judged, said, stops) = (Judgement::Clear, SaidBefore::Nothing, true);
    AttemptReport::ToolUnasked { call: Box::new(call), judged, said, stops }
}

/// A shell command that a rule forbids.
fn forbidden(id: &str, command: &str) -> AttemptReport {
    let call = Call::new(id, "bash", &serde_json::json!({ "command": command }), &[]);
    let at = Some(RuleAt { file: "rules.yaml".to_owned(), line: 7 });
    let rule = RuleRef { kind: RuleKind::Command, text: "rm -rf".to_owned(), at };
    let judged = Judgement::Deny { rule, why: "it deletes everything".to_owned() };
    AttemptReport::ToolCalled { call: Box::new(call), judged }
}

/// The report of a call that waits to be decided, if the message is its verdict: as a supervisor makes it again.
pub(crate) fn made_again(
    state: &State,
    attempt: AttemptId,
    message: Message,
) -> Option<AttemptReport> {
    let Message::Verdict(gate) = message else { return None };
    let held = state.attempt(attempt)?.held.iter().find(|held| held.gate == gate)?;
    state.made_again(held).filter(|_| held.verdict.is_none())
}

/// What an agent, or something about it, does next.
pub(crate) enum Move {
    /// It works on without a word.
    Nothing,
    Report(AttemptReport),
    Signal(String, Signal),
    Timer(TimerKind),
    /// A person says something while it works.
    Person(Command),
}

impl Move {
    /// The move with that number in the script of its place.
    pub(crate) fn read(id: AttemptId, number: usize, text: &str) -> Self {
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        let call = format!("c{number}");
        let request = format!("r{number}");
        let changed = |change| AttemptReport::FileChanged { path: rest.to_owned(), change };
        let usage = |scope| AttemptReport::Usage { scope, usage: priced(rest) };
        Self::Report(match verb {
            "hang" => return Self::Nothing,
            "go" | "complete" => return Self::Signal(request, leave(verb, rest)),
            "call" => {
                let (tool, arguments) = rest.split_once(' ').unwrap();
                let arguments = serde_json::from_str(arguments).unwrap();
                return Self::Signal(request, parse(tool, &arguments));
            }
            "nonsense" => {
                return Self::Signal(request, Signal::Malformed("that is no signal".to_owned()));
            }
            "timeout" => return Self::Timer(TimerKind::Timeout),
            "grace" => return Self::Timer(TimerKind::Grace),
            "still" => return Self::Timer(TimerKind::Standstill),
            "tool-over" => return Self::Timer(TimerKind::Tool),
            "time-over" => return Self::Timer(TimerKind::Budget),
            "person" => return Self::Person(command(rest, None)),
            "session" => AttemptReport::Session(SessionId::new(format!("{rest}-{id}"))),
            "held" => needs_leave(&call, rest),
            "forbidden" => forbidden(&call, rest),
            "tool" => calls(&call, rest, "{}"),
            "shell" => calls(&call, "bash", &serde_json::json!({ "command": rest }).to_string()),
            "tool-end" => AttemptReport::ToolEnded { call: rest.to_owned(), ok: true },
            // A command that nobody was asked about.
            "ran" => unasked(&call, rest),
            "unproven" => AttemptReport::GuardUnproven { why: rest.to_owned() },
            "other-walls" => AttemptReport::OtherWalls,
            // `full 8` of all agents, or `full 2 claude`.
            "full" => AttemptReport::RoomAwaited(limit(rest)),
            "room" => AttemptReport::RoomTaken,
            "wall" => AttemptReport::WallHit { call: None, said: rest.to_owned() },
            "tool-on" => AttemptReport::ToolWentOn { call: rest.to_owned() },
            "tool-fail" => AttemptReport::ToolEnded { call: rest.to_owned(), ok: false },
            "create" => changed(Change::Created),
            "change" => changed(Change::Changed),
            "delete" => changed(Change::Deleted),
            "usage" => usage(Scope::Message(format!("m{number}"))),
            "usage-turn" => usage(Scope::Turn),
            "usage-session" => usage(Scope::Session),
            "run" => {
                let (index, code) = rest.split_once(' ').unwrap();
                let (index, code) = (index.parse().unwrap(), code.parse().ok());
                AttemptReport::CommandEnded { index, code, output: "printed".to_owned() }
            }
            "idle" => AttemptReport::Idle,
            "withdraw" => AttemptReport::Withdrew { request: rest.to_owned() },
            "finish" => return Self::finish(),
            "lost" => AttemptReport::Ended(EndSeen { lost: true, ..EndSeen::default() }),
            "unclear" => {
                let unclear = Some("1 process could not be ended".to_owned());
                AttemptReport::Ended(EndSeen { unclear, ..EndSeen::default() })
            }
            "died" => died(),
            "quota" => AttemptReport::Ended(EndSeen {
                error: Some((CrashClass::Quota, "no more".to_owned())),
                quota_until: Millis::parse(rest),
                ..EndSeen::default()
            }),
            "crash" => crash(rest),
            other => panic!("no such move: {other}"),
        })
    }

    /// Its turn is over, and it said so.
    pub(crate) fn finish() -> Self {
        let (finished, code, transcript_bytes) = (true, Some(0), 1_234);
        let seen = EndSeen { finished, code, transcript_bytes, ..EndSeen::default() };
        Self::Report(AttemptReport::Ended(seen))
    }

    pub(crate) fn session_gone() -> Self {
        Self::Report(crash("session_gone no such session"))
    }

    /// Whether a worker goes on with it after its leaving signal, instead of ending its turn.
    pub(crate) fn is_after_leaving(text: &str) -> bool {
        ["grace", "tool", "hang"].iter().any(|verb| text.split(' ').next() == Some(verb))
    }
}

fn limit(text: &str) -> RoomLimit {
    let (most, agent) = text.split_once(' ').map_or((text, None), |(most, it)| (most, Some(it)));
    RoomLimit { agent: agent.map(str::to_owned), most: most.parse().unwrap() }
}

fn died() -> AttemptReport {
    let (signal, strays, stderr) = (Some(9), 2, "out of memory".to_owned());
    AttemptReport::Ended(EndSeen { signal, strays, stderr, ..EndSeen::default() })
}

fn crash(text: &str) -> AttemptReport {
    let (class, said) = text.split_once(' ').unwrap_or((text, ""));
    let class: CrashClass = serde_json::from_value(class.into()).unwrap();
    let error = Some((class, said.to_owned()));
    AttemptReport::Ended(EndSeen { error, code: Some(1), ..EndSeen::default() })
}

/// `100` tokens, or `100 at 5`: with their price in millionths of a dollar.
fn priced(text: &str) -> Usage {
    let (tokens, price) = text.split_once(" at ").unwrap_or((text, ""));
    Usage {
        input: tokens.parse().unwrap(),
        output: 1,
        usd_micros: price.parse().unwrap_or_default(),
        unpriced: price.is_empty(),
        ..Usage::default()
    }
}

fn leave(verb: &str, rest: &str) -> Signal {
    let mut words = rest.split_whitespace();
    let target = (verb == "go").then(|| words.next().map(PhaseId::from)).flatten();
    let outcome = words.next().map(Outcome::from);
    Signal::Leave {
        target,
        outcome,
        summary: "did it".to_owned(),
        task: None,
        issues: Issues::default(),
    }
}

/// What a person types.
pub(crate) fn command(text: &str, gate: Option<GateId>) -> Command {
    let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
    let note = rest.to_owned();
    match verb {
        "approve" => Command::Approve { gate, note, scope: None },
        "approve-phase" => Command::Approve { gate, note, scope: Some(GrantScope::Phase) },
        "approve-run" => Command::Approve { gate, note, scope: Some(GrantScope::Run) },
        "reject" => Command::Reject { gate, note },
        "retry" => Command::Retry { place: None, note, agent: None, from: None },
        "retry-with" => {
            Command::Retry { place: None, note: String::new(), agent: Some(note), from: None }
        }
        "skip" => Command::Skip { place: None, note },
        "skip-step" => Command::Skip { place: Some(Place::new(rest)), note: String::new() },
        "answer" => Command::Answer { gate, text: note, note: String::new() },
        "budget" => Command::Budget {
            place: None,
            more: chronicle_core::definition::budget::read(rest).unwrap(),
        },
        "loops" => Command::Loops { place: None, more: rest.parse().unwrap() },
        "merge" => Command::Merge { keep: false },
        "title" => Command::Title { text: note },
        "note" => Command::Note { place: None, text: note },
        "go" => Command::Go { place: Place::new(rest), note: String::new() },
        "pause" => Command::Pause { reason: note },
        "resume" => Command::Resume,
        "cancel" => Command::Cancel { reason: note },
        "repair" => Command::Repair(LedgerRepaired { why: note, bytes: 0, file: None }),
        "rewind" => {
            let (frame, workflow, phase) =
                (FramePath::root(), "main".to_owned(), PhaseId::from(rest));
            let (task, summary, said) = (None, String::new(), String::new());
            let inside = false;
            let (at, step, folder) = (None, None, FolderId::Project);
            let root = CarriedFrame {
                frame,
                at,
                step,
                folder,
                workflow,
                phase,
                inside,
                task,
                plan: None,
                summary,
                said,
            };
            let carried = Carried { frames: vec![root], ..Carried::default() };
            Command::Rewind { to: 1, carried: Box::new(carried) }
        }
        "undo" => {
            let (from, to) = (TreeId::from("now"), TreeId::from("then"));
            Command::Undo { what: note, from, to, back: None }
        }
        other => panic!("no such answer: {other}"),
    }
}
