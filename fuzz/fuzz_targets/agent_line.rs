#![no_main]

#[path = "../bodies/agent_line.rs"]
mod agent_line;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agent_line::check(bytes));
