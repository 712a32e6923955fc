//! Tools that apply patches and are told what to change in another form: as the names of fields say it.

use serde_json::{Map, Value};

use crate::base::tools::Finding;

/// Deepest nesting that is looked at.
const DEPTH_MAX: usize = 16;
/// Fields that say what is done, and words in them or in names of fields for what takes a file away.
const DOING: [&str; 5] = ["type", "kind", "op", "operation", "action"];
const REMOVING: [&str; 4] = ["delete", "remove", "move", "rename"];
/// Fields that name the file that something is done to.
const NAMING: [&str; 5] = ["path", "file", "file_path", "filePath", "filename"];
/// Fields that name where it goes to.
const TARGETS: [&str; 4] = ["move_path", "movePath", "new_path", "newPath"];

/// True for a tool that takes nothing but patches.
pub(super) fn takes_patches(tool: &str) -> bool {
    let last = tool.rsplit('.').next().unwrap_or(tool);
    ["apply_patch", "applypatch", "patch"].iter().any(|name| name.eq_ignore_ascii_case(last))
}

/// True if some field says which file is meant. Others, such as `input`, hold the patch itself.
pub(super) fn names_a_file(input: &Value) -> bool {
    let mut rest = vec![input];
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(fields) => {
                if NAMING.iter().any(|name| fields.get(*name).is_some_and(Value::is_string)) {
                    return true;
                }
                rest.extend(fields.values());
            }
            Value::Array(items) => rest.extend(items),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    false
}

/// What an input names in such a form. What lies too deep is said to be hidden.
pub(super) fn named_in(input: &Value) -> Vec<Finding> {
    let mut found = Vec::new();
    walk(input, DEPTH_MAX, &mut found);
    found
}

fn walk(value: &Value, depth: usize, found: &mut Vec<Finding>) {
    if depth == 0 {
        found.push(Finding::Hidden);
        return;
    }
    match value {
        Value::Object(fields) => {
            operation(fields, found);
            for (name, value) in fields {
                if let ("changes", Value::Object(changes)) = (name.as_str(), value) {
                    changes.iter().for_each(|(path, change)| changed(path, change, found));
                }
                walk(value, depth - 1, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, depth - 1, found)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A file, and beside it what is done to it.
fn operation(fields: &Map<String, Value>, found: &mut Vec<Finding>) {
    let text = |name: &&str| fields.get(*name).and_then(Value::as_str);
    let targets = TARGETS.iter().filter_map(text);
    found.extend(targets.map(|it| Finding::Written(it.to_owned())));
    if says_it_removes(fields) {
        let paths = NAMING.iter().filter_map(text);
        found.extend(paths.map(|it| Finding::Removed(it.to_owned())));
    }
}

/// A file by its name, with its change: `{"type": "delete"}`, `{"delete": {}}`, `"delete"`.
fn changed(path: &str, change: &Value, found: &mut Vec<Finding>) {
    let is_removed = match change {
        Value::Object(fields) => {
            let is_moved = |it: &Value| TARGETS.iter().any(|to| !it[*to].is_null());
            says_it_removes(fields)
                || fields.keys().any(|name| removes(name))
                || is_moved(change)
                || fields.values().any(is_moved)
        }
        Value::String(text) => removes(text),
        // Nothing is left of it.
        Value::Null => true,
        Value::Array(_) | Value::Bool(_) | Value::Number(_) => false,
    };
    let finding = if is_removed { Finding::Removed } else { Finding::Written };
    found.push(finding(path.to_owned()));
}

fn says_it_removes(fields: &Map<String, Value>) -> bool {
    DOING.iter().filter_map(|name| fields.get(*name)?.as_str()).any(removes)
}

fn removes(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    // `move_path` says where to, and may hold nothing.
    !TARGETS.contains(&word.as_str()) && REMOVING.iter().any(|it| word.starts_with(it))
}
