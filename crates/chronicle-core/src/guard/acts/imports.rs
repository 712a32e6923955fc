//! Modules that a text writes and then has a language load by their names: what they hold is code of it as well.

use super::invoke::{Call, base};
use super::options::Read;
use super::state::State;
use super::value::Field;
use super::walk::{Input, Walker};

/// Languages, and how the names of their modules end.
const MODULES: &[(&str, &[&str])] = &[
    ("python", &["py"]),
    ("pypy", &["py"]),
    ("ipython", &["py"]),
    ("node", &["js", "mjs", "cjs", "ts", "mts", "cts"]),
    ("bun", &["js", "mjs", "cjs", "ts", "mts", "cts", "tsx", "jsx"]),
    ("ts-node", &["js", "mjs", "cjs", "ts", "mts", "cts"]),
    ("tsx", &["js", "mjs", "cjs", "ts", "mts", "cts"]),
    ("deno", &["js", "mjs", "ts", "mts"]),
    ("perl", &["pm", "pl"]),
    ("ruby", &["rb"]),
    ("irb", &["rb"]),
    ("php", &["php", "inc"]),
    ("lua", &["lua"]),
    ("julia", &["jl"]),
];
/// Words by which code loads more of it.
const LOADING: &[&str] = &["import", "require", "include", "from", "use ", "do ", "load", "source"];
/// Files that stand for the folder they are in.
const STANDING: &[&str] = &["__init__", "__main__", "index", "mod"];
/// Modules that Python loads unasked.
const UNASKED: &[&str] = &["sitecustomize", "usercustomize"];

impl Walker<'_> {
    /// Walks the modules that a language is told to load, by its options or by code that this text hands to it.
    pub(super) fn loads(&mut self, name: &str, options: &Read, state: &State, call: Call<'_>) {
        if self.written.is_empty() && self.forgotten.is_empty() {
            return;
        }
        let values = options.options.iter().filter_map(|(_, value)| value.as_ref()?.known());
        let mut text = String::new();
        for value in values {
            text.push_str("import ");
            text.push_str(value);
            text.push('\n');
        }
        if let Input::Text(given) = call.input {
            text.push_str(given.known().unwrap_or_default());
        }
        self.loaded_by(name, &text, None, state, call);
    }

    /// Walks the modules that code loads. Where a language looks for them is not followed: what was written is there to be loaded.
    pub(super) fn loaded_by(
        &mut self,
        name: &str,
        code: &str,
        own: Option<&str>,
        state: &State,
        call: Call<'_>,
    ) {
        let is_it = |(language, _): &&(&str, &[&str])| name.starts_with(language);
        let Some((language, endings)) = MODULES.iter().find(is_it) else { return };
        let loads = LOADING.iter().any(|word| code.contains(word));
        let is_meant = |place: &&String| {
            let stem = module_of(place, endings).unwrap_or_default();
            let is_unasked = language.contains("py") && UNASKED.contains(&stem);
            own != Some(place.as_str()) && (is_unasked || loads && has_word(code, stem))
        };
        let mut all: Vec<&String> = self.written.iter().map(|(place, _)| place).collect();
        all.extend(&self.forgotten);
        let mut meant: Vec<String> = all.into_iter().filter(is_meant).cloned().collect();
        meant.dedup();
        for place in meant {
            self.steps += 1;
            self.run_written(&Field::text(&format!("/{place}")), Some(name), state, call);
        }
    }
}

/// The name by which a file is loaded, if it is of the language.
fn module_of<'p>(place: &'p str, endings: &[&str]) -> Option<&'p str> {
    let (stem, _) = base(place).rsplit_once('.').filter(|(_, end)| endings.contains(end))?;
    if !STANDING.contains(&stem) {
        return Some(stem);
    }
    place.rsplit('/').nth(1)
}

/// True if a text has a name as a whole word.
fn has_word(text: &str, name: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_known_by_its_file_or_its_folder() {
        assert_eq!(module_of("p/a.py", &["py"]), Some("a"));
        assert_eq!(module_of("p/b/__init__.py", &["py"]), Some("b"));
        assert_eq!(module_of("p/a.txt", &["py"]), None);
        assert!(has_word("import m, x", "m") && has_word("require('./m.js')", "m"));
        assert!(!has_word("import mm", "m") && !has_word("import x", ""));
    }
}
