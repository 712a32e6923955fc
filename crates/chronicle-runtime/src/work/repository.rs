//! The repository of a work folder: one of its own that borrows the person's objects.
//!
//! It is put together from what is asked of the person's repository, not by `git clone`: that would start a program of git in the
//! person's repository, with settings that a worker may have written there.
//!
//! Named limit: if the person removes commits for good, as `git gc` does after weeks, a work folder that is older lacks them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::WorkError;
use crate::process::Leash;
use crate::regular::{self, Links};
use crate::trees::{NewRepository, TreesError, ask_theirs, head};

/// Longest file of the person's repository that is copied.
const FILE_MAX: u64 = 16 * 1024 * 1024;
/// The person's own settings of the project that a work folder needs to behave alike, and that name no program.
const SETTINGS: [&str; 6] =
    ["user.name", "user.email", "core.autocrlf", "core.eol", "core.safecrlf", "core.ignorecase"];
const FETCH: &str = "+refs/heads/*:refs/remotes/origin/*";

/// What is known of the person's repository.
struct Theirs {
    objects: PathBuf,
    shallow: PathBuf,
    exclude: PathBuf,
    /// Settings of this repository alone.
    settings: BTreeMap<String, String>,
}

/// Makes the repository of a work folder, without files. Says why not if the project has one and the folder cannot.
pub(super) fn make(
    project: &Path,
    folder: &Path,
    leash: &Leash,
) -> Result<Option<String>, WorkError> {
    let has = |folder: &Path| fs::symlink_metadata(folder.join(".git")).is_ok();
    if !project.ancestors().any(has) {
        return Ok(None);
    }
    let asked = ask(project, leash);
    ended_early(leash)?;
    let theirs = match asked {
        Ok(theirs) => theirs,
        Err(why) => return Ok(Some(why.to_owned())),
    };
    let head = head(project, leash);
    let branch = ask_theirs(project, leash, &["symbolic-ref", "-q", "HEAD"]);
    let refs = ask_theirs(project, leash, &REFS).unwrap_or_default();
    ended_early(leash)?;
    let new = NewRepository::make(folder, leash)?;
    let git = folder.join(".git");
    let write = |name: &str, bytes: &[u8]| {
        let path = git.join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, bytes)).map_err(WorkError::io(&path))
    };
    write("objects/info/alternates", &line(theirs.objects.as_os_str().as_bytes()))?;
    for (from, to) in [(&theirs.shallow, "shallow"), (&theirs.exclude, "info/exclude")] {
        if let Ok(bytes) = regular::read(from, FILE_MAX, Links::Followed) {
            write(to, &bytes)?;
        }
    }
    write("packed-refs", &packed(&refs))?;
    match (branch, &head) {
        (Some(branch), _) => write("HEAD", &[b"ref: ", branch.as_slice()].concat())?,
        (None, Some(head)) => write("HEAD", &line(head.commit.as_bytes()))?,
        (None, None) => {}
    }
    if head.is_some() {
        new.run(&["read-tree", "HEAD"])?;
    }
    // Last: every git of ours takes out what it finds in the settings.
    let config = git.join("config");
    let own = fs::read_to_string(&config).map_err(WorkError::io(&config))?;
    write("config", format!("{own}{}", theirs.config(project)).as_bytes())?;
    Ok(None)
}

const REFS: [&str; 5] = [
    "for-each-ref",
    "--format=%(objectname) %(refname)",
    "refs/heads",
    "refs/tags",
    "refs/remotes/origin",
];

/// Asks what there is to borrow, or says why nothing can be.
fn ask(project: &Path, leash: &Leash) -> Result<Theirs, &'static str> {
    const UNREAD: &str = "git does not read the project's repository";
    let how = ["rev-parse", "--show-prefix", "--show-object-format"];
    let paths = ["objects", "shallow", "info/exclude"].map(|path| ["--git-path", path]);
    let args: Vec<&str> = how.into_iter().chain(paths.into_iter().flatten()).collect();
    let said = ask_theirs(project, leash, &args).ok_or(UNREAD)?;
    let lines: Vec<&[u8]> = said.split(|byte| *byte == b'\n').collect();
    // The last line feed is followed by nothing.
    let [prefix, format, objects, shallow, exclude, b""] = lines[..] else { return Err(UNREAD) };
    if !prefix.is_empty() {
        return Err("the project is a folder inside a repository");
    }
    if format != b"sha1" {
        return Err("the project's repository uses other hashes");
    }
    let path = |bytes: &[u8]| project.join(OsStr::from_bytes(bytes));
    let objects = path(objects).canonicalize().map_err(|_| UNREAD)?;
    let config = ["config", "--list", "--includes", "--show-scope", "-z"];
    let settings = settings(&ask_theirs(project, leash, &config).ok_or(UNREAD)?);
    let is_partial = |(name, value): (&String, &String)| {
        name == "extensions.partialclone" || name.ends_with(".promisor") && value != "false"
    };
    if settings.iter().any(is_partial) {
        return Err("the project is a partial clone, whose missing parts would have to be fetched");
    }
    if settings.get("core.sparsecheckout").is_some_and(|value| value != "false") {
        return Err("the project has only a part of its repository's files (sparse checkout)");
    }
    let listed = ask_theirs(project, leash, &["ls-files", "-s", "-z"]).ok_or(UNREAD)?;
    let is_module = |line: &[u8]| line.starts_with(b"160000 ");
    let has_file = fs::symlink_metadata(project.join(".gitmodules")).is_ok();
    if has_file || listed.split(|byte| *byte == 0).any(is_module) {
        return Err("the project has submodules");
    }
    if objects.as_os_str().as_bytes().contains(&b'\n') {
        return Err("the path of the project's repository has a line break in it");
    }
    Ok(Theirs { objects, shallow: path(shallow), exclude: path(exclude), settings })
}

