//! Problems of a definition, shown where they are.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use chronicle_core::definition::workflow::{Loaded, Problem, Severity, Source};
use chronicle_runtime::handle::definitions::FoundSettings;

use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Shows every problem; an error among them means that the definition cannot be used.
pub(super) fn judge(loaded: &Loaded) -> Result<(), Failure> {
    show(loaded);
    if loaded.is_usable() { Ok(()) } else { Err(failure(loaded, "run")) }
}

/// Prints every problem with its snippet.
pub(super) fn show(loaded: &Loaded) {
    for problem in &loaded.problems {
        terminal::talk_as_is(&render(&loaded.sources, problem, terminal::has_colours()));
        terminal::talk("");
    }
}

/// What cannot be done with a definition that has errors.
pub(super) fn failure(loaded: &Loaded, done: &str) -> Failure {
    let errors = loaded.problems.iter().filter(|problem| problem.severity == Severity::Error);
    let what = counted(errors.count(), "error");
    let name = loaded.sources.first().map_or("", |source| source.name.as_str());
    Failure::new(Exit::Definition, format!("`{name}` cannot be {done}: {what}"))
        .with_problems(&loaded.problems)
        .hint("mend what is marked above, then try again")
}

/// `1 error`, `2 errors`.
pub(super) fn counted(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// Shows everything wrong with settings; nothing starts with it.
pub(super) fn judge_settings(found: &FoundSettings) -> Result<(), Failure> {
    for problem in &found.problems {
        terminal::talk_as_is(&render(&found.sources, problem, terminal::has_colours()));
        terminal::talk("");
    }
    if found.is_usable() {
        return Ok(());
    }
    Err(Failure::new(Exit::Definition, "the settings cannot be used")
        .with_problems(&found.problems)
        .hint("mend what is marked above, then try again"))
}

/// A problem with the lines that it is about.
pub(super) fn render(sources: &[Source], problem: &Problem, colours: bool) -> String {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    // By name: a problem of a workflow inside is about another file than the one that was asked for.
    let source = sources.iter().find(|source| source.name == problem.file);
    let mut group = Group::with_title(level.primary_title(&problem.message).id(problem.code));
    if let (Some(source), Some(span)) = (source, &problem.span) {
        let mark = AnnotationKind::Primary.span(span.clone());
        group = group.element(Snippet::source(&source.text).path(&problem.file).annotation(mark));
    } else {
        let place = annotate_snippets::Origin::path(&problem.file);
        group = group.element(match problem.span {
            Some(_) => place.line(problem.line).char_column(problem.column),
            None => place,
        });
    }
    if let Some(hint) = &problem.hint {
        group = group.element(Level::HELP.message(hint));
    }
    let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}
