//! Commands in what agents do: which tool calls run one, and what it says.

use serde_json::Value;

/// The names under which agents run commands in a shell; in lower case, without the server's name before it.
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
/// Under which names the command stands in their input.
const FIELDS: [&str; 4] = ["command", "cmd", "script", "commands"];

/// The command that a tool call runs; none when it is no shell, or says none. The input may be cut at its end.
pub fn command_of(tool: &str, input: &str) -> Option<String> {
    let name = tool.rsplit("__").next().unwrap_or(tool).to_ascii_lowercase();
    if !SHELLS.contains(&name.as_str()) {
        return None;
    }
    let said = match serde_json::from_str::<Value>(input) {
        Ok(Value::String(text)) => Some(text),
        Ok(value) => FIELDS.iter().find_map(|field| words(value.get(field)?)),
        Err(_) => FIELDS.iter().find_map(|field| begun(input, field)),
    };
    said.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// A text, or words that some agents give one by one.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(list) => {
            let texts: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
            // `["bash", "-lc", "cargo test"]` runs its last word.
            match texts.as_slice() {
                [shell, flag, command] if is_shell(shell) && flag.starts_with('-') => {
                    Some((*command).to_owned())
                }
                _ => Some(texts.join(" ")),
            }
        }
        _ => None,
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    ["bash", "sh", "zsh", "dash", "fish"].contains(&name)
}

/// The beginning of a text field whose JSON was cut.
fn begun(input: &str, field: &str) -> Option<String> {
    let (_, after) = input.split_once(&format!("\"{field}\":"))?;
    let text = after.trim_start().strip_prefix('"')?;
    let mut said = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return Some(said),
            '\\' => match letters.next() {
                Some('n' | 'r') => said.push('\n'),
                Some('t') => said.push('\t'),
                Some(other) => said.push(other),
                None => break,
            },
            other => said.push(other),
        }
    }
    Some(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_in_the_words_of_each_agent() {
        for (tool, input, expected) in [
            ("Bash", r#"{"command":"cargo test","timeout":5}"#, Some("cargo test")),
            ("shell", r#"{"command":["bash","-lc","npm test"]}"#, Some("npm test")),
            ("exec_command", r#"{"cmd":" make "}"#, Some("make")),
            ("run_shell_command", r#"{"command":"go test ./..."}"#, Some("go test ./...")),
            ("mcp__box__bash", r#"{"command":["ls","-l"]}"#, Some("ls -l")),
            (
                "bash",
                r#"{"command":"echo \"a\"\nmake… [12 bytes cut]"#,
                Some("echo \"a\"\nmake… [12 bytes cut]"),
            ),
            ("bash", "\"ls\"", Some("ls")),
            ("bash", "{}", None),
            ("bash", r#"{"command":"  "}"#, None),
            ("bash", "", None),
            ("read", r#"{"command":"view"}"#, None),
            ("str_replace_editor", r#"{"command":"create"}"#, None),
        ] {
            assert_eq!(command_of(tool, input).as_deref(), expected, "{tool} {input}");
        }
    }
}
