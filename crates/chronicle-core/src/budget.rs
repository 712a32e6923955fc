//! What a run and its phases may spend: accounts, what is left in them, and what they are short of.
//!
//! Every account is a place with everything below it, or the whole run. It counts all visits, attempts and sessions, so that
//! neither a crash nor a fresh start gives anything back. Nothing here decides; `engine/budget.rs` does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::SHELL;
use crate::event::Why;
use crate::ids::{Cause, Place};
use crate::limits::bounded;
use crate::state::{Attempt, State};
use crate::usage::Usage;
use crate::workflow::Budget;
use crate::workflow::check::values::{decimal, duration_ms};

/// Share of a limit, in percent, at which a run says so.
pub const WARN_PERCENT: u64 = 80;

/// Longest piece of what a person said that is quoted back.
const QUOTE_MAX: usize = 80;

/// What can be limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Millionths of a dollar.
    Usd,
    /// Tokens of every kind.
    Tokens,
    /// Active milliseconds.
    Time,
    /// Logical tries: what was lost, paused or stopped by a budget is the same try going on.
    Attempts,
}

impl Resource {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Usd, Self::Tokens, Self::Time, Self::Attempts];
}

/// What a gate for a budget waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "of", rename_all = "snake_case")]
pub enum Lack {
    /// More of this.
    More(Resource),
    /// A price: a person must agree to do without.
    Price,
}

/// Most of a limit is spent; said once for each limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetWarned {
    /// Whose limit; none = the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Of what.
    pub resource: Resource,
    /// How much is spent.
    pub spent: u64,
    /// How much may be.
    pub limit: u64,
}

/// A person lets more be spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetRaised {
    /// Whose limit; none = the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// How much more of each.
    #[serde(default)]
    pub more: Budget,
    /// Whether what has no known price may be spent too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpriced: bool,
    /// Who says so.
    pub who: String,
}

/// What people said about budgets, and what was said to them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Budgets {
    /// By how much each limit was raised; the run's own has an empty place.
    raised: BTreeMap<Place, Raised>,
    /// The limits that people were warned of.
    warned: Vec<(Option<Place>, Resource, u64)>,
    /// The last raise: clocks of time budgets start anew with it.
    raised_by: Option<Cause>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Raised {
    more: Budget,
    unpriced: bool,
}

impl Budgets {
    /// Whether nothing was ever said, so that nothing need be kept.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The last raise.
    pub fn raised_by(&self) -> Option<Cause> {
        self.raised_by
    }

    pub(crate) fn raise(&mut self, cause: Cause, raised: &BudgetRaised) {
        let known = self.raised.entry(key(raised.place.as_ref())).or_default();
        known.more = sum(&known.more, &raised.more);
        known.unpriced |= raised.unpriced;
        self.raised_by = Some(cause);
    }

    pub(crate) fn warn(&mut self, warned: &BudgetWarned) {
        let of = (warned.place.clone(), warned.resource);
        self.warned.retain(|(place, resource, _)| (place, resource) != (&of.0, &of.1));
        self.warned.push((of.0, of.1, warned.limit));
    }

    fn is_warned(&self, place: Option<&Place>, resource: Resource, limit: u64) -> bool {
        self.warned.iter().any(|it| (it.0.as_ref(), it.1, it.2) == (place, resource, limit))
    }
}

/// One limit and how much of it is spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balance {
    /// Whose; none = the run's.
    pub place: Option<Place>,
    /// Of what.
    pub resource: Resource,
    /// How much is spent.
    pub spent: u64,
    /// How much may be.
    pub limit: u64,
}

/// Why nobody may work at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shortage {
    /// A limit is used up.
    UsedUp(Balance),
    /// There is a limit in dollars, and what this agent costs cannot be known.
    Unpriced {
        /// The limit.
        of: Balance,
        /// The agent.
        agent: String,
    },
}

impl Shortage {
    /// What would end it.
    pub fn lack(&self) -> Lack {
        match self {
            Self::UsedUp(of) => Lack::More(of.resource),
            Self::Unpriced { .. } => Lack::Price,
        }
    }

    /// The limit that it is about.
    pub fn balance(&self) -> &Balance {
        match self {
            Self::UsedUp(of) | Self::Unpriced { of, .. } => of,
        }
    }
}

/// Who is to begin, or works.
#[derive(Debug, Clone, Copy)]
pub enum Doing<'a> {
    /// A start, by this agent and for this reason.
    Begins(&'a str, &'a Why),
    /// An attempt in mid-turn.
    Works(&'a Attempt),
}

