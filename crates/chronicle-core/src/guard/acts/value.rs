//! Words and the values of variables, as far as they are known.

use super::cut::Cut;
use super::{CommandFolder, CommandWord, Sieve};

/// Most bytes of a value that is put together of others.
const WEIGHT_MAX: usize = 16 * 1024;

/// A stretch of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    /// A pattern that names of files fit.
    Glob(String),
    /// Digits, whatever they are.
    Number,
    /// Comes from outside of the text, which cannot have chosen it: the environment, arguments.
    Given,
    /// Anything at all, chosen by the text or what it reads.
    Unknown,
    /// One of the files that another program found, or several.
    Listed(Listing),
    /// The folder for files that are needed for a while, if the environment names one.
    Temp,
    /// One word that a program makes up by itself: no option, and nothing that the text chose.
    Name,
    /// Letters of one name, whoever chose them: there is no slash among them.
    Part,
    /// A line of a file that was there before: whoever shows what it names does no more than a script of the project could.
    Line,
    /// What a program reads from files that were there before: not known, and nothing that the text chose.
    Read,
    /// What is left of one of the names that a pattern finds.
    Cut(Cut),
}

/// Files that a program found below places that it was given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Listing {
    pub(super) roots: Vec<String>,
    /// Paths and patterns that they were picked by.
    pub(super) picked: Vec<Field>,
    /// Only some of them were looked for, by their names or what is in them.
    pub(super) is_picky: bool,
    /// The names that were looked for, as patterns.
    pub(super) names: Vec<String>,
    /// What of all that lies there was looked for; `None` if that is not known.
    pub(super) sieve: Option<Sieve>,
    /// True if they were read to find them.
    pub(super) is_read: bool,
}

/// A word or a value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Field {
    pub(super) pieces: Vec<Piece>,
    /// Written without quotes or expansions, so that an alias may be meant.
    pub(super) is_bare: bool,
    /// Where its pattern was looked for, if it is one and that is certain.
    pub(super) found_in: Option<Vec<CommandFolder>>,
}

impl Field {
    pub(super) fn text(text: &str) -> Self {
        let mut field = Self::default();
        field.push_text(text);
        field
    }

    pub(super) fn of(piece: Piece) -> Self {
        Self { pieces: vec![piece], ..Self::default() }
    }

    pub(super) fn unknown() -> Self {
        Self::of(Piece::Unknown)
    }

    pub(super) fn push_text(&mut self, more: &str) {
        if more.is_empty() {
            return;
        }
        self.found_in = None;
        if let Some(Piece::Text(text)) = self.pieces.last_mut() {
            text.push_str(more);
        } else {
            self.pieces.push(Piece::Text(more.to_owned()));
        }
    }

    pub(super) fn push(&mut self, piece: Piece) {
        self.found_in = None;
        match piece {
            Piece::Text(text) => self.push_text(&text),
            other @ (Piece::Glob(_)
            | Piece::Number
            | Piece::Given
            | Piece::Unknown
            | Piece::Listed(_)
            | Piece::Temp
            | Piece::Name
            | Piece::Part
            | Piece::Line
            | Piece::Read
            | Piece::Cut(_)) => {
                self.pieces.push(other);
            }
        }
    }

    pub(super) fn extend(&mut self, other: &Field) {
        // Values that double each other would outgrow any memory.
        if self.weight() + other.weight() > WEIGHT_MAX {
            (self.pieces, self.found_in) = (vec![Piece::Unknown], None);
            return;
        }
        let is_first = self.pieces.is_empty();
        for piece in &other.pieces {
            self.push(piece.clone());
        }
        if is_first {
            self.found_in.clone_from(&other.found_in);
        }
    }

    fn weight(&self) -> usize {
        let weigh = |piece: &Piece| match piece {
            Piece::Text(text) | Piece::Glob(text) => 16 + text.len(),
            Piece::Listed(listing) => {
                let picked: usize = listing.picked.iter().map(Self::weight).sum();
                16 + picked + listing.roots.iter().map(String::len).sum::<usize>()
            }
            Piece::Cut(cut) => 16 + cut.weight(),
            Piece::Number
            | Piece::Given
            | Piece::Unknown
            | Piece::Temp
            | Piece::Name
            | Piece::Part
            | Piece::Line
            | Piece::Read => 16,
        };
        self.pieces.iter().map(weigh).sum()
    }

