//! Parses one settings file: values with their lines, and problems with theirs.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::keys::{Form, KEYS, Key, Whose};
use super::{Layer, Value};
use crate::base::limits::{Limits, LoopCount, LoopLimit, LoopProgress};
use crate::definition::environment::{is_impossible, is_ours};
use crate::definition::prices;
use crate::definition::walls::{unfit_to_hide, unfit_to_open};
use crate::definition::workflow::{Finding, Problems, Span, closest, decimal, duration_ms, quoted};

/// Largest file that is read.
pub(super) const SETTINGS_MAX: usize = 256 * 1024;

/// A setting: its full name, its value, its line.
type FoundSetting = (String, Value, usize);

/// Parses the text into values and reports problems.
pub(super) fn read(
    index: usize,
    layer: Layer,
    text: &str,
    problems: &mut Problems,
) -> Vec<FoundSetting> {
    let mut reading =
        SettingsReader { index, layer, text, problems, found: Vec::new(), broken: Vec::new() };
    if text.len() > SETTINGS_MAX {
        let message = format!("a file of settings may have {SETTINGS_MAX} bytes");
        reading.tell("too-large", 0..1, message, None);
        return Vec::new();
    }
    // A byte order mark is a matter of editors.
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    // All errors at once, and what can still be read is read: a file with one wrong line should not hide what else is wrong.
    let (table, errors) = DeTable::parse_recoverable(body);
    let shift = text.len() - body.len();
    for error in errors {
        let at = error.span().unwrap_or(0..1);
        reading.broken.push(at.start + shift);
        let message = error.message().lines().next().unwrap_or("not TOML").to_owned();
        reading.tell("not-toml", at.start + shift..at.end + shift, message, None);
    }
    reading.walk(table.get_ref(), &mut Vec::new(), shift);
    reading.found
}

struct SettingsReader<'t, 'p> {
    index: usize,
    layer: Layer,
    text: &'t str,
    problems: &'p mut Problems,
    found: Vec<FoundSetting>,
    /// Where the text is not valid TOML, so that guesses about those parts are not reported again.
    broken: Vec<usize>,
}

impl SettingsReader<'_, '_> {
    fn walk(&mut self, table: &DeTable<'_>, path: &mut Vec<String>, shift: usize) {
        for (name, value) in table {
            let at = moved(name.span(), shift);
            path.push(name.get_ref().to_string());
            let names: Vec<&str> = path.iter().map(String::as_str).collect();
            // A name of the user's own may be anything but empty, which no command could name again.
            let known = KEYS.iter().find(|key| key.is_at(&names) && !names.contains(&""));
            let below = KEYS.iter().any(|key| key.is_under(&names));
            match (known, value.get_ref()) {
                (Some(key), said) => self.take(key, &names, at, said, moved(value.span(), shift)),
                // Only below a known name. So this goes no deeper than the table of settings, however deep the file is nested.
                (None, DeValue::Table(inner)) if below => self.walk(inner, path, shift),
                (None, said) if below => {
                    let message =
                        format!("{} must be a table, not {}", code(&names), described(said));
                    let hint = format!("write `[{}]` on a line of its own", names.join("."));
                    self.tell("wrong-type", moved(value.span(), shift), message, Some(hint));
                }
                (None, _) => self.tell_unknown(&names, at),
            }
            path.pop();
        }
    }

