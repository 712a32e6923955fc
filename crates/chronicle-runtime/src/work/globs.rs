//! Patterns of files that come along into a work folder: `node_modules`, `.env*`, `packages/*/dist`, `**/target`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::WorkError;

/// Any number of folders.
const ANY: &str = "**";
/// Never carried: each work folder has its own.
const OWN: [&str; 2] = [".git", ".chronicle"];

/// Patterns, each by its parts.
#[derive(Debug, Default)]
pub(super) struct Globs(Vec<Vec<String>>);

impl Globs {
    /// Reads patterns, or says which one is of no use.
    pub(super) fn read(globs: &[String]) -> Result<Self, WorkError> {
        globs.iter().map(|glob| parts(glob)).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if a path below the project is meant.
    pub(super) fn has(&self, path: &Path) -> bool {
        let names: Vec<&[u8]> = path.iter().map(OsStr::as_bytes).collect();
        !is_own(&names) && self.0.iter().any(|glob| is_match(glob, &names))
    }

    /// True if something in that folder may be meant.
    pub(super) fn may_be_below(&self, folder: &Path) -> bool {
        let names: Vec<&[u8]> = folder.iter().map(OsStr::as_bytes).collect();
        !is_own(&names) && self.0.iter().any(|glob| leads_to(glob, &names))
    }
}

fn is_own(names: &[&[u8]]) -> bool {
    names.first().is_some_and(|first| OWN.iter().any(|own| first == &own.as_bytes()))
}

fn parts(glob: &str) -> Result<Vec<String>, WorkError> {
    let wrong = |why| Err(WorkError::Carry { glob: glob.to_owned(), why });
    let plain = glob.strip_prefix("./").unwrap_or(glob);
    let plain = plain.strip_suffix('/').unwrap_or(plain);
    let parts: Vec<String> = plain.split('/').map(str::to_owned).collect();
    match () {
        () if glob.starts_with('/') => wrong("write a path below the project"),
        () if parts.iter().any(|part| part == "..") => wrong("write a path below the project"),
        () if parts.iter().any(|part| part.is_empty() || part == ".") => {
            wrong("write the names of folders and files, with `/` between them")
        }
        () if glob.contains(['[', ']', '{', '}', '\\']) => {
            wrong("only `*`, `?` and `**` stand for other names: write a pattern for each name")
        }
        () if parts.iter().any(|part| part.contains(ANY) && part != ANY) => {
            wrong("`**` stands for whole folders: write it between two `/`")
        }
        () if OWN.contains(&parts[0].as_str()) => wrong("each work folder has its own"),
        () => Ok(parts),
    }
}

fn is_match(glob: &[String], names: &[&[u8]]) -> bool {
    match (glob.split_first(), names.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == ANY => {
            is_match(rest, names) || names.split_first().is_some_and(|(_, on)| is_match(glob, on))
        }
        (Some((part, rest)), Some((name, on))) => {
            is_like(part.as_bytes(), name) && is_match(rest, on)
        }
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// True if the pattern goes on below these folders.
fn leads_to(glob: &[String], names: &[&[u8]]) -> bool {
    match (glob.split_first(), names.split_first()) {
        (Some((first, _)), _) if first == ANY => true,
        (Some(_), None) => true,
        (Some((part, rest)), Some((name, on))) => {
            is_like(part.as_bytes(), name) && leads_to(rest, on)
        }
        (None, _) => false,
    }
}

/// One name. Every `*` is tried at most once by each letter: the last one that was met goes on.
fn is_like(glob: &[u8], name: &[u8]) -> bool {
    let (mut at, mut here, mut star) = (0, 0, None);
    while here < name.len() {
        match glob.get(at) {
            Some(b'*') => {
                star = Some((at, here));
                at += 1;
            }
            Some(sign) if *sign == b'?' || *sign == name[here] => (at, here) = (at + 1, here + 1),
            Some(_) | None => {
                let Some((star_at, star_here)) = star else { return false };
                (at, here) = (star_at + 1, star_here + 1);
                star = Some((star_at, star_here + 1));
            }
        }
    }
    glob[at..].iter().all(|sign| *sign == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(globs: &[&str]) -> Result<Globs, WorkError> {
        Globs::read(&globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_pattern_means_the_paths_that_it_says() {
        let some = globs(&["node_modules/", ".env*", "a/*/d?st", "**/target"]).unwrap();
        for path in ["node_modules", ".env", ".env.local", "a/b/dist", "target", "x/y/target"] {
            assert!(some.has(Path::new(path)), "{path}");
        }
        for path in ["x/node_modules", "env", "a/dist", "a/b/c/dist", "targets", ".git/target"] {
            assert!(!some.has(Path::new(path)), "{path}");
        }
        let few = globs(&["a/*/dist"]).unwrap();
        assert!(few.may_be_below(Path::new("a")) && few.may_be_below(Path::new("a/b")));
        assert!(!few.may_be_below(Path::new("b")) && !few.may_be_below(Path::new("a/b/dist")));
    }

    #[test]
    fn a_pattern_that_leads_out_or_means_something_else_is_refused() {
        for glob in ["/etc", "../x", "a/../../x", "", "a//b", "[ab]", "a**", ".git/hooks"] {
            assert!(matches!(globs(&[glob]), Err(WorkError::Carry { .. })), "{glob}");
        }
    }
}
