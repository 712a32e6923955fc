//! Private keys, which span many lines: in a file, in JSON, in a quotation, with line numbers in front.
//!
//! A header alone is only talk about keys. It counts as a key if key material follows. The key then reaches to its last line, or,
//! if that is missing, as far as lines look like key material.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// The first line of a private key.
static BEGIN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----").ok());
/// How a key without its last line continues: lines of base64, what may precede each of them, and its few headers.
static BODY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let before = r"(?:\s|\\+[nrt]|[0-9]+[\t:|│→]|[>|│+])";
    let field = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [^\n\\]*";
    Regex::new(&format!(r"\A(?:{before}|{field}|[A-Za-z0-9+/]{{16,}}={{0,2}}|[A-Za-z0-9+/]+={{1,2}}|=[A-Za-z0-9+/]{{4}})*")).ok()
});
/// Key material, which no sentence contains.
static MATERIAL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[A-Za-z0-9+/]{24,}").ok());
const END: &str = "-----END ";
/// How far after its first line the last one may be.
const KEY_MAX: usize = 64 * 1024;

/// Finds private keys in a text.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    let Some(begin) = BEGIN.as_ref().filter(|_| text.contains("-----BEGIN ")) else { return };
    for header in begin.find_iter(text) {
        let body = &text[header.end()..];
        // A key may be cut off before its end, for example by a tool that prints the first lines of a file.
        let length = closed(body).or_else(|| open(body));
        // Documentation shows headers of keys without a key. Those stay readable.
        let is_key = |length: &usize| is_material(&body[..*length]);
        found.extend(length.filter(is_key).map(|length| header.start()..header.end() + length));
    }
}

/// Length of the rest of a key that has a last line. Another first line before it ends the first key.
fn closed(body: &str) -> Option<usize> {
    let at = body.find(END).filter(|at| *at <= KEY_MAX)?;
    // The end belongs to another key, and everything in between would be taken for this one.
    if body[..at].contains("-----BEGIN ") {
        return None;
    }
    let tail = at + END.len();
    let end = body[tail..].find("-----").map_or(tail, |end| tail + end + "-----".len());
    Some(end)
}

fn open(body: &str) -> Option<usize> {
    let matched = BODY.as_ref()?.find(body)?;
    Some(matched.as_str().trim_end().len())
}

fn is_material(body: &str) -> bool {
    MATERIAL.as_ref().is_some_and(|material| material.is_match(body))
}

/// True if a stream is inside of a key after this line.
pub(super) fn goes_on(line: &str, was_inside: bool) -> bool {
    if line.contains(END) {
        return false;
    }
    let begins = BEGIN.as_ref().is_some_and(|begin| begin.is_match(line));
    begins || (was_inside && looks_inside(line))
}

/// True if a line may be part of a key.
pub(super) fn looks_inside(line: &str) -> bool {
    line.contains(END) || open(line).is_some_and(|length| length == line.trim_end().len())
}
