//! Programs of `awk`: the files that they write, and whether they start other programs.

use super::invoke::Call;
use super::options::{Valued, read};
use super::shells::child;
use super::state::State;
use super::value::{Field, Piece};
use super::walk::{Dialect, Input, Walker};
use super::{CommandWord, DoubtKind, TouchKind};

const VALUED: &str = "f:r F v i:_ l:_ file:r field-separator assign include:_ load:_ e:_ source:_ E:r exec:r o:* d:* p:* D:*";
/// Options that write a file, which may be glued to them, and the one that they write otherwise.
const WRITING: [(&str, &str, &str); 3] = [
    ("o", "pretty-print", "awkprof.out"),
    ("d", "dump-variables", "awkvars.out"),
    ("p", "profile", "awkprof.out"),
];

impl Walker<'_> {
    pub(super) fn awk(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) {
        let words = &spelled_out(words);
        let (found, end) = read(words, Valued(VALUED), true);
        let mut files = words.get(end..).unwrap_or_default();
        self.told_by_awk(name, words.get(..end).unwrap_or_default(), state, call);
        for file in found.values(&["f", "file", "E", "exec"]) {
            self.touch(TouchKind::Read, file, state, name, call.span);
        }
        let mut programs: Vec<Field> = found.values(&["e", "source"]).cloned().collect();
        for file in found.values(&["f", "file", "E", "exec", "i", "include"]) {
            programs.extend(self.code_in(file, state, call));
        }
        if !found.has(&["f", "file", "E", "exec", "e", "source"])
            && let Some((program, more)) = files.split_first()
        {
            programs.push(program.clone());
            files = more;
        }
        // Variables may be set from outside of the program.
        let is_set = found.has(&["v", "assign"]) || files.iter().any(may_set);
        let mut is_plain = !found.has_unknown && !found.has(&["l", "load"]);
        for program in &programs {
            let seen = program.known().and_then(look);
            is_plain &= seen.is_some();
            let seen = seen.unwrap_or_default();
            is_plain &= !(seen.has_names && is_set);
            for (text, is_fed) in &seen.commands {
                let input = if *is_fed { &Input::Piped } else { call.input };
                self.text(text, &mut child(state), input, Dialect::Other, call.span);
            }
            for (kind, path) in seen.files {
                // What the data makes of a name is one in that folder, and it may be that of a script.
                self.changed_by_pattern(std::slice::from_ref(&path), state, true);
                let CommandWord::Glob(pattern) = path.to_word() else {
                    self.touch(kind, &path, state, name, call.span);
                    continue;
                };
                for data in ["_", ""] {
                    let path = Field::text(&pattern.replace('*', data));
                    self.touch(kind, &path, state, name, call.span);
                }
            }
        }
        if !is_plain {
            self.doubt(DoubtKind::Code, &format!("`{name}` is given code"), call.span);
        }
        let changes = found
            .values(&["i", "include"])
            .any(|value| value.known().is_none_or(|it| it.contains("inplace")));
        for file in files {
            self.touches(if changes { "rw" } else { "r" }, file, state, name, call);
        }
    }

    /// Files that options of `awk` write, and commands for its debugger.
    fn told_by_awk(&mut self, name: &str, options: &[Field], state: &State, call: Call<'_>) {
        for option in options {
            let text = option.begins();
            for (letter, long, usual) in WRITING {
                let short = text.strip_prefix('-').and_then(|it| it.strip_prefix(letter));
                let cut = text.strip_prefix("--").map(|it| it.split('=').next().unwrap_or(it));
                let is_long = cut.is_some_and(|it| it.len() > 1 && long.starts_with(it));
                let at = match (short, text.find('=')) {
                    (Some(_), _) => 2,
                    (None, Some(at)) if is_long => at + 1,
                    (None, None) if is_long => text.len(),
                    _ => continue,
                };
                let file = option.after(at);
                let file = if file.known() == Some("") { Field::text(usual) } else { file };
                if file.known() != Some("-") {
                    self.written_to(&file, state, name, call.span);
                }
            }
            if text.starts_with("-D") || text.starts_with("--deb") {
                let why = format!("`{name}` is given commands of its debugger");
                self.doubt(DoubtKind::Text, &why, call.span);
            }
        }
    }
}

