//! Programs that read all that lies below the folders that they are given: searches, archives and copies.

use super::invoke::Call;
use super::options::Read;
use super::state::State;
use super::value::{Field, Listing, Piece};
use super::walk::{Input, Walker};
use super::{CommandFolder, DeepTouch, TouchKind};
use crate::guard::sieve::{KnownToGit, Sieve};

/// Most folders of one command that are looked into.
const DEEP_MAX: usize = 64;

impl Walker<'_> {
    /// What a program of the table reads below folders.
    pub(super) fn deep_of(&mut self, name: &str, found: &Read, state: &State, call: Call<'_>) {
        let Some(sieve) = sieve_of(name, found) else { return };
        if ["cp", "rsync", "ditto", "scp"].contains(&name) {
            return self.copied_below(name, found, &sieve, state, call);
        }
        // `zip -R` looks for its patterns at any depth.
        if name == "zip" && found.options.iter().any(|(option, _)| option == "R") {
            let mut own = sieve;
            for pattern in found.operands.iter().skip(1) {
                match pattern.to_word() {
                    super::CommandWord::Known(text) | super::CommandWord::Glob(text) => {
                        own.take_only(&text);
                    }
                    super::CommandWord::Unknown { .. } => own.take_only("*"),
                }
            }
            return self.touch_below(&Field::text("."), &own, None, state, name);
        }
        let searches = !matches!(name, "diff" | "zip");
        let given = ["e", "f", "regexp", "file"];
        let skipped = usize::from(name == "zip" || searches && !found.has(&given));
        let paths = found.operands.get(skipped..).unwrap_or_default();
        // Without a path it reads where it is, unless something is handed to it.
        if paths.is_empty() && searches && matches!(call.input, Input::Given) {
            self.touch_below(&Field::text("."), &sieve, None, state, name);
        }
        for path in paths {
            self.touch_below(path, &sieve, None, state, name);
        }
        if name == "rg" {
            self.taken_by_name(found, paths, state, call);
        }
    }

    /// What `rg` is told to take by its name it also takes where git is told to ignore it.
    fn taken_by_name(&mut self, found: &Read, paths: &[Field], state: &State, call: Call<'_>) {
        let here = [Field::text(".")];
        let roots = if paths.is_empty() { &here[..] } else { paths };
        let patterns = found.values(&["g", "glob", "iglob"]).filter_map(Field::known);
        for pattern in patterns.filter(|it| !it.starts_with('!') && !it.contains('/')) {
            for root in roots {
                self.steps += 1;
                let mut named = root.clone();
                named.push_text("/");
                named.push(Piece::Glob(pattern.to_owned()));
                self.touch(TouchKind::Read, &named, state, "rg", call.span);
            }
        }
    }

    /// What copies read, and where it lands.
    fn copied_below(
        &mut self,
        name: &str,
        found: &Read,
        sieve: &Sieve,
        state: &State,
        call: Call<'_>,
    ) {
        let folder = found.values(&["t", "target-directory"]).next().cloned();
        let Some((last, before)) = found.operands.split_last() else { return };
        let (from, to) = match folder {
            Some(folder) => (found.operands.as_slice(), folder),
            None => (before, last.clone()),
        };
        for source in from {
            self.steps += 1;
            if self.is_spent(call.span) {
                return;
            }
            self.touch_below(source, sieve, Some(&to), state, name);
        }
    }

    /// What lies below a path is used, as far as it passes; where copies of it land.
    pub(super) fn touch_below(
        &mut self,
        path: &Field,
        sieve: &Sieve,
        to: Option<&Field>,
        state: &State,
        by: &str,
    ) {
        if let Some(listing) = path.listing().cloned() {
            return self.deep_listed(TouchKind::Read, &listing, state, by);
        }
        self.deep(TouchKind::Read, path, sieve, to, state, by);
    }

    fn deep(
        &mut self,
        kind: TouchKind,
        path: &Field,
        sieve: &Sieve,
        to: Option<&Field>,
        state: &State,
        by: &str,
    ) {
        if let Some(container) = state.container.clone() {
            let all = state.folders.iter().flat_map(|folder| container.places(path, folder));
            let mut own = state.clone();
            (own.container, own.folders) = (None, vec![CommandFolder::Known("/".to_owned())]);
            for placed in all.collect::<Vec<_>>() {
                self.deep(kind, &placed.path, sieve, None, &own, by);
            }
            return;
        }
        for word in path.meant(TouchKind::Read, state.has_dotglob) {
            for folder in &state.folders {
                let deep = DeepTouch {
                    kind,
                    path: word.clone(),
                    folder: folder.clone(),
                    to: to.map(Field::to_word),
                    sieve: sieve.clone(),
                    by: by.to_owned(),
                };
                if !self.acts.deep.contains(&deep) && self.acts.deep.len() < DEEP_MAX {
                    self.acts.deep.push(deep);
                }
            }
        }
    }

    /// Files that another program found are used.
    pub(super) fn deep_listed(
        &mut self,
        kind: TouchKind,
        listing: &Listing,
        state: &State,
        by: &str,
    ) {
        // Who has read them to find them was asked about that already.
        let is_told = listing.is_read && kind == TouchKind::Read;
        let Some(sieve) = listing.sieve.clone().filter(|_| !is_told) else { return };
        for root in &listing.roots {
            self.deep(kind, &Field::text(root), &sieve, None, state, by);
        }
    }
}

