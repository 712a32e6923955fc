//! Reads the arguments of a program by a short description of its options.

use super::value::Field;

/// Arguments, told apart by what they are.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Options by their names without dashes, with their values.
    pub(super) options: Vec<(String, Option<Field>)>,
    pub(super) operands: Vec<Field>,
    /// An argument is not known and could be an option.
    pub(super) has_unknown: bool,
}

impl Read {
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| {
            // Long names may be cut short.
            names
                .iter()
                .any(|full| full == name || name.len() > 1 && full.starts_with(name.as_str()))
        })
    }

    /// Values of the options of these names.
    pub(super) fn values<'r>(&'r self, names: &'r [&str]) -> impl Iterator<Item = &'r Field> {
        self.options
            .iter()
            .filter(|(name, _)| names.contains(&name.as_str()))
            .filter_map(|(_, value)| value.as_ref())
    }
}

/// Options that take a value: one letter or a long name each, with what the value is after a colon. `-:abc` lists letters, and
/// `name:-` is a long name, that take none. A letter may take only what is glued to it, and less than all of that: `#` digits, `1` one
/// letter, `U` letters for streams, `*` the rest of the word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Valued(pub(super) &'static str);

impl Valued {
    /// What the value of an option is; `None` if it takes none. A long name may be cut short.
    pub(super) fn kind(self, name: &str) -> Option<&'static str> {
        let entries =
            self.0.split_whitespace().map(|entry| entry.split_once(':').unwrap_or((entry, "_")));
        if self.0.split_whitespace().any(|entry| entry.strip_suffix(":-") == Some(name)) {
            return None;
        }
        let mut cut = None;
        for (entry, kind) in entries.filter(|(entry, kind)| *entry != "-" && *kind != "-") {
            if entry == name {
                return Some(kind);
            }
            if name.len() > 1 && entry.len() > 1 && entry.starts_with(name) {
                cut = Some(kind);
            }
        }
        cut
    }

    /// Whether an option is listed as one that takes no value.
    pub(super) fn is_flag(self, name: &str) -> bool {
        self.0.split_whitespace().any(|entry| match entry.split_once(':') {
            Some(("-", letters)) => name.len() == 1 && letters.contains(name),
            Some((long, "-")) => name.len() > 1 && long.starts_with(name),
            _ => false,
        })
    }
}

/// Reads arguments as most programs do; `stops` at the first operand where the rest is another command.
pub(super) fn read(fields: &[Field], valued: Valued, stops: bool) -> (Read, usize) {
    let mut read = Read::default();
    let mut at = 0;
    while let Some(field) = fields.get(at) {
        let text = field.begins();
        if field.known() == Some("--") {
            at += 1;
            break;
        }
        if !field.is_known() && text.is_empty() {
            read.has_unknown = true;
        }
        if text.len() < 2 || !text.starts_with('-') {
            // A lone dash that is not known as a whole could become an option.
            read.has_unknown |= text == "-" && !field.is_known();
            if stops {
                return (read, at);
            }
            read.operands.push(field.clone());
            at += 1;
            continue;
        }
        at += 1;
        if let Some(long) = text.strip_prefix("--") {
            at += long_option(long, field, fields.get(at), valued, &mut read);
        } else {
            at += cluster(field, fields.get(at), valued, &mut read);
        }
    }
    if stops {
        return (read, at);
    }
    read.operands.extend(fields.get(at..).unwrap_or_default().iter().cloned());
    (read, fields.len())
}

/// One long option; how many more arguments it takes.
fn long_option(
    long: &str,
    field: &Field,
    next: Option<&Field>,
    valued: Valued,
    read: &mut Read,
) -> usize {
    if let Some((name, _)) = long.split_once('=') {
        read.options.push((whole_name(name, valued), Some(field.after(name.len() + 3))));
        return 0;
    }
    if !field.is_known() {
        read.has_unknown = true;
        read.options.push((long.to_owned(), Some(Field::unknown())));
        return 0;
    }
    if valued.kind(long).is_some() {
        read.options.push((whole_name(long, valued), Some(next.cloned().unwrap_or_default())));
        return 1;
    }
    read.options.push((long.to_owned(), None));
    0
}

/// The full name of an option that may be cut short.
fn whole_name(name: &str, valued: Valued) -> String {
    let names =
        || valued.0.split_whitespace().map(|entry| entry.split(':').next().unwrap_or(entry));
    if names().any(|entry| entry == name) || name.len() < 2 {
        return name.to_owned();
    }
    names().find(|entry| entry.len() > 1 && entry.starts_with(name)).unwrap_or(name).to_owned()
}

/// Letters after one dash; how many more arguments they take.
fn cluster(field: &Field, next: Option<&Field>, valued: Valued, read: &mut Read) -> usize {
    let text = field.begins();
    let mut from = 0;
    for (index, letter) in text.char_indices().skip(1) {
        if index < from {
            continue;
        }
        let name = letter.to_string();
        let Some(kind) = valued.kind(&name) else {
            read.options.push((name, None));
            continue;
        };
        let end = index + letter.len_utf8();
        if let Some(length) = glued(kind, text.get(end..).unwrap_or_default()) {
            read.options.push((name, None));
            from = end + length;
            continue;
        }
        if end < text.len() || !field.is_known() {
            read.options.push((name, Some(field.after(end))));
            return 0;
        }
        read.options.push((name, Some(next.cloned().unwrap_or_default())));
        return 1;
    }
    if !field.is_known() {
        read.has_unknown = true;
    }
    0
}

/// How much of what is glued to a letter belongs to it; `None` if a value of it may be the next word.
fn glued(kind: &str, rest: &str) -> Option<usize> {
    let while_in = |is_in: fn(char) -> bool| rest.find(|it| !is_in(it)).unwrap_or(rest.len());
    Some(match kind {
        "*" => rest.len(),
        "1" => rest.chars().next().map_or(0, char::len_utf8),
        "U" => while_in(|it| it.is_ascii_digit() || "IOEioADSLa".contains(it)),
        // `-W:name`, `-0xff`.
        "#" if rest.starts_with(':') => rest.len(),
        "#" if rest.starts_with('x') => {
            1 + rest[1..].find(|it: char| !it.is_ascii_hexdigit()).unwrap_or(rest.len() - 1)
        }
        "#" => while_in(|it| it.is_ascii_digit()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_take_only_what_is_glued_to_them() {
        let valued = Valued("e:c l:# 0:# C:U i:* F:*");
        for (word, letters, has_value) in [
            ("-lne", "lne", true),
            ("-0777pi", "0pi", false),
            ("-CSDpe", "Cpe", true),
            ("-pie", "pi", false),
            ("-F:", "F", false),
            ("-0xffe", "0", false),
        ] {
            let (found, _) = read(&[Field::text(word), Field::text("x")], valued, true);
            let names: String = found.options.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, letters, "{word}");
            let value = found.options.last().and_then(|(_, value)| value.clone());
            assert_eq!(value.is_some(), has_value, "{word}");
        }
    }
}
