//! Texts that languages put between other signs than quotes: `q(a)` of Perl, `%w[a b]` of Ruby, `[[a]]` of Lua.
//!
//! They are put in quotes before code is looked at, so that what is in them is found like any other text. Code is not parsed for that:
//! what looks like such a text within another one is taken for one too, and code is also looked at as it is written.

use super::called::is_ruby;

/// Longest text that is put in quotes.
const TEXT_MAX: usize = 4_096;

/// A way to write texts: what stands in their place if one begins here, behind what is already read, and how long it is.
type Form = fn(&str, &str) -> Option<(String, usize)>;

/// Code with such texts in quotes; `None` if it has none.
pub(super) fn in_quotes(interpreter: &str, code: &str) -> Option<String> {
    let forms = forms_of(interpreter);
    if forms.is_empty() {
        return None;
    }
    let mut out = String::with_capacity(code.len());
    let (mut rest, mut is_other) = (code, false);
    while let Some(letter) = rest.chars().next() {
        if let Some((text, length)) = forms.iter().find_map(|form| form(&out, rest)) {
            is_other = true;
            out.push_str(&text);
            rest = rest.get(length..).unwrap_or_default();
        } else {
            out.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    is_other.then_some(out)
}

fn forms_of(interpreter: &str) -> &'static [Form] {
    let name = interpreter.to_ascii_lowercase();
    let begins = |all: &[&str]| all.iter().any(|it| name.starts_with(it));
    match name.as_str() {
        // Code of which nobody says the language.
        "code" => &[of_perl, of_ruby, of_lua, of_backticks],
        "c" => &[of_cpp],
        "rust" | "swift" => &[of_rust],
        "go" | "d" => &[of_backticks],
        "r" | "rscript" => &[of_r],
        _ if begins(&["perl"]) => &[of_perl, of_document],
        _ if is_ruby(&name) => &[of_ruby, of_document],
        _ if begins(&["lua"]) => &[of_lua],
        _ if begins(&["php"]) => &[of_php],
        _ if begins(&["elixir", "iex", "mix"]) => &[of_elixir],
        _ if begins(&["node", "bun", "deno", "tsx", "ts-node", "qjs"]) => &[of_backticks],
        _ => &[],
    }
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// A text in quotes.
fn quoted(text: &str) -> String {
    // What stands on a line of its own is meant without its end.
    let text = if text.trim().contains('\n') { text } else { text.trim() };
    let quote = if text.contains('"') && !text.contains('\'') { '\'' } else { '"' };
    format!("{quote}{text}{quote}")
}

/// Words in quotes, as a list.
fn listed(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(quoted).collect();
    words.join(",")
}

/// As much of a text as is looked at.
fn near(text: &str) -> &str {
    let mut end = text.len().min(TEXT_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// What stands between a sign and the one that ends it, and how long that is with both.
fn enclosed(text: &str) -> Option<(&str, usize)> {
    let open = text.chars().next()?;
    let close = match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        other => other,
    };
    let (mut depth, mut is_escaped) = (0_usize, false);
    for (at, letter) in near(text).char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if letter == close && depth == 0 => {
                return Some((&text[open.len_utf8()..at], at + close.len_utf8()));
            }
            _ if letter == close => depth -= 1,
            _ if letter == open => depth += 1,
            _ => {}
        }
    }
    None
}

/// What stands before a mark that ends it, and how long that is with the mark.
fn up_to<'t>(text: &'t str, mark: &str) -> Option<(&'t str, usize)> {
    let at = near(text).find(mark)?;
    Some((&text[..at], at + mark.len()))
}

/// Texts of Perl behind a letter, between any signs: `q(a)`, `qq{a}`, `qw!a b!`.
fn of_perl(before: &str, rest: &str) -> Option<(String, usize)> {
    let is_of_name = |it: char| is_name(it) || "$@%&".contains(it);
    if !rest.starts_with('q') || before.ends_with(is_of_name) || before.ends_with("->") {
        return None;
    }
    let (kind, after) =
        ["qw", "qq", "q"].iter().find_map(|kind| Some((*kind, rest.strip_prefix(kind)?)))?;
    let inner = after.trim_start();
    let sign = inner.chars().next()?;
    // The key of a table, or a comment.
    let is_key = sign == '}' || inner.starts_with("=>");
    let is_comment = sign == '#' && inner.len() < after.len();
    if is_name(sign) || is_key || is_comment || ['"', '\''].contains(&sign) {
        return None;
    }
    let (text, length) = enclosed(inner)?;
    let text = if kind == "qw" { listed(text) } else { quoted(text) };
    Some((text, rest.len() - inner.len() + length))
}

