//! Variables that change what programs run, load or look for.

use super::state::State;
use super::value::{Field, Value};
use super::walk::{Dialect, Input, Walker};
use super::{ByteSpan, DoubtKind, TouchKind};

/// Their values are commands that some program runs.
const COMMANDS: &[&str] = &[
    "PROMPT_COMMAND",
    "GIT_SSH_COMMAND",
    "GIT_SSH",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_ASKPASS",
    "GIT_PROXY_COMMAND",
    "PAGER",
    "MANPAGER",
    "SYSTEMD_PAGER",
    "GH_PAGER",
    "GH_EDITOR",
    "GH_BROWSER",
    "DELTA_PAGER",
    "BAT_PAGER",
    "EDITOR",
    "VISUAL",
    "FCEDIT",
    "SUDO_EDITOR",
    "KUBE_EDITOR",
    "SUDO_ASKPASS",
    "SSH_ASKPASS",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "RSYNC_RSH",
    "CVS_RSH",
    "SVN_SSH",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC",
    "RUSTDOC",
    "FZF_DEFAULT_COMMAND",
    "SHELL",
    "MAKE",
    "CC",
    "CXX",
    "LD",
    "MANROFFOPT",
    "TAR_RSH",
    "KUBECTL_EXTERNAL_DIFF",
    "HGEDITOR",
    "CARGO",
];
/// Their values are expanded as a prompt, and substitutions in them run.
const PROMPTS: &[&str] = &["PS0", "PS1", "PS2", "PS3", "PS4"];
/// They make programs load code or settings.
const LOADING: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "BASH_LOADABLES_PATH",
    "BASH_COMPAT",
    "BASH_XTRACEFD",
    "POSIXLY_CORRECT",
    "TEXTDOMAIN",
    "TEXTDOMAINDIR",
    "GCONV_PATH",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONBREAKPOINT",
    "PYTHONWARNINGS",
    "PERL5OPT",
    "PERL5DB",
    "RUBYOPT",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LUA_INIT",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "MAKEFILES",
    "MAKEFLAGS",
    "GNUMAKEFLAGS",
    "EXINIT",
    "VIMINIT",
    "MYVIMRC",
    "INPUTRC",
    "ZDOTDIR",
    "TAR_OPTIONS",
    "RIPGREP_CONFIG_PATH",
    "CURL_HOME",
    "WGETRC",
    "NETRC",
    "DOCKER_HOST",
    "KUBECONFIG",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "TERMINFO",
    "TERMCAP",
    "LESSKEY",
    "HISTFILE",
    "BASH_ALIASES",
    "BASH_CMDS",
    "DIRSTACK",
    "EPOCHREALTIME",
    "NIX_PATH",
    "RIPGREP_CONFIG",
    "OPENSSL_CONF",
    "SSLKEYLOGFILE",
    "HOSTALIASES",
    "LOCALDOMAIN",
    "RES_OPTIONS",
    "MALLOC_TRACE",
    "GETCONF_DIR",
    "TZDIR",
    "NLSPATH",
    "LOCPATH",
];
/// Their values are files and folders that programs write to.
const OUTPUTS: &[&str] = &[
    "NODE_REDIRECT_WARNINGS",
    "NODE_V8_COVERAGE",
    "NODE_COMPILE_CACHE",
    "GCOV_PREFIX",
    "COVERAGE_FILE",
    "LLVM_PROFILE_FILE",
    "PYTHONPYCACHEPREFIX",
    "TMPDIR",
    "TMP",
    "TEMP",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "GOCACHE",
    "GOBIN",
    "UV_PROJECT_ENVIRONMENT",
    "GOTMPDIR",
    "XDG_CACHE_HOME",
    "PIP_CACHE_DIR",
    "PIP_TARGET",
    "UV_CACHE_DIR",
    "CCACHE_DIR",
    "SCCACHE_DIR",
];
/// They say where programs and their parts are looked for.
pub(super) const SEARCHED: &[&str] = &[
    "PATH",
    "CDPATH",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "NODE_PATH",
    "PERL5LIB",
    "PERLLIB",
    "RUBYLIB",
    "GEM_PATH",
    "GEM_HOME",
    "CLASSPATH",
    "LUA_PATH",
    "LUA_CPATH",
    "AWKPATH",
    "AWKLIBPATH",
    "MANPATH",
    "EXECIGNORE",
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "GOPATH",
    "CARGO_HOME",
    "RUSTUP_HOME",
];
/// They load a file, but are used every day with a name that is none, or with a file of the project.
const OWN_FILES: [&str; 2] = ["ENV", "KUBECONFIG"];
/// Variables of git that only say who, when and how loud.
const HARMLESS_GIT: &[&str] = &[
    "GIT_TERMINAL_PROMPT",
    "GIT_MERGE_AUTOEDIT",
    "GIT_OPTIONAL_LOCKS",
    "GIT_PAGER_IN_USE",
    "GIT_DEPTH",
    "GIT_LFS_SKIP_SMUDGE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_REFLOG_ACTION",
    "GIT_ADVICE",
    "GIT_FLUSH",
    "GIT_LITERAL_PATHSPECS",
    "GIT_PREFIX",
    "GIT_COMMIT",
    "GIT_SHA",
    "GIT_BRANCH",
    "GIT_TAG",
    "GIT_ROOT",
    "GIT_REPO",
    "GIT_URL",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_CLONE_PROTECTION_ACTIVE",
];

