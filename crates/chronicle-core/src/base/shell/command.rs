//! Compares one command with a wanted one.

use super::{Proof, is_shell};

/// Options that make programs print something instead of doing their work, or succeed whatever fails.
const IDLE: [&str; 15] = [
    "--ignore-errors",
    "--question",
    "--touch",
    "--help",
    "--version",
    "--dry-run",
    "--just-print",
    "--recon",
    "--no-run",
    "--collect-only",
    "--co",
    "--list",
    "--list-tests",
    "--listTests",
    "--syntax-check",
];
/// The same in one letter, at the end of a command: elsewhere they may mean anything.
const IDLE_LAST: [&str; 2] = ["-h", "-V"];
/// Options before a subcommand whose next word is their value.
const VALUED: [&str; 13] = [
    "-C",
    "-p",
    "-j",
    "-w",
    "-Z",
    "--prefix",
    "--manifest-path",
    "--config",
    "--color",
    "--package",
    "--directory",
    "--dir",
    "--cwd",
];
/// Programs that run another one if this word follows; without a word, the next one.
const RUNNERS: [(&str, &str); 15] = [
    ("bundle", "exec"),
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("rye", "run"),
    ("python", "-m"),
    ("python3", "-m"),
    ("pnpm", "exec"),
    ("npm", "exec"),
    ("pnpm", ""),
    ("yarn", ""),
    ("npx", ""),
    ("bunx", ""),
];
/// Interpreters, whose first word that is no option is the program.
const INTERPRETERS: [&str; 6] = ["python", "python3", "node", "ruby", "perl", "php"];

/// Whether a command is the wanted one: it starts with its program, after variables and wrappers, and has its words in order.
/// Options may be between them, and anything after them.
pub(super) fn fits(words: &[String], wanted: &str) -> Proof {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let wanted: Vec<&str> = wanted.split_whitespace().map(bare).collect();
    let mut best = Proof::Absent;
    // The line itself and what each wrapper in front of it runs: `timeout 60 cargo test` is `cargo test` too.
    for begin in begins(&words) {
        match is_run(&words[begin..], &wanted) {
            Proof::Absent => {}
            Proof::Proven => return Proof::Proven,
            doubtful @ Proof::Doubtful(_) => best = doubtful,
        }
    }
    best
}

fn is_run(words: &[&str], wanted: &[&str]) -> Proof {
    let (Some((program, rest)), Some((wanted_program, wanted_rest))) =
        (words.split_first(), wanted.split_first())
    else {
        return Proof::Absent;
    };
    if !is_program(program, wanted_program) || !has_in_order(program, rest, wanted_rest) {
        return Proof::Absent;
    }
    match idle(program, rest).filter(|option| !wanted.contains(option)) {
        Some(option) => {
            Proof::Doubtful(format!("with `{option}` it may not do its work, and still succeed"))
        }
        None => Proof::Proven,
    }
}

/// True if these words come in order, with nothing but options and their values between them.
fn has_in_order(program: &str, words: &[&str], wanted: &[&str]) -> bool {
    let name = name(program);
    let takes_run = ["npm", "pnpm", "yarn", "bun"].contains(&name);
    // `python -c "..." test.py` does not run `test.py`.
    let takes_options = !INTERPRETERS.contains(&name);
    let mut words = words.iter();
    wanted.iter().all(|wanted| {
        while let Some(word) = words.next() {
            if is_same(word, wanted) {
                return true;
            }
            // Skips the value too: in `cargo -p test build` the word `test` is a package and not the command.
            if VALUED.contains(word) && !is_shell(program) {
                words.next();
            }
            let is_option = word.starts_with(['-', '+']) && takes_options;
            let is_run = takes_run && *word == "run";
            if !is_option && !is_run {
                return false;
            }
        }
        false
    })
}