/// Texts of Ruby behind a percent sign: `%q(a)`, `%(a)`, `%w[a b]`.
fn of_ruby(before: &str, rest: &str) -> Option<(String, usize)> {
    let after = rest.strip_prefix('%')?;
    let kind = after.chars().next().filter(|it| "qQwWiIs".contains(*it));
    let inner = if kind.is_some() { &after[1..] } else { after };
    let sign = inner.chars().next()?;
    // Behind a value it is a sum.
    let is_sum = before.ends_with(|it: char| is_name(it) || ")]}\"'".contains(it));
    let begins = match kind {
        Some(_) => sign.is_ascii_punctuation() && !"\"'`_)]}>".contains(sign),
        None => "([{<|!/".contains(sign) && !is_sum,
    };
    if !begins {
        return None;
    }
    let (text, length) = enclosed(inner)?;
    let text = match kind {
        Some('w' | 'W' | 'i' | 'I') => format!("[{}]", listed(text)),
        _ => quoted(text),
    };
    Some((text, rest.len() - inner.len() + length))
}

/// Long brackets of Lua, with as many signs on both sides: `[[a]]`, `[==[a]==]`.
fn of_lua(_: &str, rest: &str) -> Option<(String, usize)> {
    let after = rest.strip_prefix('[')?;
    let inner = after.trim_start_matches('=').strip_prefix('[')?;
    let before = rest.len() - inner.len();
    let mark = format!("]{}]", "=".repeat(before - 2));
    let (text, length) = up_to(inner, &mark)?;
    Some((quoted(text), before + length))
}

/// A text between backticks into which nothing is filled.
fn of_backticks(_: &str, rest: &str) -> Option<(String, usize)> {
    let inner = rest.strip_prefix('`')?;
    let (text, length) = up_to(inner, "`")?;
    (!text.contains("${") && !text.contains('\n')).then(|| (quoted(text), 1 + length))
}

/// `r"a"`, `r#"a"#`, and `#"a"#` of Swift.
fn of_rust(before: &str, rest: &str) -> Option<(String, usize)> {
    let after = ["br", "cr", "r"].iter().find_map(|it| rest.strip_prefix(it)).unwrap_or(rest);
    let inner = after.trim_start_matches('#').strip_prefix('"')?;
    let signs = after.len() - inner.len() - 1;
    if after.len() == rest.len() && signs == 0 || before.ends_with(is_name) {
        return None;
    }
    let (text, length) = up_to(inner, &format!("\"{}", "#".repeat(signs)))?;
    Some((quoted(text), rest.len() - inner.len() + length))
}

/// Raw texts of C++, with the same word on both sides: `R"(a)"`, `R"x(a)x"`.
fn of_cpp(_: &str, rest: &str) -> Option<(String, usize)> {
    let after = rest.strip_prefix("R\"")?;
    let (mark, _) = up_to(after, "(").filter(|(mark, _)| mark.len() <= 16)?;
    let inner = &after[mark.len() + 1..];
    let (text, length) = up_to(inner, &format!("){mark}\""))?;
    Some((quoted(text), rest.len() - inner.len() + length))
}

/// Raw texts of R, with as many dashes on both sides: `r"(a)"`, `R'--[a]--'`.
fn of_r(before: &str, rest: &str) -> Option<(String, usize)> {
    let after = rest.strip_prefix(['r', 'R']).filter(|_| !before.ends_with(is_name))?;
    let quote = after.chars().next().filter(|it| ['"', '\''].contains(it))?;
    let inner = after[1..].trim_start_matches('-');
    let dashes = after.len() - 1 - inner.len();
    let (open, close) = [('(', ')'), ('[', ']'), ('{', '}')]
        .into_iter()
        .find(|(open, _)| inner.starts_with(*open))?;
    let inner = &inner[open.len_utf8()..];
    let (text, length) = up_to(inner, &format!("{close}{}{quote}", "-".repeat(dashes)))?;
    Some((quoted(text), rest.len() - inner.len() + length))
}

/// Texts of Elixir behind a tilde: `~s(a)`, `~S"""a"""`, `~w[a b]`.
fn of_elixir(_: &str, rest: &str) -> Option<(String, usize)> {
    let after = rest.strip_prefix('~')?;
    let kind = after.chars().next().filter(|it| "sScCwW".contains(*it))?;
    let inner = &after[1..];
    let (text, length) = match ["\"\"\"", "'''"].iter().find(|it| inner.starts_with(**it)) {
        Some(mark) => up_to(&inner[mark.len()..], mark).map(|(it, end)| (it, end + mark.len()))?,
        None if inner.starts_with(['/', '|', '"', '\'', '(', '[', '{', '<']) => enclosed(inner)?,
        None => return None,
    };
    let text = match kind {
        'w' | 'W' => format!("[{}]", listed(text)),
        _ => quoted(text),
    };
    Some((text, rest.len() - inner.len() + length))
}

