//! Definitions: workflows, personas, rules, settings, prices. Parsed and checked before a run, and never changed by one.

pub mod budget;
pub mod guard;
pub mod persona;
pub mod prices;
pub mod settings;
pub mod template;
pub mod workflow;
