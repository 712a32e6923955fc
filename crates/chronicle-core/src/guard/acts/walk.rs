//! Goes over the commands of a text in the order in which they would run.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::state::{Function, State};
use super::value::{Field, Listing, Value};
use super::{Acts, ByteSpan, CommandFolder, DoubtKind, ShellSetting};
use crate::base::bash::tree::{Command, Item, Joint, Pipeline, Script, What};
use crate::base::bash::{Text, read};

/// Most texts inside of texts, and functions inside of functions.
const DEPTH_MAX: usize = 24;
/// How many variables and functions cost as much as one step.
const WEIGHT_OF_STEP: usize = 4;
/// Most texts of `trap`.
const TRAPS_MAX: usize = 16;
/// What a command reads from.
#[derive(Debug, Clone)]
pub(super) enum Input {
    /// Whatever the whole text reads from.
    Given,
    /// The output of another command.
    Piped,
    /// A here-document or a here-string.
    Text(Field),
    /// A file, which is told as a touch.
    File,
    /// Names of files that another command found.
    Listed(Listing),
}

/// The folders after a command that succeeded, and after one that failed.
pub(super) struct Ways {
    pub(super) done: Vec<CommandFolder>,
    pub(super) failed: Vec<CommandFolder>,
}

impl Ways {
    pub(super) fn same(state: &State) -> Self {
        Self { done: state.folders.clone(), failed: state.folders.clone() }
    }
}

#[expect(clippy::struct_excessive_bools, reason = "each is known by itself")]
pub(super) struct Walker<'a> {
    pub(super) acts: Acts,
    pub(super) setting: ShellSetting<'a>,
    pub(super) steps: usize,
    /// What only the running shell knows is taken to be empty.
    pub(super) is_emptied: bool,
    /// It was told that there is more than is looked at.
    pub(super) is_stopped: bool,
    pub(super) depth: usize,
    /// How many pipes and commands in the background are around.
    pub(super) forks: usize,
    /// The place of everything that is found while another text is walked.
    pub(super) place: Option<ByteSpan>,
    /// What is known where loops are left early, innermost last.
    pub(super) escapes: Vec<Option<State>>,
    /// What is known where functions are left early, innermost last.
    pub(super) returns: Vec<Option<State>>,
    /// Variables that belong to a function, with their values before it declared them; innermost last.
    pub(super) locals: Vec<BTreeMap<String, Option<super::value::Value>>>,
    /// Functions that are being walked.
    pub(super) calls: Vec<(String, Vec<Field>)>,
    defined: Vec<Rc<Command>>,
    pub(super) called: BTreeSet<usize>,
    /// Texts that run later.
    pub(super) traps: Vec<Trap>,
    /// Variables in the order in which they get values.
    pub(super) assigned: Vec<(String, Value)>,
    /// Files that the text writes, with what it puts into them.
    pub(super) written: Vec<(String, String)>,
    /// Files that the text writes names of other files into.
    pub(super) lists: Vec<(String, Listing)>,
    /// Files that the text writes more into than is remembered.
    pub(super) forgotten: BTreeSet<String>,
    /// Files that were there before, of which the text changes some.
    pub(super) changed: BTreeSet<String>,
    /// Patterns of files that the text changes, and what of folders it changes, all from the root on.
    pub(super) changed_patterns: Vec<super::renamed::Changed>,
    pub(super) changed_below: Vec<(String, super::Sieve)>,
    /// What a search picks whose command is walked.
    pub(super) picking: Option<super::Sieve>,
    /// Other names of files and folders, and what they lead to.
    pub(super) other_names: Vec<(String, String)>,
    /// What the command that is walked uses, and whether it may change it.
    pub(super) recent: Vec<(String, bool)>,
    /// A file that the text wrote has a name that nobody knows.
    pub(super) is_scattered: bool,
    /// Files whose last line that the text writes has no end yet.
    pub(super) unended: BTreeSet<String>,
    /// Files that all output of the commands around goes to, innermost last.
    pub(super) sinks: Vec<Vec<String>>,
    /// Files that the commands around read from, innermost last.
    pub(super) sources: Vec<Vec<String>>,
    /// Git was told to take up all that is there.
    pub(super) has_added: bool,
    /// Where programs lie under other names, and which ones.
    pub(super) copies: Vec<(String, String)>,
    /// What commands behind paths print.
    pub(super) processes: super::process::Processes,
    /// What archives hold that programs print.
    pub(super) packed: Vec<super::packed::Packed>,
    /// Something may have been changed.
    pub(super) has_changed: bool,
    /// What was found already.
    pub(super) seen: super::record::Seen,
}

