<<<<<<< HEAD
//! One binary of tests for the runtime.

mod ledger_backends;
mod ledger_bytes;
mod ledger_contract;
mod ledger_contract_damage;
mod ledger_contract_lock;
mod ledger_folder;
mod ledger_lines;
=======
//! The runtime, part by part.

mod agents;
>>>>>>> c13dea63ec235dd2c7ec3e3290b54cfbb6e2f0fa
