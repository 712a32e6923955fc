//! What walls cost: the start of an agent, and every file that it opens.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chronicle_runtime::for_tests::process::wall::{Wall, WallLayers, WallPlan, probe, usual};
use chronicle_runtime::for_tests::process::{KeeperEnd, KeeperOrder, start};

use crate::measure::{Pairs, Row, Target, seconds, time};
use crate::program;

/// The word that makes this program an agent which opens files and says how long that took.
pub(crate) const CHILD: &str = "open-files-and-tell";
const STARTS: usize = 101;
const OPEN_TURNS: usize = 11;
const OPENS: u32 = 100_000;
/// Three folders below the project.
const DEEP_FILE: &str = "one/two/three/file";
/// Most that a wall may add to a start, in seconds.
const ADDED_MAX: f64 = 0.005;

pub(crate) fn rows(folder: &Path) -> Vec<Row> {
    let folder = folder.canonicalize().unwrap();
    let file = folder.join(DEEP_FILE);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "text\n").unwrap();
    let layers = probe(&program::chronicle(), &folder).stands.layers;
    if !layers.namespaces {
        return vec![Row::told("walls", "SKIPPED: this machine refuses namespaces")];
    }
    let yard = Yard { wall: wall(&folder, layers), folder };
    let mut rows = yard.starts();
    rows.push(yard.opens());
    rows
}

/// Where agents are started by keepers.
struct Yard {
    folder: PathBuf,
    wall: Wall,
}

impl Yard {
    /// From the order to the end of an agent that does nothing.
    fn starts(&self) -> Vec<Row> {
        let script = self.folder.join("nothing.yaml");
        std::fs::write(&script, "work: []\n").unwrap();
        let scripted = [program::chronicle().into(), "scripted-agent".into(), script.into()];
        let pairs = self.pairs(STARTS, &scripted);
        let what = "start and end of a scripted agent behind walls, against none";
        let mut rows = vec![row(what, &pairs, Target::None)];
        let added = pairs.one() - pairs.other();
        let figures = (seconds(added), seconds(ADDED_MAX));
        let what = "what walls add to it";
        rows.push(Row::judged(what, figures, added / ADDED_MAX, Target::AtMost(1.0)));
        let what = "start and end of `node -e 0` behind walls, against none";
        let node: [OsString; 3] = ["node".into(), "-e".into(), "0".into()];
        rows.push(if self.keep(&node, false).is_some() {
            row(what, &self.pairs(STARTS, &node), Target::AtMost(1.02))
        } else {
            Row::told(what, "SKIPPED: there is no Node")
        });
        rows
    }

    /// Opened, closed and looked at, by an agent that does nothing else.
    fn opens(&self) -> Row {
        let own = std::env::current_exe().unwrap();
        let child = [own.into(), CHILD.into(), self.folder.join(DEEP_FILE).into()];
        let took = |is_walled| {
            let said = self.keep(&child, is_walled).unwrap().1;
            Duration::from_secs_f64(said.trim().parse().unwrap())
        };
        let pairs = Pairs::take(OPEN_TURNS, || took(true), || took(false));
        let what = format!("{OPENS} files opened, closed and looked at behind walls, against none");
        row(&what, &pairs, Target::AtMost(1.2))
    }

    fn pairs(&self, rounds: usize, argv: &[OsString]) -> Pairs {
        let took = |is_walled| self.keep(argv, is_walled).unwrap().0;
        Pairs::take(rounds, || took(true), || took(false))
    }

    /// Runs an agent to its end. Returns how long that took and what it said; nothing if it could not be started.
    fn keep(&self, argv: &[OsString], is_walled: bool) -> Option<(Duration, String)> {
        let lock_file = self.folder.join("attempt.lock");
        let cookie = format!("bench-{}", std::process::id());
        let order = KeeperOrder {
            chronicle: program::chronicle(),
            wall: is_walled.then(|| self.wall.clone()),
            ..KeeperOrder::new(cookie, lock_file, self.folder.clone(), argv.to_vec())
        };
        let (took, (end, said)) = time(|| {
            let mut kept = start(&order).unwrap();
            drop(kept.stdin.take());
            let mut said = String::new();
            kept.stdout.read_to_string(&mut said).unwrap();
            (kept.control.wait(), said)
        });
        let is_started = !matches!(end, KeeperEnd::CannotStart { .. });
        is_started.then_some((took, said))
    }
}

fn row(what: &str, pairs: &Pairs, target: Target) -> Row {
    let figures = (seconds(pairs.one()), seconds(pairs.other()));
    Row::judged(what, figures, pairs.time_ratio(), target)
}

/// The usual wall around a project.
fn wall(project: &Path, layers: WallLayers) -> Wall {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let plan = WallPlan { agent: "scripted", layers, ..WallPlan::plain(project, &home) };
    usual(&plan).unwrap()
}

/// What the agent does: it opens the file, closes it and looks at it, and says how many seconds all of that took.
pub(crate) fn child(file: &Path) {
    let (took, ()) = time(|| {
        for _ in 0..OPENS {
            drop(File::open(file).unwrap());
            std::fs::metadata(file).unwrap();
        }
    });
    println!("{}", took.as_secs_f64());
}
