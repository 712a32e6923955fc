//! Files that a program gets at although no word of its own names them: by what it reads, by its variables, or by other names.

use super::invoke::Call;
use super::options::{Read, Valued, read};
use super::state::State;
use super::value::{Field, Piece, Value};
use super::walk::{Input, Walker};
use super::{DoubtKind, TouchKind};

/// Longest value of a variable that can be a path.
const PATH_MAX: usize = 1_000;
/// Words of compilers after which a file follows that they take in.
const TAKING: [&str; 7] =
    ["include_next", "include", "import", "embed", ".incbin", ".include", "incbin"];

impl Walker<'_> {
    /// Variables that the text sets reach every program that it starts: code may use the files that they name.
    /// Where programs look for their parts is no such file, unless the text itself has the code.
    pub(super) fn given_by_variables(
        &mut self,
        by: &str,
        has_code: bool,
        state: &State,
        call: Call<'_>,
    ) {
        let known = |value: &Value| match value {
            Value::One(field) => field.known().map(str::to_owned),
            Value::List(_) | Value::Unset => None,
        };
        let is_meant = |name: &str| has_code || !super::variables::SEARCHED.contains(&name);
        let set = state.variables.iter().filter(|(name, _)| is_meant(name));
        let values: Vec<String> = set.filter_map(|(_, value)| known(value)).collect();
        for value in values {
            self.steps += 1;
            let is_path =
                !value.trim().is_empty() && !value.starts_with('-') && !value.contains('\n');
            // `DEBUG=*`: nothing looks for files by that.
            let is_path = is_path && value != "*";
            if is_path && value.len() <= PATH_MAX {
                self.touch(TouchKind::Maybe, &Field::text(&value), state, by, call.span);
            }
        }
    }

    /// What a source takes in that the text itself hands to a compiler, or wrote before.
    pub(super) fn included(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) {
        let is_source = |word: &&Field| {
            let text = word.begins();
            text == "-" || !text.starts_with('-')
        };
        for word in words.iter().filter(is_source) {
            let Some(text) = self.code_in(word, state, call) else { continue };
            let Some(text) = text.known() else { continue };
            for file in taken_in(text) {
                self.touch(TouchKind::Read, &Field::text(file), state, name, call.span);
            }
        }
    }

    /// Files of which a program reads the names.
    pub(super) fn named_by_lists(
        &mut self,
        name: &str,
        found: &Read,
        state: &State,
        call: Call<'_>,
    ) {
        if name == "zip" && found.has(&["@", "names-stdin"]) {
            self.names_from(None, state, name, call);
            if found.has(&["m", "move"]) {
                self.names_used(TouchKind::Delete, None, state, name, call);
            }
        }
        let lists: Vec<Field> = found.values(&["files-from"]).cloned().collect();
        for list in lists.iter().filter(|_| name == "rsync") {
            // The names begin in the folder that it copies from.
            let mut own = state.clone();
            let source = found.operands.first().and_then(Field::known);
            if let Some(source) = source.filter(|it| !it.contains(':')) {
                let beside = |it: &_| super::wrappers::beside(it, source);
                own.folders = own.folders.iter().map(beside).collect();
            }
            let own_list = whole_path(list, state);
            self.names_from(Some(&own_list), &own, name, call);
            if found.has(&["remove-source-files"]) {
                self.names_used(TouchKind::Delete, Some(&own_list), &own, name, call);
            }
        }
    }

    /// `7z a x @list` and the like: names of files from a list, behind a sign.
    pub(super) fn named_behind_signs(
        &mut self,
        name: &str,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        let removes = super::moved::takes_away(name, words);
        for word in words {
            let text = word.begins();
            let is_option = text.starts_with("-i") && text.contains('@');
            let at = text.find('@').filter(|at| *at == 0 || is_option);
            if let Some(at) = at {
                let list = word.after(at + 1);
                self.touch(TouchKind::Read, &list, state, name, call.span);
                self.names_from(Some(&list), state, name, call);
                if removes {
                    self.names_used(TouchKind::Delete, Some(&list), state, name, call);
                }
            }
            // `-i!path` takes in what it names, which may be a pattern.
            if let Some((_, path)) = text.split_once('!').filter(|_| text.starts_with("-i")) {
                let is_pattern = path.contains(['*', '?']);
                let path = if is_pattern {
                    Field::of(Piece::Glob(path.to_owned()))
                } else {
                    Field::text(path)
                };
                self.touches(if removes { "rd" } else { "r" }, &path, state, name, call);
                self.touch_below(&path, &super::Sieve::default(), None, state, name);
            }
        }
    }

    /// What `jar` takes out of an archive by its name lies there afterwards.
    pub(super) fn taken_by_jar(
        &mut self,
        name: &str,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        let first = words.first().map(Field::begins).unwrap_or_default();
        let letters = first.trim_start_matches('-');
        let is_long = first.starts_with("--");
        let takes = !is_long && letters.contains('x')
            || words.iter().any(|it| it.known() == Some("--extract"));
        if name != "jar" || !takes {
            return;
        }
        let mut before = words.iter().skip(usize::from(!is_long));
        // The archive stands first, or behind its option.
        if !is_long && letters.contains('f') {
            before.next();
        }
        while let Some(word) = before.next() {
            match word.begins() {
                "-f" | "--file" | "-C" => drop(before.next()),
                text if text.starts_with('-') => {}
                _ => self.written_to(word, state, name, call.span),
            }
        }
    }

    /// `pax`: with `-w` it keeps what its words name or what it reads the names of, with `-r` it takes out.
    pub(super) fn pax(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        const VALUED: &str = "f:_ b c:- o p s x B E G:- T U:-";
        let (found, _) = read(words, Valued(VALUED), false);
        let (keeps, takes_out) = (found.has(&["w"]), found.has(&["r"]));
        for file in found.values(&["f"]) {
            self.touches(if keeps { "w" } else { "r" }, file, state, "pax", call);
        }
        let (mut paths, mut target) = (found.operands.as_slice(), Field::text("."));
        if keeps
            && takes_out
            && let Some((last, before)) = paths.split_last()
        {
            (paths, target) = (before, last.clone());
        }
        if takes_out {
            self.touch(TouchKind::Write, &target, state, "pax", call.span);
        }
        if keeps && takes_out {
            self.copied_below_folder(paths, &target, state, call);
        }
        // Other names that it gives to what it takes out or copies.
        for text in found.values(&["s"]).filter(|_| takes_out) {
            let names = text.known().map(|it| replacements(&format!("s{it}")));
            for name in names.unwrap_or_else(|| vec![Field::unknown()]) {
                let mut inside = target.clone();
                inside.push_text("/");
                inside.extend(&name);
                self.touch(TouchKind::Likely, &inside, state, "pax", call.span);
            }
        }
        if keeps && paths.is_empty() {
            self.names_from(None, state, "pax", call);
        }
        for path in paths.iter().filter(|_| keeps) {
            self.touches("r", path, state, "pax", call);
            self.touch_below(path, &super::Sieve::default(), None, state, "pax");
        }
    }

    /// The names that `tar` gives to what it takes out of an archive.
    pub(super) fn renamed_by_tar(&mut self, found: &Read, state: &State, call: Call<'_>) {
        for text in found.values(&["transform", "xform"]) {
            let Some(text) = text.known() else {
                let why = "which names `tar` gives to files is not known";
                self.doubt(DoubtKind::Option, why, call.span);
                continue;
            };
            for name in replacements(text) {
                self.touch(TouchKind::Likely, &name, state, "tar", call.span);
            }
        }
    }

    /// `run-parts` runs all scripts of a folder, those too that the text wrote there.
    pub(super) fn run_parts(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        self.maybe(words, state, "run-parts", call.span);
        for folder in words.iter().filter_map(Field::known).filter(|it| !it.starts_with('-')) {
            let places: Vec<String> =
                state.folders.iter().filter_map(|it| super::written::place(it, folder)).collect();
            let is_in = |file: &String| {
                let above = file.rsplit_once('/').map_or("", |(above, _)| above);
                places.iter().any(|place| place == above)
            };
            let mut files: Vec<String> =
                self.written.iter().map(|(file, _)| file.clone()).collect();
            files.extend(self.forgotten.iter().cloned());
            files.retain(is_in);
            for file in files {
                self.run_written(&Field::text(&format!("/{file}")), None, state, call);
            }
        }
    }

    /// True if what a program reads lies in a file that was there before.
    pub(super) fn reads_old_list(&self, given: &Input, places: &[String]) -> bool {
        let is_mild = |kind: TouchKind| matches!(kind, TouchKind::Read | TouchKind::List);
        let may_change = |touch: &super::Touch| {
            let path = touch.path.known();
            let path = path.and_then(|path| super::written::place(&touch.folder, path));
            !is_mild(touch.kind) && path.is_none_or(|path| places.contains(&path))
        };
        matches!(given, Input::File)
            && !places.is_empty()
            && !self.acts.touches.iter().any(may_change)
    }
}

