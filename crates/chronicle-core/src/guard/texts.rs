//! The texts that command rules are tried on: each command that would run, as one line without quotes.
//!
//! What a program only prints, searches for or stores is marked. A match that lies within it is none, and neither is one that is a part
//! of a longer name, such as `sudo` in `fix-sudo-prompt`.

use std::ops::Range;

use super::facts::{Run, Word};
use super::pathspecs::with_a_dot;
use super::statements::{is_database, without_comments};

/// Programs whose arguments are text, whatever they say.
const TELLERS: &[&str] = &[
    "echo",
    "printf",
    "logger",
    "say",
    "notify-send",
    "which",
    "type",
    "whereis",
    "whatis",
    "man",
    "apropos",
    "tldr",
    "info",
    "help",
    "test",
    "[",
    "expr",
    ":",
    "true",
    "false",
    "basename",
    "dirname",
    "read",
    "export",
    "local",
    "declare",
    "jq",
    "figlet",
    "cowsay",
];
/// Programs that search for a text, or replace one.
const SEARCHERS: &[&str] = &[
    "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "pcregrep", "sed", "gsed", "git-grep",
    "find", "fd",
];
/// Subcommands of git whose arguments are names and messages.
const GIT_TEXTS: &[&str] = &[
    "commit",
    "tag",
    "notes",
    "merge",
    "stash",
    "grep",
    "log",
    "shortlog",
    "branch",
    "checkout",
    "switch",
    "add",
    "diff",
    "show",
    "blame",
    "revert",
    "cherry-pick",
    "rev-list",
];
/// Programs of which the given options take a text.
const TEXT_OPTIONS: &[(&str, &[&str])] = &[
    (
        "gh",
        &[
            "-t",
            "--title",
            "-b",
            "--body",
            "-n",
            "--notes",
            "-m",
            "--message",
            "-d",
            "--description",
            "-S",
            "--search",
            "-q",
            "--jq",
        ],
    ),
    ("glab", &["-t", "--title", "-d", "--description", "-m", "--message"]),
    ("hg", &["-m", "--message"]),
    ("svn", &["-m", "--message"]),
    ("jj", &["-m", "--message"]),
    ("docker", &["--label", "-m", "--message"]),
    ("pytest", &["-k", "-m"]),
    ("jest", &["-t", "--testNamePattern"]),
    ("vitest", &["-t", "--testNamePattern"]),
    ("curl", &["-H", "--header", "-A", "--user-agent"]),
];

/// A command as one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RunText {
    pub(super) text: String,
    /// What is only text in it, in order.
    told: Vec<Range<usize>>,
    /// True if something was left out: what a rule wants not to be there may be just that.
    is_cut: bool,
}

impl RunText {
    fn of(words: &[(String, bool)]) -> Self {
        let mut text = String::new();
        let mut told: Vec<Range<usize>> = Vec::new();
        for (at, (word, is_told)) in words.iter().enumerate() {
            if at > 0 {
                text.push(' ');
            }
            let start = text.len();
            text.push_str(word);
            if *is_told {
                match told.last_mut() {
                    // Neighbours are one text: `echo git reset --hard`.
                    Some(last) if last.end + 1 == start => last.end = text.len(),
                    _ => told.push(start..text.len()),
                }
            }
        }
        Self { text, told, is_cut: false }
    }

    /// A run with its program under the given name.
    pub(super) fn of_words(run: &Run, program: &str) -> Self {
        let rest = run.words.get(1..).unwrap_or_default();
        let arguments = rest.iter().zip(told(run)).map(|(word, told)| (plain(word), told));
        let words: Vec<(String, bool)> =
            std::iter::once((program.to_owned(), false)).chain(arguments).collect();
        Self::of(&words)
    }

