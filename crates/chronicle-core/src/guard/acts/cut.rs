//! Names that are made of what a pattern finds: `${f%.c}` of every `*.c`. The disk knows what it finds, so it knows what is made of it.

use super::value::{Field, Piece};
use super::{CommandFolder, CommandWord};
use crate::base::bash::tree::{Parameter, Part};

/// What is left of one of the names that a pattern finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cut {
    /// The pattern that found it, and where.
    glob: String,
    folder: CommandFolder,
    /// What is taken off, one after the other.
    cuts: Vec<NameCut>,
    /// What all that is left fits.
    pattern: String,
}

/// What is taken off a name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum NameCut {
    /// This text at the start, as by `${f#text}`.
    Start(String),
    /// This text at the end, as by `${f%text}`.
    Ending(String),
    /// All from there on, as by `${f%.*}`.
    FromLastDot,
    /// All from there on, as by `${f%%.*}`.
    FromFirstDot,
    /// The last name and its slash, as by `${f%/*}`.
    FromLastSlash,
    /// All but the last name, as by `${f##*/}`.
    ToLastSlash,
}

/// A path that is made of each name that a pattern finds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::guard) struct FoundName {
    /// The pattern, which begins where the path does.
    pub(in crate::guard) glob: String,
    parts: Vec<FoundPart>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum FoundPart {
    Text(String),
    Cut(Vec<NameCut>),
}

impl FoundName {
    /// The path that is made of one name, which is as the pattern finds it.
    pub(in crate::guard) fn of(&self, found: &str) -> String {
        let part = |part: &FoundPart| match part {
            FoundPart::Text(text) => text.clone(),
            FoundPart::Cut(cuts) => {
                cuts.iter().fold(found, |name, cut| cut.left_of(name)).to_owned()
            }
        };
        self.parts.iter().map(part).collect()
    }
}

impl NameCut {
    /// What an operator takes off; `None` if that is more than is known here.
    fn by(it: &Parameter) -> Option<Self> {
        let is_pattern = |part: &Part| {
            matches!(part, Part::Plain(_)) || it.is_double && matches!(part, Part::Quoted(_))
        };
        if it.operand.iter().all(is_pattern) {
            match (it.operator.as_str(), plain(&it.operand)?.as_str()) {
                ("%", ".*") => return Some(Self::FromLastDot),
                ("%%", ".*") => return Some(Self::FromFirstDot),
                ("%", "/*") => return Some(Self::FromLastSlash),
                ("##", "*/") => return Some(Self::ToLastSlash),
                _ => {}
            }
        }
        let text = plain(&it.operand).filter(|text| is_plain(text))?;
        match it.operator.as_str() {
            "%" | "%%" => Some(Self::Ending(text)),
            "#" | "##" => Some(Self::Start(text)),
            _ => None,
        }
    }

    fn left_of<'n>(&self, name: &'n str) -> &'n str {
        match self {
            Self::Start(start) => name.strip_prefix(start.as_str()).unwrap_or(name),
            Self::Ending(ending) => name.strip_suffix(ending.as_str()).unwrap_or(name),
            Self::FromLastDot => name.rsplit_once('.').map_or(name, |(left, _)| left),
            Self::FromFirstDot => name.split_once('.').map_or(name, |(left, _)| left),
            Self::FromLastSlash => name.rsplit_once('/').map_or(name, |(left, _)| left),
            Self::ToLastSlash => name.rsplit('/').next().unwrap_or(name),
        }
    }

    /// What is left of a pattern, so that all fits it that is left of what it finds; `None` if that cannot be said.
    fn left_of_pattern(&self, glob: &str) -> Option<String> {
        let (folder, last) = glob.rsplit_once('/').map_or((None, glob), |it| (Some(it.0), it.1));
        let beside = |name: &str| match folder {
            Some(folder) => format!("{folder}/{name}"),
            None => name.to_owned(),
        };
        match self {
            Self::Start(start) => glob.strip_prefix(start.as_str()).map(str::to_owned),
            Self::Ending(ending) if ending.contains('/') => None,
            Self::Ending(ending) => {
                let left = last.strip_suffix(ending.as_str()).filter(|left| !left.is_empty());
                Some(beside(left.unwrap_or("*")))
            }
            // The dot may be one of a folder.
            Self::FromLastDot => is_plain_ending(last).then(|| beside("*")),
            Self::FromFirstDot => {
                folder.is_none_or(|folder| !folder.contains('.')).then(|| beside("*"))
            }
            Self::FromLastSlash => Some(folder.filter(|it| !it.is_empty())?.to_owned()),
            Self::ToLastSlash => Some(last.to_owned()),
        }
    }
}

