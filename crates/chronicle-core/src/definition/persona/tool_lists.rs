//! Finds what looks like a list of tools in a persona file and is not read as one.
//!
//! A persona without such a list may use every tool. A list that is overlooked would give a worker what its author denied, so
//! each is an error, in files of other programs too.

use std::ops::Range;

use super::lines::Line;
use crate::definition::workflow::closest;
use crate::definition::workflow::draft::{Field, Node, Span, Value};
use crate::definition::workflow::problem::{Finding, quoted};

/// The field that lists the allowed tools.
pub(super) const ALLOWED: [&str; 1] = ["tools"];
/// The field that lists the denied tools: Claude Code's name, and that of subagents of Pi.
pub(super) const DENIED: [&str; 2] = ["disallowedTools", "disallowed_tools"];

/// Words that with `tool` or `tools` make a name for a list of allowed tools.
const ALLOWING: [&str; 12] = [
    "",
    "allow",
    "allowed",
    "available",
    "enable",
    "enabled",
    "include",
    "included",
    "list",
    "only",
    "permitted",
    "use",
];
/// The same for denied tools.
const DENYING: [&str; 14] = [
    "block",
    "blocked",
    "denied",
    "deny",
    "disable",
    "disabled",
    "disallow",
    "disallowed",
    "exclude",
    "excluded",
    "forbid",
    "forbidden",
    "no",
    "not",
];
/// Words that name a list of tools by themselves: of other programs, and of Chronicle's workflows.
const ALLOW_LISTS: [&str; 5] = ["allow", "allowed", "allowlist", "whitelist", "builtintools"];
/// The same for denied tools.
const DENY_LISTS: [&str; 9] = [
    "deny",
    "denied",
    "denylist",
    "blacklist",
    "blocklist",
    "blocked",
    "disallow",
    "disallowed",
    "forbidden",
];
/// Fields of other programs whose values have maps of their own, with their own `tools`.
const NESTED: [&str; 4] = ["mcpServers", "hooks", "schema", "output"];

/// True if the field is read as a list of tools.
pub(super) fn is_tool_list(name: &str) -> bool {
    ALLOWED.contains(&name) || DENIED.contains(&name)
}

/// The list of tools that was meant by an unknown field, in any spelling or with a typo.
pub(super) fn meant_by(name: &str) -> Option<&'static str> {
    meant(name).or_else(|| closest(name, ALLOWED.into_iter().chain(DENIED)))
}

/// `read # only` is `read`, as in YAML.
pub(super) fn value_without_comment(value: &str) -> &str {
    value.split_once(" #").map_or(value, |(value, _)| value)
}

/// The frontmatter of a persona, as it was read.
pub(super) struct Frontmatter<'t> {
    pub text: &'t str,
    pub head: Range<usize>,
    pub fields: &'t [Field],
    /// False if it was read line by line.
    pub is_yaml: bool,
}

impl Frontmatter<'_> {
    /// Every list of tools that is not read, or not completely; `is_known` tells fields that mean something else.
    pub(super) fn overlooked(&self, is_known: impl Fn(&str) -> bool) -> Vec<Finding> {
        let lists = || self.fields.iter().filter(|field| is_tool_list(&field.name));
        let mut found: Vec<Finding> = lists().filter_map(misshapen).collect();
        for names in [&ALLOWED[..], &DENIED[..]] {
            let doubled = lists().filter(|field| names.contains(&field.name.as_str())).skip(1);
            found.extend(doubled.map(|field| {
                let message = format!("{} is said twice", quoted(&field.name));
                Finding::error("duplicate-key", field.at, message).hint("write one list")
            }));
        }
        let others = self.fields.iter().filter(|field| !is_tool_list(&field.name));
        for field in others.filter(|field| !is_known(&field.name)) {
            if let Some(meant) = meant_by(&field.name) {
                found.push(unread(&field.name, meant, field.at));
            }
        }
        let merged = self.fields.iter().filter(|field| field.name == "<<");
        found.extend(merged.map(|field| {
            let message = "`<<` is not read: what it brings may be a list of tools";
            Finding::error("unread-tools", field.at, message).hint("write the fields themselves")
        }));
        found.extend(self.lines());
        found
    }

    /// Lines that no field begins on.
    fn lines(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut owner: Option<Line<'_>> = None;
        for line in Line::all(self.text, self.head.clone()).filter(|line| !line.is_empty()) {
            let key = key(line.text);
            if key.is_some() && !line.is_indented() && !line.text.starts_with('-') {
                owner = Some(line);
            } else if let Some(field) = owner.and_then(|owner| self.cut_short(owner, line)) {
                found.push(cut_short(field, line));
                continue;
            }
            // In YAML, a line that begins without a key belongs to a text.
            let word = line.text.split(char::is_whitespace).next();
            let word = word.filter(|_| !self.is_yaml && !line.is_indented());
            let Some((name, meant)) =
                [key, word].into_iter().flatten().find_map(|name| Some((name, meant(name)?)))
            else {
                continue;
            };
            let is_text =
                line.is_indented() && owner.is_some_and(|owner| self.has_text(owner, line));
            if self.field_on(line).is_none() && !is_text {
                found.push(unread(name, meant, line.span));
            }
        }
        found
    }

    fn field_on(&self, line: Line<'_>) -> Option<&Field> {
        let bytes = line.span.start..line.span.end;
        self.fields.iter().find(|field| bytes.contains(&field.at.start))
    }

    /// The list of tools above a line that should belong to it and was not read: the line reader takes items alone.
    fn cut_short(&self, owner: Line<'_>, line: Line<'_>) -> Option<&Field> {
        let field = self.field_on(owner).filter(|field| is_tool_list(&field.name))?;
        let is_read =
            self.is_yaml || line.item().is_some() && matches!(field.value.value, Value::List(_));
        (!is_read).then_some(field)
    }

    /// True if an indented line below this one is part of a text, or of another program's map.
    fn has_text(&self, owner: Line<'_>, line: Line<'_>) -> bool {
        let Some((name, value)) = owner.text.split_once(':') else { return false };
        let value = value.trim_start();
        let is_quoted = self.is_yaml && value.starts_with(['"', '\'']);
        let reaches = |field: &Field| field.value.span.end >= line.span.end;
        NESTED.contains(&name.trim())
            || value.starts_with(['|', '>'])
            || is_quoted && self.field_on(owner).is_some_and(reaches)
    }
}

