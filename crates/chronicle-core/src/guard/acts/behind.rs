//! Commands that stand behind the words of programs which no table describes, and folders that programs go to before they start one.

use super::handed::is_in;
use super::invoke::Call;
use super::options::{Valued, read};
use super::state::State;
use super::value::{Field, Value};
use super::walk::Walker;
use super::wrappers::led_to;
use super::{CommandWord, DoubtKind};

/// Programs whose words are a command once their options end, with how many words stand before it.
const STARTERS: &[(&str, usize)] = &[
    (
        "cross-env dotenv dotenv-cli dotenvx env-cmd envconsul envdir dockerize wait-for-it wait-for",
        0,
    ),
    (
        "wait-for-it.sh wait-for.sh bear scan-build intercept-build compiledb ccache sccache distcc",
        0,
    ),
    ("wgo gow chronic heaptrack dumb-init tini pyenv-exec with-contenv", 0),
    (
        "summon sem tsp nq viddy hwatch rr austin mpirun mpiexec srun ssh-agent dbus-launch softlimit torify rtk xcrun ifne faketty \
         stdoutisatty aa-exec runcon cpulimit pkexec run0 xdg-terminal-exec",
        0,
    ),
    ("gosu su-exec chpst setuidgid s6-setuidgid envchain kcov lckdo setlock", 1),
];
/// Programs whose words of these names a command follows, with how many words stand before it. These have other commands as well.
const COMMANDED: &[(&str, &str, usize)] = &[
    ("yarn", "run", 0),
    ("mold", "-run", 0),
    ("mold", "--run", 0),
    ("samply", "record", 0),
    ("uftrace", "record", 0),
    ("trace-cmd", "record", 0),
    ("nsys", "profile", 0),
    ("pueue", "add", 0),
    ("mix", "cmd", 0),
    ("watchmedo", "auto-restart", 0),
    ("ctest", "--test-command", 0),
    ("meson", "devenv", 0),
    ("devenv", "shell", 0),
    ("heroku", "local:run", 0),
];
/// Programs whose word is followed by a text for a shell, with how many words stand before it.
const TEXTED: &[(&str, &str, usize)] = &[
    ("sops", "exec-env", 1),
    ("sops", "exec-file", 1),
    ("consul", "lock", 1),
    ("lerna", "exec", 0),
    ("deno", "--eval", 0),
    ("cross-env-shell", "", 0),
    ("watchfiles", "", 0),
];
/// Words of a program behind which a command most likely stands.
const MARKS: [&str; 3] = ["--", "exec", "run"];
/// Programs for which that is no command of this machine: a name of the project, words for a program of it, or a command that runs
/// elsewhere.
const OTHERS: &str = "cargo cross go npm pnpm yarn bun deno swift dotnet zig dart flutter crystal gleam bazel bazelisk blaze buck buck2 dlv \
    docker podman nerdctl finch container docker-compose podman-compose kubectl oc crictl ctr nomad lxc incus multipass limactl vagrant machinectl wsl \
    ddev lando sail adb gh glab gcloud aws az heroku fly flyctl helm minikube";
