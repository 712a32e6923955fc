//! Which paths a word may mean that is not known as a whole.

use super::value::{Field, Piece, push_escaped};
use super::{CommandWord, TouchKind};

/// Folders whose content is made again, or kept for a while only.
const PASSING: &[&str] = &[
    "target",
    "build",
    "dist",
    "out",
    "node_modules",
    "coverage",
    "tmp",
    "temp",
    ".cache",
    ".next",
    "__pycache__",
    ".venv",
];
/// Names in folders that hold secrets, which are ordinary by themselves.
const TELLING: &[&str] = &[
    "config",
    "config.json",
    "credentials",
    "credentials.toml",
    "credentials.json",
    "credentials.db",
    "hosts.yml",
    "auth.json",
    "oauth_creds.json",
    "shadow",
    "gshadow",
    "sudoers",
    "environ",
    "mem",
    "known_hosts",
    "authorized_keys",
    "secring.gpg",
    "kubeconfig",
];

/// Most names in one extended pattern that are looked at one by one.
const ALTERNATIVES_MAX: usize = 16;

impl Field {
    /// The paths that something is done to.
    pub(super) fn meant(&self, kind: TouchKind, has_dotglob: bool) -> Vec<CommandWord> {
        let is_glob = |piece: &Piece| matches!(piece, Piece::Glob(_) | Piece::Cut(_));
        let is_extended = |piece: &Piece| matches!(piece, Piece::Glob(glob) if glob.contains('('));
        let is_odd =
            self.pieces.iter().any(is_extended) || has_dotglob && self.pieces.iter().any(is_glob);
        let word = self.to_word();
        if kind == TouchKind::Delete && is_odd && !is_passing(self.begins()) {
            // What such a pattern leaves out says nothing about what it finds.
            return vec![word, self.unknown_word()];
        }
        if let Some(at) = self.pieces.iter().position(is_extended) {
            let all = self.alternatives(at);
            return all.iter().flat_map(|it| it.meant(kind, has_dotglob)).collect();
        }
        match word {
            CommandWord::Unknown { .. } => self.inside(kind).unwrap_or_else(|| vec![word]),
            CommandWord::Known(_) | CommandWord::Glob(_) => vec![word],
        }
    }

    /// The same with an extended pattern as plain ones, which stand for no less: `@(a|b)` is `a` and `b`.
    fn alternatives(&self, at: usize) -> Vec<Self> {
        let (before, rest) = self.pieces.split_at(at);
        let Some((Piece::Glob(extended), after)) = rest.split_first() else { return Vec::new() };
        let with = |name: &[Piece]| {
            let mut field = Self { pieces: before.to_vec(), ..self.clone() };
            field.pieces.extend(name.iter().chain(after).cloned());
            field
        };
        let any = || Piece::Glob("*".to_owned());
        let inner = extended.get(2..extended.len().saturating_sub(1)).unwrap_or_default();
        let is_more = after.iter().any(|it| matches!(it, Piece::Glob(glob) if glob.contains('(')));
        let names: Vec<&str> = inner.split('|').collect();
        let is_plain = !inner.contains('(') && !is_more && names.len() <= ALTERNATIVES_MAX;
        if extended.starts_with('!') || !is_plain {
            let wide = |field: &mut Self| {
                for piece in &mut field.pieces {
                    if matches!(piece, Piece::Glob(glob) if glob.contains('(')) {
                        *piece = any();
                    }
                }
            };
            let mut all = vec![with(&[any()])];
            // What only leaves names out finds no hidden ones.
            if !extended.starts_with('!') {
                all.push(with(&[Piece::Text(".".to_owned()), any()]));
            }
            all.iter_mut().for_each(wide);
            return all;
        }
        let is_repeated = extended.starts_with(['+', '*']);
        let mut all: Vec<Self> = names
            .iter()
            .map(|name| {
                let name = Piece::Glob((*name).to_owned());
                if is_repeated { with(&[name, any()]) } else { with(&[name]) }
            })
            .collect();
        if extended.starts_with(['?', '*']) {
            all.push(with(&[]));
        }
        all
    }

    /// Patterns for a path of which only letters within names are not known: it stays in its folder.
    fn inside(&self, kind: TouchKind) -> Option<Vec<CommandWord>> {
        let mut pattern = String::new();
        let mut is_hidden_too = false;
        for (at, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Text(text) => push_escaped(&mut pattern, text),
                Piece::Glob(glob) => pattern.push_str(glob),
                Piece::Cut(cut) => pattern.push_str(cut.pattern()),
                Piece::Number => pattern.push_str("[0-9]*"),
                Piece::Name => pattern.push_str("?*"),
                Piece::Part => {
                    let after = match self.pieces.get(at + 1) {
                        Some(Piece::Text(text)) => text.as_str(),
                        _ => "",
                    };
                    is_hidden_too |= self.part(&pattern, after, kind)?;
                    pattern.push_str("?*");
                }
                Piece::Given
                | Piece::Unknown
                | Piece::Read
                | Piece::Listed(_)
                | Piece::Temp
                | Piece::Line => {
                    return None;
                }
            }
        }
        let hidden = is_hidden_too.then(|| CommandWord::Glob(pattern.replacen("/?*", "/.?*", 1)));
        Some(std::iter::once(CommandWord::Glob(pattern)).chain(hidden).collect())
    }

    /// Letters of one name between others; whether a hidden name is meant too, or `None` if they may lead elsewhere.
    fn part(&self, before: &str, after: &str, kind: TouchKind) -> Option<bool> {
        let (folder, name) = before.rsplit_once('/').unwrap_or(("", before));
        let begins = name.is_empty();
        let is_whole = begins && (after.is_empty() || after.starts_with('/'));
        let has_folder = folder.contains(char::is_alphanumeric);
        // Alone it may be the folder above, and at the top a file that guards the run.
        if is_whole && (kind != TouchKind::Write || !after.is_empty()) || begins && !has_folder {
            return None;
        }
        Some(begins && self.begins().starts_with('/') && !is_passing(self.begins()))
    }
}

/// True if a path leads into a folder whose content is no loss.
fn is_passing(path: &str) -> bool {
    let mut names = path.split('/').filter(|name| !name.is_empty()).collect::<Vec<_>>();
    // What follows the last slash is only the beginning of a name.
    if !path.ends_with('/') {
        names.pop();
    }
    !names.contains(&"..") && names.iter().any(|name| PASSING.contains(name))
}

/// What is known of a path that is not known before it, if nothing about its last name is a secret. Several where what is not known may
/// end with a slash, or be nothing.
pub(super) fn ordinary_ends(path: &Field) -> Option<Vec<&str>> {
    let [before @ .., Piece::Text(text)] = path.pieces.as_slice() else { return None };
    let is_open = |piece: &Piece| {
        matches!(piece, Piece::Unknown | Piece::Given | Piece::Part | Piece::Line | Piece::Read)
    };
    let (_, name) = text.rsplit_once('/').filter(|_| before.iter().any(is_open))?;
    let is_plain = name.chars().all(|it| it.is_alphanumeric() || "._-+".contains(it));
    let is_hidden = text.contains("/.") || name.is_empty();
    if !is_plain || is_hidden || TELLING.contains(&name) {
        return None;
    }
    let (first, after) = text.split_once('/')?;
    let joined = (!first.is_empty()).then_some(text.as_str());
    Some(std::iter::once(after.trim_start_matches('/')).chain(joined).collect())
}
