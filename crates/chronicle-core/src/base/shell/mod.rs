//! Shell commands in tool calls: which tools run one, where it is in their input, which commands it runs, and which of them it
//! proves.
//!
//! `line.rs` reads a command line, `tokens.rs` splits it, `after.rs` has what a command does to those after it, `ground.rs` where
//! and with which settings each runs, and `command.rs` compares one command with a wanted one.

mod after;
mod command;
mod ground;
mod line;
mod tokens;

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::limits::bounded;
use crate::base::tool_name::readings;

pub(crate) use command::begins;
use command::fits;
pub(crate) use line::{Part, parts};

/// Names of tools that run shell commands, in lower case and without the server's name in front.
const SHELLS: [&str; 14] = [
    "bash",
    "shell",
    "sh",
    "zsh",
    "exec",
    "exec_command",
    "execute",
    "execute_command",
    "local_shell",
    "powershell",
    "run_command",
    "run_shell_command",
    "run_terminal_cmd",
    "terminal",
];
/// Input fields that hold the command.
pub(crate) const FIELDS: [&str; 4] = ["command", "cmd", "script", "commands"];

/// Whether a tool of that name runs commands in a shell.
pub fn is_shell_tool(tool: &str) -> bool {
    // Tools of MCP servers are called `mcp__server__tool`.
    let name = tool.rsplit("__").next().unwrap_or(tool).to_ascii_lowercase();
    SHELLS.contains(&name.as_str())
}

/// Runs commands too, but answers before they end, so that its success proves nothing about them.
const WATCHER: &str = "monitor";

/// Whether a tool of that name can run commands, in a shell or to watch what they print. In doubt it can.
pub(crate) fn runs_commands(tool: &str) -> bool {
    let runs = |name: &str| is_shell_tool(name) || name.eq_ignore_ascii_case(WATCHER);
    readings(tool).into_iter().any(runs)
}

/// The command that a tool call runs; `None` if the tool is no shell or the field is missing.
pub fn command_in(tool: &str, input: &Value) -> Option<String> {
    if !is_shell_tool(tool) {
        return None;
    }
    // Some agents pass the command itself as the input, without a field.
    let whole = input.as_str().map(str::to_owned);
    let said = whole.or_else(|| FIELDS.iter().find_map(|field| words(input.get(field)?)));
    let said = said.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())?;
    Some(setting_of(input) + &said)
}

/// Input fields that name the folder that a command runs in, and its variables.
const FOLDER_FIELDS: [&str; 9] = [
    "cwd",
    "workdir",
    "working_dir",
    "workingDir",
    "working_directory",
    "workingDirectory",
    "directory",
    "dir",
    "dir_path",
];
const VARIABLE_FIELDS: [&str; 4] = ["env", "environment", "envs", "env_vars"];