impl Walker<'_> {
    /// What programs of other machines take from here: all below a folder, where they are told to go down.
    pub(super) fn uploaded(&mut self, name: &str, words: &[Field], state: &State) {
        let known: Vec<&str> = words.iter().map(|word| word.known().unwrap_or_default()).collect();
        let is_deep = match name {
            "aws" => {
                known.contains(&"s3") && (known.contains(&"sync") || known.contains(&"--recursive"))
            }
            "rclone" => ["copy", "sync", "move"].iter().any(|it| known.contains(it)),
            _ => {
                known.contains(&"rsync")
                    || known.iter().any(|it| ["-r", "-R", "--recursive"].contains(it))
            }
        };
        if !is_deep {
            return;
        }
        let mut sieve = Sieve::default();
        for pair in known.windows(2).filter(|pair| ["--exclude", "-x"].contains(&pair[0])) {
            sieve.leave_out(pair[1]);
        }
        // What is elsewhere has a colon in its name, and a word of the program none of a path.
        let is_here = |word: &&Field| {
            let text = word.begins();
            let is_path = text == "." || text.starts_with(['.', '/', '~']) || text.contains('/');
            is_path && !text.contains(':') && !text.starts_with('-')
        };
        for path in words.iter().filter(is_here) {
            self.touch_below(path, &sieve, None, state, name);
        }
    }
}

/// What a program uses below the folders that it is given; `None` if it does not go down.
pub(super) fn sieve_of(name: &str, found: &Read) -> Option<Sieve> {
    let has_value =
        |names: &[&str], value: &str| found.values(names).any(|it| it.known() == Some(value));
    let is_deep = match name {
        "grep" | "egrep" | "fgrep" | "zgrep" | "ugrep" | "pcregrep" | "pcre2grep" => {
            found.has(&["r", "R", "recursive", "dereference-recursive"])
                || has_value(&["d", "directories"], "recurse")
                || cut_short(found, "directories").any(|it| it.known() == Some("recurse"))
        }
        "rg" | "ag" => !found.has(&["files", "type-list"]),
        "diff" | "scp" => found.has(&["r", "recursive"]),
        "zip" => found.has(&["r", "R", "recurse-paths"]),
        "rsync" if takes_listed(found) => false,
        "cp" | "rsync" => found.has(&["r", "R", "a", "recursive", "archive"]),
        "ack" | "ditto" | "rgrep" => true,
        _ => false,
    };
    let mut sieve =
        if name == "rg" || name == "ag" { sieve_of_rg(found) } else { Sieve::default() };
    sieve.follows_links = follows_links(name, found);
    let is_grep = name.ends_with("grep");
    // With `grep` the last one that a name fits counts, and what fits none is searched unless the first one is to be included.
    let picks: Vec<&(String, Option<Field>)> = found
        .options
        .iter()
        .filter(|(it, _)| ["include", "exclude"].contains(&it.as_str()))
        .collect();
    let narrows = !is_grep || picks.first().is_some_and(|(it, _)| it == "include");
    for pattern in found.values(&["include"]).filter(|_| narrows).filter_map(Field::known) {
        sieve.take_only(pattern);
    }
    let last = picks.iter().rposition(|(it, _)| is_grep && it == "include").map_or(0, |at| at + 1);
    let later = picks.iter().skip(last).filter(|(it, _)| it == "exclude");
    let short = found.values(&["x"]).filter(|_| matches!(name, "diff" | "zip"));
    let long = found.values(&["exclude-dir", "ignore"]);
    let later = later.filter_map(|(_, value)| value.as_ref());
    for pattern in long.chain(short).chain(later).filter_map(Field::known) {
        sieve.leave_out(pattern);
    }
    is_deep.then_some(sieve)
}

