//! The binary, driven as its users drive it.

mod scripted;
