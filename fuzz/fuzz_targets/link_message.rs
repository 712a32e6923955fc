#![no_main]

#[path = "../bodies/link_message.rs"]
mod link_message;

use std::sync::LazyLock;

use link_message::Supervisor;

/// One supervisor for all cases: it must outlive every one of them.
static SUPERVISOR: LazyLock<Supervisor> = LazyLock::new(Supervisor::start);

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| SUPERVISOR.check(bytes));
