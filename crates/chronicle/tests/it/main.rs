//! The binary, driven as its users drive it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answers;
mod bad_input;
mod bad_ledger;
mod cmd_all;
mod cmd_demo;
mod cmd_log;
mod cmd_run;
mod cmd_trees;
mod cmd_trees_killed;
mod crash;
mod crash_check;
mod crash_site;
mod kill;
mod kill_random;
mod kill_signals;
mod link;
mod link_apart;
mod link_hostile;
mod link_yard;
mod misbehaving;
mod process;
mod process_death;
mod process_lines;
mod process_yard;
mod scenarios;
mod scripted;
mod session;
mod terminal;
mod undriven;
