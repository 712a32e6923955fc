//! Other ways to say a command, which rules are tried on too: with the variables that it is given before it, without the options that
//! stand before its own command, and with options in their other spelling.

use super::facts::{Run, Word};
use super::texts::{RunText, git_command, is_interpreter, of_run, only_tells, plain};

/// Most variables of one command that are each tried with it.
const SETS_MAX: usize = 16;
/// Most words that may be the command of a program behind its options.
const STARTS_MAX: usize = 6;

/// Short options of git with the long ones that mean the same, by the command that has them.
const GIT_PAIRS: &[(&str, &[(char, &str)])] = &[
    ("add", &[('A', "--all"), ('f', "--force")]),
    (
        "branch",
        &[
            ('D', "--delete --force"),
            ('M', "--move --force"),
            ('C', "--copy --force"),
            ('d', "--delete"),
            ('f', "--force"),
            ('m', "--move"),
        ],
    ),
    ("checkout", &[('f', "--force")]),
    ("clean", &[('f', "--force"), ('n', "--dry-run")]),
    ("commit", &[('n', "--no-verify"), ('a', "--all"), ('s', "--signoff")]),
    ("fetch", &[('f', "--force"), ('p', "--prune")]),
    ("merge", &[('s', "--strategy")]),
    ("mv", &[('f', "--force")]),
    ("pull", &[('r', "--rebase"), ('f', "--force")]),
    ("push", &[('f', "--force"), ('d', "--delete"), ('u', "--set-upstream"), ('n', "--dry-run")]),
    ("rebase", &[('i', "--interactive")]),
    ("restore", &[('S', "--staged"), ('W', "--worktree")]),
    ("rm", &[('f', "--force")]),
    ("stash", &[('u', "--include-untracked"), ('a', "--all")]),
    ("switch", &[('f', "--discard-changes"), ('C', "--force-create")]),
    ("tag", &[('d', "--delete"), ('f', "--force")]),
];
/// Letters of options of git that take what follows them, in the same word or the next.
const GIT_VALUED: &[(&str, &str)] = &[
    ("checkout", "bB"),
    ("clean", "e"),
    ("commit", "mFCctuS"),
    ("merge", "mFsXS"),
    ("push", "o"),
    ("rebase", "sXxCS"),
    ("restore", "s"),
    ("stash", "m"),
    ("switch", "cC"),
    ("tag", "mFu"),
];

/// The command with the variables that it is given before it: with each by itself, and with all of them.
pub(super) fn with_sets(run: &Run, homes: &[String]) -> Vec<RunText> {
    if run.sets.is_empty() || only_tells(run) {
        return Vec::new();
    }
    let with = |text: &RunText| {
        let each = run.sets.iter().take(SETS_MAX).map(|it| text.after(std::slice::from_ref(it)));
        let all = (run.sets.len() > 1).then(|| text.after(&run.sets));
        each.chain(all).collect::<Vec<_>>()
    };
    // As it is, and by its path.
    of_run(run, homes).iter().take(2).flat_map(with).collect()
}

/// The same command with its options elsewhere, left out, or spelled in another way.
pub(super) fn respelled_options(run: &Run, homes: &[String]) -> Vec<RunText> {
    let mut all = Vec::new();
    let texts = |run: &Run| of_run(run, homes);
    // These have texts of their own for it.
    if !["git", "gh"].contains(&run.program()) && !is_interpreter(run) {
        for at in starts(run) {
            let (before, after) = run.words.split_at(at);
            let (program, options) = before.split_at(1);
            let moved = [program, after, options].concat();
            all.extend(texts(&run.with(moved)));
            let cut = texts(&run.with([program, after].concat()));
            all.extend(cut.into_iter().map(RunText::into_cut));
        }
    }
    if let Some(parted) = parted(run) {
        all.extend(texts(&parted));
    }
    if let Some(joined) = joined(run) {
        all.extend(texts(&joined));
    }
    all.extend(by_pairs(run).iter().flat_map(texts));
    all
}

/// Where the command of a program may begin behind its options: each of them may take the next word.
fn starts(run: &Run) -> Vec<usize> {
    let is_option = |at: usize| {
        let word = run.words.get(at).map(plain).unwrap_or_default();
        let is_channel = run.program() == "cargo" && word.starts_with('+');
        (word.len() > 1 && word.starts_with('-') && word != "--") || is_channel
    };
    let (mut open, mut found) = (vec![1], Vec::new());
    while let Some(at) = open.pop() {
        if at >= run.words.len() || found.len() >= STARTS_MAX {
            continue;
        }
        if !is_option(at) {
            if at > 1 && !found.contains(&at) {
                found.push(at);
            }
            continue;
        }
        let is_alone = run.words.get(at).map(plain).unwrap_or_default().contains('=');
        let next = [at + 1].into_iter().chain((!is_alone).then_some(at + 2));
        open.extend(next.filter(|it| !found.contains(it)));
        open.sort_unstable_by(|one, other| other.cmp(one));
        open.dedup();
    }
    found
}

