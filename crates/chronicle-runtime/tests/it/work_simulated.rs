//! Merges into a real folder in a world made of one seed: between any two calls a person edits, the process dies or the disk is full.
//!
//! A person adds lines, each another one, with every way to save a file. In the end each line is in the folder once, or in a folder
//! that was kept aside for people; and what the step did is in each file once. `CHRONICLE_SIM_SEED` replays a world,
//! `CHRONICLE_SIM_RUNS` says how many are played.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use chronicle_core::base::ids::TreeId;
use chronicle_runtime::for_tests::fail::{Cut, Fate, Point, on_this_thread};
use chronicle_runtime::for_tests::process::Tool;
use chronicle_runtime::for_tests::trees::{Planned, Trees};
use chronicle_runtime::for_tests::work;

use crate::simulate::rng::Rng;
use crate::trees::{Yard, everything, record};

/// What the step writes into each file that it changes.
const STEP: &str = "by the step";
/// Files that the step changes, brings, and takes away.
const CHANGED: [&str; 6] = ["f0", "f1", "f2", "in/f3", "in/f4", "in/deep/f5"];
const NEW: [&str; 3] = ["n0", "new/n1", "new/deep/n2"];
const GONE: [&str; 2] = ["d0", "old/d1"];
/// Files of the person alone.
const OWN: [&str; 2] = ["mine", "in/mine"];
/// Rounds in which anything may happen, and those that it takes at most until the end once nothing does.
const WILD_ROUNDS: u32 = 4;
const CALM_ROUNDS: u32 = 3;
const WORLDS: u64 = 14;
const FULL_WORLDS: u64 = 6;
/// Room of a small disk, in the words of `mount`.
const SMALL: &str = "size=3m";

/// What happened in all worlds. Each kind of trouble must be met.
#[derive(Debug, Default)]
struct Met {
    edits: u32,
    swapped: u32,
    deaths: u32,
    full: u32,
    late: u32,
    aside: u32,
    conflicts: u32,
    merged: u32,
}

/// Somebody at work in the folder, and whatever else can happen there.
struct Chance {
    rng: Rng,
    root: PathBuf,
    /// Nothing happens any more.
    calm: bool,
    /// Whether the disk may become full.
    is_small: bool,
    is_full: bool,
    /// How many files the write in progress has come to.
    files: usize,
    /// Lines that the person wrote, and the file of each.
    lines: BTreeMap<String, String>,
    met: Met,
}

impl Chance {
    /// Something happens, or nothing. True if the process dies.
    fn strikes(&mut self, point: Point) -> bool {
        match point {
            Point::BeforeMergeWrite => self.files = 0,
            Point::InMergeWrite => self.files += 1,
            _ => {}
        }
        if self.calm {
            return false;
        }
        match self.rng.below(100) {
            0..=11 if !self.is_full => self.edit(),
            12..=39 if point == Point::InMergeSwap && !self.is_full => self.edit_what_came_out(),
            40..=46 => {
                self.met.deaths += 1;
                return true;
            }
            47..=54 if self.is_small && !self.is_full => self.fill(),
            _ => {}
        }
        false
    }

    /// The next line of the person, which goes to that file.
    fn line(&mut self, name: &str) -> String {
        self.met.edits += 1;
        let line = format!("by a person {}", self.met.edits);
        self.lines.insert(line.clone(), name.to_owned());
        line + "\n"
    }

    fn edit(&mut self) {
        let names = match self.rng.below(100) {
            0..=5 => GONE.to_vec(),
            6..=11 => NEW.to_vec(),
            _ => [&CHANGED[..], &OWN].concat(),
        };
        let name = *self.rng.pick(&names).unwrap();
        let path = self.root.join(name);
        let Ok(before) = fs::read_to_string(&path).or_else(|_| {
            // One that the step took away, or that is not there yet, is begun anew.
            path.parent().map_or(Ok(()), fs::create_dir_all).map(|()| String::new())
        }) else {
            return;
        };
        let line = self.line(name);
        if self.rng.chance(50) {
            let mut file = OpenOptions::new().create(true).append(true).open(&path).unwrap();
            file.write_all(line.as_bytes()).unwrap();
        } else {
            let beside = self.root.join(".chronicle/editor");
            fs::write(&beside, before + &line).unwrap();
            fs::rename(beside, path).unwrap();
        }
    }

