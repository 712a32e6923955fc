//! What people write down before a run: workflows, personas, rules, settings, prices. Read, checked, and never changed by a run.

pub mod budget;
pub mod guard;
pub mod persona;
pub mod prices;
pub mod settings;
pub mod template;
pub mod workflow;
