//! The core is pure: nothing below it can wait, look at a clock, roll dice or touch a file, and clippy keeps it so.
#![expect(
    clippy::disallowed_methods,
    reason = "this test asks cargo and reads a file; the core does neither"
)]

use std::collections::BTreeSet;
use std::process::Command;

/// Crates that wait, spawn, look at the clock, roll dice or touch the system.
const IMPURE: [&str; 28] = [
    "async-std",
    "chrono",
    "clap",
    "crossbeam-channel",
    "dirs",
    "fastrand",
    "fs-err",
    "getrandom",
    "hyper",
    "jiff",
    "libc",
    "log",
    "mio",
    "nix",
    "notify",
    "rand",
    "rand_core",
    "ratatui",
    "rayon",
    "reqwest",
    "rustix",
    "signal-hook",
    "smol",
    "tempfile",
    "time",
    "tokio",
    "uuid",
    "which",
];

/// What clippy must keep out of the core.
const BANNED: [&str; 24] = [
    "std::time::Instant::now",
    "std::time::SystemTime::now",
    "std::time::Instant::elapsed",
    "std::env::var",
    "std::env::var_os",
    "std::env::vars",
    "std::env::current_dir",
    "std::env::args",
    "std::fs::read",
    "std::fs::read_to_string",
    "std::fs::read_dir",
    "std::fs::write",
    "std::fs::remove_file",
    "std::fs::File::open",
    "std::fs::File::create",
    "std::fs::OpenOptions::open",
    "std::process::Command::new",
    "std::process::exit",
    "std::net::TcpStream::connect",
    "std::thread::spawn",
    "std::thread::sleep",
    "std::hash::RandomState::new",
    "std::collections::HashMap",
    "std::collections::HashSet",
];

/// Every crate that the core is built with, by name.
fn built_with() -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "-p", "chronicle-core", "-e", "normal", "--offline", "--locked"])
        .args(["--prefix", "none", "--format", "{p}"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    tree.lines().filter_map(|line| Some(line.split_once(' ')?.0.to_owned())).collect()
}

#[test]
fn nothing_that_touches_the_world_is_below_the_core() {
    let built_with = built_with();
    for needed in ["chronicle-core", "blake3", "serde", "serde_json"] {
        assert!(built_with.contains(needed), "`{needed}` is missing: was the tree read?");
    }
    let impure: Vec<&str> = IMPURE.into_iter().filter(|name| built_with.contains(*name)).collect();
    assert_eq!(impure, [""; 0], "move what needs them to chronicle-runtime");
}

#[test]
fn clippy_keeps_clocks_files_threads_and_dice_out() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/clippy.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let entries = text.lines().filter_map(|line| line.trim().strip_prefix("{ path = \""));
    let banned: BTreeSet<&str> = entries.filter_map(|rest| Some(rest.split_once('"')?.0)).collect();
    let missing: Vec<&str> = BANNED.into_iter().filter(|path| !banned.contains(path)).collect();
    assert_eq!(missing, [""; 0], "clippy.toml of the core must ban them");
    let reasons = text
        .lines()
        .filter(|line| line.contains("path = "))
        .filter(|line| line.contains("reason = \"core ") || line.contains("reason = \"iteration "));
    assert_eq!(reasons.count(), banned.len(), "each ban says what to do instead");
}

#[test]
fn every_file_of_the_core_is_under_clippys_eye() {
    let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            let (shown, name) = (path.display(), "clippy::disallowed_");
            assert!(!text.contains(name), "{shown} switches off a lint that keeps the core pure");
        }
    }
    assert!(files > 20, "{files} files were read");
}
