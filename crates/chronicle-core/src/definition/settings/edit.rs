//! Changes one setting in the text of a file. Comments, order and everything else stay as they are.
//!
//! A value that the file has is replaced where it stands. A new one goes below its commented-out line if there is one, else to the
//! end of its table. The result is read again before it is used: whoever calls this compares what it says with what it said.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::keys::{Form, KEYS, Key};
use super::quoted;

/// A setting and the names that lead to it in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// What is known about it.
    pub key: &'static Key,
    path: Vec<String>,
}

/// The setting of that full name, which may have points in its own part.
pub fn target(name: &str) -> Option<Target> {
    let key = KEYS.iter().find(|key| key.name == name || key.is_own(name))?;
    let names =
        |part: &str| part.split('.').filter(|it| !it.is_empty()).map(str::to_owned).collect();
    let path = match key.name.split_once('*') {
        None => names(name),
        Some((before, after)) => {
            let own = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after))?;
            [names(before), vec![own.to_owned()], names(after)].concat()
        }
    };
    Some(Target { key, path })
}

/// What a person typed, as a file would write it. What does not fit is written as a text: reading it says what was expected.
pub fn literal(form: Form, words: &[String]) -> String {
    let text = words.join(" ");
    let is_number = |text: &str| {
        !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit() || it == b'.' || it == b'_')
    };
    match form {
        Form::Flag if text == "true" || text == "false" => text,
        Form::Count | Form::Positive | Form::UpTo(_) | Form::Dollars if is_number(&text) => text,
        Form::Env if text.starts_with('{') => text,
        Form::Loop | Form::Price if is_number(&text) || text.starts_with('{') => text,
        Form::Texts
        | Form::Patterns
        | Form::Folders
        | Form::EnvNames
        | Form::OpenedPaths
        | Form::HiddenPaths
        | Form::Choices(_) => {
            let all: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            format!("[{}]", all.join(", "))
        }
        // What is not of its form is written as a text. Whoever reads the file again then tells what is wrong with it, as in any
        // file.
        Form::Text
        | Form::Address
        | Form::Flag
        | Form::Count
        | Form::Positive
        | Form::UpTo(_)
        | Form::Dollars
        | Form::Time
        | Form::TimeOrNone
        | Form::Env
        | Form::Loop
        | Form::Price
        | Form::Choice(_) => quoted(&text),
    }
}

/// The text with that setting set to a value, which is TOML.
pub fn set(text: &str, target: &Target, value: &str) -> String {
    if let Some((_, at)) = find(text, &target.path) {
        return format!("{}{value}{}", &text[..at.start], &text[at.end..]);
    }
    let (name, above) = match target.path.split_last() {
        Some((name, above)) => (written(name), above),
        None => return text.to_owned(),
    };
    let line = format!("{name} = {value}\n");
    let table: Vec<String> = above.iter().map(|name| written(name)).collect();
    match room(text, above, &name) {
        Some(at) => insert(text, at, &line),
        // The file writes that table as `table.name = …`, and a header would be a second one.
        None if find(text, above).is_some() => {
            let line = format!("{}.{line}", table.join("."));
            insert(text, room(text, &[], &line).unwrap_or(0), &line)
        }
        None => {
            let gap = match text {
                "" => "",
                text if text.ends_with('\n') => "\n",
                _ => "\n\n",
            };
            format!("{text}{gap}[{}]\n{line}", table.join("."))
        }
    }
}

fn insert(text: &str, at: usize, line: &str) -> String {
    // A last line without its end would be continued by the new one.
    let gap = if text[..at].is_empty() || text[..at].ends_with('\n') { "" } else { "\n" };
    format!("{}{gap}{line}{}", &text[..at], &text[at..])
}

/// The text without that setting; none if it does not say it.
pub fn unset(text: &str, target: &Target) -> Option<String> {
    let (key, value) = find(text, &target.path)?;
    // The whole line, with a comment behind the value: it was about this setting.
    let begin = text[..key.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[value.end..].find('\n').map_or(text.len(), |at| value.end + at + 1);
    Some(format!("{}{}", &text[..begin], &text[end..]))
}

/// Where the name and the value of a setting stand.
fn find(text: &str, path: &[String]) -> Option<(Range<usize>, Range<usize>)> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    // A mark of byte order is no TOML, but editors write it: positions are those in the file with it.
    let shift = text.len() - body.len();
    // Errors elsewhere in the file do not matter here. Whoever calls this reads the result again and refuses what is wrong.
    let (root, _) = DeTable::parse_recoverable(body);
    let (mut table, mut names) = (root.get_ref(), path.iter());
    loop {
        let name = names.next()?;
        let (key, value) = table.iter().find(|(key, _)| key.get_ref().as_ref() == name.as_str())?;
        if names.len() == 0 {
            let moved = |at: Range<usize>| at.start + shift..at.end + shift;
            return Some((moved(key.span()), moved(value.span())));
        }
        let DeValue::Table(inner) = value.get_ref() else { return None };
        table = inner;
    }
}

