//! The ground layer: names, limits, times, figures and plain text. It imports nothing of the layers above.

pub mod as_text;
pub mod ids;
pub mod limits;
pub(crate) mod plain;
pub mod quote;
pub mod redact;
pub mod shell;
pub mod time;
pub mod usage;
pub mod verdict;
