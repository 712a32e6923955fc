//! What the input of a tool says about the command that it runs: variables that are set for it, and what it reads.

use serde_json::{Map, Value};

use super::fields::is_one;
use crate::base::bash::is_identifier;
use crate::base::shell::quoted;

/// Fields that hold variables, and those that hold what the command reads.
const VARIABLES: &[&str] =
    &["env", "environment", "envs", "envvars", "environmentvariables", "extraenv"];
const INPUTS: &[&str] = &["stdin", "stdindata", "stdintext", "standardinput", "stdininput"];

/// What is put around a command.
#[derive(Default)]
pub(super) struct Dress {
    /// Variables and their values, in order.
    sets: Vec<(String, String)>,
    reads: Option<String>,
    /// True if something of it cannot be said in a command.
    pub(super) is_hidden: bool,
}

impl Dress {
    pub(super) fn of(fields: &Map<String, Value>) -> Self {
        let mut dress = Self::default();
        for (name, value) in fields {
            if is_one(VARIABLES, name) {
                dress.set(value);
            } else if is_one(INPUTS, name) {
                dress.is_hidden |= !value.is_string() && !value.is_null();
                dress.reads = value.as_str().filter(|it| !it.is_empty()).map(str::to_owned);
            }
        }
        dress
    }

    fn set(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(text) => self.set_one(name, text),
                        Value::Number(_) | Value::Bool(_) => self.set_one(name, &value.to_string()),
                        Value::Null => {}
                        Value::Array(_) | Value::Object(_) => self.is_hidden = true,
                    }
                }
            }
            Value::Array(items) => {
                for item in items {
                    match item.as_str().and_then(|it| it.split_once('=')) {
                        Some((name, text)) => self.set_one(name, text),
                        None => self.is_hidden = true,
                    }
                }
            }
            Value::String(text) => {
                let pairs = text.split_whitespace().filter_map(|it| it.split_once('='));
                for (name, text) in pairs {
                    self.set_one(name, text);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn set_one(&mut self, name: &str, value: &str) {
        // What is no name may be that of a function that a shell takes over.
        self.is_hidden |= !is_identifier(name);
        if is_identifier(name) {
            self.sets.push((name.to_owned(), value.to_owned()));
        }
    }

    /// The command with its variables before it and its input behind it, as a shell would be told.
    pub(super) fn on(&self, command: &str) -> String {
        let sets =
            self.sets.iter().map(|(name, value)| format!("export {name}={}\n", quoted(value)));
        let sets: String = sets.collect();
        let Some(reads) = &self.reads else { return format!("{sets}{command}") };
        let mut mark = "INPUT".to_owned();
        while reads.lines().any(|line| line == mark) {
            mark.push('_');
        }
        let is_one = !command.contains(['\n', ';', '|', '&', '(', '{', '<', '#']);
        let command = if is_one { command.to_owned() } else { format!("{{ {command}\n}}") };
        format!("{sets}{command} <<'{mark}'\n{reads}\n{mark}\n")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn dressed(input: &Value, command: &str) -> (String, bool) {
        let dress = Dress::of(input.as_object().unwrap());
        (dress.on(command), dress.is_hidden)
    }

    #[test]
    fn variables_and_input_become_part_of_the_command() {
        let input = json!({"env": {"A": "b c", "N": 1}, "stdin": "x\nINPUT"});
        let expected = "export A='b c'\nexport N=1\nsh -s <<'INPUT_'\nx\nINPUT\nINPUT_\n";
        assert_eq!(dressed(&input, "sh -s"), (expected.to_owned(), false));
        let grouped = "{ a; b\n} <<'INPUT'\nx\nINPUT\n".to_owned();
        assert_eq!(dressed(&json!({"stdin": "x"}), "a; b"), (grouped, false));
        assert_eq!(dressed(&json!({"env": ["A=b"]}), "ls"), ("export A=b\nls".to_owned(), false));
        assert_eq!(dressed(&json!({"env": {}, "stdin": ""}), "ls"), ("ls".to_owned(), false));
        assert!(dressed(&json!({"env": {"BASH_FUNC_ls%%": "() { x; }"}}), "ls").1);
        assert!(dressed(&json!({"env": {"A": ["b"]}}), "ls").1);
    }
}
