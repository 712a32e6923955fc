//! Wall-clock times for people. No decision compares them: order is given by the sequence number.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::as_text::{self, put};

/// Wall-clock time in milliseconds since 1970; written as `2026-11-15T02:30:50.123Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub u64);

/// Later years have five digits: a clock that says so is broken, and its time is clamped to this.
const LATEST: u64 = 253_402_300_799_999;
const DAY_MS: u64 = 86_400_000;

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str(&self.text()))
    }
}

fn str(text: &[u8]) -> &str {
    std::str::from_utf8(text).unwrap_or_default()
}

impl Millis {
    /// Hand-written because every line of a ledger has at least one time, and the formatter is slower.
    fn text(self) -> [u8; 24] {
        let ms = self.0.min(LATEST);
        let (year, month, day) = date(ms / DAY_MS);
        let (s, ms) = (ms % DAY_MS / 1_000, ms % 1_000);
        let mut text = *b"0000-00-00T00:00:00.000Z";
        put(year, &mut text[..4]);
        put(month, &mut text[5..7]);
        put(day, &mut text[8..10]);
        put(s / 3_600, &mut text[11..13]);
        put(s / 60 % 60, &mut text[14..16]);
        put(s % 60, &mut text[17..19]);
        put(ms, &mut text[20..23]);
        text
    }

    /// The latest time that can be written.
    pub const LATEST: Self = Self(LATEST);

    /// That much later, clamped to the latest time.
    #[must_use]
    pub fn after(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms)).min(Self::LATEST)
    }

    /// Parses what `Display` writes.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let shape = b"0000-00-00T00:00:00.000Z";
        let fits = bytes.len() == shape.len()
            && bytes.iter().zip(shape).all(|(byte, form)| match form {
                b'0' => byte.is_ascii_digit(),
                mark => byte == mark,
            });
        if !fits {
            return None;
        }
        let part = |from: usize, to: usize| {
            bytes[from..to].iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
        };
        let (year, month, day) = (part(0, 4), part(5, 7), part(8, 10));
        let (hour, minute, second, ms) = (part(11, 13), part(14, 16), part(17, 19), part(20, 23));
        let days = days(year, month, day)?;
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        Some(Self(days * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1_000 + ms))
    }
}

/// The date of a day since 1970, computed in eras of 400 years that begin on 1 March.
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

/// Inverse of `date`; `None` for dates that do not exist or are before 1970.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year_from_march = year - u64::from(month <= 2);
    let (era, year_of_era) = (year_from_march / 400, year_from_march % 400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = (era * 146_097 + day_of_era).checked_sub(719_468)?;
    (date(days) == (year, month, day)).then_some(days)
}

impl Serialize for Millis {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(str(&self.text()))
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        as_text::read(from, |text| {
            Self::parse(text).ok_or_else(|| format!("`{text}` is not a time"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times_are_written_as_people_read_them() {
        assert_eq!(Millis(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Millis(951_782_400_000).to_string(), "2000-02-29T00:00:00.000Z");
        assert_eq!(Millis(1_794_709_850_123).to_string(), "2026-11-15T02:30:50.123Z");
        assert_eq!(Millis(u64::MAX).to_string(), "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn every_day_reads_back() {
        for day in 0..80_000 {
            let time = Millis(day * DAY_MS + 1);
            assert_eq!(Millis::parse(&time.to_string()), Some(time));
        }
    }

    #[test]
    fn invalid_times_are_refused() {
        for text in [
            "",
            "2026-13-01T00:00:00.000Z",
            "2026-02-30T00:00:00.000Z",
            "2026-11-15",
            "2026-11-15T24:00:00.000Z",
            "1969-12-31T00:00:00.000Z",
            "+026-11-15T00:00:00.000Z",
        ] {
            assert_eq!(Millis::parse(text), None, "{text}");
        }
    }
}