/// A list of tools in a file without frontmatter: in its first lines, or between its first two lines `---`.
pub(super) fn misplaced(text: &str) -> Option<Finding> {
    let lines = || Line::all(text, 0..text.len());
    let is_rule = |line: &Line<'_>| ["---", "+++"].contains(&line.text.trim());
    let begin = lines().skip_while(|line| line.text.is_empty());
    // The lines end in `\r\n` or `\n`: an empty one may be the second half of an end.
    let first =
        begin.take_while(|line| !line.text.is_empty() || text[..line.span.start].ends_with('\r'));
    let fenced =
        lines().skip_while(|line| !is_rule(line)).skip(1).take_while(|line| !is_rule(line));
    let mut heads = first.chain(fenced).filter(|line| !line.is_indented());
    let (name, line) = heads.find_map(|line| {
        let name = key(line.text)?;
        meant(name).map(|_| (name, line))
    })?;
    let message = format!("{} is not read: the file does not begin with `---`", quoted(name));
    let hint = "begin the file with a line `---`, then the fields, then another line `---`";
    Some(Finding::error("unread-tools", line.span, message).hint(hint))
}

/// A list of tools at the beginning of the text below the frontmatter: in its first lines, or in a second pair of lines `---`.
pub(super) fn below(text: &str, body: Range<usize>) -> Option<Finding> {
    let mut lines = Line::all(text, body).filter(|line| !line.text.is_empty()).peekable();
    let is_fenced = lines.peek().is_some_and(|line| line.text.trim() == "---");
    let found = if is_fenced {
        let mut inner = lines.skip(1).take_while(|line| line.text.trim() != "---");
        inner.find(|line| key(line.text).is_some_and(|name| meant(name).is_some()))
    } else {
        // In prose, `Tools: …` may begin a sentence. Only the very name of a field counts.
        lines.next().filter(|line| key(line.text).is_some_and(is_tool_list) && !line.is_indented())
    }?;
    let message = "a list of tools below the fields is not read";
    let hint = "move the line up, between the two lines `---`";
    Some(Finding::error("unread-tools", found.span, message).hint(hint))
}

/// What stands before the first `:` or `=` of a line, without quotes.
fn key(line: &str) -> Option<&str> {
    let line = line.trim_start().trim_start_matches(['-', '?']);
    let (key, _) = line.split_once([':', '=', '：'])?;
    Some(key.trim().trim_matches(['"', '\'', '`', '*']))
}

/// The field that was meant by a name for a list of tools, in any spelling.
fn meant(name: &str) -> Option<&'static str> {
    let letters: String =
        name.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    if ALLOW_LISTS.contains(&letters.as_str()) {
        return Some(ALLOWED[0]);
    }
    if DENY_LISTS.contains(&letters.as_str()) {
        return Some(DENIED[0]);
    }
    let ends = ["tools", "tool"];
    let rests = ends.iter().flat_map(|end| [letters.strip_suffix(end), letters.strip_prefix(end)]);
    rests.flatten().find_map(|rest| match rest {
        rest if ALLOWING.contains(&rest) => Some(ALLOWED[0]),
        rest if DENYING.contains(&rest) => Some(DENIED[0]),
        _ => None,
    })
}

fn unread(name: &str, meant: &str, at: Span) -> Finding {
    let message = format!("{} looks like a list of tools and is not read as one", quoted(name));
    let finding = Finding::error("unread-tools", at, message);
    if name == meant {
        finding.hint(format!("begin a line with `{meant}:`, without blanks before it"))
    } else {
        finding.did_you_mean(Some(meant))
    }
}

fn cut_short(field: &Field, line: Line<'_>) -> Finding {
    let message = format!("this line of {} is not read", quoted(&field.name));
    let hint = "write all names on one line, separated by commas";
    Finding::error("unread-tools", line.span, message).hint(hint)
}

/// A list that is a map, or has something other than names in it.
fn misshapen(field: &Field) -> Option<Finding> {
    let is_empty = match &field.value.value {
        Value::Null => true,
        Value::Scalar(text) => text.trim().is_empty(),
        Value::List(_) | Value::Map(_) => false,
    };
    if is_empty && ALLOWED.contains(&field.name.as_str()) {
        // No tool, or every tool: nobody can tell which was meant.
        let message = format!("{} is empty", quoted(&field.name));
        let hint = "name the tools, write `tools: []` for none, or remove the line to allow all";
        return Some(Finding::error("unread-tools", field.at, message).hint(hint));
    }
    let is_name = |node: &Node| matches!(node.value, Value::Scalar(_));
    let is_good = match &field.value.value {
        Value::Null | Value::Scalar(_) => true,
        Value::List(items) => items.iter().all(is_name),
        Value::Map(_) => false,
    };
    let message = format!("{} must be a list of names", quoted(&field.name));
    let hint =
        "write `tools: read, grep` for what is allowed, `disallowedTools: bash` for what is denied";
    (!is_good).then(|| Finding::error("wrong-type", field.value.span, message).hint(hint))
}
