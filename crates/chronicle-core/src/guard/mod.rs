//! What guards stand on: what a command would do, known before it runs.

pub mod acts;
