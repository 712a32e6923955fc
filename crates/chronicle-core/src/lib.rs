//! The pure half of Chronicle: what was asked, what happened, what follows.
//!
//! Nothing here reads a file, a clock or the environment, starts anything or draws a random number. Inputs come in with
//! their time, decisions go out as events, and what is to be done is derived from the state:
//!
//! ```text
//! Input ─► engine::decide(&State, &Input) ─► Decision { events, bodies, answer }
//!                                               │ (the driver writes them down)
//!          State::apply(line) ◄─────────────────┘
//!             ├─► state.due() : what is to be done now
//!             └─► view : what people see
//! ```
//!
//! Start reading at `event.rs` (the words), then `engine/mod.rs` (the decisions).

pub mod as_text;
pub mod budget;
mod chain;
pub mod chore;
pub mod claims;
pub mod effect;
pub mod engine;
pub mod event;
pub mod evidence;
pub mod guard;
pub mod handover;
pub mod ids;
pub mod input;
pub mod limits;
pub mod notice;
pub mod persona;
mod plain;
pub mod prices;
pub mod record;
pub mod redact;
pub mod rehearsal;
pub mod settings;
pub mod shell;
pub mod signal;
pub mod snapshot;
pub mod start;
pub mod state;
pub mod template;
pub mod time;
pub mod tree;
pub mod usage;
pub mod verdict;
pub mod view;
pub mod wait;
pub mod words;
pub mod work;
pub mod workflow;
