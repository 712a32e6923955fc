//! The `chronicle` binary.

mod scripted;

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    if args.get(1).is_some_and(|command| command == "scripted-agent") {
        return scripted::main(&args);
    }
    ExitCode::SUCCESS
}
