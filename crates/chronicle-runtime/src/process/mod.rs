//! Starts, watches and ends every process that Chronicle has: the only place that may.
//!
//! An agent never runs directly under the supervisor. Between the two stands a *keeper*, a small
//! single-threaded process of our own binary that ends everything below it when the agent has
//! ended, when it is told to stop, when the supervisor dies (its socket closes) or freezes (the
//! lease runs out). If the keeper itself is killed, the kernel kills the agent, and the supervisor
//! ends the rest by its *cookie*, a mark in the environment of every descendant.
//!
//! Start reading at [`start`], then [`keeper`], then [`sweep`] for what happens after a crash.
//!
//! What must hold: no process with a cookie outlives its keeper and its supervisor. The named
//! limit: a process that cleared its environment is only found while it is below a living keeper,
//! unless it is behind a [`wall`], which ends with its first process.
//! That is complete on Linux; on other unixes there is neither a subreaper nor `/proc`, and only the
//! agent's process group is ended.
//!
//! Nothing here knows what an agent says: it hands out pipes and tells how the process ended.

mod asked;
mod begin;
mod beside;
mod control;
mod ending;
mod exec;
mod handover;
pub(crate) mod image;
pub(crate) mod keeper;
mod leases;
mod leash;
pub(crate) mod lineage;
mod lock;
mod lockers;
mod order;
mod programs;
mod read;
mod spawn;
pub mod sweep;
mod table;
mod tool;
pub mod wall;
mod wire;

pub(crate) use asked::{ProgramQuestion, Unanswered, ask};
pub(crate) use beside::tool;
pub use beside::{ShowOutput, beside, detached, leave_terminal};
pub use control::Control;
pub use exec::{main as keeper_exec, tool as tool_exec};
pub(crate) use leash::Cut;
pub use leash::Leash;
pub(crate) use lockers::lockers;
pub(crate) use order::executable_for_others;
pub use order::{KeeperEnd, KeeperOrder, own_executable, shell_argv};
pub(crate) use read::{Edges, Ring};
pub use read::{LINE_MAX, OutputLines, ReadLine, TOO_LONG_START};
pub use spawn::{Kept, SpawnError, start};
pub(crate) use table::started;
pub(crate) use tool::ToolOutput;
pub use tool::{Tool, tools_die_with_us};