    /// The same after variables that are set for it. A value of several words is a text, unless it is made of options.
    pub(super) fn after(&self, sets: &[String]) -> Self {
        let is_text = |set: &String| {
            let value = set.split_once('=').map_or("", |(_, value)| value).trim();
            value.contains(char::is_whitespace) && !value.starts_with('-')
        };
        let words: Vec<(String, bool)> =
            sets.iter().map(|set| (set.clone(), is_text(set))).collect();
        let Self { mut text, mut told, .. } = Self::of(&words);
        text.push(' ');
        told.extend(self.told.iter().map(|it| it.start + text.len()..it.end + text.len()));
        text.push_str(&self.text);
        Self { text, told, is_cut: self.is_cut }
    }

    /// The same, of which something was left out.
    pub(super) fn into_cut(self) -> Self {
        Self { is_cut: true, ..self }
    }

    /// True if what a rule wants not to be there may have been left out.
    pub(super) fn may_lack(&self, pattern: &str) -> bool {
        self.is_cut && pattern.contains("(?!")
    }

    /// A program in another language, after its interpreter's name.
    pub(super) fn of_code(interpreter: &str, code: &str) -> Vec<Self> {
        // Rules are written for one line.
        let plain: Vec<&str> = code.split_whitespace().collect();
        let mut all = vec![plain.join(" ")];
        if is_database(interpreter) {
            all.push(without_comments(code));
        }
        let whole =
            |code| Self { text: format!("{interpreter} {code}"), told: Vec::new(), is_cut: false };
        all.into_iter().map(whole).collect()
    }

    /// True if a match is in what a program is told and does not run, or is a part of a longer name.
    pub(super) fn is_only_text(&self, found: &Range<usize>, pattern: &str) -> bool {
        // Blanks around it are nobody's.
        let text = self.text.get(found.clone()).unwrap_or_default();
        let start = found.start + (text.len() - text.trim_start().len());
        let end = found.end - (text.len() - text.trim_end().len());
        let is_told = self.told.iter().any(|told| told.start <= start && end <= told.end);
        is_told || pattern.starts_with("\\b") && self.is_part(found)
    }

    /// True if it lies within one name that goes on before or after it. What stands behind `=`, `,`, `:` or `@` is a value of its own,
    /// and a path that begins with it leads there: `deploy --env=prod`, `deploy prod/x`. The dashes of an option join nothing: `--prod`.
    fn is_part(&self, found: &Range<usize>) -> bool {
        let Some(inner) = self.text.get(found.clone()) else { return false };
        if inner.contains(char::is_whitespace) || found.start == 0 {
            return false;
        }
        let joins = |letter: char| "-_./+".contains(letter);
        let before = &self.text[..found.start];
        let is_end = |letter: char| letter.is_whitespace() || "=,:@".contains(letter);
        let own = before.rsplit(is_end).next().unwrap_or(before).trim_start_matches('-');
        let before = own.ends_with(joins);
        let mut after = self.text[found.end..].chars();
        // A full stop at the end of a word joins nothing.
        let joined = after.next().is_some_and(joins);
        let goes_on = |letter: char| !letter.is_whitespace() && !"=,:@".contains(letter);
        let after = joined && after.next().is_some_and(goes_on);
        let is_first = self.text[found.end..].starts_with('/');
        before || after && !is_first
    }
}

/// Programs that run the file that they are given first.
const INTERPRETERS: [&str; 14] = [
    "sh", "bash", "dash", "zsh", "ksh", "source", ".", "python", "python3", "node", "perl", "ruby",
    "php", "bun",
];

/// True if what stands behind the options of a program is a script, or a text of a program.
pub(super) fn is_interpreter(run: &Run) -> bool {
    INTERPRETERS.contains(&run.program())
}

/// A script that a shell or an interpreter is given, as if it were started by itself.
fn script_of(run: &Run) -> Option<Run> {
    let (at, script) = run.words.iter().enumerate().skip(1).find_map(|(at, word)| match word {
        Word::Known(text) if !text.starts_with('-') => Some((at, text)),
        Word::Known(_) | Word::Glob(_) | Word::Unknown { .. } => None,
    })?;
    // Behind an option it is a text or a value of that option, and no script.
    let is_script = is_interpreter(run) && at == 1 && !INTERPRETERS.contains(&script.as_str());
    is_script.then(|| run.with(run.words[at..].to_vec()))
}

