//! Reads the file of a run of The Chronicle, field by field, so that an error names the field and what belongs there.
//!
//! A field that is missing or null has that program's default: older versions wrote fewer.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::sessions::{OlderRecord, OlderRun, OlderSnapshot};

/// Parses the text of a file.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| {
        format!("it is not JSON, at line {}, column {}", error.line(), error.column())
    })
}

/// The run of a file that was parsed.
pub(super) fn run(text: &str, value: &Value) -> Result<OlderRun, String> {
    let top = Fields { of: String::new(), fields: value.as_object() };
    let workflow = top.map("workflowDef")?;
    let Some(states) = workflow.fields.and_then(|it| it.get("states")?.as_object()) else {
        return Err("it has no `workflowDef` with `states`".to_owned());
    };
    let order = serde_json::from_str::<StateOrder>(text)
        .map_err(|_| wrong("workflowDef.states", "an object"))?;
    let mut state_order = order.workflow_def.states.0;
    state_order.retain(|name| states.contains_key(name));
    Ok(OlderRun {
        id: top.text("id")?,
        workflow_name: top.text("workflowName")?,
        workflow_def: value["workflowDef"].clone(),
        state_order,
        created: top.number("created")?,
        last_updated: top.number("lastUpdated")?,
        current_state: top.text("currentState")?,
        current_state_task: top.text("currentStateTask")?,
        initial_task: top.text("initialTask")?,
        status: top.text("status")?,
        history: top.maps("history")?.iter().map(record).collect::<Result<_, _>>()?,
        total_tokens: top.number("totalTokens")?,
        snapshot: snapshot(&top.map("snapshot")?)?,
        transition_counts: counts(&top.map("transitionCounts")?)?,
        file: String::new(),
    })
}

fn record(fields: &Fields<'_>) -> Result<OlderRecord, String> {
    let exit_code = fields
        .said("exitCode")
        .map(|code| code.as_i64().ok_or_else(|| fields.wrong("exitCode", "a whole number")));
    Ok(OlderRecord {
        state: fields.text("state")?,
        summary: fields.text("summary")?,
        exit_code: exit_code.transpose()?,
    })
}

fn snapshot(fields: &Fields<'_>) -> Result<OlderSnapshot, String> {
    Ok(OlderSnapshot {
        modified_files: fields.texts("modifiedFiles")?,
        key_findings: fields.texts("keyFindings")?,
        pending_tasks: fields.texts("pendingTasks")?,
        custom: fields.map("custom")?.fields.cloned().unwrap_or_default(),
    })
}

fn counts(fields: &Fields<'_>) -> Result<BTreeMap<String, u32>, String> {
    let names = fields.fields.into_iter().flat_map(Map::keys);
    let count = |name: &String| {
        let count = u32::try_from(fields.number(name)?).unwrap_or(u32::MAX);
        Ok((name.clone(), count))
    };
    names.map(count).collect()
}

/// The fields of an object in the file.
struct Fields<'a> {
    /// Where the object is, in front of a field's name.
    of: String,
    fields: Option<&'a Map<String, Value>>,
}

impl<'a> Fields<'a> {
    fn said(&self, name: &str) -> Option<&'a Value> {
        self.fields?.get(name).filter(|value| !value.is_null())
    }

    fn wrong(&self, name: &str, expected: &str) -> String {
        wrong(&format!("{}{name}", self.of), expected)
    }

    fn text(&self, name: &str) -> Result<String, String> {
        let Some(value) = self.said(name) else { return Ok(String::new()) };
        value.as_str().map(str::to_owned).ok_or_else(|| self.wrong(name, "a text"))
    }

    fn number(&self, name: &str) -> Result<u64, String> {
        let Some(value) = self.said(name) else { return Ok(0) };
        value.as_u64().ok_or_else(|| self.wrong(name, "a whole number that is not negative"))
    }

    fn list(&self, name: &str) -> Result<&'a [Value], String> {
        let Some(value) = self.said(name) else { return Ok(&[]) };
        value.as_array().map(Vec::as_slice).ok_or_else(|| self.wrong(name, "a list"))
    }

    fn texts(&self, name: &str) -> Result<Vec<String>, String> {
        let text = |(at, value): (usize, &Value)| {
            let text = value.as_str().map(str::to_owned);
            text.ok_or_else(|| self.wrong(&format!("{name}[{at}]"), "a text"))
        };
        self.list(name)?.iter().enumerate().map(text).collect()
    }

    fn map(&self, name: &str) -> Result<Self, String> {
        let fields = self
            .said(name)
            .map(|value| value.as_object().ok_or_else(|| self.wrong(name, "an object")));
        Ok(Self { of: format!("{}{name}.", self.of), fields: fields.transpose()? })
    }

    fn maps(&self, name: &str) -> Result<Vec<Self>, String> {
        let map = |(at, value): (usize, &'a Value)| {
            let place = format!("{name}[{at}]");
            let fields = value.as_object().ok_or_else(|| self.wrong(&place, "an object"))?;
            Ok(Self { of: format!("{}{place}.", self.of), fields: Some(fields) })
        };
        self.list(name)?.iter().enumerate().map(map).collect()
    }
}

fn wrong(place: &str, expected: &str) -> String {
    format!("`{place}` has to be {expected}")
}

/// The order in which the file names the states. A parsed object has its fields sorted.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StateOrder {
    workflow_def: OrderedStates,
}

#[derive(Deserialize)]
struct OrderedStates {
    states: Names,
}

struct Names(Vec<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Names;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Names, A::Error> {
                let mut names: Vec<String> = Vec::new();
                while let Some((name, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                Ok(Names(names))
            }
        }
        from.deserialize_map(InOrder)
    }
}
