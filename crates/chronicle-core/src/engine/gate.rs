//! Opening gates: where the run waits for a person.

use crate::event::{Event, GateKind, GateOpened, Question};
use crate::state::budget::Shortage;
use crate::state::{Frame, State};
use crate::words;

pub(super) fn intervene(state: &State, frame: &Frame, about: String) -> Event {
    gate(state, frame, GateKind::Intervention, about)
}

pub(super) fn gate(state: &State, frame: &Frame, gate_kind: GateKind, about: String) -> Event {
    Event::GateOpened(opened(state, frame, gate_kind, about))
}

/// Asks a person to raise a budget.
pub(super) fn budget(state: &State, frame: &Frame, short: &Shortage) -> Event {
    let gate = opened(state, frame, GateKind::Budget, words::short(short));
    Event::GateOpened(GateOpened { lack: Some(short.lack()), ..gate })
}

/// Asks a person a question; the worker that asked has ended its turn.
pub(super) fn question(state: &State, frame: &Frame, asked: &Question) -> Event {
    let gate = opened(state, frame, GateKind::Question, asked.question.clone());
    let (options, context) = (asked.options.clone(), asked.context.clone());
    Event::GateOpened(GateOpened { options, context, closed: asked.closed, ..gate })
}

pub(super) fn opened(
    state: &State,
    frame: &Frame,
    gate_kind: GateKind,
    about: String,
) -> GateOpened {
    GateOpened {
        gate: state.next_gate(),
        place: frame.place(),
        gate_kind,
        about,
        options: Vec::new(),
        closed: false,
        context: String::new(),
        lack: None,
        asker: None,
        asks: None,
        step: None,
    }
}