impl<'a> Walker<'a> {
    pub(super) fn new(setting: ShellSetting<'a>) -> Self {
        Self {
            acts: Acts::default(),
            setting,
            steps: 0,
            is_emptied: false,
            is_stopped: false,
            depth: 0,
            forks: 0,
            place: None,
            escapes: Vec::new(),
            returns: Vec::new(),
            locals: Vec::new(),
            calls: Vec::new(),
            defined: Vec::new(),
            called: BTreeSet::new(),
            traps: Vec::new(),
            assigned: Vec::new(),
            written: Vec::new(),
            lists: Vec::new(),
            forgotten: BTreeSet::new(),
            changed: BTreeSet::new(),
            changed_patterns: Vec::new(),
            changed_below: Vec::new(),
            picking: None,
            other_names: Vec::new(),
            recent: Vec::new(),
            is_scattered: false,
            unended: BTreeSet::new(),
            sinks: Vec::new(),
            sources: Vec::new(),
            has_added: false,
            copies: Vec::new(),
            processes: super::process::Processes::default(),
            packed: Vec::new(),
            has_changed: false,
            seen: super::record::Seen::default(),
        }
    }

    /// Walks a whole text; to be called once.
    pub(super) fn all(&mut self, text: &str) -> Acts {
        let folder = match self.setting.folder {
            Some(folder) => CommandFolder::Known(folder.to_owned()),
            None => CommandFolder::Unknown,
        };
        let mut state = State::new(folder);
        // Nobody hands words to the shell of a call.
        state.arguments = Some(Vec::new());
        match read(text) {
            Ok(Text { script, .. }) => {
                self.script(&script, &mut state, &Input::Given);
                self.trapped(&state);
                self.uncalled(&state);
            }
            Err(unread) => {
                let span = ByteSpan { start: unread.at, end: text.len().max(unread.at) };
                self.doubt(
                    DoubtKind::Unread,
                    &format!("the command cannot be read: {}", unread.why),
                    span,
                );
            }
        }
        // Steps also count inside of one command, whose end may have been the last look at them.
        self.steps = self.steps.saturating_sub(1);
        self.is_spent(ByteSpan { start: 0, end: text.len() });
        std::mem::take(&mut self.acts)
    }

    /// Texts of `trap`. A variable that nothing changes after it has its value still.
    fn trapped(&mut self, end: &State) {
        let mut end = end.clone();
        end.is_over = false;
        let mut at = 0;
        // One may set another.
        while let Some(trap) = self.traps.get(at).cloned() {
            at += 1;
            if at > TRAPS_MAX {
                self.doubt(DoubtKind::TooLarge, "there are too many texts of `trap`", trap.span);
                return;
            }
            let mut own = trap.state;
            own.is_over = false;
            own.join(&end);
            own.folders = vec![CommandFolder::Unknown];
            own.arguments = None;
            for (name, only) in self.values_since(trap.at) {
                // One that gets the same value wherever it gets one has that, or none yet.
                let is_new =
                    !trap.known.contains(&name) && end.variables.get(&name) == only.as_ref();
                let value = only.filter(|_| is_new).unwrap_or_else(Value::unknown);
                own.variables.insert(name, value);
            }
            for function in own.functions.values_mut() {
                function.is_certain = false;
            }
            self.text(&trap.text, &mut own, &Input::Piped, Dialect::Bash, trap.span);
        }
    }

