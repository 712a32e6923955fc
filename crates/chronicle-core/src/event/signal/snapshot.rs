//! `workflow_update_snapshot`: a text, or lists by their names.

use serde_json::{Map, Value};

use super::arguments::{Arguments, texts, within};
use crate::base::limits::TEXT_MAX;
use crate::base::quote::quoted;
use crate::event::SnapshotUpdate;

const NEEDS: &str = "`workflow_update_snapshot` needs `data`: a text, or an object with any of \
    `findings`, `pending`, `done`, `files` (lists of texts), `custom` (an object), `remove` (texts that are \
    carried and are to go, word for word or by how they begin) and `replace` (an object: such texts, and what they become)";

pub(super) fn update(arguments: &Arguments<'_>) -> Result<SnapshotUpdate, String> {
    let update = match arguments.value(&["data"])? {
        Some(Value::String(text)) if !text.trim().is_empty() => {
            SnapshotUpdate { findings: vec![text.trim().to_owned()], ..SnapshotUpdate::default() }
        }
        Some(Value::Object(fields)) => of_fields(fields)?,
        Some(_) | None => return Err(NEEDS.to_owned()),
    };
    let lists = [
        ("findings", &update.findings),
        ("pending", &update.pending),
        ("done", &update.done),
        ("files", &update.files),
    ];
    for (name, texts) in lists {
        texts.iter().try_for_each(|text| within(name, text, TEXT_MAX))?;
    }
    update.replace.values().try_for_each(|text| within("replace", text, TEXT_MAX))?;
    // An update of nothing would be answered as if something had been kept.
    if update == SnapshotUpdate::default() { Err(NEEDS.to_owned()) } else { Ok(update) }
}

/// Refuses unknown names: their content would be lost.
fn of_fields(fields: &Map<String, Value>) -> Result<SnapshotUpdate, String> {
    let mut update = SnapshotUpdate::default();
    for (name, value) in fields {
        match name.as_str() {
            "findings" | "key_findings" => update.findings.extend(texts(name, value)?),
            "pending" | "pending_tasks" => update.pending.extend(texts(name, value)?),
            "done" => update.done.extend(texts(name, value)?),
            "files" | "modified_files" => update.files.extend(texts(name, value)?),
            "custom" | "replace" if value.is_null() => {}
            "remove" => update.remove.extend(texts(name, value)?),
            "replace" => {
                let pairs = value.as_object().ok_or("`replace` must be an object of texts")?;
                for (old, new) in pairs {
                    let new = new.as_str().ok_or("`replace` must be an object of texts")?;
                    update.replace.insert(old.trim().to_owned(), new.trim().to_owned());
                }
            }
            "custom" => {
                let custom = value.as_object().ok_or("`custom` must be an object")?;
                update.custom.extend(custom.clone());
            }
            other => return Err(format!("`data` has no `{}`. {NEEDS}", quoted(other))),
        }
    }
    Ok(update)
}