/// Words with what stands behind `-W` as the long option that it is: `-W exec file` is `--exec file`.
fn spelled_out(words: &[Field]) -> Vec<Field> {
    let mut out = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let glued = word.known().and_then(|it| it.strip_prefix("-W"));
        let value = match glued {
            Some("") => words.next().cloned(),
            Some(value) => Some(Field::text(value)),
            None => None,
        };
        let Some(value) = value else {
            out.push(word.clone());
            continue;
        };
        // The only one with `e` that takes a file.
        let name = match value.begins() {
            "e" | "ex" | "exe" => Field::text("exec"),
            _ => value,
        };
        let mut long = Field::text("--");
        long.extend(&name);
        out.push(long);
    }
    out
}

/// One piece of a program.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    Text(String),
    /// A regular expression or a number.
    Other,
    Sign(char),
    /// A line end or a `;`.
    End,
}

/// True if an operand may set a variable, and be no file.
fn may_set(operand: &Field) -> bool {
    operand.known().is_none_or(|it| it.contains('='))
}

/// What a program uses.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    files: Vec<(TouchKind, Field)>,
    /// Texts for a shell, and whether it is handed what is printed.
    commands: Vec<(String, bool)>,
    /// Whether the name of a file is in a variable.
    has_names: bool,
}

/// The file that is printed to: its name, or a folder and what begins there where the data says the rest. `None` if even that is not
/// known.
fn printed_to(rest: &[Token], program: &[Token]) -> Option<Field> {
    let end = rest.iter().position(|it| matches!(it, Token::End | Token::Sign('}')));
    let all = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
    let all = match all {
        [Token::Sign('('), inner @ .., Token::Sign(')')] => inner,
        all => all,
    };
    // What the data says, and nothing that the program itself puts together.
    let is_data = |it: &Token| match it {
        Token::Name(name) => ["NR", "FNR", "NF", "FILENAME"].contains(&name.as_str()),
        Token::Other => true,
        Token::Sign(sign) => "$()".contains(*sign),
        Token::Text(_) | Token::End => false,
    };
    let is_plain = |text: &str| !text.contains(['\\', '*', '?', '[']) && !text.contains("..");
    let is_folder = |text: &str| {
        let mut names = text.rsplit('/').skip(1);
        is_plain(text) && names.any(|name| !["", "."].contains(&name))
    };
    let (begins, data, ends) = match all {
        [Token::Text(path)] => return Some(Field::text(path)),
        [Token::Name(name)] => return printed_to(set_to(name, program)?, program),
        [Token::Text(begins), data @ .., Token::Text(ends)] => (begins, data, ends.as_str()),
        [Token::Text(begins), data @ ..] => (begins, data, ""),
        _ => return None,
    };
    let is_known = is_folder(begins) && is_plain(ends) && !data.is_empty();
    let mut path = Field::text(begins);
    path.push(Piece::Glob("*".to_owned()));
    path.push_text(ends);
    (is_known && data.iter().all(is_data)).then_some(path)
}

/// What a variable is set to that is set once, and only used as the name of a file.
fn set_to<'t>(name: &str, program: &'t [Token]) -> Option<&'t [Token]> {
    let is_it = |it: &Token| matches!(it, Token::Name(other) if other == name);
    let mut found = None;
    for (at, _) in program.iter().enumerate().filter(|(_, it)| is_it(it)) {
        let (before, after) = program.split_at(at);
        let begins = matches!(before.last(), None | Some(Token::End | Token::Sign('{' | '}')));
        match after {
            [_, Token::Sign('='), next, ..] if *next != Token::Sign('=') => {
                found = Some(after.get(2..).filter(|_| begins && found.is_none())?);
            }
            _ => {
                let is_close = |it: &Token| matches!(it, Token::Name(it) if it == "close");
                let is_named = match before {
                    [.., Token::Sign('>')] => true,
                    [.., word, Token::Sign('(')] => is_close(word) || *word == Token::Sign('>'),
                    _ => false,
                };
                is_named.then_some(())?;
            }
        }
    }
    found
}

