//! Any text as a workflow: read or refused with places inside of it, never a panic; what is usable can be frozen and run.

use chronicle_core::definition::workflow::{Source, Workflow, load};

/// More problems than anybody reads.
const PROBLEMS_MAX: usize = 10_000;

pub(crate) fn check(text: &str) {
    let source = |key: &str| Source {
        file: None,
        name: "w.yaml".to_owned(),
        key: key.to_owned(),
        text: text.to_owned(),
    };
    // Every workflow that it names is itself again, so that cycles are walked too.
    let mut asked = 0;
    let loaded = load(source("w"), &mut |key| {
        asked += 1;
        (asked <= 3).then(|| source(key))
    });
    assert!(loaded.problems.len() <= PROBLEMS_MAX, "{} problems", loaded.problems.len());
    for problem in &loaded.problems {
        assert!(!problem.to_string().is_empty());
        if let Some(span) = &problem.span {
            assert!(text.get(span.clone()).is_some(), "{problem} is not inside of the text");
        }
    }
    for workflow in &loaded.workflows {
        let frozen = serde_json::to_string(workflow).unwrap_or_else(|error| panic!("{error}"));
        let read: Workflow =
            serde_json::from_str(&frozen).unwrap_or_else(|error| panic!("{error}: {frozen}"));
        assert_eq!(read, *workflow, "it is frozen as it was read");
    }
    if loaded.is_usable() {
        let main = loaded.workflows.first();
        assert!(main.is_some_and(|main| main.phase(&main.initial).is_some()), "nowhere to begin");
    }
}
