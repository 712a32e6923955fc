//! Programs that start files which the same text writes, by less than their names, and programs that write files which they are told.

use super::invoke::Call;
use super::state::State;
use super::value::Field;
use super::walk::{Input, Walker};

/// Endings that a name may be given without, by what starts it.
const ENDINGS: &[(&str, &[&str])] = &[
    ("python", &["/__main__.py"]),
    ("pypy", &["/__main__.py"]),
    ("node", &[".js", ".cjs", ".mjs", "/index.js", "/index.cjs", "/index.mjs"]),
    ("bun", &[".js", ".ts", ".tsx", "/index.js", "/index.ts"]),
    ("tsx", &[".js", ".ts", "/index.js", "/index.ts"]),
    ("ts-node", &[".js", ".ts", "/index.js", "/index.ts"]),
];

/// The files that a name stands for where a language is told to start it: `node x` starts `x.js` or `x/index.js`.
pub(super) fn meant_by(by: &str, file: &Field) -> Vec<String> {
    let Some(path) = file.known() else { return Vec::new() };
    let found = ENDINGS.iter().find(|(language, _)| by.starts_with(language));
    let endings = found.map(|(_, endings)| *endings).unwrap_or_default();
    let path = path.trim_end_matches('/');
    endings.iter().map(|ending| format!("{path}{ending}")).collect()
}

/// True if `sort` reads what it is handed, and no file.
pub(super) fn sorts_input(words: &[Field]) -> bool {
    let mut words = words.iter().map(|it| it.known().unwrap_or("?"));
    while let Some(word) = words.next() {
        match word {
            "-o" | "--output" | "-k" | "-t" => drop(words.next()),
            "-" => {}
            word if word.starts_with('-') => {}
            _ => return false,
        }
    }
    true
}

/// The files that `sort -o` and `split` write.
pub(super) fn put_out_by(name: &str, words: &[Field]) -> Vec<Field> {
    if name == "split" {
        let is_operand = |it: &&Field| !it.begins().starts_with('-') || it.known() == Some("-");
        let operands: Vec<&str> =
            words.iter().filter(is_operand).filter_map(Field::known).collect();
        let prefix = if operands.len() > 1 { operands[operands.len() - 1] } else { "x" };
        let endings = ["aa", "ab", "ac", "ad", "00", "01", "02", "03"];
        return endings.iter().map(|it| Field::text(&format!("{prefix}{it}"))).collect();
    }
    let mut files = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.begins() {
            "-o" | "--output" => files.extend(words.next().cloned()),
            text if text.starts_with("--output=") => files.push(word.after("--output=".len())),
            text if text.starts_with("-o") => files.push(word.after(2)),
            _ => {}
        }
    }
    files
}

/// Programs that build code or start it, with its language and how its files end. What is built is there to be started.
const BUILDERS: &[(&str, &str, &str)] = &[
    ("java javac jbang", "java", "java"),
    ("gcc cc g++ c++ clang clang++ tcc", "c", "c cc cpp cxx C m mm"),
    ("rustc rust-script", "rust", "rs"),
    ("gorun yaegi gomacro", "go", "go"),
    ("kotlinc kotlin kotlinc-jvm kscript", "kotlin", "kt kts"),
    ("csc mcs dotnet dotnet-script csi csharp", "csharp", "cs csx"),
    ("swift swiftc", "swift", "swift"),
    ("zig", "zig", "zig"),
    ("nim", "nim", "nim"),
    ("dart", "dart", "dart"),
    ("scala scalac scala-cli", "scala", "scala sc"),
    ("crystal", "crystal", "cr"),
    ("ghc runghc runhaskell stack", "haskell", "hs"),
    ("ocaml ocamlc ocamlopt ocamlfind", "ocaml", "ml"),
    ("dmd rdmd ldc2", "d", "d"),
    ("v", "v", "v"),
    ("groovy groovyc", "groovy", "groovy"),
    ("torchrun accelerate deepspeed streamlit py-spy mprof", "python3", "py"),
    ("nodemon ts-node-dev pm2 vite-node", "node", "js mjs cjs ts"),
    ("rails pry bundle spring", "ruby", "rb"),
    ("c8 nyc dotenv dotenvx env-cmd", "node", "js mjs cjs ts"),
    ("fpc", "pascal", "pas pp lpr"),
];

