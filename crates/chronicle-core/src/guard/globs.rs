//! Patterns of the shell: which names they stand for.

/// True if a pattern stands for a name: `*`, `?`, `[…]`, and a backslash before what means itself. Hidden names are found only by
/// what begins with a dot.
pub(super) fn stands_for(glob: &str, name: &str) -> bool {
    let is_hidden = name.starts_with('.') && !glob.trim_start_matches('\\').starts_with('.');
    !is_hidden && fits(glob, name)
}

/// True if a pattern stands for a text, whatever that is.
pub(super) fn fits(glob: &str, text: &str) -> bool {
    let parts = parts(glob);
    let letters: Vec<char> = text.chars().collect();
    let (mut at, mut here) = (0, 0);
    // Where to go on if what follows the last `*` does not fit.
    let mut again: Option<(usize, usize)> = None;
    while here < letters.len() {
        match parts.get(at) {
            Some(Part::Any) => {
                again = Some((at + 1, here));
                at += 1;
            }
            Some(part) if part.fits(letters[here]) => {
                at += 1;
                here += 1;
            }
            _ => {
                let Some((after, from)) = again else { return false };
                again = Some((after, from + 1));
                (at, here) = (after, from + 1);
            }
        }
    }
    parts[at..].iter().all(|part| matches!(part, Part::Any))
}

/// True if a pattern says enough of a name to mean it: it begins with a dot, or spells at least two letters.
pub(super) fn is_telling(glob: &str) -> bool {
    let spelled = parts(glob).iter().filter(|part| part.is_letter()).count();
    glob.starts_with('.') && spelled > 0 || spelled > 1
}

/// True if there is a pattern in a name.
pub(super) fn is_glob(name: &str) -> bool {
    name.contains(['*', '?', '[', '\\'])
}

/// True if nearly every name fits: there is a `*`, and beside it only what any letter fits, or a dot.
pub(super) fn is_everything(name: &str) -> bool {
    let parts = parts(name);
    parts.iter().any(|part| matches!(part, Part::Any)) && parts.iter().all(Part::is_wide)
}

