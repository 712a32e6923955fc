#![no_main]

#[path = "../bodies/guard_call.rs"]
mod guard_call;

use std::sync::LazyLock;

use guard_call::Judge;

/// Its rules are compiled once.
static JUDGE: LazyLock<Judge> = LazyLock::new(Judge::new);

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| JUDGE.check(bytes));