/// The command that is all in one text between these pieces.
fn commanded(
    text: Option<&Token>,
    before: Option<&Token>,
    after: Option<&Token>,
) -> Option<String> {
    let Some(Token::Text(text)) = text else { return None };
    let begins =
        matches!(before, None | Some(Token::End | Token::Sign('{' | '(' | '}' | '!' | '|')));
    let ends = matches!(after, None | Some(Token::End | Token::Sign('}' | ')' | '|')));
    (begins && ends && !text.contains('\\')).then(|| text.clone())
}

/// The files and commands that a program names; `None` if it may do more.
fn look(program: &str) -> Option<Seen> {
    let tokens = tokens(program)?;
    let (mut found, mut commands, mut has_names) = (Vec::new(), Vec::new(), false);
    let (mut is_print, mut depth) = (false, 0_usize);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Name(name) if name == "print" || name == "printf" => {
                (is_print, depth) = (true, 0);
            }
            Token::Name(name) if name == "system" => return None,
            // From a command.
            Token::Name(name)
                if name == "getline" && at > 0 && tokens.get(at - 1) == Some(&Token::Sign('|')) => {
            }
            // From a file that is named, or it reads whatever.
            Token::Name(name) if name == "getline" => {
                let rest = tokens.get(at + 1..).unwrap_or_default();
                let from =
                    rest.iter().position(|it| *it == Token::Sign('<')).filter(|at| *at < 2)?;
                let Some(Token::Text(path)) = rest.get(from + 1) else { return None };
                found.push((TouchKind::Read, Field::text(path)));
            }
            // What it is given to read, it may choose by itself.
            Token::Name(name) if name == "ARGV" => {
                let rest = tokens.get(at + 1..).unwrap_or_default();
                let path = chosen(rest)?;
                if !path.is_empty() {
                    found.push((TouchKind::Read, Field::text(&path)));
                }
            }
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth = depth.saturating_sub(1),
            Token::End | Token::Sign('{' | '}') => is_print = false,
            Token::Sign('@') => return None,
            Token::Sign('|') => {
                let near = |offset: usize| tokens.get(at + offset);
                let is_read = matches!(near(1), Some(Token::Name(it)) if it == "getline");
                let command = if is_read {
                    let before = at.checked_sub(2).and_then(|at| tokens.get(at));
                    commanded(tokens.get(at.checked_sub(1)?), before, Some(token))
                } else {
                    commanded(near(1).filter(|_| is_print), Some(token), near(2))
                };
                commands.push((command?, !is_read));
                is_print &= is_read;
            }
            Token::Sign('>') if is_print && depth == 0 => {
                let rest = tokens.get(at + 1..).unwrap_or_default();
                // `>>` appends.
                let rest = rest.strip_prefix(&[Token::Sign('>')]).unwrap_or(rest);
                let is_name = |it: &Token| matches!(it, Token::Name(_));
                has_names |= rest.iter().take(2).any(is_name);
                found.push((TouchKind::Write, printed_to(rest, &tokens)?));
                is_print = false;
            }
            Token::Name(_) | Token::Text(_) | Token::Other | Token::Sign(_) => {}
        }
    }
    Some(Seen { files: found, commands, has_names })
}

/// The file that an element of a list is set to; empty if it is set to none, and `None` if which one is not known.
fn chosen(after: &[Token]) -> Option<String> {
    let end = after.iter().position(|it| *it == Token::Sign(']'));
    let rest = end.and_then(|end| after.get(end + 1..)).unwrap_or_default();
    let is_set = rest.first() == Some(&Token::Sign('=')) && rest.get(1) != Some(&Token::Sign('='));
    match (is_set, rest.get(1), rest.get(2)) {
        (false, ..) => Some(String::new()),
        (true, Some(Token::Text(path)), None | Some(Token::End | Token::Sign('}'))) => {
            Some(path.clone())
        }
        (true, ..) => None,
    }
}

