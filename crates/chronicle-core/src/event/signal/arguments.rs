//! The arguments of one call: texts by any of their names, each within its limit.

use serde_json::{Map, Value};

use crate::base::limits::{ISSUE_MAX, ISSUES_MAX, OPTION_MAX, OPTIONS_MAX, TEXT_MAX};
use crate::event::Issues;

/// What a call was given.
pub(super) struct Arguments<'a> {
    tool: &'a str,
    fields: Option<&'a Map<String, Value>>,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(tool: &'a str, arguments: &'a Value) -> Self {
        Self { tool, fields: arguments.as_object() }
    }

    /// The value under any of these names; null and a blank text count as absent: agents turn the null of a text into a blank one. Two names with different values are refused, since either could
    /// be the wrong one.
    pub(super) fn value(&self, names: &[&str]) -> Result<Option<&'a Value>, String> {
        let Some(fields) = self.fields else { return Ok(None) };
        // Null is how some agents write a field that they leave out.
        let is_blank = |value: &Value| value.as_str().is_some_and(|text| text.trim().is_empty());
        let said = |name: &&str| fields.get(*name).filter(|it| !it.is_null() && !is_blank(it));
        let mut there = names.iter().filter_map(|name| Some((*name, said(name)?)));
        let Some((first, value)) = there.next() else { return Ok(None) };
        match there.find(|(_, other)| *other != value) {
            Some((other, _)) => Err(format!(
                "`{first}` and `{other}` of `{}` mean the same and differ: give one of them",
                self.tool
            )),
            None => Ok(Some(value)),
        }
    }

    /// A text; `None` if it is absent or blank.
    pub(super) fn text(&self, names: &[&str]) -> Result<Option<String>, String> {
        let Some(value) = self.value(names)? else { return Ok(None) };
        let name = names.first().copied().unwrap_or_default();
        let Some(text) = value.as_str() else {
            return Err(format!("`{name}` of `{}` must be a text", self.tool));
        };
        within(name, text.trim(), TEXT_MAX)?;
        Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
    }

    /// A text that must be there.
    pub(super) fn need(&self, names: &[&str], what: &str) -> Result<String, String> {
        let name = names.first().copied().unwrap_or_default();
        self.text(names)?.ok_or_else(|| format!("`{}` needs `{name}`: {what}", self.tool))
    }

    /// A boolean; `None` if it is absent.
    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, String> {
        match self.value(&[name])? {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            // Models often write a flag as a text, and what they mean is plain.
            Some(Value::String(text)) if text == "true" => Ok(Some(true)),
            Some(Value::String(text)) if text == "false" => Ok(Some(false)),
            Some(_) => Err(format!("`{name}` of `{}` must be `true` or `false`", self.tool)),
        }
    }

    /// Answers to choose from.
    pub(super) fn options(&self) -> Result<Vec<String>, String> {
        let options = match self.value(&["options"])? {
            None => return Ok(Vec::new()),
            Some(value) => texts("options", value)?,
        };
        if options.len() > OPTIONS_MAX {
            let count = options.len();
            return Err(format!("{count} `options` are too many: {OPTIONS_MAX} fit"));
        }
        options.iter().try_for_each(|option| within("options", option, OPTION_MAX))?;
        Ok(options)
    }

    /// The issues that a worker found or settled.
    pub(super) fn issues(&self) -> Result<Issues, String> {
        let list = |name: &str| {
            let named = self.value(&[name])?.map_or(Ok(Vec::new()), |value| texts(name, value))?;
            if named.len() > ISSUES_MAX {
                let count = named.len();
                return Err(format!("{count} `{name}` are too many: {ISSUES_MAX} fit"));
            }
            named.iter().try_for_each(|issue| within(name, issue, ISSUE_MAX))?;
            Ok(named)
        };
        Ok(Issues { opened: list("issues_opened")?, resolved: list("issues_resolved")? })
    }
}

/// A list of texts; one text counts as a list.
pub(super) fn texts(name: &str, value: &Value) -> Result<Vec<String>, String> {
    let bad = || format!("`{name}` must be a list of texts");
    let items = match value {
        Value::Null => return Ok(Vec::new()),
        Value::String(_) => std::slice::from_ref(value),
        Value::Array(items) => items,
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => return Err(bad()),
    };
    let read = items.iter().map(|item| item.as_str().map(|text| text.trim().to_owned()));
    let texts: Option<Vec<String>> = read.collect();
    Ok(texts.ok_or_else(bad)?.into_iter().filter(|text| !text.is_empty()).collect())
}

/// Refuses a text that is longer than what is kept: the worker can shorten it, while cutting it here would lose its end.
pub(super) fn within(name: &str, text: &str, max: usize) -> Result<(), String> {
    if text.len() <= max {
        return Ok(());
    }
    Err(format!(
        "`{name}` has {} bytes, {max} fit: shorten it, or write the rest into a file and name that",
        text.len()
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Arguments;

    #[test]
    fn what_is_null_or_blank_is_absent() {
        for nothing in [json!(null), json!(""), json!(" ")] {
            let arguments = json!({"target_state": nothing, "to_state": "build"});
            let read = Arguments::new("workflow_transition", &arguments);
            let names = ["target_state", "to_state"];
            assert_eq!(read.text(&names), Ok(Some("build".to_owned())), "{arguments}");
        }
        let differ = json!({"target_state": "plan", "to_state": "build"});
        let read = Arguments::new("workflow_transition", &differ);
        assert!(read.text(&["target_state", "to_state"]).is_err());
    }
}
