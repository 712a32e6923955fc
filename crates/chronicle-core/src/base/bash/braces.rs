//! Brace expansion, done as bash does it: on the word as written, before anything else of it is expanded.

use super::tree::{Part, Word};

/// Most words that one word may become.
const WORDS_MAX: usize = 1024;
/// Most characters and other parts of a word that has braces.
const UNITS_MAX: usize = 2 * 1024;
const DEPTH_MAX: usize = 16;

/// A word becomes more words than are looked at, or letters that bash itself treats in odd ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMany;

/// An unquoted character, or something that braces cannot look into.
#[derive(Debug, Clone)]
enum Unit {
    Letter(char),
    Whole(Part),
}

type Units = Vec<Unit>;

/// The words that one word stands for; itself if it has no braces that mean something.
pub(crate) fn expanded(word: &Word) -> Result<Vec<Word>, TooMany> {
    let has_brace = |part: &Part| matches!(part, Part::Plain(text) if text.contains('{'));
    if !word.parts.iter().any(has_brace) {
        return Ok(vec![word.clone()]);
    }
    let mut units = Vec::new();
    for part in &word.parts {
        match part {
            Part::Plain(text) => units.extend(text.chars().map(Unit::Letter)),
            other @ (Part::Quoted(_)
            | Part::Double(_)
            | Part::Parameter(_)
            | Part::Substitution(_)
            | Part::Arithmetic(_)
            | Part::Process(_)
            | Part::Pattern(_)) => units.push(Unit::Whole(other.clone())),
        }
    }
    if units.len() > UNITS_MAX {
        return Err(TooMany);
    }
    let words = expand(&units, 0)?;
    Ok(words.into_iter().map(|units| Word { parts: parts_of(units), span: word.span }).collect())
}

fn parts_of(units: Units) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for unit in units {
        match (unit, parts.last_mut()) {
            (Unit::Letter(letter), Some(Part::Plain(text))) => text.push(letter),
            (Unit::Letter(letter), _) => parts.push(Part::Plain(letter.to_string())),
            (Unit::Whole(part), _) => parts.push(part),
        }
    }
    parts
}

fn letter(units: &[Unit], at: usize) -> Option<char> {
    match units.get(at) {
        Some(Unit::Letter(letter)) => Some(*letter),
        _ => None,
    }
}

fn slice(units: &[Unit], start: usize, end: usize) -> &[Unit] {
    units.get(start..end).unwrap_or_default()
}

fn expand(mut units: &[Unit], depth: usize) -> Result<Vec<Units>, TooMany> {
    if depth > DEPTH_MAX {
        return Err(TooMany);
    }
    let mut done: Vec<Units> = vec![Vec::new()];
    loop {
        let Some(open) = find(units, 0, '{') else {
            return crossed(done, &[units.to_vec()]);
        };
        done = crossed(done, &[slice(units, 0, open).to_vec()])?;
        let Some(close) = find(units, open + 1, '}') else {
            // One that nothing closes means itself, and what follows is looked at anew.
            done = crossed(done, &[slice(units, open, open + 1).to_vec()])?;
            units = slice(units, open + 1, units.len());
            continue;
        };
        let inside = slice(units, open + 1, close);
        let is_list = inside.iter().any(|unit| matches!(unit, Unit::Letter(',')));
        let words = if is_list {
            list(inside, depth)?
        } else {
            match sequence(inside)? {
                Some(words) => words,
                None => vec![slice(units, open, close + 1).to_vec()],
            }
        };
        done = crossed(done, &words)?;
        units = slice(units, close + 1, units.len());
        if units.is_empty() {
            return Ok(done);
        }
    }
}

/// Where the wanted letter stands outside of inner braces. A `}` counts only after a comma or two dots.
fn find(units: &[Unit], from: usize, wanted: char) -> Option<usize> {
    let mut level = 0_usize;
    let mut is_satisfied = wanted != '}';
    for at in from..units.len() {
        let Some(here) = letter(units, at) else { continue };
        if here == wanted && level == 0 && is_satisfied {
            // `{}` at the beginning of a word means itself.
            let is_bare = wanted == '{' && at == 0 && matches!(letter(units, 1), Some('}'));
            let is_alone = wanted == '{' && at == 0 && units.len() == 1;
            if is_bare || is_alone {
                continue;
            }
            return Some(at);
        }
        match here {
            '{' => level += 1,
            '}' if level > 0 => level -= 1,
            ',' if wanted == '}' && level == 0 => is_satisfied = true,
            '.' if wanted == '}' && level == 0 => {
                let is_range =
                    letter(units, at + 1) == Some('.') && letter(units, at + 2) != Some('}');
                is_satisfied = is_satisfied || is_range;
            }
            _ => {}
        }
    }
    None
}

