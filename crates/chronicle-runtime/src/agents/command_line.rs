//! Splits `command:` names into words as a shell would, without any of its expansions.

/// The words of a line. Blanks part them; `'…'`, `"…"` and `\` keep them together.
pub(crate) fn split(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut chars = line.chars().peekable();
    loop {
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
        if chars.peek().is_none() {
            break;
        }
        words.push(word(&mut chars)?);
    }
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        _ => Err("names no program"),
    }
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn word(chars: &mut Chars<'_>) -> Result<String, &'static str> {
    let mut word = String::new();
    while let Some(c) = chars.next_if(|c| !c.is_whitespace()) {
        match c {
            '\'' | '"' => quoted(chars, c, &mut word)?,
            '\\' => word.push(chars.next().ok_or("ends in a lone `\\`")?),
            other => word.push(other),
        }
    }
    Ok(word)
}

fn quoted(chars: &mut Chars<'_>, quote: char, word: &mut String) -> Result<(), &'static str> {
    while let Some(c) = chars.next() {
        match c {
            end if end == quote => return Ok(()),
            // Between double quotes a shell lets `\` protect only these.
            '\\' if quote == '"' && matches!(chars.peek(), Some('"' | '\\')) => {
                word.extend(chars.next());
            }
            other => word.push(other),
        }
    }
    Err("has a quote that is not closed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does() {
        for (line, words) in [
            ("python3 agent.py", vec!["python3", "agent.py"]),
            (" a  'b c' d\\ e ", vec!["a", "b c", "d e"]),
            (r#"a "say \"hi\" \n" ''"#, vec!["a", r#"say "hi" \n"#, ""]),
            (r"a 'it'\''s'", vec!["a", "it's"]),
        ] {
            assert_eq!(split(line), Ok(words.into_iter().map(str::to_owned).collect()), "{line}");
        }
    }

    #[test]
    fn what_cannot_be_split_is_refused() {
        assert_eq!(split("  "), Err("names no program"));
        assert_eq!(split("''"), Err("names no program"));
        assert_eq!(split("a 'b"), Err("has a quote that is not closed"));
        assert_eq!(split("a \\"), Err("ends in a lone `\\`"));
    }
}
