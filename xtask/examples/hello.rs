//! The smallest program with a command line like ours: what a start costs at least.
#![expect(clippy::print_stdout, reason = "it does nothing else")]

use clap::Parser;

/// Prints a greeting and exits
#[derive(Debug, Parser)]
struct Hello {
    /// Name of the person to greet
    #[arg(default_value = "world")]
    name: String,
}

fn main() {
    let hello = Hello::parse();
    println!("Hello, {}!", hello.name);
}
