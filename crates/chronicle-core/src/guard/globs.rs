//! Patterns of the shell: which names they stand for.

/// True if a pattern stands for a name: `*`, `?`, `[…]`, and a backslash before what means itself. Hidden names are found only by
/// what begins with a dot.
pub(super) fn stands_for(glob: &str, name: &str) -> bool {
    if name.starts_with('.') && !glob.trim_start_matches('\\').starts_with('.') {
        return false;
    }
    let parts = parts(glob);
    let letters: Vec<char> = name.chars().collect();
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

/// A class and what follows it; `None` if it has no end.
fn class(text: &str) -> Option<(Part, &str)> {
    let (is_not, text) = match text.strip_prefix(['!', '^']) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    // A bracket in the first place means itself.
    let end = text.char_indices().skip(1).find(|(_, letter)| *letter == ']')?.0;
    let inner: Vec<char> = text[..end].chars().collect();
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
    Some((Part::Class { letters, is_not }, text.get(end + 1..).unwrap_or_default()))
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
