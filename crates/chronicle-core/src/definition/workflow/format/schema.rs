//! The table as a JSON Schema, for editors.

use serde_json::{Map, Value, json};

use super::super::check::DURATION_PATTERN;

use super::{FieldInfo, IDLE, Idle, Kind, LIMITS, PHASE, Shape, TOOLS, WORKFLOW};

/// Ids of phases: not empty, no `/`, no spaces at the ends, no control characters. Written without Unicode classes, which Python and
/// others do not know.
const ID_PATTERN: &str =
    r"^[^\s/\x00-\x1f\x7f-\x9f]([^/\x00-\x1f\x7f-\x9f]*[^\s/\x00-\x1f\x7f-\x9f])?$";

/// Names that the environment cannot hold, or that are for Chronicle itself to set.
const NO_ENV_PATTERN: &str = r"^$|[=\x00]|^[Cc][Hh][Rr][Oo][Nn][Ii][Cc][Ll][Ee]_";

/// Signals that leave a phase, as people may write them.
const LEAVING_PATTERN: &str = r"^\s*([Cc][Oo][Mm][Pp][Ll][Ee][Tt][Ee]|[Nn][Ee][Ee][Dd][Ss][-_][Rr][Oo][Ll][Ee][-_][Ff][Oo][Ll][Ll][Oo][Ww][Uu][Pp])\s*$";

/// The JSON Schema of the native format, as it stands in `docs/reference/workflow.schema.json`.
pub fn schema() -> String {
    let mut definitions = Map::new();
    define(&PHASE, &mut definitions);
    let mut root = shape(&WORKFLOW, &mut definitions);
    root.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    root.insert("title".to_owned(), json!("Chronicle workflow"));
    if let Some(phase) = definitions.get_mut(PHASE.name).and_then(Value::as_object_mut) {
        // Rules between fields are what a table cannot say. Without them an editor would accept what `check` refuses.
        phase.insert("allOf".to_owned(), Value::Array(rules()));
    }
    root.insert("$defs".to_owned(), Value::Object(definitions));
    // Either word, and not both: `states` is the older one.
    root.insert("oneOf".to_owned(), json!([{"required": ["phases"]}, {"required": ["states"]}]));
    format!("{:#}\n", Value::Object(root))
}

/// What holds for some kinds of phases.
fn rules() -> Vec<Value> {
    let mut rules = vec![needs_commands(), needs_leaving(), one_list()];
    rules.extend(IDLE.iter().map(nothing_idle));
    rules
}

/// Fields that do nothing on a kind of phase must be absent.
fn nothing_idle(idle: &Idle) -> Value {
    let only = |shape: &Shape, name: &str, values: &[Value]| {
        let names = shape.field(name).map_or(&[][..], |field| field.names);
        let only = names.iter().map(|name| ((*name).to_owned(), json!({ "enum": values })));
        only.collect::<Vec<_>>()
    };
    let mut absent: Map<String, Value> =
        idle.fields().flat_map(|name| only(&PHASE, name, &[Value::Null])).collect();
    let limits: Map<String, Value> = idle
        .limits
        .iter()
        .flat_map(|name| only(&LIMITS, name, &[Value::Null, json!("none")]))
        .collect();
    absent.insert("limits".to_owned(), json!({ "properties": limits }));
    let run = json!({ "required": ["run"], "properties": { "run": { "const": idle.run } } });
    let besides: Vec<Value> = idle.beside.iter().map(|field| said(field)).collect();
    let mut is_it = if besides.is_empty() {
        vec![run]
    } else {
        vec![json!({ "allOf": [run, { "anyOf": besides }] })]
    };
    // Of two fields that imply a kind, `commands` counts.
    let stronger = if idle.run == "command" { vec!["run"] } else { vec!["run", "commands"] };
    let stronger: Vec<Value> = stronger.iter().map(|it| said(it)).collect();
    is_it.extend(
        idle.implied_by
            .iter()
            .map(|field| json!({ "allOf": [said(field), { "not": { "anyOf": stronger } }] })),
    );
    json!({ "if": { "anyOf": is_it }, "then": { "properties": absent } })
}

