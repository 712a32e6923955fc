//! The `chronicle` binary: faces over the runtime, and the two programs that run beside a supervisor.

mod cli;
mod demo;
mod exit_code;
mod failure;
mod harmless;
mod init;
mod keyboard;
mod mcp;
mod scripted;
mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use chronicle_runtime::handle::programs;

/// A limit on file sizes (`ulimit -f`) ends a process by a signal, without a word. With a handler the write fails instead, and the
/// failure is told. A handler, since children would inherit that the signal is ignored.
fn survive_file_limits() {
    // Where that fails the limit still holds, only without words.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

fn main() -> ExitCode {
    survive_file_limits();
    let args: Vec<OsString> = std::env::args_os().collect();
    if let Err(why) = programs::arm_fail_points() {
        return cli::refuse(&why);
    }
    // Programs, not people, start these; they come first since every attempt pays for their start.
    match args.get(1).and_then(|word| word.to_str()) {
        Some("keeper") => programs::keeper(&args),
        Some("keeper-exec") => programs::keeper_exec(&args),
        Some("tool-exec") => programs::tool_exec(&args),
        Some("wall") => programs::wall(&args),
        Some("wall-init") => programs::wall_init(&args),
        Some("scripted-agent") => scripted::main(&args),
        Some("mcp") => mcp::main(),
        _ => cli::main(&args),
    }
}
