//! What was asked: the model of a workflow, and how files become one.

mod model;

pub use model::*;
