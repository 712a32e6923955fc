#![no_main]

#[path = "../bodies/engine_inputs.rs"]
mod engine_inputs;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drop(engine_inputs::check(bytes)));