    fn take(
        &mut self,
        key: &Key,
        names: &[&str],
        at: Range<usize>,
        said: &DeValue<'_>,
        value_at: Range<usize>,
    ) {
        // Such settings concern the person's money, safety or machine. A cloned project must not be able to set them.
        let is_users = match key.whose {
            Whose::Both => false,
            Whose::User => true,
            Whose::UsersFalse => said.as_bool() == Some(false),
        };
        if is_users && self.layer == Layer::Project {
            let value = if key.whose == Whose::User { "" } else { " = false" };
            let name = quoted(&format!("{}{value}", names.join(".")));
            let message = format!("only the user's own settings may say {name}");
            let hint = "move it to the file that `chronicle config path` names as the user's";
            self.tell("only-the-users", at, message, Some(hint.to_owned()));
            return;
        }
        match value_of(key.form, said) {
            Ok(value) => {
                let line = self.text[..at.start.min(self.text.len())].matches('\n').count() + 1;
                self.found.push((names.join("."), value, line));
            }
            // The parser has told it already.
            Err(_) if self.broken.contains(&value_at.start) => {}
            Err(WrongValue { expected, hint }) => {
                let message =
                    format!("{} must be {expected}, not {}", code(names), described(said));
                self.tell("wrong-type", value_at, message, hint);
            }
        }
    }

    fn tell_unknown(&mut self, names: &[&str], at: Range<usize>) {
        let (last, above) = names.split_last().unwrap_or((&"", &[]));
        let siblings = KEYS.iter().filter_map(|key| key.name_below(above));
        let sibling = closest(last, siblings).map(|name| [above, &[name]].concat().join("."));
        // One level too high or too low is as common as a slip of the finger.
        let elsewhere = || {
            KEYS.iter()
                .find(|key| key.name.rsplit('.').next() == Some(last))
                .map(|key| key.name.to_owned())
        };
        let meant = sibling.or_else(elsewhere);
        let hint = meant.map(|meant| format!("did you mean {}?", quoted(&meant)));
        let all = || Some("`chronicle config` lists the settings".to_owned());
        self.tell(
            "unknown-setting",
            at,
            format!("there is no setting {}", code(names)),
            hint.or_else(all),
        );
    }

    fn tell(
        &mut self,
        kind: &'static str,
        at: Range<usize>,
        message: String,
        hint: Option<String>,
    ) {
        // At least one byte: an empty span at the start of a file stands for the file as a whole.
        let span = Span { source: self.index, start: at.start, end: at.end.max(at.start + 1) };
        let finding = Finding::error(kind, span, message);
        self.problems.push(match hint {
            Some(hint) => finding.hint(hint),
            None => finding,
        });
    }
}

fn moved(at: Range<usize>, shift: usize) -> Range<usize> {
    at.start + shift..at.end + shift
}

fn code(names: &[&str]) -> String {
    quoted(&names.join("."))
}

/// What was expected instead, and the likely intended word or what is wrong with a part of it.
struct WrongValue {
    expected: String,
    hint: Option<String>,
}

fn value_of(form: Form, said: &DeValue<'_>) -> Result<Value, WrongValue> {
    let found = match form {
        Form::Text => text(said).map(Value::Text),
        Form::Address => text(said).filter(|text| is_address(text)).map(Value::Text),
        Form::Flag => said.as_bool().map(Value::Flag),
        Form::Count => number(said).map(Value::Number).filter(|_| fits(said)),
        Form::Positive => number(said).filter(|number| *number > 0).map(Value::Number),
        Form::Dollars => dollars(said).filter(|micros| *micros > 0).map(Value::Micros),
        Form::Time => time(said).map(|ms| Value::Time(Some(ms))),
        Form::TimeOrNone if said.as_str() == Some("none") => Some(Value::Time(None)),
        Form::TimeOrNone => time(said).map(|ms| Value::Time(Some(ms))),
        Form::Texts => texts(said).map(Value::Texts),
        // Compiled when it is read: a pattern that fails only when it is needed would hide nothing until then.
        Form::Patterns => texts(said)
            .filter(|all| all.iter().all(|it| regex::Regex::new(it).is_ok()))
            .map(Value::Texts),
        // Only whole paths: a relative one would trust another folder, depending on where the command was typed.
        Form::Folders => {
            texts(said).filter(|all| all.iter().all(|it| it.starts_with('/'))).map(Value::Texts)
        }
        Form::EnvNames => {
            texts(said).filter(|all| all.iter().all(|it| may_name(it))).map(Value::Texts)
        }
        Form::Env => variables(said).map(Value::Variables),
        Form::OpenedPaths => fit(said, |path| unfit_to_open(path).is_none()),
        Form::HiddenPaths => fit(said, |path| unfit_to_hide(path).is_none()),
        Form::Choices(words) => fit(said, |word| words.contains(&word)),
        Form::UpTo(most) => {
            number(said).filter(|number| (1..=most).contains(number)).map(Value::Number)
        }
        Form::Loop => loops(said).map(Value::Loop),
        Form::Price => prices::read(said, &[]).map(Value::Price),
        Form::Choice(words) => {
            text(said).filter(|said| words.contains(&said.as_str())).map(Value::Text)
        }
    };
    found.ok_or_else(|| wrong(form, said))
}

