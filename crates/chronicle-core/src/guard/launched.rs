//! Commands that code of JavaScript, Ruby, Perl, PHP and Go starts of which every word is in its text.

use super::called::is_ruby;
use super::commanded::{Commanded, words};
use super::literals::in_quotes;

/// Words of code that starts programs elsewhere than where it is, or changes what they are given.
const ELSEWHERE: [&str; 12] = [
    "chdir",
    "Chdir",
    "ENV[",
    "ENV{",
    "ENV.",
    "%ENV",
    "putenv",
    "Setenv",
    "process.env",
    "environ[",
    "environ.update",
    "environ.setdefault",
];
/// Functions of JavaScript's module that start a program.
const OF_NODE: [&str; 6] = ["execFileSync", "execFile", "execSync", "exec", "spawnSync", "spawn"];
/// Options of these that change neither what is started nor where.
const OPTIONS: [&str; 6] =
    ["encoding", "stdio", "timeout", "maxBuffer", "windowsHide", "killSignal"];

/// True if code may start its programs elsewhere, or with other settings.
pub(super) fn is_elsewhere(code: &str) -> bool {
    ELSEWHERE.iter().any(|word| code.contains(word))
}

/// True for a command of git that changes nothing, and for a question for a version.
pub(super) fn only_reads(command: &str) -> bool {
    const OF_GIT: [&str; 12] = [
        "log",
        "rev-parse",
        "status",
        "diff",
        "show",
        "describe",
        "ls-files",
        "rev-list",
        "shortlog",
        "blame",
        "cat-file",
        "merge-base",
    ];
    let is_plain = |it: char| it.is_alphanumeric() || " '\"_-./:=@^~%,".contains(it);
    let words: Vec<&str> =
        command.split_whitespace().map(|it| it.trim_matches(['\'', '"'])).collect();
    let is_known = match words.as_slice() {
        ["git", name, ..] => OF_GIT.contains(name),
        [_, "--version" | "-v" | "-V"] => true,
        _ => false,
    };
    is_known && command.chars().all(is_plain)
}

/// The commands that code starts; `None` if it starts none, or one that is not all in its text.
pub(super) fn launched(interpreter: &str, code: &str) -> Option<Commanded> {
    let plain = in_quotes(interpreter, code);
    let code = plain.as_deref().unwrap_or(code);
    if is_elsewhere(code) {
        return None;
    }
    let begins = |all: &[&str]| all.iter().any(|it| interpreter.starts_with(it));
    let found = match interpreter {
        "go" => by_go(code),
        "code" => None,
        _ if begins(&["node", "bun", "deno", "tsx", "ts-node"]) => by_node(code),
        _ if begins(&["perl"]) => by_functions(code, &["system", "qx"], &["$", "@"]),
        _ if begins(&["php"]) => {
            by_functions(code, &["shell_exec", "passthru", "system", "exec"], &["$"])
        }
        _ if is_ruby(interpreter) => {
            let names = ["Open3.capture2e", "Open3.capture2", "Open3.capture3", "system", "%x"];
            by_functions(code, &names, &["#{", "#$", "#@"])
        }
        _ => None,
    };
    found.filter(|it| !it.commands.is_empty())
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Words as a command, each in quotes.
fn command_of(words: &[&str]) -> String {
    let quoted: Vec<String> =
        words.iter().map(|it| format!("'{}'", it.replace('\'', "'\\''"))).collect();
    quoted.join(" ")
}

/// A text in quotes into which nothing is filled, and what follows it.
fn text<'t>(code: &'t str, fillers: &[&str]) -> Option<(&'t str, &'t str)> {
    let quote = code.chars().next().filter(|it| ['"', '\'', '`'].contains(it))?;
    let (inner, after) = code.get(1..)?.split_once(quote)?;
    let is_filled = quote != '\'' && fillers.iter().any(|it| inner.contains(it));
    let is_plain = !inner.trim().is_empty() && !inner.contains(['\\', '\n']) && !is_filled;
    is_plain.then_some((inner, after))
}

