//! Places where this process can be told to die, so that tests can show that it may die anywhere.
//!
//! [`at`] stands in product code wherever a death would be awkward, and costs one relaxed load until somebody arms it: the
//! binary from its environment, to be killed for real, or a test on its own thread, to end as it likes.
//!
//! `CHRONICLE_FAILPOINT=NAME:NTH[:CUT]` kills at the nth hit of that point. CUT says how much of a line is still written
//! at `torn-append`: a number of bytes, `half`, or `-1` for all but the last. `count` kills nobody. With
//! `CHRONICLE_FAILPOINT_HITS=FILE` the hits of all processes are counted together, one line each; a death is `!NAME`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::process::{Signal, getpid, kill_process};

const WHAT: &str = "CHRONICLE_FAILPOINT";
const HITS: &str = "CHRONICLE_FAILPOINT_HITS";
const COUNT: &str = "count";
/// Marks the line of a death.
const DEATH: char = '!';

macro_rules! points {
    ($($(#[$doc:meta])* $point:ident = $name:literal,)*) => {
        /// Where it can end.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Point { $($(#[$doc])* $point,)* }

        impl Point {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$point,)*];

            /// What it is called.
            pub fn name(self) -> &'static str {
                match self { $(Self::$point => $name,)* }
            }
        }
    };
}

points! {
    /// A line is decided, nothing of it is written.
    BeforeAppend = "before-append",
    /// Some bytes of a line are written.
    TornAppend = "torn-append",
    /// A line is written, not synced.
    AfterWrite = "after-write",
    /// Lines are about to be synced.
    BeforeSync = "before-sync",
    /// Lines are synced; nobody knows.
    AfterSync = "after-sync",
    /// A decision counts; whoever asked is not answered.
    BeforeAnswer = "before-answer",
    /// A torn line is set aside and still in the ledger.
    AfterSetAside = "after-set-aside",
    /// An agent is due.
    BeforeStartAgent = "before-start-agent",
    /// An agent runs.
    AfterStartAgent = "after-start-agent",
    /// A command is due.
    BeforeStartCommand = "before-start-command",
    /// A command runs.
    AfterStartCommand = "after-start-command",
    /// An attempt is to be stopped.
    BeforeStop = "before-stop",
    /// An attempt was told to stop.
    AfterStop = "after-stop",
    /// A timer is due.
    BeforeTimer = "before-timer",
    /// A timer ran out; nobody knows.
    AfterTimer = "after-timer",
    /// What an earlier supervisor left is to be looked for.
    BeforeObserve = "before-observe",
    /// What it left is ended; nobody knows.
    AfterObserve = "after-observe",
    /// A keeper was started and has said nothing yet.
    BeforeFirstReport = "before-first-report",
    /// In the keeper: it holds its lock and has not said so.
    KeeperAfterLock = "keeper-after-lock",
    /// In the keeper: the agent runs, and is not written down.
    KeeperAfterStart = "keeper-after-start",
    /// In the keeper: everything has ended, and it has not said so.
    KeeperBeforeReport = "keeper-before-report",
    /// The new state cache is written and not in its place.
    InCacheWrite = "in-cache-write",
    /// The new run.json is written and not in its place.
    InRunJsonWrite = "in-run-json-write",
    /// Another small file is written and not in its place.
    InFileWrite = "in-file-write",
    /// The project's files are to be recorded.
    BeforeTree = "before-tree",
    /// They are recorded; nobody knows.
    AfterTree = "after-tree",
    /// A tree is written and neither kept nor named.
    InTree = "in-tree",
    /// Files of an undone phase are gone and the older ones are not back.
    InRestore = "in-restore",
    /// People are to be told something.
    BeforeNotice = "before-notice",
    /// They were told; nobody knows.
    AfterNotice = "after-notice",
    /// A person's command counts; the link has not answered.
    LinkBeforeAnswer = "link-before-answer",
}

