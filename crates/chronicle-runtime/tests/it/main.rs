//! One binary of tests for the runtime.

mod agents;
mod crash;
mod crash_end;
mod crash_world;
mod discover;
mod driver;
mod driver_faults;
mod driver_resumes;
mod driver_stories;
mod fuzz;
mod ledger_backends;
mod ledger_bytes;
mod ledger_contract;
mod ledger_contract_damage;
mod ledger_contract_lock;
mod ledger_folder;
mod ledger_lines;
mod ledgers_v1;
mod link;
mod project;
mod projections;
mod simulate;
mod trees;
mod world;
mod world_log;
mod world_moves;