/// True if `rsync` copies what a list names, and no folders, from where it is to a folder below or one for a while.
fn takes_listed(found: &Read) -> bool {
    let is_listed = found.has(&["files-from"]) && !found.has(&["r", "recursive"]);
    let [from, to] = found.operands.as_slice() else { return false };
    let (Some(from), Some(to)) = (from.known(), to.known()) else { return false };
    let is_here = matches!(from, "." | "./");
    let is_below = |it: &str| {
        let named = it.trim_start_matches("./").trim_end_matches('/');
        let is_relative = !it.starts_with(['/', '~']) && !it.contains(':');
        is_relative && !named.is_empty() && named != "."
    };
    let is_apart = to.starts_with("/tmp/") || is_below(to);
    is_listed && is_here && is_apart && !to.split('/').any(|it| it == "..")
}

/// Values of a long option of which only the beginning is there.
fn cut_short<'r>(found: &'r Read, name: &'static str) -> impl Iterator<Item = &'r Field> {
    let is_it = move |option: &str| option.len() > 2 && name.starts_with(option);
    found.options.iter().filter(move |(option, _)| is_it(option)).filter_map(|(_, it)| it.as_ref())
}

/// True if a program goes through links, of itself or because it is told to.
fn follows_links(name: &str, found: &Read) -> bool {
    match name {
        "rg" => found.has(&["L", "follow"]),
        "ag" => found.has(&["f", "follow"]),
        "ack" => found.has(&["follow"]),
        "cp" | "rsync" => found.has(&["L", "dereference", "copy-links"]),
        "zip" => !found.has(&["y", "symlinks"]),
        "diff" => !found.has(&["no-dereference"]),
        "scp" => true,
        _ => found.has(&["R", "S", "dereference-recursive"]),
    }
}

fn sieve_of_rg(found: &Read) -> Sieve {
    let all = found.options.iter().filter(|(option, _)| option == "u").count();
    let unrestricted = all + usize::from(found.has(&["unrestricted"]));
    let ignored =
        unrestricted > 0 || found.options.iter().any(|(option, _)| option.starts_with("no-ignore"));
    let mut sieve = Sieve::of(if ignored { KnownToGit::Any } else { KnownToGit::NotIgnored });
    sieve.skips_hidden = !found.has(&["hidden", "."]) && unrestricted < 2;
    for pattern in found.values(&["g", "glob", "iglob"]).filter_map(Field::known) {
        sieve.glob(pattern);
    }
    let types = found.values(&["t", "type"]).map(|it| endings_of(it.known()?));
    let endings: Option<Vec<&[&str]>> = types.collect();
    for ending in endings.into_iter().flatten().flatten() {
        sieve.take_only(&format!("*.{ending}"));
    }
    sieve
}

/// Endings of the files of a type of `rg`; `None` for one that is not known here.
fn endings_of(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "rust" => &["rs"],
        "js" | "javascript" => &["js", "jsx", "mjs", "cjs", "vue"],
        "ts" | "typescript" => &["ts", "tsx", "mts", "cts"],
        "py" | "python" => &["py", "pyi"],
        "go" => &["go"],
        "c" => &["c", "h"],
        "cpp" => &["cpp", "cc", "cxx", "hpp", "hh", "hxx", "h", "inl"],
        "java" => &["java", "jsp"],
        "ruby" => &["rb"],
        "sh" => &["sh", "bash", "zsh"],
        "md" | "markdown" => &["md", "markdown", "mdx"],
        "json" => &["json"],
        "yaml" => &["yaml", "yml"],
        "toml" => &["toml"],
        "html" => &["html", "htm"],
        "css" => &["css", "scss"],
        "sql" => &["sql"],
        _ => return None,
    })
}

