//! Files of rules for `make` and `just` that a text writes and then has run: the lines of their recipes are commands of it as well.

use super::DoubtKind;
use super::invoke::Call;
use super::options::Read;
use super::state::State;
use super::value::{Field, Value};
use super::walk::Walker;

/// Most lines of one file that are walked.
const LINES_MAX: usize = 200;
/// Deepest nesting of variables in each other.
const DEPTH_MAX: usize = 4;

impl Walker<'_> {
    /// Walks the recipes in files that this text wrote.
    pub(super) fn recipes(&mut self, name: &str, found: &Read, state: &State, call: Call<'_>) {
        self.recipes_in(name, found, state, state, call);
    }

    /// Those of files that lie from one folder on, and run in another.
    pub(super) fn recipes_in(
        &mut self,
        name: &str,
        found: &Read,
        from: &State,
        state: &State,
        call: Call<'_>,
    ) {
        let named = ["f", "file", "makefile", "justfile"];
        let mut files: Vec<Field> = found.values(&named).cloned().collect();
        if files.is_empty() {
            let usual: &[&str] = match name {
                "just" => &["justfile", "Justfile", ".justfile"],
                _ => &["GNUmakefile", "makefile", "Makefile"],
            };
            files.extend(usual.iter().map(|it| Field::text(it)));
        }
        for file in files {
            let Some(content) = self.code_in(&file, from, call) else { continue };
            let Some(content) = content.known() else {
                let why = format!("`{name}` runs commands of a file that is not known");
                self.doubt(DoubtKind::Text, &why, call.span);
                continue;
            };
            let given = given(found, state);
            for line in commands(content, &given).into_iter().take(LINES_MAX) {
                self.joined_text(&[Field::text(&line)], state, call);
            }
        }
    }
}

/// Variables that the call sets: those of its words win over those of the file, and these over the environment.
fn given(found: &Read, state: &State) -> Given {
    let known = |value: &Value| match value {
        Value::One(field) => field.known().map(str::to_owned),
        Value::List(_) | Value::Unset => None,
    };
    let outer =
        state.variables.iter().filter_map(|(name, value)| Some((name.clone(), known(value)?)));
    let own = found.operands.iter().filter_map(|it| it.known()?.split_once('='));
    let own = own.map(|(name, value)| {
        (name.trim_end_matches([':', '+', '?', '!']).trim().to_owned(), value.to_owned())
    });
    Given { outer: outer.collect(), own: own.collect() }
}

#[derive(Default)]
struct Given {
    outer: Vec<(String, String)>,
    own: Vec<(String, String)>,
}

/// The lines of all recipes, with the variables that the file itself sets, and those that it is given.
fn commands(content: &str, given: &Given) -> Vec<String> {
    let whole = content.replace("\\\n", " ");
    let pair = |(name, value)| -> (&str, &str) { (String::as_str(name), String::as_str(value)) };
    let mut variables: Vec<(&str, &str)> =
        given.outer.iter().map(|(name, value)| pair((name, value))).collect();
    let mut found = Vec::new();
    for line in whole.lines() {
        let is_recipe = line.starts_with(['\t', ' ']);
        if is_recipe {
            let text = line.trim_start().trim_start_matches(['@', '-', '+']);
            found.push(text);
        } else if let Some((name, value)) = line.split_once('=') {
            variables.push((name.trim_end_matches([':', '+', '?', '!']).trim(), value.trim()));
        } else if let Some((_, text)) = line.split_once(';') {
            // `target: ; command`
            found.push(text.trim());
        }
    }
    variables.extend(given.own.iter().map(|(name, value)| pair((name, value))));
    found.iter().map(|line| filled(line, &variables, 0)).filter(|line| !line.is_empty()).collect()
}

/// A line with the values of its variables. One that the file does not set is a word that means nothing.
fn filled(line: &str, variables: &[(&str, &str)], depth: usize) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(['$', '{']) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let is_just = after.starts_with("{{");
        if let Some(text) = after.strip_prefix("$$") {
            // The shell gets one of them.
            out.push('$');
            rest = text;
            continue;
        }
        let close = match after.get(..2) {
            Some("$(") => ")",
            Some("${") => "}",
            Some("{{") => "}}",
            _ => "",
        };
        if close.is_empty() {
            let is_name = after.starts_with('$');
            out.push_str(if is_name { "_" } else { "{" });
            rest = after.get(1..).unwrap_or_default();
            // `$@` and the like are one letter.
            if is_name {
                rest = rest.get(1..).unwrap_or_default();
            }
            continue;
        }
        let inner = after.get(2..).unwrap_or_default();
        let (name, more) = inner.split_once(close).unwrap_or((inner, ""));
        let value = variables.iter().rev().find(|(it, _)| *it == name.trim()).map(|(_, it)| *it);
        match (value, name.strip_prefix("shell ")) {
            (Some(value), _) if depth < DEPTH_MAX => {
                let value = if is_just { value.trim_matches(['"', '\'']) } else { value };
                out.push_str(&filled(value, variables, depth + 1));
            }
            (_, Some(command)) => out.extend(["$(", command, ")"]),
            _ => out.push('_'),
        }
        rest = more;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_lines_with_their_variables() {
        let text =
            "DIR = /x\nall: a\n\t@rm -rf $(DIR) $@\n\techo $$HOME ${NONE}\nb: ; ls $(shell pwd)\n";
        assert_eq!(commands(text, &Given::default()), ["rm -rf /x _", "echo $HOME _", "ls $(pwd)"]);
        assert_eq!(
            commands("d := '/x'\ndo:\n    rm -rf {{d}}\n", &Given::default()),
            ["rm -rf /x"]
        );
    }
}