/// Programs that take files behind `--`, and words of others that do.
const FILED: (&str, [&str; 12]) = (
    "pytest py.test mocha jest vitest ava tap jasmine karma cypress playwright rspec minitest phpunit pest bats tox nox eslint tslint mypy \
     pyright basedpyright pyre flake8 pylint pycodestyle pydocstyle bandit ruff rubocop standardrb erb_lint phpcs phpcbf phpstan psalm \
     shellcheck hadolint yamllint actionlint ktlint detekt swiftlint swiftformat codespell typos cspell vale proselint alex textlint tsc swc \
     babel sass lessc postcss terser esbuild webpack rollup vite parcel svgo gh hub svn hg jj pre-commit lint-staged trash trash-put \
     mkdocs pandoc typst pdflatex latexmk tokei cloc scc fzf sk code subl gum delta bat glow mdcat chafa viu feh mpv vlc open",
    [
        "check", "fix", "lint", "format", "fmt", "test", "diff", "show", "search", "grep", "files",
        "write",
    ],
);
/// Programs with options that name the folder in which they do everything else.
const LEADING: &[(&str, &str)] = &[
    ("pnpm", "-C --dir"),
    ("pdm", "-p --project"),
    ("nodemon concurrently deno", "--cwd"),
    ("composer", "-d --working-dir"),
    ("npm", "--prefix"),
    ("yarn bun turbo", "--cwd"),
    ("uv", "--directory"),
    ("poetry", "-C --directory"),
    ("mise", "-C --cd"),
    ("go", "-C"),
    ("cargo", "-C"),
    ("watchexec", "--workdir"),
];

/// Options by which programs that no table describes most likely name such a folder.
const PERHAPS_LEADING: &str = "-C --cwd --directory --dir --working-dir --working-directory --workdir --chdir --project --project-dir \
    --root --root-dir --base-dir --work-dir --work-tree --current-dir --start-dir --run-in --folder --workspace --workspace-folder --path \
    --pwd --wdir --test-dir -wdir -w -d -D -R";

/// The value of one of these options at a place.
pub(super) fn value_of(options: &str, words: &[Field], at: usize) -> Option<Field> {
    let word = words.get(at)?;
    let text = word.begins();
    if is_in(options, text) {
        return words.get(at + 1).cloned();
    }
    let glued = |option: &str| {
        let rest = text.strip_prefix(option)?;
        let is_long = option.starts_with("--");
        let skipped = if is_long { rest.strip_prefix('=')? } else { rest };
        Some(word.after(text.len() - skipped.len()))
    };
    options.split(' ').find_map(glued)
}

/// Where a program is once it has gone to the folder that it is told before its command, or by a variable. What follows the command is
/// read by that.
pub(super) fn led_by(name: &str, words: &[Field], state: &State) -> Option<State> {
    led_by_option(name, words, state).or_else(|| {
        let value = state.variables.get("UV_WORKING_DIRECTORY").filter(|_| name == "uv")?;
        let Value::One(folder) = value else { return None };
        let mut own = state.clone();
        own.folders = led_to(state, folder);
        Some(own)
    })
}

/// The folder that `pnpm` picks packages by: `./docs`, `{docs}`, either with `...` around it.
fn picked_by(filter: &Field) -> Option<Field> {
    let text = filter.known()?;
    let text = text.strip_suffix("...").or(text.strip_prefix("...")).unwrap_or(text);
    let inner = text.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
    let is_path = ["./", "../", "/"].iter().any(|it| text.starts_with(it));
    inner.or(is_path.then_some(text)).map(Field::text)
}

/// Where a program that no table describes may be when it starts what stands behind its words: here, or where an option leads.
fn perhaps_led(words: &[Field], state: &State) -> State {
    let mut own = state.clone();
    let (mut is_marked, mut may_be_value) = (false, false);
    for (at, word) in words.iter().enumerate() {
        let text = word.begins();
        if text == "--" {
            break;
        }
        if let Some(folder) = value_of(PERHAPS_LEADING, words, at) {
            own.may_be_in(&led_to(state, &folder));
        }
        let is_option = text.starts_with(['-', '+']);
        // What follows the command is for that.
        if is_marked && !is_option && !may_be_value {
            break;
        }
        is_marked |= MARKS.contains(&text);
        may_be_value = is_option && !text.contains('=');
    }
    own
}

