//! Modules of Python that are programs and write files.

use super::invoke::Call;
use super::state::State;
use super::value::Field;
use super::walk::{Input, Walker};
use super::{DoubtKind, TouchKind};

/// Modules that write files, and whose options are their own: `-c` is no code.
const WRITING: [&str; 10] = [
    "compileall",
    "py_compile",
    "zipfile",
    "tarfile",
    "json.tool",
    "venv",
    "virtualenv",
    "cProfile",
    "profile",
    "pickletools",
];

/// The words that Python itself reads before those of such a module; all of them if there is none.
pub(super) fn before<'f>(name: &str, words: &'f [Field]) -> &'f [Field] {
    let at = words.iter().position(|word| word.known() == Some("-m"));
    let is_known = |at: &usize| {
        let module = words.get(at + 1).and_then(Field::known);
        module.is_some_and(|module| WRITING.contains(&module) || WRAPPING.contains(&module))
    };
    match at.filter(|at| name.starts_with("python") && is_known(at)) {
        Some(at) => words.get(..at + 2).unwrap_or(words),
        None => words,
    }
}

/// Modules that run code which they read.
const READING: [&str; 6] = ["code", "asyncio", "IPython", "ptpython", "bpython", "pdb"];
/// Modules that run a script or another module, which they are told after options of their own.
const WRAPPING: [&str; 14] = [
    "cProfile",
    "profile",
    "pdb",
    "trace",
    "coverage",
    "runpy",
    "memory_profiler",
    "line_profiler",
    "kernprof",
    "viztracer",
    "scalene",
    "pyinstrument",
    "debugpy",
    "ipdb",
];
/// Programs and modules with commands that run code which they read.
const CONSOLES: [(&str, &[&str]); 5] = [
    ("flask", &["shell"]),
    ("django-admin", &["shell", "shell_plus", "dbshell"]),
    ("django", &["shell", "shell_plus", "dbshell"]),
    ("scrapy", &["shell"]),
    ("jupyter", &["console"]),
];
/// Scripts of frameworks, and their commands that run code.
const FRAMEWORKS: [(&str, &[&str]); 2] =
    [("manage.py", &["shell", "shell_plus", "dbshell"]), ("artisan", &["tinker"])];