/// The field is there, and not null.
fn said(field: &str) -> Value {
    json!({ "required": [field], "properties": { field: { "not": { "type": "null" } } } })
}

/// Commands that are to be run must be named.
fn needs_commands() -> Value {
    json!({
        "if": { "required": ["run"], "properties": { "run": { "const": "command" } } },
        "then": {
            "required": ["commands"],
            "properties": { "commands": { "not": { "anyOf": [{ "type": "null" }, { "maxItems": 0, "type": "array" }] } } },
        },
    })
}

/// A phase must have a signal that leaves it.
fn needs_leaving() -> Value {
    let leaves = json!({ "type": "string", "pattern": LEAVING_PATTERN });
    json!({ "properties": { "signals": {
        "anyOf": [{ "type": "null" }, leaves, { "type": "array", "contains": leaves }],
    } } })
}

/// A list of tools either allows or denies.
fn one_list() -> Value {
    let names = |name: &str| TOOLS.field(name).map_or(&[][..], |field| field.names);
    let nothing = json!({ "anyOf": [{ "type": "null" }, { "type": "array", "maxItems": 0 }] });
    let denies =
        |name: &&str| json!({ "required": [name], "properties": { *name: { "not": nothing } } });
    let allows: Vec<Value> = names("allow").iter().map(|name| said(name)).collect();
    let denies: Vec<Value> = names("deny").iter().map(denies).collect();
    let both = json!({ "allOf": [{ "anyOf": allows }, { "anyOf": denies }] });
    json!({ "properties": { "tools": { "not": both } } })
}

fn define(of: &Shape, definitions: &mut Map<String, Value>) -> Value {
    if !definitions.contains_key(of.name) {
        // Its place is taken first: a map may be inside itself.
        definitions.insert(of.name.to_owned(), Value::Null);
        let defined = shape(of, definitions);
        definitions.insert(of.name.to_owned(), Value::Object(defined));
    }
    json!({ "$ref": format!("#/$defs/{}", of.name) })
}

fn shape(of: &Shape, definitions: &mut Map<String, Value>) -> Map<String, Value> {
    let mut properties = Map::new();
    for field in of.fields {
        for name in field.names {
            properties.insert((*name).to_owned(), property(field, name, definitions));
        }
    }
    let mut object = Map::new();
    object.insert("type".to_owned(), json!("object"));
    object.insert("description".to_owned(), json!(of.about));
    object.insert("properties".to_owned(), Value::Object(properties));
    object.insert("additionalProperties".to_owned(), json!(false));
    object
}

fn property(field: &FieldInfo, name: &str, definitions: &mut Map<String, Value>) -> Value {
    // A field that says nothing counts as left out.
    let own = kind(&field.kind, definitions);
    let is_needed = matches!(field.kind, Kind::Phases);
    let mut value = if is_needed { own } else { json!({ "anyOf": [own, { "type": "null" }] }) };
    let first = field.names.first().copied().unwrap_or(name);
    let about = if name == first {
        let default = match field.default {
            "" => String::new(),
            default => format!(" Default: {default}."),
        };
        format!("{}{default}", field.about)
    } else {
        format!("Another word for `{first}`.")
    };
    if let Some(object) = value.as_object_mut() {
        object.insert("description".to_owned(), json!(about));
    }
    value
}

