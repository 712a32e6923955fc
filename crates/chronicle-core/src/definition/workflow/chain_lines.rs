//! A chain file parsed line by line, as the program does that it was written for: its prompts may contain `: ` or ` #` without
//! quotes, which is not valid YAML.

use super::draft::{Field, Node, Span, Value};

/// What one line contains.
enum ChainLine<'t> {
    Nothing,
    Chain(&'t str),
    Steps,
    /// A field, and whether it begins a step.
    Said(&'t str, &'t str, bool),
    Other,
}

/// The chains as a map; `None` if a line does not fit, so that the file is not a chain file either.
pub(super) fn read(source: usize, text: &str) -> Option<Node> {
    let mut chains: Vec<Field> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let inner = line.trim();
        let at = start + (line.len() - line.trim_start().len());
        let span = Span { source, start: at, end: at + inner.len() };
        start += line.len();
        match classify(line) {
            ChainLine::Nothing => {}
            ChainLine::Chain("chains") if chains.is_empty() => {}
            ChainLine::Chain(name) => chains.push(Field::with(name, Value::Map(Vec::new()), span)),
            ChainLine::Steps => fields_of(chains.last_mut()?)?.push(Field::with(
                "steps",
                Value::List(Vec::new()),
                span,
            )),
            ChainLine::Said(name, said, begins) => {
                say(chains.last_mut()?, name, said, begins, span)?;
            }
            // One line that makes no sense, and none of it is used: half of a chain would be another chain.
            ChainLine::Other => return None,
        }
    }
    let whole = Span { source, start: 0, end: text.len().max(1) };
    (!chains.is_empty()).then_some(Node { span: whole, value: Value::Map(chains) })
}

fn classify(line: &str) -> ChainLine<'_> {
    let inner = line.trim();
    if inner.is_empty() || inner.starts_with('#') || inner == "---" {
        return ChainLine::Nothing;
    }
    let begins = inner.starts_with("- ");
    let inner = inner.trim_start_matches("- ").trim();
    match inner.split_once(':') {
        Some(("steps", "")) => ChainLine::Steps,
        // By the colon at its end and not by its indent, which that format does not look at.
        Some((name, "")) if !begins && !name.contains(char::is_whitespace) => {
            ChainLine::Chain(name)
        }
        Some((
            name @ ("agent" | "prompt" | "description" | "name" | "model" | "thinking"),
            said,
        )) => ChainLine::Said(name, unquoted(said.trim()), begins),
        Some(_) | None => ChainLine::Other,
    }
}

fn unquoted(text: &str) -> &str {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).unwrap_or(text)
}

/// Adds a field to the last step of the chain, to a new one, or to the chain itself.
fn say(chain: &mut Field, name: &str, said: &str, begins: bool, span: Span) -> Option<()> {
    let fields = fields_of(chain)?;
    let steps = fields.iter_mut().find(|field| field.name == "steps");
    let field = Field::said(name, said, span);
    match steps.map(|steps| &mut steps.value.value) {
        Some(Value::List(items)) if begins => {
            items.push(Node { span, value: Value::Map(vec![field]) });
        }
        // A line without a dash belongs to the step above it.
        Some(Value::List(items)) => match items.last_mut().map(|item| &mut item.value) {
            Some(Value::Map(fields)) => fields.push(field),
            _ => return None,
        },
        None if !begins => fields.push(field),
        _ => return None,
    }
    Some(())
}

fn fields_of(chain: &mut Field) -> Option<&mut Vec<Field>> {
    match &mut chain.value.value {
        Value::Map(fields) => Some(fields),
        Value::Null | Value::Scalar(_) | Value::List(_) => None,
    }
}
