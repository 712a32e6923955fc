//! Values that are serialized as text: parsed without copying the text.

use std::fmt;

use serde::Deserializer;
use serde::de::{Error, Visitor};

struct TextVisitor<F>(F);

impl<T, F: FnOnce(&str) -> Result<T, String>> Visitor<'_> for TextVisitor<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }
}

/// Parses a value from its text.
pub fn read<'de, D: Deserializer<'de>, T>(
    from: D,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, D::Error> {
    from.deserialize_str(TextVisitor(parse))
}

/// Writes a number right-aligned into all of these bytes, padded with zeros.
pub(crate) fn put(mut number: u64, into: &mut [u8]) {
    for place in into.iter_mut().rev() {
        *place = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
    }
}