/// Settings of the repository itself: `scope NUL name LF value NUL`. Those of the person apply in a work folder anyway.
fn settings(listed: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(listed).into_owned();
    let fields: Vec<&str> = text.split('\0').collect();
    let own = fields.chunks_exact(2).filter(|pair| matches!(pair[0], "local" | "worktree"));
    // A name without a value means that it is true.
    let setting = |pair: &[&str]| {
        let (name, value) = pair[1].split_once('\n').unwrap_or((pair[1], "true"));
        (name.to_owned(), value.to_owned())
    };
    own.map(setting).collect()
}

impl Theirs {
    /// What is added to the settings of the work folder's repository.
    fn config(&self, project: &Path) -> String {
        let mut text = String::new();
        for name in SETTINGS {
            let (section, key) = name.split_once('.').unwrap_or((name, ""));
            if let Some(value) = self.settings.get(name) {
                text.push_str(&format_setting(section, key, value));
            }
        }
        if let Some(url) = self.settings.get("remote.origin.url").and_then(|it| away(it, project)) {
            text.push_str(&format_setting("remote \"origin\"", "url", &url));
            text.push_str(&format_setting("remote \"origin\"", "fetch", FETCH));
            if let Some(push) =
                self.settings.get("remote.origin.pushurl").and_then(|it| away(it, project))
            {
                text.push_str(&format_setting("remote \"origin\"", "pushurl", &push));
            }
        }
        text
    }
}

fn format_setting(section: &str, key: &str, value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("[{section}]\n\t{key} = \"{value}\"\n")
}

/// The address of a remote as it is right in another folder; `None` for the person's folder itself, where a push would make a
/// branch.
fn away(url: &str, project: &Path) -> Option<String> {
    let is_away = match url.split_once("://") {
        Some((kind, _)) => kind != "file",
        None => is_host(url),
    };
    if is_away {
        // Such an address names a program that git starts.
        return (!is_program(url)).then(|| url.to_owned());
    }
    let path = project.join(url.strip_prefix("file://").unwrap_or(url));
    let project = project.canonicalize().ok()?;
    let there = path.canonicalize().unwrap_or(path);
    (!there.starts_with(project)).then(|| there.to_string_lossy().into_owned())
}

/// True for `program::address`, by which git starts a program.
fn is_program(url: &str) -> bool {
    url.split_once("::").is_some_and(|(name, _)| name.bytes().all(|it| it.is_ascii_alphanumeric()))
}

/// True for `host:path`, which git tells from a path by the first colon before any slash.
fn is_host(url: &str) -> bool {
    url.find(':').is_some_and(|colon| url.find('/').is_none_or(|slash| colon < slash))
}

/// Git's file of all references. It sorts them as it lists them.
fn packed(listed: &[u8]) -> Vec<u8> {
    let lines = listed.split_inclusive(|byte| *byte == b'\n');
    // It stands for another reference, and is of the person's clone only.
    lines
        .filter(|line| !line.ends_with(b" refs/remotes/origin/HEAD\n"))
        .flatten()
        .copied()
        .collect()
}

fn line(bytes: &[u8]) -> Vec<u8> {
    [bytes, b"\n"].concat()
}

/// The error for a git that had to be ended: an answer that is missing must not pass for an empty one.
fn ended_early(leash: &Leash) -> Result<(), TreesError> {
    leash.take().map_or(Ok(()), |cut| Err(TreesError::cut(cut)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_right_in_another_folder_or_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let project = root.join("project");
        fs::create_dir(&project).unwrap();
        for url in
            ["https://example.org/x.git", "ann@example.org:x.git", "ssh://host/~/x", "[::1]:x"]
        {
            assert_eq!(away(url, &project).as_deref(), Some(url));
        }
        let other = root.join("other");
        fs::create_dir(&other).unwrap();
        for url in ["../other".to_owned(), format!("file://{}", other.display())] {
            let expected = away(&url, &project).map(PathBuf::from);
            assert!(expected.is_some_and(|it| it.ends_with("other")), "{url}");
        }
        for url in [".", project.to_str().unwrap(), "../project/.git", "ext::sh -c evil"] {
            assert_eq!(away(url, &project), None, "{url}");
        }
    }
}
