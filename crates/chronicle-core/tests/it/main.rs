//! The tests of the pure half, in one binary: no clock, no files, no processes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod decide;
mod decide_asks;
mod decide_budgets;
mod decide_chores;
mod decide_evidence;
mod decide_frames;
mod decide_help;
mod decide_kinds;
mod decide_limits;
mod decide_people;
mod decide_signals;
mod decide_traps;
mod decide_trees;
mod decide_waits;
mod formats;
mod fuzz;
mod fuzz_events;
mod fuzz_redact;
mod graph;
mod handover;
mod long_runs;
mod properties;
mod purity;
mod recover;
mod reference;
mod rehearsal;
mod settings;
mod template;
mod views;
mod views_told;
mod workflow;
mod workflow_hostile;
mod workflow_problems;
mod world;
