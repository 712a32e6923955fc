//! Accounts of what a run and its phases may spend, and what they lack.
//!
//! An account is a place with everything below it, or the whole run. It counts all visits, attempts and sessions, so that neither
//! a crash nor a fresh start returns anything. Nothing is decided here; `engine/budget.rs` does that.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Attempt, Facts};
use crate::base::ids::{Cause, Place, SHELL};
use crate::base::usage::Usage;
use crate::definition::budget::{Resource, also_limited, either, limit, raised_by, sum};
use crate::definition::workflow::Budget;
use crate::event::Why;
use crate::event::budget::{BudgetRaised, BudgetWarned, Lack};

/// Share of a limit, in percent, at which people are warned.
pub const WARN_PERCENT: u64 = 80;

/// Raises and warnings of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Budgets {
    /// The total raise of each limit; the run's own has an empty place.
    raised: BTreeMap<Place, Raised>,
    /// The limits that people were warned of.
    warned: Vec<(Option<Place>, Resource, u64)>,
    /// The last raise: time budget timers restart with it.
    raised_by: Option<Cause>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Raised {
    more: Budget,
    unpriced: bool,
}

impl Budgets {
    /// True if there was no raise and no warning, so that nothing is stored.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The event of the last raise.
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
        // One warning for each limit, by its amount: a raised limit is warned of again.
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
    /// The phase that has the limit; `None` for the run's own.
    pub place: Option<Place>,
    /// Which limit, and the unit of both figures.
    pub resource: Resource,
    /// Spent so far, in the resource's unit.
    pub spent: u64,
    /// The limit, in the resource's unit.
    pub limit: u64,
}

/// Why no attempt may work at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shortage {
    /// A limit is used up.
    UsedUp(Balance),
    /// There is a limit in dollars, and the price of this agent is unknown.
    Unpriced {
        /// The limit in dollars.
        of: Balance,
        /// The agent without a known price.
        agent: String,
    },
}

impl Shortage {
    /// What would resolve it.
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

/// Whether an attempt is about to start or already works.
#[derive(Debug, Clone, Copy)]
pub enum Doing<'a> {
    /// A start of this agent, for this reason.
    Begins(&'a str, &'a Why),
    /// An attempt that is working.
    Works(&'a Attempt),
}

struct Account {
    place: Option<Place>,
    limits: Budget,
    unpriced: bool,
}

/// Every limit that applies at a place with its spending: the run's first, the innermost last.
pub fn balances(state: &Facts, place: &Place) -> Vec<Balance> {
    accounts(state, place).iter().flat_map(|account| account.balances(state)).collect()
}

/// Why no attempt may start or continue at a place; `None` while all limits hold.
pub fn shortage(state: &Facts, place: &Place, doing: Doing<'_>) -> Option<Shortage> {
    // The run's own account comes first: while it is used up, raising that of a phase would help nothing.
    accounts(state, place).iter().find_map(|account| account.shortage(state, doing))
}

/// A limit that is mostly spent and that people have not been warned about.
pub fn warning(state: &Facts, place: &Place) -> Option<Balance> {
    balances(state, place).into_iter().find(|of| {
        // In 128 bits, since millionths of dollars times a hundred can exceed 64.
        let share = u128::from(of.spent) * 100;
        // What is used up altogether is told by the gate that it opens.
        of.spent < of.limit
            && share >= u128::from(of.limit) * u128::from(WARN_PERCENT)
            && !state.budgets.is_warned(of.place.as_ref(), of.resource, of.limit)
    })
}

/// Every limit of the run and of phases in its open frames, with its spending.
pub fn all_balances(state: &Facts) -> Vec<Balance> {
    let phases = state.frames.values().filter_map(|frame| {
        let workflow = state.workflow(&frame.workflow)?;
        Some(workflow.phases.iter().map(|phase| frame.path.place(&phase.id)))
    });
    let mut known: Vec<Balance> = Vec::new();
    for of in phases.flatten().flat_map(|place| balances(state, &place)) {
        // Phases of one frame share the accounts around them.
        if !known.contains(&of) {
            known.push(of);
        }
    }
    known
}

/// Remaining milliseconds at a place; `None` without a time limit.
pub fn time_left_ms(state: &Facts, place: &Place) -> Option<u64> {
    // The tightest of all accounts on the way: whichever is used up first ends the attempt.
    let all = balances(state, place).into_iter();
    all.filter(|of| of.resource == Resource::Time).map(|of| of.limit.saturating_sub(of.spent)).min()
}

/// True if any workflow of the run has a limit.
pub fn is_limited(state: &Facts) -> bool {
    let has = |budget: &Option<Budget>| budget.as_ref().is_some_and(|it| *it != Budget::default());
    state.run.as_ref().is_some_and(|run| {
        let any = |workflow: &crate::definition::workflow::Workflow| {
            has(&workflow.budget) || workflow.phases.iter().any(|phase| has(&phase.budget))
        };
        run.workflows.iter().any(any)
    })
}

/// The run's account, then that of every phase on the path to a place.
fn accounts(state: &Facts, place: &Place) -> Vec<Account> {
    // Most runs have no budget, and this is asked at each report of usage.
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
        // Every place on the way to this one may have a limit, and each includes what is spent below it.
        let declared = declared(state, &on_the_way);
        found.extend(declared.map(|(place, limits)| account(state, Some(place), &limits)));
    }
    found
}

