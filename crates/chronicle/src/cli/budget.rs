//! `chronicle budget`, and the budget flags of `chronicle run`.

use chronicle_core::base::ids::Place;
use chronicle_core::definition::budget;
use chronicle_core::definition::workflow::{Budget, Workflow};
use chronicle_core::event::GateKind;
use chronicle_core::event::budget::Lack;
use chronicle_core::event::input::Command;
use chronicle_core::view::GateRow;
use chronicle_core::words;
use clap::Args;

use super::meant::{Among, Rest};
use super::{Setting, answer, tell};
use crate::exit_code::Exit;
use crate::failure::Failure;

/// Raise a budget; an attempt that waits for it continues in its session
#[derive(Debug, Args)]
#[command(
    override_usage = "chronicle budget [OPTIONS] [RUN] <MORE>...",
    after_help = "Examples:
  chronicle budget 5f3a9c1e +50000 tokens
  chronicle budget 5f3a9c1e +2.50 usd --place build
  chronicle budget 5f3a9c1e +30m"
)]
pub(super) struct BudgetArgs {
    /// The run, unless there is only one, and how much more: `+N tokens`, `+N usd`, a time, or `+N attempts`
    #[arg(value_name = "[RUN] MORE")]
    words: Vec<String>,
    /// The phase that has the budget; if omitted, the one that waits, otherwise the run's own
    #[arg(long)]
    place: Option<String>,
}

/// Budget flags, which override the workflow.
#[derive(Debug, Args)]
pub(super) struct LimitArgs {
    /// Limit in dollars; replaces the workflow's own
    #[arg(long, value_name = "USD")]
    budget_usd: Option<String>,

    /// Limit in tokens; replaces the workflow's own
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    budget_tokens: Option<u64>,
}

pub(super) fn cmd_budget(setting: &Setting, args: BudgetArgs) -> Result<Exit, Failure> {
    let (folder, words) = answer::meant(setting, &args.words, Among::Asked(is_budget), Rest::Said)?;
    let more = budget::read(&words.join(" ")).map_err(Failure::usage)?;
    let place = args.place.map(Place::new);
    tell::tell(setting, &folder, &Command::Budget { place, more })
}

/// Whether more of it answers the gate.
fn is_budget(row: &GateRow) -> bool {
    row.kind == GateKind::Budget && row.lack != Some(Lack::Price)
}

/// Millionths of a dollar.
fn dollars(text: &str) -> Result<u64, Failure> {
    let number = text.trim().trim_start_matches('$');
    let read = budget::read(&format!("{number} usd")).ok().and_then(|budget| budget.usd_micros);
    // `2,50` means two and a half in some countries and 250 elsewhere: it is refused, not guessed.
    read.filter(|_| !number.contains(',')).ok_or_else(|| {
        Failure::usage(format!("`{}` is no amount of dollars", words::one_line(text)))
            .hint("say it like `--budget-usd 2.50`")
    })
}

/// Puts the person's limits in the place of the workflow's own.
pub(super) fn limit(args: &LimitArgs, main: Option<&mut Workflow>) -> Result<(), Failure> {
    let usd = args.budget_usd.as_deref().map(dollars).transpose()?;
    if usd == Some(0) {
        return Err(Failure::usage("a run that may spend nothing cannot begin"));
    }
    let Some(main) = main.filter(|_| usd.is_some() || args.budget_tokens.is_some()) else {
        return Ok(());
    };
    // Each flag replaces one limit. Those of the workflow that no flag names still hold.
    let own = main.budget.take().unwrap_or_default();
    let (usd_micros, tokens) = (usd.or(own.usd_micros), args.budget_tokens.or(own.tokens));
    main.budget = Some(Budget { usd_micros, tokens, ..own });
    Ok(())
}