impl Cut {
    /// All of what a value finds that is a pattern, or what is left of it already.
    fn of(value: &Field, has_dotglob: bool) -> Option<Self> {
        if let [Piece::Cut(cut)] = value.pieces.as_slice() {
            return Some(cut.clone());
        }
        let Some([folder @ CommandFolder::Known(_)]) = value.found_in.as_deref() else {
            return None;
        };
        let CommandWord::Glob(glob) = value.to_word() else { return None };
        // The disk is not asked for all that these find, or says it in other words.
        let others = ["**", "(", "\\", "//", "/./"];
        if has_dotglob || others.iter().any(|it| glob.contains(it)) || glob.ends_with('/') {
            return None;
        }
        Some(Self { pattern: glob.clone(), glob, folder: folder.clone(), cuts: Vec::new() })
    }

    fn then(mut self, cut: NameCut) -> Option<Self> {
        self.pattern = cut.left_of_pattern(&self.pattern)?;
        self.cuts.push(cut);
        Some(self)
    }

    /// The pattern that all of it fits.
    pub(super) fn pattern(&self) -> &str {
        &self.pattern
    }

    pub(super) fn last_name(&self) -> Option<Self> {
        self.clone().then(NameCut::ToLastSlash)
    }

    pub(super) fn weight(&self) -> usize {
        self.glob.len() + self.pattern.len() + 16 * self.cuts.len()
    }
}

/// `${f%.c}` and its kin of a variable that runs over what a pattern finds.
pub(super) fn of_pattern(value: &Field, it: &Parameter, has_dotglob: bool) -> Option<Field> {
    let cut = Cut::of(value, has_dotglob)?.then(NameCut::by(it)?)?;
    Some(Field::of(Piece::Cut(cut)))
}

/// `basename "$f" .c` of such a variable.
pub(super) fn base_name(words: &[Field], has_dotglob: bool) -> Option<Field> {
    let (path, ending) = match words {
        [path] => (path, None),
        [path, ending] => (path, Some(ending.known().filter(|it| is_plain(it))?)),
        _ => return None,
    };
    let cut = Cut::of(path, has_dotglob)?.then(NameCut::ToLastSlash)?;
    let cut = match ending {
        Some(ending) => cut.then(NameCut::Ending(ending.to_owned()))?,
        None => cut,
    };
    Some(Field::of(Piece::Cut(cut)))
}

/// What a path is made of, if nothing else is needed to know it and its pattern was looked for in the same folder.
pub(super) fn made_of(path: &Field, folders: &[CommandFolder]) -> Option<FoundName> {
    let cuts = || path.pieces.iter().filter_map(cut_in);
    let first = cuts().next()?;
    let is_same = |cut: &Cut| cut.glob == first.glob && [cut.folder.clone()] == *folders;
    if !cuts().all(is_same) {
        return None;
    }
    let part = |piece: &Piece| {
        if let Piece::Text(text) = piece {
            return Some(FoundPart::Text(text.clone()));
        }
        cut_in(piece).map(|cut| FoundPart::Cut(cut.cuts.clone()))
    };
    let parts = path.pieces.iter().map(part).collect::<Option<Vec<_>>>()?;
    Some(FoundName { glob: first.glob.clone(), parts })
}

fn cut_in(piece: &Piece) -> Option<&Cut> {
    if let Piece::Cut(cut) = piece { Some(cut) } else { None }
}

/// The text of parts that are one.
fn plain(parts: &[Part]) -> Option<String> {
    let text = |part: &Part| match part {
        Part::Plain(text) | Part::Quoted(text) => Some(text.clone()),
        Part::Double(_)
        | Part::Parameter(_)
        | Part::Substitution(_)
        | Part::Arithmetic(_)
        | Part::Process(_)
        | Part::Pattern(_) => None,
    };
    parts.iter().map(text).collect()
}

/// True if a text means itself in a pattern.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && !text.contains(['*', '?', '[', ']', '(', '\\', '~'])
}

/// True if a name ends with a dot and letters, whatever stands before them.
fn is_plain_ending(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| is_plain(ending))
}
