//! Commands of which only some run, or any number of times.

use super::ByteSpan;
use super::state::State;
use super::value::{Field, Piece, Value};
use super::walk::{Input, Walker, joined, split};
use crate::base::bash::tree::{Arm, Part, Script, Word};

/// Most words of a loop that are looked at one by one.
const ROUNDS_MAX: usize = 16;

impl Walker<'_> {
    pub(super) fn branches(
        &mut self,
        arms: &[(Script, Script)],
        other: Option<&Script>,
        state: &mut State,
        input: &Input,
    ) {
        let mut ends: Option<State> = None;
        for (test, body) in arms {
            let ways = self.script(test, state, input);
            let (mut inside, failed) = split(state, ways);
            *state = failed;
            self.script(body, &mut inside, input);
            joined(&mut ends, &inside);
        }
        if let Some(other) = other {
            self.script(other, state, input);
        }
        if let Some(ends) = ends {
            state.join(&ends);
        }
    }

    pub(super) fn cases(&mut self, subject: &Word, arms: &[Arm], state: &mut State, input: &Input) {
        self.single(&subject.parts, state, subject.span);
        let mut ends: Option<State> = None;
        let mut before: Option<State> = None;
        for arm in arms {
            for pattern in &arm.patterns {
                self.single(&pattern.parts, state, pattern.span);
            }
            let mut inside = state.clone();
            if let Some(before) = before.take() {
                inside.join(&before);
            }
            self.script(&arm.body, &mut inside, input);
            if arm.goes_on {
                before = Some(inside.clone());
            }
            joined(&mut ends, &inside);
        }
        if let Some(ends) = ends {
            state.join(&ends);
        }
    }

    /// Something that runs any number of times: walked until nothing new is learnt from one more round.
    pub(super) fn repeated(
        &mut self,
        state: &mut State,
        mut round: impl FnMut(&mut Self, &mut State),
    ) {
        for attempt in 0..4 {
            if attempt == 3 {
                state.lose();
            }
            let before = state.clone();
            self.escapes.push(None);
            round(self, state);
            if let Some(Some(escaped)) = self.escapes.pop() {
                state.join(&escaped);
            }
            state.join(&before);
            if *state == before {
                return;
            }
        }
    }

    /// True if a pattern is here as it is written: what a variable holds may have been found elsewhere.
    fn is_written(&self, part: &Part, state: &State) -> bool {
        match part {
            Part::Plain(_) | Part::Quoted(_) => true,
            Part::Double(inside) => inside.iter().all(|part| self.is_written(part, state)),
            Part::Parameter(it) => {
                let is_bare = it.operator.is_empty() && it.index.is_none();
                let is_plain = is_bare && !it.is_indirect && !it.is_length;
                is_plain
                    && matches!(self.value(&it.name, state), Value::One(value) if value.is_known())
            }
            Part::Substitution(_) | Part::Arithmetic(_) | Part::Process(_) | Part::Pattern(_) => {
                false
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one kind of command")]
    pub(super) fn each(
        &mut self,
        name: &str,
        words: Option<&[Word]>,
        is_select: bool,
        body: &Script,
        span: ByteSpan,
        state: &mut State,
        input: &Input,
    ) {
        let fields = if let Some(words) = words {
            let is_written =
                words.iter().flat_map(|word| &word.parts).all(|part| self.is_written(part, state));
            found_in(self.words(words, state), is_written, state)
        } else {
            let given = state.arguments.clone().filter(|all| !all.is_empty());
            given.unwrap_or_else(|| vec![Field::of(Piece::Given)])
        };
        let is_sure =
            fields.iter().all(Field::is_known) && fields.len() <= ROUNDS_MAX && !is_select;
        if is_select {
            self.assign("REPLY", Value::unknown(), state, span);
        }
        if is_sure {
            for field in fields {
                self.escapes.push(None);
                self.assign(name, Value::One(field), state, span);
                self.script(body, state, input);
                if let Some(Some(escaped)) = self.escapes.pop() {
                    state.join(&escaped);
                }
            }
            return;
        }
        let values = distinct(fields);
        for value in values {
            let value = Value::One(value);
            self.repeated(state, |walker, state| {
                walker.assign(name, value.clone(), state, span);
                walker.script(body, state, input);
            });
        }
    }
}

/// Patterns of a loop that are looked for where it begins.
fn found_in(mut fields: Vec<Field>, is_written: bool, state: &State) -> Vec<Field> {
    for field in fields.iter_mut().filter(|field| is_written && !field.is_known()) {
        field.found_in = Some(state.folders.clone());
    }
    fields
}

fn distinct(fields: Vec<Field>) -> Vec<Field> {
    let mut found: Vec<Field> = Vec::new();
    for field in fields {
        if !found.contains(&field) {
            found.push(field);
        }
    }
    if found.len() > ROUNDS_MAX { vec![Field::unknown()] } else { found }
}