fn kind(of: &Kind, definitions: &mut Map<String, Value>) -> Value {
    // YAML makes a number or a flag of a word without quotes. The checker takes it by its spelling, so an editor must accept it.
    let text = json!({ "type": ["string", "number", "boolean"], "pattern": r"\S" });
    let duration =
        json!({ "type": ["string", "number"], "pattern": DURATION_PATTERN, "exclusiveMinimum": 0 });
    match of {
        Kind::Text => text,
        Kind::Free => json!({ "type": ["string", "number", "boolean"] }),
        Kind::Texts => json!({ "anyOf": [text, { "type": "array", "items": text }] }),
        Kind::Pairs => json!({
            "type": "object",
            "additionalProperties": { "type": ["string", "number", "boolean"] },
        }),
        Kind::Env => env(),
        Kind::EnvOr(inner) => json!({ "anyOf": [env(), define(inner, definitions)] }),
        Kind::EnvNames => texts_not(text, NO_ENV_PATTERN),
        Kind::TextsNot(pattern) => texts_not(text, pattern),
        Kind::Choices(words) => {
            json!({ "anyOf": [{ "enum": words }, { "type": "array", "items": { "enum": words } }] })
        }
        Kind::Flag => json!({ "enum": [true, false, "true", "false"] }),
        Kind::Count => number("integer", "minimum", 0),
        Kind::Positive => number("integer", "minimum", 1),
        Kind::UpTo(most) => {
            let mut limited = number("integer", "minimum", 1);
            limited["anyOf"][0]["maximum"] = json!(most);
            limited
        }
        Kind::Decimal => number("number", "exclusiveMinimum", 0),
        Kind::Duration => duration,
        Kind::DurationOrNone => json!({ "anyOf": [{ "const": "none" }, duration] }),
        Kind::Choice(words) => {
            json!({ "enum": words.iter().map(|word| choice(word)).collect::<Vec<_>>() })
        }
        Kind::Map(inner) => define(inner, definitions),
        Kind::PositiveOr(inner) => {
            json!({ "anyOf": [number("integer", "minimum", 1), define(inner, definitions)] })
        }
        Kind::Open(inner) => {
            let items = define(inner, definitions);
            definitions[inner.name]["additionalProperties"] = json!(true);
            json!({ "type": "array", "items": items })
        }
        Kind::ListOr(inner) => {
            json!({ "type": "array", "items": { "anyOf": [text, define(inner, definitions)] } })
        }
        Kind::TextOr(inner) => json!({ "anyOf": [text, define(inner, definitions)] }),
        Kind::TextsOr(inner) => json!({
            "anyOf": [text, { "type": "array", "items": text }, define(inner, definitions)],
        }),
        Kind::ChoiceOr(words, inner) => {
            json!({ "anyOf": [{ "enum": words }, define(inner, definitions)] })
        }
        Kind::Phases => phases(definitions),
    }
}

/// A text, or a list of them, that does not fit a pattern.
fn texts_not(mut text: Value, pattern: &str) -> Value {
    text["not"] = json!({ "pattern": pattern });
    json!({ "anyOf": [text, { "type": "array", "items": text }] })
}

/// Variables and their values.
fn env() -> Value {
    json!({
        "type": "object",
        "propertyNames": { "not": { "pattern": NO_ENV_PATTERN } },
        "additionalProperties": { "type": ["string", "number", "boolean"] },
    })
}

/// A number, with or without quotes.
fn number(kind: &str, bound: &str, least: u32) -> Value {
    let point = if kind == "number" { r"(\.[0-9]*)?" } else { "" };
    let nonzero = if bound == "minimum" && least == 0 { "" } else { "(?=.*[1-9])" };
    let pattern = format!("^{nonzero}[0-9]+{point}$");
    // The checker reads numbers by their spelling, so a quoted one is a number too.
    let quoted = json!({ "type": "string", "pattern": pattern });
    json!({ "anyOf": [{ "type": kind, bound: least }, quoted] })
}

/// YAML reads `true` as a word of its own kind.
fn choice(word: &str) -> Value {
    match word {
        "true" => json!(true),
        "false" => json!(false),
        word => json!(word),
    }
}

fn phases(definitions: &mut Map<String, Value>) -> Value {
    let phase = define(&PHASE, definitions);
    let file = json!({ "type": "string", "description": "The Markdown file of a phase." });
    json!({ "anyOf": [
        { "type": "array", "minItems": 1, "items": { "anyOf": [phase, file] } },
        {
            "type": "object",
            "minProperties": 1,
            "propertyNames": { "pattern": ID_PATTERN },
            "additionalProperties": { "anyOf": [phase, file, { "type": "null" }] },
        },
    ] })
}