    /// The whole text, if it is known.
    pub(super) fn known(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    pub(super) fn is_known(&self) -> bool {
        self.known().is_some()
    }

    /// The files that it stands for, if another program found them; a text behind their names leads to others beside them.
    pub(super) fn listing(&self) -> Option<&Listing> {
        let (first, rest) = self.pieces.split_first()?;
        let is_beside = |piece: &Piece| match piece {
            Piece::Text(text) => !text.contains('/') && !text.contains(char::is_whitespace),
            Piece::Number => true,
            Piece::Glob(_)
            | Piece::Given
            | Piece::Unknown
            | Piece::Listed(_)
            | Piece::Temp
            | Piece::Name
            | Piece::Part
            | Piece::Line
            | Piece::Read
            | Piece::Cut(_) => false,
        };
        let Piece::Listed(listing) = first else { return None };
        rest.iter().all(is_beside).then_some(listing)
    }

    /// Leaves out what is not known between two letters, where it only hides that they belong together.
    pub(super) fn close_gaps(&mut self) {
        let is_gap = |at: usize| {
            let near = |at: Option<usize>| match at.and_then(|at| self.pieces.get(at)) {
                Some(Piece::Text(text)) => text.as_str(),
                _ => "",
            };
            let is_open = matches!(
                self.pieces.get(at),
                Some(Piece::Unknown | Piece::Given | Piece::Part | Piece::Line | Piece::Read)
            );
            is_open
                && near(at.checked_sub(1)).ends_with(char::is_alphanumeric)
                && near(Some(at + 1)).starts_with(char::is_alphanumeric)
        };
        let gaps: Vec<bool> = (0..self.pieces.len()).map(is_gap).collect();
        if !gaps.contains(&true) {
            return;
        }
        let pieces = std::mem::take(&mut self.pieces);
        for (piece, _) in pieces.into_iter().zip(gaps).filter(|(_, is_gap)| !is_gap) {
            self.push(piece);
        }
    }

    /// Whether it is certain to be a number.
    pub(super) fn is_number(&self) -> bool {
        !self.pieces.is_empty()
            && self.pieces.iter().all(|piece| match piece {
                Piece::Text(text) => text.bytes().all(|byte| byte.is_ascii_digit()),
                Piece::Number => true,
                Piece::Glob(_)
                | Piece::Given
                | Piece::Unknown
                | Piece::Listed(_)
                | Piece::Temp
                | Piece::Name
                | Piece::Part
                | Piece::Line
                | Piece::Read
                | Piece::Cut(_) => false,
            })
    }

    /// What it certainly begins with.
    pub(super) fn begins(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            // No option and no path, but not empty either.
            Some(Piece::Number | Piece::Listed(_) | Piece::Temp | Piece::Name) => "0",
            _ => "",
        }
    }

    /// Without the first `count` bytes, which are known.
    pub(super) fn after(&self, count: usize) -> Field {
        let mut field = self.clone();
        if let Some(Piece::Text(text)) = field.pieces.first_mut() {
            *text = text.get(count..).unwrap_or_default().to_owned();
            if text.is_empty() {
                field.pieces.remove(0);
            }
        }
        (field.is_bare, field.found_in) = (false, None);
        field
    }

    pub(super) fn to_word(&self) -> CommandWord {
        if let Some(text) = self.known() {
            return CommandWord::Known(text.to_owned());
        }
        let mut pattern = String::new();
        let mut pieces = self.pieces.as_slice();
        // Without the variable it would be a place below the root, so that it must have a name to be known by.
        if let [Piece::Temp, rest @ ..] = pieces
            && let Some(Piece::Text(text)) = rest.first()
            && text.starts_with('/')
            && text.contains(char::is_alphanumeric)
        {
            pattern.push_str(super::output::TEMP);
            pieces = rest;
            if let [Piece::Text(text)] = rest {
                return CommandWord::Known(format!("{pattern}{text}"));
            }
        }
        for piece in pieces {
            match piece {
                Piece::Text(text) => push_escaped(&mut pattern, text),
                Piece::Glob(glob) => pattern.push_str(glob),
                Piece::Cut(cut) => pattern.push_str(cut.pattern()),
                Piece::Number
                | Piece::Given
                | Piece::Unknown
                | Piece::Listed(_)
                | Piece::Temp
                | Piece::Name
                | Piece::Part
                | Piece::Line
                | Piece::Read => {
                    return self.unknown_word();
                }
            }
        }
        CommandWord::Glob(pattern)
    }

    /// A word of which only the beginning is known.
    pub(super) fn unknown_word(&self) -> CommandWord {
        let is_name = matches!(self.pieces.first(), Some(Piece::Name | Piece::Listed(_)));
        CommandWord::Unknown { begins: self.begins().to_owned(), is_name }
    }
}

/// Adds a text to a pattern, in which it means itself.
pub(super) fn push_escaped(pattern: &mut String, text: &str) {
    for letter in text.chars() {
        if "*?[]\\".contains(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
}

/// One word of a line of words, quoted only where needed.
fn shown(field: &Field) -> String {
    match field.to_word() {
        CommandWord::Known(text) => quoted(&text),
        CommandWord::Glob(pattern) => pattern,
        CommandWord::Unknown { .. } => "…".to_owned(),
    }
}

pub(super) fn line(fields: &[Field]) -> String {
    fields.iter().map(shown).collect::<Vec<_>>().join(" ")
}

fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,^".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// What a variable holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    One(Field),
    /// A list with the indices 0, 1 and so on.
    List(Vec<Field>),
    Unset,
}

impl Value {
    pub(super) fn unknown() -> Self {
        Self::One(Field::unknown())
    }

    /// True for a value that takes little memory.
    pub(super) fn is_short(&self) -> bool {
        match self {
            Self::One(field) => field.weight() < 512,
            Self::List(fields) => fields.is_empty(),
            Self::Unset => true,
        }
    }
}
