//! Finds out where the paths of a call lead: through links, `..` and patterns, on this disk and now.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use chronicle_core::guard::{PathSeen, class_end};

/// Most links that one path may lead through; the kernel follows no more either.
const LINKS_MAX: usize = 40;
/// Most paths that a pattern may find, and most names that are looked at for it.
const FOUND_MAX: usize = 2_000;
const NAMES_MAX: usize = 50_000;
/// What makes a name a pattern.
const MARKS: [char; 3] = ['*', '?', '['];

/// Where an absolute path or pattern leads; `None` if that takes too long to find out. `folder` is the worker's own.
pub(super) fn see(path: &str, folder: &Path) -> Option<PathSeen> {
    if !path.contains(MARKS) {
        let real = real(Path::new(path), folder);
        let found = fs::metadata(&real).ok();
        return Some(PathSeen {
            exists: found.is_some() || fs::symlink_metadata(path).is_ok(),
            is_dir: found.is_some_and(|found| found.is_dir()),
            case_insensitive: ignores_case(&real),
            real: vec![text(&real)],
            found: vec![path.to_owned()],
        });
    }
    let found = found_by(path, folder)?;
    let real: Vec<PathBuf> = found.iter().map(|path| real(path, folder)).collect();
    let first = real.first();
    Some(PathSeen {
        exists: !found.is_empty(),
        is_dir: first.is_some_and(|first| first.is_dir()),
        case_insensitive: first.is_some_and(|first| ignores_case(first)),
        real: real.iter().map(|path| text(path)).collect(),
        found: found.iter().map(|path| text(path)).collect(),
    })
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Follows links name by name, as the kernel does: `..` behind a link leaves the folder that the link leads to. What does not exist
/// is kept as it is written, and so is what is below it.
fn real(path: &Path, folder: &Path) -> PathBuf {
    let mut done = PathBuf::from("/");
    let mut left: Vec<PathBuf> = vec![path.to_path_buf()];
    let mut links = 0;
    while let Some(part) = left.pop() {
        let mut names = part.components();
        let Some(name) = names.next() else { continue };
        let rest = names.as_path().to_path_buf();
        if !rest.as_os_str().is_empty() {
            left.push(rest);
        }
        match name {
            Component::RootDir | Component::Prefix(_) => done = PathBuf::from("/"),
            Component::CurDir => {}
            Component::ParentDir => {
                done.pop();
            }
            Component::Normal(name) => {
                done.push(name);
                if let Some(target) = target_of(&done, folder).filter(|_| links < LINKS_MAX) {
                    links += 1;
                    done.pop();
                    left.push(target);
                }
            }
        }
    }
    done
}

/// What a link says. In `/proc`, links tell of this process, and the worker's own say something else.
fn target_of(path: &Path, folder: &Path) -> Option<PathBuf> {
    if path.starts_with("/proc") {
        return match path.file_name().and_then(OsStr::to_str) {
            Some("cwd") => Some(folder.to_path_buf()),
            Some("root") => Some(PathBuf::from("/")),
            _ => None,
        };
    }
    fs::read_link(path).ok()
}

/// What a pattern finds, name by name, with the links in it.
fn found_by(glob: &str, folder: &Path) -> Option<Vec<PathBuf>> {
    let (mut found, mut looked) = (vec![PathBuf::from("/")], 0);
    for part in glob.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if !part.contains(MARKS) {
            for path in &mut found {
                path.push(part);
            }
            continue;
        }
        let mut next = Vec::new();
        for path in &found {
            let Ok(names) = fs::read_dir(real(path, folder)) else { continue };
            for name in names.flatten().map(|entry| entry.file_name()) {
                looked += 1;
                if looked > NAMES_MAX || next.len() > FOUND_MAX {
                    return None;
                }
                if fits(part, &name.to_string_lossy()) {
                    next.push(path.join(name));
                }
            }
        }
        found = next;
    }
    // Behind a pattern, a plain name was not looked for yet.
    if glob.rsplit('/').find(|part| !part.is_empty()).is_some_and(|last| !last.contains(MARKS)) {
        found.retain(|path| fs::symlink_metadata(path).is_ok());
    }
    found.sort_unstable();
    Some(found)
}

