//! Private keys, which go over many lines: in a file, in JSON, in a quotation, with line numbers before each line.
//!
//! A header alone is talk about keys. It is a key if key material follows it, and that goes as far as its last line, or as far
//! as lines look like key material where the last one is missing.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// The first line of a private key.
static BEGIN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----").ok());
/// What a key without its last line goes on with: base64 in lines, what may stand before each of them, and its few headers.
static BODY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let before = r"(?:\s|\\+[nrt]|[0-9]+[\t:|│→]|[>|│+])";
    let field = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [^\n\\]*";
    Regex::new(&format!(r"\A(?:{before}|{field}|[A-Za-z0-9+/]{{16,}}={{0,2}}|[A-Za-z0-9+/]+={{1,2}}|=[A-Za-z0-9+/]{{4}})*")).ok()
});
/// Key material: what no sentence has.
static MATERIAL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[A-Za-z0-9+/]{24,}").ok());
const END: &str = "-----END ";
/// How far behind its first line the last one may stand.
const KEY_MAX: usize = 64 * 1024;

/// Where private keys stand in a text.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    let Some(begin) = BEGIN.as_ref().filter(|_| text.contains("-----BEGIN ")) else { return };
    for header in begin.find_iter(text) {
        let body = &text[header.end()..];
        let length = closed(body).or_else(|| open(body));
        let is_key = |length: &usize| is_material(&body[..*length]);
        found.extend(length.filter(is_key).map(|length| header.start()..header.end() + length));
    }
}

/// How long the rest of a key with a last line is. Another first line before it ends the first key.
fn closed(body: &str) -> Option<usize> {
    let at = body.find(END).filter(|at| *at <= KEY_MAX)?;
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

/// Whether a stream stands inside of a key after this line, if it did so before.
pub(super) fn goes_on(line: &str, was_inside: bool) -> bool {
    if line.contains(END) {
        return false;
    }
    let begins = BEGIN.as_ref().is_some_and(|begin| begin.is_match(line));
    begins || (was_inside && looks_inside(line))
}

/// Whether a line may stand inside of a key.
pub(super) fn looks_inside(line: &str) -> bool {
    line.contains(END) || open(line).is_some_and(|length| length == line.trim_end().len())
}