    /// As if somebody had written right before the exchange: what came out is something else than was looked at.
    fn edit_what_came_out(&mut self) {
        let (Some(staged), Some(slot)) = (self.newest_staging(), self.files.checked_sub(1)) else {
            return;
        };
        // Only this one: those before it were looked at, and are nobody's any more.
        let path = staged.join(slot.to_string());
        let text = fs::read_to_string(&path).unwrap_or_default();
        let name = CHANGED.iter().find(|name| text.starts_with(&format!("{name} 0\n")));
        if let (Some(name), false) = (name, text.contains(STEP)) {
            let line = self.line(name);
            fs::write(&path, text + &line).unwrap();
            self.met.swapped += 1;
        }
    }

    fn newest_staging(&self) -> Option<PathBuf> {
        let entries = fs::read_dir(self.root.join(".chronicle/merge")).ok()?.flatten();
        let folders = entries.map(|entry| entry.path()).filter(|path| path.extension().is_none());
        folders.max_by_key(|path| fs::metadata(path).and_then(|it| it.modified()).ok())
    }

    fn filler(&self) -> PathBuf {
        self.root.join(".chronicle/filler")
    }

    /// Not a byte more fits.
    fn fill(&mut self) {
        let mut file = File::create(self.filler()).unwrap();
        while file.write_all(&[b'x'; 4096]).is_ok() {}
        (self.is_full, self.met.full) = (true, self.met.full + 1);
    }

    fn make_room(&mut self) {
        if std::mem::take(&mut self.is_full) {
            fs::remove_file(self.filler()).unwrap();
        }
    }
}

/// Asks chance at each point.
struct Struck(Rc<RefCell<Chance>>);

struct Died;

impl Fate for Struck {
    fn is_end(&self, point: Point) -> bool {
        self.0.borrow_mut().strikes(point)
    }

    fn cut(&self) -> Cut {
        Cut::Half
    }

    fn end(&self, _: Point) -> ! {
        resume_unwind(Box::new(Died))
    }
}

/// How a round ended.
enum Round {
    /// All that the step did is in the folder.
    Merged,
    /// A person is asked.
    Conflict,
    /// It has to be done again.
    Again,
}

/// A small disk, until it is dropped.
struct Mounted(PathBuf);

impl Mounted {
    /// `None` if this user may not.
    fn on(root: &Path) -> Option<Self> {
        let line = ["mount", "-t", "tmpfs", "-o", SMALL, "none"].map(OsString::from);
        let line = line.into_iter().chain([root.as_os_str().to_owned()]);
        let mounted = Tool::new(line, Path::new("/")).run().is_ok_and(|ran| ran.status.success());
        mounted.then(|| Self(root.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let line = [OsString::from("umount"), OsString::from("-l"), self.0.clone().into()];
        let _ = Tool::new(line, Path::new("/")).run();
    }
}

struct World {
    yard: Yard,
    trees: Trees,
    base: TreeId,
    theirs: TreeId,
    chance: Rc<RefCell<Chance>>,
    _disk: Option<Mounted>,
}

/// A file as it was before the step.
fn text_of(name: &str) -> String {
    (0..12).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "{name} {number}");
        text
    })
}

