//! Any bytes as a ledger: what was written is read as it was, and nothing else is ever believed.

use chronicle_core::base::time::Millis;
use chronicle_core::event::Event;
use chronicle_core::event::input::{Actor, By};
use chronicle_core::event::record::{Line, VERSION};
use chronicle_core::state::State;
use chronicle_runtime::for_tests::ledger::{
    Head, Holder, Ledger, LedgerError, Sum, Writer, decode, encode, open,
};
use chronicle_testkit::Memory;

/// Most lines of the ledger that is changed.
const LINES: u64 = 4;

/// Opens the bytes as they are, and as changes of a good ledger.
pub(crate) fn check(bytes: &[u8]) {
    open_anything(bytes);
    let _ = decode(bytes, &Sum::ZERO, 1);
    change_good(bytes);
}

fn good_line(seq: u64) -> Line {
    let reason = format!("rests \"here\",\"sum\":\"0\"}}\n🦀 {seq}");
    let by = By { actor: Actor::Person("ada".to_owned()), request: None };
    let events = vec![Event::RunPaused { reason }, Event::RunResumed];
    Line { seq, at: Millis(seq), v: VERSION, by, input: None, events, texts: Vec::new() }
}

fn good() -> (Vec<u8>, Vec<Line>) {
    let (mut bytes, mut sum) = (Vec::new(), Sum::ZERO);
    let lines: Vec<Line> = (1..=LINES).map(good_line).collect();
    for line in &lines {
        let (more, next) = encode(line, &sum).unwrap_or_else(|error| panic!("{error}"));
        bytes.extend_from_slice(&more);
        sum = next;
    }
    (bytes, lines)
}

fn in_memory(bytes: &[u8]) -> Memory {
    let memory = Memory::new();
    memory.replace(bytes);
    memory
}

fn read(memory: &Memory) -> (Vec<Line>, Option<LedgerError>) {
    let mut lines = Vec::new();
    let found = memory.read(Head::EMPTY).unwrap_or_else(|error| panic!("{error}"));
    for next in found {
        match next {
            Ok((line, _)) => lines.push(line),
            Err(error) => return (lines, Some(error)),
        }
    }
    (lines, None)
}

fn claim(memory: &Memory) -> Result<(Box<dyn Writer>, Vec<Line>), LedgerError> {
    let mut lines = Vec::new();
    let who = Holder::current("fuzz", Millis(1));
    let writer = open(memory, who, Head::EMPTY, |line| lines.push(line))?;
    Ok((writer, lines))
}

/// Who may write then stands at the end of lines that were really written; else nothing was touched.
fn open_anything(bytes: &[u8]) {
    let memory = in_memory(bytes);
    let (lines, problem) = read(&memory);
    let mut state = State::default();
    for line in &lines {
        state.apply(line);
    }
    match claim(&memory) {
        Err(_) => {
            assert!(problem.is_some(), "read well, and not opened");
            assert_eq!(memory.bytes(), bytes, "refused, and changed all the same");
        }
        Ok((writer, folded)) => {
            assert!(problem.is_none() && folded == lines);
            let kept = memory.bytes();
            assert_eq!(kept.len() as u64, writer.head().at.for_backend());
            assert!(bytes.starts_with(&kept));
            let torn = writer.torn().map_or(0, |torn| torn.bytes);
            assert_eq!(kept.len() as u64 + torn, bytes.len() as u64);
        }
    }
}

/// The bytes as changes: where, how much goes, what comes, and again.
fn change_good(mut edits: &[u8]) {
    let (mut bytes, lines) = good();
    while let [high, low, goes, comes, rest @ ..] = edits {
        let at = usize::from(u16::from_be_bytes([*high, *low])) % (bytes.len() + 1);
        let end = (at + usize::from(*goes)).min(bytes.len());
        let (new, rest) = rest.split_at(usize::from(comes % 32).min(rest.len()));
        bytes.splice(at..end, new.iter().copied());
        edits = rest;
    }
    let (found, _) = read(&in_memory(&bytes));
    assert_eq!(found, lines[..found.len().min(lines.len())], "something was believed");
    open_anything(&bytes);
}
