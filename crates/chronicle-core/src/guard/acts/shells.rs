//! Programs that run a text: shells, and languages whose code is only known to be code.

use super::invoke::{Call, LISTED_MAX, base};
use super::options::{Read, Valued, read};
use super::state::State;
use super::value::{Field, Value};
use super::walk::{Dialect, Input, Walker};
use super::{DoubtKind, TouchKind};

/// Shells whose language is close to that of bash.
pub(super) const SHELLS: &[&str] =
    &["sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "rbash", "pdksh", "ksh93", "posh", "yash"];
/// Shells with languages of their own.
const FOREIGN: &[&str] = &[
    "fish",
    "csh",
    "tcsh",
    "nu",
    "xonsh",
    "elvish",
    "pwsh",
    "powershell",
    "rc",
    "es",
    "oil",
    "osh",
    "ysh",
];

/// Languages: their names, and the options that take code.
const LANGUAGES: &[(&str, &str)] = &[
    ("python", "c:c W X m:_ Q check-hash-based-pycs"),
    ("pypy", "c:c W X m:_"),
    (
        "node",
        "e:c p:c eval:c print:c r:r require:r import:r loader:r experimental-loader:r env-file:r env-file-if-exists:r input-type C conditions test-name-pattern title cpu-prof:- heap-prof:- \
        redirect-warnings:w cpu-prof-dir:w cpu-prof-name:w heap-prof-dir:w heap-prof-name:w diagnostic-dir:w report-dir:w report-directory:w report-filename:w \
        trace-event-file-pattern:w test-reporter-destination:w tls-keylog:w localstorage-file:w snapshot-blob:w openssl-config:r icu-data-dir:r",
    ),
    ("nodejs", "e:c p:c eval:c print:c r:r require:r import:r loader:r"),
    ("bun", "e:c p:c eval:c print:c r:r preload:r"),
    ("ts-node", "e:c eval:c p:c print:c r:r require:r P project"),
    ("tsx", "e:c eval:c p:c print:c"),
    ("perl", "e:c E:c I M:c m:c D:* C:U F:* x:* V:* i:* 0:# l:#"),
    ("ruby", "e:c I r:r C X E F:* x:* i:* K:1 W:# T:# 0:#"),
    ("irb", "I r:r"),
    ("ipython", "c:c m:_ profile"),
    ("jshell", "class-path module-path R C"),
    ("kotlin", "e:c cp classpath"),
    (
        "php",
        "r:c run:c B:c process-begin:c R:c process-code:c E:c process-end:c F:r process-file:r f:r file:r c d t S z",
    ),
    ("lua", "e:c l:r"),
    ("luajit", "e:c l:r"),
    ("rscript", "e:c"),
    ("r", "e:c f:r file:r"),
    ("osascript", "e:c l s"),
    ("julia", "e:c E:c eval:c print:c L:r load:r"),
    ("elixir", "e:c eval:c r:r"),
    ("swift", "e:c"),
    ("ghc", "e:c"),
    ("runghc", "e:c"),
    ("groovy", "e:c"),
    ("scala", "e:c"),
    ("clojure", "e:c eval:c"),
    ("clj", "e:c"),
    ("racket", "e:c eval:c"),
    ("guile", "c:c"),
    ("tclsh", ""),
    ("wish", ""),
    ("expect", "c:c f:r"),
    ("erl", "eval:c"),
    ("iex", "e:c eval:c r:r S name sname cookie"),
    ("ghci", "e:c"),
    ("ocaml", "e:c I"),
    ("utop", "e:c I"),
    ("qjs", "e:c eval:c I:r include:r"),
    ("sbcl", "eval:c load:r script:r"),
    ("swipl", "g:c t:c f:r s:r l:r"),
    ("octave", "eval:c"),
    ("bb", "e:c eval:c f:r file:r"),
    ("janet", "e:c l:r"),
    ("fennel", "e:c eval:c"),
    ("raku", "e:c M:c I"),
    ("pike", "e:c"),
    ("gjs", "c:c command:c"),
    ("mruby", "e:c r:r"),
    ("jruby", "e:c I r:r C X"),
    ("truffleruby", "e:c I r:r C X"),
    ("jython", "c:c m:_"),
    ("micropython", "c:c m:_"),
    ("hy", "c:c m:_"),
    ("sqlite3", "cmd:c init:r"),
    ("duckdb", "c:c s:c cmd:c init:r"),
    ("psql", "c:c f:r"),
    ("mysql", "e:c execute:c"),
];

/// Whether a path names a stream, whose content no path tells.
pub(super) fn is_stream(file: &Field) -> bool {
    let path = file.begins();
    path.starts_with("/dev/fd/")
        || path == "/dev/stdin"
        || path.starts_with("/proc/")
        || path == "-"
}

impl Walker<'_> {
    /// A shell or a language; whether the program is one.
    pub(super) fn interpreted(
        &mut self,
        name: &str,
        fields: &[Field],
        state: &State,
        call: Call<'_>,
    ) -> bool {
        if SHELLS.contains(&name) {
            self.shell(name, fields, state, call);
            return true;
        }
        if FOREIGN.contains(&name) {
            let words = fields.get(1..).unwrap_or_default();
            let is_known =
                matches!(name, "pwsh" | "powershell") && self.powershell(name, words, state, call);
            if !is_known && (fields.len() > 1 || !matches!(call.input, Input::Given)) {
                self.doubt(
                    DoubtKind::Text,
                    &format!("`{name}` has a language of its own"),
                    call.span,
                );
            }
            return true;
        }
        let bare = name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.' || it == '-');
        let language =
            LANGUAGES.iter().find(|(language, _)| *language == name || *language == bare);
        let Some((_, valued)) = language else { return false };
        self.language(name, Valued(valued), fields, state, call);
        true
    }

    fn shell(&mut self, name: &str, fields: &[Field], state: &State, call: Call<'_>) {
        let dialect = if matches!(name, "bash" | "rbash") { Dialect::Bash } else { Dialect::Other };
        let (mut has_text, mut reads_input, mut only_checks) = (false, false, false);
        let mut at = 1;
        while let Some(field) = fields.get(at) {
            let Some(text) = field.known() else {
                if has_text {
                    break;
                }
                self.doubt(
                    DoubtKind::Text,
                    "a shell is given an option or a script that is not known",
                    call.span,
                );
                self.touch(TouchKind::Read, field, state, name, call.span);
                return;
            };
            if text == "--" || text == "-" {
                at += 1;
                break;
            }
            if text.len() < 2 || !text.starts_with(['-', '+']) {
                break;
            }
            at += 1;
            if let Some(long) = text.strip_prefix("--") {
                at += self.start_file(name, long, fields.get(at), state, call);
                continue;
            }
            if !text.bytes().skip(1).all(|byte| byte.is_ascii_alphabetic()) {
                let why = "a shell is given an option that is not known";
                self.doubt(DoubtKind::Text, why, call.span);
            }
            has_text |= text.starts_with('-') && text.contains('c');
            reads_input |= text.contains('s');
            only_checks |= text.starts_with('-') && text.contains('n');
            // Each of these letters takes a word.
            let taken = text.bytes().filter(|letter| matches!(letter, b'o' | b'O')).count();
            let named = fields.get(at..at + taken).unwrap_or_default();
            if text.contains('O') && !named.iter().all(keeps_patterns) {
                let why = "a shell is told to read patterns in another way";
                self.doubt(DoubtKind::Text, why, call.span);
            }
            at += taken;
        }
        let rest = fields.get(at..).unwrap_or_default();
        match rest.split_first() {
            Some((text, arguments)) if has_text => {
                self.given_text(text, arguments, state, dialect, call);
            }
            None if has_text => {}
            Some((file, _)) if !reads_input && !is_stream(file) => {
                self.touch(TouchKind::Read, file, state, name, call.span);
                if !only_checks {
                    self.run_written(file, Some(name), state, call);
                }
            }
            Some((file, _)) if !reads_input && file.begins().starts_with("/dev/fd") => {
                if let Some(text) = self.printed_at(file) {
                    self.text(&text, &mut child(state), &Input::Piped, dialect, call.span);
                } else {
                    let why = "a shell runs what another command prints";
                    self.doubt(DoubtKind::Text, why, call.span);
                }
            }
            _ => self.input_text(name, state, dialect, call),
        }
    }

    /// A file that a shell reads before all else; how many more words its option takes.
    fn start_file(
        &mut self,
        name: &str,
        long: &str,
        next: Option<&Field>,
        state: &State,
        call: Call<'_>,
    ) -> usize {
        if let Some((_, file)) = long.split_once('=') {
            self.touch(TouchKind::Read, &Field::text(file), state, name, call.span);
        }
        if !matches!(long, "rcfile" | "init-file") {
            return 0;
        }
        if let Some(file) = next {
            self.touch(TouchKind::Read, file, state, name, call.span);
            self.run_written(file, Some(name), state, call);
            if let Some(text) = self.printed_at(file) {
                self.text(&text, &mut child(state), &Input::Piped, Dialect::Bash, call.span);
            } else if is_stream(file) || !file.is_known() {
                let why = "a shell runs what another command prints";
                self.doubt(DoubtKind::Text, why, call.span);
            }
        }
        1
    }

    /// `sh -c text name arguments`.
    fn given_text(
        &mut self,
        text: &Field,
        arguments: &[Field],
        state: &State,
        dialect: Dialect,
        call: Call<'_>,
    ) {
        let Some(text) = text.known() else {
            self.doubt(DoubtKind::Text, "a shell runs a text that is not known", call.span);
            return;
        };
        let mut own = child(state);
        let is_certain = |field: &Field| {
            let is_glob = matches!(field.to_word(), super::CommandWord::Glob(_));
            field.is_known() || is_glob || field.listing().is_some()
        };
        let mut arguments = arguments.get(1..).unwrap_or_default().to_vec();
        // One of the files that were found, or any number of them.
        if let Some(last) = arguments.last().filter(|it| it.listing().is_some()).cloned() {
            arguments.resize(arguments.len().max(LISTED_MAX), last);
        }
        own.arguments = Some(arguments).filter(|all| all.iter().all(is_certain));
        self.text(text, &mut own, call.input, dialect, call.span);
    }

    /// A shell that reads its commands.
    fn input_text(&mut self, name: &str, state: &State, dialect: Dialect, call: Call<'_>) {
        match call.input {
            Input::Given => {}
            // A script like any other, and told as a file that is read.
            Input::File => self.run_read(name, state, call),
            Input::Piped | Input::Listed(_) => {
                self.doubt(DoubtKind::Text, "a shell runs what another command prints", call.span);
            }
            Input::Text(text) => match text.known() {
                Some(text) => self.text(text, &mut child(state), &Input::Piped, dialect, call.span),
                None => {
                    self.doubt(DoubtKind::Text, "a shell runs a text that is not known", call.span);
                }
            },
        }
    }

    /// `python -m module`: what is known of a program of that name, and a file that the text wrote itself.
    fn module(
        &mut self,
        name: &str,
        module: &Field,
        rest: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        let Some(module) = module.known() else { return };
        self.put_out(module, rest, state, call.span);
        self.written_by_module(module, rest, state, call);
        self.console(module, rest, call);
        self.wrapped_by_module(name, module, rest, state, call);
        let path = module.replace('.', "/");
        for file in [format!("{path}.py"), format!("{path}/__main__.py")] {
            self.run_written(&Field::text(&file), Some(name), state, call);
        }
    }

    /// A client of a database with the file or the name of one, and perhaps with statements.
    fn database(
        &mut self,
        name: &str,
        file: &Field,
        rest: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        self.touch(TouchKind::Write, file, state, name, call.span);
        let more = rest.get(1..).unwrap_or_default();
        let has_code = if matches!(name, "sqlite3" | "duckdb") {
            !more.is_empty()
        } else {
            more.iter().any(may_be_code)
        };
        // A file of statements is a script like any other.
        if has_code || !matches!(call.input, Input::Given | Input::File) {
            self.doubt(DoubtKind::Code, &format!("`{name}` is given code"), call.span);
        }
    }

    /// What the values of options are; whether one is code.
    fn options_of_language(
        &mut self,
        name: &str,
        valued: Valued,
        options: &Read,
        state: &State,
        call: Call<'_>,
    ) -> bool {
        let mut has_code = false;
        for (option, value) in &options.options {
            let Some(value) = value else { continue };
            match valued.kind(option) {
                Some("c") => has_code = true,
                Some("r") => self.touch(TouchKind::Read, value, state, name, call.span),
                Some("w") => self.written_to(value, state, name, call.span),
                _ if option == "m" => {}
                // `-X pycache_prefix=path`, and whatever is not listed.
                _ => {
                    self.maybe(std::slice::from_ref(value), state, name, call.span);
                    self.put_out(name, std::slice::from_ref(value), state, call.span);
                    self.put_by(name, option, value, state, call.span);
                }
            }
        }
        has_code
    }

    /// What stands in the option runs first, and then what it reads.
    fn goes_on_reading(&mut self, name: &str, call: Call<'_>) {
        let does = ["python", "pypy", "node"].iter().any(|it| name.starts_with(it));
        if does && !matches!(call.input, Input::Given) {
            let why = format!("`{name}` also runs code that it reads");
            self.doubt(DoubtKind::Text, &why, call.span);
        }
    }

    /// `ruby -run -e rm -- -rf a` is `rm -rf a`.
    fn started_by_ruby(
        &mut self,
        name: &str,
        options: &Read,
        rest: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        let is_un = |it: &Field| it.known() == Some("un");
        if name.starts_with("ruby") && options.values(&["r"]).any(is_un) {
            for program in options.values(&["e"]) {
                self.start(&[std::slice::from_ref(program), rest].concat(), state, call);
            }
        }
    }

    /// Code that a language reads, for want of a script.
    fn reads_code(&mut self, name: &str, rest: &[Field], state: &State, call: Call<'_>) {
        self.maybe(rest.get(1..).unwrap_or_default(), state, name, call.span);
        if rest.is_empty() && matches!(call.input, Input::File) {
            self.run_read(name, state, call);
        }
        if !matches!(call.input, Input::Given | Input::File) || !rest.is_empty() {
            let why = format!("`{name}` runs code that it reads");
            self.doubt(DoubtKind::Code, &why, call.span);
        }
    }

    fn language(
        &mut self,
        name: &str,
        valued: Valued,
        fields: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        let words = fields.get(1..).unwrap_or_default();
        // The first operand is the script; what follows belongs to it.
        let (options, end) = read(super::modules::before(name, words), valued, true);
        let rest = words.get(end..).unwrap_or_default();
        let rest = after_verb(name, rest);
        let has_code = self.options_of_language(name, valued, &options, state, call)
            || may_hide_code(valued, words, end);
        self.loads(name, &options, state, call);
        let has_text = has_code || !matches!(call.input, Input::Given);
        self.given_by_variables(name, has_text, state, call);
        if has_code && options.has(&["i"]) {
            self.goes_on_reading(name, call);
        }
        self.started_by_ruby(name, &options, rest, state, call);
        let own = led(name, &options, state);
        let state = &own;
        let is_timed = options.values(&["m"]).any(|it| it.known() == Some("timeit"));
        let is_in_place = name.starts_with("perl") || name.starts_with("ruby");
        let changes = is_in_place && options.has(&["i"]);
        if has_code || is_timed || options.has_unknown {
            self.doubt(DoubtKind::Code, &format!("`{name}` is given code"), call.span);
            let kind = if changes { TouchKind::Write } else { TouchKind::Maybe };
            for file in rest.iter().filter(|_| !is_timed) {
                self.touch(kind, file, state, name, call.span);
            }
            return;
        }
        // The script itself is only read.
        for file in rest.iter().skip(1).filter(|_| changes) {
            self.touch(TouchKind::Write, file, state, name, call.span);
        }
        let is_database = matches!(name, "sqlite3" | "duckdb" | "psql" | "mysql");
        match rest.first() {
            _ if options.has(&["m"]) => {
                self.maybe(rest, state, name, call.span);
                // A module that is a program by itself as well.
                for module in options.values(&["m"]) {
                    self.read_by_module(name, module, call);
                    self.run(&[std::slice::from_ref(module), rest].concat(), state, call.span);
                    self.module(name, module, rest, state, call);
                }
            }
            Some(file) if is_database => self.database(name, file, rest, state, call),
            Some(file) if !is_stream(file) => {
                let is_command =
                    matches!(name, "bun") && file.known().is_some_and(|it| !it.contains('.'));
                if !is_command {
                    self.touch(TouchKind::Read, file, state, name, call.span);
                    self.run_written(file, Some(name), state, call);
                }
                self.maybe(rest.get(1..).unwrap_or_default(), state, name, call.span);
                self.given_to_framework(name, rest, call);
            }
            None if options.has(&["V", "v", "version", "h", "help"]) => {}
            _ => {
                self.reads_code(name, rest, state, call);
            }
        }
    }
}

