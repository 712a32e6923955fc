//! Heuristics for secrets: random text that is no placeholder, name, path or piece of code.

/// Words that mark a value as a stand-in for another one, even as parts of longer words.
const STAND_INS: [&str; 24] = [
    "your",
    "example",
    "changeme",
    "change-me",
    "change_me",
    "placeholder",
    "replace",
    "xxxx",
    "dummy",
    "redacted",
    "insert",
    "none",
    "null",
    "undefined",
    "required",
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "my-",
    "my_",
    "...",
];
/// Passwords that everybody uses where it does not matter.
const COMMON: [&str; 16] = [
    "pass", "password", "passwd", "pwd", "pw", "secret", "token", "user", "username", "root",
    "postgres", "admin", "guest", "test", "example", "changeme",
];
/// Words that do so only by themselves: a password may contain them.
const STAND_IN_WORDS: [&str; 14] = [
    "my",
    "sample",
    "change",
    "optional",
    "default",
    "string",
    "password1",
    "passwort",
    "value",
    "env",
    "file",
    "prompt",
    "input",
    "stdin",
];
/// Words of sentences about passwords.
const PROSE: [&str; 32] = [
    "a", "an", "and", "are", "at", "be", "but", "by", "can", "for", "from", "has", "if", "in",
    "is", "it", "must", "no", "not", "of", "on", "or", "should", "than", "that", "the", "this",
    "to", "too", "was", "with", "you",
];
/// Characters of code, a template or a variable.
const CODE: [char; 8] = ['{', '}', '(', ')', '[', ']', '*', '<'];
/// Closing brackets with what opens them, and emphasis, which opens itself.
const CLOSING: [(char, char); 4] = [(')', '('), (']', '['), ('}', '{'), ('*', '*')];
/// Least entropy per character, in bits, of random text.
const BITS_MIN: f64 = 3.0;
/// Text without digits is random if its character class changes at least every third character.
const LETTERS_PER_CHANGE: usize = 3;

/// True for placeholders such as `xxxxxxxx`, `AKIA…EXAMPLE`, `sk-...`.
pub(super) fn is_placeholder(text: &str) -> bool {
    let distinct = text.bytes().fold(0u128, |seen, byte| seen | 1 << (byte & 0x7f));
    text.contains("EXAMPLE")
        || text.contains("...")
        || distinct.count_ones() <= 4
        || bits(text) < 2.0
}

/// True if the characters look random.
pub(super) fn is_random(text: &str) -> bool {
    !is_placeholder(text)
        && bits(text) >= BITS_MIN
        && (has_digit(text) || changes_often(text))
        && !is_wordy(text)
}

/// True if the characters are certainly random: long enough, with several digits.
pub(super) fn is_strong(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    text.len() >= 12 && digits >= 2 && is_assigned(text) && is_random(text)
}

/// True if a value assigned to a name such as `password` is a secret, and not a type, an expression or a default.
pub(crate) fn is_assigned(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let is_stand_in = STAND_INS.iter().any(|word| lower.contains(word));
    let is_code = text.contains(CODE)
        || has_variable(text)
        || text.contains("::")
        || text.ends_with(['?', ':']);
    let has_letter = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    // A path changes between letters and slashes as often as random text does.
    let is_mixed = has_letter && (has_digit(text) || (changes_often(text) && !text.contains('/')));
    text.len() >= 8
        && is_mixed
        && !is_stand_in
        && !is_code
        && !is_placeholder(text)
        && !is_path(text)
        && !is_expression(text)
        && !is_wordy(text)
}

