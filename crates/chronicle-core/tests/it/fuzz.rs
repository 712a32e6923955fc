//! Whatever comes in: the bodies that the fuzzer runs for hours, here for seconds. `fuzz/` has the targets.

#[path = "../../../../fuzz/bodies/definition_text.rs"]
mod definition_text;
#[path = "../../../../fuzz/bodies/engine_inputs.rs"]
mod engine_inputs;
#[path = "../../../../fuzz/bodies/workflow_text.rs"]
mod workflow_text;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The same cases every time, unless `PROPTEST_RNG_SEED` names others.
const SEED: u64 = 20_261_115;

/// So many cases, from a seed that a failing test shows.
#[expect(clippy::print_stderr, reason = "shown only when the test fails")]
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let given = ProptestConfig::default();
    let seed = match given.rng_seed {
        RngSeed::Fixed(seed) => seed,
        RngSeed::Random => SEED,
    };
    eprintln!("the cases of PROPTEST_RNG_SEED={seed}");
    let rng_seed = RngSeed::Fixed(seed);
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..given }
}

const FULL: &str = include_str!("data/workflows/native/full.yaml");

/// Pieces that a workflow is made of.
const PIECES: [&str; 22] = [
    "phases:",
    "\n  ",
    "\n",
    "a",
    ": ",
    "{",
    "}",
    "[",
    "]",
    ", ",
    "next",
    "on",
    "run",
    "workflow",
    "command",
    "commands",
    "limits: {loop: 1}",
    "&x",
    "*x",
    "approval: both",
    "\"",
    "é",
];

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn any_inputs_add_up(bytes in prop::collection::vec(any::<u8>(), 0..900)) {
        engine_inputs::check(&bytes);
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn any_text_is_a_workflow_or_none(text in any::<String>()) {
        workflow_text::check(&text);
    }

    #[test]
    fn any_text_is_a_definition_or_none(text in any::<String>()) {
        definition_text::check(&text);
        definition_text::check(&format!("---\n{text}\n---\n{text}"));
    }

    #[test]
    fn pieces_are_a_workflow_or_none(
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60),
    ) {
        workflow_text::check(&pieces.concat());
    }

    #[test]
    fn a_workflow_with_pieces_elsewhere(
        cuts in prop::collection::vec((0..FULL.len(), 0..80_usize, 0..FULL.len()), 1..4),
    ) {
        let mut text = FULL.to_owned();
        for (from, length, to) in cuts {
            let start = text.floor_char_boundary(from.min(text.len()));
            let end = text.floor_char_boundary((from + length).min(text.len())).max(start);
            let piece: String = text.drain(start..end).collect();
            let to = text.floor_char_boundary(to.min(text.len()));
            text.insert_str(to, &piece);
        }
        workflow_text::check(&text);
    }
}

/// One of each kind, whole and cut off anywhere.
#[test]
fn the_corpus_of_definitions() {
    for text in [
        include_str!("../../../../fuzz/corpus/definition_text/chain.yaml"),
        include_str!("../../../../fuzz/corpus/definition_text/persona.md"),
        include_str!("../../../../fuzz/corpus/definition_text/phase.md"),
        include_str!("../../../../fuzz/corpus/definition_text/rules.yaml"),
        include_str!("../../../../fuzz/corpus/definition_text/teams.yaml"),
        include_str!("../../../../fuzz/corpus/definition_text/template.json"),
        include_str!("../../../../fuzz/corpus/definition_text/workflow.yaml"),
    ] {
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            definition_text::check(&text[..end]);
        }
    }
}

/// Small files, each of which once was, or could be, a trap.
#[test]
fn the_corpus_of_workflows() {
    for text in [
        include_str!("../../../../fuzz/corpus/workflow_text/aliases.yaml"),
        include_str!("../../../../fuzz/corpus/workflow_text/cycle.yaml"),
        include_str!("../../../../fuzz/corpus/workflow_text/map.json"),
        include_str!("../../../../fuzz/corpus/workflow_text/list.yaml"),
        include_str!("../../../../fuzz/corpus/workflow_text/control.yaml"),
    ] {
        workflow_text::check(text);
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            workflow_text::check(&text[..end]);
        }
    }
}

/// Every way in which an attempt ends.
const ENDS: [&str; 8] = [
    "left",
    "commands_done",
    "command_failed",
    "crashed",
    "stopped_by",
    "stopped",
    "lost",
    "unclear",
];

/// Inputs by chance must lead everywhere, else they prove nothing.
#[test]
fn any_kind_of_event_is_reached() {
    let mut seen = BTreeSet::new();
    let mut dice = 1_u64;
    for _ in 0..600 {
        let bytes: Vec<u8> = (0..1_500)
            .map(|_| {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                dice.to_be_bytes()[0]
            })
            .collect();
        for event in engine_inputs::check(&bytes).into_iter().flat_map(|line| line.events) {
            let event = serde_json::to_value(&event).unwrap();
            let end = event["data"]["end"]["is"].as_str().unwrap_or_default();
            seen.insert(format!("{} {end}", event["kind"].as_str().unwrap()).trim().to_owned());
        }
    }
    let kinds = [
        "run_started",
        "supervisor_started",
        "tail_set_aside",
        "ledger_repaired",
        "run_paused",
        "run_resumed",
        "run_cancelled",
        "run_done",
        "frame_entered",
        "phase_entered",
        "edge_taken",
        "go_asked",
        "frame_ended",
        "attempt_started",
        "attempt_rewalled",
        "session_opened",
        "tool_called",
        "tool_ended",
        "file_changed",
        "usage_reported",
        "command_ended",
        "signal_accepted",
        "signal_refused",
        "break_accepted",
        "snapshot_updated",
        "claims_unproven",
        "notice_given",
        "cancel_asked",
        "follow_up_began",
        "follow_up_ended",
        "note_given",
        "message_delivered",
        "run_failed",
        "stop_asked",
        "gate_opened",
        "gate_answered",
        "wait_began",
        "wait_ended",
        "tree_recorded",
        "tree_missed",
        "undo_started",
        "undo_ended",
    ];
    let ends = ENDS.map(|end| format!("attempt_ended {end}"));
    let wanted = kinds.into_iter().map(str::to_owned).chain(ends);
    let missing: Vec<String> = wanted.filter(|kind| !seen.contains(kind)).collect();
    assert_eq!(missing, [""; 0], "seen: {seen:?}");
}

#[test]
fn the_corpus_of_inputs() {
    for bytes in [
        &include_bytes!("../../../../fuzz/corpus/engine_inputs/walk")[..],
        &include_bytes!("../../../../fuzz/corpus/engine_inputs/unclear")[..],
        &include_bytes!("../../../../fuzz/corpus/engine_inputs/overflow")[..],
    ] {
        for end in 0..=bytes.len() {
            engine_inputs::check(&bytes[..end]);
        }
    }
}
