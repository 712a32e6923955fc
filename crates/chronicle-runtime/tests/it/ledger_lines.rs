//! Lines for the ledger's tests, written by the ledger itself or by hand.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use chronicle_core::base::ids::AttemptId;
use chronicle_core::base::time::Millis;
use chronicle_core::event::input::{Actor, By};
use chronicle_core::event::record::{Line, VERSION};
use chronicle_core::event::{Caller, Event, ToolCalled, ToolKind, Verdict};
use chronicle_core::guard::Judgement;
use chronicle_runtime::for_tests::ledger::{
    Cursor, Head, Holder, Ledger, LedgerError, Sum, Writer, encode, open,
};

pub(crate) fn who(name: &str) -> Holder {
    Holder::current(name, Millis(1_794_709_850_123))
}

/// A line with words that need escapes, and `,"sum"` where it is not the sum.
pub(crate) fn line(seq: u64) -> Line {
    let input = format!(r#"{{"path":"src/ä\n{seq}.rs","sum":"0"}}"#);
    line_of(
        seq,
        vec![
            Event::RunPaused { reason: format!("rests \"here\"\n\u{1f980} {seq}") },
            Event::ToolCalled(ToolCalled {
                attempt: AttemptId(7),
                call: format!("call-{seq}"),
                tool: "write".to_owned(),
                input,
                sum: None,
                kind: ToolKind::Unknown,
                by: Caller::Worker,
                command: None,
                command_cut: false,
                background: false,
                path: None,
                start_file: false,
                folder: None,
                verdict: Verdict::Denied("no".to_owned()),
                unasked: false,
                judged: Judgement::Clear,
                gate: None,
                active_ms: seq,
            }),
        ],
    )
}

pub(crate) fn line_of(seq: u64, events: Vec<Event>) -> Line {
    let by = By { actor: Actor::Person("ada".to_owned()), request: Some(format!("r{seq}")) };
    Line {
        seq,
        at: Millis(1_794_709_850_123 + seq),
        v: VERSION,
        by,
        input: None,
        events,
        texts: Vec::new(),
    }
}

/// The bytes of lines 1 to `count`, and where each ends.
pub(crate) fn written(count: u64) -> (Vec<u8>, Vec<Head>) {
    let (mut bytes, mut heads, mut sum) = (Vec::new(), vec![Head::EMPTY], Sum::ZERO);
    for seq in 1..=count {
        let (more, next) = encode(&line(seq), &sum).unwrap();
        bytes.extend_from_slice(&more);
        sum = next;
        heads.push(Head { seq, sum, at: Cursor::of_backend(bytes.len() as u64) });
    }
    (bytes, heads)
}

/// A whole line of any words, with the right sum: the text is the line up to where the sum comes.
pub(crate) fn by_hand(text: &str, previous: &Sum) -> Vec<u8> {
    let sum = previous.then(text.as_bytes());
    format!("{text},\"sum\":\"{sum}\"}}\n").into_bytes()
}

pub(crate) fn append(writer: &mut dyn Writer, count: u64) -> Vec<Head> {
    (0..count)
        .map(|_| {
            let seq = writer.head().seq + 1;
            writer.append(seq, &line(seq)).unwrap()
        })
        .collect()
}

pub(crate) type Opened = Result<(Box<dyn Writer>, Vec<Line>), LedgerError>;

pub(crate) fn open_all(ledger: &dyn Ledger) -> Opened {
    let mut lines = Vec::new();
    let writer = open(ledger, who("opens"), Head::EMPTY, |line| lines.push(line))?;
    Ok((writer, lines))
}

/// The lines before the first problem, and the problem.
pub(crate) fn read_all(ledger: &dyn Ledger) -> (Vec<Line>, Option<LedgerError>) {
    let mut lines = Vec::new();
    for next in ledger.read(Head::EMPTY).unwrap() {
        match next {
            Ok((line, _)) => lines.push(line),
            Err(error) => return (lines, Some(error)),
        }
    }
    (lines, None)
}

pub(crate) fn lines(count: u64) -> Vec<Line> {
    (1..=count).map(line).collect()
}
