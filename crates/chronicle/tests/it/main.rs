//! Tests of the real binary.

mod process;
mod process_death;
mod process_lines;
mod process_yard;
