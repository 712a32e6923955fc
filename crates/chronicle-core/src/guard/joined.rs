//! Paths that code puts together of texts that are all there: `os.path.join("/etc", "shadow")`, `Path("/etc") / "shadow"`,
//! `d = "/etc"; open(f"{d}/shadow")`. They count as if they were written out.

use std::collections::BTreeMap;

/// Most texts of one path, most paths and most names with values of one program.
const RUN_MAX: usize = 12;
const PATHS_MAX: usize = 200;
const NAMES_MAX: usize = 64;
/// How far before a text the call is looked for that it stands in.
const CALL_MAX: usize = 300;

/// Functions that put names together with slashes, by the ends of their names.
const JOINERS: [&str; 14] = [
    "join",
    "Join",
    "joinpath",
    "resolve",
    "Path",
    "PosixPath",
    "PurePath",
    "PurePosixPath",
    "Paths.get",
    "Path.of",
    "catfile",
    "catdir",
    "File",
    "normalize",
];
/// What stands for the home, before the names in it.
const HOMES: [&str; 6] =
    ["Path.home()", "homedir()", "Dir.home", "UserHomeDir()", "home_dir()", "$HOME"];

/// A text in quotes and where it stands.
struct Literal<'c> {
    text: &'c str,
    start: usize,
    end: usize,
}

/// How two texts beside each other are put together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    Slash,
    Plain,
    /// The second one is filled into the first.
    Filled,
}

/// The paths that code makes of its texts.
pub(super) fn paths(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    put(code, &mut found);
    let spelled = with_values(code);
    if spelled != code {
        put(&spelled, &mut found);
        // A text that something was filled into may be a whole path.
        let all = literals(&spelled);
        let new = all.iter().map(|it| it.text).filter(|it| !code.contains(it));
        for text in new.take(PATHS_MAX) {
            if !found.iter().any(|it| it == text) {
                found.push(text.to_owned());
            }
        }
    }
    found
}

fn put(code: &str, found: &mut Vec<String>) {
    let all = literals(code);
    let mut at = 0;
    while at < all.len() && found.len() < PATHS_MAX {
        let separator = separator_of_list(code, &all, at);
        let first = at + usize::from(separator == Some(at));
        let Some(start) = all.get(first) else { break };
        let is_joined = separator.is_some() || is_in_join(&code[..start.start]);
        let mut run = String::from(start.text);
        let mut last = first;
        while let Some(next) = all.get(last + 1).filter(|_| last - first < RUN_MAX) {
            let Some(gap) = gap(&code[all[last].end..next.start], is_joined) else { break };
            match gap {
                // A whole path in the midst begins anew.
                Gap::Slash if next.text.starts_with('/') => next.text.clone_into(&mut run),
                Gap::Slash => run = format!("{}/{}", run.trim_end_matches('/'), next.text),
                Gap::Plain => run.push_str(next.text),
                Gap::Filled => run = filled(&run, next.text),
            }
            last += 1;
        }
        let before = code[..start.start].trim_end().trim_end_matches(['/', ',', '(', ' ']);
        let is_home = HOMES.iter().any(|it| before.ends_with(it));
        if is_home {
            run = format!("~/{run}");
        }
        if (last > first || is_home) && !found.contains(&run) {
            found.push(run);
        }
        at = last.max(at) + 1;
    }
}

/// Texts in quotes, in order. Code is not parsed, so that a quote within a comment may shift them.
fn literals(code: &str) -> Vec<Literal<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = code[at..].find(['"', '\'', '`']).map(|it| it + at) {
        let quote = code[open..].chars().next().unwrap_or('"');
        let start = open + 1;
        let Some(length) = code[start..].find(quote) else { break };
        let end = start + length;
        found.push(Literal { text: &code[start..end], start: open, end: end + 1 });
        at = end + 1;
    }
    found
}

/// How what stands between two texts puts them together; `None` if it does not.
fn gap(between: &str, is_joined: bool) -> Option<Gap> {
    let dense: String = between.chars().filter(|it| !it.is_whitespace()).collect();
    let ends = dense.trim_start_matches(')');
    match ends {
        "" if dense.is_empty() => Some(Gap::Plain),
        "+" | "+(" | "." | ".." | "<<" => Some(Gap::Plain),
        "%" | "%(" | ".format(" => Some(Gap::Filled),
        "," if is_joined => Some(Gap::Slash),
        "/" | "/(" | "/Path(" | ".joinpath(" | ".join(" | ".resolve(" | ".child(" => {
            Some(Gap::Slash)
        }
        _ => None,
    }
}

/// True if what stands before a text is the beginning of a call that puts names together.
fn is_in_join(before: &str) -> bool {
    let mut depth = 0_usize;
    for (at, letter) in before.char_indices().rev().take(CALL_MAX) {
        match letter {
            ')' | ']' => depth += 1,
            '(' if depth == 0 => {
                let name = before[..at].trim_end();
                // What is called for another name may be given to such a call itself.
                let is_inner = ["expanduser", "str", "String", "Path.home"];
                if is_inner.iter().any(|it| name.ends_with(it)) {
                    continue;
                }
                return JOINERS.iter().any(|it| name.ends_with(it));
            }
            '(' | '[' => depth = depth.saturating_sub(1),
            ';' => return false,
            _ => {}
        }
    }
    false
}

