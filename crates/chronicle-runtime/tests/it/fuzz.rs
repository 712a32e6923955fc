//! Whatever comes in: the bodies that the fuzzer runs for hours, here for seconds. `fuzz/` has the targets.

#[path = "../../../../fuzz/bodies/agent_line.rs"]
mod agent_line;
#[path = "../../../../fuzz/bodies/ledger_bytes.rs"]
mod ledger_bytes;

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

const LINES: &str = include_str!("../../../../fuzz/corpus/agent_line/all.jsonl");
const SESSION: &str = r#"{"type":"session","protocol":1,"session":"s1"}"#;

/// What a field of a message may be.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| number.to_string()),
        any::<bool>().prop_map(|flag| flag.to_string()),
        "\\PC{0,30}".prop_map(|text| serde_json::Value::from(text).to_string()),
        Just(format!("{:?}", "x".repeat(300))),
        Just("[1,{}]".to_owned()),
    ]
}

proptest! {
    #![proptest_config(cases(800))]

    #[test]
    fn any_bytes_are_a_ledger_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        ledger_bytes::check(&bytes);
    }

    #[test]
    fn any_bytes_are_an_agents_lines(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        agent_line::check(&bytes);
    }

    #[test]
    fn any_message_is_understood_or_not(
        kind in prop::sample::select(&chronicle_runtime::for_tests::agents::FROM_AGENT[..]),
        fields in prop::collection::btree_map(
            "id|tool|text|session|protocol|input|arguments|ok|path|change|of|usd|until|class|question|options|parent",
            value(),
            0..6,
        ),
        named in any::<bool>(),
    ) {
        let fields: Vec<String> = fields.iter().map(|(name, value)| format!(",\"{name}\":{value}")).collect();
        let fields = fields.concat();
        let line = format!("{{\"type\":\"{kind}\"{fields}}}");
        let lines = if named { format!("{SESSION}\n{line}") } else { line };
        agent_line::check(lines.as_bytes());
    }

    #[test]
    fn good_lines_with_a_piece_elsewhere(at in 0..LINES.len(), length in 0..60_usize, to in 0..LINES.len()) {
        let mut bytes = LINES.as_bytes().to_vec();
        let piece: Vec<u8> = bytes.drain(at..(at + length).min(LINES.len())).collect();
        let to = to.min(bytes.len());
        bytes.splice(to..to, piece);
        agent_line::check(&bytes);
    }
}

#[test]
fn the_corpus_of_agents_lines() {
    agent_line::check(LINES.as_bytes());
    agent_line::check(include_bytes!("../../../../fuzz/corpus/agent_line/secrets.jsonl"));
}

#[test]
fn the_corpus_of_ledgers() {
    for bytes in [
        &include_bytes!("../../../../fuzz/corpus/ledger_bytes/good.jsonl")[..],
        &include_bytes!("../../../../fuzz/corpus/ledger_bytes/edits")[..],
    ] {
        ledger_bytes::check(bytes);
    }
}