/// A name with some letter in the place of each class.
pub(super) fn without_classes(glob: &str) -> String {
    let mut out = String::new();
    let mut rest = glob;
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        let slashes = before.len() - before.trim_end_matches('\\').len();
        match class(after).filter(|_| slashes % 2 == 0) {
            Some((Part::Class { letters, is_not: false }, left)) => {
                out.extend(letters.first().map(|(letter, _)| *letter));
                rest = left;
            }
            Some((_, left)) => {
                out.push('?');
                rest = left;
            }
            None => {
                out.push('[');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

enum Part {
    Letter(char),
    One,
    Any,
    Class { letters: Vec<(char, char)>, is_not: bool },
}

impl Part {
    fn fits(&self, letter: char) -> bool {
        match self {
            Self::Letter(own) => *own == letter,
            Self::One => true,
            Self::Any => false,
            Self::Class { letters, is_not } => {
                letters.iter().any(|(from, to)| (*from..=*to).contains(&letter)) != *is_not
            }
        }
    }

    fn is_wide(&self) -> bool {
        let is_long =
            |(from, to): &(char, char)| u32::from(*to).saturating_sub(u32::from(*from)) > 10;
        match self {
            Self::Letter(letter) => *letter == '.',
            Self::One | Self::Any => true,
            Self::Class { letters, is_not } => *is_not || letters.iter().any(is_long),
        }
    }

    fn is_letter(&self) -> bool {
        match self {
            Self::Letter(letter) => letter.is_alphanumeric(),
            Self::Class { letters, is_not } => !is_not && letters.len() == 1,
            Self::One | Self::Any => false,
        }
    }
}

fn parts(glob: &str) -> Vec<Part> {
    let mut found = Vec::new();
    let mut letters = glob.chars();
    while let Some(letter) = letters.next() {
        found.push(match letter {
            '*' => Part::Any,
            '?' => Part::One,
            '\\' => Part::Letter(letters.next().unwrap_or('\\')),
            '[' => match class(letters.as_str()) {
                Some((class, rest)) => {
                    letters = rest.chars();
                    class
                }
                None => Part::Letter('['),
            },
            other => Part::Letter(other),
        });
    }
    found
}

/// A class and what follows it; `None` if it has no end. One that is not just letters and ranges may be any letter.
fn class(text: &str) -> Option<(Part, &str)> {
    let letters: Vec<char> = text.chars().collect();
    let end = class_end(&letters)?;
    let rest = letters[..=end].iter().map(|letter| letter.len_utf8()).sum::<usize>();
    let rest = text.get(rest..).unwrap_or_default();
    let (is_not, inner) = match &letters[..end] {
        ['!' | '^', inner @ ..] => (true, inner),
        inner => (false, inner),
    };
    if inner.iter().any(|letter| ['[', '\\', ']'].contains(letter)) {
        return Some((Part::One, rest));
    }
    let mut letters = Vec::new();
    let mut at = 0;
    while let Some(letter) = inner.get(at) {
        if let (Some('-'), Some(to)) = (inner.get(at + 1), inner.get(at + 2)) {
            letters.push((*letter, *to));
            at += 3;
        } else {
            letters.push((*letter, *letter));
            at += 1;
        }
    }
    Some((Part::Class { letters, is_not }, rest))
}

/// Where a class ends, counted from behind its first bracket: `[a-z]`, `[]a]`, `[[:alpha:]_]`, `[\]a]`; `None` if it does not.
pub fn class_end(letters: &[char]) -> Option<usize> {
    let mut at = usize::from(matches!(letters.first(), Some('!' | '^')));
    // A bracket in the first place means itself.
    at += usize::from(letters.get(at) == Some(&']'));
    loop {
        match letters.get(at)? {
            ']' => return Some(at),
            '\\' => at += 2,
            '[' => at += named_class(&letters[at..]).unwrap_or(1),
            _ => at += 1,
        }
    }
}

/// The length of `[:alpha:]`, `[.a.]` or `[=a=]` within a class.
fn named_class(letters: &[char]) -> Option<usize> {
    let mark = letters.get(1).filter(|mark| ":.=".contains(**mark))?;
    let end = letters.get(2..)?.windows(2).position(|pair| pair == [*mark, ']'])?;
    Some(end + 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_names() {
        for (glob, name) in [
            (".[s]s?", ".ssh"),
            ("id_*", "id_rsa"),
            ("*_rsa", "id_rsa"),
            (".s*h", ".ssh"),
            ("[a-z]d_rsa", "id_rsa"),
            ("[!x]d_rsa", "id_rsa"),
            ("\\.ssh", ".ssh"),
            ("a\\*b", "a*b"),
            ("*", "a"),
            ("a*b*c", "axbxbc"),
            ("s[[:lower:]]crets", "secrets"),
            ("s[![:upper:]]crets", "secrets"),
            ("s[[.e.]]crets", "secrets"),
            ("s[[=e=]]crets", "secrets"),
            ("[\\]s]ecrets", "secrets"),
            ("[]s]ecrets", "secrets"),
            ("[[s]ecrets", "secrets"),
        ] {
            assert!(stands_for(glob, name), "{glob} {name}");
        }
        for (glob, name) in [
            ("*", ".ssh"),
            ("?ssh", ".ssh"),
            ("id_*", "xid_rsa"),
            ("a\\*b", "axb"),
            ("[!i]d_rsa", "id_rsa"),
            ("a*b", "abc"),
            ("", "a"),
            ("[[:lower:]]x", "secrets"),
        ] {
            assert!(!stands_for(glob, name), "{glob} {name}");
        }
        for (glob, is_it) in
            [("*", false), ("a*", false), (".*", false), (".e*", true), ("id*", true)]
        {
            assert_eq!(is_telling(glob), is_it, "{glob}");
        }
    }
}