/// Whether a pattern of the shell may mean a name. What stands in brackets fits any letter: more is looked at, never less.
fn fits(glob: &str, name: &str) -> bool {
    if name.starts_with('.') && !glob.starts_with('.') && !glob.starts_with('[') {
        return false;
    }
    let glob: Vec<char> = glob.chars().collect();
    let name: Vec<char> = name.chars().collect();
    // Each letter of the pattern moves the set of places in the name that it may have come to, so it takes no more than their product.
    let mut places = vec![false; name.len() + 1];
    places[0] = true;
    let mut at = 0;
    while let Some(letter) = glob.get(at) {
        at += 1;
        match letter {
            '*' => {
                let first = places.iter().position(|may| *may).unwrap_or(places.len());
                places.iter_mut().skip(first).for_each(|may| *may = true);
            }
            '?' => step(&mut places, |_| true),
            '[' if class_end(&glob[at..]).is_some() => {
                at += class_end(&glob[at..]).unwrap_or(0) + 1;
                step(&mut places, |_| true);
            }
            // What follows means itself.
            '\\' if at < glob.len() => {
                let own = glob[at];
                at += 1;
                step(&mut places, |place| name.get(place) == Some(&own));
            }
            letter => step(&mut places, |place| name.get(place) == Some(letter)),
        }
    }
    places.last() == Some(&true)
}

/// Moves every place one letter on, if that letter fits.
fn step(places: &mut [bool], fits: impl Fn(usize) -> bool) {
    for place in (1..places.len()).rev() {
        places[place] = places[place - 1] && fits(place - 1);
    }
    places[0] = false;
}

/// True if a name in other letters means the same file where a path leads.
fn ignores_case(path: &Path) -> bool {
    let has_letters = |path: &&Path| {
        let name = path.file_name().map(OsStr::to_string_lossy);
        name.is_some_and(|name| name.contains(|letter: char| letter.is_ascii_alphabetic()))
    };
    let folder = path.ancestors().filter(|path| path.is_dir()).find(has_letters);
    let Some((folder, name)) = folder.and_then(|it| Some((it, it.file_name()?.to_str()?))) else {
        return false;
    };
    let swap = |letter: char| match letter {
        'a'..='z' => letter.to_ascii_uppercase(),
        _ => letter.to_ascii_lowercase(),
    };
    let other = folder.with_file_name(name.chars().map(swap).collect::<String>());
    let id = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
    id(&other).is_some_and(|other| Some(other) == id(folder))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn seen(path: &Path) -> Vec<String> {
        see(path.to_str().unwrap(), Path::new("/")).unwrap().real
    }

    #[test]
    fn links_and_dots_are_followed_as_the_kernel_does() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(root.join("deep/inner")).unwrap();
        fs::write(root.join("deep/file"), "").unwrap();
        symlink("deep/inner", root.join("link")).unwrap();
        symlink(root.join("round"), root.join("round")).unwrap();
        symlink("nowhere/at/all", root.join("dangling")).unwrap();
        let real = |below: &str| vec![root.join(below).to_str().unwrap().to_owned()];
        assert_eq!(seen(&root.join("link/../file")), real("deep/file"));
        assert_eq!(seen(&root.join("link/new/x")), real("deep/inner/new/x"));
        assert_eq!(seen(&root.join("dangling/x")), real("nowhere/at/all/x"));
        assert_eq!(seen(&root.join("./deep//inner/.")), real("deep/inner"));
        assert_eq!(seen(&root.join("none/../deep")), real("deep"));
        assert!(!see(root.join("round").to_str().unwrap(), &root).unwrap().is_dir);
        assert!(see(root.join("deep").to_str().unwrap(), &root).unwrap().is_dir);
        let by_proc = format!("/proc/self/root{}/deep", root.display());
        assert_eq!(seen(Path::new(&by_proc)), real("deep"));
        let by_folder = see("/proc/self/cwd/file", &root.join("deep")).unwrap();
        assert_eq!(by_folder.real, real("deep/file"));
    }

    #[test]
    fn patterns_are_what_they_find() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for name in ["a.rs", "b.rs", ".hidden.rs", "c.txt"] {
            fs::write(root.join(name), "").unwrap();
        }
        symlink("/etc/passwd", root.join("z.rs")).unwrap();
        let found = seen(&root.join("*.rs"));
        let names: Vec<&str> = found.iter().map(|it| it.rsplit('/').next().unwrap()).collect();
        assert_eq!(names, ["a.rs", "b.rs", "passwd"]);
        assert_eq!(seen(&root.join("[ab].r?")).len(), 3, "brackets fit any letter");
        assert_eq!(seen(&root.join("[[:lower:]].r[![:digit:]]")).len(), 3);
        assert_eq!(seen(&root.join("[\\]a].rs")).len(), 3);
        assert_eq!(seen(&root.join(".h*")).len(), 1);
        let links = see(root.join("z*").to_str().unwrap(), &root).unwrap();
        let link = root.join("z.rs").to_str().unwrap().to_owned();
        assert_eq!((links.found, links.real), (vec![link], vec!["/etc/passwd".to_owned()]));
        fs::create_dir(root.join("sub")).unwrap();
        fs::write(root.join("sub/x"), "").unwrap();
        assert_eq!(seen(&root.join("*/x")).len(), 1, "only what is there");
        assert!(fits("a*b*c", "axxbxxc") && !fits("a*b*c", "axxbxx") && fits("*", "x"));
    }
}
