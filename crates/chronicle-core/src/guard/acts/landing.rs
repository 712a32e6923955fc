//! Where files land that are copied, moved or linked to a folder: there they have the names that they had.

use super::super::protected::is_holder;
use super::invoke::Call;
use super::options::Read;
use super::state::State;
use super::value::{Field, Piece};
use super::walk::Walker;
use super::{Put, PutWhat, TouchKind};

/// True for `host:path`, which `scp` and `rsync` tell from a path by a colon before any slash.
fn is_elsewhere(target: &Field) -> bool {
    let is_host = |text: &str| {
        text.find(':').is_some_and(|at| at > 0 && text.find('/').is_none_or(|slash| at < slash))
    };
    target.known().is_some_and(is_host)
}

impl Walker<'_> {
    /// Operands of which the last one is the target, unless an option names it; what is done to either.
    pub(super) fn brought(
        &mut self,
        name: &str,
        found: &Read,
        sources: &str,
        state: &State,
        call: Call<'_>,
    ) {
        // `install -d` makes folders.
        if name == "install" && found.has(&["d", "directory"]) {
            for path in &found.operands {
                self.touches("w", path, state, name, call);
            }
            return;
        }
        let folders: Vec<&Field> = found.values(&["t", "target-directory"]).collect();
        let named = found.operands.split_last().filter(|(_, before)| !before.is_empty());
        let (from, last) = match named {
            Some((last, before)) if folders.is_empty() => (before, Some(last)),
            _ => (found.operands.as_slice(), None),
        };
        // Whoever writes to the other name of a file writes to the file.
        let links = match name {
            "ln" => !found.has(&["s", "symbolic"]),
            "link" => true,
            "cp" => found.has(&["l", "link"]),
            _ => false,
        };
        for source in from {
            self.touches(sources, source, state, name, call);
        }
        for source in from.iter().filter(|_| links) {
            self.touches("L", source, state, name, call);
        }
        // What lands on another machine changes nothing here.
        if matches!(name, "scp" | "rsync") && last.is_some_and(is_elsewhere) {
            return;
        }
        // A second name of a file is kept as the file is, wherever it lands.
        let what = if links { PutWhat::Anything } else { put(name, found, from) };
        if let Some(last) = last {
            self.steps += 1;
            let is_made = self.is_made(last, state);
            let put = Put { what: what.clone(), is_made, ..Put::default() };
            self.touch_put(TouchKind::Write, last, state, name, call.span, &put);
        } else if folders.is_empty() && name == "ln" {
            // A link without a name gets that of what it leads to.
            let put = Put { what: what.clone(), ..Put::default() };
            self.landed(name, from, &Field::text("."), state, call, &put);
        }
        let is_exact = !links && found.has(&["T", "no-target-directory"]);
        for folder in folders.into_iter().chain(last) {
            self.copied(from, folder, state, call.span);
            if links || name == "ln" {
                self.named_again(from, folder, state);
            }
            if is_exact {
                // All that lies in a source that is a folder lands in the target.
                if what != PutWhat::File {
                    self.touch_at(TouchKind::Write, folder, state, name, call.span, true);
                }
                continue;
            }
            // One thing that is known lands in a folder or becomes the target. More than one need a folder.
            let is_open = |it: &&str| what != PutWhat::Anything && !it.ends_with('/');
            let inside = last.and_then(Field::known).filter(is_open).map(str::to_owned);
            let put = Put { inside, what: what.clone(), ..Put::default() };
            self.landed(name, from, folder, state, call, &put);
        }
    }

    /// A folder of files that git brings to the name of one that holds what guards a run.
    pub(super) fn brought_by_git(
        &mut self,
        command: &str,
        target: Option<&Field>,
        state: &State,
        call: Call<'_>,
    ) {
        let is_theirs = matches!(command, "clone" | "worktree");
        let target = target.filter(|it| is_theirs && it.known().is_some_and(is_holder));
        if let Some(target) = target {
            self.touch(TouchKind::Write, target, state, &format!("git {command}"), call.span);
        }
    }

    /// Sources that land in a target, if that is a folder: nothing here knows whether it is.
    pub(super) fn landed(
        &mut self,
        by: &str,
        sources: &[Field],
        target: &Field,
        state: &State,
        call: Call<'_>,
        put: &Put,
    ) {
        for source in sources {
            self.steps += 1;
            let Some(name) = last_name(source) else {
                // Whatever it is called, it is one of those that lie there.
                if target.is_known() {
                    self.touch_at(TouchKind::Write, target, state, by, call.span, true);
                }
                continue;
            };
            let mut landed = target.clone();
            landed.is_bare = false;
            if !target.known().is_some_and(|it| it.ends_with('/')) {
                landed.push_text("/");
            }
            landed.extend(&name);
            self.touch_put(TouchKind::Write, &landed, state, by, call.span, put);
        }
    }
}

/// What comes of sources at their target, if there is one that is known.
fn put(name: &str, found: &Read, sources: &[Field]) -> PutWhat {
    let [source] = sources else { return PutWhat::Anything };
    // It may be one that names a folder, or takes folders too.
    if found.has_unknown {
        return PutWhat::Anything;
    }
    let Some(source) = source.known() else { return PutWhat::Anything };
    let all = ["r", "R", "a", "recursive", "archive", "s", "symbolic-link"];
    match name {
        // It makes the folders above what it installs.
        "install" if found.has(&["D"]) => PutWhat::Anything,
        "install" => PutWhat::File,
        "cp" if found.has(&["parents"]) => PutWhat::Anything,
        "cp" if !found.has(&all) => PutWhat::File,
        "cp" | "mv" | "ln" => PutWhat::Same(source.to_owned()),
        _ => PutWhat::Anything,
    }
}

/// The name that a path ends with; `None` if it is not known, or if all that lies in a folder is meant.
fn last_name(path: &Field) -> Option<Field> {
    let mut name = Field::default();
    for piece in &path.pieces {
        match piece {
            Piece::Text(text) => {
                if let Some((_, rest)) = text.rsplit_once('/') {
                    name = Field::text(rest);
                } else {
                    name.push_text(text);
                }
            }
            Piece::Cut(cut) if cut.pattern().contains('/') => {
                name = cut.last_name().map_or_else(Field::unknown, |it| Field::of(Piece::Cut(it)));
            }
            Piece::Glob(_) | Piece::Number | Piece::Cut(_) => name.push(piece.clone()),
            Piece::Given
            | Piece::Unknown
            | Piece::Listed(_)
            | Piece::Temp
            | Piece::Name
            | Piece::Part
            | Piece::Line
            | Piece::Read => {
                name = Field::unknown();
            }
        }
    }
    let is_certain = |piece: &Piece| {
        matches!(piece, Piece::Text(_) | Piece::Glob(_) | Piece::Number | Piece::Cut(_))
    };
    let is_name = !matches!(name.known(), Some("" | "." | ".."));
    (is_name && name.pieces.iter().all(is_certain)).then_some(name)
}
