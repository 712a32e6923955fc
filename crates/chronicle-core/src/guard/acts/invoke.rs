//! One simple command: its assignments, and whether it is an alias, a function, part of the shell, or a program.

use std::rc::Rc;

use super::state::State;
use super::value::{Field, Piece, Value, line};
use super::walk::{Dialect, Input, Walker, Ways, joined};
use super::{ByteSpan, DoubtKind, TouchKind};
use crate::base::bash::tree::{Assigned, Assignment, Command, Part, Redirection, Word};

/// Most calls of one function inside of itself that are walked with the arguments that they have.
const SELF_CALLS_MAX: usize = 2;

/// As many arguments as a function is taken to look at.
pub(super) const LISTED_MAX: usize = 9;

/// Most members of a list that are known one by one.
const LIST_MAX: usize = 256;

/// How a command is started.
#[derive(Clone, Copy)]
pub(super) struct Call<'c> {
    pub(super) input: &'c Input,
    pub(super) span: ByteSpan,
    pub(super) redirections: &'c [Redirection],
}

/// The name of a program without the folders before it.
pub(super) fn base(written: &str) -> &str {
    written.rsplit('/').next().unwrap_or(written)
}

impl Walker<'_> {
    pub(super) fn simple(
        &mut self,
        sets: &[Assignment],
        words: &[Word],
        lists: &[Assignment],
        command: &Command,
        state: &mut State,
        input: &Input,
    ) -> Ways {
        let fields = self.command_words(words, state);
        let own = self.redirections(&command.redirections, state, input);
        let call = Call { input: &own, span: command.span, redirections: &command.redirections };
        if fields.is_empty() {
            for set in sets {
                self.set(set, state);
            }
            return Ways::same(state);
        }
        self.wrote(&fields, &command.redirections, state, &own, command.span);
        let before: Vec<(String, Option<Value>)> = sets
            .iter()
            .map(|set| (set.name.clone(), state.variables.get(&set.name).cloned()))
            .collect();
        let handed = state.handed.clone();
        for set in sets {
            self.set(set, state);
            state.handed.insert(set.name.clone());
        }
        self.recent.clear();
        let ways = self.aliased(&fields, state, call);
        // What the command itself exports stays.
        let is_own = |name: &String| sets.iter().any(|set| set.name == *name);
        state.handed.retain(|name| !is_own(name) || handed.contains(name));
        self.carried(&fields, state, &own);
        // Some shells keep what stands before one of these.
        let keeps =
            fields.first().and_then(Field::known).is_none_or(super::builtins::keeps_variables);
        for (name, value) in before {
            match value {
                _ if keeps => {
                    state.variables.insert(name, Value::unknown());
                }
                Some(value) => {
                    state.variables.insert(name, value);
                }
                None => {
                    state.variables.remove(&name);
                }
            }
        }
        for list in lists {
            let before = state.variables.get(&list.name).cloned();
            if let Some(locals) = self.locals.last_mut() {
                locals.entry(list.name.clone()).or_insert(before);
            }
            self.set(list, state);
        }
        ways
    }

    /// Words of a command; after a declaring one, assignments are not split.
    fn command_words(&mut self, words: &[Word], state: &mut State) -> Vec<Field> {
        let first = words.first().and_then(Word::plain).unwrap_or_default();
        if !super::declare::DECLARING.contains(&first) {
            return self.words(words, state);
        }
        let mut fields = Vec::new();
        for word in words {
            let begins = match word.parts.first() {
                Some(Part::Plain(text)) => text.as_str(),
                _ => "",
            };
            let name = begins.split(['=', '+']).next().unwrap_or_default();
            if begins.contains('=') && crate::base::bash::is_identifier(name) {
                let field = self.single(&word.parts, state, word.span);
                // A tilde after the sign is expanded.
                fields.push(if begins.contains("=~") {
                    let mut unknown = Field::text(&format!("{name}="));
                    unknown.push(Piece::Unknown);
                    unknown
                } else {
                    field
                });
            } else {
                fields.extend(self.words(std::slice::from_ref(word), state));
            }
        }
        fields
    }

    /// One assignment, in front of a command or alone.
    pub(super) fn set(&mut self, set: &Assignment, state: &mut State) {
        if let Some(index) = &set.index {
            self.expression(index, state, set.span);
        }
        let value = match &set.value {
            Assigned::Word(word) => Value::One(self.single(&word.parts, state, word.span)),
            Assigned::List(elements) => {
                let mut fields = Vec::new();
                let mut is_indexed = false;
                for element in elements {
                    if let Some(index) = &element.index {
                        self.expression(index, state, set.span);
                        is_indexed = true;
                    }
                    fields.extend(self.words(std::slice::from_ref(&element.word), state));
                }
                if is_indexed || fields.len() > LIST_MAX {
                    Value::unknown()
                } else {
                    Value::List(fields)
                }
            }
        };
        let now = self.value(&set.name, state);
        let value = match (set.index.is_some(), set.is_appended, now, value) {
            (false, false, _, value) => value,
            (false, true, Value::One(mut now), Value::One(more)) => {
                now.extend(&more);
                Value::One(now)
            }
            (false, true, Value::Unset, more) => more,
            (false, true, Value::List(mut now), Value::List(more)) => {
                now.extend(more);
                if now.len() > LIST_MAX { Value::unknown() } else { Value::List(now) }
            }
            (true, ..) | (false, true, Value::One(_) | Value::List(_), _) => Value::unknown(),
        };
        self.assign(&set.name, value, state, set.span);
    }

    /// Gives a variable a value.
    pub(super) fn assign(&mut self, name: &str, value: Value, state: &mut State, span: ByteSpan) {
        if state.has_integers
            && let Value::One(field) = &value
            && !field.is_number()
            && self.depth < 20
        {
            let field = field.clone();
            self.depth += 1;
            self.evaluated(&field, state, span, 5);
            self.depth -= 1;
        }
        self.watched(name, &value, state, span);
        // Long ones are not worth the memory.
        let kept = if value.is_short() { value.clone() } else { Value::unknown() };
        self.assigned.push((name.to_owned(), kept));
        state.variables.insert(name.to_owned(), value);
    }

    /// A command whose name may be an alias of the text.
    fn aliased(&mut self, fields: &[Field], state: &mut State, call: Call<'_>) -> Ways {
        let alias = fields
            .first()
            .filter(|field| field.is_bare)
            .and_then(Field::known)
            .and_then(|name| state.aliases.get(name).cloned());
        let Some(texts) = alias else { return self.invoke(fields, state, call, true) };
        let before = state.clone();
        // Whether aliases are expanded is a setting, so that the name itself may run as well.
        self.invoke(fields, state, call, true);
        let rest = fields.get(1..).unwrap_or_default();
        for text in texts {
            let mut own = before.clone();
            own.aliases.clear();
            if rest.iter().all(Field::is_known) {
                let whole = format!("{text} {}", line(rest));
                self.text(&whole, &mut own, call.input, Dialect::Bash, call.span);
            } else {
                self.text(&text, &mut own, call.input, Dialect::Bash, call.span);
                self.doubt(
                    DoubtKind::Command,
                    "an alias is given words that are not known",
                    call.span,
                );
            }
            own.aliases.clone_from(&before.aliases);
            state.join(&own);
        }
        Ways::same(state)
    }

    /// A command after expansion. `has_functions` unless something like `command` goes round them.
    pub(super) fn invoke(
        &mut self,
        fields: &[Field],
        state: &mut State,
        call: Call<'_>,
        has_functions: bool,
    ) -> Ways {
        let Some(first) = fields.first() else { return Ways::same(state) };
        let Some(name) = first.known().map(str::to_owned) else {
            self.doubt(DoubtKind::Command, "which program is started is not known", call.span);
            self.maybe(fields.get(1..).unwrap_or_default(), state, "", call.span);
            // What is not known may be `cd`, or set variables.
            state.lose();
            return Ways::same(state);
        };
        let function = state.functions.get(&name).cloned().filter(|_| has_functions);
        if let Some(function) = function {
            if function.is_certain {
                self.call(&name, &function.bodies, fields, state, call);
                return Ways::same(state);
            }
            let mut own = state.clone();
            self.call(&name, &function.bodies, fields, &mut own, call);
            self.run(fields, state, call.span);
            let ways =
                self.builtin(&name, fields, state, call).unwrap_or_else(|| Ways::same(state));
            self.program(fields, state, call);
            state.join(&own);
            drop(ways);
            return Ways::same(state);
        }
        self.run(fields, state, call.span);
        if let Some(ways) = self.builtin(&name, fields, state, call) {
            return ways;
        }
        self.program(fields, state, call);
        Self::made_folders(fields, state);
        Ways::same(state)
    }

    /// A program that something else starts: no function and no part of the shell.
    pub(super) fn start(&mut self, fields: &[Field], state: &State, call: Call<'_>) {
        let Some(first) = fields.first() else { return };
        if self.is_spent(call.span) {
            return;
        }
        if !first.is_known() {
            self.doubt(DoubtKind::Command, "which program is started is not known", call.span);
            self.maybe(fields.get(1..).unwrap_or_default(), state, "", call.span);
            return;
        }
        self.run(fields, state, call.span);
        self.depth += 1;
        if self.depth < 40 {
            self.program(fields, state, call);
        } else {
            self.doubt(DoubtKind::TooLarge, "programs start each other too deeply", call.span);
        }
        self.depth -= 1;
    }

    fn call(
        &mut self,
        name: &str,
        bodies: &[Rc<Command>],
        fields: &[Field],
        state: &mut State,
        call: Call<'_>,
    ) {
        let mut arguments = arguments_of(fields);
        let depth = self.calls.iter().filter(|(other, _)| other == name).count();
        let given = arguments.clone().unwrap_or_default();
        if depth > 0 && self.forks > 0 {
            let why = format!("`{name}` starts itself again and again");
            self.doubt(DoubtKind::Command, &why, call.span);
        }
        if depth >= SELF_CALLS_MAX {
            if self.calls.iter().any(|(other, _)| other == &lost_mark(name)) {
                // It was walked with nothing known already.
                state.lose();
                return;
            }
            state.lose();
            arguments = None;
            self.calls.push((lost_mark(name), Vec::new()));
        }
        self.calls.push((name.to_owned(), given));
        let around = self.sinks.len();
        self.gathers(call.redirections, state);
        let before = std::mem::replace(&mut state.arguments, arguments);
        let escapes = std::mem::take(&mut self.escapes);
        let mut ends: Option<State> = None;
        for body in bodies {
            self.was_called(body);
            self.returns.push(None);
            self.locals.push(std::collections::BTreeMap::new());
            let mut own = state.clone();
            self.command(body, &mut own, call.input);
            if let Some(Some(returned)) = self.returns.pop() {
                own.join(&returned);
            }
            for (name, before) in self.locals.pop().unwrap_or_default() {
                own.may_have(&name, before.as_ref());
            }
            joined(&mut ends, &own);
        }
        if let Some(ends) = ends {
            *state = ends;
        }
        self.sinks.truncate(around);
        // `return` ends the function only.
        state.arguments = before;
        self.escapes = escapes;
        self.calls.pop();
        if depth >= SELF_CALLS_MAX {
            self.calls.pop();
        }
    }

    /// Arguments of a program that is not known: any of them may be a path.
    pub(super) fn maybe(&mut self, fields: &[Field], state: &State, by: &str, span: ByteSpan) {
        for field in fields {
            self.steps += 1;
            let Some(text) = field.known() else {
                self.touch(TouchKind::Maybe, field, state, by, span);
                continue;
            };
            if text.is_empty() || text.contains('\n') {
                continue;
            }
            if !text.starts_with('-') {
                self.touch(TouchKind::Maybe, field, state, by, span);
            }
            // `--file=path`, `key=path`, `@path`, `path:path`, `-Ipath`.
            let is_path =
                |part: &&str| part.contains(|it: char| it.is_alphanumeric() || "/.~".contains(it));
            let parts = text.split(['=', '@', ':', ',']).skip(1).filter(is_path);
            for part in parts.take(8) {
                self.touch(TouchKind::Maybe, &Field::text(part), state, by, span);
            }
            let first = text.split(':').next().unwrap_or_default();
            if first.len() < text.len() && first.starts_with(['/', '~', '.']) {
                self.touch(TouchKind::Maybe, &Field::text(first), state, by, span);
            }
            if text.starts_with('-') && !text.starts_with("--") && text.len() > 2 {
                let rest = text.get(2..).unwrap_or_default();
                if rest.contains(['/', '.']) {
                    self.touch(TouchKind::Maybe, &Field::text(rest), state, by, span);
                }
            }
        }
    }
}

fn lost_mark(name: &str) -> String {
    format!("{name}\n")
}

/// The arguments of a function; `None` if it is not certain which word is which.
fn arguments_of(fields: &[Field]) -> Option<Vec<Field>> {
    if let [_, only] = fields
        && only.listing().is_some()
    {
        // One of the files, or any number of them.
        return Some(vec![only.clone(); LISTED_MAX]);
    }
    // One that is not known may be several, so that the others are not certain either.
    let is_one = |piece: &Piece| match piece {
        Piece::Text(_) | Piece::Glob(_) | Piece::Cut(_) | Piece::Number => true,
        Piece::Unknown
        | Piece::Given
        | Piece::Listed(_)
        | Piece::Temp
        | Piece::Name
        | Piece::Part
        | Piece::Line
        | Piece::Read => false,
    };
    let are_certain = fields.iter().all(|field| field.pieces.iter().all(is_one));
    are_certain.then(|| fields.get(1..).unwrap_or_default().to_vec())
}
