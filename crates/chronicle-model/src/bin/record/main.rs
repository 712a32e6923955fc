//! Records what the real agents print, for the tests that translate it. Run by `cargo xtask record`.
//!
//! A recording is one JSON object a line: first `{"case":…}`, then the agent's lines as it printed them, our lines as
//! `{"sent":…}`, last `{"ended":…}`. Paths, ids, times and ports are replaced, so that a new
//! recording differs by what the agent did and by the order of what it did at once, not by the machine or the day.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to a terminal")]

mod cases;
mod claude;
mod pi;
mod scrub;
mod signal_server;

use std::path::Path;
use std::process::ExitCode;

use cases::Recorder;

/// Where recordings go, from this crate.
const FOLDER: &str = "../chronicle-runtime/tests/recordings";

fn main() -> ExitCode {
    let only = std::env::args().nth(1);
    if only.as_deref() == Some(signal_server::WORD) {
        return signal_server::serve();
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
    let mut recorder = Recorder::new(folder, only);
    claude::record(&mut recorder);
    pi::record(&mut recorder);
    println!("{} recorded, {} failed", recorder.good, recorder.bad);
    if recorder.bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