struct Account {
    place: Option<Place>,
    limits: Budget,
    unpriced: bool,
}

/// Every limit that holds at a place, with what is spent of it: the run's first, the innermost last.
pub fn balances(state: &State, place: &Place) -> Vec<Balance> {
    accounts(state, place).iter().flat_map(|account| account.balances(state)).collect()
}

/// Why nobody may begin or go on at a place; none while everything is within its limits.
pub fn shortage(state: &State, place: &Place, doing: Doing<'_>) -> Option<Shortage> {
    accounts(state, place).iter().find_map(|account| account.shortage(state, doing))
}

/// A limit of which so much is spent that people should know, and do not know yet.
pub fn warning(state: &State, place: &Place) -> Option<Balance> {
    balances(state, place).into_iter().find(|of| {
        let share = u128::from(of.spent) * 100;
        // What is used up altogether is told by the gate that it opens.
        of.spent < of.limit
            && share >= u128::from(of.limit) * u128::from(WARN_PERCENT)
            && !state.budgets.is_warned(of.place.as_ref(), of.resource, of.limit)
    })
}

/// Every limit of the run that is known now, with what is spent of it: of the run, and of phases in its frames.
pub fn all_balances(state: &State) -> Vec<Balance> {
    let phases = state.frames.values().filter_map(|frame| {
        let workflow = state.workflow(&frame.workflow)?;
        Some(workflow.phases.iter().map(|phase| frame.path.place(&phase.id)))
    });
    let mut known: Vec<Balance> = Vec::new();
    for of in phases.flatten().flat_map(|place| balances(state, &place)) {
        if !known.contains(&of) {
            known.push(of);
        }
    }
    known
}

/// How much longer may be worked at a place; none where time has no limit.
pub fn time_left_ms(state: &State, place: &Place) -> Option<u64> {
    let all = balances(state, place).into_iter();
    all.filter(|of| of.resource == Resource::Time).map(|of| of.limit.saturating_sub(of.spent)).min()
}

/// Whether anything at all has a limit, in any workflow of the run.
pub fn is_limited(state: &State) -> bool {
    let has = |budget: &Option<Budget>| budget.as_ref().is_some_and(|it| *it != Budget::default());
    state.run.as_ref().is_some_and(|run| {
        let any = |workflow: &crate::workflow::Workflow| {
            has(&workflow.budget) || workflow.phases.iter().any(|phase| has(&phase.budget))
        };
        run.workflows.iter().any(any)
    })
}

/// The run's account, then that of every phase on the way to a place.
fn accounts(state: &State, place: &Place) -> Vec<Account> {
    if !is_limited(state) {
        return Vec::new();
    }
    let main = state.run.as_ref().and_then(|run| run.workflows.first()?.budget.as_ref());
    let mut found: Vec<Account> =
        main.map(|limits| account(state, None, limits)).into_iter().collect();
    let mut path = String::new();
    for part in place.as_str().split('/') {
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(part);
        let on_the_way = Place::new(path.clone());
        let limits = declared(state, &on_the_way);
        found.extend(limits.map(|limits| account(state, Some(on_the_way), &limits)));
    }
    found
}

/// What a phase may spend by its own word, and by the word of the workflow inside it: the lower of each.
fn declared(state: &State, place: &Place) -> Option<Budget> {
    let phase = state.phase_at(place)?;
    let inner = phase.workflow.as_ref().and_then(|key| state.workflow(key)?.budget.as_ref());
    match (&phase.budget, inner) {
        (Some(own), Some(inner)) => Some(lower(own, inner)),
        (own, inner) => own.as_ref().or(inner).cloned(),
    }
}

fn account(state: &State, place: Option<Place>, limits: &Budget) -> Account {
    let raised = state.budgets.raised.get(&key(place.as_ref()));
    let limits = raised.map_or_else(|| limits.clone(), |raised| raised_by(limits, &raised.more));
    Account { place, limits, unpriced: raised.is_some_and(|raised| raised.unpriced) }
}

impl Account {
    fn balances(&self, state: &State) -> Vec<Balance> {
        let limited =
            Resource::ALL.into_iter().filter_map(|it| Some((it, limit(&self.limits, it)?)));
        let mut limited = limited.peekable();
        if limited.peek().is_none() {
            return Vec::new();
        }
        let spent = Spent::of(state, self.place.as_ref());
        let balance = |(resource, limit)| Balance {
            place: self.place.clone(),
            resource,
            spent: spent.by(resource),
            limit,
        };
        limited.map(balance).collect()
    }

