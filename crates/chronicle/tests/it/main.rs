//! The binary, driven as its users drive it.

mod crash;
mod crash_check;
mod crash_site;
mod process;
mod process_death;
mod process_lines;
mod process_yard;
mod scripted;