    /// The variables that got values after others, each with its value if that is the only one.
    fn values_since(&self, at: usize) -> BTreeMap<String, Option<Value>> {
        let mut found: BTreeMap<String, Option<Value>> = BTreeMap::new();
        for (name, value) in self.assigned.get(at..).unwrap_or_default() {
            let only = found.entry(name.clone()).or_insert_with(|| Some(value.clone()));
            if only.as_ref() != Some(value) {
                *only = None;
            }
        }
        found
    }

    /// Functions that nothing called may still be, in ways that are not seen.
    fn uncalled(&mut self, state: &State) {
        let mut at = 0;
        while let Some(body) = self.defined.get(at).map(Rc::clone) {
            at += 1;
            if self.called.contains(&address(&body)) {
                continue;
            }
            let mut lost = state.clone();
            lost.is_over = false;
            lost.lose();
            self.command(&body, &mut lost, &Input::Piped);
        }
    }

    /// Walks a text that is run as commands, in a state that it may change.
    pub(super) fn text(
        &mut self,
        text: &str,
        state: &mut State,
        input: &Input,
        dialect: Dialect,
        span: ByteSpan,
    ) {
        let span = self.place.unwrap_or(span);
        if self.depth >= DEPTH_MAX || self.is_spent(span) {
            self.doubt(DoubtKind::TooLarge, "texts with commands are nested too deeply", span);
            return;
        }
        let before = self.place.replace(span);
        self.depth += 1;
        // Reading costs as much as it is long.
        self.steps += text.len() / 64;
        match read(text) {
            Ok(Text { script, bash_only }) => {
                if dialect == Dialect::Other && bash_only.is_some() {
                    self.doubt(
                        DoubtKind::Text,
                        "a text for another shell than bash may be read in another way",
                        span,
                    );
                }
                self.script(&script, state, input);
            }
            Err(unread) => {
                self.doubt(
                    DoubtKind::Unread,
                    &format!("a text with commands cannot be read: {}", unread.why),
                    span,
                );
            }
        }
        self.depth -= 1;
        self.place = before;
    }

    pub(super) fn script(&mut self, script: &Script, state: &mut State, input: &Input) -> Ways {
        let mut ways = Ways::same(state);
        for item in &script.items {
            ways = self.item(item, state, input);
        }
        ways
    }

    fn item(&mut self, item: &Item, state: &mut State, input: &Input) -> Ways {
        if item.is_background {
            let mut own = state.clone();
            self.forks += 1;
            self.chain(item, &mut own, input);
            self.forks -= 1;
            return Ways::same(state);
        }
        self.chain(item, state, input)
    }

    /// Pipelines joined by `&&` and `||`: each runs after a success, or after a failure.
    fn chain(&mut self, item: &Item, state: &mut State, input: &Input) -> Ways {
        let ways = self.pipeline(&item.first, state, input);
        if item.rest.is_empty() {
            return ways;
        }
        let (mut done, mut failed) = split(state, ways);
        for (joint, pipeline) in &item.rest {
            // That there is more was told.
            if self.is_stopped {
                break;
            }
            let from = if *joint == Joint::And { &mut done } else { &mut failed };
            let ways = self.pipeline(pipeline, from, input);
            let (next_done, next_failed) = split(from, ways);
            if *joint == Joint::And {
                done = next_done;
                failed.join(&next_failed);
            } else {
                failed = next_failed;
                done.join(&next_done);
            }
        }
        let ways = Ways { done: done.folders.clone(), failed: failed.folders.clone() };
        done.join(&failed);
        *state = done;
        ways
    }

    fn pipeline(&mut self, pipeline: &Pipeline, state: &mut State, input: &Input) -> Ways {
        if let [command] = pipeline.commands.as_slice() {
            let ways = self.command(command, state, input);
            return if pipeline.is_negated {
                Ways { done: ways.failed, failed: ways.done }
            } else {
                ways
            };
        }
        self.forks += 1;
        let mut input = input.clone();
        for command in &pipeline.commands {
            if self.is_stopped {
                break;
            }
            self.command(command, &mut state.clone(), &input);
            input = self.handed_on(command, state, &input);
        }
        self.forks -= 1;
        Ways::same(state)
    }

