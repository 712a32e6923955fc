//! The lowest layer: ids, limits, times, usage, redaction and plain text. It imports none of the others.

pub mod as_text;
pub(crate) mod bash;
pub mod cells;
pub mod ids;
pub mod limits;
pub(crate) mod plain;
pub mod quote;
pub mod redact;
pub mod shell;
pub mod start_files;
pub mod time;
pub(crate) mod tool_name;
pub mod tools;
pub mod usage;
pub mod verdict;
