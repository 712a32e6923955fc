//! The check commands of a whole project: those of its root, and of the projects inside that the root's do not reach.

use std::fs;
use std::path::{Path, PathBuf};

use super::verify::{LANGUAGES, Language, VerifyCommand, recipes};

/// How deep projects are looked for below the root.
const DEPTH_MAX: usize = 3;
/// Most folders that are looked at.
const FOLDERS_MAX: usize = 2_000;
/// Most commands that are found in all: more than these nobody wants to wait for after each phase.
const COMMANDS_MAX: usize = 16;
/// Folders that hold what was made, brought or is an example, and no projects of one's own.
const PASSED_OVER: &[&str] = &[
    "node_modules",
    "target",
    "vendor",
    "third_party",
    "dist",
    "build",
    "out",
    "fixtures",
    "testdata",
    "examples",
    "venv",
    "__pycache__",
];

/// What a project would run to check itself, from its root's folder.
pub fn verify_commands(root: &Path) -> Vec<VerifyCommand> {
    let (mut all, is_tested) = recipes(root);
    // A recipe is what its authors run themselves, so nothing else is guessed.
    if is_tested {
        return all;
    }
    all.extend(LANGUAGES.iter().flat_map(|language| (language.find)(root)));
    for folder in inside(root) {
        all.extend(of_folder(root, &folder));
    }
    all.truncate(COMMANDS_MAX);
    all
}

/// The commands of a project inside, as they are typed in the root's folder.
fn of_folder(root: &Path, folder: &Path) -> Vec<VerifyCommand> {
    let (mut own, is_tested) = recipes(folder);
    if !is_tested {
        let alone = LANGUAGES.iter().filter(|language| !is_reached(root, folder, language));
        own.extend(alone.flat_map(|language| (language.find)(folder)));
    }
    let Some(name) = folder.strip_prefix(root).ok().and_then(Path::to_str) else {
        return Vec::new();
    };
    // Folder names come from the project and end up in a shell.
    let into = if name.bytes().all(is_plain) { name.to_owned() } else { quoted(name) };
    let inside = |one: VerifyCommand| VerifyCommand {
        command: format!("cd {into} && {}", one.command),
        from: format!("{name}/{}", one.from),
    };
    own.into_iter().map(inside).collect()
}

/// Whether the commands of a folder above reach this one: a workspace runs those of its members.
fn is_reached(root: &Path, folder: &Path, language: &Language) -> bool {
    let mut above = folder.ancestors().skip(1).take_while(|above| above.starts_with(root));
    // The command of a workspace covers its members. Running them again one by one would only cost time.
    above.any(|above| (language.is_workspace)(above) && !(language.find)(above).is_empty())
}

/// Every folder below the root that may be a project, the nearest first and by name.
fn inside(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut level = vec![root.to_owned()];
    for _ in 0..DEPTH_MAX {
        let mut below: Vec<PathBuf> = level.iter().flat_map(|folder| folders_in(folder)).collect();
        // Sorted before it is cut, so that the same folders are looked at each time.
        below.sort_unstable();
        below.truncate(FOLDERS_MAX.saturating_sub(found.len()));
        found.extend(below.iter().cloned());
        level = below;
    }
    found
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    // A link may lead anywhere, also to the folder that it is in.
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let folders = folders.filter(|entry| {
        let name = entry.file_name();
        name.to_str().is_some_and(|name| !name.starts_with('.') && !PASSED_OVER.contains(&name))
    });
    folders.map(|entry| entry.path()).collect()
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"/._-".contains(&byte)
}

fn quoted(name: &str) -> String {
    format!("'{}'", name.replace('\'', "'\\''"))
}
