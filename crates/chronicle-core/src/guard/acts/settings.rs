//! Settings of package managers that make them start a program of the call's choice: by an option or by a variable.

use super::TouchKind;
use super::invoke::Call;
use super::state::State;
use super::value::{Field, Piece, Value};
use super::walk::Walker;
use super::{ByteSpan, DoubtKind};

/// Settings of npm whose values are programs.
const OF_NPM: [&str; 6] = ["script_shell", "shell", "editor", "viewer", "git", "browser"];
/// Those that every later command starts, once they are kept.
const KEPT: [&str; 4] =
    ["npm_config_script_shell", "npm_config_shell", "npm_config_git", "npm_config_node_options"];
/// Last parts of settings of cargo whose values are programs.
const OF_CARGO: [&str; 8] = [
    "runner",
    "linker",
    "rustc",
    "rustdoc",
    "rustc-wrapper",
    "rustc-workspace-wrapper",
    "credential-provider",
    "global-credential-providers",
];

/// Variables with options of Java.
const OF_JAVA: [&str; 5] = ["MAVEN_OPTS", "SBT_OPTS", "GRADLE_OPTS", "JAVA_OPTS", "LEIN_JVM_OPTS"];
/// Options of Java by which it loads code, or starts a command.
const LOADING_JAVA: [&str; 4] = ["-XX:On", "-XX:Flags", "-javaagent", "-agentpath"];
/// Variables with programs that a build starts.
const OF_BUILDS: [&str; 2] = ["CCACHE_COMPILER", "RUSTC_LINKER"];

/// What a setting in a variable stands for.
pub(super) enum Setting {
    /// A program, with words that it is given.
    Program,
    /// Words of a command of cargo.
    Alias,
    /// Options of Node.js, which may make it load code.
    Node,
    /// Options of Java, which may make it load code or start a command.
    Java,
}

/// The setting that a variable stands for, if it makes a package manager start something.
pub(super) fn by_variable(name: &str) -> Option<Setting> {
    let small = name.to_ascii_lowercase();
    if let Some(key) = small.strip_prefix("npm_config_").or(small.strip_prefix("pnpm_config_")) {
        return match key {
            "node_options" => Some(Setting::Node),
            key if OF_NPM.contains(&key) => Some(Setting::Program),
            _ => None,
        };
    }
    if OF_JAVA.contains(&name) {
        return Some(Setting::Java);
    }
    let is_launcher = name.starts_with("CMAKE_") && name.ends_with("_LAUNCHER");
    if is_launcher || name.starts_with("CCACHE_PREFIX") || OF_BUILDS.contains(&name) {
        return Some(Setting::Program);
    }
    let key = name.strip_prefix("CARGO_")?;
    let is_one = |it: &&str| {
        let own = it.replace('-', "_").to_ascii_uppercase();
        key.ends_with(&format!("_{own}"))
    };
    match key {
        _ if key.starts_with("ALIAS_") => Some(Setting::Alias),
        _ if key.starts_with("CREDENTIAL_ALIAS_") || OF_CARGO.iter().any(is_one) => {
            Some(Setting::Program)
        }
        _ => None,
    }
}

