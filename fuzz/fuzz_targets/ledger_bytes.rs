#![no_main]

#[path = "../bodies/ledger_bytes.rs"]
mod ledger_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ledger_bytes::check(bytes));
