//! How paths are compared with rules: by whole names, at any depth, however a path is spelled.
//!
//! `*` in a rule stays within one name, and `**` stands for any number of them. A rule covers what lies below it. `~` and `.` alone are
//! the home and the project, without what lies in them.

use super::facts::{PathSeen, Whereabouts, Word};
use super::globs;

/// Longest pattern that is compared with rules, in bytes: a path of the longest length that systems take, each letter in brackets.
const GLOB_MAX: usize = 3 * 4096;

/// A rule over paths, ready to be compared.
#[derive(Debug, Clone)]
pub(super) struct PathPattern {
    start: Start,
    names: Vec<String>,
    /// True if it means folders only.
    is_folder: bool,
    /// True if what lies below it is not covered.
    is_alone: bool,
}

#[derive(Debug, Clone)]
enum Start {
    Anywhere,
    /// Below one of these.
    At(Vec<Vec<String>>),
}

/// A path as names from the root on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    parts: Vec<String>,
    /// True if it is known to be no folder.
    is_file: bool,
    ignores_case: bool,
    /// True if its names are patterns of the shell.
    is_glob: bool,
}

impl PathPattern {
    pub(super) fn new(rule: &str, place: &Whereabouts) -> Self {
        let rule = rule.trim();
        let homes = || Start::At(place.homes.iter().map(|home| split(home)).collect());
        let home = ["~", "$HOME", "${HOME}"].iter().find_map(|word| {
            rule.strip_prefix(word).filter(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        let (start, rest) = if let Some(rest) = home {
            (homes(), rest)
        } else if rule.starts_with('/') {
            (Start::At(vec![Vec::new()]), rule)
        } else if rule == "." || rule.starts_with("./") {
            // What it names in the person's own folder is the same file.
            let all = std::iter::once(&place.project).chain(&place.origin);
            (Start::At(all.map(|folder| split(folder)).collect()), &rule[1..])
        } else {
            (Start::Anywhere, rule)
        };
        let is_alone = rest.is_empty();
        Self {
            start,
            names: split(rest),
            is_folder: rest.ends_with('/') && rest.len() > 1,
            is_alone,
        }
    }

    /// The rule, and if it names something in the person's own folder, the same for the copy that the worker works in.
    pub(super) fn all(rule: &str, place: &Whereabouts) -> Vec<Self> {
        let own = Self::new(rule, place);
        let copy = own.in_copy(place);
        std::iter::once(own).chain(copy).collect()
    }

    fn in_copy(&self, place: &Whereabouts) -> Option<Self> {
        let Start::At(starts) = &self.start else { return None };
        let project = split(&place.project);
        if starts.contains(&project) {
            return None;
        }
        let below = |start: &Vec<String>, origin: &String| {
            let (whole, origin) = ([&start[..], &self.names[..]].concat(), split(origin));
            let mut pairs = whole.iter().zip(&origin);
            let is_in = whole.len() >= origin.len() && pairs.all(|(a, b)| name_fits(a, b, false));
            is_in.then(|| whole[origin.len()..].to_vec())
        };
        let names = starts
            .iter()
            .find_map(|start| place.origin.iter().find_map(|origin| below(start, origin)))?;
        Some(Self { start: Start::At(vec![project]), names, ..self.clone() })
    }

    /// True if a path is this, or lies below it.
    pub(super) fn covers(&self, path: &Names) -> bool {
        match &self.start {
            Start::Anywhere => {
                // Without a name it would be everything.
                !self.names.is_empty()
                    && (0..path.parts.len()).any(|from| self.fits(&path.parts[from..], path))
            }
            Start::At(starts) => starts.iter().any(|start| {
                path.strip(start).is_some_and(|rest| {
                    self.fits(rest, path) && (!self.is_alone || rest.is_empty())
                })
            }),
        }
    }

    /// True if a path is a folder above this. Only for rules that say where they begin.
    pub(super) fn is_below(&self, path: &Names) -> bool {
        let Start::At(starts) = &self.start else { return false };
        starts.iter().any(|start| {
            // With a pattern in it, the place is not known from there on.
            let fixed = self.names.iter().take_while(|name| !name.contains('*'));
            let whole: Vec<&String> = start.iter().chain(fixed).collect();
            path.parts.len()
                < whole.len() + usize::from(self.names.iter().any(|it| it.contains('*')))
                && path.parts.iter().zip(&whole).all(|(name, other)| path.is_same(name, other))
        })
    }

    /// True if it says only names, and not where they are.
    pub(super) fn is_anywhere(&self) -> bool {
        matches!(self.start, Start::Anywhere)
    }

    /// True if a path that ends with this name may be what the rule names. Quick, for those who ask about many.
    pub(super) fn may_end_with(&self, name: &str) -> bool {
        self.names.last().is_none_or(|own| own == "**" || name_fits(own, name, true))
    }

    /// True if a pattern of names may mean just the file that this names.
    pub(super) fn may_be_named(&self, glob: &str) -> bool {
        let (own, glob) = (self.names.last(), glob.rsplit('/').next().unwrap_or(glob));
        // What any name fits says nothing about this one.
        if glob.chars().all(|letter| "*?".contains(letter)) {
            return false;
        }
        let is_plain = |own: &&String| !own.contains('*') && !self.is_folder;
        own.filter(is_plain).is_some_and(|own| name_fits(glob, own, false))
    }

    /// True if the first of these names are the rule's.
    fn fits(&self, names: &[String], path: &Names) -> bool {
        let is_anywhere = matches!(self.start, Start::Anywhere);
        let Some(rest) = eat(&self.names, names, path, is_anywhere) else { return false };
        // A plain file is no folder of that name.
        !(self.is_folder && rest == 0 && path.is_file)
    }
}

/// Compares names from the start; gives how many are left over. `**` takes as few as it can.
fn eat(rule: &[String], names: &[String], path: &Names, is_anywhere: bool) -> Option<usize> {
    let Some((first, others)) = rule.split_first() else { return Some(names.len()) };
    if first == "**" {
        return (0..=names.len()).find_map(|skip| eat(others, &names[skip..], path, is_anywhere));
    }
    let (name, after) = names.split_first()?;
    let fits = if path.is_glob && globs::is_glob(name) {
        // Everywhere there may be a name that any pattern stands for.
        !first.contains('*')
            && (!is_anywhere || globs::is_telling(name))
            && globs::stands_for(name, first)
    } else {
        name_fits(first, name, path.ignores_case)
    };
    if fits { eat(others, after, path, is_anywhere) } else { None }
}

impl Names {
    fn strip(&self, start: &[String]) -> Option<&[String]> {
        let head = self.parts.get(..start.len())?;
        let is_same = head.iter().zip(start).all(|(name, other)| self.is_same(name, other));
        is_same.then(|| &self.parts[start.len()..])
    }

    /// True if one of its names is, or may be, this one.
    pub(super) fn is_same(&self, name: &str, other: &str) -> bool {
        if self.is_glob && globs::is_glob(name) {
            return globs::stands_for(name, other);
        }
        same(name, other, self.ignores_case)
    }

    /// True if its names are patterns of the shell.
    pub(super) fn is_glob(&self) -> bool {
        self.is_glob
    }

    /// Its last names, for those that look for them anywhere.
    pub(super) fn names(&self) -> &[String] {
        &self.parts
    }

    /// The whole path again.
    pub(super) fn text(&self) -> String {
        format!("/{}", self.parts.join("/"))
    }

    /// The paths in the person's own folder that a path in a copy of it stands for.
    pub(super) fn in_origin(&self, place: &Whereabouts) -> impl Iterator<Item = String> {
        let below = self.strip(&split(&place.project)).filter(|_| !place.origin.is_empty());
        let below = below.map(|names| names.join("/"));
        let all = below.into_iter().flat_map(|below| {
            place.origin.iter().map(move |it| format!("{}/{below}", it.trim_end_matches('/')))
        });
        all.collect::<Vec<_>>().into_iter()
    }

    /// True if it is this path, below it, or above it.
    pub(super) fn is_at_or_above(&self, other: &str) -> bool {
        let other = split(other);
        self.parts.len() <= other.len()
            && self.parts.iter().zip(&other).all(|(name, other)| self.is_same(name, other))
    }

    pub(super) fn is_at_or_below(&self, other: &str) -> bool {
        self.strip(&split(other)).is_some()
    }
}

fn same(one: &str, other: &str, ignores_case: bool) -> bool {
    one == other || ignores_case && one.to_lowercase() == other.to_lowercase()
}

/// True if a name fits a rule in which `*` stands for any letters. Linear but for the last `*`.
pub(super) fn name_fits(rule: &str, name: &str, ignores_case: bool) -> bool {
    if !rule.contains('*') {
        return same(rule, name, ignores_case);
    }
    let (rule, name) = if ignores_case {
        (rule.to_lowercase(), name.to_lowercase())
    } else {
        (rule.to_owned(), name.to_owned())
    };
    let mut parts = rule.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    true
}

/// The names of a path, `.` left out and `..` resolved as text.
fn split(path: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            // The root of a process is the root.
            "root" if names.len() == 2 && names.first().is_some_and(|first| first == "proc") => {
                names.clear();
            }
            name => names.push(name.to_owned()),
        }
    }
    names
}

/// A path with the folder that it begins in, as written; `None` if that is not known.
pub(super) fn joined(path: &str, folder: Option<&str>, place: &Whereabouts) -> Option<String> {
    let home = place.homes.first().map(String::as_str);
    if let Some(rest) =
        path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'))
    {
        return Some(format!("{}{rest}", home?));
    }
    if let Some(rest) = after_own_folder(path) {
        return Some(format!("{}{rest}", joined_folder(folder.unwrap_or_default(), place)?));
    }
    if path.starts_with('/') {
        return Some(path.to_owned());
    }
    let folder = folder?;
    let start = joined_folder(folder, place)?;
    Some(format!("{}/{path}", start.trim_end_matches('/')))
}

/// What follows the folder that a process runs in, as the system names it.
fn after_own_folder(path: &str) -> Option<&str> {
    let (process, rest) = path.strip_prefix("/proc/")?.split_once('/')?;
    let is_process = ["self", "thread-self"].contains(&process) || process.parse::<u32>().is_ok();
    let rest = rest.strip_prefix("cwd").filter(|_| is_process)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

fn joined_folder(folder: &str, place: &Whereabouts) -> Option<String> {
    if folder.starts_with('/') {
        return Some(folder.to_owned());
    }
    if folder.starts_with('~') {
        return joined(folder, None, place);
    }
    Some(format!("{}/{folder}", place.folder.trim_end_matches('/')))
}

/// Every way to say where a path leads: as written, and as it was resolved.
///
/// A pattern stands for what it found, and for the names that it spells out whatever is there.
pub(super) fn spellings(path: &Word, whole: &str, seen: &PathSeen) -> Vec<Names> {
    let is_file = seen.exists && !seen.is_dir;
    let ignores_case = seen.case_insensitive;
    let names =
        |path: &str, is_file| Names { parts: split(path), is_file, ignores_case, is_glob: false };
    let mut all = match path {
        Word::Glob(_) => stand_ins(whole).iter().map(|path| names(path, false)).collect(),
        Word::Known(_) | Word::Unknown { .. } => vec![names(whole, is_file)],
    };
    // What it finds says more than what it may find.
    let is_short = whole.len() <= GLOB_MAX;
    if matches!(path, Word::Glob(_)) && seen.real.is_empty() && is_short {
        all.push(Names { is_glob: true, ..names(whole, false) });
    }
    for real in &seen.real {
        let real = names(real, is_file && matches!(path, Word::Known(_)));
        if !all.contains(&real) {
            all.push(real);
        }
    }
    all
}

/// Names that a path has although nobody knows where it begins.
pub(super) fn relative(path: &str) -> Names {
    Names { parts: split(path), is_file: false, ignores_case: false, is_glob: false }
}

/// A path as names, where what was seen of it says whether case counts.
pub(super) fn named(path: &str, seen: &PathSeen) -> Names {
    Names { ignores_case: seen.case_insensitive, ..relative(path) }
}

/// A pattern of which nobody knows where it begins.
pub(super) fn pattern(glob: &str) -> Names {
    Names { is_glob: true, ..relative(glob) }
}

/// Names that a pattern spells out, wherever they are.
pub(super) fn picked(glob: &str) -> Vec<Names> {
    stand_ins(glob).iter().map(|path| relative(path)).collect()
}

/// Paths that a pattern surely means if they are there: with nothing, and with some letter, in the place of each `*`.
fn stand_ins(glob: &str) -> Vec<String> {
    let glob = globs::without_classes(glob);
    let with = |stand_in: &str| -> Option<String> {
        let mut out = String::new();
        let mut letters = glob.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '*' => {
                    while letters.next_if_eq(&'*').is_some() {}
                    // A name that begins with `*` does not find hidden files, and is never empty.
                    let begins = out.is_empty() || out.ends_with('/');
                    if stand_in.is_empty() && begins {
                        return None;
                    }
                    out.push_str(stand_in);
                }
                '?' => out.push('x'),
                other => out.push(other),
            }
        }
        Some(out)
    };
    [with(""), with("x")].into_iter().flatten().collect()
}

