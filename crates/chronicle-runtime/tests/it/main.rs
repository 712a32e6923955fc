//! The runtime, part by part.

mod agents;
