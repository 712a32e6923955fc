//! Sentences about budgets, warnings and raises.

use super::{agent_name, duration, tokens, usd};
use crate::base::ids::{GateId, Place};
use crate::definition::budget::{Resource, limit};
use crate::definition::workflow::Budget;
use crate::event::budget::{BudgetRaised, BudgetWarned, Lack};
use crate::event::{GateKind, GateOpened};
use crate::state::State;
use crate::state::budget::{Balance, Shortage, around, balances};

pub(super) fn warned(warned: &BudgetWarned) -> String {
    let BudgetWarned { place, resource, spent, limit } = warned;
    // Wider than the numbers: a hundred times the largest count of tokens does not fit otherwise.
    let share = u128::from(*spent) * 100 / u128::from((*limit).max(1));
    format!(
        "{share} % of {} is spent: {} of {}",
        account(place.as_ref()),
        amount(*resource, *spent),
        amount(*resource, *limit)
    )
}

pub(super) fn raised_by(raised: &BudgetRaised) -> String {
    let place = raised.place.as_ref();
    if raised.unpriced {
        return format!("{} accepted unpriced work under {}", raised.who, account(place));
    }
    format!("{} by {}", self::raised(place, &raised.more), raised.who)
}

/// By how much a budget was raised.
pub(crate) fn raised(place: Option<&Place>, more: &Budget) -> String {
    let each = Resource::ALL.into_iter().filter_map(|it| Some((it, limit(more, it)?)));
    let each: Vec<String> = each.map(|(resource, more)| amount(resource, more)).collect();
    format!("{} raised by {}", account(place), each.join(", "))
}

/// Why nobody may work.
pub(crate) fn short(short: &Shortage) -> String {
    match short {
        Shortage::UsedUp(of) => {
            format!("{} is used up: {}", account(of.place.as_ref()), balance(of))
        }
        Shortage::Unpriced { of, agent } => format!(
            "{} is {}, and the price of `{}` is unknown: may it work anyway?",
            account(of.place.as_ref()),
            amount(of.resource, of.limit),
            agent_name(agent)
        ),
    }
}

/// `52,000 tokens of 50,000 tokens`.
pub(crate) fn balance(of: &Balance) -> String {
    format!("{} of {}", amount(of.resource, of.spent), amount(of.resource, of.limit))
}

/// Why a limit cannot be raised.
pub(crate) fn no_such_limit(place: Option<&Place>, resource: Resource) -> String {
    let whose = place.map_or_else(|| "the run".to_owned(), budget_owner);
    format!("{whose} has no limit on {} that could be raised", name(resource))
}

/// The command that raises a budget, with an amount that lets work go on for a while.
pub(super) fn next(state: &State, gate: &GateOpened, run: &str) -> String {
    let Some(resource) = lacking(gate) else { return String::new() };
    let of = used_up(state, gate, resource);
    let place = of.as_ref().and_then(|of| of.place.as_ref());
    let place = place.map_or_else(String::new, |place| format!(" --place {place}"));
    format!("chronicle budget {run} {}{place}", enough(resource, of.as_ref()))
}

/// How much more a used-up budget needs, and an amount that lets work go on for a while: `+500 tokens`. `None` for other gates.
pub(crate) fn more(state: &State, gate: &GateOpened) -> Option<(String, String)> {
    let resource = lacking(gate)?;
    let of = used_up(state, gate, resource)?;
    let enough = enough(resource, Some(&of));
    let least = match of.spent.saturating_sub(of.limit) {
        0 => format!("all of it is spent: anything more lets it continue, such as `{enough}`"),
        over => {
            let over = amount(resource, over);
            format!("it is {over} over: only a larger raise lets it continue, such as `{enough}`")
        }
    };
    Some((least, enough))
}

/// What a gate for a used-up budget asks now: a raise that was too small has changed the limit since it opened.
pub(crate) fn about_now(state: &State, gate: &GateOpened) -> Option<String> {
    let of = used_up(state, gate, lacking(gate)?)?;
    Some(short(&Shortage::UsedUp(of)))
}

/// The limit that a budget gate is about. Gates of early versions do not say which.
fn lacking(gate: &GateOpened) -> Option<Resource> {
    let is_budget = gate.gate_kind == GateKind::Budget;
    match gate.lack.filter(|_| is_budget) {
        Some(Lack::More(resource)) => Some(resource),
        Some(Lack::Price | Lack::Rounds) => None,
        // Gates of older ledgers do not say what is lacking.
        None => is_budget.then_some(Resource::Tokens),
    }
}

fn used_up(state: &State, gate: &GateOpened, resource: Resource) -> Option<Balance> {
    let all = balances(state, &gate.place);
    all.into_iter().find(|of| of.resource == resource && of.spent >= of.limit)
}

/// The overspent amount plus half of the limit, rounded.
fn enough(resource: Resource, of: Option<&Balance>) -> String {
    let Some(of) = of else { return example(resource).to_owned() };
    // What is missing and half of the limit again, so that the work does not stop at the same gate at once.
    let more = of.spent.saturating_sub(of.limit).saturating_add((of.limit / 2).max(1));
    match resource {
        Resource::Usd => {
            let cents = rounded_up(more.div_ceil(10_000));
            format!("+{}.{:02} usd", cents / 100, cents % 100)
        }
        Resource::Tokens => format!("+{} tokens", rounded_up(more)),
        Resource::Time => match more.div_ceil(1_000) {
            seconds @ 0..60 => format!("+{seconds}s"),
            seconds => format!("+{}m", seconds.div_ceil(60)),
        },
        Resource::Attempts if more == 1 => "+1 attempt".to_owned(),
        Resource::Attempts => format!("+{more} attempts"),
    }
}

/// Rounds up to one significant digit.
fn rounded_up(number: u64) -> u64 {
    let unit = 10_u64.checked_pow(number.max(1).ilog10()).unwrap_or(1);
    number.div_ceil(unit).saturating_mul(unit)
}

/// What answers the gate of a used-up budget, for whoever tries something else.
pub(crate) fn asks_for_more(gate: GateId) -> String {
    format!("{gate} asks for a higher budget: `budget` raises it, `cancel` ends the run")
}

/// The owner of a phase's limit: the phase, or the workflow inside of it.
pub fn budget_owner(place: &Place) -> String {
    match around(place) {
        Some(phase) => format!("the workflow in `{phase}`"),
        None => format!("`{place}`"),
    }
}

fn account(place: Option<&Place>) -> String {
    let of = |place| format!("the budget of {}", budget_owner(place));
    place.map_or_else(|| "the run's budget".to_owned(), of)
}

fn amount(resource: Resource, number: u64) -> String {
    match resource {
        Resource::Usd => usd(number),
        Resource::Tokens => tokens(number),
        Resource::Time => duration(number),
        Resource::Attempts if number == 1 => "1 attempt".to_owned(),
        Resource::Attempts => format!("{number} attempts"),
    }
}

fn name(resource: Resource) -> &'static str {
    match resource {
        Resource::Usd => "dollars",
        Resource::Tokens => "tokens",
        Resource::Time => "time",
        Resource::Attempts => "attempts",
    }
}

fn example(resource: Resource) -> &'static str {
    match resource {
        Resource::Usd => "+N usd",
        Resource::Tokens => "+N tokens",
        Resource::Time => "+30m",
        Resource::Attempts => "+N attempts",
    }
}