impl Walker<'_> {
    /// Looks at a variable that is given a value.
    pub(super) fn watched(&mut self, name: &str, value: &Value, state: &State, span: ByteSpan) {
        if PROMPTS.contains(&name) {
            self.prompt(name, value, state, span);
        } else if COMMANDS.contains(&name) {
            self.command_value(name, value, state, span);
        } else if let Some(setting) = super::settings::by_variable(name) {
            self.set_by_variable(name, &setting, value, state, span);
        } else if OUTPUTS.contains(&name) {
            if let Value::One(path) = value
                && path.is_known()
            {
                self.touch(TouchKind::Likely, path, state, name, span);
            }
        } else if SEARCHED.contains(&name) {
            self.doubt(DoubtKind::Search, &format!("`{name}` changes where programs look"), span);
        } else if loads(name, value) || self.is_file_of_text(name, value, state) {
            self.doubt(
                DoubtKind::Variable,
                &format!("`{name}` changes what programs do or load"),
                span,
            );
        } else if name == "KUBECONFIG"
            && let Value::One(files) = value
        {
            for file in files.known().unwrap_or_default().split(':') {
                self.touch(TouchKind::Read, &Field::text(file), state, name, span);
            }
        }
    }

    /// True if a variable that usually changes nothing names a file that this text wrote.
    fn is_file_of_text(&mut self, name: &str, value: &Value, state: &State) -> bool {
        let Value::One(file) = value else { return false };
        let Some(files) = file.known().filter(|_| OWN_FILES.contains(&name)) else { return false };
        let mut files = files.split(':').map(Field::text);
        files.any(|it| self.code_at(&it, state).is_some())
    }

    /// A value that is expanded at some later point, whenever a prompt is shown.
    fn prompt(&mut self, name: &str, value: &Value, state: &State, span: ByteSpan) {
        let text = match value {
            Value::One(field) => field.known(),
            Value::List(_) | Value::Unset => None,
        };
        if text.is_some_and(|text| !text.contains(['$', '`'])) {
            return;
        }
        let why = format!("`{name}` is expanded as a prompt, which may run commands");
        self.doubt(DoubtKind::Variable, &why, span);
        if let Some(Ok(parts)) = text.map(crate::base::bash::read_expanded) {
            let span = self.place.unwrap_or(span);
            let before = self.place.replace(span);
            let mut own = state.clone();
            own.lose();
            self.quoted(&parts, &mut own, span);
            self.place = before;
        }
    }

    fn command_value(&mut self, name: &str, value: &Value, state: &State, span: ByteSpan) {
        let known = match value {
            Value::One(field) => field.known().map(str::to_owned),
            Value::List(_) | Value::Unset => None,
        };
        match known {
            Some(text) if text.is_empty() => {}
            Some(text) if name == "SHELL" && is_usual_shell(&text) => {}
            // An option of the pager, or a mark that it reads from a pipe.
            Some(text) if matches!(name, "LESSOPEN" | "LESSCLOSE") => {
                let text = text.trim_start_matches(['|', '-', '|']).replace("%s", "_");
                self.run_value(&text, state, span);
            }
            // Where it goes and what runs there is said by the program that starts it.
            Some(text) if is_connection(name, &text) => {
                self.run_value_with(&text, &Input::Given, state, span);
            }
            Some(text) => self.run_value(&text, state, span),
            None => self.doubt(
                DoubtKind::Variable,
                &format!("`{name}` holds a command that is not known"),
                span,
            ),
        }
    }

    /// A command that some program will run with arguments of its own.
    pub(super) fn run_value(&mut self, text: &str, state: &State, span: ByteSpan) {
        self.run_value_with(text, &Input::Piped, state, span);
    }

    pub(super) fn run_value_with(
        &mut self,
        text: &str,
        input: &Input,
        state: &State,
        span: ByteSpan,
    ) {
        let mut own = state.clone();
        own.variables.clear();
        own.is_lost = true;
        own.functions.clear();
        own.arguments = None;
        self.text(text, &mut own, input, Dialect::Other, span);
    }

    /// `NAME=value` words in front of a program; what is left.
    pub(super) fn environment<'f>(
        &mut self,
        fields: &'f [Field],
        state: &mut State,
        span: ByteSpan,
    ) -> &'f [Field] {
        let mut rest = fields;
        while let Some((first, more)) = rest.split_first() {
            let Some((name, _)) = first.begins().split_once('=') else { break };
            let name = name.to_owned();
            let value = Value::One(first.after(name.len() + 1));
            self.watched(&name, &value, state, span);
            state.handed.insert(name.clone());
            state.variables.insert(name, value);
            rest = more;
        }
        rest
    }
}

