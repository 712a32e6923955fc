//! Lines of an agent that are too long to be kept: what their start still tells. Whoever asks in one of them is answered all the same,
//! since it would wait for ever.

use serde_json::Value;

use super::LINE_MAX;

/// How the text begins that stands for such a line.
const MARK: &str = "[a line of ";
/// How much of a line is looked at that grew too long when it was read.
const START_MAX: usize = 2_000;

/// What is known of a line that is too long.
#[derive(Debug, PartialEq)]
pub(super) struct LongLine {
    /// How long it was.
    pub(super) bytes: u64,
    /// What its start tells: the last text in it may be cut, and what follows is missing.
    pub(super) message: Value,
}

/// The text that stands for a line that was not kept.
pub(crate) fn not_kept(bytes: u64, start: &str) -> String {
    format!("{MARK}{bytes} bytes, not kept] {start}")
}

/// What the start of a line tells, if it was too long.
pub(super) fn long(line: &str) -> Option<LongLine> {
    if line.len() > LINE_MAX {
        let message = begun(&line[..line.floor_char_boundary(START_MAX)])?;
        return Some(LongLine { bytes: line.len() as u64, message });
    }
    let (head, start) = line.strip_prefix(MARK)?.split_once("] ")?;
    let bytes = head.strip_suffix(" bytes, not kept")?.parse().ok()?;
    Some(LongLine { bytes, message: begun(start)? })
}

/// The object that a text begins with: as much of it as there is, with what is open at its end closed there.
pub(super) fn begun(text: &str) -> Option<Value> {
    let ends = (1..=text.len()).rev().filter(|end| text.is_char_boundary(*end));
    // Where it breaks off inside of a name or a word, a little less of it is sound.
    ends.take(START_MAX).find_map(|end| closed(&text[..end])).filter(Value::is_object)
}

fn closed(text: &str) -> Option<Value> {
    let (mut open, mut in_text, mut is_escaped) = (Vec::new(), false, false);
    for letter in text.chars() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = in_text,
            '"' => in_text = !in_text,
            '{' if !in_text => open.push('}'),
            '[' if !in_text => open.push(']'),
            '}' | ']' if !in_text => {
                open.pop();
            }
            _ => {}
        }
    }
    let quote = if in_text { "\"" } else { "" };
    let closing: String = open.into_iter().rev().collect();
    serde_json::from_str(&format!("{text}{quote}{closing}")).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_start_of_a_line_is_read_wherever_it_breaks_off() {
        let whole = r#"{"type":"x","a":{"id":"c1","list":[1,true,{"é":"t\"e\u00e9"}]},"b":null}"#;
        for end in (1..=whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            let read = begun(&whole[..end]).unwrap_or_else(|| panic!("{}", &whole[..end]));
            if end > r#"{"type":"x","a":{"id":"c1""#.len() {
                assert_eq!((&read["type"], &read["a"]["id"]), (&json!("x"), &json!("c1")));
            }
        }
        assert_eq!(begun(whole), serde_json::from_str(whole).ok());
        for nonsense in ["", "xxx", "\"text", "[1,2", "}{"] {
            assert_eq!(begun(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn a_line_that_was_not_kept_says_how_long_it_was() {
        let line = long(&not_kept(5_000_000, r#"{"type":"text","text":"aaa"#));
        let message = json!({"type": "text", "text": "aaa"});
        assert_eq!(line, Some(LongLine { bytes: 5_000_000, message }));
        let grown = format!(r#"{{"type":"text","text":"{}"}}"#, "é".repeat(LINE_MAX / 2));
        assert_eq!(long(&grown).map(|it| it.message["type"].clone()), Some(json!("text")));
        for other in [r#"{"type":"text"}"#, "[a line of x bytes, not kept] {}", "[a line of 5] {}"]
        {
            assert_eq!(long(other), None, "{other}");
        }
    }
}