fn led_by_option(name: &str, words: &[Field], state: &State) -> Option<State> {
    let (_, options) = LEADING.iter().find(|(names, _)| is_in(names, name))?;
    // `go build -C folder`; the others have nothing between.
    let mut left = usize::from(matches!(name, "go" | "deno"));
    let (mut at, mut may_be_value) = (0, false);
    while let Some(word) = words.get(at) {
        let text = word.begins();
        if text == "--" {
            return None;
        }
        let filter = value_of("-F --filter", words, at).filter(|_| name == "pnpm");
        let picked = filter.as_ref().and_then(picked_by);
        if let Some(folder) = value_of(options, words, at).or(picked) {
            let mut own = state.clone();
            own.folders = led_to(state, &folder);
            // By its command it may also stay where it is.
            if name == "npm" {
                own.folders.extend(state.folders.iter().cloned());
            }
            return Some(own);
        }
        let is_option = text.starts_with(['-', '+']);
        if !is_option && !may_be_value && name != "watchexec" {
            left = left.checked_sub(1)?;
        }
        may_be_value = is_option && !text.contains('=');
        at += 1;
    }
    None
}

/// True for a word that says which version is meant, and no program: `20`, `node@20`, `lts/*`.
fn is_version(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_digit())
        || text.contains('@')
        || text.starts_with("lts/")
}

/// True for a word that is the name of a program, or leads to where programs are installed.
fn is_name(text: &str) -> bool {
    !text.contains(char::is_whitespace)
        && (!text.contains('/') || super::copies::is_installed(text))
}

