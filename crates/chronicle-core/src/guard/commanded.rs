//! Commands that code starts of which every word is in its text: `subprocess.run(["ls", "-l"])`. They are judged like any other
//! command, so that nobody need be asked about the code for them.

use super::called::is_python;
use super::launched::{is_elsewhere, launched, only_reads};

/// Functions of Python's module that start a program, which is what they are given first.
const STARTERS: [&str; 6] =
    ["run(", "call(", "check_call(", "check_output(", "Popen(", "getoutput("];
/// What else is in it, and starts nothing.
const OTHERS: [&str; 5] = ["PIPE", "DEVNULL", "STDOUT", "CalledProcessError", "TimeoutExpired"];
/// Arguments that change neither what is started nor where.
const NAMES: [&str; 9] = [
    "capture_output",
    "text",
    "check",
    "stdout",
    "stderr",
    "timeout",
    "shell",
    "encoding",
    "universal_newlines",
];
/// Most commands of one program that are looked at.
const COMMANDS_MAX: usize = 32;

/// What code starts, and what is left of the code without that.
pub(super) struct Commanded {
    /// Texts for a shell.
    pub(super) commands: Vec<String>,
    pub(super) rest: String,
}

/// The commands that code starts; `None` if it starts none, or one that is not all in its text.
pub(super) fn commanded(interpreter: &str, code: &str) -> Option<Commanded> {
    const MODULE: &str = "subprocess";
    if !is_python(interpreter) {
        // In these languages a person is asked about all but what only looks.
        return launched(interpreter, code)
            .filter(|it| it.commands.iter().all(|it| only_reads(it)));
    }
    if !code.contains(MODULE) || is_elsewhere(code) {
        return None;
    }
    let (mut commands, mut out) = (Vec::new(), String::new());
    let mut rest = code;
    while let Some(at) = rest.find(MODULE) {
        let (before, after) = rest.split_at(at);
        let after = after.get(MODULE.len()..)?;
        out.push_str(before);
        if is_imported(&out, after) {
            rest = after;
            continue;
        }
        let after = after.strip_prefix('.').filter(|_| !is_in_name(before))?;
        if let Some(inner) = STARTERS.iter().find_map(|it| after.strip_prefix(it)) {
            let (command, after) = started(inner)?;
            commands.push(command);
            out.push_str("None");
            rest = after;
        } else {
            rest = OTHERS.iter().find_map(|it| after.strip_prefix(it))?;
        }
    }
    out.push_str(rest);
    let is_some = !commands.is_empty() && commands.len() <= COMMANDS_MAX;
    is_some.then_some(Commanded { commands, rest: out })
}

/// True if the module is imported here under its own name, and nothing is taken out of it.
fn is_imported(before: &str, after: &str) -> bool {
    let line = before.rsplit(['\n', ';']).next().unwrap_or_default().trim_start();
    let is_name = |it: char| it.is_alphanumeric() || "_,. ".contains(it);
    let next = after.trim_start_matches([' ', '\t']).chars().next();
    line.strip_prefix("import ").is_some_and(|names| names.chars().all(is_name))
        && !line.contains(" as ")
        && next.is_none_or(|it| "\n;,".contains(it))
}

fn is_in_name(before: &str) -> bool {
    before.ends_with(|it: char| it.is_alphanumeric() || it == '_' || it == '.')
}

/// The command that a call is given, and what follows the call; `None` if not all of it is plain.
fn started(inner: &str) -> Option<(String, &str)> {
    let inner = inner.trim_start();
    let (command, after) = match inner.strip_prefix('[') {
        Some(list) => words(list)?,
        None => literal(inner).map(|(text, after)| (text.to_owned(), after))?,
    };
    let (others, after) = after.split_once(')')?;
    let is_plain = |part: &str| match part.trim().split_once('=') {
        Some((name, value)) => {
            let is_value = |it: char| it.is_alphanumeric() || "_.-'\"".contains(it);
            NAMES.contains(&name.trim()) && value.trim().chars().all(is_value)
        }
        None => part.trim().is_empty(),
    };
    others.split(',').all(is_plain).then_some((command, after))
}

/// The words of a list as one command, and what follows it.
pub(super) fn words(list: &str) -> Option<(String, &str)> {
    let mut words = Vec::new();
    let mut rest = list.trim_start();
    loop {
        if let Some(after) = rest.strip_prefix(']') {
            return (!words.is_empty()).then(|| (words.join(" "), after));
        }
        let (word, after) = literal(rest)?;
        words.push(format!("'{}'", word.replace('\'', "'\\''")));
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(more) => more.trim_start(),
            None if after.starts_with(']') => after,
            None => return None,
        };
    }
}

/// A text in quotes that means itself, and what follows it.
fn literal(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|it| ['"', '\''].contains(it))?;
    let (inner, after) = text.get(1..)?.split_once(quote)?;
    let is_plain = !inner.is_empty() && !inner.contains(['\\', '\n']) && !after.starts_with(quote);
    is_plain.then_some((inner, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_where_every_word_is_there() {
        for (code, expected) in [
            ("import subprocess; subprocess.run(['ls', '-l'])", "'ls' '-l'"),
            ("import os, subprocess\nr = subprocess.check_output(\"a | b\", shell=True)", "a | b"),
            (
                "import subprocess\nsubprocess.run([\"a\"], stdout=subprocess.PIPE, text=True)",
                "'a'",
            ),
        ] {
            let found = commanded("python3", code).map(|it| it.commands);
            assert_eq!(found, Some(vec![expected.to_owned()]), "{code}");
        }
        for code in [
            "import subprocess; subprocess.run(['rm', x])",
            "import subprocess; subprocess.run(['rm'] + x)",
            "import subprocess; subprocess.run(['ls'], cwd='docs')",
            "import subprocess; subprocess.run(f'ls {x}', shell=True)",
            "import subprocess; subprocess.run(['sh'], input='ls')",
            "import subprocess as s; s.run(['ls'])",
            "from subprocess import run; run(['ls'])",
            "import subprocess; r = subprocess.run; r(['ls'])",
            "import subprocess; subprocess.run(['l' 's'])",
            "import subprocess; subprocess.run(['ls'], stdout=open('a', 'w'))",
            "import os, subprocess; os.chdir('docs'); subprocess.run(['rm', 'a'])",
            "print(1)",
        ] {
            assert!(commanded("python3", code).is_none(), "{code}");
        }
    }
}