fn list(inside: &[Unit], depth: usize) -> Result<Vec<Units>, TooMany> {
    let mut words = Vec::new();
    let mut start = 0;
    loop {
        let end = find(inside, start, ',').unwrap_or(inside.len());
        words.extend(expand(slice(inside, start, end), depth + 1)?);
        if words.len() > WORDS_MAX {
            return Err(TooMany);
        }
        if end >= inside.len() {
            return Ok(words);
        }
        start = end + 1;
    }
}

/// Every word of the first list before every one of the second.
fn crossed(before: Vec<Units>, after: &[Units]) -> Result<Vec<Units>, TooMany> {
    if let [only] = after
        && before.len() == 1
    {
        return Ok(before
            .into_iter()
            .map(|mut it| {
                it.extend(only.iter().cloned());
                it
            })
            .collect());
    }
    let total: usize = before.len().saturating_mul(after.len());
    let longest = after.iter().chain(&before).map(Vec::len).max().unwrap_or(0);
    if total > WORDS_MAX || total.saturating_mul(longest) > WORDS_MAX * 64 {
        return Err(TooMany);
    }
    let mut words = Vec::with_capacity(total);
    for first in &before {
        for second in after {
            words.push(first.iter().chain(second).cloned().collect());
        }
    }
    Ok(words)
}

/// `1..3`, `a..e` and `1..9..2`; `None` if it is none.
fn sequence(inside: &[Unit]) -> Result<Option<Vec<Units>>, TooMany> {
    let mut text = String::new();
    for unit in inside {
        let Unit::Letter(letter) = unit else { return Ok(None) };
        text.push(*letter);
    }
    let ends: Vec<&str> = text.split("..").collect();
    let (first, last, step) = match ends.as_slice() {
        [first, last] => (*first, *last, None),
        [first, last, step] => (*first, *last, Some(*step)),
        _ => return Ok(None),
    };
    let step = match step.map(str::parse::<i64>) {
        None => 1,
        Some(Ok(step)) => step,
        Some(Err(_)) => return Ok(None),
    };
    if let (Ok(from), Ok(to)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let is_padded = |text: &str| {
            let digits = text.trim_start_matches(['-', '+']);
            digits.len() > 1 && digits.starts_with('0')
        };
        let width =
            if is_padded(first) || is_padded(last) { first.len().max(last.len()) } else { 0 };
        let numbers = counted(from, to, step)?;
        return Ok(Some(numbers.into_iter().map(|number| padded(number, width)).collect()));
    }
    let single = |text: &str| {
        let mut letters = text.chars();
        letters.next().filter(|it| it.is_ascii_alphabetic() && letters.next().is_none())
    };
    let (Some(from), Some(to)) = (single(first), single(last)) else { return Ok(None) };
    // What lies between the two cases is no letter, and quotes itself.
    if from.is_ascii_lowercase() != to.is_ascii_lowercase() {
        return Err(TooMany);
    }
    let codes = counted(i64::from(u32::from(from)), i64::from(u32::from(to)), step)?;
    let letters = codes.into_iter().filter_map(|code| u8::try_from(code).ok());
    Ok(Some(letters.map(|code| vec![Unit::Letter(char::from(code))]).collect()))
}

fn padded(number: i64, width: usize) -> Units {
    format!("{number:0width$}").chars().map(Unit::Letter).collect()
}

fn counted(from: i64, to: i64, step: i64) -> Result<Vec<i64>, TooMany> {
    let step = step.checked_abs().ok_or(TooMany)?.max(1);
    let mut numbers = Vec::new();
    let mut at = from;
    loop {
        if (from <= to && at > to) || (from > to && at < to) {
            return Ok(numbers);
        }
        numbers.push(at);
        if numbers.len() > WORDS_MAX {
            return Err(TooMany);
        }
        let next = if from <= to { at.checked_add(step) } else { at.checked_sub(step) };
        let Some(next) = next else { return Ok(numbers) };
        at = next;
    }
}