impl Walker<'_> {
    /// What programs that are known for it start.
    pub(super) fn started_behind(
        &mut self,
        name: &str,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        for (_, skips) in STARTERS.iter().filter(|(names, _)| is_in(names, name)) {
            self.first_command(words, *skips, true, state, call);
        }
        let place = |word: &str| {
            let at = words.iter().position(|it| it.known() == Some(word));
            if word.is_empty() { Some(0) } else { at.map(|at| at + 1) }
        };
        for (_, word, skips) in COMMANDED.iter().filter(|(program, ..)| *program == name) {
            let Some(at) = place(word) else { continue };
            let rest = words.get(at..).unwrap_or_default();
            self.first_command(rest, *skips, name != "yarn", state, call);
        }
        for (_, word, skips) in TEXTED.iter().filter(|(program, ..)| *program == name) {
            let Some(at) = place(word) else { continue };
            let rest = words.get(at..).unwrap_or_default();
            let mut operands =
                rest.iter().filter(|it| !it.begins().starts_with('-') && !is_setting(it));
            if name == "cross-env-shell" {
                let all: Vec<Field> = operands.cloned().collect();
                self.joined_text(&all, state, call);
            } else if *skips == 0 {
                // Values of options may stand before it, and names of functions in its place.
                for text in operands.filter(|it| it.begins().contains(' ')) {
                    self.joined_text(std::slice::from_ref(text), state, call);
                }
            } else if let Some(text) = operands.nth(*skips) {
                self.joined_text(std::slice::from_ref(text), state, call);
            }
        }
        self.started_for_node(name, words, state, call);
        if name == "sbt" {
            for text in words.iter().filter(|it| it.begins().starts_with('!')) {
                self.joined_text(&[text.after(1)], state, call);
            }
        }
    }

    /// `bun x package`, `bun exec text`, and `nvm run version script`.
    fn started_for_node(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) {
        if matches!(name, "pnpm" | "yarn") {
            return self.text_behind_exec(name, words, state, call);
        }
        if !matches!(name, "bun" | "nvm") {
            return;
        }
        let (_, at) = read(words, Valued("cwd c config r preload env-file"), true);
        let rest = words.get(at + 1..).unwrap_or_default();
        match (name, words.get(at).and_then(Field::known)) {
            ("bun", Some("x")) => self.first_command(rest, 0, true, state, call),
            ("bun", Some("exec")) => {
                self.joined_text(rest.get(..1).unwrap_or_default(), state, call);
            }
            ("nvm", Some("run")) => {
                let is_other =
                    |it: &&Field| it.begins().starts_with('-') || is_version(it.begins());
                let skipped = rest.iter().take_while(is_other).count();
                let script = rest.get(skipped..).unwrap_or_default();
                self.start(&[&[Field::text("node")], script].concat(), state, call);
            }
            _ => {}
        }
    }

    /// `pnpm -c exec text`, and `yarn exec text`.
    fn text_behind_exec(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) {
        let is_it = |wanted: &[&str]| {
            words.iter().position(|it| it.known().is_some_and(|it| wanted.contains(&it)))
        };
        let Some(at) = is_it(&["exec"]) else { return };
        let rest = words.get(at + 1..).unwrap_or_default();
        let first = rest.iter().position(|it| !it.begins().starts_with('-'));
        let text = rest.get(first.unwrap_or(rest.len())..).unwrap_or_default();
        let is_alone = text.len() == 1 && text[0].begins().contains(char::is_whitespace);
        if is_it(&["-c", "--shell-mode"]).is_some() || name == "yarn" && is_alone {
            self.joined_text(text, state, call);
        }
    }

    /// What a program that no table describes may start: what follows `--`, `exec` and `run` is judged as a command as well.
    pub(super) fn perhaps_behind(
        &mut self,
        (name, is_of_project): (&str, bool),
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        if is_in(OTHERS, name) {
            return;
        }
        let led = perhaps_led(words, state);
        let state = &led;
        if !is_of_project {
            self.unknown_behind(name, words, call);
        }
        self.perhaps_among(name, words, state, call);
        for mark in MARKS {
            let at = words.iter().position(|it| it.known() == Some(mark));
            if let Some(at) = at {
                let rest = words.get(at + 1..).unwrap_or_default();
                self.first_command(rest, 0, false, state, call);
            }
        }
        // `tool x command`.
        if words.first().and_then(Field::known) == Some("x") {
            self.first_command(words.get(1..).unwrap_or_default(), 0, false, state, call);
        }
    }

    /// A program that is not known where surely one is meant: `tool exec name -- $CMD`, and `tool -- $CMD` of one that takes no files. Behind `run` stand tasks as well, and words for
    /// them, so that nothing but options may stand between that and the mark.
    fn unknown_behind(&mut self, name: &str, words: &[Field], call: Call<'_>) {
        let place = |mark: &str| words.iter().position(|it| it.known() == Some(mark));
        let is_open = |at: usize| words.get(at + 1).is_some_and(is_open);
        let are_options = |from: usize, to: usize| {
            let is_value = |at: usize| {
                let before = words.get(at - 1).map_or("", Field::begins);
                before.starts_with('-') && !before.contains('=')
            };
            (from + 1..to).all(|at| words[at].begins().starts_with('-') || is_value(at))
        };
        let mark = place("--");
        let is_unknown = match (place("exec"), place("run"), mark) {
            (Some(at), _, _) if is_open(at) => true,
            (Some(at), _, Some(mark)) if at < mark => is_open(mark),
            (_, Some(at), Some(mark)) if at < mark => is_open(mark) && are_options(at, mark),
            (None, None, Some(mark)) => is_open(mark) && !takes_files(name, words),
            _ => false,
        };
        if is_unknown {
            self.doubt(DoubtKind::Command, "which program is started is not known", call.span);
        }
    }

    /// The command behind options and variables. Which options take the next word is not known, so that both are tried.
    pub(super) fn first_command(
        &mut self,
        words: &[Field],
        skips: usize,
        is_sure: bool,
        state: &State,
        call: Call<'_>,
    ) {
        let mut own = state.clone();
        let (mut left, mut may_be_value) = (skips, false);
        for (at, word) in words.iter().enumerate() {
            let text = word.begins();
            if text == "--" {
                (left, may_be_value) = (0, false);
                continue;
            }
            if text.starts_with(['-', '+']) {
                may_be_value = !text.contains('=');
                continue;
            }
            if is_setting(word) {
                self.environment(words.get(at..=at).unwrap_or_default(), &mut own, call.span);
                continue;
            }
            if left > 0 && !may_be_value {
                left -= 1;
                continue;
            }
            let Some(text) = word.known() else {
                if is_sure && !may_be_value {
                    self.start(words.get(at..).unwrap_or_default(), &own, call);
                }
                return;
            };
            let is_whole = is_sure && !may_be_value;
            if !is_sure && text.contains(' ') && at + 1 == words.len() {
                let before = self.acts.unknown.len();
                self.joined_text(std::slice::from_ref(word), &own, call);
                self.without_doubts(before);
            }
            if is_whole && text.contains(' ') && at + 1 == words.len() {
                return self.joined_text(std::slice::from_ref(word), &own, call);
            }
            if is_whole || is_name(text) && !is_version(text) {
                let rest = words.get(at..).unwrap_or_default();
                let before = self.acts.unknown.len();
                self.start(rest, &own, call);
                self.started_without_mark(rest, &own, call);
                if !is_sure {
                    self.without_options(before);
                }
            }
            if !may_be_value && !is_version(text) {
                // `host:port -- $CMD`.
                let is_address = is_sure && text.contains(':');
                let rest = words.get(at + 1..).unwrap_or_default();
                return self.behind_mark(rest, is_address, &own, call);
            }
            may_be_value = false;
        }
    }

    /// `tool command -- words`: some take the mark away.
    fn started_without_mark(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        if let [program, mark, rest @ ..] = words
            && mark.known() == Some("--")
        {
            self.start(&[std::slice::from_ref(program), rest].concat(), state, call);
        }
    }

    /// `wait-for host:port -- command`. It is surely one where `is_sure`.
    pub(super) fn behind_mark(
        &mut self,
        words: &[Field],
        is_sure: bool,
        state: &State,
        call: Call<'_>,
    ) {
        let Some(at) = words.iter().position(|it| it.known() == Some("--")) else { return };
        let rest = words.get(at + 1..).unwrap_or_default();
        let is_program = |it: &Field| {
            it.known().is_some_and(|it| is_name(it) && !it.starts_with('-') && !it.contains('='))
        };
        if rest.first().is_some_and(|it| is_program(it) || is_sure && is_open(it)) {
            self.start(rest, state, call);
        }
    }

    /// `nodemon --exec command -- words`: what follows the options goes to the command.
    pub(super) fn command_with_rest(
        &mut self,
        value: &Field,
        rest: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        const VALUED: &str = "e ext w watch i ignore d delay s signal c config cwd";
        let (_, end) = read(rest, Valued(VALUED), true);
        let more = rest.get(end..).unwrap_or_default();
        if more.is_empty() || !more.iter().all(Field::is_known) {
            return;
        }
        let mut command = value.clone();
        for word in more {
            command.push_text(" ");
            command.extend(word);
        }
        self.joined_text(&[command], state, call);
    }
}

/// True for a program that takes files, patterns or texts behind `--`, and one of the project, which has words of its own.
fn takes_files(name: &str, words: &[Field]) -> bool {
    // It checks, formats, shows or builds something.
    let is_telling = |it: &Field| {
        let word = it.begins().trim_start_matches('-');
        FILED.1.contains(&word)
    };
    is_in(FILED.0, name)
        || name.contains('.')
        || super::outputs::is_changer(name)
        || super::started::is_builder(name)
        || words.iter().any(is_telling)
}

/// True for a word of which nothing is known.
fn is_open(word: &Field) -> bool {
    matches!(word.to_word(), CommandWord::Unknown { begins, is_name: false } if begins.is_empty())
}

/// True for a word that gives a variable a value before the command.
fn is_setting(word: &Field) -> bool {
    let name = word.begins().split_once('=').map(|(name, _)| name);
    let is_letter = |it: char| it.is_ascii_alphanumeric() || it == '_';
    name.is_some_and(|it| !it.is_empty() && it.chars().all(is_letter))
}
