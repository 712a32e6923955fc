//! A command line as a list of commands, and what its exit code says about each of them.

use super::CommandLine;
use super::ground::{Ground, Turn};
use super::tokens::{Token, Unclear, Word, tokens};

/// How deep groups and command lines in command lines are followed.
const DEPTH_MAX: usize = 8;
const TOO_LONG: Unclear = "the line is too long or too deep to be read as a whole";
/// Commands of compound syntax that is not read.
const COMPOUND: [&str; 16] = [
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function", "coproc", "repeat",
];

/// One command of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// Its words, without quotes and redirections.
    pub(crate) words: Vec<String>,
    /// Why the line's success does not prove that the command ran and succeeded.
    pub(crate) doubt: Option<String>,
    /// What of its own words makes it run something else, or elsewhere.
    pub(crate) turns: Vec<Turn>,
}

impl Part {
    /// Why it does not prove the wanted command. What that command says itself is no reason.
    pub(super) fn doubt_about(&self, wanted: &str) -> Option<String> {
        let is_wanted = |turn: &&Turn| wanted.split_whitespace().any(|word| word == turn.word);
        let turned = self.turns.iter().find(|turn| !is_wanted(turn)).map(|turn| turn.why.clone());
        self.doubt.clone().or(turned)
    }
}

/// The commands of a line, in order. A line that is not understood is split at every operator, and proves nothing.
pub(crate) fn parts(line: &CommandLine, project: &str) -> Vec<Part> {
    let mut walk = LineWalk::new(Ground::new(project));
    let read = if line.is_cut { Err(TOO_LONG) } else { walk.line(&line.text, None, 0) };
    if let Err(why) = read {
        // A line that cannot be read may still have run the command. It proves nothing, but the doubt is worth a sentence.
        return in_doubt(&line.text, &format!("{why}, so its exit code says nothing"));
    }
    walk.out
}

fn in_doubt(line: &str, why: &str) -> Vec<Part> {
    let split = line.split(['&', '|', ';', '(', ')', '\n']);
    let bare = |word: &str| word.trim_matches(['"', '\'', '`']).to_owned();
    let words = split.map(|part| part.split_whitespace().map(bare).collect::<Vec<_>>());
    let parts = words.filter(|words| !words.is_empty());
    parts.map(|words| Part { words, doubt: Some(why.to_owned()), turns: Vec::new() }).collect()
}

/// Pipelines joined by `&&` and `||`, up to `;`, `&` or the end of a line.
#[derive(Default)]
struct AndOrList {
    pipes: Vec<Pipe>,
    is_background: bool,
}

#[derive(Default)]
struct Pipe {
    /// True if it runs only when what precedes it failed.
    is_after_or: bool,
    is_negated: bool,
    commands: Vec<ShellCommand>,
}

enum ShellCommand {
    Simple(Vec<Word>),
    Group { chains: Vec<AndOrList>, is_subshell: bool },
}

/// Where a command stands.
#[derive(Clone, Copy)]
struct Outer<'a> {
    /// Why the line's success proves nothing about it.
    doubt: Option<&'a str>,
    /// True if it runs in this shell, whatever the others do.
    is_sure: bool,
    /// True if what follows it in its chain runs only if it succeeded.
    is_certain: bool,
    depth: usize,
}

impl<'a> Outer<'a> {
    fn with(self, doubt: Option<&'a str>) -> Self {
        Self { doubt: self.doubt.or(doubt), ..self }
    }

    fn unless(self, is_unsure: bool) -> Self {
        Self { is_sure: self.is_sure && !is_unsure, ..self }
    }

    fn certain_if(self, is_certain: bool) -> Self {
        Self { is_certain: self.is_certain && is_certain, ..self }
    }
}

/// What was seen so far.
pub(super) struct LineWalk {
    out: Vec<Part>,
    /// True after `set -o pipefail`.
    pub(super) pipefail: bool,
    /// A command before this one that may have changed what it means.
    pub(super) changed: Option<String>,
    /// The folder that it runs in.
    pub(super) ground: Ground,
}

impl LineWalk {
    fn new(ground: Ground) -> Self {
        Self { out: Vec::new(), pipefail: false, changed: None, ground }
    }

    fn line(&mut self, line: &str, doubt: Option<&str>, depth: usize) -> Result<(), Unclear> {
        // The line comes from an agent: bounded, so that nested brackets cannot exhaust the stack.
        if depth > DEPTH_MAX {
            return Err(TOO_LONG);
        }
        let tokens = tokens(line)?;
        let mut left = tokens.as_slice();
        let chains = chains(&mut left, None, depth)?;
        if !left.is_empty() {
            return Err("a bracket was not opened");
        }
        self.list(&chains, Outer { doubt, is_sure: true, is_certain: true, depth })
    }