/// True if `deno` and others that have commands are told code, or told to read it.
pub(super) fn is_given_code(words: &[Field], input: &Input) -> bool {
    let is_file = |it: &str| it.contains('.') && !it.starts_with(['-', '/']);
    let before = words.iter().take_while(|it| !it.known().is_some_and(is_file));
    let first = words.iter().find(|it| !it.begins().starts_with('-')).and_then(Field::known);
    match first {
        Some("eval" | "repl") => true,
        Some("run") => before.into_iter().any(super::shells::is_stream),
        Some(_) => words.first().is_some_and(super::shells::is_stream),
        None => {
            let is_told = words.iter().any(|it| it.begins().starts_with("--"));
            !is_told && !matches!(input, Input::Given)
        }
    }
}

/// True for a program that makes programs of code.
pub(super) fn is_builder(name: &str) -> bool {
    built_by(name).is_some() || ["go", "cargo", "tsc", "esbuild", "swc"].contains(&name)
}

fn built_by(name: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    BUILDERS.iter().find(|(names, ..)| names.split(' ').any(|it| it == name))
}

fn ends_with(path: &str, ending: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, last)| last == ending)
}

/// The words that end like files of a language.
fn ending_in(words: &[&str], endings: &[&str]) -> Vec<String> {
    let is_one = |it: &&&str| endings.iter().any(|ending| ends_with(it, ending));
    words.iter().filter(is_one).map(|it| (*it).to_owned()).collect()
}

fn is_file_option(word: &str) -> bool {
    word.starts_with("-f") || word.starts_with("--rakefile")
}

