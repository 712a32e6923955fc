//! The half of Chronicle that touches the world: ledger, processes, agents, driver.
//!
//! `driver.rs` is the step and the loop; `effects/` performs what is due; `handle.rs` is the only door for faces.

pub mod agents;
pub mod clock;
mod cookie;
pub mod discover;
pub mod driver;
pub mod effects;
pub mod fail;
pub mod handle;
pub mod home;
mod inbox;
pub mod index;
pub mod ledger;
pub mod link;
pub mod process;
pub mod project;
mod projections;
mod secrets;
pub mod trees;
pub mod trust;
