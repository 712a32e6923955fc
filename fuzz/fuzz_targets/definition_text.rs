#![no_main]

#[path = "../bodies/definition_text.rs"]
mod definition_text;

libfuzzer_sys::fuzz_target!(|text: &str| definition_text::check(text));
