//! Prints how the code hangs together: import cycles, public items, sizes, and how many files a feature touches.
//!
//! With `--base REV` it measures an earlier revision too, read from git's objects: nothing is checked out. It judges
//! nothing; `tidy` does. Start reading at [`run`].

mod features;
mod git;
mod measure;
mod report;

use std::io;
use std::path::Path;

use crate::code::repo::Repo;

/// What may follow the name.
pub(crate) const OPTIONS: [&str; 1] = ["--base REV"];

/// One state of the repository, measured.
struct Measured {
    /// How its column is headed.
    name: String,
    crates: Vec<(&'static str, measure::Figures)>,
    /// The last ones, newest first.
    features: Vec<features::Feature>,
}

/// `cargo xtask structure [--base REV]`. Fails only when git or a file cannot be read.
pub(crate) fn run(root: &Path, words: &[String]) -> bool {
    if words.len() == 1 {
        eprintln!("Error: `{}` needs a revision after it", words[0]);
        return false;
    }
    match measured(root, words.get(1).map(String::as_str)) {
        Ok(columns) => {
            print!("{}", report::text(&columns));
            true
        }
        Err(error) => {
            eprintln!("Error: the repository cannot be measured\nCaused by: {error}");
            false
        }
    }
}

/// The earlier revision, if one is asked for, and the working tree.
fn measured(root: &Path, base: Option<&str>) -> io::Result<Vec<Measured>> {
    let mut columns = Vec::new();
    if let Some(base) = base {
        let commit = git::commit(root, base)?;
        columns.push(Measured {
            name: git::text(root, &["rev-parse", "--short", &commit])?.trim().to_owned(),
            crates: measure::crates(&git::repo(root, &commit)?),
            features: features::last(root, &commit)?,
        });
    }
    columns.push(Measured {
        name: "working tree".to_owned(),
        crates: measure::crates(&Repo::load(root)?),
        features: features::last(root, "HEAD")?,
    });
    Ok(columns)
}