/// Where a language is once it has gone to the folder that it is told: `ruby -C folder`.
fn led(name: &str, options: &Read, state: &State) -> State {
    let mut own = state.clone();
    for folder in options.values(&["C", "X"]).filter(|_| name.contains("ruby")) {
        own.folders = super::wrappers::led_to(&own, folder);
    }
    own
}

/// What follows the word of a language for starting a script, where that may also be told to read one: `bun run -`.
fn after_verb<'f>(name: &str, rest: &'f [Field]) -> &'f [Field] {
    let is_told = name == "bun" && rest.first().and_then(Field::known) == Some("run");
    match rest.get(1..) {
        Some(inner) if is_told && inner.first().is_some_and(is_stream) => inner,
        _ => rest,
    }
}

/// True if the operand at which reading stopped may be the value of a long option that is not listed, so that code may follow it.
fn may_hide_code(valued: Valued, words: &[Field], end: usize) -> bool {
    let last = end.checked_sub(1).and_then(|at| words.get(at)).and_then(Field::known);
    let long = last.and_then(|it| it.strip_prefix("--"));
    let is_open = long.is_some_and(|it| {
        !it.is_empty() && !it.contains('=') && valued.kind(it).is_none() && !valued.is_flag(it)
    });
    let is_code = |it: &Field| {
        let option = it.known().and_then(|it| it.strip_prefix('-'));
        let option = option.map(|it| it.trim_start_matches('-'));
        option.is_some_and(|it| !it.is_empty() && valued.kind(it) == Some("c"))
    };
    is_open && words.get(end + 1..).unwrap_or_default().iter().any(is_code)
}