/// What the other fields of a tool's input set before its command, as a command line says it.
fn setting_of(input: &Value) -> String {
    let mut text = String::new();
    for folder in FOLDER_FIELDS.iter().filter_map(|field| input.get(field)?.as_str()) {
        if !folder.is_empty() {
            let _ = write!(text, "cd {}; ", quoted(folder));
        }
    }
    for set in VARIABLE_FIELDS.iter().filter_map(|field| input.get(field)) {
        match set {
            Value::Object(all) => {
                for (name, value) in all {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    let _ = write!(text, "export {name}={}; ", quoted(&value));
                }
            }
            Value::Array(all) => {
                for (name, value) in all.iter().filter_map(|it| it.as_str()?.split_once('=')) {
                    let _ = write!(text, "export {name}={}; ", quoted(value));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    text
}

/// One word of a command line.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Input fields that let a command run in the background.
const BACKGROUND: [&str; 3] = ["run_in_background", "is_background", "background"];

/// The command line that says what a tool does which answers before its command ends.
pub(crate) fn in_background(command: &str) -> String {
    // A comment or a here-document would swallow the `&` on the same line.
    if command.contains(['#', '\n']) {
        format!("{{ {command}\n}} &")
    } else {
        format!("{command} &")
    }
}

/// True if a tool is told to answer before its command ends.
pub(crate) fn asks_background(input: &Value) -> bool {
    BACKGROUND.iter().any(|field| input.get(field) == Some(&Value::Bool(true)))
}

/// The command without what [`in_background`] added to it.
pub(crate) fn as_written(command: &str) -> Option<String> {
    let line = command.strip_suffix(" &")?;
    let inner = line.strip_prefix("{ ").and_then(|line| line.strip_suffix("\n}"));
    Some(inner.filter(|inner| inner.contains(['#', '\n'])).unwrap_or(line).to_owned())
}

/// A command line, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandLine {
    /// Its text, or only how it begins.
    pub text: String,
    /// True if its end is missing. Whatever was cut off could have undone the rest, so such a line proves nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

impl CommandLine {
    /// A line that is known to its end.
    pub(crate) fn whole(text: String) -> Self {
        Self { text, is_cut: false }
    }

    /// At most so many bytes of it, for a person to read.
    pub(crate) fn shortened(&self, max: usize) -> Self {
        Self { text: bounded(&self.text, max), is_cut: self.is_cut || self.text.len() > max }
    }
}

/// What a command line says about a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// The line does not run it.
    Absent,
    /// The line may run it, but its exit code does not say how that ended. The reason is a clause about `it`.
    Doubtful(String),
    /// If the line succeeds, the command ran and succeeded.
    Proven,
}

/// What the success of a command line says about a wanted command in the project, whose path may be unknown (empty).
pub fn proof(line: &CommandLine, wanted: &str, project: &str) -> Proof {
    let wanted = wanted.trim();
    if wanted.is_empty() {
        return Proof::Absent;
    }
    // Whoever asks for a whole line, with pipes and all, gets what they asked for.
    if !line.is_cut && line.text.split_whitespace().eq(wanted.split_whitespace()) {
        return Proof::Proven;
    }
    let mut proof = Proof::Absent;
    for part in parts(line, project) {
        match fits(&part.words, wanted) {
            Proof::Absent => {}
            found @ (Proof::Proven | Proof::Doubtful(_)) => match part.doubt_about(wanted) {
                // One sure run is enough, whatever else is in the line.
                None if found == Proof::Proven => return Proof::Proven,
                None => proof = found,
                Some(doubt) => proof = Proof::Doubtful(doubt),
            },
        }
    }
    proof
}

/// A text, or words that some agents pass as a list.
fn words(value: &Value) -> Option<String> {
    if let Value::String(text) = value {
        return Some(text.clone());
    }
    let texts: Vec<&str> = value.as_array()?.iter().filter_map(Value::as_str).collect();
    // `["bash", "-lc", "cargo test"]` runs its last word.
    match texts.as_slice() {
        [shell, flag, command] if is_shell(shell) && is_script_flag(flag) => {
            Some((*command).to_owned())
        }
        // Quoted again: in `["echo", "; cargo test"]` the sign is a part of a word.
        _ => Some(texts.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
    }
}

/// True for `-c` and `-lc`, after which a shell runs the next word as a command line.
fn is_script_flag(flag: &str) -> bool {
    let letters = flag.strip_prefix('-').unwrap_or_default();
    letters.contains('c') && letters.chars().all(|letter| "ceuxl".contains(letter))
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    ["bash", "sh", "zsh", "dash", "fish"].contains(&name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn proof(line: &str, wanted: &str) -> Proof {
        super::proof(&CommandLine::whole(line.to_owned()), wanted, "/p")
    }

    fn runs(line: &str, wanted: &str) -> bool {
        proof(line, wanted) != Proof::Absent
    }

    #[test]
    fn a_command_is_found_in_a_line_that_runs_it() {
        for (line, wanted) in [
            ("cargo test", "cargo test"),
            ("cd a && RUST_BACKTRACE=1 cargo +nightly test -p x 2>&1 | tail", "cargo test"),
            ("timeout 60 npm run test", "npm test"),
            ("bash -lc 'go test ./...'", "go test"),
            ("ls\n./node_modules/.bin/jest --ci", "jest"),
            ("make", "make"),
            ("sh check.sh", "sh check.sh"),
        ] {
            assert!(runs(line, wanted), "{line}");
        }
        for (line, wanted) in [
            ("npm install test", "npm test"),
            ("sh true.sh bad.sh", "sh bad.sh"),
            ("echo cargo test", "cargo test"),
            ("grep -r 'cargo test' .", "cargo test"),
            ("cargo build", "cargo test"),
            ("test cargo", "cargo test"),
            ("cargotest", "cargo test"),
            ("", "make"),
            ("make", ""),
        ] {
            assert!(!runs(line, wanted), "{line}");
        }
    }

    #[test]
    fn success_of_a_line_proves_only_what_it_cannot_do_without() {
        for line in [
            "sh bad.sh",
            "sh ./bad.sh",
            "cd a && sh bad.sh",
            "cd a && sh bad.sh && echo done",
            "sh bad.sh > log 2>&1",
            "sh bad.sh &> log",
            "A=1 B='x y' timeout -k 5 60 nice -n 5 time sh bad.sh 2>/dev/null",
            "env -u X A=1 sh -eu bad.sh",
            "ls; sh bad.sh",
            "ls\nsh bad.sh\n",
            "set +e; sh bad.sh;",
            "cd a || exit 1\nsh bad.sh # the check",
            "mkdir -p x || true && sh bad.sh",
            "set -o pipefail; sh bad.sh | tail -5",
            "set -euo pipefail && sh bad.sh 2>&1 | tail",
            "bash -o pipefail -c 'sh bad.sh | tail'",
            "yes | sh bad.sh",
            "(cd a && sh bad.sh)",
            "{ sh bad.sh; }",
            "bash -lc 'cd a && sh bad.sh'",
            "source .venv/bin/activate && sh bad.sh",
            "sh \\\n  bad.sh",
            "cat > x <<EOF\n|| true\nEOF\nsh bad.sh",
        ] {
            assert_eq!(proof(line, "sh bad.sh"), Proof::Proven, "{line}");
        }
    }

    #[test]
    fn a_line_that_may_hide_a_failure_proves_nothing() {
        for (line, reason) in [
            ("sh bad.sh || true", "`||` after it hides a failure"),
            ("sh bad.sh | tail -5", "whose exit code is that of `tail`"),
            ("sh bad.sh 2>&1 | tee log | tail", "whose exit code is that of `tail`"),
            ("sh bad.sh |& cat", "in a pipe"),
            ("(set -o pipefail); sh bad.sh | tail", "in a pipe"),
            ("false && set -o pipefail; sh bad.sh | tail", "in a pipe"),
            ("set -o pipefail; set +o pipefail; sh bad.sh | tail", "in a pipe"),
            ("sh bad.sh; true", "other commands follow it"),
            ("sh bad.sh\ntrue", "other commands follow it"),
            ("set -e; sh bad.sh; true", "other commands follow it"),
            ("(sh bad.sh); true", "other commands follow it"),
            ("{ sh bad.sh; true; }", "other commands follow it"),
            ("bash -c 'sh bad.sh; true'", "other commands follow it"),
            ("sh bad.sh &", "in the background"),
            ("cd a && sh bad.sh & wait", "in the background"),
            ("true || sh bad.sh", "after `||` it runs only if something else fails"),
            ("! sh bad.sh", "`!` before it inverts"),
            ("exit 0; sh bad.sh", "`exit` before it"),
            ("exit 256; sh bad.sh", "`exit` before it"),
            ("exec true && sh bad.sh", "`exec` before it"),
            ("trap 'exit 0' EXIT; sh bad.sh", "`trap` before it"),
            ("alias sh=true; sh bad.sh", "`alias` before it"),
            ("set -n; sh bad.sh", "`set` before it"),
            (". ./fake.sh; sh bad.sh", "`.` before it"),
            ("x=$(sh bad.sh) true", "its output was used"),
            ("echo \"$(sh bad.sh)\"", "its output was used"),
            ("echo `sh bad.sh`", "its output was used"),
            ("sh() { true; }; sh bad.sh", "the line defines a function"),
            ("if true; then\nsh bad.sh\nfi", "compound command"),
            ("sh -n bad.sh", "`-n`"),
            ("sh -c bad.sh", "`-c`"),
            ("sh bad.sh --help", "`--help`"),
            ("time while false; do\nsh bad.sh\ndone", "compound command"),
            ("sh bad.sh 'open", "not closed"),
            ("sh bad.sh > >(tail)", "does not read"),
        ] {
            match proof(line, "sh bad.sh") {
                Proof::Doubtful(why) => assert!(why.contains(reason), "{line}: {why}"),
                other @ (Proof::Absent | Proof::Proven) => panic!("{line}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_line_whose_end_is_missing_proves_nothing_however_it_looks() {
        let wanted = "sh bad.sh";
        for text in ["sh bad.sh", "cd a && sh bad.sh", "sh bad.sh && x… [12 bytes cut]"] {
            let line = CommandLine { text: text.to_owned(), is_cut: true };
            match super::proof(&line, wanted, "/p") {
                Proof::Doubtful(why) => assert!(why.contains("too long"), "{text}: {why}"),
                other @ (Proof::Absent | Proof::Proven) => panic!("{text}: {other:?}"),
            }
        }
        // A whole line may end with the words that mark a text as cut: they are the worker's own.
        for line in
            ["sh bad.sh # [12 bytes cut]", "echo '[12 bytes cut]' && sh bad.sh '1 bytes cut]'"]
        {
            assert_eq!(proof(line, wanted), Proof::Proven, "{line}");
        }
        let long = CommandLine::whole("x".repeat(9)).shortened(8);
        assert_eq!((long.text.as_str(), long.is_cut), ("xxxxxxxx… [1 bytes cut]", true));
        assert!(!CommandLine::whole("x".repeat(8)).shortened(8).is_cut);
    }

    #[test]
    fn a_command_that_is_only_written_down_is_not_run() {
        for line in [
            "echo sh bad.sh",
            "# sh bad.sh",
            "echo \"\nsh bad.sh\n\"",
            "cat <<EOF\nsh bad.sh\nEOF",
            "cat <<-'E F' > x\n\tsh bad.sh\n\tE F\ntrue",
            "if false; then sh bad.sh; fi",
            "f() { sh bad.sh; }",
            "grep -n 'x; sh bad.sh' log",
            "echo ${x:-a; sh bad.sh }",
            "command -v sh bad.sh",
            "bash -c sh bad.sh x",
        ] {
            assert_eq!(proof(line, "sh bad.sh"), Proof::Absent, "{line}");
        }
    }

    #[test]
    fn what_a_call_sets_for_its_command_counts_as_if_it_was_typed() {
        let proof = |input: Value| {
            let line = command_in("bash", &input).unwrap();
            super::proof(&CommandLine::whole(line), "make", "/p")
        };
        for input in [
            json!({"command": "make"}),
            json!({"command": "make", "cwd": "", "env": {}}),
            json!({"command": "make", "workdir": "/p/sub dir"}),
            json!({"command": "ls || true\nmake", "cwd": "sub"}),
            json!({"command": "make", "env": {"CI": "1", "N": 2}}),
            json!({"command": ["bash", "-lc", "cd sub && make"], "cwd": "/p"}),
            json!({"command": ["make", "a b"]}),
        ] {
            assert_eq!(proof(input.clone()), Proof::Proven, "{input}");
        }
        for input in [
            json!({"command": "make", "cwd": "/elsewhere"}),
            json!({"command": "make", "workdir": ".."}),
            json!({"command": "make", "env": {"PATH": "/tmp/fake"}}),
            json!({"command": "make", "environment": ["MAKEFLAGS=-n"]}),
            json!({"command": ["bash", "-lc", "make"], "workdir": "/elsewhere"}),
            json!({"command": ["bash", "-n", "make"]}),
            json!({"command": ["bash", "-c", "true", "make"]}),
            json!({"command": ["echo", "; make"]}),
            json!({"command": ["make; true"]}),
        ] {
            assert_ne!(proof(input.clone()), Proof::Proven, "{input}");
        }
        let shown =
            command_in("bash", &json!({"command": "make", "cwd": "a b", "env": {"A": "x y"}}));
        assert_eq!(shown.as_deref(), Some("cd 'a b'; export A='x y'; make"));
    }

    #[test]
    fn a_tool_that_answers_before_the_command_ends_proves_nothing() {
        for command in ["make", "make # x", "cat <<E\nE\nmake", "ls; make"] {
            let input = serde_json::json!({ "command": command, "run_in_background": true });
            assert!(asks_background(&input));
            let line = in_background(&command_in("Bash", &input).unwrap());
            assert!(matches!(proof(&line, "make"), Proof::Doubtful(_)), "{line}");
            assert_eq!(as_written(&line).as_deref(), Some(command));
            let input = serde_json::json!({ "command": command, "run_in_background": false });
            assert!(!asks_background(&input));
            let line = command_in("Bash", &input).unwrap();
            assert_eq!(proof(&line, "make"), Proof::Proven, "{line}");
        }
        assert_eq!(as_written(&in_background("make &")).as_deref(), Some("make &"));
    }

    #[test]
    fn options_that_keep_a_command_from_its_work_are_noticed() {
        for (line, wanted, is_proven) in [
            ("cargo test --no-run", "cargo test", false),
            ("cargo test --help", "cargo test", false),
            ("cargo test -h", "cargo test", false),
            ("make -n test", "make test", false),
            ("go test -list . ./...", "go test", false),
            ("just -n test", "just test", false),
            ("make -C web -j4 test", "make test", true),
            ("pytest --collect-only", "pytest", false),
            ("cargo test --no-run", "cargo test --no-run", true),
            ("cargo test -- --list", "cargo test", false),
            ("cargo test -p a -- -h", "cargo test", false),
            ("npm --prefix web run test -- --ci", "npm test", true),
            ("bundle exec rspec", "rspec", true),
            ("uv run python -m pytest -q", "pytest", true),
            ("cargo test | tee log", "cargo test | tee log", true),
        ] {
            assert_eq!(proof(line, wanted) == Proof::Proven, is_proven, "{line}");
            assert!(runs(line, wanted), "{line}");
        }
    }

    #[test]
    fn commands_are_found_in_the_words_of_each_agent() {
        for (tool, input, expected) in [
            ("Bash", r#"{"command":"cargo test","timeout":5}"#, Some("cargo test")),
            ("shell", r#"{"command":["bash","-lc","npm test"]}"#, Some("npm test")),
            ("exec_command", r#"{"cmd":" make "}"#, Some("make")),
            ("run_shell_command", r#"{"command":"go test ./..."}"#, Some("go test ./...")),
            ("mcp__box__bash", r#"{"command":["ls","-l"]}"#, Some("ls -l")),
            ("bash", "\"ls\"", Some("ls")),
            ("bash", "{}", None),
            ("bash", r#"{"command":"  "}"#, None),
            ("bash", "null", None),
            ("read", r#"{"command":"view"}"#, None),
            ("str_replace_editor", r#"{"command":"create"}"#, None),
        ] {
            let whole = serde_json::from_str(input).unwrap();
            assert_eq!(command_in(tool, &whole).as_deref(), expected, "{tool} {input}");
        }
    }
}
