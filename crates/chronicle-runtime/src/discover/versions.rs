//! Versions of the agents' programs, and which of them were found to work: remembered per file, so that a run need not ask again.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::discover::InstalledAgent;
use crate::home;
use crate::regular::{self, Links};

/// What is remembered, in the user's state folder. May be deleted at any time.
const FILE: &str = "agents.json";
/// Most bytes of it.
const FILE_MAX: u64 = 64 * 1024;
/// Most programs in it; with one more it begins anew.
const PROGRAMS_MAX: usize = 64;

/// A version: numbers, the most significant first.
pub(crate) type Numbers = [u32; 3];

/// The version in a line such as `2.1.325 (Claude Code)`.
pub(crate) fn numbers(line: &str) -> Option<Numbers> {
    line.split(|c: char| !c.is_ascii_digit() && c != '.').find_map(three)
}

fn three(word: &str) -> Option<Numbers> {
    let parts = word.trim_end_matches('.').split('.').map(|part| part.parse().ok());
    let parts: Vec<u32> = parts.collect::<Option<_>>()?;
    parts.try_into().ok()
}

/// Whether that very program, as its files are now, was found to work.
pub(crate) fn is_known(agent: &InstalledAgent) -> bool {
    let Some(marks) = marks(agent) else { return false };
    known().get(&name(agent)) == Some(&marks)
}

/// Remembers that a program works. What cannot be written is found out again the next time.
pub(crate) fn remember(agent: &InstalledAgent) {
    let (Some(marks), Some(file)) = (marks(agent), file()) else { return };
    let mut known = known();
    if known.len() >= PROGRAMS_MAX {
        known.clear();
    }
    known.insert(name(agent), marks);
    // Only speed is lost if it cannot be remembered.
    let _ = write(&file, &known);
}

fn write(file: &Path, known: &BTreeMap<String, String>) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = fs::File::options();
    let open = options.write(true).create(true).truncate(true);
    let text = serde_json::to_string(known)?;
    regular::open(file, open, Links::Refused)?.write_all(text.as_bytes())
}

fn known() -> BTreeMap<String, String> {
    let read = file().and_then(|file| regular::read(&file, FILE_MAX, Links::Refused).ok());
    read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn file() -> Option<PathBuf> {
    Some(home::state()?.join(FILE))
}

fn name(agent: &InstalledAgent) -> String {
    let words = std::iter::once(agent.program.to_string_lossy().into_owned());
    words.chain(agent.first.iter().cloned()).collect::<Vec<_>>().join(" ")
}

/// What changes when a program is installed anew. Packages come with times of their own, so that a file's time alone does not tell;
/// when it was put there does. A script that an interpreter is given is a part of the program.
fn marks(agent: &InstalledAgent) -> Option<String> {
    let mark = |path: &Path| {
        let file = path.metadata().ok().filter(fs::Metadata::is_file)?;
        // The time of change and not of modification: package managers set the latter to that of the release.
        Some(format!("{} {} {}.{}", file.ino(), file.size(), file.ctime(), file.ctime_nsec()))
    };
    let program = mark(&agent.program)?;
    // `node agent.js`: an update changes the script and not the program.
    let scripts = agent.first.iter().filter_map(|word| mark(Path::new(word)));
    Some(std::iter::once(program).chain(scripts).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        for (line, found) in [
            ("2.1.325 (Claude Code)", Some([2, 1, 325])),
            ("0.87.1", Some([0, 87, 1])),
            ("pi v1.5.0.", Some([1, 5, 0])),
            ("ls (GNU coreutils) 9.1", None),
            ("1.2.3.4", None),
            ("", None),
        ] {
            assert_eq!(numbers(line), found, "{line}");
        }
        assert!([0, 87, 1] > [0, 79, 12] && [1, 5, 0] > [0, 87, 1]);
    }
}
