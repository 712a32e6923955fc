//! The tests of the pure half, in one binary.

mod workflow;
mod workflow_hostile;
mod workflow_problems;
