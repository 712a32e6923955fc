//! The project's own chores, as `cargo xtask NAME`.
//!
//! It depends on the standard library alone, so that it compiles in seconds on a fresh machine. It runs tests and
//! measurements and reports what it finds; only `record` and `reference` change files of the repository. Start reading at
//! [`CHORES`].
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to a terminal")]

mod agents;
mod bench;
mod code;
mod crash_matrix;
mod record;
mod reference;
mod simulate;
mod structure;
mod test;
mod tidy;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// One thing that `cargo xtask` can do.
struct Chore {
    name: &'static str,
    about: &'static str,
    /// What may follow the name.
    options: &'static [&'static str],
    /// Says whether all is well.
    run: fn(&Path, &[String]) -> bool,
}

const CHORES: &[Chore] = &[
    Chore {
        name: "test",
        about: "run every test that this machine can run",
        options: &[],
        run: |root, _| test::run(root),
    },
    Chore {
        name: "tidy",
        about: "check sizes, names, imports, docs and leftovers",
        options: &[],
        run: |root, _| tidy::run(root),
    },
    Chore {
        name: "structure",
        about: "print import cycles, public items, sizes and files per feature, or compare them",
        options: &structure::OPTIONS,
        run: structure::run,
    },
    Chore {
        name: "agents",
        about: "install the real agents that tests run, below the build's folder",
        options: &[],
        run: |root, _| agents::run(root),
    },
    Chore {
        name: "record",
        about: "record what the real agents print, for the tests that read it",
        options: &[],
        run: |root, _| record::run(root),
    },
    Chore {
        name: "crash-matrix",
        about: "kill Chronicle at every point that it has, and print what came of it",
        options: &[crash_matrix::EVERY_HIT],
        run: crash_matrix::run,
    },
    Chore {
        name: "simulate",
        about: "play whole runs in a simulated world, or one seed again with its story",
        options: &simulate::OPTIONS,
        run: simulate::run,
    },
    Chore {
        name: "bench",
        about: "measure what Chronicle costs over the bare minimum",
        options: &bench::OPTIONS,
        run: bench::run,
    },
    Chore {
        name: "reference",
        about: "write the pages of docs/reference/ that are made from code",
        options: &[],
        run: |root, _| reference::run(root),
    },
];

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let Some(name) = arguments.next() else {
        println!("{}", list());
        return ExitCode::SUCCESS;
    };
    let Some(chore) = CHORES.iter().find(|chore| chore.name == name) else {
        return refuse(&format!("no chore is called `{name}`"));
    };
    let options: Vec<String> = arguments.collect();
    if let Some(extra) = extra(chore.options, &options) {
        return refuse(&format!("`{name}` does not take `{extra}`"));
    }
    let Some(root) = root() else {
        return refuse("this is not inside the repository");
    };
    if (chore.run)(&root, &options) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The first word that is neither an option nor what follows one, as in `--seed N` (a number) or `--base REV` (a word).
fn extra<'a>(options: &[&str], words: &'a [String]) -> Option<&'a String> {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if options.contains(&word.as_str()) {
            continue;
        }
        let followed = options.iter().filter_map(|option| option.split_once(' '));
        let Some((_, what)) = followed.into_iter().find(|(option, _)| option == word) else {
            return Some(word);
        };
        let fits = |value: &&String| what != "N" || value.parse::<u64>().is_ok();
        if let Some(value) = rest.next().filter(|value| !fits(value)) {
            return Some(value);
        }
    }
    None
}

fn refuse(why: &str) -> ExitCode {
    eprintln!("Error: {why}\n\n{}", list());
    ExitCode::from(2)
}

fn list() -> String {
    let mut text = String::from("Chores, each as `cargo xtask NAME`:");
    for chore in CHORES {
        text.push_str("\n  ");
        text.push_str(chore.name);
        for option in chore.options {
            text.push_str(" [");
            text.push_str(option);
            text.push(']');
        }
        text.push_str("  ");
        text.push_str(chore.about);
    }
    text
}

/// The repository's folder: the nearest one, from here upwards, that holds this crate.
fn root() -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    here.ancestors().find(|folder| folder.join("xtask/Cargo.toml").is_file()).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_only_after_an_option_that_takes_one() {
        let options = ["--all", "--seed N", "--base REV"];
        let found = |text: &str| {
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            extra(&options, &words).cloned()
        };
        assert_eq!(found("--all --seed 7"), None);
        assert_eq!(found("--all 7").as_deref(), Some("7"));
        assert_eq!(found("--seed seven").as_deref(), Some("seven"));
        assert_eq!(found("7").as_deref(), Some("7"));
        assert_eq!(found("--base main").as_deref(), None);
    }
}
