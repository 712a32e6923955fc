//! Token prices for agents that do not report cost: a built-in table, overridden by the user's own prices.
//!
//! A price from here marks the [`Usage`] as estimated. A figure from the agent for the same tokens replaces it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::base::usage::Usage;
use crate::definition::settings::{Settings, dollars};

/// The built-in table; each row names its source and date.
const TABLE: &str = include_str!("prices.toml");
/// Kinds of tokens that have a price of their own.
const KINDS: [&str; 4] = ["input", "output", "cache_read", "cache_write"];
/// Digits of a date at the end of a model's name.
const DATE_DIGITS: usize = 8;

/// The price of a model: millionths of a dollar for a million tokens of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Price {
    /// Input tokens that were not cached.
    pub input: u64,
    /// Output tokens of any kind.
    pub output: u64,
    /// Input tokens read from a cache.
    pub cache_read: u64,
    /// Input tokens written to a cache.
    pub cache_write: u64,
}

impl Price {
    /// What these tokens cost, in millionths of a dollar, rounded up.
    pub fn of(&self, usage: &Usage) -> u64 {
        let parts = [
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
        ];
        let sum = parts.iter().fold(0u128, |sum, (tokens, price)| {
            sum.saturating_add(u128::from(*tokens).saturating_mul(u128::from(*price)))
        });
        // Rounded up once for the sum: rounding down would make many small messages free.
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// All prices that are known.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    rows: BTreeMap<String, Price>,
}

impl Prices {
    /// The table with the user's own prices over it.
    pub fn of(settings: &Settings) -> Self {
        let mut prices = Self::table();
        // After the table, so that the user's own price replaces a built-in one.
        prices.rows.extend(settings.prices().map(|(model, price)| (plain(model), price)));
        prices
    }

    /// The built-in table without any settings.
    pub fn table() -> Self {
        Self { rows: rows(TABLE).unwrap_or_default() }
    }

    /// The price of a model by any of its names: with a provider in front, a date or a mark behind.
    pub fn find(&self, model: &str) -> Option<Price> {
        let name = plain(model);
        // Services name dated versions of a model that cost the same. The exact name comes first, should one of them differ.
        let found = self.rows.get(&name).or_else(|| self.rows.get(without_date(&name)?));
        found.copied()
    }

    /// The same usage with a price, if it has none and the model is known.
    #[must_use]
    pub fn priced(&self, usage: Usage, model: Option<&str>) -> Usage {
        let Some(price) = model.filter(|_| usage.unpriced).and_then(|model| self.find(model))
        else {
            return usage;
        };
        Usage { usd_micros: price.of(&usage), unpriced: false, estimated: true, ..usage }
    }
}

/// A model name as in the table: no provider, no mark in brackets, lower case.
fn plain(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model);
    // `opus[1m]`: a variant in brackets, as Claude Code names it.
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    name.trim().to_ascii_lowercase()
}

fn without_date(name: &str) -> Option<&str> {
    let (name, date) = name.rsplit_once('-')?;
    let is_date = date.len() == DATE_DIGITS && date.bytes().all(|byte| byte.is_ascii_digit());
    is_date.then_some(name)
}

/// The rows of the table; `None` unless every row has a source and a date.
fn rows(text: &str) -> Option<BTreeMap<String, Price>> {
    let file = DeTable::parse(text).ok()?;
    let DeValue::Table(table) = file.get_ref().get("prices")?.get_ref() else { return None };
    let row = |(model, row): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let model: &Cow<'_, str> = model.get_ref();
        Some((plain(model), read(row.get_ref(), &["source", "date"])?))
    };
    table.iter().map(row).collect()
}

/// Parses a price. The named texts must be present too, and nothing else. Input and output must have a price; cache prices
/// default to the input price.
pub(crate) fn read(said: &DeValue<'_>, texts: &[&str]) -> Option<Price> {
    let DeValue::Table(table) = said else { return None };
    let named = |name: &str| Some(table.get(name)?.get_ref());
    let is_said =
        |name: &&str| named(name).and_then(DeValue::as_str).is_some_and(|it| !it.is_empty());
    let is_known = |name: &str| KINDS.contains(&name) || texts.contains(&name);
    if !texts.iter().all(is_said) || !table.keys().all(|name| is_known(name.get_ref())) {
        return None;
    }
    let input = dollars(named("input")?)?;
    // Without prices of their own they count as input, which is never too low for what is read from a cache.
    let cache = |name| named(name).map_or(Some(input), dollars);
    Some(Price {
        input,
        output: dollars(named("output")?)?,
        cache_read: cache("cache_read")?,
        cache_write: cache("cache_write")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_read() {
        let lines = TABLE.lines().filter(|line| line.starts_with('"')).count();
        assert_eq!(rows(TABLE).map(|rows| rows.len()), Some(lines));
        assert_eq!(rows("[prices]\n\"a\" = { input = 1, output = 2, source = \"x\" }"), None);
    }

    #[test]
    fn a_model_is_found_by_all_its_names() {
        let prices = Prices::table();
        let opus = prices.find("claude-opus-4-8").unwrap();
        assert_eq!((opus.input, opus.cache_write), (5_000_000, 6_250_000));
        for name in ["anthropic/Claude-Opus-4-8", "claude-opus-4-8-20260115", "claude-opus-4-8[1m]"]
        {
            assert_eq!(prices.find(name), Some(opus), "{name}");
        }
        for name in ["", "claude", "claude-opus-4-8-fast", "claude-opus-4-8-2026011x", "my-model"] {
            assert_eq!(prices.find(name), None, "{name}");
        }
    }

    #[test]
    fn each_kind_of_token_has_its_price_and_a_part_counts_as_one() {
        let price = Price {
            input: 3_000_000,
            output: 15_000_000,
            cache_read: 300_000,
            cache_write: 3_750_000,
        };
        let usage =
            Usage { input: 1_000, output: 10, cache_read: 101, cache_write: 1, ..Usage::default() };
        assert_eq!(price.of(&usage), 3_185);
        let much = Usage { input: u64::MAX, ..Usage::default() };
        assert_eq!(price.of(&much), u64::MAX);
    }

    #[test]
    fn only_usage_without_a_price_gets_an_estimate() {
        let prices = Prices::table();
        let told = Usage { input: 10, usd_micros: 1, ..Usage::default() };
        assert_eq!(prices.priced(told, Some("claude-opus-4-8")), told);
        let untold = Usage { input: 10, unpriced: true, ..Usage::default() };
        assert_eq!(prices.priced(untold, Some("my-model")), untold);
        assert_eq!(prices.priced(untold, None), untold);
        let ours = prices.priced(untold, Some("claude-opus-4-8"));
        assert_eq!((ours.usd_micros, ours.unpriced, ours.estimated), (50, false, true));
    }
}
