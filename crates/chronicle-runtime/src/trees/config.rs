//! The settings file of our own repository. It is below the project, where workers write files, and git reads it in every call: a filter, a
//! program for differences or another file of settings in it would be run or read.
//!
//! So everything in it that `git init` does not write is taken out before git is started. Without drivers in the settings, no attribute
//! of the project names a program.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::{OWN_MAX, TreesError};
use crate::ledger::quick_write;
use crate::regular::{self, Links};

/// What `git init` finds out about the file system and writes down. Everything else is said with each call.
const KEPT: [&str; 7] = [
    "bare",
    "filemode",
    "ignorecase",
    "logallrefupdates",
    "precomposeunicode",
    VERSION,
    "symlinks",
];
/// What every repository says of itself.
const VERSION: &str = "repositoryformatversion";
/// Files that would lead git to the settings of another place. We never make one.
const ELSEWHERE: [&str; 2] = ["commondir", "config.worktree"];

/// Takes out of a repository's settings what we did not write there.
pub(super) fn make_ours(dir: &Path) -> Result<(), TreesError> {
    for name in ELSEWHERE {
        let path = dir.join(name);
        match fs::remove_file(&path) {
            Err(error)
                if error.kind() != ErrorKind::NotFound
                    && error.kind() != ErrorKind::NotADirectory =>
            {
                return Err(TreesError::io(&path)(error));
            }
            Ok(()) | Err(_) => {}
        }
    }
    let path = dir.join("config");
    // One that is missing or no text is damage, which git names.
    let Ok(bytes) = regular::read(&path, OWN_MAX, Links::Refused) else { return Ok(()) };
    let Some(ours) = String::from_utf8(bytes).ok().and_then(|text| cleared(&text)) else {
        return Ok(());
    };
    // With nothing of ours left it is not the file that we made: then nobody knows what else is not.
    if !ours.contains(VERSION) {
        let why = format!("`{}` is not as it was made", path.display());
        return Err(TreesError::Damaged { path: dir.to_owned(), what: "read its settings", why });
    }
    let written = quick_write(&path, ours.as_bytes());
    written.map_err(std::io::Error::other).map_err(TreesError::io(&path))
}

/// The settings without what is not ours; `None` if there is nothing else.
fn cleared(text: &str) -> Option<String> {
    let mut ours = String::from("[core]\n");
    let (mut in_core, mut is_ours) = (false, true);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.eq_ignore_ascii_case("[core]") {
            in_core = true;
        } else if in_core && is_kept(line) {
            ours.extend(["\t", line, "\n"]);
        } else {
            is_ours = false;
            // Also after a line that only looks like a section: what follows it is then not taken for ours.
            in_core &= !line.starts_with('[');
        }
    }
    (!is_ours).then_some(ours)
}

fn is_kept(line: &str) -> bool {
    let Some((name, value)) = line.split_once('=') else { return false };
    let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
    // A plain word: no quotes, no comment, no line that goes on.
    let is_plain = !value.is_empty() && value.chars().all(|it| it.is_ascii_alphanumeric());
    let is_right = name != VERSION || value == "0";
    is_plain && is_right && KEPT.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MADE: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n";

    #[test]
    fn what_git_writes_stays_and_all_else_goes() {
        assert_eq!(cleared(MADE), None);
        for more in [
            "[filter \"x\"]\n\tclean = evil\n",
            "\tfsmonitor = evil\n",
            "[include]\n\tpath = /x\n",
            "[core] fsmonitor = evil\n",
            "\tsymlinks = \"true\" ; x\n",
            "\tsymlinks = tru\\\ne\n",
            "# [core]\n",
            "[extensions]\n\tworktreeConfig = true\n\tfilemode = true\n",
        ] {
            assert_eq!(cleared(&format!("{MADE}{more}")).as_deref(), Some(MADE), "{more}");
        }
        assert_eq!(cleared("[x]\n[core]\n\trepositoryformatversion = 1\n").unwrap(), "[core]\n");
    }
}