/// Where the sign stands that a list of texts is joined by, if that is a slash: before it, or behind it.
fn separator_of_list(code: &str, all: &[Literal<'_>], at: usize) -> Option<usize> {
    let first = all.get(at)?;
    let dense = |text: &str| -> String { text.chars().filter(|it| !it.is_whitespace()).collect() };
    if first.text == "/" {
        let next = all.get(at + 1)?;
        let between = dense(&code[first.end..next.start]);
        return [".join([", ".join(("].contains(&between.as_str()).then_some(at);
    }
    if !code[..first.start].trim_end().ends_with('[') {
        return None;
    }
    let mut last = at;
    while let Some(next) = all.get(last + 1)
        && dense(&code[all[last].end..next.start]) == ","
    {
        last += 1;
    }
    let sign = all.get(last + 1).filter(|it| it.text == "/")?;
    let between = dense(&code[all[last].end..sign.start]);
    (between == "].join(").then_some(last + 1)
}

/// A text with another one in the place of its first hole.
fn filled(text: &str, value: &str) -> String {
    for hole in ["%s", "{}", "{0}"] {
        if text.contains(hole) {
            return text.replacen(hole, value, 1);
        }
    }
    text.to_owned()
}

/// The code with the texts in the place of names that have one value each, and that is a text.
fn with_values(code: &str) -> String {
    let values = values(code);
    if values.is_empty() {
        return code.to_owned();
    }
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let is_start = is_letter(first);
        let end = rest.find(|it| is_letter(it) != is_start).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        let Some(value) = values.get(word).filter(|_| is_start && !out.ends_with('.')) else {
            out.push_str(word);
            continue;
        };
        // In a text it is filled in: `{name}`, `${name}`, `#{name}`.
        let hole = out.trim_end_matches('{');
        let is_filled = out.len() - hole.len() == 1 && rest.starts_with('}');
        if is_filled {
            let hole = hole.trim_end_matches(['$', '#']).len();
            out.truncate(hole);
            out.push_str(value);
            rest = &rest[1..];
        } else if rest.trim_start().starts_with('=') {
            out.push_str(word);
        } else {
            out.push('"');
            out.push_str(value);
            out.push('"');
        }
    }
    out
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

/// Names that are given a text, and nothing else.
fn values(code: &str) -> BTreeMap<&str, &str> {
    let mut found: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for (at, _) in code.match_indices('=') {
        let (before, after) = (code[..at].trim_end(), code[at + 1..].trim_start());
        if after.starts_with('=') || before.ends_with(['=', '!', '<', '>']) {
            continue;
        }
        let start = before
            .rfind(|it| !is_letter(it))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let name = &before[start..];
        let is_name = name.starts_with(|it: char| it.is_alphabetic() || "_$".contains(it));
        if !is_name || found.len() > NAMES_MAX {
            continue;
        }
        let quote = after.chars().next().filter(|it| ['"', '\'', '`'].contains(it));
        let text = quote.and_then(|quote| after.get(1..)?.split_once(quote));
        let value = text.and_then(|(text, rest)| {
            let rest = rest.trim_start_matches([' ', '\t']);
            let is_whole = rest.is_empty() || rest.starts_with([';', '\n', ',', ')', '}']);
            is_whole.then_some(text)
        });
        found.entry(name).and_modify(|it| *it = None).or_insert(value);
    }
    found.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_put_together_of_texts_that_are_there() {
        for code in [
            "open(os.path.join(\"/etc\", \"shadow\"))",
            "open(os.path.join(a, '/etc', 'shadow'))",
            "open('/et' + 'c/sha' 'dow')",
            "(Path('/etc') / 'shadow').read_text()",
            "Path('/etc').joinpath('shadow')",
            "Path('/etc', 'shadow')",
            "fs.readFileSync(path.join('/etc', 'shadow'))",
            "fs.readFileSync(path.resolve(`/etc`, `shadow`))",
            "fs.readFileSync(['/etc', 'shadow'].join('/'))",
            "open('/'.join(['/etc', 'shadow']))",
            "File.join('/etc', 'shadow')",
            "d = '/etc'; open(d + '/shadow')",
            "d = '/etc'\nopen(f'{d}/shadow')",
            "const d = '/etc'; read(`${d}/shadow`)",
            "d='/etc'; f='shadow'; open(os.path.join(d, f))",
            "open('%s/shadow' % '/etc')",
            "open('{}/shadow'.format('/etc'))",
            "Paths.get(\"/etc\", \"shadow\")",
            "filepath.Join(\"/etc\", \"shadow\")",
        ] {
            assert!(paths(code).contains(&"/etc/shadow".to_owned()), "{code}: {:?}", paths(code));
        }
        for code in [
            "os.path.join(os.path.expanduser('~'), '.ssh', 'x')",
            "(Path.home() / '.ssh' / 'x')",
            "path.join(os.homedir(), '.ssh', 'x')",
        ] {
            assert!(paths(code).contains(&"~/.ssh/x".to_owned()), "{code}: {:?}", paths(code));
        }
        for code in [
            "print('/etc', 'shadow')",
            "d = '/etc'; d = x; open(d + 'shadow')",
            "{'/etc': 'shadow'}",
        ] {
            assert_eq!(paths(code), [""; 0], "{code}");
        }
    }
}
