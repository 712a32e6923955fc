//! Definitions: workflows, personas, rules, settings, prices, the environment of workers and the walls around them. Parsed and checked before a run, and never changed by one.

pub mod budget;
pub mod environment;
pub mod guard;
pub mod persona;
pub mod prices;
pub mod settings;
pub mod template;
pub mod walls;
pub mod workflow;
