//! Writes an initial settings file: every project setting with its explanation and default, commented out.

use std::fmt::Write as _;

use super::keys::{KEYS, Key, Whose};
use super::{Settings, Value};

/// Longest line of a comment.
const LINE_MAX: usize = 100;

/// The text of a project's file that sets these values and explains the rest.
pub fn commented(said: &[(&str, Value)]) -> String {
    let mut text = String::from(
        "# Settings of this project. What is commented out is the default, or an example.\n\
         # `chronicle config` shows what holds here and why; a phase, a workflow and a flag have their own say.\n",
    );
    let mut table = "";
    for key in KEYS.iter().filter(|key| key.whose != Whose::User) {
        let (above, name) = key.name.rsplit_once('.').unwrap_or(("", key.name));
        if above == table {
            text.push('\n');
        } else {
            table = above;
            let _ = if above.contains('*') {
                // Commented out as well: an agent of that name must not come into being by the example.
                write!(text, "\n# [{}]\n", above.replace('*', "mine"))
            } else {
                write!(text, "\n[{above}]\n")
            };
        }
        comment(&mut text, key.about);
        match said.iter().find(|(said, _)| *said == key.name) {
            Some((_, value)) => writeln!(text, "{name} = {value}"),
            // Commented out, so that a later default of Chronicle holds for everybody who has not chosen another.
            None => writeln!(text, "# {name} = {}", example(key)),
        }
        .unwrap_or_default();
    }
    text
}

fn comment(text: &mut String, about: &str) {
    let mut line = String::from("#");
    for word in about.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > LINE_MAX {
            let _ = writeln!(text, "{line}");
            "#".clone_into(&mut line);
        }
        line.push(' ');
        line.push_str(word);
    }
    let _ = writeln!(text, "{line}");
}

/// The default, or a plausible value if there is none.
fn example(key: &Key) -> &'static str {
    match (key.default, key.name) {
        ("", "agent") => "\"claude\"",
        ("", "model") => "\"opus\"",
        ("", "verify") => "[\"make test\"]",
        ("", "limits.timeout") => "\"3h\"",
        ("", "budget.usd") => "5.00",
        ("", "budget.tokens") => "2_000_000",
        ("", "budget.time") => "\"2h\"",
        ("", "budget.attempts") => "20",
        ("", "agents.*.at_once") => "2",
        ("", "agents.*.signals") => "\"http\"",
        ("", "agents.*.env.pass") => "[\"GITHUB_TOKEN\", \"AWS_*\"]",
        ("", "agents.*.env.drop") => "[\"SSH_AUTH_SOCK\"]",
        ("", "agents.*.env.set") => "{ RUST_LOG = \"debug\" }",
        // The default is not a project's to say.
        (_, "walls.require") => "true",
        ("", "agents.*.command") => "\"python3 tools/my_agent.py\"",
        (default, _) => default,
    }
}

impl Settings {
    /// The value of a setting as a file would write it, or its default; empty if there is neither.
    pub fn shown(&self, name: &str) -> String {
        let default = || KEYS.iter().find(|key| key.name == name).map(|key| key.default.to_owned());
        let said = self.said(name).map(|said| said.value.to_string());
        said.or_else(default).unwrap_or_default()
    }
}