/// The account of the workflow inside a phase, for what both limit: `build/` inside of `build`.
pub(crate) fn inside(place: &Place) -> Place {
    Place::new(format!("{place}/"))
}

/// The phase of such an account; `None` for others.
pub(crate) fn around(account: &Place) -> Option<Place> {
    account.as_str().strip_suffix('/').map(Place::new)
}

/// The budgets at a phase: its own, with what only the workflow inside limits; and that workflow's, for what both limit. They
/// are kept apart because each is raised by itself: one limit for both would let a raise of the inner one exceed the outer one.
fn declared(state: &Facts, place: &Place) -> impl Iterator<Item = (Place, Budget)> {
    let phase = state.phase_at(place);
    let inner = phase.and_then(|phase| state.workflow(phase.workflow.as_ref()?)?.budget.as_ref());
    let own = phase.and_then(|phase| phase.budget.as_ref());
    let (outer, both) = match (own, inner) {
        (Some(own), Some(inner)) => (Some(either(own, inner)), Some(also_limited(own, inner))),
        (own, inner) => (own.or(inner).cloned(), None),
    };
    let both = both.filter(|both| *both != Budget::default());
    let outer = outer.map(|limits| (place.clone(), limits));
    outer.into_iter().chain(both.map(|limits| (inside(place), limits)))
}

fn account(state: &Facts, place: Option<Place>, limits: &Budget) -> Account {
    let (mut limits, mut unpriced) = (limits.clone(), false);
    // A raise of a phase is also one of the workflow inside of it, or it would not let that work go on.
    let outer = place.as_ref().and_then(around);
    let places = [place.as_ref()].into_iter().chain(outer.as_ref().map(Some));
    for raised in places.filter_map(|place| state.budgets.raised.get(&key(place))) {
        limits = raised_by(&limits, &raised.more);
        unpriced |= raised.unpriced;
    }
    Account { place, limits, unpriced }
}

impl Account {
    fn balances(&self, state: &Facts) -> Vec<Balance> {
        let limited =
            Resource::ALL.into_iter().filter_map(|it| Some((it, limit(&self.limits, it)?)));
        let mut limited = limited.peekable();
        // Adding up all places is the expensive part, and is left out where no limit needs it.
        if limited.peek().is_none() {
            return Vec::new();
        }
        let spent = Spending::of(state, self.place.as_ref());
        let balance = |(resource, limit)| Balance {
            place: self.place.clone(),
            resource,
            spent: spent.by(resource),
            limit,
        };
        limited.map(balance).collect()
    }

    fn shortage(&self, state: &Facts, doing: Doing<'_>) -> Option<Shortage> {
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
            // Only if something is left: what is used up needs a raise in any case.
            let agent = self.unpriced_agent(state, of.resource, doing)?;
            Some(Shortage::Unpriced { of, agent })
        })
    }

    /// The agent whose price is unknown although there is a limit in dollars, unless a person accepted that.
    fn unpriced_agent(
        &self,
        state: &Facts,
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

/// True if an agent has worked here without reporting cost.
fn never_priced(state: &Facts, agent: &str) -> bool {
    // Known from what it reported in this run. Which models have a price is not known here, and may change while it works.
    state.attempts.iter().any(|it| it.intent.agent == agent && it.usage.unpriced)
}

/// Everything spent in one account.
#[derive(Default)]
struct Spending {
    usage: Usage,
    active_ms: u64,
    tries: u64,
}

impl Spending {
    fn of(state: &Facts, place: Option<&Place>) -> Self {
        // Sums per place and not attempts one by one: attempts are forgotten, sums are not.
        let tallies = state.places.iter().filter(|(other, _)| counts_for(place, other));
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

/// True if work at a place counts for the account of another one, or for the run's own (`None`).
pub(crate) fn counts_for(account: Option<&Place>, place: &Place) -> bool {
    // Both limits of a phase count the same work, so its inner account adds up the places of the phase itself.
    let outer = account.and_then(around);
    outer
        .as_ref()
        .or(account)
        .is_none_or(|account| *account == *place || place.frame().is_within(&account.frame_below()))
}

fn key(place: Option<&Place>) -> Place {
    place.cloned().unwrap_or_else(|| Place::new(""))
}
