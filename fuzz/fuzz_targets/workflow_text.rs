#![no_main]

#[path = "../bodies/workflow_text.rs"]
mod workflow_text;

libfuzzer_sys::fuzz_target!(|text: &str| workflow_text::check(text));
