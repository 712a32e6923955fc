//! Shell commands in tool calls: which tools run one, where it is in their input, and whether it runs another program.

use serde_json::Value;

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
    let name = tool.rsplit("__").next().unwrap_or(tool).to_ascii_lowercase();
    SHELLS.contains(&name.as_str())
}

/// The command that a tool call runs; `None` if the tool is no shell or the field is missing.
pub fn command_in(tool: &str, input: &Value) -> Option<String> {
    if !is_shell_tool(tool) {
        return None;
    }
    let whole = input.as_str().map(str::to_owned);
    let said = whole.or_else(|| FIELDS.iter().find_map(|field| words(input.get(field)?)));
    said.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// True if a command line runs that command: one of its parts starts with it, after variables and wrappers. The words must come
/// in this order; others may be between them.
pub fn runs(line: &str, wanted: &str) -> bool {
    let wanted: Vec<&str> = wanted.split_whitespace().collect();
    let Some((program, rest)) = wanted.split_first() else { return false };
    parts(line).any(|part| {
        let words: Vec<&str> = part.split_whitespace().map(bare).collect();
        let before = words.iter().take_while(|word| is_before(word)).count();
        (0..=before).any(|begin| is_run(&words[begin..], program, rest))
    })
}

fn is_run(words: &[&str], program: &str, rest: &[&str]) -> bool {
    let mut words = words.iter();
    let is_it = words.next().is_some_and(|word| *word == program || ends(word, program));
    is_it && rest.iter().all(|wanted| words.any(|word| word == wanted))
}

/// The commands of a line, separated by `&&`, `||`, `;`, `|`, `(`, `)` and line ends.
pub(crate) fn parts(line: &str) -> impl Iterator<Item = &str> {
    line.split(['&', '|', ';', '(', ')', '\n'])
}

fn bare(word: &str) -> &str {
    word.trim_matches(['"', '\'', '`'])
}

/// True for words that may precede a program: variables, and programs that run another.
pub(crate) fn is_before(word: &str) -> bool {
    const WRAPPERS: [&str; 24] = [
        "sudo", "time", "timeout", "env", "nice", "command", "exec", "nohup", "bash", "sh", "-c",
        "-lc", "bundle", "uv", "poetry", "pipenv", "run", "python", "python3", "-m", "npx", "pnpm",
        "yarn", "bunx",
    ];
    let is_number = word.trim_end_matches(['s', 'm']).parse::<f64>().is_ok();
    let is_variable = word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    });
    WRAPPERS.contains(&word) || is_number || is_variable || word.is_empty()
}

/// True if a path ends with this program.
fn ends(word: &str, program: &str) -> bool {
    word.strip_suffix(program).is_some_and(|before| before.ends_with('/'))
}

/// A text, or words that some agents pass as a list.
fn words(value: &Value) -> Option<String> {
    if let Value::String(text) = value {
        return Some(text.clone());
    }
    let texts: Vec<&str> = value.as_array()?.iter().filter_map(Value::as_str).collect();
    // `["bash", "-lc", "cargo test"]` runs its last word.
    match texts.as_slice() {
        [shell, flag, command] if is_shell(shell) && flag.starts_with('-') => {
            Some((*command).to_owned())
        }
        _ => Some(texts.join(" ")),
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    ["bash", "sh", "zsh", "dash", "fish"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

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
