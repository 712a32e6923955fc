//! Finds what a guard must look at in the input of a tool, whatever the tool is called.

use serde_json::Value;

use super::dressed::Dress;
use super::{ToolKind, moves, patch, says_it_does, statement};
use crate::base::shell::quoted;

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
const COMMANDS: &[&str] =
    &["command", "cmd", "script", "commands", "shellcommand", "bash", "argv", "commandline"];
/// Fields that hold a program, whose arguments are in another one.
const PROGRAMS: &[&str] = &["program", "executable", "exe", "bin", "binary", "command", "cmd"];
const ARGUMENTS: &[&str] = &["args", "arguments", "argv", "parameters"];
/// Fields that hold a program's text, and those that say in which language it is.
const CODE: &[&str] = &["code", "sourcecode", "pythoncode", "jscode"];
const LANGUAGES: &[&str] = &["language", "lang", "runtime", "interpreter", "kernel"];
/// Fields that name where something goes to, or where the tool works, and not what it takes away.
const TARGETS: &[&str] = &[
    "destination",
    "dest",
    "dst",
    "destinationpath",
    "to",
    "newpath",
    "target",
    "targetpath",
    "targetfile",
    "output",
    "outputfile",
    "outputpath",
];
const WORKPLACES: &[&str] =
    &["cwd", "workdir", "workingdir", "workingdirectory", "root", "rootdir", "rootpath"];
/// Fields that name a folder: for who moves files, where they are.
const FOLDERS: &[&str] = &["dir", "directory", "folder", "location"];

/// Fields of tools that start agents which may hold a command all the same.
const AGENT_COMMANDS: &[&str] = &["command", "cmd", "shellcommand", "bash", "commandline"];
/// Fields that hold a patch, whatever the tool is called.
const PATCHES: &[&str] = &["diff", "patch", "patchtext", "patchcontent", "unifieddiff"];
/// Fields that hold words for people or what files contain, which nobody runs.
const PROSE: &[&str] = &[
    "text",
    "texts",
    "message",
    "messages",
    "title",
    "body",
    "description",
    "comment",
    "comments",
    "content",
    "contents",
    "summary",
    "prompt",
    "question",
    "questions",
    "query",
    "queries",
    "note",
    "notes",
    "reason",
    "subject",
    "name",
    "label",
    "labels",
    "answer",
    "reply",
    "explanation",
    "thought",
    "thoughts",
    "thinking",
    "markdown",
    "html",
    "snippet",
    "pattern",
    "patterns",
    "regex",
    "search",
    "expected",
    "actual",
    "result",
    "results",
    "log",
    "logs",
    "error",
    "errors",
    "context",
    "details",
    "instructions",
    "plan",
    "task",
    "tasks",
    "todo",
    "todos",
    "items",
    "options",
    "goal",
    "finding",
    "findings",
    "evidence",
    "oldtext",
    "newtext",
    "oldstring",
    "newstring",
    "oldstr",
    "newstr",
    "filetext",
    "headline",
    "caption",
    "topic",
    "quote",
    "document",
    "docs",
    "documentation",
    "observation",
    "observations",
    "memory",
];
/// Fields of shells that are read with the command.
const BESIDE: &[&str] = &["stdin", "shell", "justification", "env", "environment"];
/// Most words of a list that is read as one command.
const LIST_MAX: usize = 32;
/// Longest text in a field of no known meaning that is read as a command, and most bytes of all such texts of one input.
const MAY_RUN_MAX: usize = 4_096;
const ALL_MAY_RUN_MAX: usize = 256 * 1024;

/// One text of an input that a guard looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Names a file or folder: the field says so.
    Path(String),
    /// Picks files by their names.
    Glob(String),
    /// Runs in a shell, as far as its field tells.
    Command(String),
    /// May run in a shell: nothing says that it does not.
    MayRun(String),
    /// Names a file that is written.
    Written(String),
    /// Names a file that is removed, or moved away.
    Removed(String),
    /// The text of a program.
    Code {
        /// Its language in lower case; empty if nothing says in which it is.
        language: String,
        /// All of it, as the field has it.
        text: String,
    },
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
    let is_open = matches!(kind, ToolKind::Mcp | ToolKind::Unknown);
    let mut search = Search {
        tool,
        kind,
        picks,
        moves: is_open && moves(tool),
        removes: is_open && says_it_does(tool, ToolKind::Delete),
        around: Around::default(),
        left: TEXTS_MAX,
        may_run: 0,
        found: Vec::new(),
    };
    search.walk("", input, DEPTH_MAX);
    search.found
}

