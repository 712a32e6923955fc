//! Pathspecs of git: words by which it picks files, and which are more than paths.

use super::facts::{Run, Word};
use super::texts::git_command;

/// A pathspec that begins with a colon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pathspec {
    pub(super) path: String,
    /// It begins at the top of the project.
    pub(super) is_top: bool,
    /// It says what is left out: without another one, all else is meant.
    pub(super) is_left_out: bool,
    pub(super) ignores_case: bool,
}

impl Pathspec {
    /// Reads `:(top)path`, `:/path` and `:!path`; `None` for a plain path, and for `:path`, which is one of the index.
    pub(super) fn read(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(':')?;
        if let Some(long) = rest.strip_prefix('(') {
            let (magic, path) = long.split_once(')')?;
            let has = |word: &str| magic.split(',').any(|it| it.trim() == word);
            return Some(Self {
                path: path.to_owned(),
                is_top: has("top"),
                is_left_out: has("exclude"),
                ignores_case: has("icase"),
            });
        }
        let end = rest.find(|letter| !"/!^".contains(letter)).unwrap_or(rest.len());
        let (signs, path) = rest.split_at(end);
        if signs.is_empty() && !path.is_empty() {
            return None;
        }
        Some(Self {
            path: path.strip_prefix(':').unwrap_or(path).to_owned(),
            is_top: signs.contains('/'),
            is_left_out: signs.contains(['!', '^']),
            ignores_case: false,
        })
    }

    /// True if all files are meant that it may pick from.
    fn is_whole(&self) -> bool {
        !self.is_left_out && is_whole_path(&self.path)
    }
}

fn is_whole_path(path: &str) -> bool {
    path.split('/').all(|name| matches!(name, "" | "." | ".." | "*" | "**"))
}

/// `git restore ':(top)'` and others that mean all files, as rules have them: with a dot at the end.
pub(super) fn with_a_dot(run: &Run) -> Option<String> {
    let mut words = run.words.iter().skip(1 + git_command(run)).map(|word| match word {
        Word::Known(text) => text.as_str(),
        Word::Glob(_) | Word::Unknown { .. } => "…",
    });
    let command = words.next().filter(|it| matches!(*it, "checkout" | "restore"))?;
    let words: Vec<&str> = words.collect();
    let (mut specs, mut kept) = (Vec::new(), Vec::new());
    let marked = words.iter().position(|word| *word == "--");
    for (at, word) in words.iter().enumerate() {
        let is_value = at > 0 && matches!(words[at - 1], "-s" | "--source" | "-b" | "-B");
        let is_spec = marked.is_none_or(|mark| at > mark) && !is_value && !word.starts_with('-');
        if is_spec { specs.push(*word) } else { kept.push(*word) }
    }
    // The first one may be a revision.
    if command == "checkout" && marked.is_none() && specs.len() > 1 {
        kept.push(specs.remove(0));
    }
    let read: Vec<Option<Pathspec>> = specs.iter().map(|spec| Pathspec::read(spec)).collect();
    let is_left_out = |spec: &Option<Pathspec>| spec.as_ref().is_some_and(|it| it.is_left_out);
    let is_whole = |(spec, read): (&&str, &Option<Pathspec>)| match read {
        Some(read) => read.is_whole(),
        None => spec.contains('.') && is_whole_path(spec),
    };
    let all =
        !read.is_empty() && read.iter().all(is_left_out) || specs.iter().zip(&read).any(is_whole);
    all.then(|| format!("git {command} {} .", kept.join(" ")).replace("  ", " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dotted(words: &[&str]) -> Option<String> {
        let words = words.iter().map(|word| Word::Known((*word).to_owned())).collect();
        with_a_dot(&Run::of(words))
    }

    #[test]
    fn pathspecs_that_mean_all_files_are_told() {
        for words in [
            &["git", "restore", ":(top)"][..],
            &["git", "restore", ":!x"],
            &["git", "restore", ".."],
            &["git", "restore", "-s", "HEAD~2", ":^x"],
            &["git", "checkout", "HEAD", "--", ":(top,glob)**"],
            &["git", "-C", "src", "checkout", "--", ".."],
            &["git", "checkout", "HEAD~2", ":(exclude)x"],
        ] {
            assert!(dotted(words).is_some_and(|it| it.ends_with(" .")), "{words:?}");
        }
        for words in [
            &["git", "restore", "src/main.rs"][..],
            &["git", "restore", ":/src/main.rs"],
            &["git", "restore", "src", ":!src/x"],
            &["git", "checkout", "main"],
            &["git", "checkout", "-b", "fix"],
            &["git", "checkout", "--", "../src/main.rs"],
            &["git", "add", ":(top)"],
        ] {
            assert_eq!(dotted(words), None, "{words:?}");
        }
    }

    #[test]
    fn what_a_colon_says_is_read() {
        let read = |text: &str| Pathspec::read(text).map(|it| (it.path, it.is_top));
        assert_eq!(read(":/a"), Some(("a".to_owned(), true)));
        assert_eq!(read(":(top,icase)a"), Some(("a".to_owned(), true)));
        assert_eq!(read(":a"), None);
        assert_eq!(read("a"), None);
    }
}