fn wrong(form: Form, said: &DeValue<'_>) -> WrongValue {
    let expected = match form {
        Form::Text => "a text that says something",
        Form::Address => "an address that begins with `http://` or `https://`, without spaces",
        Form::Flag => "`true` or `false`",
        Form::Count => "a whole number",
        Form::Positive => "a whole number above 0",
        Form::Dollars => "an amount of dollars above 0, like `2.50`",
        Form::Time => "a time like `\"90s\"`, `\"10m\"` or `\"1h\"`",
        Form::TimeOrNone => "a time like `\"90s\"`, `\"10m\"` or `\"1h\"`, or `\"none\"`",
        Form::Texts => "a list of texts that say something",
        Form::Patterns => "a list of regular expressions, without look-around",
        Form::Folders => "a list of folders that begin with `/`",
        Form::EnvNames => "a list of names of environment variables, none of them Chronicle's own",
        Form::Env => {
            "variables with texts, like `{ RUST_LOG = \"debug\" }`, none of them Chronicle's own"
        }
        Form::OpenedPaths => return unfit(said, "open", unfit_to_open),
        Form::HiddenPaths => return unfit(said, "hide", unfit_to_hide),
        Form::UpTo(most) => {
            let expected = format!("a whole number from 1 to {most}");
            return WrongValue { expected, hint: None };
        }
        Form::Choices(words) => {
            let all: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            let said = texts(said).unwrap_or_default();
            let unknown = said.iter().find(|said| !words.contains(&said.as_str()));
            let hint = unknown.map(|unknown| match closest(unknown, words.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("{} is none of them", quoted(unknown)),
            });
            return WrongValue { expected: format!("a list of some of {}", all.join(", ")), hint };
        }
        Form::Loop => "a whole number above 0 or `{ count = \"edge\", max = 3 }`",
        Form::Price => {
            "prices like `{ input = 3, output = 15, cache_read = 0.3, cache_write = 3.75 }`"
        }
        Form::Choice(words) => {
            let all: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            let meant = closest(said.as_str().unwrap_or_default(), words.iter().copied());
            let hint = meant.map(|meant| format!("did you mean `{meant}`?"));
            return WrongValue { expected: format!("one of {}", all.join(", ")), hint };
        }
    };
    WrongValue { expected: expected.to_owned(), hint: None }
}

fn text(said: &DeValue<'_>) -> Option<String> {
    // No program can be given a zero byte, neither in an argument nor in its environment.
    let text = said.as_str().filter(|text| !text.trim().is_empty() && !text.contains('\0'))?;
    Some(text.to_owned())
}

fn is_address(text: &str) -> bool {
    let host = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    // The address is written into curl's configuration, where a line end in it would begin another option.
    let is_plain = !text.chars().any(|it| it.is_whitespace() || it.is_control());
    is_plain && host.is_some_and(|host| !host.is_empty() && !host.starts_with('/'))
}

fn texts(said: &DeValue<'_>) -> Option<Vec<String>> {
    match said.as_array() {
        Some(items) => items.iter().map(|item| text(item.get_ref())).collect(),
        // One text is a list of one, as in workflows.
        None => text(said).map(|only| vec![only]),
    }
}