/// Every line that says what a run does: as it is, and with its options in other usual spellings.
pub(super) fn of_run(run: &Run, homes: &[String]) -> Vec<RunText> {
    let Some(first) = run.words.first() else { return Vec::new() };
    let written = plain(first);
    let name = run.program();
    let with = |program: &str| RunText::of_words(run, program);
    let mut all = vec![with(if name.is_empty() { &written } else { name })];
    if !name.is_empty() && written != name {
        all.push(with(&written));
    }
    // Who has an interpreter run a script runs the script.
    if let Some(script) = script_of(run) {
        all.extend(of_run(&script, homes));
    }
    if name == "git" && git_command(run) > 0 {
        let words = run.words.get(git_command(run) + 1..).unwrap_or_default();
        let words = std::iter::once(Word::Known(name.to_owned())).chain(words.iter().cloned());
        all.extend(of_run(&run.with(words.collect()), homes));
    }
    if name == "gh" && options_of_gh(run) > 0 {
        let words = run.words.get(options_of_gh(run) + 1..).unwrap_or_default();
        let words = std::iter::once(Word::Known(name.to_owned())).chain(words.iter().cloned());
        all.extend(of_run(&run.with(words.collect()), homes));
    }
    if let Some(from_home) = from_home(run, homes) {
        // Without homes, so that it is done once.
        all.extend(of_run(&from_home, &[]));
    }
    all.extend(respelled(run).into_iter().map(|text| RunText {
        text,
        told: Vec::new(),
        is_cut: false,
    }));
    all
}

/// The same with `~` for the home, as rules have it.
fn from_home(run: &Run, homes: &[String]) -> Option<Run> {
    let shortened = |text: &str| {
        let rest = homes.iter().find_map(|home| text.strip_prefix(home.trim_end_matches('/')));
        rest.filter(|rest| rest.is_empty() || rest.starts_with('/')).map(|rest| format!("~{rest}"))
    };
    let mut is_other = false;
    let words = run.words.iter().map(|word| match word {
        Word::Known(text) | Word::Glob(text) => shortened(text).map_or_else(
            || word.clone(),
            |text| {
                is_other = true;
                Word::Known(text)
            },
        ),
        Word::Unknown { .. } => word.clone(),
    });
    let words = words.collect();
    is_other.then(|| run.with(words))
}

pub(super) fn plain(word: &Word) -> String {
    match word {
        Word::Known(text) | Word::Glob(text) => text.clone(),
        // Nobody knows what stands here. It is not left out, so that what follows stays an argument.
        Word::Unknown { begins, .. } => format!("{begins}$_"),
    }
}

/// Options of many programs whose value names what is left alone.
const LEAVING_OUT: [&str; 5] = ["--exclude", "--exclude-dir", "--ignore", "--ignore-dir", "--skip"];

/// Programs of many commands that do nothing but show help if they are asked for it.
const HELPERS: [&str; 22] = [
    "cargo",
    "npm",
    "pnpm",
    "yarn",
    "docker",
    "podman",
    "kubectl",
    "helm",
    "gh",
    "aws",
    "gcloud",
    "az",
    "terraform",
    "pulumi",
    "poetry",
    "uv",
    "twine",
    "gem",
    "flyctl",
    "vercel",
    "heroku",
    "wrangler",
];

/// True for a program whose arguments are only text.
pub(super) fn only_tells(run: &Run) -> bool {
    TELLERS.contains(&run.program())
}

/// True if a command only asks its program for help.
pub(super) fn only_helps(run: &Run) -> bool {
    let words = || run.words.iter().skip(1).map(plain);
    let own = words().take_while(|word| word != "--").any(|word| word == "--help");
    own && HELPERS.contains(&run.program())
}

/// The known arguments that are more than text.
pub(super) fn untold(run: &Run) -> impl Iterator<Item = &str> {
    let words = run.words.iter().skip(1).zip(told(run)).filter(|(_, is_told)| !is_told);
    words.filter_map(|(word, _)| match word {
        Word::Known(text) => Some(text.as_str()),
        Word::Glob(_) | Word::Unknown { .. } => None,
    })
}