/// True for the name of a switch with which patterns find no other files than without it.
fn keeps_patterns(name: &Field) -> bool {
    const SAME: &[&str] = &[
        "nullglob",
        "failglob",
        "inherit_errexit",
        "expand_aliases",
        "globstar",
        "nocasematch",
        "pipefail",
        "errexit",
        "nounset",
    ];
    name.known().is_some_and(|name| SAME.contains(&name))
}

/// True if a word may be an option of a database's client that takes statements.
fn may_be_code(word: &Field) -> bool {
    let text = word.begins();
    let is_short = text.starts_with('-') && !text.starts_with("--");
    let is_long = text.starts_with("--c") || text.starts_with("--e");
    !word.is_known() || is_long || is_short && text.contains(['c', 'e'])
}

/// What a shell knows that was started as a program: the variables that it may have got are not certain.
pub(super) fn child(state: &State) -> State {
    let mut own = state.clone();
    for value in own.variables.values_mut() {
        // Only exported ones are handed on, and which are is not followed.
        *value = Value::unknown();
    }
    own.aliases.clear();
    for function in own.functions.values_mut() {
        function.is_certain = false;
    }
    own.arguments = None;
    own.has_integers = false;
    own.has_dotglob = false;
    own
}

/// The name by which a program is looked up: some file systems know no case.
pub(super) fn lookup_name(written: &str) -> String {
    let name = base(written).to_ascii_lowercase();
    name.strip_suffix(".exe").map_or(name.clone(), str::to_owned)
}
