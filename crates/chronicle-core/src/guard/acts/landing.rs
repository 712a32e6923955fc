//! Where files land that are copied, moved or linked to a folder: there they have the names that they had.

use super::TouchKind;
use super::invoke::Call;
use super::options::Read;
use super::state::State;
use super::value::{Field, Piece};
use super::walk::Walker;

impl Walker<'_> {
    /// Operands of which the last one is the target, unless an option names it; what is done to either.
    pub(super) fn brought(
        &mut self,
        name: &str,
        found: &Read,
        (sources, target): (&str, &str),
        state: &State,
        call: Call<'_>,
    ) {
        let folders: Vec<&Field> = found.values(&["t", "target-directory"]).collect();
        let (from, last) = match found.operands.split_last() {
            Some((last, before)) if folders.is_empty() && !before.is_empty() => {
                (before, Some(last))
            }
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
            if links {
                self.touches("L", source, state, name, call);
            }
        }
        if let Some(last) = last {
            self.touches(target, last, state, name, call);
        }
        for folder in folders.into_iter().chain(last) {
            self.copied(from, folder, state, call.span);
            self.landed(name, from, folder, state, call);
        }
    }

    /// Sources that land in a target, if that is a folder: nothing here knows whether it is.
    fn landed(
        &mut self,
        by: &str,
        sources: &[Field],
        target: &Field,
        state: &State,
        call: Call<'_>,
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
            self.touch(TouchKind::Write, &landed, state, by, call.span);
        }
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
            Piece::Glob(_) | Piece::Number => name.push(piece.clone()),
            Piece::Given
            | Piece::Unknown
            | Piece::Listed(_)
            | Piece::Temp
            | Piece::Name
            | Piece::Part => {
                name = Field::unknown();
            }
        }
    }
    let is_certain =
        |piece: &Piece| matches!(piece, Piece::Text(_) | Piece::Glob(_) | Piece::Number);
    let is_name = !matches!(name.known(), Some("" | "." | ".."));
    (is_name && name.pieces.iter().all(is_certain)).then_some(name)
}
