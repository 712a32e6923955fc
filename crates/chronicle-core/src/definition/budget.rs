//! Budgets: their arithmetic, and how people write them.

use serde::{Deserialize, Serialize};

use super::workflow::Budget;
use super::workflow::check::values::{decimal, duration_ms};
use crate::base::quote::line;

/// Longest input of a person that is quoted back.
const QUOTE_MAX: usize = 80;

/// What a budget can limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Millionths of a dollar.
    Usd,
    /// Tokens of every kind.
    Tokens,
    /// Active time, in milliseconds.
    Time,
    /// Logical tries. Lost, paused and budget-stopped attempts belong to the try that continues.
    Attempts,
}

impl Resource {
    /// In the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Usd, Self::Tokens, Self::Time, Self::Attempts];
}

/// The limit that a budget sets for one resource; `None` if it sets none.
pub fn limit(budget: &Budget, resource: Resource) -> Option<u64> {
    match resource {
        Resource::Usd => budget.usd_micros,
        Resource::Tokens => budget.tokens,
        Resource::Time => budget.time_ms,
        Resource::Attempts => budget.attempts.map(u64::from),
    }
}

/// The limits of one budget, and those of the other for resources that it does not limit.
pub(crate) fn either(one: &Budget, other: &Budget) -> Budget {
    Budget {
        usd_micros: one.usd_micros.or(other.usd_micros),
        tokens: one.tokens.or(other.tokens),
        time_ms: one.time_ms.or(other.time_ms),
        attempts: one.attempts.or(other.attempts),
    }
}

/// The limits of the second budget for resources that the first one limits too.
pub(crate) fn also_limited(one: &Budget, other: &Budget) -> Budget {
    Budget {
        usd_micros: one.usd_micros.and(other.usd_micros),
        tokens: one.tokens.and(other.tokens),
        time_ms: one.time_ms.and(other.time_ms),
        attempts: one.attempts.and(other.attempts),
    }
}

/// Adds two raises, limit by limit.
pub(crate) fn sum(one: &Budget, other: &Budget) -> Budget {
    let of = |one: Option<u64>, other: Option<u64>| match (one, other) {
        (None, None) => None,
        (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
    };
    let attempts = of(one.attempts.map(u64::from), other.attempts.map(u64::from));
    Budget {
        usd_micros: of(one.usd_micros, other.usd_micros),
        tokens: of(one.tokens, other.tokens),
        time_ms: of(one.time_ms, other.time_ms),
        attempts: attempts.map(|number| u32::try_from(number).unwrap_or(u32::MAX)),
    }
}

/// Limits with a raise added. Resources without a limit stay without.
pub(crate) fn raised_by(limits: &Budget, more: &Budget) -> Budget {
    let all = sum(limits, more);
    Budget {
        // Only a limit that is there is raised. A raise must not become a limit where there was none.
        usd_micros: limits.usd_micros.and(all.usd_micros),
        tokens: limits.tokens.and(all.tokens),
        time_ms: limits.time_ms.and(all.time_ms),
        attempts: limits.attempts.and(all.attempts),
    }
}

/// Parses a raise as people write it: `+50000 tokens`, `2.50 usd`, `+$2.50`, `+30m`, `+3 attempts`, several separated by commas.
pub fn read(text: &str) -> Result<Budget, String> {
    let mut all = Budget::default();
    for part in text.split(',') {
        let more = read_one(part.trim()).ok_or_else(|| {
            let part = line(part, QUOTE_MAX);
            format!(
                "`{part}` is no budget: say `+50000 tokens`, `+2.50 usd`, `+30m` or `+3 attempts`"
            )
        })?;
        all = sum(&all, &more);
    }
    Ok(all)
}

fn read_one(text: &str) -> Option<Budget> {
    let text = text.strip_prefix('+').unwrap_or(text).trim();
    let text = text.replace('_', "").to_lowercase();
    let (number, unit) = text.split_once(char::is_whitespace).unwrap_or((text.as_str(), ""));
    let none = Budget::default();
    let dollars =
        |number: &str| Some(Budget { usd_micros: Some(decimal(number, 6)?), ..none.clone() });
    match (unit.trim(), number.strip_prefix('$')) {
        ("" | "usd", Some(number)) => dollars(number),
        ("usd" | "dollars", None) => dollars(number),
        ("tokens" | "token", None) => Some(Budget { tokens: number.parse().ok(), ..none.clone() }),
        ("attempts" | "attempt", None) => {
            Some(Budget { attempts: number.parse().ok(), ..none.clone() })
        }
        // A bare number is none of them for sure.
        ("" | "time", None) if number.ends_with(|end: char| end.is_ascii_alphabetic()) => {
            Some(Budget { time_ms: duration_ms(number), ..none.clone() })
        }
        _ => None,
    }
    .filter(|budget| *budget != none)
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::definition::workflow::Budget;

    #[test]
    fn amounts_as_people_say_them() {
        let said = [
            "+50000 tokens",
            "50_000 Tokens",
            "+2.5 usd",
            "+$2.5",
            "+30m",
            "90s time",
            "3 attempts",
        ];
        let tokens = Budget { tokens: Some(50_000), ..Budget::default() };
        let usd = Budget { usd_micros: Some(2_500_000), ..Budget::default() };
        let time = |ms| Budget { time_ms: Some(ms), ..Budget::default() };
        let attempts = Budget { attempts: Some(3), ..Budget::default() };
        let meant =
            [tokens.clone(), tokens, usd.clone(), usd, time(1_800_000), time(90_000), attempts];
        assert_eq!(said.map(|text| read(text).unwrap()), meant);
        assert_eq!(
            read("+10 tokens, +1 attempt, +5 tokens").unwrap(),
            Budget { tokens: Some(15), attempts: Some(1), ..Budget::default() }
        );
    }

    #[test]
    fn invalid_amounts_are_refused() {
        for text in ["", "+5", "lots", "-5 tokens", "5 beans", "1e3 tokens", "$", "usd", "+,"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
