//! Replaces what differs from one time to the next: ids, times, durations, processes, sums, folders.

use std::path::Path;

use super::short;

/// `text` without anything that another run of the same session would say otherwise.
pub(super) fn redact(text: &str, folder: &Path, runs: &[String]) -> String {
    let mut text = text.replace(&folder.join("project").display().to_string(), "<project>");
    text = text.replace(&folder.display().to_string(), "<folder>");
    for (index, run) in runs.iter().enumerate() {
        let name = if index == 0 { "<run>".to_owned() } else { format!("<run-{}>", index + 1) };
        text = text.replace(run.as_str(), &name).replace(short(run), &name);
    }
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let is_inside = out.chars().last().is_some_and(char::is_alphanumeric);
        let found = if is_inside { None } else { changing(&out, rest) };
        let (said, length) = found.unwrap_or((&rest[..first.len_utf8()], first.len_utf8()));
        if said == "<duration>" && rest[length..].starts_with(" ago") {
            // It is set right in its column.
            out.truncate(out.trim_end_matches(' ').len());
            out.push(' ');
        }
        out.push_str(said);
        rest = &rest[length..];
    }
    without_counts(&out)
}

/// How many rules are built in comes and goes with versions, and which walls stand depends on the machine.
fn without_counts(text: &str) -> String {
    let line = |line: &str| match line.split_once("guards: ") {
        Some((before, counts)) if counts.contains(" rules (") => {
            let is_digit = |letter: char| letter.is_ascii_digit();
            let words = counts.split(is_digit).filter(|it| !it.is_empty());
            let words: Vec<&str> = words.collect();
            let start = if counts.starts_with(is_digit) { "<number>" } else { "" };
            format!("{before}guards: {start}{}", words.join("<number>"))
        }
        _ => line.to_owned(),
    };
    let mut is_told = false;
    let lines = text.split('\n').filter(|line| {
        // The part of a handover that begins with this line, up to the next one.
        if line.contains("## ") {
            is_told = line.ends_with("## Walls");
        }
        !is_told && !line.starts_with("  walls: ")
    });
    lines.map(line).collect::<Vec<String>>().join("\n")
}

/// The same for a text from any session: whatever looks like a run's id is one.
pub(crate) fn redact_any(text: &str) -> String {
    let text = redact(text, Path::new("/nowhere"), &[]).replace("<session>", "<run>");
    let is_id = |word: &str| {
        word.len() == 8
            && word.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
            && word.bytes().any(|byte| byte.is_ascii_digit())
    };
    let mut out = String::new();
    for part in text.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric()) {
        let word = part.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
        out.push_str(if is_id(word) { "<run>" } else { word });
        out.push_str(&part[word.len()..]);
    }
    out
}

/// What stands at the beginning of `rest`, and how long it is.
fn changing<'a>(before: &str, rest: &str) -> Option<(&'a str, usize)> {
    let shapes = [
        ("<session>", "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"),
        ("<sum>", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
        ("<time>", "dddd-dd-ddTdd:dd:dd.dddZ"),
        ("<time>", "dddd-dd-ddTdd:dd:ddZ"),
        ("<time>", "dd:dd:dd"),
    ];
    let shape = shapes.iter().find(|(_, shape)| has_shape(rest, shape));
    let shape = shape.map(|(name, shape)| (*name, shape.len()));
    shape.or_else(|| duration(rest)).or_else(|| number(before, rest))
}

/// `x` is a hexadecimal digit, `d` a decimal one, anything else itself.
fn has_shape(text: &str, shape: &str) -> bool {
    let fits = |(byte, wanted): (u8, u8)| match wanted {
        b'x' => byte.is_ascii_hexdigit(),
        b'd' => byte.is_ascii_digit(),
        other => byte == other,
    };
    let ends = !text.as_bytes().get(shape.len()).is_some_and(u8::is_ascii_alphanumeric);
    text.len() >= shape.len() && ends && text.bytes().zip(shape.bytes()).all(fits)
}

/// `850 ms`, `4.2 s`, `3 min 20 s`, `2 h 05 min`.
fn duration<'a>(text: &str) -> Option<(&'a str, usize)> {
    let mut length = 0;
    loop {
        let digits =
            text[length..].bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let after = text[length + digits..].strip_prefix(' ')?;
        let unit = ["ms", "min", "h", "s"].into_iter().find(|unit| {
            let rest = after.strip_prefix(unit);
            rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        });
        let (true, Some(unit)) = (digits > 0, unit) else { return None };
        length += digits + 1 + unit.len();
        let goes_on = text[length..].strip_prefix(' ').is_some_and(|rest| {
            ["min", "h"].contains(&unit) && rest.starts_with(|c: char| c.is_ascii_digit())
        });
        if !goes_on {
            return Some(("<duration>", length));
        }
        length += 1;
    }
}

/// A process id by the word before it, a size by the word after it.
fn number<'a>(before: &str, rest: &str) -> Option<(&'a str, usize)> {
    let length = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b',').count();
    if length == 0 {
        return None;
    }
    let is_process = ["supervisor ", "process ", "kill -9 "].iter().any(|it| before.ends_with(it));
    if is_process {
        return Some(("<pid>", length));
    }
    rest[length..].starts_with(" bytes").then_some(("<number>", length))
}

#[test]
fn what_changes_is_redacted_and_the_rest_is_not() {
    let run = "019a84e6-0000-7000-8000-0000deadbeef".to_owned();
    let text = "deadbeef  done  12:34:56 at 2026-01-02T03:04:05.678Z in 850 ms, 4.2 s, 3 min 20 s, \
        2 h 05 min of 3 attempts; supervisor 4711 took /tmp/x/project/a and /tmp/x/home; \
        42,000 bytes, 7 lines; chronicle status 019a84e6-0000-7000-8000-0000deadbeef; \
        session 11111111-2222-8333-8444-555555555555; a12:34:567";
    assert_eq!(
        redact(text, Path::new("/tmp/x"), &[run]),
        "<run>  done  <time> at <time> in <duration>, <duration>, <duration>, <duration> of 3 \
         attempts; supervisor <pid> took <project>/a and <folder>/home; <number> bytes, 7 lines; \
         chronicle status <run>; session <session>; a12:34:567"
    );
    assert_eq!(redact("a      7 ms ago", Path::new("/tmp/x"), &[]), "a <duration> ago");
}
