//! One line as bytes: `{"seq":…,"at":…,"v":…,"by":…,"events":…,"sum":"<64 hex>"}` and a line feed.
//!
//! The sum covers the raw bytes, so it is checked before anything is parsed: whatever fails after that was written that way, by a
//! newer Chronicle or by mistake, and is not damage on disk. Start with `encode`; `decode` is its inverse.

use chronicle_core::event::record::{Line, VERSION};
use serde::Deserialize;
use serde::de::Error as _;
use thiserror::Error;

use crate::ledger::{SUM_DIGITS, Sum};

/// Longest line, including its line feed: larger data belongs into an artifact.
pub const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Most lines are shorter: reserving this avoids growing the buffer.
const LINE_BYTES_USUAL: usize = 512;

const OPENS: &[u8] = b",\"sum\":\"";
const CLOSES: &[u8] = b"\"}\n";

/// Length of the end of a line, from `,"sum"` to the line feed.
pub(super) const CLOSING_BYTES: usize = OPENS.len() + SUM_DIGITS + CLOSES.len();

/// Why some bytes are not the expected line.
#[derive(Debug, Error)]
pub enum LineError {
    /// It does not end as a line must.
    #[error("it does not end in its sum")]
    Unclosed,
    /// Its bytes, or the line before it, do not match the sum.
    #[error("its sum is wrong")]
    Sum,
    /// It is intact, but has the wrong number.
    #[error("its number is {found} where {expected} is due")]
    Sequence {
        /// `seq` of the line.
        found: u64,
        /// `seq` that must follow the previous line.
        expected: u64,
    },
    /// It is intact, but has an event or value that this version does not know.
    #[error("it says `{kind}`, which this version does not know")]
    UnknownKind {
        /// The unknown event kind, or the unknown value inside of one.
        kind: String,
    },
    /// It is intact, but this version would misjudge it.
    #[error("it is of version {version}, and this Chronicle reads up to {VERSION}")]
    NewerVersion {
        /// `v` of the line.
        version: u32,
    },
    /// It is intact, but not a line of a ledger.
    #[error("it is not a line of a ledger: {0}")]
    Shape(serde_json::Error),
}

/// Serializes a line. Returns the sum that the next line builds on.
pub fn encode(line: &Line, previous: &Sum) -> Result<(Vec<u8>, Sum), serde_json::Error> {
    let mut bytes = Vec::with_capacity(LINE_BYTES_USUAL);
    serde_json::to_writer(&mut bytes, line)?;
    // The closing brace comes after the sum.
    bytes.pop();
    let sum = previous.then(&bytes);
    bytes.extend_from_slice(&closing(&sum));
    Ok((bytes, sum))
}

/// Parses a line with its line feed. Returns the sum that the next line builds on.
pub fn decode(bytes: &[u8], previous: &Sum, expected_seq: u64) -> Result<(Line, Sum), LineError> {
    let sum = checked(bytes, previous)?;
    // The sum was right, so an error from here on is not damage on disk: a newer Chronicle wrote the line.
    let line: Line = parse(bytes).map_err(|error| explain(bytes, error))?;
    // Checked after the sum and before the content is used: a newer meaning of known words must not be folded.
    if line.v > VERSION {
        return Err(LineError::NewerVersion { version: line.v });
    }
    if line.seq != expected_seq {
        return Err(LineError::Sequence { found: line.seq, expected: expected_seq });
    }
    Ok((line, sum))
}

/// Verifies that a line follows the given sum, without parsing it.
pub(super) fn checked(bytes: &[u8], previous: &Sum) -> Result<Sum, LineError> {
    let (body, end) = split(bytes).ok_or(LineError::Unclosed)?;
    let sum = previous.then(body);
    if end == closing(&sum) {
        return Ok(sum);
    }
    Err(if is_closing(end) { LineError::Sum } else { LineError::Unclosed })
}

/// Checks UTF-8 once for the whole line instead of for each string. Always from a text: `serde_json` has another parser for bytes,
/// and with it the program would have the code for every event twice.
fn parse(bytes: &[u8]) -> Result<Line, serde_json::Error> {
    serde_json::from_str(std::str::from_utf8(bytes).map_err(serde_json::Error::custom)?)
}

/// The end of the line that has this sum.
pub(super) fn closing(sum: &Sum) -> [u8; CLOSING_BYTES] {
    let mut end = [0; CLOSING_BYTES];
    let (opens, rest) = end.split_at_mut(OPENS.len());
    let (digits, closes) = rest.split_at_mut(SUM_DIGITS);
    opens.copy_from_slice(OPENS);
    digits.copy_from_slice(&sum.hex());
    closes.copy_from_slice(CLOSES);
    end
}

fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    bytes.split_at_checked(bytes.len().checked_sub(CLOSING_BYTES)?)
}

fn is_closing(end: &[u8]) -> bool {
    end.starts_with(OPENS) && end.ends_with(CLOSES)
}

/// The sum matches, but the content is unknown: finds out why.
fn explain(bytes: &[u8], error: serde_json::Error) -> LineError {
    #[derive(Deserialize)]
    struct Version {
        v: u32,
    }
    match serde_json::from_slice(bytes) {
        Ok(Version { v }) if v > VERSION => LineError::NewerVersion { version: v },
        _ => match unknown_word(&error) {
            Some(kind) => LineError::UnknownKind { kind },
            None => LineError::Shape(error),
        },
    }
}

/// The word that serde did not find among an enum's variants. Only its message has it; the contract's tests of unknown kinds make
/// sure of that.
fn unknown_word(error: &serde_json::Error) -> Option<String> {
    let text = error.to_string();
    // serde offers no other way to tell an unknown word from a wrong shape. A test pins this wording.
    let (word, _) = text.strip_prefix("unknown variant `")?.split_once('`')?;
    Some(word.to_owned())
}
