//! Whatever the text: nothing panics, and the work is bounded. Steps are counted, not seconds.

use chronicle_core::guard::acts::{Acts, DoubtKind, ShellSetting, acts_counted};

use crate::acts_corpus::corpus;

/// More than the walker may count before it stops, with what one command may add at its end.
const STEPS_MAX: usize = 60_000;

/// A small generator of numbers; the same seed gives the same texts.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % count
    }
}

/// What means something to a shell, and a little that does not.
const PIECES: &[&str] = &[
    "$(",
    "${",
    "$((",
    "((",
    "`",
    "'",
    "\"",
    "\\",
    "\n",
    ";",
    "&",
    "|",
    "<",
    ">",
    "<<E",
    "<<-E",
    "<<<",
    "E\n",
    "(",
    ")",
    "{",
    "}",
    "[[",
    "]]",
    "case",
    "in",
    "esac",
    "if",
    "then",
    "fi",
    "for",
    "do",
    "done",
    "while",
    "a",
    "=",
    "+=",
    "x",
    "[",
    "]",
    "$",
    "#",
    "!",
    "*",
    "?(",
    "@(",
    "..",
    ",",
    "1",
    "$'",
    "$\"",
    "eval ",
    "\t",
    " ",
    " ",
    "é",
    "\u{a0}",
    "\r",
    "&&",
    "||",
    ";;",
    "<(",
    ">(",
    "function ",
    "time ",
    "coproc ",
    "-c",
    "bash ",
    "%",
    "/",
    ":",
    "-",
    "@",
    "~",
];

fn bounded(text: &str) -> Acts {
    let (acts, steps) = acts_counted(
        text,
        ShellSetting {
            folder: Some("/project"),
            home: Some("/home/me"),
            project: Some("/project"),
        },
    );
    assert!(steps < STEPS_MAX, "{steps} steps for {:?}", text.chars().take(80).collect::<String>());
    for span in acts.runs.iter().map(|it| it.span).chain(acts.touches.iter().map(|it| it.span)) {
        assert!(span.start <= span.end && span.end <= text.len(), "{span:?} of {text:?}");
    }
    acts
}

#[test]
fn any_bytes_are_read_or_refused() {
    let mut dice = Dice(7);
    for _ in 0..20_000 {
        let length = dice.below(60);
        let bytes: Vec<u8> = (0..length).map(|_| u8::try_from(dice.below(256)).unwrap()).collect();
        bounded(&String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn any_mixture_of_what_means_something_is_read_or_refused() {
    let mut dice = Dice(11);
    for _ in 0..40_000 {
        let count = dice.below(24);
        let text: String = (0..count).map(|_| PIECES[dice.below(PIECES.len())]).collect();
        bounded(&text);
    }
}

#[test]
fn every_beginning_of_a_command_is_read_or_refused() {
    let mut count = 0;
    for (text, _) in corpus() {
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            bounded(&text[..end]);
            count += 1;
        }
    }
    assert!(count > 5_000, "{count} beginnings");
}

fn is_refused(text: &str) -> bool {
    let acts = bounded(text);
    acts.unknown.iter().any(|doubt| matches!(doubt.kind, DoubtKind::Unread | DoubtKind::TooLarge))
}

#[test]
fn deep_nesting_is_refused_soon() {
    for (open, middle, close) in [
        ("$(", "a", ")"),
        ("(", "a", ")"),
        ("((a", "", "))"),
        ("$((", "1", "))"),
        ("{ ", "a", ";}"),
        ("if a; then ", "b", "; fi"),
        ("\"$(a ", "", ")\""),
        ("${a:-", "", "}"),
        ("`a ", "", "`"),
        ("case a in b) ", "c", ";; esac"),
        ("<(", "a", ")"),
        ("[[ ( ", "a", " ) ]]"),
        ("a[", "1", "]=2"),
        ("for a in b; do ", "c", "; done"),
        ("! ", "a", ""),
        ("f() { ", "a", "; }"),
        ("coproc ", "a", ""),
        ("while a; do ", "b", "; done"),
    ] {
        for count in [1, 5, 30, 100, 3_000] {
            let text = format!("{}{middle}{}", open.repeat(count), close.repeat(count));
            // Negations are no levels, nor are the brackets of one index or expression, and backquotes pair up.
            let is_flat = matches!(open, "! " | "a[" | "(" | "((a" | "`a ");
            assert!(is_flat || count < 60 || is_refused(&text), "{count} times {open}");
            bounded(&open.repeat(count));
        }
    }
}

#[test]
fn the_work_does_not_explode() {
    let doubling =
        (0..30).fold(String::new(), |text, n| format!("{text}f{n}() {{ f{0}; f{0}; }}; ", n + 1));
    let loops: String = "for a in 1 2 3 4 5 6 7 8; do ".repeat(8) + "b" + &"; done".repeat(8);
    let whiles: String = "while a; do x=$x$x; ".repeat(12) + "b" + &"; done".repeat(12);
    let braces = format!("a {}", "{1,2,3,4}".repeat(30));
    let long_range = "a {1..1000000}".to_owned();
    let appended: String = "x=aaaaaaaaaa; ".to_owned() + &"x=$x$x$x$x; ".repeat(40) + "b $x";
    let evals = "eval ".repeat(100) + "a";
    let quoted = (0..12).fold("a".to_owned(), |text, _| format!("eval {text:?}"));
    for text in [
        doubling + "f0",
        loops,
        whiles,
        braces,
        long_range,
        appended,
        evals,
        quoted,
        ":(){ :|:& };:".to_owned(),
    ] {
        bounded(&text);
    }
    let long = "a; ".repeat(40_000);
    assert!(is_refused(&long));
    assert!(is_refused(&"a".repeat(200_000)));
    // What is known costs something at every command.
    let known: Vec<String> = (0..9_000).map(|at| format!("x{at}=1&&")).collect();
    assert!(is_refused(&(known.concat() + "a")));
    bounded(&"{".repeat(100_000));
    bounded(&"((a".repeat(30_000));
    bounded(&"a b ".repeat(30_000));
    bounded(&"\\\n".repeat(60_000));
}
