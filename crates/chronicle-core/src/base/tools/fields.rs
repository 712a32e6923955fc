//! Finds what a guard must look at in the input of a tool, whatever the tool is called.

use serde_json::Value;

use super::ToolKind;

/// Deepest nesting of an input that is looked at. What lies deeper is reported as hidden.
const DEPTH_MAX: usize = 16;
/// Most texts of one input that are looked at.
const TEXTS_MAX: usize = 2_000;
/// Longest text that can be a path.
const PATH_MAX: usize = 4_096;

/// Fields that name files or folders, in lower case and without `_` and `-`.
const PATHS: &[&str] = &[
    "path",
    "paths",
    "file",
    "files",
    "filepath",
    "filepaths",
    "filename",
    "filenames",
    "notebookpath",
    "dir",
    "dirs",
    "dirpath",
    "directory",
    "directories",
    "folder",
    "folders",
    "cwd",
    "workdir",
    "workingdir",
    "workingdirectory",
    "root",
    "rootdir",
    "rootpath",
    "source",
    "src",
    "sourcepath",
    "destination",
    "dest",
    "dst",
    "destinationpath",
    "target",
    "targetpath",
    "targetfile",
    "oldpath",
    "newpath",
    "from",
    "to",
    "input",
    "inputfile",
    "inputpath",
    "output",
    "outputfile",
    "outputpath",
    "absolutepath",
    "relativepath",
    "location",
    "imagepath",
    "pathinproject",
];
/// Fields of tools that search whose text picks files by their names.
const GLOBS: &[&str] = &["glob", "include", "globs", "filepattern", "includes"];
/// Fields that hold an address, which may be that of a file.
const ADDRESSES: &[&str] = &["url", "uri", "urls", "href", "address"];
/// Fields that hold a command.
const COMMANDS: &[&str] = &["command", "cmd", "script", "commands", "shellcommand", "bash"];

/// One text of an input that a guard looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Names a file or folder: the field says so.
    Path(String),
    /// Picks files by their names.
    Glob(String),
    /// Runs in a shell, as far as its field tells.
    Command(String),
    /// Looks like a path, in a field that does not say so.
    Perhaps(String),
    /// Something lies too deep, or there is too much of it.
    Hidden,
}

/// Everything in an input that names files or runs commands.
///
/// Commands are found for tools that may run them. For those that are known not to, a field `command` is only a text.
pub fn found_in(tool: &str, kind: ToolKind, input: &Value) -> Vec<Finding> {
    let picks = kind == ToolKind::Search && !is_regex_search(tool);
    let mut search = Search { kind, picks, left: TEXTS_MAX, found: Vec::new() };
    search.walk("", input, DEPTH_MAX);
    search.found
}

/// With these, `pattern` is a regular expression over what files contain.
fn is_regex_search(tool: &str) -> bool {
    let names = ["grep", "search_file_content", "grep_search", "search"];
    names.iter().any(|name| name.eq_ignore_ascii_case(tool))
}

struct Search {
    kind: ToolKind,
    /// True if `pattern` picks files.
    picks: bool,
    left: usize,
    found: Vec<Finding>,
}