/// Which arguments are only text.
pub(super) fn told(run: &Run) -> Vec<bool> {
    let words = run.words.get(1..).unwrap_or_default();
    let text = |at: usize| words.get(at).map(plain).unwrap_or_default();
    let program = run.program();
    if TELLERS.contains(&program) {
        return vec![true; words.len()];
    }
    if SEARCHERS.contains(&program) {
        // An option may name a program to run.
        return (0..words.len()).map(|at| !text(at).starts_with("--pre")).collect();
    }
    if program == "git" {
        let command = git_command(run);
        let is_text = GIT_TEXTS.contains(&text(command).as_str());
        // Options count: `git commit --no-verify` is no text.
        let is_option =
            |at: usize| text(at).starts_with('-') && !text(at).contains(char::is_whitespace);
        return (0..words.len()).map(|at| is_text && at > command && !is_option(at)).collect();
    }
    let options =
        TEXT_OPTIONS.iter().find(|(name, _)| *name == program).map_or(&[][..], |(_, it)| it);
    let names = |option: &str| options.contains(&option) || LEAVING_OUT.contains(&option);
    let takes = |at: usize| {
        let before = at.checked_sub(1).map(&text).unwrap_or_default();
        let here = text(at);
        names(&before) || here.split_once('=').is_some_and(|(name, _)| names(name))
    };
    (0..words.len()).map(takes).collect()
}

/// Options of git before its command that take the next word.
const GIT_VALUED: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--config-env",
    "--super-prefix",
];

/// Which argument of git is its command; the number of arguments if it has none.
pub(super) fn git_command(run: &Run) -> usize {
    let words = run.words.get(1..).unwrap_or_default();
    let mut at = 0;
    while let Some(Word::Known(text)) = words.get(at).filter(|word| plain(word).starts_with('-')) {
        at += if GIT_VALUED.contains(&text.as_str()) { 2 } else { 1 };
    }
    at.min(words.len())
}

/// How many words of `gh` stand before its command: which repository is meant.
fn options_of_gh(run: &Run) -> usize {
    let words: Vec<String> = run.words.iter().skip(1).map(plain).collect();
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        let takes_next = ["-R", "--repo", "--hostname"].contains(&word.as_str());
        at += if takes_next { 2 } else { 1 };
    }
    at.min(words.len())
}

/// The same command as rules usually spell it.
fn respelled(run: &Run) -> Vec<String> {
    match run.program() {
        "rm" => respelled_rm(run),
        name if is_database(name) => vec![without_comments(&line_of(run))],
        "git" => respelled_push(run)
            .into_iter()
            .chain(with_a_dot(run))
            .chain(respelled_setting(run))
            .collect(),
        _ => Vec::new(),
    }
}

/// A setting of git in small letters, which mean the same, and an editor as the one that rules name.
fn respelled_setting(run: &Run) -> Option<String> {
    let command = run.words.get(1 + git_command(run)).map(plain)?;
    let line = line_of(run);
    let small = line.to_ascii_lowercase().replace(" sequence.editor", " core.editor");
    (command == "config" && small != line).then_some(small)
}

fn line_of(run: &Run) -> String {
    let words = run.words.iter().skip(1).map(plain).collect::<Vec<_>>();
    format!("{} {}", run.program(), words.join(" "))
}

fn respelled_rm(run: &Run) -> Vec<String> {
    let (mut recursive, mut force) = (false, false);
    let mut operands = Vec::new();
    let mut is_over = false;
    for word in run.words.iter().skip(1).map(plain) {
        match word.strip_prefix('-') {
            Some("-") if !is_over => is_over = true,
            Some(long) if !is_over && long.starts_with('-') => {
                // Any beginning of a long option stands for it.
                recursive |= long.len() > 1 && "-recursive".starts_with(long);
                force |= long.len() > 1 && "-force".starts_with(long);
            }
            Some(letters) if !is_over && !letters.is_empty() => {
                recursive |= letters.contains(['r', 'R']);
                force |= letters.contains('f');
            }
            _ => operands.push(word),
        }
    }
    let operands = operands.join(" ");
    let options: &[&str] = match (recursive, force) {
        (true, true) => &["-rf", "-fr", "-r -f", "-R", "--recursive --force"],
        (true, false) => &["-r", "-R", "--recursive"],
        (false, true) => &["-f", "--force"],
        (false, false) => &[],
    };
    options.iter().map(|options| format!("rm {options} {operands}")).collect()
}