impl World {
    /// `None` if there is to be a small disk, and cannot be.
    fn new(seed: u64, is_small: bool) -> Option<Self> {
        let yard = Yard::new();
        let disk = if is_small { Some(Mounted::on(&yard.root)?) } else { None };
        for name in CHANGED.iter().chain(&GONE) {
            yard.write(name, text_of(name));
        }
        let trees = yard.trees();
        let base = record(&trees);
        for name in CHANGED {
            let (before, after) = (format!("{name} 4\n"), format!("{name} 4\n{STEP}\n"));
            yard.write(name, text_of(name).replace(&before, &after));
        }
        for name in &NEW {
            yard.write(name, format!("{STEP}\n"));
        }
        for name in &GONE {
            fs::remove_file(yard.root.join(name)).unwrap();
        }
        let theirs = trees.record(Some("run/theirs")).unwrap().tree;
        trees.restore(&theirs, &base, "run/back").unwrap();
        let chance = Chance {
            rng: Rng::new(seed),
            root: yard.root.clone(),
            calm: false,
            is_small,
            is_full: false,
            files: 0,
            lines: BTreeMap::new(),
            met: Met::default(),
        };
        let chance = Rc::new(RefCell::new(chance));
        Some(Self { yard, trees, base, theirs, chance, _disk: disk })
    }

    /// Records, plans and writes, as a run does. What fails because the disk is full is done again.
    fn round(&self, number: u32) -> Round {
        let Ok(ours) = self.trees.record(Some(&format!("run/ours{number}"))) else {
            return self.again();
        };
        self.chance.borrow_mut().strikes(Point::BeforeMergeStage);
        let keep = format!("run/m{number}");
        let planned = self.trees.plan_merge(&self.base, &ours.tree, &self.theirs, None, &keep);
        let result = match planned {
            Ok(Planned::Clean { result, .. }) => result,
            Ok(Planned::Conflict { .. }) => return Round::Conflict,
            Err(_) => return self.again(),
        };
        let staging = self.yard.root.join(format!(".chronicle/merge/{number}"));
        let written = work::write(&self.yard.root, &staging, &ours.tree, &result, &self.trees);
        let Ok(written) = written else { return self.again() };
        let mut chance = self.chance.borrow_mut();
        chance.met.late += u32::from(!written.late.is_empty());
        match &written.error {
            Some(error) if error.contains("is kept in") => chance.met.aside += 1,
            Some(error) => assert!(chance.is_full, "{error}"),
            None if written.late.is_empty() => return Round::Merged,
            None => {}
        }
        Round::Again
    }

    /// Nothing may fail but for a disk that is full.
    fn again(&self) -> Round {
        assert!(self.chance.borrow().is_full, "it failed, and nobody knows why");
        Round::Again
    }

    fn play(&self) {
        for number in 0..WILD_ROUNDS + CALM_ROUNDS {
            {
                let mut chance = self.chance.borrow_mut();
                chance.calm = number >= WILD_ROUNDS;
                if chance.calm || chance.rng.chance(60) {
                    chance.make_room();
                }
            }
            let armed = on_this_thread(Rc::new(Struck(Rc::clone(&self.chance))));
            let lived = catch_unwind(AssertUnwindSafe(|| self.round(number)));
            drop(armed);
            let round = match lived {
                Ok(round) => round,
                Err(cause) if cause.is::<Died>() => Round::Again,
                Err(cause) => resume_unwind(cause),
            };
            let mut chance = self.chance.borrow_mut();
            match round {
                Round::Again => {}
                Round::Conflict => {
                    chance.make_room();
                    chance.met.conflicts += 1;
                    return;
                }
                Round::Merged => {
                    chance.make_room();
                    chance.met.merged += 1;
                    drop(chance);
                    return self.all_is_merged_once();
                }
            }
        }
        panic!("it does not come to an end");
    }

    /// Each file has what the step did to it, once.
    fn all_is_merged_once(&self) {
        for name in CHANGED.iter().chain(&NEW) {
            let text = self.yard.read(name);
            assert_eq!(text.matches(STEP).count(), 1, "{name}: {text}");
        }
        for name in CHANGED {
            let text = self.yard.read(name);
            let without: String = text
                .lines()
                .filter(|line| line.starts_with(name))
                .fold(String::new(), |text, line| text + line + "\n");
            assert_eq!(without, text_of(name), "{name}: {text}");
        }
        for name in GONE {
            assert!(!self.yard.root.join(name).exists(), "{name} is back");
        }
    }