impl Search {
    fn walk(&mut self, field: &str, value: &Value, depth: usize) {
        if depth == 0 || self.left == 0 {
            if self.found.last() != Some(&Finding::Hidden) {
                self.found.push(Finding::Hidden);
            }
            return;
        }
        match value {
            Value::String(text) => {
                self.left -= 1;
                self.text(field, text);
            }
            // The words of one command.
            Value::Array(items) if self.may_run() && is_one(COMMANDS, field) => {
                self.left -= 1;
                self.words(items);
            }
            Value::Array(items) => items.iter().for_each(|item| self.walk(field, item, depth - 1)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.walk(name, value, depth - 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn may_run(&self) -> bool {
        matches!(self.kind, ToolKind::Run | ToolKind::Mcp | ToolKind::Unknown)
    }

    fn words(&mut self, items: &[Value]) {
        let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
        match words {
            Some(words) => {
                let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                self.found.push(Finding::Command(quoted.join(" ")));
                // It may as well be a list of commands, one after the other.
                if words.iter().any(|word| word.contains(' ')) {
                    self.found.push(Finding::Command(words.join("\n")));
                }
            }
            None => self.found.push(Finding::Hidden),
        }
    }

    fn text(&mut self, field: &str, text: &str) {
        let is_short = text.len() <= PATH_MAX && !text.contains('\n') && !text.trim().is_empty();
        let found = if self.may_run() && (is_one(COMMANDS, field) || self.is_bare(field)) {
            Finding::Command(text.to_owned())
        } else if is_one(ADDRESSES, field) {
            match file_address(text) {
                Some(path) => Finding::Path(path),
                None => return,
            }
        } else if !is_short {
            return;
        } else if is_one(GLOBS, field) || self.picks && is_one(&["pattern", "patterns"], field) {
            Finding::Glob(text.to_owned())
        } else if is_one(PATHS, field) {
            Finding::Path(file_address(text).unwrap_or_else(|| text.to_owned()))
        } else if self.is_open() && looks_like_a_path(text) {
            Finding::Perhaps(file_address(text).unwrap_or_else(|| text.to_owned()))
        } else {
            return;
        };
        self.found.push(found);
    }

    /// Some agents pass the command itself as the input, without a field.
    fn is_bare(&self, field: &str) -> bool {
        field.is_empty() && self.kind == ToolKind::Run
    }

    /// True if it is not known what the tool's fields mean.
    fn is_open(&self) -> bool {
        matches!(self.kind, ToolKind::Mcp | ToolKind::Unknown)
    }
}

fn is_one(names: &[&str], field: &str) -> bool {
    let plain: String =
        field.chars().filter(|it| !"_-".contains(*it)).flat_map(char::to_lowercase).collect();
    names.contains(&plain.as_str())
}

/// The path of an address of a file, such as `file:///etc/hosts`.
pub fn file_address(text: &str) -> Option<String> {
    let text = text.trim();
    let rest =
        text.get(..5).filter(|start| start.eq_ignore_ascii_case("file:")).map(|_| &text[5..])?;
    let path = rest.strip_prefix("//").map_or(rest, |rest| match rest.find('/') {
        // What stands before the path is a host.
        Some(slash) => &rest[slash..],
        None => rest,
    });
    Some(percent_decoded(path))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// True for one word that may be a path.
pub fn looks_like_a_path(text: &str) -> bool {
    let text = text.trim();
    let is_one_word = !text.contains(char::is_whitespace);
    is_one_word
        && (text.contains('/')
            || text.contains('.')
            || text.starts_with('~')
            || text.starts_with("id_"))
}

/// One word of a command line.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Finding::{Command, Glob, Hidden, Path, Perhaps};
    use super::*;

    fn text(of: &str) -> String {
        of.to_owned()
    }

    #[test]
    fn fields_say_what_their_text_is() {
        let read = found_in("Read", ToolKind::Read, &json!({"file_path": "a", "offset": 3}));
        assert_eq!(read, [Path(text("a"))]);
        let edit = json!({"path": "a", "edits": [{"oldText": "/etc/x", "newText": "y"}]});
        assert_eq!(found_in("edit", ToolKind::Edit, &edit), [Path(text("a"))]);
        let run = json!({"command": "ls", "cwd": "/x", "description": "/etc/shadow"});
        assert_eq!(found_in("bash", ToolKind::Run, &run), [Command(text("ls")), Path(text("/x"))]);
        assert_eq!(found_in("bash", ToolKind::Run, &json!("ls")), [Command(text("ls"))]);
        let grep = json!({"pattern": "*.pem", "glob": "*.key"});
        assert_eq!(found_in("Grep", ToolKind::Search, &grep), [Glob(text("*.key"))]);
        assert_eq!(
            found_in("find", ToolKind::Search, &json!({"pattern": "*.pem"})),
            [Glob(text("*.pem"))]
        );
    }

    #[test]
    fn everything_of_an_unknown_tool_that_may_be_a_path_or_a_command_is_found() {
        let input =
            json!({"what": {"deep": [".env"]}, "title": "about .env", "cmd": ["sh", "-c", "ls x"]});
        let found = found_in("mcp__a__b", ToolKind::Mcp, &input);
        assert!(found.contains(&Perhaps(text(".env"))), "{found:?}");
        assert!(found.contains(&Command(text("sh -c 'ls x'"))), "{found:?}");
        assert_eq!(found_in("todo", ToolKind::Other, &json!({"what": ".env"})), []);
    }

    #[test]
    fn the_address_of_a_file_is_a_path() {
        for address in ["file:///etc/shadow", "FILE://localhost/etc/shadow", "file:/etc/%73hadow"] {
            let found = found_in("WebFetch", ToolKind::Fetch, &json!({"url": address}));
            assert_eq!(found, [Path(text("/etc/shadow"))], "{address}");
        }
        assert_eq!(found_in("WebFetch", ToolKind::Fetch, &json!({"url": "https://a.b/etc"})), []);
    }

    #[test]
    fn what_lies_too_deep_is_told() {
        let mut deep = json!("x");
        for _ in 0..40 {
            deep = json!([deep]);
        }
        assert_eq!(found_in("t", ToolKind::Unknown, &deep), [Hidden]);
        let many: Vec<String> = (0..3_000).map(|at| format!("a/{at}")).collect();
        assert_eq!(found_in("t", ToolKind::Unknown, &json!(many)).last(), Some(&Hidden));
    }
}
