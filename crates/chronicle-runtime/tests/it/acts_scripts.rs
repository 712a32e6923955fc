//! Makes random scripts of made-up commands, for tests that compare with a real shell.

use std::fmt::Write as _;

/// A small generator of numbers; the same seed gives the same scripts.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).map_or(0, |number| number % count)
    }

    pub(crate) fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len())]
    }
}

pub(crate) struct Scripts {
    dice: Dice,
    next: usize,
    /// Bodies of here-documents that wait for the end of the line.
    waiting: Vec<String>,
    /// Inside of a substitution, where bash loses a `;` after a here-document and loops may never end.
    is_inside: bool,
}

impl Scripts {
    pub(crate) fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed), next: 0, waiting: Vec::new(), is_inside: false }
    }

    /// A script whose commands hold others up to this depth.
    pub(crate) fn script(&mut self, depth: usize) -> String {
        let depth = 1 + self.dice.below(depth);
        let text = self.list(depth);
        self.ended(text)
    }

    /// The name of a command that no machine has, written in one of many ways.
    fn name(&mut self) -> String {
        self.next += 1;
        let number = self.next;
        match self.dice.below(14) {
            0 => format!("z\\q_{number}"),
            1 => format!("'zq'_{number}"),
            2 => format!("\"zq_\"{number}"),
            3 => format!("$'\\x7a'q_{number}"),
            4 => format!("$'\\172\\u0071'_{number}"),
            5 => format!("z\\\nq_{number}"),
            6 => format!("zq''_{number}"),
            7 => format!("z{{q_{number},{number}}}"),
            _ => format!("zq_{number}"),
        }
    }

    fn blank(&mut self) -> &'static str {
        self.dice.of(&[" ", " ", " ", "  ", "\t", " \\\n "])
    }

    fn word(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self
                .dice
                .of(&[
                    "a",
                    "'b c'",
                    "\"d\"",
                    "e\\ f",
                    "--g=h",
                    "*.none",
                    "~",
                    "{i,j}",
                    "1",
                    "a#b",
                    "''",
                    "$'\\n'",
                    "[k]",
                    "\"`\"'`'\"`\"",
                    "${u-}",
                    "$#",
                    "{",
                    "}",
                    "!",
                    "=",
                    "\"'\"",
                    "'\"'",
                    "\\'",
                    "\\\"",
                    "\"\\$(\"",
                    "'$('",
                ])
                .replace("\"`\"'`'\"`\"", "m")
                .clone();
        }
        let inside = depth - 1;
        match self.dice.below(20) {
            0 => format!("$({})", self.inside(inside)),
            1 => format!("\"$({})\"", self.inside(inside)),
            2 => format!("a\"b $({}) c\"d", self.inside(inside)),
            3 => format!("`{}`", backquotable(&self.inside(inside), false)),
            4 => format!("\"`{}`\"", backquotable(&self.inside(inside), true)),
            5 => format!("${{u:-{}}}", self.word(inside)),
            6 => format!("\"${{u:-$({})}}\"", self.inside(inside)),
            7 => format!("$((1 + $({}) 2))", self.plain_inside(inside)),
            8 => format!("<({})", self.inside(inside)),
            9 => format!("${{u+x}}{}", self.word(inside)),
            10 => format!("{{{},{}}}", self.word(0), self.word(inside)),
            11 => format!("${{u/{}/x}}", self.word(0)),
            12 => format!("\"a ' ${{u}} {} \"", self.dice.of(&["#", "\\\"", "\\`", "$", "'"])),
            13 => format!("$[1+$({})]", self.plain_inside(inside)),
            14 => format!("${{u[$({})]}}", self.plain_inside(inside)),
            _ => self.word(0),
        }
    }

    /// A list inside of brackets, with its own lines and here-documents.
    fn inside(&mut self, depth: usize) -> String {
        let outer = std::mem::take(&mut self.waiting);
        let before = std::mem::replace(&mut self.is_inside, true);
        let text = if self.dice.below(8) == 0 { self.with_document() } else { self.list(depth) };
        self.is_inside = before;
        let has_body = !self.waiting.is_empty();
        let mut text = self.ended(text);
        if has_body {
            text.push('\n');
        } else if self.dice.below(6) == 0 {
            text = format!("{text} # it's ) \" ` not\n");
        }
        self.waiting = outer;
        text
    }

    /// The same without quotes, for places where they would not be read.
    fn plain_inside(&mut self, depth: usize) -> String {
        let text = self.inside(depth);
        if text.contains(['"', '\'', '\\', '#']) { "zq_0 a".to_owned() } else { text }
    }

    /// With the bodies that wait; a text that ended in a body needs a line of its own.
    fn ended(&mut self, mut text: String) -> String {
        for body in std::mem::take(&mut self.waiting) {
            text.push('\n');
            text.push_str(&body);
        }
        text
    }

    fn newline(&mut self) -> String {
        let mut text = "\n".to_owned();
        for body in std::mem::take(&mut self.waiting) {
            text.push_str(&body);
            text.push('\n');
        }
        text
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut text = String::new();
        if self.dice.below(5) == 0 {
            write!(text, "v{}={} ", self.dice.below(3), self.word(depth.min(1)))
                .unwrap_or_default();
        }
        if self.dice.below(12) == 0 {
            text.push_str(">/dev/null ");
        }
        if self.dice.below(10) == 0 {
            let set = format!("w={}", self.name());
            return format!("{{ {set}; $w {}; }}", self.word(depth));
        }
        text.push_str(&self.name());
        for _ in 0..self.dice.below(4) {
            text.push_str(self.blank());
            text.push_str(&self.word(depth));
        }
        match self.dice.below(16) {
            3 | 4 if self.is_inside => {}
            0 => text.push_str(" 2>/dev/null"),
            1 => text.push_str(" >/dev/null 2>&1"),
            2 => write!(text, " <<<{}", self.word(depth)).unwrap_or_default(),
            3 => {
                let body = self.word(depth);
                let (mark, end) =
                    [("E1", "E1"), ("'E1'", "E1"), ("\"E 2\"", "E 2"), ("\\E3", "E3")]
                        [self.dice.below(4)];
                let body = if body.contains('\n') { "x".to_owned() } else { body };
                write!(text, " <<{mark}").unwrap_or_default();
                self.waiting.push(format!("it's \" {body} ) }} fi\n{end}"));
            }
            4 => {
                text.push_str(" <<-E4");
                self.waiting.push("\tline $(zq_0) \\\n\tE4".replace(" \\\n", "\n"));
            }
            5 => text.push_str(" 0<&-"),
            6 => text.push_str(" &>/dev/null"),
            _ => {}
        }
        text
    }

    fn with_document(&mut self) -> String {
        self.waiting.push("it's $(zq_0) ) \"\nE5".to_owned());
        format!("{} <<E5", self.name())
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.simple(0);
        }
        let inside = depth - 1;
        match self.dice.below(26) {
            0 => format!("({})", self.held(inside)),
            1 => format!("{{ {}; }}", self.held(inside)),
            2 => format!(
                "if {}; then {}; else {}; fi",
                self.held(inside),
                self.held(inside),
                self.held(inside)
            ),
            3 => format!("while {}; do {}; break; done", self.held(inside), self.held(inside)),
            4 => format!(
                "for x in {} {}; do {}; done",
                self.word(inside),
                self.word(0),
                self.held(inside)
            ),
            5 => format!(
                "case {} in {}) {};; (b|c) {};; *) {} ;; esac",
                self.word(inside),
                self.dice.of(&["a", "'b c'", "*", "[k]"]),
                self.held(inside),
                self.held(inside),
                self.held(inside)
            ),
            6 => {
                self.next += 1;
                let name = format!("f{}", self.next);
                format!("{name}() {{ {}; }}; {name} {}", self.held(inside), self.word(inside))
            }
            7 => format!(
                "[[ {} == {} ]] && {}",
                self.word(0).replace(['{', '}', '!', '#', '['], "x"),
                "a*",
                self.held(inside)
            ),
            8 => format!("((1 + 2)); {}", self.held(inside)),
            9 => format!("{} && {}", self.held(inside), self.held(inside)),
            10 => format!("{} || {}", self.held(inside), self.held(inside)),
            11 => format!("{} | {}", self.held_pipe(inside), self.held_pipe(inside)),
            12 => format!("! {}", self.held_pipe(inside)),
            13 => format!("eval {}", quoted(&self.inside(inside))),
            14 => {
                self.next += 1;
                let number = self.next;
                format!("function g{number} {{ {}\n}}\ng{number}", self.held(inside))
            }
            15 => {
                self.next += 1;
                let name = format!("i{}", self.next);
                format!("for (({name} = 0; {name} < 2; {name}++)); do {}; done", self.held(inside))
            }
            16 => format!("until {}; do {}; break; done", self.held(inside), self.held(inside)),
            17 => {
                format!("v=({} {}); {} \"${{v[@]}}\"", self.word(inside), self.word(0), self.name())
            }
            18 => format!(
                "if [[ -n {} && ( -z \"$u\" || x =~ ^(a|b)$ ) ]]; then {}; fi",
                self.dice.of(&["a", "$u", "\"$u\"", "'x y'"]),
                self.held(inside)
            ),
            19 => format!("trap {} EXIT", quoted(&self.inside(inside))),
            20 => format!("{} |& {}", self.held_pipe(inside), self.held_pipe(inside)),
            _ => self.simple(depth),
        }
    }

    /// A list on lines that may go on.
    fn held(&mut self, depth: usize) -> String {
        let text = self.list(depth);
        if self.waiting.is_empty() {
            return text;
        }
        // What follows `; ` needs a command of its own after the bodies.
        let line = self.newline();
        format!("{text}{line}{}", self.name())
    }

    fn held_pipe(&mut self, depth: usize) -> String {
        format!("{{ {}; }}", self.held(depth))
    }

    fn list(&mut self, depth: usize) -> String {
        let mut text = self.command(depth);
        for _ in 0..self.dice.below(3) {
            let separator = match self.dice.below(8) {
                0 => " && ".to_owned(),
                1 => " || ".to_owned(),
                2 => " ; ".to_owned(),
                3 => format!(" # a comment with ' and ( and `{}", self.newline()),
                4 => format!(
                    "{}{}",
                    self.newline(),
                    self.dice.of(&["", "\n", " ", "\t", "# more $( \n"])
                ),
                _ => self.newline(),
            };
            text.push_str(&separator);
            text.push_str(&self.command(depth));
        }
        text
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn backquotable(text: &str, is_double: bool) -> String {
    let text = text.replace('\\', "\\\\").replace('`', "\\`").replace('$', "\\$");
    if is_double { text.replace('"', "\\\"") } else { text }
}
