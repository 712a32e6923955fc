//! The sums that chain one line to the next, and name artifacts.

use std::fmt;
use std::str::FromStr;

use chronicle_core::base::as_text;
use serde::{Deserialize, Serialize};

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// How many digits a sum has when written.
pub const SUM_DIGITS: usize = 64;

/// A BLAKE3 sum, written as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sum(pub [u8; 32]);

impl Sum {
    /// What stands before the first line.
    pub const ZERO: Self = Self([0; 32]);

    /// The sum of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes).into())
    }

    /// The sum of some bytes that follow whatever the previous sum covers.
    #[must_use]
    pub fn then(&self, bytes: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0);
        hasher.update(bytes);
        Self(hasher.finalize().into())
    }

    /// The sum as 64 lower-case hex digits.
    pub fn hex(&self) -> [u8; SUM_DIGITS] {
        let mut digits = [0; SUM_DIGITS];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        digits
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.hex()).unwrap_or_default())
    }
}

impl fmt::Debug for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Sum {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse(text.as_bytes()).ok_or_else(|| format!("`{text}` is not a sum of 64 hex digits"))
    }
}

fn parse(digits: &[u8]) -> Option<Sum> {
    if digits.len() != SUM_DIGITS {
        return None;
    }
    let mut sum = Sum::ZERO;
    for (byte, pair) in sum.0.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(sum)
}

fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl Serialize for Sum {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(std::str::from_utf8(&self.hex()).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Sum {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        as_text::read(from, str::parse)
    }
}
