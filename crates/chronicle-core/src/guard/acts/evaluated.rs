//! Programs that run code of a language that another interpreter is known for: `mix run -e`, `sage -c`, `wp eval`. They are judged as that
//! interpreter is.

use super::DoubtKind;
use super::invoke::Call;
use super::state::State;
use super::value::Field;
use super::walk::Walker;

/// Programs, the command that they need before (none if empty), the options that code follows (the next word if empty), and the
/// interpreter with its option. Where it is empty, nobody reads the language here.
const EVALUATORS: &[(&str, &str, &str, &str, &str)] = &[
    ("mix", "run", "-e --eval", "elixir", "-e"),
    ("mix", "eval rpc", "", "elixir", "-e"),
    ("sage bpython ptpython graalpy pythonw freecadcmd", "", "-c", "python3", "-c"),
    ("blender", "", "--python-expr", "python3", "-c"),
    ("texlua texluajit nlua tarantool", "", "-e", "lua", "-e"),
    ("gnuplot", "", "-e", "lua", "-e"),
    ("scala-cli", "", "-e --execute-script --script-snippet --scala-snippet", "scala", "-e"),
    ("kotlinc kotlinc-jvm", "", "-e --expression -expression", "kotlin", "-e"),
    ("groovysh", "", "-e --evaluate", "groovy", "-e"),
    ("csi chicken-csi", "", "-e -p -P", "guile", "-c"),
    (
        "coffee lsc livescript babel-node esno tsm ts-node-esm ts-node-script ts-node-cwd swc-node vite-node llrt js electron",
        "",
        "-e --eval -p --print",
        "node",
        "-e",
    ),
    ("zx mongosh mongo", "", "-e --eval", "node", "-e"),
    ("pry rake", "", "-e --exec -E --execute-continue --execute -p --execute-print", "ruby", "-e"),
    ("rakudo rakudo-m", "", "-e", "raku", "-e"),
    ("wp", "eval", "", "php", "-r"),
    ("drush", "php:eval php-eval ev eval", "", "php", "-r"),
    ("psysh phpdbg", "", "-r --execute", "php", "-r"),
    ("littler", "", "-e", "rscript", "-e"),
    ("rust-script cargo-eval", "", "-e --expr -l --loop", "", ""),
    ("v", "", "-e", "", ""),
    ("maxima", "", "--batch-string", "", ""),
    ("stack", "eval", "", "", ""),
    ("dotnet", "script", "eval", "", ""),
    ("dotnet", "fsi", "--exec --use", "", ""),
    ("gdc-eval", "", "-e", "", ""),
];

impl Walker<'_> {
    /// The code that such a program is given.
    pub(super) fn interpreted_elsewhere(
        &mut self,
        name: &str,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        let rows = EVALUATORS.iter().filter(|(names, ..)| names.split(' ').any(|it| it == name));
        for (_, commands, options, interpreter, own) in rows {
            let Some(words) = behind(commands, words) else { continue };
            for code in code_in(options, words) {
                if interpreter.is_empty() {
                    let why = format!("`{name}` is given code");
                    self.doubt(DoubtKind::Code, &why, call.span);
                } else {
                    self.start(&[Field::text(interpreter), Field::text(own), code], state, call);
                }
            }
        }
    }
}

/// The words behind one of the commands; `None` if there is none of them.
fn behind<'w>(commands: &str, words: &'w [Field]) -> Option<&'w [Field]> {
    if commands.is_empty() {
        return Some(words);
    }
    let is_one = |it: &Field| it.known().is_some_and(|it| commands.split(' ').any(|one| one == it));
    // Before it stand options of the program and their values.
    let at = words.iter().take(8).position(is_one)?;
    words.get(at + 1..)
}

/// Every text that follows one of the options, or the first word that is none.
fn code_in(options: &str, words: &[Field]) -> Vec<Field> {
    if options.is_empty() {
        let first = words.iter().find(|it| !it.begins().starts_with('-') || it.begins() == "-");
        return first.into_iter().cloned().collect();
    }
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        for option in options.split(' ') {
            let glued = format!("{option}=");
            if word.known() == Some(option) {
                found.extend(words.get(at + 1).cloned());
            } else if option.starts_with("--") && word.begins().starts_with(&glued) {
                found.push(word.after(glued.len()));
            }
        }
    }
    found
}
