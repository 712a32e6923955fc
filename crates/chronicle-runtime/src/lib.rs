//! The half of Chronicle that touches the world: ledger, processes, agents, driver.

pub mod process;