/// Texts that are all fit.
fn fit(said: &DeValue<'_>, is_fit: impl Fn(&str) -> bool) -> Option<Value> {
    texts(said).filter(|all| all.iter().all(|it| is_fit(it))).map(Value::Texts)
}

/// What is wrong with the first path that a wall cannot open or hide.
fn unfit(said: &DeValue<'_>, act: &str, judge: fn(&str) -> Option<String>) -> WrongValue {
    let expected = format!("a list of paths that a wall can {act}");
    let hint = texts(said).and_then(|all| all.iter().find_map(|path| judge(path)));
    WrongValue { expected, hint }
}

/// Whether a file may name a variable, or variables by a pattern.
fn may_name(name: &str) -> bool {
    !is_impossible(name) && !is_ours(name)
}

fn variables(said: &DeValue<'_>) -> Option<BTreeMap<String, String>> {
    let DeValue::Table(table) = said else { return None };
    let pair = |(name, value): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| {
        let value = value.get_ref().as_str().filter(|value| !value.contains('\0'))?;
        let name = name.get_ref().as_ref();
        may_name(name).then(|| (name.to_owned(), value.to_owned()))
    };
    table.iter().map(pair).collect()
}

fn number(said: &DeValue<'_>) -> Option<u64> {
    let integer = said.as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// True if a number fits into 32 bits, in which counts are kept.
fn fits(said: &DeValue<'_>) -> bool {
    number(said).is_some_and(|number| u32::try_from(number).is_ok())
}

/// Parses dollars into millionths; `None` if it is no positive amount.
pub(crate) fn dollars(said: &DeValue<'_>) -> Option<u64> {
    match said.as_float() {
        // From its digits and not from the number: 0.1 has no exact binary form.
        Some(float) => decimal(float.as_str(), 6),
        None => number(said)?.checked_mul(1_000_000),
    }
}

fn time(said: &DeValue<'_>) -> Option<u64> {
    let plain = number(said).map(|seconds| seconds.to_string());
    duration_ms(plain.as_deref().or_else(|| said.as_str())?).filter(|ms| *ms > 0)
}

fn loops(said: &DeValue<'_>) -> Option<LoopLimit> {
    let default = Limits::default().loops;
    let max = |said: &DeValue<'_>| number(said).filter(|max| *max > 0)?.try_into().ok();
    let DeValue::Table(table) = said else {
        return Some(LoopLimit { max: max(said)?, ..default });
    };
    let (mut limit, mut progress, mut by_issues) = (default, None::<LoopProgress>, false);
    for (name, value) in table {
        match (name.get_ref().as_ref(), value.get_ref()) {
            ("max", value) => limit.max = max(value)?,
            ("count", value) if value.as_str() == Some("pair") => limit.count = LoopCount::Pair,
            ("count", value) if value.as_str() == Some("edge") => limit.count = LoopCount::Edge,
            ("policy", value) if value.as_str() == Some("count") => {}
            ("policy", value) if value.as_str() == Some("progress") => by_issues = true,
            ("bounce", value) => progress.get_or_insert_default().bounce = max(value)?,
            ("stagnation", value) => progress.get_or_insert_default().stagnation = max(value)?,
            ("cap", value) => progress.get_or_insert_default().cap = max(value)?,
            _ => return None,
        }
    }
    // What belongs to the other policy makes no sense.
    let is_other = if by_issues { limit != default } else { progress.is_some() };
    limit.progress = by_issues.then(|| progress.unwrap_or_default());
    (!is_other).then_some(limit)
}

fn described(said: &DeValue<'_>) -> String {
    match said {
        DeValue::String(text) if text.trim().is_empty() => "an empty text".to_owned(),
        DeValue::String(text) => format!("the text {}", quoted(text)),
        DeValue::Integer(number) => format!("the number {}", quoted(number.as_str())),
        DeValue::Float(number) => format!("the number {}", quoted(number.as_str())),
        DeValue::Boolean(flag) => format!("`{flag}`"),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
