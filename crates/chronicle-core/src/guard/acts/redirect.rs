//! Redirections: the files that they touch, and what a command reads from after them.

use super::TouchKind;
use super::state::State;
use super::value::{Field, Piece, Value};
use super::walk::{Input, Walker};
use crate::base::bash::tree::{Part, Redirection, Target};

impl Walker<'_> {
    /// What redirections touch, and what the command reads from after them.
    pub(super) fn redirections(
        &mut self,
        all: &[Redirection],
        state: &mut State,
        input: &Input,
    ) -> Input {
        let mut input = input.clone();
        for redirection in all {
            let is_input = redirection.number.is_none_or(|number| number == 0)
                && redirection.variable.is_none();
            if let Some(name) = &redirection.variable {
                state.variables.insert(name.clone(), Value::One(Field::of(Piece::Number)));
            }
            let word = match &redirection.target {
                Target::Document(body) => {
                    let parts = body.get().map(Vec::as_slice).unwrap_or_default();
                    let text = self.quoted(parts, state, redirection.span);
                    if is_input {
                        input = Input::Text(text);
                    }
                    continue;
                }
                Target::Word(word) => word,
            };
            self.opened(redirection);
            if redirection.operator == "<<<" {
                let text = self.single(&word.parts, state, word.span);
                if is_input {
                    input = Input::Text(text);
                }
                continue;
            }
            let fields = self.words(std::slice::from_ref(word), state);
            if let ("<", [Part::Process(script)]) = (redirection.operator, word.parts.as_slice())
                && is_input
                && let found @ (Input::Listed(_) | Input::Text(_)) =
                    self.handed_on_by(script, state)
            {
                input = found;
                continue;
            }
            for field in &fields {
                self.redirected(redirection, field, state);
            }
            if is_input {
                match redirection.operator {
                    "<" | "<>" => input = Input::File,
                    "<&" => input = Input::Piped,
                    _ => {}
                }
            }
            // A process or another stream is no file whose name says what it holds.
            let is_stream = |field: &Field| {
                let path = field.begins();
                let streams = ["/dev/fd/", "/proc/", "/dev/tcp/", "/dev/udp/"];
                path == "/dev/stdin" || streams.iter().any(|it| path.starts_with(it))
            };
            if is_input && matches!(input, Input::File) && fields.iter().any(is_stream) {
                input = Input::Piped;
            }
        }
        input
    }

    pub(super) fn redirected(&mut self, redirection: &Redirection, field: &Field, state: &State) {
        let is_stream = field.known().is_some_and(|text| {
            text == "-" || text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit())
        }) || field.is_number();
        let kinds: &[TouchKind] = match redirection.operator {
            "<" => &[TouchKind::Read],
            "<>" => &[TouchKind::Read, TouchKind::Write],
            "<&" => &[],
            ">&" if is_stream => &[],
            _ => &[TouchKind::Write],
        };
        let is_near = |path: &str| {
            ["localhost/", "127.0.0.1/", "::1/"].iter().any(|host| path.starts_with(host))
        };
        let path = field.begins();
        let far = ["/dev/tcp/", "/dev/udp/"].iter().find_map(|it| path.strip_prefix(it));
        if far.is_some_and(|path| !is_near(path)) {
            let why = "a redirection leads to another machine";
            self.doubt(super::DoubtKind::Command, why, redirection.span);
        }
        for kind in kinds {
            self.touch(*kind, field, state, redirection.operator, redirection.span);
        }
    }
}
