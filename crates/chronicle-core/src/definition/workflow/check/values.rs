//! Numbers and durations as people write them.

/// Longest duration in a file. A longer one is a mistake, and sums of durations stay far from overflow.
const DURATION_MAX_MS: u64 = 366 * 24 * 60 * 60 * 1_000;

/// Pattern for [`duration_ms`] in the JSON Schema.
pub(crate) const DURATION_PATTERN: &str = r"^(?=.*[1-9])([0-9]+(\.[0-9]{0,3})?|[0-9]+(\.[0-9]{0,3})?h([0-9]+(\.[0-9]{0,3})?m)?([0-9]+(\.[0-9]{0,3})?s)?([0-9]+(\.[0-9]{0,3})?ms)?|[0-9]+(\.[0-9]{0,3})?m([0-9]+(\.[0-9]{0,3})?s)?([0-9]+(\.[0-9]{0,3})?ms)?|[0-9]+(\.[0-9]{0,3})?s([0-9]+(\.[0-9]{0,3})?ms)?|[0-9]+(\.[0-9]{0,3})?ms)$";

/// Units of a duration, largest first.
const UNITS_MS: [(&str, u64); 4] =
    [("h", 60 * 60 * 1_000), ("m", 60 * 1_000), ("s", 1_000), ("ms", 1)];

/// A decimal number in units of its last digit: `1.5` with two digits is 150. No sign, no exponent.
pub(crate) fn decimal(text: &str, digits: usize) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(part) || part.len() > digits {
        return None;
    }
    // As text and not as a floating number: 0.1 dollars must be exactly 100,000 millionths.
    format!("{whole}{part:0<digits$}").parse().ok()
}

/// A time in milliseconds: `10m`, `90s`, `1.5h`, `500ms`, `1h30m`, or a number of seconds.
pub(crate) fn duration_ms(text: &str) -> Option<u64> {
    let mut units = UNITS_MS.iter();
    let mut rest = text;
    let mut sum: u64 = 0;
    loop {
        let letters = rest.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(rest.len());
        let (number, after) = rest.split_at(letters);
        let digits =
            after.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(digits);
        // A number alone is in seconds; after another unit it would be anybody's guess.
        let is_bare = unit.is_empty() && rest.len() == text.len();
        // The iterator is not restarted: units must come in descending order and at most once, so `1m1h` is refused.
        let unit_ms = if is_bare { 1_000 } else { units.find(|(name, _)| *name == unit)?.1 };
        // Three digits behind the point are kept until they are multiplied by the unit: `1.5h` has no fraction in
        // milliseconds.
        sum = sum.checked_add(decimal(number, 3)?.checked_mul(unit_ms)? / 1_000)?;
        if after.is_empty() {
            // Longer than a year is a slip, and sums of such times could overflow elsewhere.
            return (sum <= DURATION_MAX_MS).then_some(sum);
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::{decimal, duration_ms};

    #[test]
    fn times_as_people_write_them() {
        let said = ["10m", "90s", "1h", "500ms", "90", "1.5", "1.5h", "0", "1h30m", "2m5s10ms"];
        let ms = [600_000, 90_000, 3_600_000, 500, 90_000, 1_500, 5_400_000, 0, 5_400_000, 125_010];
        assert_eq!(said.map(duration_ms), ms.map(Some));
    }

    #[test]
    fn invalid_durations_are_refused() {
        let said = ["", "m", "-1s", "1 h", "10x", "1e3", "99999999h", "é", "1.2345s"];
        assert_eq!(said.map(duration_ms), [None; 9]);
        let mixed = ["1h30", "30m1h", "1h1h", "1h 30m", "1hm", "h1m", "1ms1s"];
        assert_eq!(mixed.map(duration_ms), [None; 7]);
    }

    #[test]
    fn dollars_are_counted_in_millionths() {
        assert_eq!(decimal("2", 6), Some(2_000_000));
        assert_eq!(decimal("0.05", 6), Some(50_000));
        assert_eq!(decimal("99999999999999999999", 6), None);
        assert_eq!(decimal(".5", 6), None);
    }
}
