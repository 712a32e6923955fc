//! What Chronicle costs over the bare minimum. Run by `cargo xtask bench`; `docs/benchmarks.md` says what each row means.
//!
//! Everything is measured beside what it is compared with, in turns, in one run. Start reading at [`main`].
#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on ends here")]
#![expect(clippy::print_stdout, reason = "a measurement talks to a terminal")]

mod agent;
mod guard;
mod history;
mod list;
mod measure;
mod opening;
mod peers;
mod pools;
mod program;
mod scene;
mod start;
mod steps;
mod trees;
mod walls;

use std::path::Path;

use measure::Row;

/// One group of rows. Parts are named on the command line; all of them when none is.
struct Part {
    name: &'static str,
    run: fn(&Path) -> Vec<Row>,
}

const PARTS: &[Part] = &[
    Part { name: "step", run: |folder| vec![steps::one(&folder.join("one"))] },
    Part { name: "many", run: |folder| vec![steps::many(&folder.join("many"))] },
    Part { name: "whole", run: |folder| vec![steps::whole_run(&folder.join("whole"))] },
    Part { name: "history", run: history::rows },
    Part { name: "open", run: opening::rows },
    Part { name: "start", run: start::rows },
    Part { name: "agent", run: agent::rows },
    Part { name: "trees", run: trees::rows },
    Part { name: "list", run: list::rows },
    Part { name: "guard", run: guard::rows },
    Part { name: "walls", run: walls::rows },
    Part { name: "pools", run: pools::rows },
    Part { name: PEERS, run: peers::rows },
];
const PEERS: &str = "peers";

/// What this program does instead when it is started by itself, to be looked at from inside.
const CHILDREN: [(&str, Child); 4] = [
    (opening::CHILD, opening::child),
    (agent::CHILD, agent::child),
    (list::CHILD, list::child),
    (walls::CHILD, walls::child),
];
type Child = fn(&Path);

fn main() {
    // Cargo passes `--bench` to every benchmark.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let child = words.first().and_then(|word| CHILDREN.iter().find(|child| child.0 == word));
    if let (Some((_, run)), [_, folder]) = (child, &words[..]) {
        return run(Path::new(folder));
    }
    // Other systems only when they are asked for.
    let wanted = |part: &&Part| match &words[..] {
        [] => part.name != PEERS,
        words => words.iter().any(|word| word == part.name),
    };
    println!("| what | Chronicle | beside it | ratio | target |\n|---|--:|--:|--:|--:|");
    for part in PARTS.iter().filter(wanted) {
        // On the disk that holds the build, since the temporary folder may be in memory.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        for row in (part.run)(folder.path()) {
            println!("{}", row.to_line());
        }
    }
}
