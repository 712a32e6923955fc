//! Any text as a definition of every other kind: read or refused with places inside of it, never a panic.

use chronicle_core::definition::guard::read_rules;
use chronicle_core::definition::persona;
use chronicle_core::definition::workflow::{Format, Problem, Source, read, read_chains};

/// More problems than anybody reads.
const PROBLEMS_MAX: usize = 10_000;

pub(crate) fn check(text: &str) {
    let source =
        || Source { file: None, name: "f".to_owned(), key: "w".to_owned(), text: text.to_owned() };
    for format in [Format::Native, Format::Phased, Format::Template, Format::Chain] {
        // Every file that it names is itself again.
        let unit = read(source(), format, &mut |_| Ok(source()));
        assert!(unit.is_sound() || !unit.problems().is_empty() || format == Format::Chain);
        inside(text, &unit.problems());
    }
    let (units, problems) = read_chains(&source());
    inside(text, &problems);
    for unit in units {
        inside(text, &unit.problems());
    }
    inside(text, &persona::read(&source(), Format::Native).problems);
    inside(text, &persona::read_teams(&source(), &[]).1);
    inside(text, &read_rules(&source()).problems);
}

fn inside(text: &str, problems: &[Problem]) {
    assert!(problems.len() <= PROBLEMS_MAX, "{} problems", problems.len());
    for problem in problems {
        assert!(!problem.to_string().chars().any(char::is_control), "{problem:?}");
        if let Some(span) = &problem.span {
            assert!(text.get(span.clone()).is_some(), "{problem} is not inside of the text");
        }
    }
}