/// Programs that take any beginning of a long option for it, as long as it means no other one.
const CUTTING: &[&str] = &[
    "git",
    "rm",
    "chmod",
    "chown",
    "chgrp",
    "cp",
    "mv",
    "ln",
    "install",
    "shred",
    "truncate",
    "tee",
    "tar",
    "curl",
    "wget",
    "pkill",
    "killall",
    "kill",
    "mount",
    "umount",
    "systemctl",
    "useradd",
    "userdel",
    "usermod",
    "wipefs",
    "sfdisk",
    "losetup",
    "psql",
    "mysql",
    "mariadb",
    "dropdb",
    "patch",
    "gpg",
    "sed",
    "grep",
    "sort",
    "make",
];
/// Most readings of one command whose options are cut short.
const READINGS_MAX: usize = 8;

/// The same with whole names for long options that are cut short, where rules name them: every name that may be meant.
pub(super) fn in_full(run: &Run, options: &[String], homes: &[String]) -> Vec<RunText> {
    if !CUTTING.contains(&run.program()) {
        return Vec::new();
    }
    let names = |word: &Word| -> Vec<Word> {
        let Word::Known(word) = word else { return Vec::new() };
        let (name, value) = word.find('=').map_or((word.as_str(), ""), |at| word.split_at(at));
        let is_cut =
            |long: &&String| name.len() > 2 && name.len() < long.len() && long.starts_with(name);
        let whole = |long: &String| Word::Known(format!("{long}{value}"));
        options.iter().filter(is_cut).map(whole).collect()
    };
    let all: Vec<Vec<Word>> = run.words.iter().map(names).collect();
    let readings = all.iter().map(Vec::len).max().unwrap_or(0).min(READINGS_MAX);
    let reading = |at: usize| {
        let words = run.words.iter().zip(&all);
        let words = words
            .map(|(word, names)| names.get(at).or_else(|| names.last()).unwrap_or(word).clone());
        of_run(&run.with(words.collect()), homes)
    };
    (0..readings).flat_map(reading).collect()
}

/// The long options that the text of a pattern names.
pub(super) fn long_options(pattern: &str) -> Vec<String> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let mut found = Vec::new();
    for (at, _) in pattern.match_indices("--") {
        let rest = pattern.get(at + 2..).unwrap_or_default();
        let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        let name = rest[..end].trim_end_matches('-');
        if name.len() > 1 && !name.starts_with('-') {
            found.push(format!("--{name}"));
        }
    }
    found
}

