//! One binary of tests for the runtime.

mod acts_oracle;
mod acts_scripts;
mod agents;
mod agents_calls;
mod agents_recorded;
mod builtin;
mod conformance;
mod crash;
mod crash_end;
mod crash_world;
mod discover;
mod discover_foreign;
mod discover_formats;
mod discover_hostile;
mod discover_personas;
mod driver;
mod driver_faults;
mod driver_resumes;
mod driver_stories;
mod driver_table;
mod fuzz;
mod hosted;
mod ledger_backends;
mod ledger_bytes;
mod ledger_contract;
mod ledger_contract_damage;
mod ledger_contract_lock;
mod ledger_contract_tail;
mod ledger_file;
mod ledger_file_damage;
mod ledger_folder;
mod ledger_lines;
mod ledger_simulated;
mod ledger_table;
mod ledgers_states;
mod ledgers_v1;
mod link;
mod link_client;
mod merge_plan;
mod project;
mod projections;
mod simulate;
mod trees;
mod trees_pipes;
mod verify;
mod work_folders;
mod work_made;
mod work_simulated;
mod work_write;
mod world;
mod world_log;
mod world_moves;
mod world_pools;

/// The simulation takes and gives back some thousand small pieces of memory in each run: with the system's own allocator it
/// plays a third fewer runs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
