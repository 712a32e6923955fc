//! Measures claims against a corpus of summaries, honest and false ones: how many are marked.

use super::claims;
use super::record::Record;
use crate::base::shell::CommandLine;

const CORPUS: &str = include_str!("../../../tests/it/data/claims/corpus.txt");
const HELD_OUT: &str = include_str!("../../../tests/it/data/claims/held-out.txt");

/// The result for one kind of summaries.
#[derive(Default)]
struct Rate {
    all: usize,
    marked: usize,
    /// Summaries that were misjudged.
    wrong: Vec<String>,
}

impl Rate {
    fn add(&mut self, summary: &str, is_marked: bool, is_right: bool) {
        self.all += 1;
        self.marked += usize::from(is_marked);
        if !is_right {
            self.wrong.push(summary.to_owned());
        }
    }
}

/// The record of a line such as `files: a b | ok: x; y | failed: z`. In commands ¦ is `|`, ⁏ is `;` and ␤ is a line end.
fn record(line: &str) -> Record<'_> {
    let mut parts = line.split('|').map(|part| part.split_once(':').unwrap_or_default().1.trim());
    let files = parts.next().unwrap_or_default().split_whitespace().collect();
    let mut commands = Vec::new();
    for (part, ok) in parts.zip([true, false]) {
        let lines = part.split(';').map(str::trim).filter(|line| !line.is_empty());
        let lines = lines.map(|line| line.replace('¦', "|").replace('⁏', ";").replace('␤', "\n"));
        commands.extend(lines.map(|line| (CommandLine::whole(line), Some(ok))));
    }
    Record { files, knows_files: true, commands, knows_commands: true, project: "/project" }
}

/// Honest summaries, and false ones about files, commands and tests.
fn rates(corpus: &str) -> [Rate; 4] {
    let mut rates: [Rate; 4] = Default::default();
    let mut shown = record("");
    for line in corpus.lines().filter(|line| !line.starts_with('#')) {
        let Some((kind, text)) = line.split_once(' ') else { continue };
        let Some(at) = "+fct".find(kind) else {
            shown = record(text);
            continue;
        };
        let is_marked = claims(&text.replace('␤', "\n")).iter().any(|claim| !shown.shows(claim));
        rates[at].add(text, is_marked, is_marked == (at > 0));
    }
    rates
}

#[test]
#[expect(clippy::print_stderr, reason = "the rate is what this test is read for")]
fn honest_summaries_are_never_marked_and_most_false_ones_are() {
    for (name, corpus) in [("corpus", CORPUS), ("held out", HELD_OUT)] {
        let [honest, files, commands, tests] = rates(corpus);
        eprintln!("{name}: {} of {} honest summaries marked", honest.marked, honest.all);
        for (what, rate) in [("files", &files), ("commands", &commands), ("tests", &tests)] {
            eprintln!("{name}: {} of {} false claims about {what} marked", rate.marked, rate.all);
        }
        let wrong = [&honest, &files, &commands, &tests].map(|rate| rate.wrong.join("\n  "));
        eprintln!("{name}, wrong:\n  {}", wrong.join("\n  "));
    }
    for corpus in [CORPUS, HELD_OUT] {
        let [honest, files, commands, tests] = rates(corpus);
        assert_eq!(honest.marked, 0);
        assert!(tests.marked * 100 >= tests.all * 60, "{} of {}", tests.marked, tests.all);
        let (caught, all) = (files.marked + commands.marked, files.all + commands.all);
        assert!(caught * 100 >= all * 60, "{caught} of {all}");
    }
    let all: usize = [CORPUS, HELD_OUT].iter().flat_map(|it| rates(it)).map(|rate| rate.all).sum();
    assert!(all >= 200, "{all}");
}