impl Walker<'_> {
    /// `git diff --no-index`: all that lies in two folders, also what git does not know.
    pub(super) fn compared_by_git(&mut self, name: &str, found: &Read, state: &State) {
        let is_any = name == "diff" && found.options.iter().any(|(it, _)| it.starts_with("no-ind"));
        let only_names = ["name-only", "name-status", "stat", "shortstat", "numstat", "quiet"];
        for path in found.operands.iter().filter(|_| is_any && !found.has(&only_names)) {
            self.touch_below(path, &Sieve::default(), None, state, "git diff");
        }
    }

    /// What `git add` is told by patterns, which git looks for at any depth.
    pub(super) fn added_by_pattern(&mut self, path: &Field, state: &State, call: Call<'_>) {
        let Some(text) = path.known() else {
            if matches!(path.to_word(), super::CommandWord::Glob(_)) {
                self.touch(TouchKind::Read, path, state, "git add", call.span);
            }
            return;
        };
        let pattern =
            text.strip_prefix(":(").and_then(|it| it.split_once(')')).map_or(text, |it| it.1);
        let pattern = pattern.trim_start_matches([':', '/']);
        let is_out = text.starts_with(":!") || text.starts_with(":^") || text.contains("(exclude");
        // All that is there is what `.` means too.
        let is_telling = pattern.chars().any(char::is_alphanumeric);
        if is_out || !is_telling || !pattern.contains(['*', '?', '[']) {
            return;
        }
        let mut sieve = Sieve::of(KnownToGit::NotIgnored);
        sieve.take_only(pattern);
        self.touch_below(&Field::text("."), &sieve, None, state, "git add");
    }

    /// `git stash --all` and `git add --force`: also what git is told to ignore.
    pub(super) fn deep_with_ignored(&mut self, name: &str, found: &Read, state: &State) {
        let all = match name {
            "stash" => found.has(&["a", "all"]),
            "add" | "stage" => found.has(&["f", "force"]),
            _ => false,
        };
        let paths: &[Field] = if name == "stash" { &[] } else { &found.operands };
        let here = [Field::text(".")];
        let paths = if paths.is_empty() { &here[..] } else { paths };
        for path in paths.iter().filter(|_| all) {
            self.touch_below(path, &Sieve::default(), None, state, "git");
        }
    }

    /// What git did not know before: it was told to take up all that is there, and shows or takes away what it took.
    pub(super) fn deep_with_new(&mut self, name: &str, found: &Read, state: &State) {
        const SHORT: [&str; 12] = [
            "stat",
            "name-only",
            "name-status",
            "shortstat",
            "numstat",
            "quiet",
            "check",
            "summary",
            "dirstat",
            "compact-summary",
            "no-patch",
            "s",
        ];
        let is_wide = |it: &Field| matches!(it.known(), Some("." | "./" | ":/" | "*" | ":"));
        let here = Field::text(".");
        let sieve = Sieve::of(KnownToGit::Untracked);
        match name {
            "add" | "stage" => {
                let takes_all =
                    found.has(&["A", "all", "no-ignore-removal"]) && found.operands.is_empty();
                self.has_added |= takes_all || found.operands.iter().any(is_wide);
            }
            "diff" | "show" | "log" | "whatchanged" if self.has_added && !found.has(&SHORT) => {
                let is_shown = name != "log" || found.has(&["p", "patch", "u"]);
                if is_shown && found.operands.iter().all(|it| !it.begins().contains(['/', '.'])) {
                    self.touch_below(&here, &sieve, None, state, "git");
                }
            }
            "stash" => {
                let first = found.operands.first().and_then(Field::known).unwrap_or_default();
                let is_kept = ["", "push", "save"].contains(&first) && found.operands.len() < 2;
                if is_kept && found.has(&["u", "include-untracked"]) {
                    self.deep(TouchKind::Delete, &here, &sieve, None, state, "git stash");
                }
            }
            _ => {}
        }
    }

    /// `git grep` and `git archive`: what git keeps, unless they are told otherwise.
    pub(super) fn deep_of_git(&mut self, name: &str, found: &Read, words: &[Field], state: &State) {
        let mut sieve = Sieve::of(KnownToGit::Tracked);
        let is_untracked = found.has(&["untracked"]);
        if found.has(&["no-index"]) || is_untracked && found.has(&["no-exclude-standard"]) {
            sieve.known_to_git = KnownToGit::Any;
        } else if is_untracked {
            sieve.known_to_git = KnownToGit::NotIgnored;
        }
        let split = words.iter().position(|word| word.known() == Some("--"));
        let skipped = usize::from(!found.has(&["e", "f"]));
        let paths = match (name, split) {
            (_, Some(at)) => words.get(at + 1..).unwrap_or_default(),
            ("grep", None) => found.operands.get(skipped..).unwrap_or_default(),
            (_, None) => &[],
        };
        let is_out = |path: &&Field| path.begins().starts_with([':', '!']);
        for path in paths.iter().filter(is_out).filter_map(Field::known) {
            let name = path.trim_start_matches(":(exclude)").trim_start_matches([':', '!', '^']);
            sieve.leave_out(name.trim_end_matches('/'));
        }
        let inside: Vec<&Field> = paths.iter().filter(|path| !is_out(path)).collect();
        if inside.is_empty() {
            self.touch_below(&Field::text("."), &sieve, None, state, "git");
        }
        for path in inside {
            self.touch_below(path, &sieve, None, state, "git");
        }
    }
}