    /// Each line of a person is in its file once, or in what was kept aside for people.
    fn nothing_of_a_person_is_lost(&self) {
        let chance = self.chance.borrow();
        let kept: Vec<String> = below(&self.yard.root.join(".chronicle/merge"));
        for (line, name) in &chance.lines {
            let line = format!("{line}\n");
            let text = fs::read_to_string(self.yard.root.join(name)).unwrap_or_default();
            let there = text.matches(&line).count();
            assert!(there <= 1, "`{name}` has it twice: {text}");
            let is_kept = kept.iter().any(|text| text.contains(&line));
            assert!(there == 1 || is_kept, "{line} of `{name}` is lost: {text}");
        }
        let known: BTreeSet<PathBuf> =
            [&CHANGED[..], &NEW, &GONE, &OWN].concat().into_iter().map(PathBuf::from).collect();
        for (name, (mode, _)) in everything(&self.yard.root) {
            let is_folder = mode & 0o170_000 == 0o040_000;
            assert!(is_folder || known.contains(&name), "`{}` is left", name.display());
        }
    }
}

/// The text of every file below a folder.
fn below(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            texts.extend(below(&entry.path()));
        } else {
            texts.extend(fs::read_to_string(entry.path()));
        }
    }
    texts
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Plays that many worlds; `None` if there cannot be such disks.
fn worlds(count: u64, is_small: bool) -> Option<Met> {
    let first = number("CHRONICLE_SIM_SEED");
    let count = number("CHRONICLE_SIM_RUNS").unwrap_or(if first.is_some() { 1 } else { count });
    let mut sum = Met::default();
    for seed in (first.unwrap_or(0)..).take(usize::try_from(count).unwrap()) {
        let world = World::new(seed, is_small)?;
        let played = catch_unwind(AssertUnwindSafe(|| {
            world.play();
            world.nothing_of_a_person_is_lost();
        }));
        if let Err(cause) = played {
            show(seed, is_small);
            resume_unwind(cause);
        }
        let met = &world.chance.borrow().met;
        sum.edits += met.edits;
        sum.swapped += met.swapped;
        sum.deaths += met.deaths;
        sum.full += met.full;
        sum.late += met.late;
        sum.aside += met.aside;
        sum.conflicts += met.conflicts;
        sum.merged += met.merged;
    }
    Some(sum)
}

#[expect(clippy::print_stderr, reason = "who looks for the fault needs the seed")]
fn show(seed: u64, is_small: bool) {
    let disk = if is_small { ", on a small disk" } else { "" };
    eprintln!("seed {seed}{disk}: replay it with CHRONICLE_SIM_SEED={seed}");
}

#[expect(clippy::print_stderr, reason = "nobody is to believe that it was shown")]
fn skipped() {
    eprintln!("SKIPPED: full disks were not tried, since this user may not mount any");
}

fn is_all() -> bool {
    number("CHRONICLE_SIM_SEED").is_none()
}

#[test]
fn needs_git_whatever_happens_in_a_merge_no_edit_is_lost_and_nothing_is_merged_twice() {
    let met = worlds(WORLDS, false).unwrap();
    let each = [met.edits, met.swapped, met.deaths, met.late, met.conflicts, met.merged];
    assert!(!is_all() || each.iter().all(|count| *count > 0), "{met:?}");
}

#[test]
fn needs_git_nor_if_the_disk_becomes_full_in_the_middle() {
    let Some(met) = worlds(FULL_WORLDS, true) else { return skipped() };
    let each = [met.edits, met.deaths, met.full, met.merged];
    assert!(!is_all() || each.iter().all(|count| *count > 0), "{met:?}");
}