/// With these, `pattern` is a regular expression over what files contain.
fn is_regex_search(tool: &str) -> bool {
    let names = ["grep", "search_file_content", "grep_search", "search"];
    names.iter().any(|name| name.eq_ignore_ascii_case(tool))
}

struct Search<'t> {
    tool: &'t str,
    kind: ToolKind,
    /// True if `pattern` picks files.
    picks: bool,
    /// True if the tool's name says that it moves files, or removes them.
    moves: bool,
    removes: bool,
    around: Around,
    left: usize,
    /// Bytes of texts that may be commands.
    may_run: usize,
    found: Vec<Finding>,
}

/// What other fields beside one say about it.
#[derive(Default)]
struct Around {
    language: Option<String>,
    /// True if one names a file: code beside it is written there.
    has_path: bool,
    /// True if one names the program that arguments are for.
    has_program: bool,
    /// What is set for a command, and what it reads.
    dress: Dress,
}

impl Around {
    fn of(fields: &serde_json::Map<String, Value>) -> Self {
        let language = fields.iter().find(|(name, _)| is_one(LANGUAGES, name));
        let language = language.and_then(|(_, value)| value.as_str());
        let has_path = fields.keys().any(|name| is_one(PATHS, name) && !is_one(WORKPLACES, name));
        let has_program = fields.keys().any(|name| is_one(PROGRAMS, name));
        let dress = Dress::of(fields);
        let language = language.map(|it| it.trim().to_lowercase());
        Self { language, has_path, has_program, dress }
    }

    /// True if a language is named that is no shell's.
    fn is_other_language(&self) -> bool {
        self.language.as_deref().is_some_and(|it| !SHELLS.contains(&it))
    }
}

/// Names of languages that are those of shells.
const SHELLS: &[&str] = &["", "bash", "sh", "shell", "zsh", "dash", "ksh", "posix", "shellscript"];