/// True if a variable says how another machine is reached, and that is by its usual program.
fn is_connection(name: &str, text: &str) -> bool {
    let is_one = ["GIT_SSH_COMMAND", "GIT_SSH", "RSYNC_RSH", "SVN_SSH", "CVS_RSH"].contains(&name);
    is_one && text.split_whitespace().next() == Some("ssh")
}

/// True for a shell by its name, or from where shells are installed.
pub(super) fn is_usual_shell(text: &str) -> bool {
    let is_there = !text.contains('/') || super::copies::is_installed(text);
    is_there && super::shells::SHELLS.contains(&super::invoke::base(text))
}

/// True for a path in the folder that it is used in, or below that.
fn is_below_here(path: &str) -> bool {
    let is_plain = |it: char| it.is_alphanumeric() || "_-./".contains(it);
    let is_inside = !path.starts_with('/') && !path.split('/').any(|it| it == "..");
    !path.is_empty() && is_inside && path.chars().all(is_plain)
}

/// True if flags of Rust name only linkers that everybody has.
fn links_as_usual(flags: &str) -> bool {
    const LINKERS: [&str; 6] = ["lld", "ld.lld", "rust-lld", "mold", "gold", "bfd"];
    let is_linker = |it: &str| {
        let is_tool = super::outputs::is_tool(super::outputs::plain_tool(it));
        !it.contains('/') && (is_tool || LINKERS.contains(&it))
    };
    let words = flags.split([' ', '\t', '\x1f']).filter(|it| it.contains("link"));
    let mut words = words.map(|it| it.strip_prefix("-C").unwrap_or(it));
    words.all(|word| match word.split_once('=') {
        Some(("linker", program)) => is_linker(program),
        Some(("link-arg", option)) => option.strip_prefix("-fuse-ld=").is_some_and(is_linker),
        _ => false,
    })
}

/// Whether a variable makes programs load or do something else.
fn loads(name: &str, value: &Value) -> bool {
    let text = match value {
        Value::One(field) => field.known(),
        Value::List(_) | Value::Unset => None,
    };
    // These are used every day for other things than loading code.
    let is_bad =
        |marks: &[&str]| text.is_none_or(|text| marks.iter().any(|mark| text.contains(mark)));
    match name {
        "NODE_OPTIONS" => {
            is_bad(&["-r", "require", "import", "loader", "inspect", "eval", "env-file"])
        }
        "RUSTFLAGS" | "CARGO_ENCODED_RUSTFLAGS" | "RUSTDOCFLAGS" => {
            let links = is_bad(&["linker", "link-arg"]) && !text.is_some_and(links_as_usual);
            links || is_bad(&["codegen-backend", "plugin"])
        }
        "GOFLAGS" => is_bad(&["exec", "vettool", "-o="]),
        "LESS" | "LESS_TERMCAP" => is_bad(&["+", "!"]),
        // A name of surroundings.
        "ENV" if text.is_some_and(|it| is_below_here(it) && !it.contains(['/', '.'])) => false,
        "KUBECONFIG" if text.is_some_and(|it| it.split(':').all(is_below_here)) => false,
        // Nothing is loaded.
        "BASH_ENV" | "ENV" | "PYTHONSTARTUP" if text == Some("") => false,
        // Nothing is in it.
        "BASH_ENV" | "ENV" | "PYTHONSTARTUP" | "HISTFILE" | "INPUTRC" | "NETRC" | "WGETRC"
            if text == Some("/dev/null") =>
        {
            false
        }
        _ if LOADING.contains(&name) => true,
        _ if name.starts_with("LD_")
            || name.starts_with("DYLD_")
            || name.starts_with("BASH_FUNC") =>
        {
            true
        }
        _ if name.starts_with("GIT_") => {
            // Any other value of these is a file that it writes.
            let is_traced = name.starts_with("GIT_TRACE") || name == "GIT_CURL_VERBOSE";
            let is_switch = matches!(text, Some("0" | "1" | "2" | "true" | "false"));
            let is_usual = name == "GIT_DIR" && matches!(text, Some(".git" | "./.git"))
                || name == "GIT_WORK_TREE" && matches!(text, Some("." | "./"));
            let is_harmless = HARMLESS_GIT.contains(&name)
                || is_traced && is_switch
                || is_usual
                || name.starts_with("GIT_AUTHOR_")
                || name.starts_with("GIT_COMMITTER_");
            !is_harmless
        }
        _ => false,
    }
}