/// With `--name value` for `--name=value`.
fn parted(run: &Run) -> Option<Run> {
    let split = |word: &Word| match word {
        Word::Known(text) if text.starts_with("--") => match text.split_once('=') {
            Some((name, value)) if name.len() > 2 => {
                vec![Word::Known(name.to_owned()), Word::Known(value.to_owned())]
            }
            _ => vec![word.clone()],
        },
        Word::Known(_) | Word::Glob(_) | Word::Unknown { .. } => vec![word.clone()],
    };
    let words: Vec<Word> = run.words.iter().flat_map(split).collect();
    (words.len() > run.words.len()).then(|| run.with(words))
}

/// With `--name=value` for `--name value`.
fn joined(run: &Run) -> Option<Run> {
    let mut words: Vec<Word> = Vec::new();
    let mut is_over = false;
    for word in &run.words {
        is_over |= *word == Word::Known("--".to_owned());
        let text = plain(word);
        match (words.last_mut(), word) {
            (Some(Word::Known(name)), Word::Known(_))
                if !is_over
                    && name.len() > 2
                    && name.starts_with("--")
                    && !name.contains('=')
                    && !text.starts_with('-') =>
            {
                name.push('=');
                name.push_str(&text);
            }
            _ => words.push(word.clone()),
        }
    }
    (words.len() < run.words.len()).then(|| run.with(words))
}

/// A command of git with long options for all short ones that have one, and the other way round.
fn by_pairs(run: &Run) -> Vec<Run> {
    let at = 1 + git_command(run);
    let name = run.words.get(at).map(plain).unwrap_or_default();
    let pairs = GIT_PAIRS.iter().find(|(command, _)| *command == name).map(|(_, pairs)| *pairs);
    let Some(pairs) = pairs.filter(|_| run.program() == "git") else { return Vec::new() };
    let valued = GIT_VALUED.iter().find(|(command, _)| *command == name).map_or("", |(_, it)| it);
    let (before, after) = run.words.split_at(at + 1);
    // What stands before the command of git is about where it works.
    let before = [&before[..1], &before[at..]].concat();
    let (mut long, mut short) = (before.clone(), before);
    let (mut is_over, mut is_value) = (false, false);
    for word in after {
        let text = plain(word);
        is_over |= text == "--";
        let is_plain = is_over || is_value || !text.starts_with('-');
        is_value = false;
        let Word::Known(_) = word else {
            long.push(word.clone());
            short.push(word.clone());
            continue;
        };
        if !is_plain && !text.starts_with("--") {
            is_value = spelled_out(&text[1..], pairs, valued, &mut long);
            short.push(word.clone());
            continue;
        }
        let letter = pairs.iter().find(|(_, long)| !is_plain && *long == text);
        short.push(letter.map_or_else(|| word.clone(), |(it, _)| Word::Known(format!("-{it}"))));
        long.push(word.clone());
    }
    if name == "branch" {
        forced(&mut short);
    }
    [long, short].into_iter().filter(|it| *it != run.words).map(|it| run.with(it)).collect()
}

/// Letters of options, each by its long name if it has one. True if the next word is the value of the last one.
fn spelled_out(letters: &str, pairs: &[(char, &str)], valued: &str, out: &mut Vec<Word>) -> bool {
    for (at, letter) in letters.char_indices() {
        if valued.contains(letter) && !pairs.iter().any(|(it, _)| *it == letter) {
            out.push(Word::Known(format!("-{}", &letters[at..])));
            return at + letter.len_utf8() == letters.len() && !"uS".contains(letter);
        }
        match pairs.iter().find(|(it, _)| *it == letter) {
            Some((_, long)) => {
                out.extend(long.split(' ').map(|it| Word::Known(it.to_owned())));
            }
            None => out.push(Word::Known(format!("-{letter}"))),
        }
    }
    false
}

/// `-d -f` of a branch as `-D`.
fn forced(words: &mut Vec<Word>) {
    let is = |word: &Word, letter: char| match word {
        Word::Known(text) => {
            text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
        }
        Word::Glob(_) | Word::Unknown { .. } => false,
    };
    let has = |letter: char| words.iter().any(|word| is(word, letter));
    if has('d') && has('f') {
        words.retain(|word| !is(word, 'f') || is(word, 'd'));
        if let Some(word) = words.iter_mut().find(|word| is(word, 'd')) {
            *word = Word::Known("-D".to_owned());
        }
    }
}

/// True if a command is told by its variables to work on the database of tests, which is made anew all the time.
pub(super) fn is_of_tests(run: &Run) -> bool {
    let names = ["RAILS_ENV=test", "RACK_ENV=test", "APP_ENV=test", "APP_ENV=testing"];
    let is_about_data = |word: &str| word.starts_with("db:") || word.starts_with("migrate:");
    // With an address of its own it may be any other.
    let is_elsewhere = |set: &String| set.starts_with("DATABASE_URL=");
    ["rails", "rake", "php", "artisan"].contains(&run.program())
        && run.known().any(is_about_data)
        && run.sets.iter().any(|set| names.contains(&set.as_str()))
        && !run.sets.iter().any(is_elsewhere)
}