impl Walker<'_> {
    /// A module that runs what it reads.
    pub(super) fn read_by_module(&mut self, name: &str, module: &Field, call: Call<'_>) {
        let reads = module.known().is_some_and(|it| READING.contains(&it));
        if reads && !matches!(call.input, Input::Given) {
            let why = format!("`{name}` runs code that it reads");
            self.doubt(DoubtKind::Code, &why, call.span);
        }
    }

    /// A script or a module that another module runs: `python -m cProfile -m module`.
    pub(super) fn wrapped_by_module(
        &mut self,
        name: &str,
        module: &str,
        rest: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        if !WRAPPING.contains(&module) {
            return;
        }
        let is = |it: &Field, texts: &[&str]| it.known().is_some_and(|it| texts.contains(&it));
        let is_script = |it: &Field| {
            let end = it.known().and_then(|it| it.rsplit_once('.'));
            end.is_some_and(|(_, end)| end == "py")
        };
        let inner = rest.iter().position(|it| is(it, &["-m", "--module"]));
        let script = rest.iter().position(is_script);
        let is_code = module == "runpy";
        let mut words = vec![Field::text(name)];
        match (inner, script) {
            (Some(at), script) if script.is_none_or(|script| at < script) => {
                words.push(Field::text("-m"));
                words.extend(rest.get(at + 1..).unwrap_or_default().iter().cloned());
            }
            (_, Some(at)) => words.extend(rest.get(at..).unwrap_or_default().iter().cloned()),
            (_, None) if is_code && !rest.is_empty() => {
                words.push(Field::text("-m"));
                words.extend(rest.iter().cloned());
            }
            _ => return,
        }
        if words.len() > 1 {
            self.start(&words, state, call);
        }
    }

    /// `flask shell` and the like, if they are given something to read.
    pub(super) fn console(&mut self, name: &str, words: &[Field], call: Call<'_>) {
        let row = CONSOLES.iter().find(|(program, _)| *program == name);
        let Some((_, commands)) = row else { return };
        let is_one = |it: &Field| it.known().is_some_and(|it| commands.contains(&it));
        let is_code = |it: &Field| matches!(it.known(), Some("-c" | "--command"));
        let is_given = !matches!(call.input, Input::Given) || words.iter().any(is_code);
        if words.iter().any(is_one) && is_given {
            self.doubt(DoubtKind::Code, &format!("`{name}` runs code that it is given"), call.span);
        }
    }

    /// A script of a framework that is given code: in an option, or to read.
    pub(super) fn given_to_framework(&mut self, name: &str, words: &[Field], call: Call<'_>) {
        let known: Vec<&str> = words.iter().map(|it| it.known().unwrap_or_default()).collect();
        let [script, command, ..] = known.as_slice() else { return };
        let is_one = |(own, commands): &(&str, &[&str])| {
            super::invoke::base(script) == *own && commands.contains(command)
        };
        if !FRAMEWORKS.iter().any(is_one) {
            return;
        }
        let is_code = |it: &Field| {
            ["-c", "--command", "--execute"].iter().any(|option| it.begins().starts_with(option))
        };
        if words.iter().any(is_code) || !matches!(call.input, Input::Given) {
            self.doubt(DoubtKind::Code, &format!("`{name}` is given code"), call.span);
        }
    }

    /// `rails runner code` and the like; a script is as ordinary as any other.
    pub(super) fn rails(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        self.maybe(words, state, "rails", call.span);
        let given = match words.first().and_then(Field::known) {
            Some("runner" | "r") => {
                let is_file = |it: &Field| {
                    let end = it.known().and_then(|it| it.rsplit_once('.'));
                    end.is_some_and(|(_, end)| end == "rb")
                };
                words.get(1).is_some_and(|it| !is_file(it))
            }
            Some("console" | "c" | "dbconsole" | "db") => !matches!(call.input, Input::Given),
            _ => false,
        };
        if given {
            self.doubt(DoubtKind::Code, "`rails` is given code", call.span);
        }
    }

    /// The files that a module is told to write.
    pub(super) fn written_by_module(
        &mut self,
        module: &str,
        rest: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        let after = |options: &[&str]| {
            let is_it = |word: &Field| word.known().is_some_and(|it| options.contains(&it));
            rest.iter().position(is_it).and_then(|at| rest.get(at + 1))
        };
        if matches!(module, "compileall" | "py_compile") {
            return self.compiled(module, rest, state, call);
        }
        let mut operands = rest.iter().filter(|word| !word.begins().starts_with('-'));
        let written = match module {
            "zipfile" | "tarfile" => after(&["-c", "--create"]).or_else(|| {
                after(&["-e", "--extract"]).and_then(|_| rest.last().filter(|_| rest.len() > 2))
            }),
            "json.tool" => operands.nth(1),
            "venv" | "virtualenv" => operands.next(),
            "cProfile" | "profile" | "pickletools" => after(&["-o", "--output", "--outfile"]),
            _ => None,
        };
        let creates = after(&["-c", "--create"]).is_some();
        if matches!(module, "zipfile" | "tarfile") && creates {
            // The first one is the archive.
            for path in rest.iter().filter(|word| !word.begins().starts_with('-')).skip(1) {
                self.touch(TouchKind::Read, path, state, module, call.span);
                self.touch_below(path, &super::Sieve::default(), None, state, module);
            }
        }
        if let Some(path) = written {
            self.touch(TouchKind::Write, path, state, module, call.span);
        }
    }

    /// What is compiled lies in a folder beside it.
    fn compiled(&mut self, module: &str, rest: &[Field], state: &State, call: Call<'_>) {
        for path in rest.iter().filter(|word| !word.begins().starts_with('-')) {
            let is_file = path
                .known()
                .is_some_and(|it| it.rsplit_once('.').is_some_and(|(_, end)| end == "py"));
            let mut folder = path.clone();
            folder.push_text(if is_file { "/../__pycache__" } else { "/__pycache__" });
            self.touch(TouchKind::Likely, &folder, state, module, call.span);
        }
    }
}
