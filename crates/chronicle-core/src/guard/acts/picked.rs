//! Files that commands of git change which are told by pathspecs: from the top, by patterns of git's own, or in a list.

use super::super::pathspecs::Pathspec;
use super::invoke::Call;
use super::options::Read;
use super::state::State;
use super::value::{Field, Piece};
use super::walk::Walker;

/// Commands that change or remove the files that they are told.
const PICKING: [&str; 6] = ["checkout", "restore", "rm", "reset", "checkout-index", "clean"];

impl Walker<'_> {
    /// Puts paths in the place of pathspecs.
    pub(super) fn pick(&mut self, name: &str, found: &mut Read, state: &State, call: Call<'_>) {
        let adds = matches!(name, "add" | "stage");
        if !adds && !PICKING.contains(&name) {
            return;
        }
        let lists: Vec<Field> = found.values(&["pathspec-from-file"]).cloned().collect();
        for list in lists {
            let Some(text) = self.code_in(&list, state, call) else { continue };
            match text.known() {
                Some(text) => {
                    let lines = text.split(['\n', '\0']).filter(|line| !line.is_empty());
                    found.operands.extend(lines.map(Field::text));
                }
                None => found.operands.push(text),
            }
        }
        for path in found.operands.iter_mut().filter(|_| !adds) {
            if let Some(text) = path.known() {
                *path = self.picked_by(text);
            }
        }
    }

    /// What a pathspec means.
    fn picked_by(&self, text: &str) -> Field {
        let Some(spec) = Pathspec::read(text) else { return patterned(text, false) };
        if spec.is_left_out {
            return Field::text(".");
        }
        let path = spec.path.trim_start_matches('/');
        let path = match self.setting.project.filter(|_| spec.is_top) {
            Some(project) => format!("{}/{path}", project.trim_end_matches('/')),
            None if path.is_empty() => ".".to_owned(),
            None => path.to_owned(),
        };
        patterned(&path, spec.ignores_case)
    }
}

/// A path with the patterns in it that git itself expands.
fn patterned(path: &str, ignores_case: bool) -> Field {
    let mut field = Field::default();
    let mut rest = path;
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            '[' => bracketed(rest),
            _ => letter.len_utf8(),
        };
        let (part, after) = rest.split_at(length);
        rest = after;
        if "*?".contains(letter) || length > 1 && letter == '[' {
            field.push(Piece::Glob(part.to_owned()));
        } else if ignores_case && letter.is_ascii_alphabetic() {
            let (small, large) = (letter.to_ascii_lowercase(), letter.to_ascii_uppercase());
            field.push(Piece::Glob(format!("[{small}{large}]")));
        } else {
            field.push_text(part);
        }
    }
    field
}

/// How long a list of letters in brackets is; 1 if it has no end. `[:lower:]` in it is a class of letters.
fn bracketed(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_end = |at: &usize| bytes[*at] == b']' && !b":.=".contains(&bytes[*at - 1]);
    (2..bytes.len()).find(is_end).map_or(1, |end| end + 1)
}
