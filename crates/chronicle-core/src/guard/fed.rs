//! What clients of databases read from their standard input, as far as the command itself shows it. They run it, so rules are asked
//! about it as about what stands behind `-c` or `--eval`.

use super::acts::{CommandWord, ProgramRun};
use super::quotes::Marked;
use super::statements::is_database;

/// Programs that print what they are told.
const PRINTERS: [&str; 3] = ["echo", "printf", "print"];

/// True if a program runs statements that it reads.
fn is_client(name: &str) -> bool {
    is_database(name) || ["mongosh", "mongo", "redis-cli", "valkey-cli"].contains(&name)
}

/// Each client with what it is handed: by what stands before it in its pipeline, a here-document or a here-string.
pub(super) fn fed(
    command: &str,
    runs: &[ProgramRun],
    marked: &Marked<'_>,
) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (at, run) in runs.iter().enumerate().filter(|(_, run)| is_client(&run.program)) {
        let own = handed(command, run, marked);
        let before = runs.get(..at).unwrap_or_default().iter();
        let before = before.filter(|it| is_before(it, run, marked));
        let texts = before.map(|it| printed(command, it, marked)).chain([own]);
        let texts: Vec<String> = texts.filter(|text| !text.trim().is_empty()).collect();
        if !texts.is_empty() {
            all.push((run.program.clone(), texts.join("\n")));
        }
    }
    all
}

/// All that a client reads, where it is the only thing that a single `echo` or `printf` prints.
pub(super) fn whole(
    runs: &[ProgramRun],
    client: &ProgramRun,
    marked: &Marked<'_>,
) -> Option<String> {
    let pipeline = pipeline_of(client, marked)?;
    let here = |run: &&ProgramRun| pipeline.contains(&run.span.start);
    let here: Vec<&ProgramRun> = runs.iter().filter(here).collect();
    let [printer, last] = here.as_slice() else { return None };
    let is_it =
        *last == client && is_before(printer, client, marked) && printer.span != client.span;
    let words: Option<Vec<&str>> = printer.words.iter().skip(1).map(CommandWord::known).collect();
    let words = words.filter(|_| is_it && PRINTERS.contains(&printer.program.as_str()))?;
    // What `printf` makes of these, and `echo` with an option, is not looked at.
    let is_plain = |word: &&str| !word.starts_with('-') && !word.contains(['\\', '%']);
    words.iter().all(is_plain).then(|| words.join(" "))
}

/// True if one program stands before another in its pipeline. Both are at one place if they are in the text of another command.
fn is_before(run: &ProgramRun, client: &ProgramRun, marked: &Marked<'_>) -> bool {
    let stands = |it: std::ops::Range<usize>| it.contains(&run.span.start);
    let is_left = run.span.start < client.span.start;
    run.span == client.span || is_left && pipeline_of(client, marked).is_some_and(stands)
}

/// The pipeline that a program is a later part of.
fn pipeline_of(run: &ProgramRun, marked: &Marked<'_>) -> Option<std::ops::Range<usize>> {
    let is_around = |it: &std::ops::Range<usize>| it.contains(&run.span.start);
    let pipeline = marked.pipelines().into_iter().find(is_around)?;
    marked.has_pipe(&(pipeline.start..run.span.start)).then_some(pipeline)
}

/// What a program before a client prints, as far as it is told.
fn printed(command: &str, run: &ProgramRun, marked: &Marked<'_>) -> String {
    if run.program == "cat" || run.program == "tee" {
        return handed(command, run, marked);
    }
    if !PRINTERS.contains(&run.program.as_str()) {
        return String::new();
    }
    let words = run.words.iter().skip(1).map(|word| match word {
        CommandWord::Known(text) | CommandWord::Glob(text) => text.as_str(),
        CommandWord::Unknown { begins, .. } => begins.as_str(),
    });
    let words: Vec<&str> = words.collect();
    words.join(" ").replace("\\n", " ").replace("\\t", " ")
}

/// Its here-documents and here-strings, as they are written.
fn handed(command: &str, run: &ProgramRun, marked: &Marked<'_>) -> String {
    let span = run.span.start..run.span.end;
    let bodies = marked.documents_in(&span).into_iter().filter_map(|(_, body)| command.get(body));
    let here = command.get(span.clone()).unwrap_or_default();
    let string = here.split_once("<<<").map(|(_, string)| string.trim().trim_matches(['\'', '"']));
    bodies.chain(string).collect::<Vec<_>>().join("\n")
}
