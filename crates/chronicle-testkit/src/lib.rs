//! TESTS ONLY: what tests put in the place of a disk or a database.
//!
//! `simulated.rs` is a disk that loses what was not synced, `faults.rs` one that fails as told, `memory.rs` the real ledger
//! on both. `table.rs` is another ledger altogether, as a database would be one. The product depends on none of this; it only
//! says what it needs of a ledger and of a disk (`ledger::Ledger`, `ledger::Disk`).

mod faults;
mod memory;
mod simulated;
mod table;

pub use faults::Faults;
pub use memory::Memory;
pub use simulated::{Simulated, SimulatedProcess};
pub use table::Table;
