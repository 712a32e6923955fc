//! `gh`: names that it gives to commands, and programs that its settings name.

use super::invoke::Call;
use super::state::State;
use super::value::Field;
use super::walk::Walker;
use super::{DoubtKind, TouchKind};

/// Settings whose values are programs.
const PROGRAMS: [&str; 3] = ["editor", "pager", "browser"];

impl Walker<'_> {
    /// What `gh alias set` and `gh config set` make it run later is judged as if it ran now.
    pub(super) fn github(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let is_shell = words.iter().any(|it| matches!(it.known(), Some("--shell" | "-s")));
        // A dash alone is what it reads.
        let operands: Vec<&Field> = words
            .iter()
            .filter(|it| it.begins().len() < 2 || !it.begins().starts_with('-'))
            .collect();
        let word = |at: usize| operands.get(at).and_then(|it| it.known()).unwrap_or_default();
        match (word(0), word(1)) {
            ("alias", "set") => {
                let Some(value) = operands.get(3) else { return };
                match value.known() {
                    None | Some("-") => {
                        let why = "`gh` is given a command under another name that is not known";
                        self.doubt(DoubtKind::Text, why, call.span);
                    }
                    Some(text) if is_shell || text.starts_with('!') => {
                        self.run_value(text.trim_start_matches('!'), state, call.span);
                    }
                    Some(text) => self.run_value(&format!("gh {text}"), state, call.span),
                }
            }
            ("alias", "import") => {
                let Some(file) = operands.get(2).map(|it| (*it).clone()) else { return };
                self.touch(TouchKind::Read, &file, state, "gh", call.span);
                let why = "`gh` takes commands under other names from a file";
                self.doubt(DoubtKind::Text, why, call.span);
            }
            ("config", "set") if PROGRAMS.contains(&word(2)) => {
                if let Some(program) = operands.get(3).map(|it| (*it).clone()) {
                    self.joined_text(std::slice::from_ref(&program), state, call);
                }
            }
            _ => {}
        }
    }
}
