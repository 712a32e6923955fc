//! Which of the files below a folder a program uses: those that it is told to leave out, or to take alone, by their names.
//!
//! It errs on one side: a pattern that is not understood leaves nothing out, and takes everything.

use super::paths::name_fits;

/// Most patterns that one with alternatives in braces is made into.
const BRACES_MAX: usize = 64;

/// What a program uses of all that lies below a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sieve {
    /// Names of the only files that it uses, if there are any. One with a slash is a pattern of whole paths.
    only: Vec<String>,
    /// Names of the files and folders that it leaves out.
    without: Vec<String>,
    /// True if files and folders whose names begin with a dot are left out.
    pub skips_hidden: bool,
    /// True if it goes through links to folders.
    pub follows_links: bool,
    /// Which of them git must know.
    pub known_to_git: KnownToGit,
}

/// Which files are used, as git sees them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum KnownToGit {
    /// All of them, also what it was told to ignore.
    #[default]
    Any,
    /// Those that it is not told to ignore.
    NotIgnored,
    /// Those that it keeps.
    Tracked,
    /// Those that it would take up: neither kept nor ignored.
    Untracked,
}

impl Sieve {
    /// All files that git knows in this way.
    pub(super) fn of(known_to_git: KnownToGit) -> Self {
        Self { known_to_git, ..Self::default() }
    }

    /// True if it takes only what has certain names.
    pub(super) fn is_picky(&self) -> bool {
        !self.only.is_empty()
    }

    /// Takes only what has such a name, or another one that was named before.
    pub(super) fn take_only(&mut self, pattern: &str) {
        self.only.extend(alternatives(pattern));
    }

    /// Leaves out what has such a name.
    pub(super) fn leave_out(&mut self, pattern: &str) {
        self.without.extend(alternatives(pattern));
    }

    /// A pattern of `rg`: what begins with `!` is left out.
    pub(super) fn glob(&mut self, pattern: &str) {
        match pattern.strip_prefix('!') {
            Some(rest) => {
                let rest = rest.trim_start_matches("**/").trim_end_matches('*');
                self.leave_out(rest.trim_end_matches('/'));
            }
            None => self.take_only(pattern.trim_start_matches("**/")),
        }
    }

    /// True if a folder, by its path below where the program begins, is left out with all that is in it.
    pub fn skips(&self, below: &str) -> bool {
        let is_hidden = |name: &str| self.skips_hidden && name.starts_with('.');
        below.split('/').any(is_hidden) || self.without.iter().any(|it| leaves_out(it, below))
    }

    /// True if a file is used.
    pub fn takes(&self, below: &str) -> bool {
        let name = below.rsplit('/').next().unwrap_or(below);
        let is_taken = |pattern: &String| match pattern.trim_start_matches("./") {
            // More is taken than is meant, never less.
            pattern if pattern.contains(['[', '?', '{', '\\']) => true,
            pattern if pattern.contains('/') => name_fits(pattern, below, true),
            pattern => name_fits(pattern, name, true),
        };
        !self.skips(below) && (self.only.is_empty() || self.only.iter().any(is_taken))
    }
}

/// Whether a pattern leaves a path out: by the whole of it, or by one of its names.
fn leaves_out(pattern: &str, below: &str) -> bool {
    if pattern.is_empty() || pattern.contains(['[', '?', '{', '\\']) {
        return false;
    }
    let pattern = pattern.trim_start_matches("./");
    if pattern.contains('/') {
        let pattern = pattern.trim_end_matches('*').trim_end_matches('/');
        let is_below = |rest: &str| rest.is_empty() || rest.starts_with('/');
        return below.strip_prefix(pattern).is_some_and(is_below)
            || pattern.contains('*') && name_fits(pattern, below, false)
            || pattern.contains('*') && name_fits(&format!("{pattern}/*"), below, false);
    }
    below.split('/').any(|name| name_fits(pattern, name, false))
}

/// A pattern without its first braces: `*.{a,b}` is `*.a` and `*.b`.
fn alternatives(pattern: &str) -> Vec<String> {
    let inner = pattern.split_once('{').and_then(|(before, rest)| {
        let (inner, after) = rest.split_once('}')?;
        (!inner.contains('{')).then_some((before, inner, after))
    });
    let Some((before, inner, after)) = inner else { return vec![pattern.to_owned()] };
    inner.split(',').take(BRACES_MAX).map(|it| format!("{before}{it}{after}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_left_out_and_nothing_else() {
        let mut sieve = Sieve::default();
        sieve.leave_out("secrets");
        sieve.leave_out("*.pem");
        sieve.leave_out("./a/b/*");
        assert!(sieve.skips("secrets") && sieve.skips("x/secrets") && sieve.skips("a/b/c"));
        assert!(!sieve.takes("secrets/key") && !sieve.takes("x/server.pem"));
        assert!(sieve.takes("secrets2/key") && sieve.takes("a/bc") && sieve.takes("x/pem"));
        let mut odd = Sieve::default();
        odd.leave_out("[s]ecrets");
        assert!(odd.takes("secrets/key"), "what is not understood leaves nothing out");
    }

    #[test]
    fn what_is_taken_alone_leaves_out_all_else() {
        let mut sieve = Sieve::default();
        sieve.glob("*.{rs,toml}");
        sieve.glob("!vendor/**");
        assert!(sieve.takes("a/b.rs") && sieve.takes("Cargo.toml"));
        assert!(!sieve.takes("server.pem") && !sieve.takes("vendor/a.rs"));
        let mut odd = Sieve::default();
        odd.take_only("*.p?m");
        assert!(odd.takes("server.pem"), "what is not understood takes everything");
        let hidden = Sieve { skips_hidden: true, ..Sieve::default() };
        assert!(hidden.skips(".ssh") && !hidden.takes("a/.env") && hidden.takes("a/env"));
    }
}