/// True if a value that is certainly a password, by how it is passed, was chosen by somebody: `hunter2secretvalue`, or words that
/// make no sentence.
pub(crate) fn is_chosen(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let words: Vec<&str> =
        lower.split(|sign: char| !sign.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    // By whole words: a part of a password may be one of them.
    let all = [&STAND_INS[..], &STAND_IN_WORDS, &PROSE];
    let is_talk = words.iter().any(|word| all.iter().any(|list| list.contains(word)));
    let is_code = text.contains(CODE)
        || has_variable(text)
        || text.contains("::")
        || text.contains('/')
        || text.ends_with(['?', ':', '.']);
    let has_letter = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_mixed = has_letter && (has_digit(text) || changes_often(text)) && !is_wordy(text);
    // Names in code have words too, but none with `-` or spaces between them.
    let is_phrase = text.len() >= 16
        && text.split(['-', ' ']).filter(|word| word.len() >= 3).count() >= 3
        && text.bytes().all(|it| it.is_ascii_alphanumeric() || b"- !".contains(&it));
    let is_one = !text.contains(' ') && is_mixed || is_phrase;
    !text.contains(' ') && is_assigned(text)
        || text.len() >= 8
            && is_one
            && !is_talk
            && !is_code
            && !is_placeholder(text)
            && !is_expression(text)
}

/// A value without the brackets and the emphasis that close around it: `(password=…)`, `**token: …**`.
pub(super) fn without_closing(text: &str) -> &str {
    let mut value = text;
    while let Some((close, open)) = CLOSING.iter().find(|(close, _)| value.ends_with(*close)) {
        let inner = value.trim_end_matches(*close);
        // The bracket was opened inside of the value, so it is a part of it.
        if inner.contains(*open) {
            break;
        }
        value = inner;
    }
    value
}

/// True for `$NAME` and `pre$NAME`. A `$` within random characters is one of them.
fn has_variable(text: &str) -> bool {
    let begins =
        |rest: &str| rest.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_');
    let is_first = text.starts_with('$') || text.ends_with('$');
    let mut named = text.split('$').skip(1);
    is_first || named.any(|rest| begins(rest) && is_wordy(rest))
}

/// True if the part of an address after its colon is a password.
pub(super) fn is_password(name: &str, text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    // `%40` is an escaped `@` in a real password. Any other percent sign belongs to a template.
    let is_template = text.contains(['$', '{', '<', '*', '%']) && !text.contains("%4");
    let is_common = COMMON.contains(&lower.as_str()) || lower == name.to_ascii_lowercase();
    !is_template && !is_common && !is_placeholder_word(&lower)
}

fn is_placeholder_word(lower: &str) -> bool {
    ["your", "xxx", "example", "redacted", "..."].iter().any(|word| lower.contains(word))
}

/// True if it is base64 of `name:password`.
pub(super) fn is_basic(text: &str) -> bool {
    let decoded = decode(text).filter(|bytes| bytes.iter().all(|byte| (0x20..0x7f).contains(byte)));
    decoded.is_some_and(|bytes| {
        let colon = bytes.iter().position(|byte| *byte == b':');
        colon.is_some_and(|at| at > 0 && at + 1 < bytes.len())
    })
}

/// Decodes base64 in whole groups of four.
fn decode(text: &str) -> Option<Vec<u8>> {
    let value = |byte: u8| -> Option<u32> {
        Some(u32::from(match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        }))
    };
    let body = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || body.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::new();
    for group in body.as_bytes().chunks(4) {
        let bits = group.iter().try_fold(0u32, |sum, byte| Some(sum << 6 | value(*byte)?))?;
        let bits = bits << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(bytes)
}

/// Entropy per character, in bits.
#[expect(clippy::cast_precision_loss, reason = "texts of a few hundred bytes")]
fn bits(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let all = text.len() as f64;
    let seen = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / all);
    -seen.map(|share| share * share.log2()).sum::<f64>()
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// True if the character class changes as often as by chance; `camelCase` changes less often. Separators do not count.
fn changes_often(text: &str) -> bool {
    let kind = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let kinds: Vec<u8> =
        text.bytes().filter(|byte| !matches!(byte, b'_' | b'-' | b'.' | b'/')).map(kind).collect();
    let changes = kinds.windows(2).filter(|pair| pair[0] != pair[1]).count();
    changes * LETTERS_PER_CHANGE >= kinds.len()
}

/// Words with at most two digits after each: `parse_v2_header`, `field-1`.
fn is_wordy(text: &str) -> bool {
    let is_word = |word: &str| {
        let letters = word.trim_end_matches(|sign: char| sign.is_ascii_digit());
        let rest = letters.strip_prefix(|sign: char| sign.is_ascii_uppercase()).unwrap_or(letters);
        let one_case = rest.bytes().all(|it| it.is_ascii_lowercase())
            || letters.bytes().all(|it| it.is_ascii_uppercase());
        one_case && word.len() - letters.len() <= 2
    };
    let mut words =
        text.split(['_', '-', '.', '/', ':']).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(is_word)
}

fn is_path(text: &str) -> bool {
    let begins = ["./", "../", "~/"].iter().any(|begin| text.starts_with(begin));
    begins || text.contains("://") || (text.starts_with('/') && text.len() < 36)
}

/// `req.body.password2`: names joined by dots.
fn is_expression(text: &str) -> bool {
    let is_name = |part: &str| {
        part.len() <= 20
            && part.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'!')
            && part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
    };
    text.contains('.') && text.split('.').all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_a_name_and_a_password_is_known() {
        assert_eq!(decode("YTpi").as_deref(), Some(&b"a:b"[..]));
        assert_eq!(decode("YWI6Yw==").as_deref(), Some(&b"ab:c"[..]));
        assert!(
            is_basic("dXNlcjpwYXNz") && !is_basic("authentication") && !is_basic("knowledge123")
        );
    }

    #[test]
    fn names_and_code_do_not_look_assigned() {
        for text in
            ["parse_v2_header", "req.body.password2", "./keys/dev1.pem", "getToken()", "aaaaaaa1"]
        {
            assert!(!is_assigned(text), "{text}");
        }
    }
}