    fn shortage(&self, state: &State, doing: Doing<'_>) -> Option<Shortage> {
        self.balances(state).into_iter().find_map(|of| {
            let counts = match (of.resource, doing) {
                (Resource::Usd | Resource::Tokens | Resource::Time, _) => true,
                // Who works has been counted, and the same try going on is no other.
                (Resource::Attempts, Doing::Works(_)) => false,
                (Resource::Attempts, Doing::Begins(_, why)) => !why.is_same_try(),
            };
            if counts && of.spent >= of.limit {
                return Some(Shortage::UsedUp(of));
            }
            let agent = self.unpriced_agent(state, of.resource, doing)?;
            Some(Shortage::Unpriced { of, agent })
        })
    }

    /// The agent whose price cannot be known under a limit in dollars, unless a person has agreed to that.
    fn unpriced_agent(
        &self,
        state: &State,
        resource: Resource,
        doing: Doing<'_>,
    ) -> Option<String> {
        if resource != Resource::Usd || self.unpriced {
            return None;
        }
        match doing {
            Doing::Works(attempt) if attempt.usage.unpriced => Some(attempt.intent.agent.clone()),
            Doing::Begins(agent, _) if agent != SHELL && never_priced(state, agent) => {
                Some(agent.to_owned())
            }
            Doing::Works(_) | Doing::Begins(..) => None,
        }
    }
}

/// Whether an agent has worked here without saying what it costs.
fn never_priced(state: &State, agent: &str) -> bool {
    state.attempts.iter().any(|it| it.intent.agent == agent && it.usage.unpriced)
}

/// Everything spent in one account.
#[derive(Default)]
struct Spent {
    usage: Usage,
    active_ms: u64,
    tries: u64,
}

impl Spent {
    fn of(state: &State, place: Option<&Place>) -> Self {
        let belongs = |other: &Place| {
            place.is_none_or(|place| {
                *place == *other || other.frame().is_within(&place.frame_below())
            })
        };
        let tallies = state.places.iter().filter(|(place, _)| belongs(place));
        tallies.fold(Self::default(), |sum, (_, tally)| Self {
            usage: sum.usage.plus(&tally.usage),
            active_ms: sum.active_ms.saturating_add(tally.active_ms),
            tries: sum.tries.saturating_add(u64::from(tally.tries)),
        })
    }

    fn by(&self, resource: Resource) -> u64 {
        match resource {
            Resource::Usd => self.usage.usd_micros,
            Resource::Tokens => self.usage.tokens(),
            Resource::Time => self.active_ms,
            Resource::Attempts => self.tries,
        }
    }
}

/// How much more, as people say it: `+50000 tokens`, `2.50 usd`, `+$2.50`, `+30m`, `+3 attempts`, several with commas.
pub fn read(text: &str) -> Result<Budget, String> {
    let mut all = Budget::default();
    for part in text.split(',') {
        let more = read_one(part.trim()).ok_or_else(|| {
            let part = bounded(part.trim(), QUOTE_MAX);
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

/// What a budget says of one resource.
pub fn limit(budget: &Budget, resource: Resource) -> Option<u64> {
    match resource {
        Resource::Usd => budget.usd_micros,
        Resource::Tokens => budget.tokens,
        Resource::Time => budget.time_ms,
        Resource::Attempts => budget.attempts.map(u64::from),
    }
}

fn key(place: Option<&Place>) -> Place {
    place.cloned().unwrap_or_else(|| Place::new(""))
}

fn lower(one: &Budget, other: &Budget) -> Budget {
    fn of<T: Ord + Copy>(one: Option<T>, other: Option<T>) -> Option<T> {
        one.into_iter().chain(other).min()
    }
    Budget {
        usd_micros: of(one.usd_micros, other.usd_micros),
        tokens: of(one.tokens, other.tokens),
        time_ms: of(one.time_ms, other.time_ms),
        attempts: of(one.attempts, other.attempts),
    }
}

/// Two raises together.
fn sum(one: &Budget, other: &Budget) -> Budget {
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

/// Limits with a raise added; what had no limit has none.
fn raised_by(limits: &Budget, more: &Budget) -> Budget {
    let all = sum(limits, more);
    Budget {
        usd_micros: limits.usd_micros.and(all.usd_micros),
        tokens: limits.tokens.and(all.tokens),
        time_ms: limits.time_ms.and(all.time_ms),
        attempts: limits.attempts.and(all.attempts),
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::workflow::Budget;

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
    fn what_is_no_amount() {
        for text in ["", "+5", "lots", "-5 tokens", "5 beans", "1e3 tokens", "$", "usd", "+,"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
