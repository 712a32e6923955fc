//! One binary of tests for the runtime.

mod agents;
mod crash;
mod crash_end;
mod crash_world;
mod ledger_backends;
mod ledger_bytes;
mod ledger_contract;
mod ledger_contract_damage;
mod ledger_contract_lock;
mod ledger_folder;
mod ledger_lines;