impl Point {
    /// The point inside the writing of that file.
    pub(crate) fn writing(path: &Path) -> Self {
        match path.file_name().and_then(|name| name.to_str()) {
            Some("state.cache") => Self::InCacheWrite,
            Some("run.json") => Self::InRunJsonWrite,
            _ => Self::InFileWrite,
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|point| point.name() == name)
    }
}

/// How much of a torn line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// So many bytes.
    First(usize),
    /// Half of them.
    Half,
    /// All but so many.
    AllBut(usize),
}

impl Cut {
    /// How many bytes of so many.
    pub fn of(self, length: usize) -> usize {
        match self {
            Self::First(bytes) => bytes.min(length),
            Self::Half => length / 2,
            Self::AllBut(bytes) => length.saturating_sub(bytes),
        }
    }
}

/// Says where it ends, and ends it.
pub trait Fate {
    /// One of the points is reached: whether this is the end.
    fn is_end(&self, point: Point) -> bool;
    /// How much is still written when the end comes in the middle of a line.
    fn cut(&self) -> Cut;
    /// Ends it.
    fn end(&self, point: Point) -> !;
}

/// How many fates there are: mostly none.
static ARMED: AtomicUsize = AtomicUsize::new(0);
static OF_PROCESS: OnceLock<Killed> = OnceLock::new();

thread_local! {
    static OF_THREAD: RefCell<Option<Rc<dyn Fate>>> = const { RefCell::new(None) };
}

/// The process may end here.
#[inline]
pub fn at(point: Point) {
    if ARMED.load(Ordering::Relaxed) != 0 {
        ask(|fate| {
            if fate.is_end(point) {
                fate.end(point);
            }
        });
    }
}

/// Writes all of it, unless the process ends in the middle.
pub(crate) fn torn<T>(bytes: &[u8], mut write: impl FnMut(&[u8]) -> T) -> T {
    if ARMED.load(Ordering::Relaxed) != 0 {
        ask(|fate| {
            if fate.is_end(Point::TornAppend) {
                let _ = write(&bytes[..fate.cut().of(bytes.len())]);
                fate.end(Point::TornAppend);
            }
        });
    }
    write(bytes)
}

fn ask(question: impl FnOnce(&dyn Fate)) {
    let here = OF_THREAD.with(|fate| fate.borrow().clone());
    match (here, OF_PROCESS.get()) {
        (Some(fate), _) => question(fate.as_ref()),
        (None, Some(fate)) => question(fate),
        (None, None) => {}
    }
}