/// Texts with commas between them, and what follows.
fn texts<'t>(code: &'t str, fillers: &[&str]) -> Option<(Vec<&'t str>, &'t str)> {
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    loop {
        let (word, after) = text(rest, fillers)?;
        found.push(word);
        let after = after.trim_start();
        match after.strip_prefix(',') {
            Some(more) => rest = more.trim_start(),
            None => return Some((found, after)),
        }
    }
}

/// Functions that are given a text for a shell or the words of a command, and texts between backticks.
fn by_functions(code: &str, names: &[&str], fillers: &[&str]) -> Option<Commanded> {
    let (mut commands, mut out) = (Vec::new(), String::new());
    let mut rest = code;
    while let Some(letter) = rest.chars().next() {
        let is_start = !out.ends_with(|it| is_name(it) || "$@%&.:>".contains(it));
        let name = names.iter().find(|it| is_start && rest.starts_with(**it));
        let after = name.map(|name| &rest[name.len()..]).filter(|it| !it.starts_with(is_name));
        if let Some(after) = after {
            let is_bare = name.is_some_and(|it| ["qx", "%x"].contains(it));
            let (command, after) = given(after, is_bare, fillers)?;
            commands.push(command);
            out.push_str("None");
            rest = after;
        } else if letter == '`' {
            let (inner, after) = text(rest, fillers)?;
            commands.push(inner.to_owned());
            out.push_str("None");
            rest = after;
        } else {
            out.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    Some(Commanded { commands, rest: out })
}

/// What a function is given, with or without parentheses, and what follows it.
fn given<'c>(code: &'c str, is_bare: bool, fillers: &[&str]) -> Option<(String, &'c str)> {
    let trimmed = code.trim_start_matches(' ');
    let ends = [('(', ')'), ('{', '}'), ('[', ']')];
    let around = ends.iter().find(|(open, _)| trimmed.starts_with(*open));
    let Some((open, close)) = around else {
        let (words, after) = texts(trimmed, fillers)?;
        let ends = after.is_empty() || after.starts_with([';', '\n', '}', ')']);
        return ends.then(|| (one_or_words(&words), after));
    };
    let inner = &trimmed[open.len_utf8()..];
    // `%x(ls)` and `qx{ls}` are texts without quotes.
    if is_bare {
        let (text, after) = inner.split_once(*close)?;
        let is_filled = fillers.iter().any(|it| text.contains(it));
        let is_plain = !text.trim().is_empty() && !text.contains([*open, '\\', '\n']) && !is_filled;
        return is_plain.then(|| (text.to_owned(), after));
    }
    let (words, after) = texts(inner, fillers)?;
    let after = after.strip_prefix(*close).filter(|_| *open == '(')?;
    Some((one_or_words(&words), after))
}

/// One text is for a shell, several are the words of a command.
fn one_or_words(words: &[&str]) -> String {
    match words {
        [one] => (*one).to_owned(),
        words => command_of(words),
    }
}

/// Commands of Go that nothing is changed about before they run: `exec.Command("git", "log").Output()`.
fn by_go(code: &str) -> Option<Commanded> {
    const MODULE: &str = "\"os/exec\"";
    const CALL: &str = "exec.Command(";
    const ENDS: [&str; 3] = [".Output()", ".CombinedOutput()", ".Run()"];
    let (before, after) = code.split_once(MODULE)?;
    // Under another name it may be called by that.
    let own = before.rsplit(['\n', '(', ';']).next().unwrap_or_default().trim();
    if !["", "import"].contains(&own) || after.contains(MODULE) {
        return None;
    }
    let (mut commands, mut out) = (Vec::new(), before.to_owned());
    let mut rest = after;
    while let Some((before, inner)) = rest.split_once(CALL) {
        out.push_str(before);
        let (words, after) = texts(inner, &[])?;
        let after = after.strip_prefix(')')?;
        rest = ENDS.iter().find_map(|it| after.strip_prefix(it))?;
        commands.push(command_of(&words));
        out.push_str("None");
    }
    out.push_str(rest);
    (!out.contains("exec.")).then_some(Commanded { commands, rest: out })
}

/// The functions of the module under their own names, or as members of what it is called.
fn by_node(code: &str) -> Option<Commanded> {
    let mut rest = code.to_owned();
    let (mut functions, mut modules) = (Vec::new(), Vec::new());
    for module in ["node:child_process", "child_process"] {
        for quote in ['"', '\''] {
            let name = format!("{quote}{module}{quote}");
            while let Some(at) = rest.find(&name) {
                let taken = Taken::at(&rest, at, name.len())?;
                functions.extend(taken.functions);
                modules.extend(taken.module);
                rest = taken.rest;
            }
        }
    }
    if functions.is_empty() && modules.is_empty() || rest.contains("child_process") {
        return None;
    }
    let (mut commands, mut out) = (Vec::new(), String::new());
    let mut rest = rest.as_str();
    while let Some(letter) = rest.chars().next() {
        let end = rest.find(|it| !is_name(it) && it != '$').unwrap_or(rest.len());
        let word = &rest[..end];
        let is_module = modules.iter().any(|it| it == word);
        if end > 0 && (is_module || functions.iter().any(|it| it == word)) {
            let after = &rest[end..];
            let after = if is_module { after.strip_prefix('.')? } else { rest };
            let (command, after) = called(after)?;
            commands.push(command);
            out.push_str("None");
            rest = after;
        } else {
            let end = end.max(letter.len_utf8());
            out.push_str(&rest[..end]);
            rest = &rest[end..];
        }
    }
    Some(Commanded { commands, rest: out })
}

/// What the module is taken for in one place.
struct Taken {
    functions: Vec<String>,
    module: Option<String>,
    /// The code without that place.
    rest: String,
}

/// The name by which the module is called that is required where it is used.
const UNNAMED: &str = "module_of_node";

impl Taken {
    /// Reads where the module is named; `None` if it is not plain what for.
    fn at(code: &str, at: usize, length: usize) -> Option<Self> {
        let (before, after) = (&code[..at], &code[at + length..]);
        let start = before.rfind([';', '\n']).map_or(0, |at| at + 1);
        let (earlier, line) = before.split_at(start);
        if let Some(line) = line.trim_end().strip_suffix("require(") {
            let after = after.strip_prefix(')')?;
            if after.starts_with('.') {
                let rest = format!("{earlier}{line}{UNNAMED}{after}");
                return Some(Self { functions: Vec::new(), module: Some(UNNAMED.into()), rest });
            }
            let names = line.trim_end().strip_suffix('=')?.trim();
            let kinds = ["const ", "let ", "var ", "const{", "let{", "var{"];
            let kind = kinds.iter().find(|it| names.starts_with(**it))?;
            return Self::named(earlier, names[kind.len() - 1..].trim(), after);
        }
        let names = line.trim().strip_prefix("import")?.trim_end().strip_suffix("from")?.trim();
        Self::named(earlier, names.strip_prefix("* as ").unwrap_or(names), after)
    }

    fn named(earlier: &str, names: &str, after: &str) -> Option<Self> {
        let ends = after.trim_start_matches([' ', '\t']);
        if !(ends.is_empty() || ends.starts_with([';', '\n'])) {
            return None;
        }
        let rest = format!("{earlier}{after}");
        if let Some(inner) = names.strip_prefix('{') {
            let inner = inner.strip_suffix('}')?.split(',').map(str::trim);
            let functions: Vec<String> = inner.map(str::to_owned).collect();
            let is_known = functions.iter().all(|it| OF_NODE.contains(&it.as_str()));
            return is_known.then_some(Self { functions, module: None, rest });
        }
        let is_one = !names.is_empty() && names.chars().all(is_name);
        is_one.then(|| Self { functions: Vec::new(), module: Some(names.to_owned()), rest })
    }
}

/// The command of a call of the module's function that stands here, and what follows the call.
fn called(code: &str) -> Option<(String, &str)> {
    let end = code.find('(')?;
    let (name, inner) = (&code[..end], code[end + 1..].trim_start());
    let name = OF_NODE.iter().find(|it| **it == name)?;
    let (first, after) = text(inner, &["${"])?;
    let after = after.trim_start();
    let (command, after) = if matches!(*name, "exec" | "execSync") {
        (first.to_owned(), after)
    } else {
        let list = after.strip_prefix(',').map(str::trim_start).and_then(|it| it.strip_prefix('['));
        match list {
            Some(list) if list.trim_start().starts_with(']') => {
                (command_of(&[first]), list.trim_start().strip_prefix(']')?)
            }
            Some(list) => {
                let (words, after) = words(list)?;
                (format!("{} {words}", command_of(&[first])), after)
            }
            None => (command_of(&[first]), after),
        }
    };
    Some((command, after_options(after)?))
}

/// What follows a call, behind options that change nothing.
fn after_options(code: &str) -> Option<&str> {
    let code = code.trim_start();
    if let Some(after) = code.strip_prefix(')') {
        return Some(after);
    }
    let inner = code.strip_prefix(',')?.trim_start().strip_prefix('{')?;
    let (options, after) = inner.split_once('}')?;
    let is_plain = |it: char| is_name(it) || " '\"-,:[].*".contains(it);
    let keys = options.split(':').rev().skip(1);
    let is_known = keys.into_iter().all(|part| {
        let key = part.rsplit([',', ' ']).next().unwrap_or_default();
        OPTIONS.contains(&key.trim_matches(['"', '\'']))
    });
    let is_known = is_known && options.chars().all(is_plain) && options.contains(':');
    after.trim_start().strip_prefix(')').filter(|_| is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_other_languages_are_found_where_every_word_is_there() {
        for (interpreter, code, expected) in [
            (
                "node",
                "require(\"child_process\").execSync(\"git log -1\").toString()",
                "git log -1",
            ),
            (
                "node",
                "const {execFileSync}=require('child_process'); execFileSync('a',['-b'])",
                "'a' '-b'",
            ),
            (
                "node",
                "const cp = require('node:child_process');\ncp.execSync(`a b`, {encoding: 'utf8'})",
                "a b",
            ),
            (
                "bun",
                "import {spawnSync} from \"child_process\"; spawnSync(\"a\", [\"b\"], {stdio:\"inherit\"})",
                "'a' 'b'",
            ),
            ("ruby", "puts `git rev-parse HEAD`", "git rev-parse HEAD"),
            ("ruby", "system('git', 'log')", "'git' 'log'"),
            ("ruby", "puts %x(git log)", "git log"),
            ("perl", "print `git status -s`", "git status -s"),
            ("perl", "system(q(git log));", "git log"),
            ("perl", "system qw(git log);", "'git' 'log'"),
            ("php", "echo shell_exec(\"git log -1\");", "git log -1"),
            (
                "go",
                "import (\"os/exec\";\"fmt\")\no,_:=exec.Command(\"git\",\"log\").Output()",
                "'git' 'log'",
            ),
        ] {
            let found = launched(interpreter, code).map(|it| it.commands);
            assert_eq!(found, Some(vec![expected.to_owned()]), "{code}");
        }
        for command in ["git log -1", "'git' 'rev-parse' 'HEAD'", "node --version"] {
            assert!(only_reads(command), "{command}");
        }
        for command in ["ls", "git push", "git log | sh", "git -c a=b log", "sh -c 'git log'"] {
            assert!(!only_reads(command), "{command}");
        }
        for (interpreter, code) in [
            ("node", "require('child_process')[x]('ls')"),
            ("node", "const {exec: e}=require('child_process'); e('ls')"),
            ("node", "const cp=require('child_process'); const e=cp.exec; cp.execSync('ls')"),
            ("node", "const cp=require('child_process'); cp.execSync('ls', {cwd: 'docs'})"),
            ("node", "const cp=require('child_process'); cp.execSync('ls '+x)"),
            ("node", "process.chdir('docs'); require('child_process').execSync('ls')"),
            ("ruby", "puts `ls #{x}`"),
            ("ruby", "Dir.chdir('docs'); system('ls')"),
            ("ruby", "system(x)"),
            ("perl", "system(\"ls $x\")"),
            ("perl", "system(x y)"),
            ("perl", "system $x"),
            ("php", "system($x);"),
            ("go", "import e \"os/exec\"\ne.Command(\"ls\").Run()"),
            ("go", "import \"os/exec\"\nc := exec.Command(\"ls\"); c.Dir = \"docs\"; c.Run()"),
        ] {
            assert!(launched(interpreter, code).is_none(), "{code}");
        }
    }
}
