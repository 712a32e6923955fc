//! Fail points: places where tests can kill this process, to show that it may die anywhere.
//!
//! [`at`] is called in product code wherever a death would be hard to recover from. It costs one relaxed load until it is armed:
//! the binary by its environment, to be killed for real, or a test on its own thread.
//!
//! `CHRONICLE_FAILPOINT=NAME:NTH[:CUT]` kills at the nth hit of that point. CUT says how much of a line is still written at
//! `torn-append`: a number of bytes, `half`, or `-1` for all but the last. `count` kills nothing. With
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
        /// The points at which a process can be killed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Point { $($(#[$doc])* $point,)* }

        impl Point {
            /// Every point, in order of declaration.
            pub const ALL: &[Self] = &[$(Self::$point,)*];

            /// Its name in `CHRONICLE_FAILPOINT`.
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
    /// Lines are synced; nothing was shown or answered.
    AfterSync = "after-sync",
    /// A decision counts; whoever asked is not answered.
    BeforeAnswer = "before-answer",
    /// A torn line is set aside and still in the ledger.
    AfterSetAside = "after-set-aside",
    /// An agent is about to be started.
    BeforeStartAgent = "before-start-agent",
    /// An agent was just started.
    AfterStartAgent = "after-start-agent",
    /// A command is about to be started.
    BeforeStartCommand = "before-start-command",
    /// A command was just started.
    AfterStartCommand = "after-start-command",
    /// An attempt is about to be stopped.
    BeforeStop = "before-stop",
    /// An attempt was told to stop.
    AfterStop = "after-stop",
    /// A timer is about to be started.
    BeforeTimer = "before-timer",
    /// A timer has fired; it is not reported yet.
    AfterTimer = "after-timer",
    /// Leftovers of an earlier supervisor are about to be looked for.
    BeforeObserve = "before-observe",
    /// They were killed; that is not reported yet.
    AfterObserve = "after-observe",
    /// A keeper was started and has not reported yet.
    BeforeFirstReport = "before-first-report",
    /// In the keeper: it holds its lock and has not reported that.
    KeeperAfterLock = "keeper-after-lock",
    /// In the keeper: a wall stands, and its first process is not noted yet.
    KeeperAfterWall = "keeper-after-wall",
    /// In the keeper: the first process of the wall is noted, and nothing runs behind it.
    KeeperAfterInit = "keeper-after-init",
    /// In the keeper: the agent runs, and is not recorded yet.
    KeeperAfterStart = "keeper-after-start",
    /// In the keeper: everything has ended, and that is not reported yet.
    KeeperBeforeReport = "keeper-before-report",
    /// The new state cache is written and not in its place.
    InCacheWrite = "in-cache-write",
    /// The new run.json is written and not in its place.
    InRunJsonWrite = "in-run-json-write",
    /// Another small file is written and not in its place.
    InFileWrite = "in-file-write",
    /// The project's files are about to be recorded.
    BeforeTree = "before-tree",
    /// They are recorded; that is not reported yet.
    AfterTree = "after-tree",
    /// A tree is written and neither kept nor named.
    InTree = "in-tree",
    /// Files of an undone phase are gone and the older ones are not back.
    InRestore = "in-restore",
    /// A work folder is made, and not in its place.
    InWork = "in-work",
    /// Nothing of what a merge brings is written.
    BeforeMergeStage = "before-merge-stage",
    /// All of it is written beside, and no file has changed.
    BeforeMergeWrite = "before-merge-write",
    /// A file is about to be brought by a merge.
    InMergeWrite = "in-merge-write",
    /// A file was exchanged, and what came out was not looked at.
    InMergeSwap = "in-merge-swap",
    /// All files are in place, and what they replaced is still beside.
    BeforeMergeEnd = "before-merge-end",
    /// A notice is about to be sent.
    BeforeNotice = "before-notice",
    /// It was sent; that is not reported yet.
    AfterNotice = "after-notice",
    /// A person's command is recorded; the link has not answered.
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
    /// The first that many bytes.
    First(usize),
    /// The first half of the bytes.
    Half,
    /// All except the last that many bytes.
    AllBut(usize),
}

impl Cut {
    /// Number of bytes to write of a line of that length.
    pub fn of(self, length: usize) -> usize {
        match self {
            Self::First(bytes) => bytes.min(length),
            Self::Half => length / 2,
            Self::AllBut(bytes) => length.saturating_sub(bytes),
        }
    }
}

/// Decides where a process dies, and kills it.
pub trait Fate {
    /// A point is reached: true to die here.
    fn is_end(&self, point: Point) -> bool;
    /// How much is written if it dies in the middle of a line.
    fn cut(&self) -> Cut;
    /// Ends the process or thread.
    fn end(&self, point: Point) -> !;
}

/// Number of armed fates; usually 0.
static ARMED: AtomicUsize = AtomicUsize::new(0);
static OF_PROCESS: OnceLock<Killed> = OnceLock::new();

thread_local! {
    static OF_THREAD: RefCell<Option<Rc<dyn Fate>>> = const { RefCell::new(None) };
}

/// The process may be killed here.
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

/// Writes all bytes, unless the process dies in the middle.
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
    // A thread's own fate first: tests in one process run side by side.
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

/// Arms this thread until the guard is dropped.
pub fn on_this_thread(fate: Rc<dyn Fate>) -> Armed {
    OF_THREAD.with(|here| here.replace(Some(fate)));
    ARMED.fetch_add(1, Ordering::Relaxed);
    Armed(())
}

/// Keeps a thread armed while it lives.
pub struct Armed(());

impl Drop for Armed {
    fn drop(&mut self) {
        OF_THREAD.with(|here| here.replace(None));
        ARMED.fetch_sub(1, Ordering::Relaxed);
    }
}

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

/// The fate of a process: SIGKILL.
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
            // Not `exit` or `abort`: no destructor may run, or the test would show a cleaner death than a real one.
            let _ = kill_process(getpid(), Signal::KILL);
        }
    }
}

/// Appends a line to a file that several processes write. Returns how often it is there.
fn note(file: &Path, line: &str) -> io::Result<u64> {
    let mut file = File::options().create(true).read(true).append(true).open(file)?;
    // Supervisor and keepers count hits in the same file.
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
