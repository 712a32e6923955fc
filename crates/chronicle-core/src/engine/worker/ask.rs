//! Questions that a worker asks while it keeps its turn.
//!
//! The gate stores session and request: the same call with the same words in the resumed session is the same question, and gets
//! the answer that arrived meanwhile.

use super::super::gate::opened;
use super::super::scratch::Scratch;
use super::{CallKey, caller, is_still_open, may_send};
use crate::base::limits::QUESTIONS_MAX;
use crate::event::input::Answer;
use crate::event::{Event, GateAnswer, GateAsker, GateKind, GateOpened, Message, Question};
use crate::state::{Attempt, Gate, State};

pub(super) fn ask(
    scratch: &mut Scratch<'_>,
    call: &CallKey,
    question: &Question,
) -> Result<Answer, String> {
    let state = scratch.state();
    let (attempt, phase) = caller(state, call)?;
    is_still_open(attempt)?;
    may_send(phase, "needs-user-input")?;
    if let Some(gate) = asked_before(state, attempt, call, question) {
        return Ok(hear(scratch, call, gate.opened.gate));
    }
    // Each open question is a gate that a person sees. A worker in a loop must not fill the screen with them.
    if attempt.asking.len() >= QUESTIONS_MAX {
        return Err(format!("{QUESTIONS_MAX} questions of yours are open: wait for their answers"));
    }
    let frame = state.frames.get(&attempt.intent.place.frame()).ok_or("the phase is over")?;
    let gate = GateOpened {
        options: question.options.clone(),
        closed: question.closed,
        context: question.context.clone(),
        asker: Some(GateAsker {
            attempt: call.id,
            session: attempt.intent.session.clone(),
            request: call.request.clone(),
        }),
        ..opened(state, frame, GateKind::Question, question.question.clone())
    };
    scratch.emit(Event::GateOpened(gate));
    Ok(Answer::Waits)
}

/// The same call or, after an interruption, the same words whose answer was never delivered.
fn asked_before<'a>(
    state: &'a State,
    attempt: &Attempt,
    call: &CallKey,
    question: &Question,
) -> Option<&'a Gate> {
    let frame = state.frames.get(&attempt.intent.place.frame())?;
    let known = || frame.questions.iter().rev().filter_map(|id| state.gate(*id));
    let same_words = |gate: &Gate| {
        gate.opened.about == question.question && gate.opened.options == question.options
    };
    // A resumed agent may reuse a request id for another question. So from another attempt, the words must match as well.
    let same_call = |gate: &Gate, asker: &GateAsker| {
        asker.request == call.request
            && asker.session == attempt.intent.session
            && (asker.attempt == call.id || same_words(gate))
    };
    let asker = |gate: &'a Gate| gate.opened.asker.as_ref();
    let by_id = known().find(|gate| asker(gate).is_some_and(|asker| same_call(gate, asker)));
    by_id.or_else(|| {
        known().find(|gate| {
            let is_other = asker(gate).is_some_and(|asker| asker.attempt != call.id);
            // A resumed session may have lost the id of its call. The same question with the same options, still unheard, is
            // the same one.
            same_words(gate) && !gate.told && is_other
        })
    })
}

fn hear(scratch: &mut Scratch<'_>, call: &CallKey, id: crate::base::ids::GateId) -> Answer {
    let Some(gate) = scratch.state().gate(id) else { return Answer::Waits };
    match &gate.answered {
        None => Answer::Waits,
        Some((GateAnswer::Said(text), ..)) => {
            let answer = Answer::Accepted(text.clone());
            if !gate.told {
                let (attempt, message) = (call.id, Message::Answer(id));
                scratch.record(Event::MessageDelivered { attempt, message, repeated: false });
            }
            answer
        }
        Some(_) => {
            Answer::Refused("there will be no answer: a person decided otherwise".to_owned())
        }
    }
}