/// `<<<E`, with the lines up to the one that ends it.
fn of_php(_: &str, rest: &str) -> Option<(String, usize)> {
    let after = rest.strip_prefix("<<<")?.trim_start_matches([' ', '\t']);
    let (mark, after) = mark_of(after)?;
    let body = after.strip_prefix('\n')?;
    let (text, end) = body_of(body, mark)?;
    Some((quoted(text), rest.len() - body.len() + end))
}

/// `<<E`, `<<~'E'`: the text begins with the next line, and stays there too.
fn of_document(before: &str, rest: &str) -> Option<(String, usize)> {
    let after = rest.strip_prefix("<<").filter(|_| !before.ends_with('<'))?;
    let after = after.strip_prefix(['~', '-']).unwrap_or(after);
    let is_one = after.starts_with(['"', '\'']) || after.starts_with(|it: char| it.is_uppercase());
    let (mark, after) = mark_of(after).filter(|_| is_one)?;
    let (_, body) = near(after).split_once('\n')?;
    let (text, _) = body_of(body, mark)?;
    Some((quoted(text), rest.len() - after.len()))
}

/// The word that ends a document, and what follows it where the document is named.
fn mark_of(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|it| ['"', '\''].contains(it));
    let inner = quote.map_or(text, |quote| &text[quote.len_utf8()..]);
    let end = inner.find(|it| !is_name(it)).filter(|end| *end > 0)?;
    let (mark, after) = inner.split_at(end);
    match quote {
        Some(quote) => Some((mark, after.strip_prefix(quote)?)),
        None => Some((mark, after)),
    }
}

/// The lines before the one that begins with a mark, and how long they are with it.
fn body_of<'t>(body: &'t str, mark: &str) -> Option<(&'t str, usize)> {
    let mut at = 0;
    for line in near(body).split_inclusive('\n') {
        let own = line.trim_start_matches([' ', '\t']);
        let ends = own.strip_prefix(mark).is_some_and(|it| !it.starts_with(is_name));
        if ends {
            return Some((&body[..at], at + line.len() - own.len() + mark.len()));
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_between_other_signs_are_put_in_quotes() {
        for (interpreter, code, expected) in [
            ("perl", "open F,'>',q(a);", "open F,'>',\"a\";"),
            ("perl", "unlink qq{a{b}c}, q!d!", "unlink \"a{b}c\", \"d\""),
            ("perl5.36", "@ARGV=qw(a b);", "@ARGV=\"a\",\"b\";"),
            ("perl", "(x=>q (a))", "(x=>\"a\")"),
            ("perl", "f(<<E);\na\nE\n", "f(\"a\");\na\nE\n"),
            ("ruby", "f(%q(a), %Q[b], %(c))", "f(\"a\", \"b\", \"c\")"),
            ("ruby", "%w[a b].each", "[\"a\",\"b\"].each"),
            ("ruby", "puts %(a)", "puts \"a\""),
            ("ruby", "f(<<~E.chomp)\n  a\nE\n", "f(\"a\".chomp)\n  a\nE\n"),
            ("lua", "f([[a]], [==[b]]]==])", "f(\"a\", \"b]]\")"),
            ("php", "f(<<<E\na\nE, 'x');", "f(\"a\", 'x');"),
            ("php", "f(<<<'E'\na\nE);", "f(\"a\");"),
            ("Rscript", "f(r\"(a)\", R'--[b]--')", "f(\"a\", \"b\")"),
            ("elixir", "f(~s(a), ~S\"\"\"\nb\n\"\"\", ~w[c d])", "f(\"a\", \"b\", [\"c\",\"d\"])"),
            ("c", "f(R\"(a)\", R\"x(b)\")x\")", "f(\"a\", 'b)\"')"),
            ("rust", "f(r\"a\", r#\"b\"#)", "f(\"a\", \"b\")"),
            ("go", "f(`a`)", "f(\"a\")"),
            ("node", "f(`a`, `${b}`)", "f(\"a\", `${b}`)"),
        ] {
            assert_eq!(in_quotes(interpreter, code).as_deref(), Some(expected), "{code}");
        }
        for (interpreter, code) in [
            ("perl", "$q{a}; %q; x->q(1); faq(2); (q => 1); $h{q}"),
            ("ruby", "x = 10 % (3); y = a%(b); '%w'; 1 << x"),
            ("lua", "a[b[1]]"),
            ("rust", "let bar = \"a\"; #[x] for r in y {}"),
            ("python3", "q(a) + %w[b]"),
            ("perl", "q(a"),
        ] {
            assert_eq!(in_quotes(interpreter, code), None, "{code}");
        }
    }

    #[test]
    fn what_never_ends_is_no_text_and_takes_no_time() {
        let open = "q(<<E\n".repeat(20_000);
        assert_eq!(in_quotes("perl", &open), None);
    }
}