    fn list(&mut self, chains: &[AndOrList], outer: Outer<'_>) -> Result<(), Unclear> {
        for (at, chain) in chains.iter().enumerate() {
            let own = if chain.is_background {
                Some("it ran in the background, and nobody saw it end")
            } else if at + 1 < chains.len() {
                Some("other commands follow it, and the exit code is that of the last one")
            } else {
                None
            };
            let before = self.ground.clone();
            self.chain(chain, outer.with(own).unless(chain.is_background))?;
            if at + 1 < chains.len() {
                self.ground.after(&before);
            }
        }
        Ok(())
    }

    /// Success of `a || b && c` proves `c`: what precedes the last `||`, or follows it directly, may have failed or been skipped.
    fn chain(&mut self, chain: &AndOrList, outer: Outer<'_>) -> Result<(), Unclear> {
        // `a && b || c && d`: whether `d` ran says nothing about `a` and `b`, so only what follows the last `||` can be sure.
        let last_or = chain.pipes.iter().rposition(|pipe| pipe.is_after_or);
        for (at, pipe) in chain.pipes.iter().enumerate() {
            let own = match last_or {
                Some(or) if at == or => Some("after `||` it runs only if something else fails"),
                Some(or) if at < or => Some("`||` after it hides a failure"),
                Some(_) | None => None,
            };
            let negated = pipe.is_negated.then_some("`!` before it inverts its exit code");
            let is_certain = !pipe.is_negated && last_or.is_none_or(|or| at > or);
            let outer = outer.with(own).with(negated).unless(at > 0);
            self.pipe(pipe, outer.certain_if(is_certain))?;
        }
        Ok(())
    }

    fn pipe(&mut self, pipe: &Pipe, outer: Outer<'_>) -> Result<(), Unclear> {
        let end = pipe.commands.last().map_or("", ShellCommand::program);
        let piped = format!("it ran in a pipe, whose exit code is that of `{end}`");
        // Each command of a pipe runs in a subshell: a `set` in one of them reaches nothing after it.
        let is_alone = pipe.commands.len() == 1;
        let outer = outer.unless(!is_alone).certain_if(is_alone);
        for (at, command) in pipe.commands.iter().enumerate() {
            // Without `pipefail` only the last command of a pipe has a say.
            let hides = at + 1 < pipe.commands.len() && !self.pipefail;
            let outer = outer.with(hides.then_some(piped.as_str()));
            match command {
                ShellCommand::Group { chains, is_subshell } => {
                    // What a subshell sets ends with it.
                    let (pipefail, ground) = (self.pipefail, self.ground.clone());
                    self.list(chains, Outer { depth: outer.depth + 1, ..outer })?;
                    self.pipefail &= pipefail;
                    if *is_subshell {
                        self.ground = ground;
                    }
                }
                ShellCommand::Simple(words) => {
                    self.simple(words, outer)?;
                    self.note(words, outer.is_sure);
                    self.ground.follow(words, outer.is_certain);
                }
            }
        }
        Ok(())
    }

    fn simple(&mut self, words: &[Word], outer: Outer<'_>) -> Result<(), Unclear> {
        let doubt = outer.doubt.or(self.changed.as_deref()).or(self.ground.doubt());
        let doubt = doubt.map(str::to_owned);
        let texts: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        let turns = self.ground.turns(&texts);
        for inner in words.iter().flat_map(|word| &word.inner) {
            let used = "its output was used by another command, whose exit code counts";
            // A substitution runs in a shell of its own: what it sets does not reach the rest of the line, and the other way
            // round.
            let walk = Self::new(self.ground.for_inner());
            walk.inside(inner, Some(used), outer.depth, &mut self.out)?;
        }
        if let Some((inner, pipefail)) = script(&texts) {
            let walk = Self { pipefail, ..Self::new(self.ground.for_inner()) };
            // What is set for that shell is set for all that it runs.
            let doubt = doubt.as_deref().or(turns.first().map(|turn| turn.why.as_str()));
            walk.inside(inner, doubt, outer.depth, &mut self.out)?;
        }
        // After the commands inside it: they run first, and both are parts of the line.
        self.out.push(Part { words: texts, doubt, turns });
        Ok(())
    }

    /// A command line that another shell runs.
    fn inside(
        mut self,
        line: &str,
        doubt: Option<&str>,
        depth: usize,
        out: &mut Vec<Part>,
    ) -> Result<(), Unclear> {
        self.line(line, doubt, depth + 1)?;
        out.append(&mut self.out);
        Ok(())
    }
}

