//! The binary, driven as its users drive it.

mod process;
mod process_death;
mod process_lines;
mod process_yard;
mod scripted;