/// The folder that a pattern empties: `build/*` is all of `build`.
pub(super) fn emptied(glob: &str) -> Option<&str> {
    let (folder, last) = glob.rsplit_once('/').unwrap_or((".", glob));
    let is_all = last == "{*,.*}" || globs::is_everything(last);
    is_all.then_some(if folder.is_empty() { "/" } else { folder })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Whereabouts {
        Whereabouts {
            project: "/home/ann/proj".to_owned(),
            folder: "/home/ann/proj".to_owned(),
            homes: vec!["/home/ann".to_owned()],
            ..Whereabouts::default()
        }
    }

    fn covers(rule: &str, path: &str) -> bool {
        covers_seen(rule, path, &PathSeen::default())
    }

    fn covers_seen(rule: &str, path: &str, seen: &PathSeen) -> bool {
        let place = place();
        let whole = joined(path, Some(""), &place).unwrap();
        let all = spellings(&Word::Known(path.to_owned()), &whole, seen);
        all.iter().any(|names| PathPattern::new(rule, &place).covers(names))
    }

    #[test]
    fn names_are_compared_whole_and_at_any_depth() {
        for (rule, path) in [
            (".env", ".env"),
            (".env", "config/.env"),
            (".env", "./a/../.env"),
            (".env", "/home/ann/proj/.env"),
            (".env", ".env/inside"),
            ("*.pem", "a/server.pem"),
            ("secrets/", "secrets"),
            ("secrets/", "secrets/a/b"),
            ("tests/golden/", "x/tests/golden/a"),
            ("~/.ssh/", "~/.ssh"),
            ("~/.ssh/", "/home/ann/.ssh/config"),
            ("~/.ssh", "~/.ssh/config"),
            ("$HOME/.ssh", "../.ssh/config"),
            ("/etc/", "/etc/passwd"),
            ("/etc/", "/usr/../etc"),
            ("/etc/", "/proc/self/root/etc/passwd"),
            ("**/deep/*.txt", "a/b/deep/c.txt"),
            ("a/**/z", "a/b/c/z"),
            ("a/**/z", "a/z"),
            ("./src", "src/x.rs"),
            ("~", "~"),
            (".", "."),
            (".", "/home/ann/proj/"),
        ] {
            assert!(covers(rule, path), "{rule} {path}");
        }
        for (rule, path) in [
            (".env", ".envrc"),
            (".env", ".env.example"),
            ("*.key", "src/monkey.ts"),
            ("secrets/", "secrets-howto.md"),
            ("vendor/", "vendored.md"),
            ("terraform.tfstate", "terraform.tfstate.d/readme"),
            ("tests/golden/", "tests/x/golden"),
            ("/etc/", "etc/passwd"),
            ("~/.ssh/", "/root/.ssh/config"),
            ("./src", "lib/src/x.rs"),
            ("~", "~/notes"),
            (".", "src"),
            ("*.pem", "pem"),
            ("a*b*c", "axxcxxb"),
            ("", "a"),
        ] {
            assert!(!covers(rule, path), "{rule} {path}");
        }
    }

    #[test]
    fn links_case_and_kind_are_facts() {
        let link = PathSeen {
            real: vec!["/home/ann/proj/.env".to_owned()],
            exists: true,
            ..PathSeen::default()
        };
        assert!(covers_seen(".env", "notes", &link));
        let plain = PathSeen { exists: true, ..PathSeen::default() };
        assert!(!covers_seen("docs/", "docs", &plain), "a file called docs");
        assert!(covers_seen("docs/", "docs/x", &plain));
        let loose = PathSeen { case_insensitive: true, ..PathSeen::default() };
        assert!(covers_seen(".env", ".ENV", &loose) && !covers(".env", ".ENV"));
        assert!(covers_seen("*.Pem", "A.PEM", &loose));
    }

    #[test]
    fn a_folder_above_a_rule_is_known_where_the_rule_begins_somewhere() {
        let above = |rule: &str, path: &str| {
            let names = relative(path);
            PathPattern::new(rule, &place()).is_below(&names)
        };
        for (rule, path) in
            [("~", "/"), ("~", "/home"), ("~/.ssh/", "/home/ann"), ("/etc/*.conf", "/etc")]
        {
            assert!(above(rule, path), "{rule} {path}");
        }
        for (rule, path) in
            [("~", "/home/ann"), ("~", "/home/bob"), (".env", "/"), ("/etc/", "/etc")]
        {
            assert!(!above(rule, path), "{rule} {path}");
        }
    }

    #[test]
    fn a_pattern_means_what_it_spells_out_and_what_it_finds() {
        let hits = |rule: &str, glob: &str, found: &[&str]| {
            let seen = PathSeen {
                real: found.iter().map(|it| (*it).to_owned()).collect(),
                ..PathSeen::default()
            };
            let whole = joined(glob, Some(""), &place()).unwrap();
            let all = spellings(&Word::Glob(glob.to_owned()), &whole, &seen);
            all.iter().any(|names| PathPattern::new(rule, &place()).covers(names))
        };
        assert!(hits("*.pem", "*.pem", &[]));
        assert!(hits(".env", ".env*", &[]));
        assert!(hits("~/.ssh/", "~/.ssh/*", &[]));
        assert!(hits("~/.ssh/", "~/.[s]s?/id_*", &[]));
        assert!(hits("id_rsa", "keys/id_*", &[]) && !hits("id_rsa", "keys/*", &[]));
        assert!(hits(".env", ".e*", &["/home/ann/proj/.env"]));
        assert!(!hits(".env", ".e*", &["/home/ann/proj/.editorconfig"]));
        assert!(!hits("*.pem", "*", &["/home/ann/proj/a.rs"]));
        assert!(!hits(".env", "src/*.env", &[]));
        assert_eq!(emptied("build/*"), Some("build"));
        assert_eq!(emptied("/*"), Some("/"));
        assert_eq!(emptied("*"), Some("."));
        assert_eq!(emptied("*.o"), None);
    }
}