fn tokens(program: &str) -> Option<Vec<Token>> {
    let mut found: Vec<Token> = Vec::new();
    let mut letters = program.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' | ';' => found.push(Token::End),
            it if it.is_whitespace() => {}
            '#' => while letters.next_if(|it| *it != '\n').is_some() {},
            '"' => {
                let mut text = String::new();
                loop {
                    match letters.next()? {
                        '"' => break,
                        // What it stands for may be part of a path.
                        '\\' => {
                            text.push('\\');
                            text.push(letters.next()?);
                        }
                        other => text.push(other),
                    }
                }
                found.push(Token::Text(text));
            }
            '/' if begins_expression(found.last()) => {
                let mut in_brackets = false;
                loop {
                    match letters.next()? {
                        '/' if !in_brackets => break,
                        '\n' => return None,
                        '[' => in_brackets = true,
                        ']' => in_brackets = false,
                        '\\' => drop(letters.next()),
                        _ => {}
                    }
                }
                found.push(Token::Other);
            }
            // The two together are "or".
            '|' if letters.next_if_eq(&'|').is_some() => found.push(Token::Sign('o')),
            '>' if letters.next_if_eq(&'=').is_some() => found.push(Token::Sign('g')),
            it if it.is_ascii_digit() => {
                while letters.next_if(|it| it.is_ascii_alphanumeric() || *it == '.').is_some() {}
                found.push(Token::Other);
            }
            it if it.is_alphabetic() || it == '_' => {
                let mut name = it.to_string();
                while let Some(more) = letters.next_if(|it| it.is_alphanumeric() || *it == '_') {
                    name.push(more);
                }
                found.push(Token::Name(name));
            }
            other => found.push(Token::Sign(other)),
        }
    }
    Some(found)
}

/// True if a value is expected, so that a slash begins a regular expression.
fn begins_expression(before: Option<&Token>) -> bool {
    match before {
        None | Some(Token::End) => true,
        Some(Token::Sign(sign)) => !matches!(sign, ')' | ']' | '$'),
        Some(Token::Name(name)) => {
            ["print", "printf", "return", "in", "case"].contains(&name.as_str())
        }
        Some(Token::Text(_) | Token::Other) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_start_nothing_are_told_from_those_that_may() {
        for program in [
            "{print $1}",
            "NR==FNR{a[$1]=$2; next} ($1 in a) && $2 > a[$1]*1.1 {print $1, a[$1], $2}",
            "NR>1 {s[$3]+=$5} END {for (k in s) printf \"%s %.2f\\n\", k, s[k]/n[k]}",
            "$0 ~ /a|b|system/ || x {print (a > b)}",
            "{ print \"a | b\" } # | sh",
        ] {
            assert_eq!(look(program), Some(Seen::default()), "{program}");
        }
        for program in [
            "BEGIN{system(\"ls\")}",
            "{print | \"sh \" $1}",
            "{print |& \"sh\"}",
            "{x \"date\" | getline d}",
            "{x | getline d}",
            "{print > $1}",
            "{f = \"a/\" $1; f = $2; print > f}",
            "{f = \"a/\" $1; sub(/a/, $2, f); print > f}",
            "{print > \"a\" $1}",
            "{print > (\"./\" $1)}",
            "{print > (\"a/../\" $1)}",
            "{print > (\"a/\" \"b\")}",
            "{x = \"b\"; print > (\"a/\" x)}",
            "@include \"x\"",
            "{getline < x}",
            "{print \"a",
        ] {
            assert_eq!(look(program), None, "{program}");
        }
        for (program, text, is_fed) in [
            ("{print | \"sort -n\"}", "sort -n", true),
            ("{\"date\" | getline d}", "date", false),
            ("BEGIN{while ((\"date\" | getline d) > 0) print d}", "date", false),
        ] {
            let commands = look(program).map(|it| it.commands);
            assert_eq!(commands, Some(vec![(text.to_owned(), is_fed)]), "{program}");
        }
        let one = |kind, path: &str| {
            Some(Seen { files: vec![(kind, Field::text(path))], ..Seen::default() })
        };
        let by_data = look("{print > (\"out/\" $1 \".csv\")}");
        assert!(by_data.is_some());
        let by_name = look("{f = \"out/\" $1 \".csv\"; print >> f; close(f)}");
        assert_eq!(by_name.map(|it| it.files), by_data.map(|it| it.files));
        assert_eq!(look("{print > \"a/b\"}"), one(TouchKind::Write, "a/b"));
        assert_eq!(look("{printf \"x\" >> \"a\"; y}"), one(TouchKind::Write, "a"));
        assert_eq!(look("{while ((getline l < \"f\") > 0) n++}"), one(TouchKind::Read, "f"));
    }
}