/// Arms this process as its environment says.
pub fn arm() -> Result<(), String> {
    let Some(what) = std::env::var_os(WHAT) else { return Ok(()) };
    let what = what.to_str().ok_or_else(|| format!("`{WHAT}` is not a text"))?;
    let hits = std::env::var_os(HITS).map(PathBuf::from);
    let killed = Killed { plan: plan(what)?, hits, here: Mutex::default() };
    if OF_PROCESS.set(killed).is_ok() {
        ARMED.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// Gives this thread a fate of its own until the guard goes.
pub fn on_this_thread(fate: Rc<dyn Fate>) -> Armed {
    OF_THREAD.with(|here| here.replace(Some(fate)));
    ARMED.fetch_add(1, Ordering::Relaxed);
    Armed(())
}

/// A thread's fate, as long as this lives.
pub struct Armed(());

impl Drop for Armed {
    fn drop(&mut self) {
        OF_THREAD.with(|here| here.replace(None));
        ARMED.fetch_sub(1, Ordering::Relaxed);
    }
}

/// When to be killed.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    point: Point,
    nth: u64,
    cut: Cut,
}

fn plan(what: &str) -> Result<Option<Plan>, String> {
    if what == COUNT {
        return Ok(None);
    }
    let wrong = || format!("`{WHAT}` is `{what}`, and not NAME:NTH[:CUT] or `{COUNT}`");
    let mut parts = what.splitn(3, ':');
    let point = parts.next().and_then(Point::named).ok_or_else(wrong)?;
    let nth = parts.next().and_then(|text| text.parse().ok()).ok_or_else(wrong)?;
    let cut = match parts.next() {
        None | Some("half") => Cut::Half,
        Some(text) => match text.strip_prefix('-') {
            Some(rest) => Cut::AllBut(rest.parse().map_err(|_| wrong())?),
            None => Cut::First(text.parse().map_err(|_| wrong())?),
        },
    };
    Ok(Some(Plan { point, nth, cut }))
}

/// The fate of a process: a signal that nothing can catch.
struct Killed {
    plan: Option<Plan>,
    hits: Option<PathBuf>,
    here: Mutex<BTreeMap<Point, u64>>,
}

impl Killed {
    /// The number of this hit.
    fn count(&self, point: Point) -> u64 {
        if let Some(file) = &self.hits {
            return note(file, point.name()).unwrap_or(0);
        }
        let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
        let count = here.entry(point).or_default();
        *count += 1;
        *count
    }
}

impl Fate for Killed {
    fn is_end(&self, point: Point) -> bool {
        let number = self.count(point);
        self.plan.as_ref().is_some_and(|plan| plan.point == point && plan.nth == number)
    }

    fn cut(&self) -> Cut {
        self.plan.as_ref().map_or(Cut::Half, |plan| plan.cut)
    }

    fn end(&self, point: Point) -> ! {
        if let Some(file) = &self.hits {
            let _ = note(file, &format!("{DEATH}{}", point.name()));
        }
        loop {
            let _ = kill_process(getpid(), Signal::KILL);
        }
    }
}

/// Adds a line to a file that several processes write, and says how often it is there.
fn note(file: &Path, line: &str) -> io::Result<u64> {
    let mut file = File::options().create(true).read(true).append(true).open(file)?;
    file.lock()?;
    file.write_all(format!("{line}\n").as_bytes())?;
    let mut text = String::new();
    io::Seek::rewind(&mut file)?;
    file.read_to_string(&mut text)?;
    Ok(text.lines().filter(|there| *there == line).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_or_refused() {
        let read = |text| plan(text).unwrap().unwrap();
        let (point, nth) = (Point::TornAppend, 3);
        assert_eq!(read("torn-append:3"), Plan { point, nth, cut: Cut::Half });
        assert_eq!(read("torn-append:3:7"), Plan { point, nth, cut: Cut::First(7) });
        assert_eq!(read("torn-append:3:-1"), Plan { point, nth, cut: Cut::AllBut(1) });
        assert_eq!(plan("count"), Ok(None));
        for text in ["", "torn-append", "torn-append:x", "nowhere:1", "torn-append:1:-"] {
            assert!(plan(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_cut_never_goes_beyond_the_line() {
        assert_eq!([Cut::First(9), Cut::Half, Cut::AllBut(1)].map(|cut| cut.of(5)), [5, 2, 4]);
        assert_eq!(Cut::AllBut(9).of(5), 0);
    }

    #[test]
    fn hits_of_all_processes_are_counted_together() {
        let folder = tempfile::tempdir().unwrap();
        let hits = Some(folder.path().join("hits"));
        let process = || Killed { plan: None, hits: hits.clone(), here: Mutex::default() };
        assert_eq!([process().count(Point::AfterSync), process().count(Point::AfterSync)], [1, 2]);
        assert_eq!(process().count(Point::AfterWrite), 1);
        let alone = Killed { hits: None, ..process() };
        assert_eq!([alone.count(Point::AfterSync), alone.count(Point::AfterSync)], [1, 2]);
    }

    #[test]
    fn names_are_unique() {
        assert!(Point::ALL.iter().all(|point| Point::named(point.name()) == Some(*point)));
    }
}
