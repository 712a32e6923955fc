//! Fills `{{…}}` in what the model says, from what the agent sent.
//!
//! - `{{result}}`: the text of the last tool result; `{{result Read}}`: of the last one of that tool; `{{result 2}}`: of the
//!   second in the history.
//! - `{{result Read /a/0}}`: the same, read as JSON, at that pointer.
//! - `{{prompt}}`: the last text of a person.
//! - anything else: a word of the script.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::wire::{Asked, Role};

/// What may be asked for.
pub(crate) struct Fill<'a> {
    pub(crate) asked: &'a Asked,
    pub(crate) words: &'a BTreeMap<String, String>,
}

impl Fill<'_> {
    /// A text with everything filled in; what cannot be found is named.
    pub(crate) fn text(&self, text: &str) -> Result<String, String> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else { break };
            filled.push_str(before);
            // Not looked at again: a result that happens to contain braces stays as the agent sent it.
            filled.push_str(&self.find(name.trim())?);
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    /// The same for every text inside a value.
    pub(crate) fn value(&self, value: &Value) -> Result<Value, String> {
        Ok(match value {
            Value::String(text) => Value::String(self.text(text)?),
            Value::Array(items) => {
                Value::Array(items.iter().map(|it| self.value(it)).collect::<Result<_, _>>()?)
            }
            Value::Object(fields) => {
                let filled = fields.iter().map(|(name, it)| Ok((name.clone(), self.value(it)?)));
                Value::Object(filled.collect::<Result<_, String>>()?)
            }
            other => other.clone(),
        })
    }

    fn find(&self, name: &str) -> Result<String, String> {
        let parts: Vec<&str> = name.split_whitespace().collect();
        let found = match parts[..] {
            ["result"] => self.results().last().map(|(_, text)| text.clone()),
            ["result", which] => self.result(which),
            ["result", which, pointer] => self.result(which).and_then(|text| at(&text, pointer)),
            ["prompt"] => self.prompt(),
            _ => self.words.get(name).cloned(),
        };
        found.ok_or_else(|| format!("`{{{{{name}}}}}` stands for nothing here"))
    }

    fn result(&self, which: &str) -> Option<String> {
        let mut results = self.results().into_iter();
        let found = match which.parse::<usize>() {
            Ok(number) => results.nth(number.checked_sub(1)?),
            Err(_) => results.rfind(|(tool, _)| tool == which),
        };
        found.map(|(_, text)| text)
    }

    /// Every tool result of the history, with its tool.
    fn results(&self) -> Vec<(String, String)> {
        let calls: Vec<_> = self.asked.messages.iter().flat_map(|it| &it.calls).collect();
        let answers = self.asked.messages.iter().flat_map(|it| &it.results);
        answers
            .map(|answer| {
                let call = calls.iter().find(|call| call.id == answer.id);
                (call.map_or_else(String::new, |call| call.tool.clone()), answer.text.clone())
            })
            .collect()
    }

    fn prompt(&self) -> Option<String> {
        let mut messages = self.asked.messages.iter().rev();
        messages.find(|it| it.role == Role::User && !it.text.is_empty()).map(|it| it.text.clone())
    }
}

fn at(text: &str, pointer: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    Some(match value.pointer(pointer)? {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Called, ChatMessage, ToolResult};

    fn asked() -> Asked {
        let call = |id: &str, tool: &str| Called {
            id: id.to_owned(),
            tool: tool.to_owned(),
            input: Value::Null,
        };
        let answer = |id: &str, text: &str| ToolResult {
            id: id.to_owned(),
            text: text.to_owned(),
            is_error: false,
        };
        let message =
            |role, text: &str| ChatMessage { text: text.to_owned(), ..ChatMessage::new(role) };
        Asked {
            messages: vec![
                message(Role::User, "do it"),
                ChatMessage {
                    calls: vec![call("1", "Read"), call("2", "Run")],
                    ..ChatMessage::new(Role::Assistant)
                },
                ChatMessage {
                    results: vec![answer("1", r#"{"a":["x"]}"#), answer("2", "ran")],
                    ..ChatMessage::new(Role::User)
                },
            ],
            ..Asked::default()
        }
    }

    #[test]
    fn results_prompts_and_words_are_found() {
        let (asked, words) = (asked(), BTreeMap::from([("dir".to_owned(), "/p".to_owned())]));
        let fill = Fill { asked: &asked, words: &words };
        let text = "{{result}} {{result 1}} {{result Read /a/0}} {{prompt}} {{dir}}";
        assert_eq!(fill.text(text).unwrap(), r#"ran {"a":["x"]} x do it /p"#);
        assert_eq!(
            fill.value(&serde_json::json!({"a": ["{{dir}}", 1]})).unwrap().to_string(),
            r#"{"a":["/p",1]}"#
        );
        assert_eq!(fill.text("{{nobody}}").unwrap_err(), "`{{nobody}}` stands for nothing here");
    }
}