impl Search<'_> {
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
            Value::Array(items)
                if self.may_run() && is_one(COMMANDS, field)
                    || self.is_agents(field)
                    || self.is_bare(field) =>
            {
                self.left -= 1;
                self.words(items);
            }
            Value::Array(items) => {
                self.list(field, items);
                for item in items {
                    self.walk(field, item, depth - 1);
                }
            }
            Value::Object(fields) => {
                let around = std::mem::replace(&mut self.around, Around::of(fields));
                self.program(fields);
                for (name, value) in fields {
                    let inside = self.inside(field, name);
                    // A list of files by their names.
                    if inside != name && looks_like_a_path(name) && self.left > 0 {
                        self.left -= 1;
                        self.text(inside, name);
                    }
                    self.walk(inside, value, depth - 1);
                }
                self.around = around;
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn may_run(&self) -> bool {
        matches!(self.kind, ToolKind::Run | ToolKind::Mcp | ToolKind::Unknown)
    }

    /// A program in one field, and its arguments in another.
    fn program(&mut self, fields: &serde_json::Map<String, Value>) {
        if !self.may_run() {
            return;
        }
        let one = |names: &[&str]| fields.iter().find(|(name, _)| is_one(names, name));
        let Some((field, value)) = one(PROGRAMS) else { return };
        let Some(program) = value.as_str() else { return };
        // Without arguments elsewhere it is found by itself.
        if one(ARGUMENTS).is_none() && is_one(COMMANDS, field) {
            return;
        }
        let arguments = match one(ARGUMENTS).map(|(_, value)| value) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(items)) => {
                let word =
                    |item: &Value| item.as_str().map_or_else(|| quoted(&item.to_string()), quoted);
                items.iter().map(word).collect::<Vec<_>>().join(" ")
            }
            _ => String::new(),
        };
        self.left = self.left.saturating_sub(1);
        self.command(format!("{program} {arguments}").trim_end());
    }

    /// A command, with what is said beside it.
    fn command(&mut self, text: &str) {
        self.found.push(if self.kind == ToolKind::Agent {
            Finding::MayRun(text.to_owned())
        } else {
            Finding::Command(self.around.dress.on(text))
        });
        if self.around.dress.is_hidden {
            self.found.push(Finding::Hidden);
        }
    }

    /// True for a field of a tool that starts agents which may be a command.
    fn is_agents(&self, field: &str) -> bool {
        self.kind == ToolKind::Agent && is_one(AGENT_COMMANDS, field)
    }

    /// True if a field says nothing about its text, and that may be a command.
    fn may_be_run(&self, field: &str, text: &str) -> bool {
        let is_text = text.trim().contains(char::is_whitespace) && text.len() <= MAY_RUN_MAX;
        let is_known = [PROSE, PATHS, GLOBS, CODE].iter().any(|names| is_one(names, field));
        let is_beside = self.kind == ToolKind::Run && !field.is_empty() && !is_one(BESIDE, field);
        (self.is_open() || is_beside) && is_text && !is_known
    }

    /// Single words in a list of no known meaning may be those of one command.
    fn list(&mut self, field: &str, items: &[Value]) {
        let lists = [PROSE, PATHS, GLOBS, CODE];
        // Arguments without a program beside them are a whole command, unless they begin with an option.
        let begins = items.first().and_then(Value::as_str).unwrap_or_default();
        let is_rest = self.around.has_program || begins.starts_with('-');
        let is_rest = is_rest && is_one(ARGUMENTS, field);
        let is_known = is_rest || lists.iter().any(|names| is_one(names, field));
        let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
        let is_list = self.is_open() && !is_known && (2..=LIST_MAX).contains(&items.len());
        let Some(words) = words.filter(|_| is_list && self.left > 0) else { return };
        if words.iter().all(|word| !word.is_empty() && !word.contains(char::is_whitespace)) {
            self.left -= 1;
            let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            self.found.push(Finding::MayRun(quoted.join(" ")));
        }
    }

    /// The files that a patch names; whether it is one.
    fn patch(&mut self, text: &str) -> bool {
        let files = patch::files(text);
        if files.len() > self.left {
            self.found.push(Finding::Hidden);
        }
        let is_patch = !files.is_empty();
        for (file, is_removed) in files.into_iter().take(self.left) {
            let finding = if is_removed { Finding::Removed } else { Finding::Written };
            // Git writes a folder of its own before each.
            let plain = file.strip_prefix("a/").or_else(|| file.strip_prefix("b/"));
            self.found.extend(plain.map(|file| finding(file.to_owned())));
            self.found.push(finding(file.into_owned()));
        }
        is_patch
    }

    /// Code or statements, if a field holds some.
    fn code(&self, field: &str, text: &str) -> Option<Finding> {
        let language = self.around.language.clone();
        let is_written = self.around.has_path && language.is_none();
        let is_code = is_one(CODE, field) && !is_written;
        let is_script = is_one(COMMANDS, field) && self.around.is_other_language();
        if is_code || is_script {
            let language = language.unwrap_or_default();
            return Some(Finding::Code { language, text: text.to_owned() });
        }
        statement::is_in(self.tool, &plain(field), text)
            .then(|| Finding::Code { language: "sql".to_owned(), text: text.to_owned() })
    }

    /// What is done to the path of a field.
    fn path(&self, field: &str, path: String) -> Finding {
        let is_source = !is_one(TARGETS, field) && !is_one(WORKPLACES, field);
        let is_moved = self.moves && is_source && !is_one(FOLDERS, field);
        if is_moved || self.removes && is_source {
            return Finding::Removed(path);
        }
        Finding::Path(path)
    }

    fn words(&mut self, items: &[Value]) {
        let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
        match words {
            Some(words) => {
                let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                self.command(&quoted.join(" "));
                // It may as well be a list of commands, one after the other.
                if words.iter().any(|word| word.contains(' ')) {
                    self.command(&words.join("\n"));
                }
            }
            None => self.found.push(Finding::Hidden),
        }
    }

    fn text(&mut self, field: &str, text: &str) {
        let is_line = !text.trim().is_empty() && !text.trim().contains('\n');
        let is_short = text.len() <= PATH_MAX && is_line;
        let is_patch = !is_one(PROSE, field) && patch::is_one(text);
        let may_patch = self.is_open() && (is_one(PATCHES, field) || is_patch);
        if (may_patch || patch::is_for(self.tool, self.kind)) && self.patch(text) {
            return;
        }
        let code = if self.may_run() { self.code(field, text) } else { None };
        let found = if let Some(code) = code {
            code
        } else if self.may_run() && (is_one(COMMANDS, field) || self.is_bare(field))
            || self.is_agents(field)
        {
            return self.command(text);
        } else if self.may_be_run(field, text) {
            self.may_run += text.len();
            let is_seen = self.may_run <= ALL_MAY_RUN_MAX;
            if is_seen { Finding::MayRun(text.to_owned()) } else { Finding::Hidden }
        } else if is_one(ADDRESSES, field) {
            match file_address(text) {
                Some(path) => Finding::Path(path),
                None => return,
            }
        } else if !is_short {
            return;
        } else if is_one(GLOBS, field) || self.picks && is_one(&["pattern", "patterns"], field) {
            Finding::Glob(text.to_owned())
        } else if is_one(PATHS, field) || self.is_bare_path(field) {
            self.path(field, file_address(text).unwrap_or_else(|| text.to_owned()))
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

    /// The same for tools that use files.
    fn is_bare_path(&self, field: &str) -> bool {
        let uses_files = matches!(
            self.kind,
            ToolKind::Read | ToolKind::Write | ToolKind::Edit | ToolKind::Delete
        );
        field.is_empty() && (uses_files || self.kind == ToolKind::Search && !self.picks)
    }

    /// What a field inside of another one is: for tools that use files, one of no known meaning is what that around it is.
    fn inside<'f>(&self, around: &'f str, field: &'f str) -> &'f str {
        let lists = [PATHS, GLOBS, ADDRESSES, COMMANDS, CODE, PATCHES, PROSE, LANGUAGES];
        let is_known = lists.iter().any(|names| is_one(names, field)) && plain(field) != "name";
        if !self.may_run() && is_one(PATHS, around) && !is_known { around } else { field }
    }

    /// True if it is not known what the tool's fields mean.
    fn is_open(&self) -> bool {
        matches!(self.kind, ToolKind::Mcp | ToolKind::Unknown)
    }
}

pub(super) fn is_one(names: &[&str], field: &str) -> bool {
    names.contains(&plain(field).as_str())
}

/// The name of a field in lower case and without `_` and `-`.
fn plain(field: &str) -> String {
    field.chars().filter(|it| !"_-".contains(*it)).flat_map(char::to_lowercase).collect()
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Finding::{Code, Command, Glob, Hidden, Path, Perhaps, Removed, Written};
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
    fn a_program_and_its_arguments_are_one_command() {
        let found = |input: Value| found_in("mcp__a__b", ToolKind::Mcp, &input);
        for input in [
            json!({"program": "rm", "args": ["-rf", "a b"]}),
            json!({"deep": {"executable": "rm", "arguments": "-rf 'a b'"}}),
            json!({"argv": ["rm", "-rf", "a b"]}),
        ] {
            assert!(found(input.clone()).contains(&Command(text("rm -rf 'a b'"))), "{input}");
        }
        assert_eq!(found(json!({"args": ["-k", "x"]})), []);
        assert_eq!(found_in("todo", ToolKind::Other, &json!({"program": "rm", "args": ["x"]})), []);
    }

    #[test]
    fn code_and_statements_are_found_with_their_language() {
        let found = |input: Value| found_in("mcp__a__call", ToolKind::Mcp, &input);
        let code = |language: &str, of: &str| Code { language: text(language), text: text(of) };
        assert_eq!(found(json!({"code": "x", "language": "Python"})), [code("python", "x")]);
        assert_eq!(found(json!({"script": "x", "lang": "js"})), [code("js", "x")]);
        assert_eq!(found(json!({"script": "x", "language": "bash"})), [Command(text("x"))]);
        assert_eq!(found(json!({"code": "x y", "path": "a"})), [Path(text("a"))]);
        assert_eq!(found(json!({"query": "drop table a"})), [code("sql", "drop table a")]);
        assert_eq!(found(json!({"query": "why drop a table"})), []);
    }

    #[test]
    fn what_is_moved_or_removed_is_told_from_where_it_goes() {
        let found = |tool: &str, input: Value| found_in(tool, ToolKind::Mcp, &input);
        let moved = json!({"source": "a", "destination": "b", "cwd": "/x"});
        let expected = [Path(text("/x")), Path(text("b")), Removed(text("a"))];
        assert_eq!(found("mcp__fs__move_file", moved), expected);
        let removed = json!({"path": "a", "cwd": "/x"});
        let expected = [Path(text("/x")), Removed(text("a"))];
        assert_eq!(found("mcp__fs__delete_file", removed), expected);
        let patch = json!({"input": "*** Begin Patch\n*** Delete File: a\n*** Add File: b\n+x"});
        let found = found_in("apply_patch", ToolKind::Edit, &patch);
        assert_eq!(found, [Removed(text("a")), Written(text("b"))]);
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
