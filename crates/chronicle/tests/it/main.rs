//! The binary, driven as its users drive it.

mod link;
mod link_apart;
mod link_hostile;
mod link_yard;
mod process;
mod process_death;
mod process_lines;
mod process_yard;
mod scripted;
