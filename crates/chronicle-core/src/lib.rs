//! The pure half of Chronicle: what was asked, what happened, what follows.
//!
//! Nothing here reads a file, a clock or the environment, starts anything or draws a random number. Inputs come in with
//! their time, decisions go out as events, and what is to be done is derived from the state:
//!
//! ```text
//! Input ─► engine::step(&State, &Input) ─► Step { line, bodies, answer }
//!                                             │ (the driver writes them down)
//!          State::apply(line) ◄───────────────┘
//!             ├─► state.due() : what is to be done now
//!             └─► view : what people see
//! ```
//!
//! The folders are layers, and import only downwards: `base` < `definition` < `guard` < `event` < `state` < `words` < `handover` <
//! `engine`, with `view` beside `engine`. One concern has the same file name in each of them.
//!
//! Start reading at `event/mod.rs` (the words), then `engine/mod.rs` (the decisions).

// A new kind of event, stage or answer must be looked at wherever kinds are told apart.
#![deny(clippy::wildcard_enum_match_arm)]

pub mod base;
pub mod definition;
pub mod engine;
pub mod event;
pub mod guard;
pub mod handover;
pub mod state;
pub mod view;
pub mod words;