impl Walker<'_> {
    /// What a variable makes a package manager start.
    pub(super) fn set_by_variable(
        &mut self,
        name: &str,
        setting: &Setting,
        value: &Value,
        state: &State,
        span: ByteSpan,
    ) {
        let text = match value {
            Value::One(field) => field.known().map(str::to_owned),
            Value::List(_) | Value::Unset => None,
        };
        match (setting, text) {
            (_, Some(text)) if text.is_empty() => {}
            (Setting::Node, _) => self.watched("NODE_OPTIONS", value, state, span),
            (Setting::Java, _) => self.options_of_java(name, value, state, span),
            // Those of `cmake` are parted like its lists.
            (Setting::Program, Some(text)) if name.starts_with("CMAKE_") => {
                self.run_value(&text.replace(';', " "), state, span);
            }
            (Setting::Program, Some(text)) => self.run_value(&text, state, span),
            (Setting::Alias, Some(text)) => {
                self.run_value(&format!("cargo {text}"), state, span);
            }
            (_, None) => {
                let why = format!("`{name}` holds a command that is not known");
                self.doubt(DoubtKind::Variable, &why, span);
            }
        }
    }

    /// Options of Java in a variable. What is not known of them is what was there before.
    fn options_of_java(&mut self, name: &str, value: &Value, state: &State, span: ByteSpan) {
        let Value::One(field) = value else { return };
        let texts = field
            .pieces
            .iter()
            .filter_map(|it| if let Piece::Text(text) = it { Some(text.as_str()) } else { None });
        let text: String = texts.collect();
        if !LOADING_JAVA.iter().any(|it| text.contains(it)) {
            return;
        }
        let why = format!("`{name}` changes what programs do or load");
        self.doubt(DoubtKind::Variable, &why, span);
        for option in ["-XX:OnError=", "-XX:OnOutOfMemoryError="] {
            if let Some((_, command)) = text.split_once(option) {
                self.run_value(command.trim_matches(['"', '\'']), state, span);
            }
        }
    }

    /// Options by which a package manager is told what to start.
    pub(super) fn settings_of_tool(
        &mut self,
        name: &str,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        let is_npm = matches!(name, "npm" | "pnpm" | "npx" | "yarn");
        if !is_npm && name != "cargo" {
            return;
        }
        // What follows is for the program that it starts.
        let end = words.iter().position(|it| it.known() == Some("--")).unwrap_or(words.len());
        let words = words.get(..end).unwrap_or_default();
        if is_npm {
            self.kept_by_npm(words, state, call);
        }
        for (at, word) in words.iter().enumerate() {
            let Some(long) = word.begins().strip_prefix("--") else { continue };
            let key = long.split('=').next().unwrap_or(long);
            // `pnpm` has them in a table.
            let key = key.strip_prefix("config.").unwrap_or(key);
            let value = match long.find('=') {
                Some(at) => word.after(at + 3),
                None => words.get(at + 1).cloned().unwrap_or_default(),
            };
            if is_npm {
                let variable = format!("npm_config_{}", key.replace('-', "_"));
                if by_variable(&variable).is_some() {
                    self.watched(&variable, &Value::One(value), state, call.span);
                }
            } else if key == "config" {
                self.setting_of_cargo(&value, state, call);
            }
        }
    }

    /// `npm config set key=value`, and `npm config set key value`: what is kept holds for the next command.
    fn kept_by_npm(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let operands: Vec<&Field> =
            words.iter().filter(|it| !it.begins().starts_with('-')).collect();
        let known = |at: usize| operands.get(at).and_then(|it| it.known());
        let rest = match (known(0), known(1)) {
            (Some("config" | "c"), Some("set" | "s")) => operands.get(2..),
            (Some("set"), _) => operands.get(1..),
            _ => None,
        };
        let rest = rest.unwrap_or_default();
        let pair = |at: usize, word: &Field| {
            if let Some((key, _)) = word.begins().split_once('=') {
                return (key.to_owned(), word.after(key.len() + 1));
            }
            let value = rest.get(at + 1).map(|it| (*it).clone());
            (word.begins().to_owned(), value.unwrap_or_default())
        };
        for (key, value) in rest.iter().enumerate().map(|(at, word)| pair(at, word)) {
            let variable = format!("npm_config_{}", key.replace('-', "_"));
            if by_variable(&variable).is_some() {
                self.watched(&variable, &Value::One(value), state, call.span);
            }
            if KEPT.contains(&variable.as_str()) {
                let why = format!("`{key}` of npm keeps what it starts later");
                self.doubt(DoubtKind::Command, &why, call.span);
            }
        }
    }

    /// `cargo --config key=value`, or a file of such lines.
    fn setting_of_cargo(&mut self, setting: &Field, state: &State, call: Call<'_>) {
        let Some(text) = setting.known() else {
            let why = "a setting of `cargo` is not known, and may start a program";
            return self.doubt(DoubtKind::Variable, why, call.span);
        };
        let Some((key, value)) = text.split_once('=') else {
            self.touch(TouchKind::Read, setting, state, "cargo", call.span);
            let names = ["alias", "runner", "linker", "rustc", "credential"];
            let starts = |it: &String| names.iter().any(|name| it.contains(name));
            if self.content_of(setting, state).is_some_and(|it| starts(&it)) {
                let why = "`cargo` is told by a file of this call what to start";
                self.doubt(DoubtKind::Text, why, call.span);
            }
            return;
        };
        let quotes = ['"', '\'', '[', ']', ','];
        let plain: String =
            value.chars().map(|it| if quotes.contains(&it) { ' ' } else { it }).collect();
        let key = key.trim();
        let last = key.rsplit('.').next().unwrap_or(key);
        if key.starts_with("alias.") {
            self.run_value(&format!("cargo {plain}"), state, call.span);
        } else if key.starts_with("credential-alias.") || OF_CARGO.contains(&last) {
            self.run_value(&plain, state, call.span);
        }
    }
}
