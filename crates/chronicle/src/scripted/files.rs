//! Real changes of files below the project, made so that a step repeated after a kill changes nothing twice.
//!
//! Before a change the session notes the step and the file's length; a step that finds this note is being repeated.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use super::Stop;
use super::step::{Edit, FileText};

/// How a file changed, in the protocol's words.
pub(super) type ChangeWord = &'static str;

/// A file's place below the project; any other path is a mistake in the script.
pub(super) fn below(project: &Path, path: &str) -> Result<PathBuf, Stop> {
    // A script may come from somebody else, and is played without asking the person.
    let inside = !path.is_empty()
        && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if inside {
        Ok(project.join(path))
    } else {
        Err(Stop::script(format!("`{path}` is not a path below the project")))
    }
}

/// A file's length; none when it is not there.
pub(super) fn length(file: &Path) -> io::Result<Option<u64>> {
    match fs::metadata(file) {
        Ok(metadata) => Ok(Some(metadata.len())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes a whole file.
pub(super) fn write(file: &Path, step: &FileText, before: Option<u64>) -> io::Result<ChangeWord> {
    make_folder(file)?;
    // In place, unlike an edit: a step that is repeated writes the whole text again, whatever a kill has left.
    fs::write(file, &step.text)?;
    Ok(created_or_changed(before))
}

/// Adds a text behind what was there before, whatever of it is there already.
pub(super) fn append(file: &Path, step: &FileText, before: Option<u64>) -> io::Result<ChangeWord> {
    make_folder(file)?;
    let start = before.unwrap_or(0);
    let mut open = OpenOptions::new().create(true).append(true).open(file)?;
    // Cuts off what a killed process had appended.
    if open.metadata()?.len() > start {
        open.set_len(start)?;
    }
    open.write_all(step.text.as_bytes())?;
    Ok(created_or_changed(before))
}

/// Replaces the first piece that is found; the inner error is for the script's author.
pub(super) fn edit(
    file: &Path,
    step: &Edit,
    repeated: bool,
) -> io::Result<Result<ChangeWord, String>> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Err(format!("`{}` is not there to be edited", step.path)));
        }
        Err(error) => return Err(error),
    };
    // The replacement may hold what is looked for, so that a second edit would be a second change.
    if repeated && text.contains(&step.replace) {
        return Ok(Ok("changed"));
    }
    if !text.contains(&step.find) {
        return Ok(Err(format!("`{}` does not contain `{}`", step.path, step.find)));
    }
    let beside = beside(file);
    fs::write(&beside, text.replacen(&step.find, &step.replace, 1))?;
    // Whole or not at all, so that a kill leaves either the old text or the new one.
    fs::rename(&beside, file)?;
    Ok(Ok("changed"))
}

/// Deletes a file; the inner error is for the script's author.
pub(super) fn delete(
    file: &Path,
    path: &str,
    repeated: bool,
) -> io::Result<Result<ChangeWord, String>> {
    match fs::remove_file(file) {
        Ok(()) => Ok(Ok("deleted")),
        // The process before this one was killed after it had deleted the file.
        Err(error) if error.kind() == io::ErrorKind::NotFound && repeated => Ok(Ok("deleted")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok(Err(format!("`{path}` is not there to be deleted")))
        }
        Err(error) => Err(error),
    }
}

/// Makes an empty file that says that a step was reached.
pub(super) fn touch(file: &Path) -> Result<(), Stop> {
    make_folder(file)
        .and_then(|()| OpenOptions::new().create(true).append(true).open(file))
        .map(drop)
        .map_err(Stop::io(format!("touch `{}`", file.display())))
}

fn make_folder(file: &Path) -> io::Result<()> {
    file.parent().map_or(Ok(()), fs::create_dir_all)
}

fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

fn created_or_changed(before: Option<u64>) -> ChangeWord {
    if before.is_some() { "changed" } else { "created" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_below_the_project_are_files() {
        assert!(below(Path::new("/p"), "a/b.md").is_ok());
        for path in ["", "/etc/passwd", "../a", "a/../b", "."] {
            assert!(below(Path::new("/p"), path).is_err(), "{path}");
        }
    }

    #[test]
    fn an_append_cut_short_at_any_byte_is_made_good() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log");
        let step = FileText { path: "log".to_owned(), text: "second\n".to_owned() };
        for cut in 0..=step.text.len() {
            fs::write(&file, format!("first\n{}", &step.text[..cut])).unwrap();
            append(&file, &step, Some(6)).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), "first\nsecond\n");
        }
    }

    #[test]
    fn a_repeated_edit_changes_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        fs::write(&file, "one").unwrap();
        let step = Edit { path: "f".into(), find: "one".into(), replace: "one two".into() };
        assert_eq!(edit(&file, &step, false).unwrap(), Ok("changed"));
        assert_eq!(edit(&file, &step, true).unwrap(), Ok("changed"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "one two");
        let lost = Edit { find: "three".into(), ..step };
        assert_eq!(edit(&file, &lost, false).unwrap(), Err("`f` does not contain `three`".into()));
    }
}
