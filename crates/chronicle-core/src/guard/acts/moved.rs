//! Programs with commands that take files away or bring some: other version controls, stores of other machines, archivers, trash cans.

use super::invoke::Call;
use super::state::State;
use super::value::{Field, Value};
use super::walk::Walker;

/// What a command does to its operands: to all but the last one, and to the last one.
fn done_by(name: &str, words: &[&str]) -> Option<(usize, &'static str, &'static str)> {
    let has = |option: &str| words.iter().any(|it| it.starts_with(option));
    let command = words.iter().find(|it| !it.starts_with('-')).copied().unwrap_or_default();
    Some(match (name, words) {
        ("svn" | "hg" | "fossil" | "bzr", ["rm" | "remove" | "delete" | "del", ..])
        | ("gio", ["trash" | "remove", ..])
        | ("rclone", ["delete" | "deletefile" | "purge" | "rmdirs", ..]) => (1, "d", "d"),
        ("svn" | "hg", ["mv" | "move" | "rename", ..])
        | ("rclone", ["move" | "moveto", ..])
        | ("gsutil" | "mc", ["mv", ..])
        | ("gio", ["move", ..]) => (1, "d", "w"),
        ("aws", ["s3", "mv", ..]) | ("gcloud", ["storage", "mv", ..]) => (2, "d", "w"),
        ("rclone", ["copy" | "copyto" | "sync", ..])
        | ("gsutil" | "mc", ["cp", ..])
        | ("gio", ["copy", ..]) => (1, "", "w"),
        ("aws", ["s3", "cp" | "sync", ..]) | ("gcloud", ["storage", "cp", ..]) => (2, "", "w"),
        ("7z" | "7za" | "7zz" | "7zr", _) if has("-sdel") && command == "a" => (2, "d", "d"),
        ("rar", _)
            if command.starts_with('m') || ["-df", "-dr", "-dw"].iter().any(|it| has(it)) =>
        {
            (2, "d", "d")
        }
        _ => return None,
    })
}

/// True if an archiver removes what it has taken in.
pub(super) fn takes_away(name: &str, words: &[Field]) -> bool {
    let known: Vec<&str> = words.iter().map(|it| it.known().unwrap_or_default()).collect();
    done_by(name, &known).is_some_and(|(_, _, last)| last == "d")
}

impl Walker<'_> {
    /// Touches what such a command takes away, and what it brings.
    pub(super) fn moved_by_command(
        &mut self,
        name: &str,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        let known: Vec<&str> = words.iter().map(|it| it.known().unwrap_or_default()).collect();
        if let ("cargo", Some(folder)) = (name, cleaned(&known)) {
            return self.touches("d", &Field::text(folder), state, name, call);
        }
        if name == "cargo" && known.contains(&"clean") {
            self.cleaned_by_variable(state, call);
        }
        if let Some(start) = cleared(name, &known) {
            let paths = words.iter().skip(start).filter(|it| !it.begins().starts_with('-'));
            for path in paths {
                self.touches("d", path, state, name, call);
            }
            return;
        }
        if name == "cargo" && known.contains(&"fmt") && !known.contains(&"--check") {
            // Behind the dashes stands what `rustfmt` is given.
            let start = known.iter().position(|it| *it == "--").unwrap_or(known.len());
            let given = words.iter().skip(start + 1);
            for path in given.filter(|it| !it.begins().starts_with(['-', '+'])) {
                self.touches("w", path, state, name, call);
            }
            return;
        }
        if let ("dos2unix" | "unix2dos", [.., "-n" | "--newfile", from, to]) =
            (name, known.as_slice())
        {
            return self.copied(&[Field::text(from)], &Field::text(to), state, call.span);
        }
        let Some((skipped, others, last)) = done_by(name, &known) else { return };
        let is_operand = |it: &&Field| !it.begins().starts_with('-');
        let operands: Vec<&Field> = words.iter().filter(is_operand).skip(skipped).collect();
        // What has a colon in it lies elsewhere.
        let is_here = |it: &Field| !it.begins().contains(':');
        for (at, path) in operands.iter().enumerate().filter(|(_, it)| is_here(it)) {
            let kinds = if at + 1 == operands.len() { last } else { others };
            self.touches(kinds, path, state, name, call);
        }
    }
}

impl Walker<'_> {
    /// `cargo clean` removes the folder that a variable names like the one that it is told.
    fn cleaned_by_variable(&mut self, state: &State, call: Call<'_>) {
        for variable in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"] {
            if let Some(Value::One(folder)) = state.variables.get(variable) {
                let folder = folder.clone();
                self.touches("d", &folder, state, "cargo", call);
            }
        }
    }
}

/// Where the folders begin that are emptied before Python is put there; `None` if a command empties none.
fn cleared(name: &str, words: &[&str]) -> Option<usize> {
    let is_maker = |it: &&str| ["venv", "virtualenv"].contains(it);
    let at = words.iter().position(is_maker);
    let start = match name {
        "virtualenv" => 0,
        "uv" => at? + 1,
        _ if name.starts_with("python") || name.starts_with("pypy") => {
            at.filter(|at| *at > 0 && words[at - 1] == "-m")? + 1
        }
        _ => return None,
    };
    let is_told = |it: &&str| *it == "--clear" || name == "uv" && *it == "-c";
    words.iter().any(is_told).then_some(start)
}

/// The folder that `cargo clean` is told to remove.
fn cleaned<'w>(words: &[&'w str]) -> Option<&'w str> {
    if words.first() != Some(&"clean") {
        return None;
    }
    let at = words.iter().position(|it| it.starts_with("--target-dir"))?;
    words[at].strip_prefix("--target-dir=").or_else(|| words.get(at + 1).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_take_away_is_known() {
        assert_eq!(done_by("aws", &["s3", "mv", "a", "s3://x"]), Some((2, "d", "w")));
        assert_eq!(done_by("aws", &["s3", "ls"]), None);
        assert_eq!(done_by("7z", &["a", "x.7z", "a"]), None);
        assert_eq!(cleaned(&["clean", "--target-dir", "docs"]), Some("docs"));
        assert_eq!(cleaned(&["build", "--target-dir", "x"]), None);
        assert_eq!(cleared("python3", &["-m", "venv", "--clear", "docs"]), Some(2));
        assert_eq!(cleared("uv", &["venv", "docs", "--clear"]), Some(1));
        assert_eq!(cleared("uv", &["venv", "docs"]), None);
        assert_eq!(cleared("python3", &["venv", "--clear", "docs"]), None);
    }
}
