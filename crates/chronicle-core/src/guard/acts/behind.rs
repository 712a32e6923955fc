//! Commands that stand behind the words of programs which no table describes, and folders that programs go to before they start one.

use super::handed::is_in;
use super::invoke::Call;
use super::options::{Valued, read};
use super::state::State;
use super::value::Field;
use super::walk::Walker;
use super::wrappers::led_to;

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
    ("gosu su-exec chpst setuidgid", 1),
];
/// Programs whose words of these names a command follows, with how many words stand before it. These have other commands as well.
const COMMANDED: &[(&str, &str, usize)] = &[
    ("yarn", "run", 0),
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
    ("cross-env-shell", "", 0),
    ("watchfiles", "", 0),
];
/// Words of a program behind which a command most likely stands.
const MARKS: [&str; 3] = ["--", "exec", "run"];
/// Programs for which that is no command of this machine: a name of the project, words for a program of it, or a command that runs
/// elsewhere.
const OTHERS: &str = "cargo cross go npm pnpm yarn bun deno swift dotnet zig dart flutter crystal gleam bazel bazelisk blaze buck buck2 dlv \
    docker podman nerdctl docker-compose podman-compose kubectl oc crictl ctr nomad lxc incus multipass limactl vagrant machinectl wsl \
    ddev lando sail adb gh glab gcloud aws az heroku fly flyctl helm minikube";
/// Programs with options that name the folder in which they do everything else.
const LEADING: &[(&str, &str)] = &[
    ("pnpm", "-C --dir"),
    ("npm", "--prefix"),
    ("yarn bun turbo", "--cwd"),
    ("uv", "--directory"),
    ("poetry", "-C --directory"),
    ("mise", "-C --cd"),
    ("go", "-C"),
    ("cargo", "-C"),
    ("watchexec", "--workdir"),
];

/// The value of one of these options at a place, and whether it is the next word.
fn value_of(options: &str, words: &[Field], at: usize) -> Option<(Field, bool)> {
    let word = words.get(at)?;
    let text = word.begins();
    if is_in(options, text) {
        return Some((words.get(at + 1)?.clone(), true));
    }
    let glued = |option: &str| {
        let rest = text.strip_prefix(option)?;
        let is_long = option.starts_with("--");
        let skipped = if is_long { rest.strip_prefix('=')? } else { rest };
        Some((word.after(text.len() - skipped.len()), false))
    };
    options.split(' ').find_map(glued)
}

/// Where a program is once it has gone to the folder that it is told before its command. What follows the command is read by that.
pub(super) fn led_by(name: &str, words: &[Field], state: &State) -> Option<State> {
    let (_, options) = LEADING.iter().find(|(names, _)| is_in(names, name))?;
    // `go build -C folder`; the others have nothing between.
    let mut left = usize::from(name == "go");
    let (mut at, mut may_be_value) = (0, false);
    while let Some(word) = words.get(at) {
        let text = word.begins();
        if text == "--" {
            return None;
        }
        if let Some((folder, _)) = value_of(options, words, at) {
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
        if name == "sbt" {
            for text in words.iter().filter(|it| it.begins().starts_with('!')) {
                self.joined_text(&[text.after(1)], state, call);
            }
        }
    }

    /// What a program that no table describes may start: what follows `--`, `exec` and `run` is judged as a command as well.
    pub(super) fn perhaps_behind(
        &mut self,
        name: &str,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        if is_in(OTHERS, name) {
            return;
        }
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
                return self.behind_mark(words.get(at + 1..).unwrap_or_default(), &own, call);
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

    /// `wait-for host:port -- command`.
    pub(super) fn behind_mark(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let Some(at) = words.iter().position(|it| it.known() == Some("--")) else { return };
        let rest = words.get(at + 1..).unwrap_or_default();
        let is_program = |it: &Field| {
            it.known().is_some_and(|it| is_name(it) && !it.starts_with('-') && !it.contains('='))
        };
        if rest.first().is_some_and(is_program) {
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

/// True for a word that gives a variable a value before the command.
fn is_setting(word: &Field) -> bool {
    let name = word.begins().split_once('=').map(|(name, _)| name);
    let is_letter = |it: char| it.is_ascii_alphanumeric() || it == '_';
    name.is_some_and(|it| !it.is_empty() && it.chars().all(is_letter))
}