/// Where a new line of a table goes; none if the table has no header.
fn room(text: &str, table: &[String], name: &str) -> Option<usize> {
    let (mut is_in, mut end) = (table.is_empty(), 0);
    let (mut at, mut found) = (0, table.is_empty());
    for line in text.split_inclusive('\n') {
        at += line.len();
        let said = line.trim();
        if let Some(header) = header(said) {
            is_in = header == table;
            found |= is_in;
        }
        if !is_in {
            continue;
        }
        let example = said.strip_prefix('#').map(str::trim_start);
        let example = example.and_then(|said| said.strip_prefix(name)).map(str::trim_start);
        // Below its explanation: `init` writes every setting commented out, with what it means above it.
        if example.is_some_and(|rest| rest.starts_with('=')) {
            return Some(at);
        }
        if !said.is_empty() {
            end = at;
        }
    }
    found.then_some(end)
}

/// The names of a table's header.
fn header(line: &str) -> Option<Vec<String>> {
    let is_header = line.starts_with('[') && !line.starts_with("[[");
    // Parsed and not compared as text: a table may be named with quotes or with spaces around its name.
    let (root, errors) = DeTable::parse_recoverable(if is_header { line } else { return None });
    let mut names = Vec::new();
    let mut table = root.get_ref();
    while let Some((name, value)) = table.iter().next() {
        names.push(name.get_ref().to_string());
        let DeValue::Table(inner) = value.get_ref() else { break };
        table = inner;
    }
    errors.is_empty().then_some(names)
}

/// A name as a file writes it.
pub(super) fn written(name: &str) -> String {
    let is_bare = |it: u8| it.is_ascii_alphanumeric() || it == b'-' || it == b'_';
    if name.bytes().all(is_bare) { name.to_owned() } else { quoted(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# mine\nagent = 'pi' # for now\n\n[limits]\n# How often.\n# retries = 2\n\n[notify]\nbell = true\n";

    fn set_in(text: &str, name: &str, value: &str) -> String {
        set(text, &target(name).unwrap(), value)
    }

    #[test]
    fn a_value_is_replaced_where_it_stands() {
        let text = set_in(FILE, "agent", "\"claude\"");
        assert_eq!(text, FILE.replace("'pi'", "\"claude\""));
        assert_eq!(set_in("limits.retries = 1", "limits.retries", "3"), "limits.retries = 3");
        let dotted = "limits.retries = 1\n\n[notify]\nbell = true\n";
        let added = dotted.replace("= 1\n", "= 1\nlimits.nudges = 4\n");
        assert_eq!(set_in(dotted, "limits.nudges", "4"), added);
    }

    #[test]
    fn a_new_value_goes_below_its_example_or_to_the_end_of_its_table() {
        let text = set_in(FILE, "limits.retries", "3");
        assert_eq!(text, FILE.replace("# retries = 2\n", "# retries = 2\nretries = 3\n"));
        let text = set_in(FILE, "notify.command", "\"say\"");
        assert_eq!(text, format!("{FILE}command = \"say\"\n"));
        let text = set_in(FILE, "model", "\"m\"");
        assert_eq!(text, FILE.replace("# for now\n", "# for now\nmodel = \"m\"\n"));
        assert_eq!(set_in("", "limits.nudges", "1"), "[limits]\nnudges = 1\n");
        assert_eq!(set_in("", "agent", "\"pi\""), "agent = \"pi\"\n");
        assert_eq!(
            set_in("[limits]\nnudges = 1", "agent", "\"pi\""),
            "agent = \"pi\"\n[limits]\nnudges = 1"
        );
    }

    #[test]
    fn names_of_a_person_s_own_may_have_points() {
        let price = "{ input = 1, output = 2, cache_read = 0, cache_write = 0 }";
        let text = set_in("", "prices.gpt-5.1", price);
        assert_eq!(text, format!("[prices]\n\"gpt-5.1\" = {price}\n"));
        assert_eq!(unset(&text, &target("prices.gpt-5.1").unwrap()).unwrap(), "[prices]\n");
    }

    #[test]
    fn unsetting_a_value_removes_its_line() {
        let without = unset(FILE, &target("agent").unwrap()).unwrap();
        assert_eq!(without, FILE.replace("agent = 'pi' # for now\n", ""));
        assert_eq!(unset(FILE, &target("model").unwrap()), None);
        let many = "verify = [\n  'a',\n  'b',\n]\nagent = 'pi'\n";
        assert_eq!(unset(many, &target("verify").unwrap()).unwrap(), "agent = 'pi'\n");
    }
}