/// The files that a source takes in.
fn taken_in(source: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in source.lines() {
        let line = line.trim_start().trim_start_matches(['#', '%', ' ', '\t']);
        let Some(at) = TAKING.iter().find_map(|word| Some(line.find(word)? + word.len())) else {
            continue;
        };
        let rest = line.get(at..).unwrap_or_default();
        // In the text of an assembler the quotes may be escaped.
        let mut parts = rest.split(['"', '<', '>', '\\']).skip(1).filter(|it| !it.is_empty());
        found.extend(parts.next());
    }
    found
}

/// What expressions like `s/from/to/` put into names. What they take over of the old ones may be anything.
fn replacements(text: &str) -> Vec<Field> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(mark) = rest.strip_prefix('s').and_then(|it| it.chars().next()) {
        let inner = rest.get(1 + mark.len_utf8()..).unwrap_or_default();
        let (_, inner) = part(inner, mark);
        let (name, after) = part(inner, mark);
        if !name.pieces.is_empty() {
            found.push(name);
        }
        rest = after.split_once(';').map_or("", |(_, next)| next.trim_start());
    }
    found
}

/// One part of such an expression, and what follows its end.
fn part(text: &str, mark: char) -> (Field, &str) {
    let mut field = Field::default();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            _ if letter == mark => {
                return (field, text.get(at + mark.len_utf8()..).unwrap_or_default());
            }
            '&' => field.push(Piece::Glob("*".to_owned())),
            '\\' => match letters.next() {
                Some((_, digit)) if digit.is_ascii_digit() => {
                    field.push(Piece::Glob("*".to_owned()));
                }
                Some((_, other)) => field.push_text(other.encode_utf8(&mut [0; 4])),
                None => {}
            },
            _ => field.push_text(letter.encode_utf8(&mut [0; 4])),
        }
    }
    (field, "")
}

/// A list by its whole path, for who goes to another folder.
fn whole_path(list: &Field, state: &State) -> Field {
    let places = super::written::places_of(std::slice::from_ref(list), state);
    match places.as_slice() {
        [place] if !super::shells::is_stream(list) => Field::text(&format!("/{place}")),
        _ => list.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_says_what_it_takes_in() {
        let source = "# include \"a.h\"\n#include <b.h>\nint c;\n__asm__(\".incbin \\\"d\\\"\");\n";
        assert_eq!(taken_in(source), ["a.h", "b.h", "d"]);
    }

    #[test]
    fn names_that_tar_gives_are_found() {
        let known = |text: &str| -> Vec<Option<String>> {
            replacements(text).iter().map(|it| it.known().map(str::to_owned)).collect()
        };
        assert_eq!(known("s/a/b/"), [Some("b".to_owned())]);
        assert_eq!(known("s,^,c/,;s/d/e\\/f/g"), [Some("c/".to_owned()), Some("e/f".to_owned())]);
        assert_eq!(known("s/\\(a\\)/x\\1/"), [None]);
        assert_eq!(known("s/a//"), []);
    }
}