/// The option that keeps a program from its work, if there is one.
fn idle<'w>(program: &str, words: &[&'w str]) -> Option<&'w str> {
    let is_short = |word: &str| word.starts_with('-') && !word.starts_with("--");
    let own = |word: &&&str| match name(program) {
        "make" | "gmake" => is_short(word) && word.contains(['n', 't', 'q', 'i']),
        "just" | "ninja" => is_short(word) && word.contains('n'),
        "go" => ["-n", "-c", "-list", "-exec"].contains(*word),
        _ => false,
    };
    // Everything else that a shell may be told before its script could change what happens.
    let before = words.iter().take_while(|word| is_shell(program) && word.starts_with(['-', '+']));
    let before = before.filter(|word| !is_plain_option(word));
    // Only at the end: before that, `-h` may be a host and `-V` a verbose flag.
    let last = words.last().filter(|word| IDLE_LAST.contains(word));
    let mut found = before.chain(words.iter().filter(|word| IDLE.contains(word) || own(word)));
    found.next().or(last).copied()
}

/// Options of a shell that leave it running its script to the end.
fn is_plain_option(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|letters| letters.chars().all(|it| "euxl".contains(it)))
}

/// Where the program of a command may begin: at its first word, and after each variable and wrapper.
pub(crate) fn begins(words: &[&str]) -> Vec<usize> {
    let (mut all, mut at) = (vec![0], 0);
    while let Some(length) = wrapper(&words[at..]) {
        at = (at + length).min(words.len());
        if at == words.len() {
            break;
        }
        all.push(at);
    }
    all
}

/// How many words stand before the program that a variable or wrapper applies to.
fn wrapper(words: &[&str]) -> Option<usize> {
    let (first, rest) = words.split_first()?;
    if is_variable(first) {
        return Some(1);
    }
    let runner = RUNNERS.iter().find(|(program, word)| {
        program == first && (word.is_empty() || rest.first() == Some(word))
    });
    match *first {
        _ if runner.is_some() => runner.map(|(_, word)| if word.is_empty() { 1 } else { 2 }),
        "sudo" | "command" | "exec" | "nohup" => Some(1),
        "time" => Some(1 + options(rest, &["-p"], &[])),
        "env" => Some(1 + options(rest, &["-i", "-", "--"], &["-u", "-C", "--chdir"])),
        "nice" => Some(1 + dashed(rest, &["-n", "--adjustment"])),
        "ionice" => Some(1 + dashed(rest, &["-c", "-n", "--class", "--classdata"])),
        "stdbuf" => Some(1 + dashed(rest, &["-i", "-o", "-e", "--input", "--output", "--error"])),
        // Two words: the program and its duration.
        "timeout" => Some(2 + options(rest, &["--foreground", "-v"], &["-k", "-s"])),
        // `sh check.sh` runs `check.sh`.
        _ if is_shell(first) => {
            let length = rest.iter().take_while(|word| is_plain_option(word)).count();
            rest.get(length).is_some_and(|word| !word.starts_with('-')).then_some(1 + length)
        }
        _ => None,
    }
}

/// How many words at the beginning are options, some of them with a value.
fn options(words: &[&str], alone: &[&str], valued: &[&str]) -> usize {
    let mut count = 0;
    while let Some(word) = words.get(count) {
        count += match word {
            _ if alone.contains(word) => 1,
            _ if valued.contains(word) => 2,
            _ if word.split_once('=').is_some_and(|(option, _)| valued.contains(&option)) => 1,
            _ => break,
        };
    }
    count
}

/// The same for programs that have no other options than these and such that are one word.
fn dashed(words: &[&str], valued: &[&str]) -> usize {
    let mut count = 0;
    while let Some(word) = words.get(count).filter(|word| word.starts_with('-')) {
        count += if valued.contains(word) { 2 } else { 1 };
    }
    count
}

pub(super) fn is_variable(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn is_program(word: &str, wanted: &str) -> bool {
    // A program may be called by its path. A name that merely ends in the same letters is another program.
    let is_path_of = word.strip_suffix(wanted).is_some_and(|before| before.ends_with('/'));
    word == wanted || is_path_of
}

fn is_same(word: &str, wanted: &str) -> bool {
    word == wanted
        || word.strip_prefix("./").unwrap_or(word) == wanted.strip_prefix("./").unwrap_or(wanted)
}

fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn bare(word: &str) -> &str {
    word.trim_matches(['"', '\'', '`'])
}
