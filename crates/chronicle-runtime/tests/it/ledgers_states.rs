//! The whole state of every kept ledger, held against a recorded one: the fold has no words, so that no rewording may change
//! what an old run is.
//!
//! `UPDATE_STATES=1` records them anew. The shape of a state may change; read the difference before you keep it, for every fact
//! must still be in it.

use std::fs;

use chronicle_core::event::record::Line;
use chronicle_core::state::State;

use crate::ledgers_v1::{folder, ledgers};

fn folded(lines: &[Line]) -> State {
    let mut state = State::default();
    for line in lines {
        state.apply(line);
    }
    state
}

#[test]
fn every_ledger_folds_to_the_very_state_that_was_recorded() {
    let states = folder().join("states");
    let is_update = std::env::var_os("UPDATE_STATES").is_some_and(|value| value == "1");
    let mut differing = Vec::new();
    for (name, lines) in ledgers() {
        let state = folded(&lines);
        assert!(state.anomalies.is_empty(), "{name}: {:?}", state.anomalies);
        let text = serde_json::to_string_pretty(&state).unwrap() + "\n";
        let path = states.join(name.replace(".jsonl", ".json"));
        if is_update {
            fs::create_dir_all(&states).unwrap();
            fs::write(&path, &text).unwrap();
        }
        if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            differing.push(name);
        }
    }
    assert!(differing.is_empty(), "another state than was recorded: {}", differing.join(", "));
}

#[test]
fn a_state_comes_back_from_its_json_as_it_was() {
    for (name, lines) in ledgers() {
        let state = folded(&lines);
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state, "{name}");
    }
}