    pub(super) fn command(&mut self, command: &Command, state: &mut State, input: &Input) -> Ways {
        // What is known is copied and compared at every turn: the more there is, the more a command costs.
        if !self.is_stopped {
            self.steps += state.weight() / WEIGHT_OF_STEP;
        }
        if self.is_spent(command.span) || self.depth >= DEPTH_MAX {
            if self.depth >= DEPTH_MAX {
                self.doubt(DoubtKind::TooLarge, "commands are nested too deeply", command.span);
            }
            return Ways::same(state);
        }
        self.depth += 1;
        let ways = if let What::Simple { sets, words, lists } = &command.what {
            self.simple(sets, words, lists, command, state, input)
        } else {
            let own = self.redirections(&command.redirections, state, input);
            let around = self.sinks.len();
            self.gathers(&command.redirections, state);
            let (from, before) =
                (self.sources.len(), self.read_by_all(&command.redirections, state));
            self.sources.extend(before);
            let ways = self.compound(command, state, &own);
            self.sinks.truncate(around);
            self.sources.truncate(from);
            ways
        };
        self.depth -= 1;
        ways
    }

    fn compound(&mut self, command: &Command, state: &mut State, input: &Input) -> Ways {
        match &command.what {
            What::Simple { .. } => {}
            What::Group(script) => return self.script(script, state, input),
            What::Subshell(script) => {
                self.script(script, &mut state.clone(), input);
            }
            What::If { arms, other } => self.branches(arms, other.as_ref(), state, input),
            What::While { test, body } => self.repeated(state, |walker, state| {
                let ways = walker.script(test, state, input);
                let mut inside = state.clone();
                inside.folders = ways.done;
                walker.script(body, &mut inside, input);
                state.join(&inside);
            }),
            What::For { name, words, is_select, body } => {
                self.each(name, words.as_deref(), *is_select, body, command.span, state, input);
            }
            What::Count { parts, body } => self.repeated(state, |walker, state| {
                walker.expression(parts, state, command.span);
                walker.script(body, state, input);
            }),
            What::Case { subject, arms } => self.cases(subject, arms, state, input),
            What::Function { name, body } => {
                self.defined.push(Rc::clone(body));
                let function = Function { bodies: vec![Rc::clone(body)], is_certain: true };
                state.functions.insert(name.clone(), function);
            }
            What::Test(checks) => self.checks(checks, state, command.span),
            What::Arithmetic(parts) => self.expression(parts, state, command.span),
            What::Coprocess { name, body } => {
                let name = name.clone().unwrap_or_else(|| "COPROC".to_owned());
                self.command(body, &mut state.clone(), &Input::Piped);
                state.variables.insert(name, Value::unknown());
            }
        }
        Ways::same(state)
    }
}

/// A text that runs when the shell ends, or at a signal.
#[derive(Clone)]
pub(super) struct Trap {
    pub(super) text: String,
    pub(super) state: State,
    /// How many variables had got their values before it, and their names.
    pub(super) at: usize,
    pub(super) known: BTreeSet<String>,
    pub(super) span: ByteSpan,
}

/// Which shell reads a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Bash,
    Other,
}

pub(super) fn address(body: &Rc<Command>) -> usize {
    Rc::as_ptr(body).addr()
}

pub(super) fn split(state: &State, ways: Ways) -> (State, State) {
    let (mut done, mut failed) = (state.clone(), state.clone());
    done.folders = ways.done;
    failed.folders = ways.failed;
    (done, failed)
}

pub(super) fn joined(into: &mut Option<State>, state: &State) {
    match into {
        Some(into) => into.join(state),
        None => *into = Some(state.clone()),
    }
}