impl Walker<'_> {
    /// Tasks are commands of the project like those of `make`: who changes and runs them in one call is asked about it.
    fn changed_tasks(&mut self, files: &[String], state: &State, call: Call<'_>) {
        let files: Vec<Field> = files.iter().map(|it| Field::text(it)).collect();
        if super::written::places_of(&files, state).iter().any(|it| self.is_changed(it)) {
            let why = "it runs tasks that it changes before";
            self.doubt(super::DoubtKind::Text, why, call.span);
        }
    }

    /// Walks files that this text wrote, where a program is told to build and start them, or starts them unasked.
    pub(super) fn started(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) {
        if self.written.is_empty() && self.forgotten.is_empty() && !self.has_changed {
            return;
        }
        let known: Vec<&str> = words.iter().filter_map(Field::known).collect();
        let first = |words: &[&str]| {
            words.iter().find(|it| !it.starts_with('-')).map(|it| (*it).to_owned())
        };
        let (language, files): (&str, Vec<String>) = match (name, known.as_slice()) {
            ("go", ["run" | "build" | "install", rest @ ..]) => ("go", self.sources(rest, &["go"])),
            // What builds a whole project starts any source of it.
            ("cargo", rest) if matches!(first(rest).as_deref(), Some("run" | "r")) => {
                ("rust", self.sources(&[], &["rs"]))
            }
            // A file as a script.
            ("cargo", rest) if rest.iter().any(|it| ["-Zscript", "script"].contains(it)) => {
                ("rust", ending_in(rest, &["rs"]))
            }
            ("dotnet", rest) if first(rest).as_deref() == Some("run") => {
                ("csharp", self.sources(&[], &["cs"]))
            }
            ("gradle" | "gradlew" | "mvn" | "mvnw", rest)
                if rest.iter().any(|it| it.ends_with("run") || it.contains("exec:")) =>
            {
                ("java", self.sources(&[], &["java", "kt", "groovy", "scala"]))
            }
            ("uv" | "pdm" | "rye" | "pipenv" | "poetry" | "hatch", ["run", rest @ ..]) => {
                ("python3", first(rest).filter(|it| ends_with(it, "py")).into_iter().collect())
            }
            ("deno" | "bun", ["run", rest @ ..]) => {
                (name, first(rest).filter(|it| it.contains(['.', '/'])).into_iter().collect())
            }
            ("mix", ["run", rest @ ..]) => ("elixir", ending_in(rest, &["exs", "ex"])),
            ("dotnet", ["fsi", rest @ ..]) => ("csharp", ending_in(rest, &["fsx"])),
            ("zig", ["run" | "cc" | "c++" | "build-exe", rest @ ..])
                if rest
                    .iter()
                    .any(|it| ["c", "cc", "cpp"].iter().any(|end| ends_with(it, end))) =>
            {
                ("c", self.sources(rest, &["c", "cc", "cpp"]))
            }
            ("rake", _) => {
                let all = ["Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"].map(str::to_owned);
                let told = known.iter().skip_while(|it| !is_file_option(it));
                let told = told.filter_map(|it| it.rsplit('=').next()).map(str::to_owned);
                let own = self.written.iter().map(|(place, _)| place).chain(&self.forgotten);
                let own = own.filter(|it| ends_with(it, "rake")).map(|it| format!("/{it}"));
                let all: Vec<String> = all.into_iter().chain(told).chain(own).collect();
                self.changed_tasks(&all, state, call);
                ("ruby", all)
            }
            (_, rest) => {
                let Some((_, language, endings)) = built_by(name) else { return };
                let endings: Vec<&str> = endings.split(' ').collect();
                // A pattern or a list of files takes in whatever this text wrote.
                let files = if words.iter().all(Field::is_known) {
                    ending_in(rest, &endings)
                } else {
                    self.sources(rest, &endings)
                };
                (language, files)
            }
        };
        for file in files {
            self.run_written(&Field::text(&file), Some(language), state, call);
        }
    }

    /// Code that a compiler reads: what it makes of that is there to be started.
    pub(super) fn built_of_input(
        &mut self,
        name: &str,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        const SPARING: [&str; 7] = ["-E", "-S", "-c", "-M", "-MM", "-fsyntax-only", "--print"];
        let Some((_, language, _)) = built_by(name) else { return };
        let is_sparing = |it: &Field| it.known().is_some_and(|it| SPARING.contains(&it));
        let Some(input) = words.iter().find(|it| super::shells::is_stream(it)) else { return };
        if words.iter().any(is_sparing) {
            return;
        }
        let input = input.clone();
        let Some(text) = self.code_in(&input, state, call) else { return };
        let Some(text) = text.known() else {
            let why = format!("`{name}` builds code that is not known");
            return self.doubt(super::DoubtKind::Text, &why, call.span);
        };
        let (by, folders) = ((*language).to_owned(), state.folders.clone());
        let script = super::WrittenScript { by, text: text.to_owned(), folders };
        if !self.acts.scripts.contains(&script) {
            self.acts.scripts.push(script);
        }
    }

    /// Walks programs that this text wrote to where programs are looked for, and that it starts by their names.
    pub(super) fn found_by_name(
        &mut self,
        written: &str,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        if written.contains('/') || self.written.is_empty() && self.forgotten.is_empty() {
            return;
        }
        let mut names = vec![written.to_owned()];
        let first = words.iter().filter_map(Field::known).find(|it| !it.starts_with('-'));
        match (written, first) {
            // Commands of these are programs of their own.
            ("git" | "cargo" | "kubectl" | "docker" | "gh" | "npm", Some(first)) => {
                names.push(format!("{written}-{first}"));
            }
            ("yarn" | "pnpm" | "bun" | "composer", Some(first)) => names.push(first.to_owned()),
            _ => {}
        }
        let is_meant = |place: &&String| {
            let (folder, name) = place.rsplit_once('/').unwrap_or(("", place));
            let folder = super::invoke::base(folder);
            ["bin", ".bin", "sbin"].contains(&folder) && names.iter().any(|it| it == name)
        };
        let all = self.written.iter().map(|(place, _)| place).chain(&self.forgotten);
        let mut found: Vec<String> = all.filter(is_meant).cloned().collect();
        found.dedup();
        for place in found {
            self.run_written(&Field::text(&format!("/{place}")), None, state, call);
        }
    }

    /// The sources of what a language starts that this text wrote and has made into it: `tsc a.ts && node a.js`.
    pub(super) fn made_into(&self, by: &str, file: &Field) -> Vec<String> {
        const SOURCES: [&str; 7] = ["ts", "tsx", "mts", "cts", "jsx", "coffee", "js"];
        const BUNDLERS: [&str; 9] =
            ["esbuild", "swc", "rollup", "webpack", "parcel", "tsup", "ncc", "vite", "babel"];
        let starts = ["node", "bun", "deno"].iter().any(|it| by.starts_with(it));
        let Some(path) = file.known().filter(|_| starts) else { return Vec::new() };
        let stem = |path: &str| {
            let name = super::invoke::base(path);
            name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
        };
        let is_bundled = self.acts.runs.iter().any(|run| BUNDLERS.contains(&run.program.as_str()));
        let is_meant = |place: &String| {
            let is_source = SOURCES.iter().any(|ending| ends_with(place, ending));
            is_source && (is_bundled || stem(place) == stem(path))
        };
        let all = self.written.iter().map(|(place, _)| place).chain(&self.forgotten);
        all.filter(|place| is_meant(place)).map(|place| format!("/{place}")).collect()
    }

    /// The files that are built: those that are named, and all that this text wrote, which are of the project or are loaded by it.
    fn sources(&self, words: &[&str], endings: &[&str]) -> Vec<String> {
        let is_one = |path: &str| endings.iter().any(|ending| ends_with(path, ending));
        let named = words.iter().filter(|it| is_one(it)).map(|it| (*it).to_owned());
        let all = self.written.iter().map(|(place, _)| place).chain(&self.forgotten);
        let all = all.filter(|it| is_one(it)).map(|it| format!("/{it}"));
        named.chain(all).collect()
    }
}