fn respelled_push(run: &Run) -> Vec<String> {
    let words: Vec<String> = run.words.iter().skip(1).map(plain).collect();
    if words.first().map(String::as_str) != Some("push") {
        return Vec::new();
    }
    let is_short = |word: &str| {
        word.strip_prefix('-').is_some_and(|it| !it.starts_with('-') && it.contains('f'))
    };
    let is_forced =
        words.iter().any(|word| is_short(word) || word == "--force" || word == "--forc");
    let rest: Vec<&str> = words
        .iter()
        .skip(1)
        .map(String::as_str)
        .filter(|word| !is_short(word) && !word.starts_with("--forc"))
        .collect();
    if !is_forced {
        return Vec::new();
    }
    let rest = rest.join(" ");
    vec![
        format!("git push --force {rest}"),
        format!("git push -f {rest}"),
        format!("git push {rest} --force"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str]) -> Run {
        let words = words.iter().map(|word| Word::Known((*word).to_owned())).collect();
        Run::of(words)
    }

    fn is_text(words: &[&str], inner: &str, pattern: &str) -> bool {
        let text = of_run(&run(words), &[]).remove(0);
        let start = text.text.find(inner).unwrap_or_else(|| panic!("{inner} in {}", text.text));
        text.is_only_text(&(start..start + inner.len()), pattern)
    }

    #[test]
    fn what_is_printed_searched_or_stored_is_text() {
        for (words, inner) in [
            (&["echo", "sudo is not needed"][..], "sudo"),
            (&["echo", "git", "reset", "--hard"], "git reset --hard"),
            (&["git", "commit", "-m", "why rm -rf is refused"], "rm -rf"),
            (&["git", "commit", "-am", "x", "-m", "rm -rf"], "rm -rf"),
            (&["grep", "-rn", "git reset --hard", "src"], "git reset --hard"),
            (&["gh", "pr", "create", "--title", "Stop sudo", "--body=use sudo"], "use sudo"),
            (&["/usr/bin/which", "sudo"], "sudo"),
            (&["rg", "curl .* | sh", "README.md"], " curl .* | sh"),
        ] {
            assert!(is_text(words, inner, ""), "{words:?}");
        }
        for (words, inner) in [
            (&["psql", "-c", "DROP TABLE users"][..], "DROP TABLE"),
            (&["echo", "a"], "echo a"),
            (&["git", "commit", "--no-verify", "-m", "x"], "--no-verify"),
            (&["git", "push", "--force"], "--force"),
            (&["cat", ".env"], ".env"),
            (&["ssh", "host", "rm -rf /"], "rm -rf /"),
        ] {
            assert!(!is_text(words, inner, ""), "{words:?}");
        }
    }

    #[test]
    fn a_part_of_a_name_is_no_command() {
        for words in [
            &["git", "worktree", "add", "fix-sudo-prompt"][..],
            &["cat", "docs/sudo.md"],
            &["npm", "run", "build-sudo"],
            &["cat", "docs/sudo/x", "--file=a/sudo"],
            &["cat", "x.sudo"],
            &["run", "--sudo-docs"],
            &["run", "--no-sudo"],
            &["run", "--with=-x-sudo"],
        ] {
            assert!(is_text(words, "sudo", r"\bsudo\b"), "{words:?}");
        }
        for words in [
            &["npm", "run", "build:sudo"][..],
            &["run", "--with=sudo"],
            &["run", "a,sudo,b"],
            &["run", "-Dexec.executable=sudo"],
            &["run", "me@sudo"],
            &["run", "sudo/x"],
            &["run", "--with=sudo/x"],
            &["run", "sudo=1"],
            &["run", "--sudo"],
            &["run", "-sudo"],
            &["run", "--sudo=1"],
        ] {
            assert!(!is_text(words, "sudo", r"\bsudo\b"), "{words:?}");
        }
        assert!(!is_text(&["cat", "docs/.env.local"], ".env", r"\.env"));
        assert!(!is_text(&["xargs", "sudo"], "sudo", r"\bsudo\b"));
        assert!(!is_text(&["run", "sudo."], "sudo", r"\bsudo\b"));
    }

    #[test]
    fn a_deletion_is_also_spelled_as_rules_have_it() {
        let texts = |words: &[&str]| -> Vec<String> {
            of_run(&run(words), &[]).into_iter().map(|text| text.text).collect()
        };
        for words in [
            &["rm", "build", "-r", "--force"][..],
            &["/bin/rm", "-f", "-R", "build"],
            &["rm", "--recurs", "-f", "--", "build"],
        ] {
            assert!(texts(words).contains(&"rm -rf build".to_owned()), "{:?}", texts(words));
        }
        assert_eq!(texts(&["rm", "--", "-rf"]), ["rm -- -rf"]);
        assert!(
            texts(&["git", "push", "origin", "-uf"])
                .contains(&"git push --force origin".to_owned())
        );
        assert_eq!(texts(&["git", "push", "--force-with-lease"]).len(), 1);
        let texts = of_run(&run(&["chmod", "-R", "0", "/home/ann"]), &["/home/ann".to_owned()]);
        assert_eq!(texts[1].text, "chmod -R 0 ~");
    }
}
