//! Calls whose meaning the words of code do not show at once: methods that Ruby calls by their names, and those of Python's lists that
//! are called like functions which remove files.

/// Ways of Ruby to call a method by its name.
const SENDERS: [&str; 6] =
    ["public_send", "__send__", "send", "public_method", "singleton_method", "method"];
/// Classes and modules of Ruby whose methods change files or start programs.
const RECEIVERS: [&str; 10] = [
    "File",
    "FileUtils",
    "Dir",
    "IO",
    "Kernel",
    "Pathname",
    "Process",
    "Object",
    "Open3",
    "ObjectSpace",
];

/// True for Ruby, under each of its names.
pub(super) fn is_ruby(interpreter: &str) -> bool {
    let names = ["ruby", "irb", "rails", "jruby", "mruby", "truffleruby", "code"];
    names.iter().any(|name| interpreter.starts_with(name))
}

/// True for Python, under each of its names.
pub(super) fn is_python(interpreter: &str) -> bool {
    ["python", "pypy", "ipython"].iter().any(|name| interpreter.starts_with(name))
}

/// Code of Ruby with methods that are called by their names, or behind two colons, as if they were called by a dot:
/// `File.send(:delete, "a")` and `File::delete("a")` are `File.delete("a")`.
pub(super) fn by_dots(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(letter) = rest.chars().next() {
        if let Some((name, after)) = sent(rest) {
            out.push('.');
            out.push_str(name);
            // What the method is given follows its name.
            let given = after.trim_start().strip_prefix(',');
            out.push_str(if given.is_some() { "(" } else { "" });
            rest = given.map_or(after, str::trim_start);
        } else if let Some(after) = rest.strip_prefix("::")
            && after.starts_with(|it: char| it.is_ascii_lowercase())
            && RECEIVERS.iter().any(|it| out.ends_with(it))
        {
            out.push('.');
            rest = after;
        } else {
            out.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    out
}

/// The method that is called by its name here, and what follows the name.
fn sent(rest: &str) -> Option<(&str, &str)> {
    let inner = told(rest)?;
    let quoted = inner.strip_prefix(':').unwrap_or(inner);
    let inner = quoted.strip_prefix(['"', '\'']).unwrap_or(quoted);
    let is_text = inner.len() < told(rest)?.len();
    let end = inner.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(inner.len());
    let (name, after) = inner.split_at(end);
    let after = after.strip_prefix(['"', '\'']).unwrap_or(after);
    (is_text && !name.is_empty()).then_some((name, after))
}

/// What a way to call by a name is told, if one stands here.
fn told(rest: &str) -> Option<&str> {
    let inner = ["&.", "::", "."].iter().find_map(|sign| rest.strip_prefix(sign))?;
    let after = SENDERS.iter().find_map(|sender| inner.strip_prefix(sender))?;
    let after = after.strip_prefix('(').or_else(|| after.strip_prefix(' '))?;
    Some(after.trim_start())
}

/// True if code of Ruby calls a method by a name that is not in its text, of what changes files or starts programs.
pub(super) fn by_unknown_names(code: &str) -> bool {
    let is_meant = |at: usize| RECEIVERS.iter().any(|it| code[..at].ends_with(it));
    let places = code.match_indices(['.', '&', ':']).map(|(at, _)| at);
    places.filter(|at| is_meant(*at)).any(|at| {
        let rest = &code[at..];
        told(rest).is_some() && sent(rest).is_none()
    })
}

/// Code of Python in which what is taken out of a list does not look like a file that is removed: `xs.remove(1)`. Whoever hands its
/// module of files on may call it by any name.
pub(super) fn without_lists(code: &str) -> String {
    const WORD: &str = ".remove(";
    if !code.contains(WORD) || code.contains("modules") || hands_on(code) {
        return code.to_owned();
    }
    let is_name = |it: char| it.is_alphanumeric() || it == '_';
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(WORD) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let name = before.rsplit(|it| !is_name(it)).next().unwrap_or_default();
        let is_list = before.ends_with(']') || !name.is_empty() && name != "os" && name != "path";
        let is_known = !is_list || is_other_name(code, name);
        out.push_str(if is_known { WORD } else { ".discard(" });
        rest = after.get(WORD.len()..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// True if a name stands for something that is imported.
fn is_other_name(code: &str, name: &str) -> bool {
    let mut lines = code.split(['\n', ';']).map(str::trim_start);
    let is_import = |line: &str| line.starts_with("import ") || line.starts_with("from ");
    let has =
        |line: &str| line.split(|it: char| !it.is_alphanumeric() && it != '_').any(|it| it == name);
    !name.is_empty() && lines.any(|line| is_import(line) && has(line))
}

/// True if code uses the module `os` by itself, and not only what is in it.
fn hands_on(code: &str) -> bool {
    let is_import = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("import ") || line.starts_with("from ")
    };
    let is_name = |it: char| it.is_alphanumeric() || it == '_' || it == '.';
    code.split(['\n', ';']).filter(|line| !is_import(line)).any(|line| {
        line.match_indices("os").any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + 2..].trim_start().chars().next();
            !before.is_some_and(is_name) && !after.is_some_and(is_name)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_that_are_called_by_their_names_are_spelled_out() {
        for (code, expected) in [
            ("File.send(:delete, \"a\")", "File.delete(\"a\")"),
            ("File.public_send('delete', x)", "File.delete(x)"),
            ("File.method(:delete).call(\"a\")", "File.delete).call(\"a\")"),
            ("File::delete('a'); File::SEPARATOR", "File.delete('a'); File::SEPARATOR"),
            ("[1].send(:map)", "[1].map)"),
            ("x.sender(:a)", "x.sender(:a)"),
        ] {
            assert_eq!(by_dots(code), expected);
        }
        assert!(by_unknown_names("File.send(n, 'a')") && by_unknown_names("Kernel::send n, 'a'"));
        assert!(!by_unknown_names("File.send(:read, 'a')") && !by_unknown_names("x.send(n)"));
    }

    #[test]
    fn lists_of_python_lose_members_and_no_files() {
        assert_eq!(without_lists("xs.remove(1)"), "xs.discard(1)");
        assert_eq!(without_lists("d['a'].remove('b')"), "d['a'].discard('b')");
        for code in [
            "import os; os.remove(f)",
            "import os as o; o.remove(f)",
            "import os; o = os; o.remove(f)",
            "import sys; sys.modules['os'].remove(f)",
            "f(os).remove(x)",
            "remove(f)",
        ] {
            assert_eq!(without_lists(code), code);
        }
    }
}