/// The command line in `bash -c '…'`, and whether that shell was given `-o pipefail`.
fn script(words: &[String]) -> Option<(&str, bool)> {
    let texts: Vec<&str> = words.iter().map(String::as_str).collect();
    let at = super::begins(&texts)
        .into_iter()
        .find(|at| texts.get(*at).is_some_and(|word| super::is_shell(word)))?;
    let mut rest = texts[at + 1..].iter();
    let mut pipefail = false;
    while let Some(word) = rest.next() {
        let letters = word.strip_prefix('-')?;
        if !letters.chars().all(|it| "ceuxlo".contains(it)) {
            return None;
        }
        if letters.contains('o') {
            // `-o` takes the next word as its value, so a letter after it cannot begin the script.
            pipefail |= *rest.next()? == "pipefail";
        }
        if letters.contains('c') {
            return rest.next().map(|line| (*line, pipefail));
        }
    }
    None
}

impl ShellCommand {
    fn program(&self) -> &str {
        match self {
            Self::Simple(words) => words.first().map_or("", |word| &word.text),
            Self::Group { .. } => "(…)",
        }
    }
}

/// Reads chains up to the word or bracket that closes a group.
fn chains(
    left: &mut &[Token],
    close: Option<&Token>,
    depth: usize,
) -> Result<Vec<AndOrList>, Unclear> {
    // Workers write these lines: nesting without a limit would overflow the stack of the supervisor.
    if depth > DEPTH_MAX {
        return Err("the line is too deep to be read as a whole");
    }
    let mut all = Vec::new();
    loop {
        while left.first() == Some(&Token::End) {
            *left = &left[1..];
        }
        match left.first() {
            None if close.is_none() => return Ok(all),
            None => return Err("a bracket is not closed"),
            token if token == close => {
                *left = &left[1..];
                return Ok(all);
            }
            Some(Token::Close) if close.is_none() => return Ok(all),
            Some(_) => all.push(chain(left, depth)?),
        }
    }
}

fn chain(left: &mut &[Token], depth: usize) -> Result<AndOrList, Unclear> {
    let mut chain = AndOrList::default();
    let mut is_after_or = false;
    loop {
        chain.pipes.push(pipe(left, is_after_or, depth)?);
        match left.first() {
            Some(token @ (Token::And | Token::Or)) => is_after_or = *token == Token::Or,
            Some(Token::Background) => {
                chain.is_background = true;
                *left = &left[1..];
                return Ok(chain);
            }
            _ => return Ok(chain),
        }
        skip_line_ends(left);
    }
}

fn pipe(left: &mut &[Token], is_after_or: bool, depth: usize) -> Result<Pipe, Unclear> {
    let mut pipe = Pipe { is_after_or, ..Pipe::default() };
    while is_word(left.first(), "!") {
        *left = &left[1..];
        pipe.is_negated = true;
    }
    loop {
        pipe.commands.push(command(left, depth)?);
        if left.first() != Some(&Token::Pipe) {
            return Ok(pipe);
        }
        skip_line_ends(left);
    }
}

/// Skips an operator and the line ends after it.
fn skip_line_ends(left: &mut &[Token]) {
    *left = &left[1..];
    while left.first() == Some(&Token::End) {
        *left = &left[1..];
    }
}

fn command(left: &mut &[Token], depth: usize) -> Result<ShellCommand, Unclear> {
    let brace = Token::Word(Word { text: "}".to_owned(), ..Word::default() });
    let close = match left.first() {
        Some(Token::Open) => Some(Token::Close),
        token if is_word(token, "{") => Some(brace),
        _ => None,
    };
    if let Some(close) = close {
        *left = &left[1..];
        let inner = chains(left, Some(&close), depth + 1)?;
        let is_over = !matches!(left.first(), Some(Token::Word(_) | Token::Open));
        let is_subshell = close == Token::Close;
        return is_over
            .then_some(ShellCommand::Group { chains: inner, is_subshell })
            .ok_or("the line uses brackets in a way that Chronicle does not read");
    }
    let mut words = Vec::new();
    while let Some(Token::Word(word)) = left.first() {
        words.push(word.clone());
        *left = &left[1..];
    }
    let first = words.first().ok_or("an operator has no command")?;
    // Loops and conditions would need a real shell to be understood. They are not guessed at.
    if !first.is_quoted && COMPOUND.contains(&first.text.as_str()) {
        return Err("the line has a compound command");
    }
    if left.first() == Some(&Token::Open) {
        return Err(
            "the line defines a function or uses brackets in a way that Chronicle does not read",
        );
    }
    Ok(ShellCommand::Simple(words))
}

fn is_word(token: Option<&Token>, text: &str) -> bool {
    matches!(token, Some(Token::Word(word)) if !word.is_quoted && word.text == text)
}
