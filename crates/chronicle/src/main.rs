//! The `chronicle` binary.

mod scripted;

use std::ffi::OsString;
use std::process::ExitCode;

use chronicle_runtime::process;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    match args.get(1).and_then(|word| word.to_str()) {
        Some("keeper") => process::keeper::main(&args),
        Some("keeper-exec") => process::keeper_exec(&args),
        Some("scripted-agent") => scripted::main(&args),
        _ => ExitCode::from(2),
    }
}
