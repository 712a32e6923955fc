//! What a text of bash says, as a tree. Every word of it is kept: nothing is expanded here.

use std::cell::OnceCell;
use std::rc::Rc;

/// Bytes of the text: from `start` up to but not including `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ByteSpan {
    /// The first byte that belongs to it.
    pub start: usize,
    /// The first byte after it.
    pub end: usize,
}

/// A list of commands: a whole text, a body, or what stands in `$(…)`.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) items: Vec<Item>,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) first: Pipeline,
    pub(crate) rest: Vec<(Joint, Pipeline)>,
    /// Ended by `&`: runs in a shell of its own.
    pub(crate) is_background: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joint {
    And,
    Or,
}

#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) is_negated: bool,
    /// Empty only for a lone `time` or `!`.
    pub(crate) commands: Vec<Command>,
}

#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) what: What,
    pub(crate) redirections: Vec<Redirection>,
    pub(crate) span: ByteSpan,
}

#[derive(Debug)]
pub(crate) enum What {
    /// `lists` are the assignments `a=(…)` after a declaring word.
    Simple {
        sets: Vec<Assignment>,
        words: Vec<Word>,
        lists: Vec<Assignment>,
    },
    Group(Script),
    Subshell(Script),
    If {
        arms: Vec<(Script, Script)>,
        other: Option<Script>,
    },
    /// `while` and `until`: how often is not known either way.
    While {
        test: Script,
        body: Script,
    },
    /// `for` and `select`. Without words it goes over the positional parameters.
    For {
        name: String,
        words: Option<Vec<Word>>,
        is_select: bool,
        body: Script,
    },
    Count {
        parts: Vec<Part>,
        body: Script,
    },
    Case {
        subject: Word,
        arms: Vec<Arm>,
    },
    Function {
        name: String,
        body: Rc<Command>,
    },
    Test(Vec<Check>),
    Arithmetic(Vec<Part>),
    Coprocess {
        name: Option<String>,
        body: Box<Command>,
    },
}

#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) patterns: Vec<Word>,
    pub(crate) body: Script,
    /// Ended by `;&` or `;;&`: another arm may follow it.
    pub(crate) goes_on: bool,
}

/// One comparison in `[[ … ]]`; how they are joined changes nothing about what runs.
#[derive(Debug)]
pub(crate) struct Check {
    /// Such as `-f` or `==`; empty for a lone word.
    pub(crate) operator: String,
    pub(crate) words: Vec<Word>,
}

#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    /// What stands between the brackets of `a[…]=`.
    pub(crate) index: Option<Vec<Part>>,
    pub(crate) is_appended: bool,
    pub(crate) value: Assigned,
    pub(crate) span: ByteSpan,
}

#[derive(Debug)]
pub(crate) enum Assigned {
    Word(Word),
    List(Vec<Element>),
}

/// One member of `a=(…)`.
#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) index: Option<Vec<Part>>,
    pub(crate) word: Word,
}

#[derive(Debug)]
pub(crate) struct Redirection {
    /// As written, without a number or name in front: `>`, `<<`, `&>`.
    pub(crate) operator: &'static str,
    /// The number in front; `None` for the usual one, or where a variable is named.
    pub(crate) number: Option<u32>,
    /// The variable of `{name}>`.
    pub(crate) variable: Option<String>,
    pub(crate) target: Target,
    pub(crate) span: ByteSpan,
}

#[derive(Debug)]
pub(crate) enum Target {
    Word(Word),
    /// The body of a here-document; it stands further down in the text and is filled in once it was read.
    Document(Rc<OnceCell<Vec<Part>>>),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
    pub(crate) span: ByteSpan,
}

#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Not quoted: braces, patterns and a tilde in it mean something.
    Plain(String),
    /// Quoted or escaped: means itself.
    Quoted(String),
    /// Between double quotes, where expansions are made and not split.
    Double(Vec<Part>),
    Parameter(Rc<Parameter>),
    /// `$(…)`, or what stands between backquotes.
    Substitution(Rc<Script>),
    /// An expression: `$((…))` or `$[…]`.
    Arithmetic(Vec<Part>),
    /// Commands behind a path: `<(…)` or `>(…)`.
    Process(Rc<Script>),
    /// An extended pattern such as `@(a|b)`, whole.
    Pattern(String),
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// `${!name}`: the variable that it names, or the names that begin so.
    pub(crate) is_indirect: bool,
    pub(crate) is_length: bool,
    pub(crate) index: Option<Vec<Part>>,
    /// Such as `:-` or `%%`; empty if there is none.
    pub(crate) operator: String,
    pub(crate) operand: Vec<Part>,
    /// True between double quotes, where what is quoted in the operand is a pattern all the same.
    pub(crate) is_double: bool,
}

impl Word {
    /// The text of a word without quotes and expansions.
    pub(crate) fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Plain(text)] => Some(text),
            _ => None,
        }
    }
}
