//! Paths that code puts together of texts: `n + ".txt"`, `"{}.txt".format(n)`, `Path(n).with_suffix(".txt")`.
//!
//! What is put together how is not followed. Each text behind each other one may be a path, of which only those matter that a rule names.

/// Most texts that are tried with each other, and longest ones.
const TEXTS_MAX: usize = 14;
const TEXT_MAX: usize = 48;
/// Most texts beside each other that are one path.
const RUN_MAX: usize = 6;
/// Fewest letters of a path that is put together.
const PATH_MIN: usize = 4;

/// Signs by which texts are put together.
const JOINERS: [&str; 18] = [
    "+",
    "${",
    "{",
    "%",
    ".format(",
    "join(",
    "concat(",
    "with_suffix",
    "with_name",
    "with_stem",
    " . ",
    "#{",
    "with_extension",
    "<<",
    "..\"",
    "..'",
    "\"..",
    "'..",
];

/// The paths that code may put together.
pub(super) fn paths(code: &str, texts: &[String]) -> Vec<String> {
    if !JOINERS.iter().any(|it| code.contains(it)) {
        return Vec::new();
    }
    let mut parts: Vec<String> = Vec::new();
    for part in texts.iter().map(|it| without_holes(it)) {
        let is_plain = |it: char| it.is_alphanumeric() || "_-./~".contains(it);
        let is_part = part.len() > 1 && part.len() <= TEXT_MAX && part.chars().all(is_plain);
        if is_part && !parts.contains(&part) {
            parts.push(part);
        }
    }
    // Another ending takes the place of the one that is there.
    if code.contains("with_suffix") || code.contains("with_extension") {
        let stems = parts.iter().filter_map(|it| it.rsplit_once('.'));
        let stems = stems.flat_map(|(stem, _)| [stem.to_owned(), format!("{stem}.")]);
        let stems: Vec<String> = stems.filter(|it| it.len() > 1).collect();
        parts.splice(0..0, stems);
    }
    if parts.len() > TEXTS_MAX {
        parts.truncate(TEXTS_MAX);
    }
    let mut found: Vec<String> = Vec::new();
    let mut put = |path: String| {
        if path.len() >= PATH_MIN && !found.contains(&path) {
            found.push(path);
        }
    };
    for (at, first) in parts.iter().enumerate() {
        for second in parts.iter().filter(|it| *it != first) {
            put(format!("{first}{second}"));
        }
        for length in 3..=RUN_MAX {
            if let Some(run) = parts.get(at..at + length) {
                put(run.concat());
            }
        }
    }
    found
}

/// A text without what is filled in: `${n}.txt` and `{}.txt` and `%s.txt` are `.txt`.
fn without_holes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '%']) {
        let (before, after) = rest.split_at(at);
        out.push_str(before.strip_suffix(['$', '#']).unwrap_or(before));
        rest = match after.strip_prefix('{') {
            Some(inner) => inner.split_once('}').map_or("", |(_, after)| after),
            None => after.get(1..).unwrap_or_default().trim_start_matches(['s', 'd', 'r']),
        };
    }
    out.push_str(rest);
    out
}

/// True if code fills letters into a text by their numbers.
pub(super) fn spells_by_numbers(texts: &[String]) -> bool {
    let is_one = |text: &String| {
        let filled = text.split('{').skip(1);
        filled
            .into_iter()
            .any(|it| it.contains("chr(") && it.split('}').nth(1).is_some_and(|it| !it.is_empty()))
    };
    texts.iter().any(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_put_together() {
        for (code, texts) in [
            ("f+x", &["locked", ".txt"][..]),
            ("`${n}.txt`", &["locked", "${n}.txt"]),
            ("'{}.txt'.format('locked')", &["{}.txt", "locked"]),
            ("'%s.txt' % 'locked'", &["%s.txt", "locked"]),
            ("''.join(['lo','cked','.txt'])", &["lo", "cked", ".txt"]),
            ("n..\".txt\"", &["locked", ".txt"]),
            ("'locked' << '.txt'", &["locked", ".txt"]),
            ("Path('locked.rs').with_suffix('.txt')", &["locked.rs", ".txt"]),
            ("Path::new(\"locked.rs\").with_extension(\"txt\")", &["locked.rs", "txt"]),
        ] {
            let texts: Vec<String> = texts.iter().map(|it| (*it).to_owned()).collect();
            assert!(paths(code, &texts).contains(&"locked.txt".to_owned()), "{code}");
        }
        assert_eq!(paths("open('a', 'w')", &["locked".to_owned(), ".txt".to_owned()]), [""; 0]);
        assert!(spells_by_numbers(&["{chr(108)}ocked.txt".to_owned()]));
        assert!(!spells_by_numbers(&["a{chr(10)}".to_owned()]));
    }
}
