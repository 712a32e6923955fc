//! Which workflows there are, and which of several files of one name is used.
//!
//! The first one wins, unless it cannot be used and a later one can: a bad file of the project never hides a good one of
//! the user. What depends on something broken is broken too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chronicle_core::base::limits::Limits;
use chronicle_core::definition::workflow::{
    Format, Problem, Severity, Source, Trouble, Unit, assemble, read_chains_upon, read_upon,
};

use super::builtin::{Builtin, PREFIX};
use super::files::{self, Entry};
use super::places::{Places, harmless};
use super::{Level, Origin};

/// Endings of a workflow file, in the order in which they are looked for.
pub(super) const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];
/// What makes a folder a workflow.
pub(super) const FOLDER_FILE: &str = "workflow.yaml";
/// Most threads that read definitions, and fewest definitions that are worth one.
const THREADS_MAX: usize = 4;
const SHARE_MIN: usize = 64;
/// Most bytes of definitions that are read in all.
const TEXTS_MAX: usize = 64 * 1024 * 1024;
/// The file of chains.
const CHAINS: &str = "agent-chain.yaml";

/// A workflow that is here.
#[derive(Debug, Clone)]
pub struct FoundWorkflow {
    /// What it is called by.
    pub key: String,
    /// Where it is from.
    pub origin: Origin,
    /// Its definition.
    pub unit: Arc<Unit>,
    /// Whether it can run.
    pub is_usable: bool,
    /// What is wrong with it, or with one that it stands in for.
    pub problems: Vec<Problem>,
    /// Files of the same name that are not used because this one comes first.
    pub overrides: Vec<Origin>,
    /// Files of the same name that come first and cannot be used.
    pub instead_of: Vec<Origin>,
}

/// One file or folder that defines a workflow.
#[derive(Debug, Clone)]
struct Candidate {
    origin: Origin,
    unit: Arc<Unit>,
    group: Group,
}

/// The order in which workflows are listed: that of pi-workflows among its own, with the user's first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Own,
    PiUser,
    PiOwn,
    Templates,
    Chains,
    User,
    Builtin,
}

/// Every workflow, in the order of the list; and what is wrong with files that define none.
pub(super) fn find(places: &Places) -> (Vec<FoundWorkflow>, Vec<Problem>) {
    let mut search =
        Search { places, found: Vec::new(), problems: Vec::new(), read: AtomicUsize::new(0) };
    search.native(Some(places.own(".chronicle/workflows")), Level::Project, Group::Own);
    search.phased(Some(places.own(".pi/workflows")), Level::Project, Group::PiOwn);
    search.templates(&places.own(".pi/chronicle/workflows"));
    for folder in ["agents", ".pi/agents"] {
        search.chains(&places.own(folder).join(CHAINS));
    }
    search.native(places.ours("workflows"), Level::User, Group::User);
    search.phased(places.of_pi("workflows"), Level::User, Group::PiUser);
    search.builtin(places.workflows);
    let Search { found, problems, .. } = search;
    (choose(&found), problems)
}

struct Search<'p> {
    places: &'p Places,
    found: Vec<Candidate>,
    problems: Vec<Problem>,
    /// Bytes of all definitions so far.
    read: AtomicUsize,
}

/// One definition to be read.
struct Job {
    key: String,
    path: PathBuf,
    /// Where its files may be.
    roots: Vec<PathBuf>,
}

impl Job {
    /// Reads it, unless so much was read that somebody must have meant no good.
    fn unit(&self, places: &Places, format: Format, read: &AtomicUsize) -> Unit {
        if read.load(Ordering::Relaxed) > TEXTS_MAX {
            let message = format!("not read: there are more than {TEXTS_MAX} bytes of definitions");
            let (name, key) = (Places::shown(&self.path), self.key.clone());
            let source = Source { name, key, text: String::new() };
            return Unit::broken(source, Trouble::new("too-many-files", message));
        }
        let unit = unit(&places.limits, &self.path, &self.key, format, &self.roots);
        let bytes: usize = unit.sources.iter().map(|source| source.text.len()).sum();
        read.fetch_add(bytes, Ordering::Relaxed);
        unit
    }
}

impl Search<'_> {
    fn add(&mut self, unit: Unit, level: Level, format: Format, group: Group) {
        let path = unit.sources.first().map_or_else(String::new, |source| source.name.clone());
        let origin = Origin { level, path, format: Some(format) };
        self.found.push(Candidate { origin, unit: Arc::new(unit), group });
    }

    /// Reads definitions, many of them by as many threads as there are cores, and adds them in their order.
    fn add_all(&mut self, jobs: &[Job], format: Format, level: Level, group: Group) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        let share = jobs.len().div_ceil(threads).max(SHARE_MIN);
        let (places, read) = (self.places, &self.read);
        let work = |jobs: &[Job]| -> Vec<Unit> {
            jobs.iter().map(|job| job.unit(places, format, read)).collect()
        };
        let units: Vec<Unit> = std::thread::scope(|scope| {
            let mut shares = jobs.chunks(share);
            let own = shares.next().unwrap_or_default();
            let others: Vec<_> = shares.map(|share| scope.spawn(move || work(share))).collect();
            let mut units = work(own);
            for other in others {
                match other.join() {
                    Ok(more) => units.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            units
        });
        for unit in units {
            self.add(unit, level, format, group);
        }
    }

    fn entries(&mut self, folder: &Path) -> Vec<Entry> {
        let (entries, trouble) = files::entries(folder);
        self.problems.extend(trouble.map(|trouble| problem(folder, trouble)));
        let (good, bad): (Vec<Entry>, Vec<Entry>) = entries
            .into_iter()
            .filter(|entry| !entry.name.starts_with('.'))
            .partition(|entry| is_key(&entry.name));
        for entry in bad {
            let message = format!("nothing can be called `{}`", harmless(&entry.name));
            self.problems.push(problem(&entry.path, Trouble::new("bad-name", message)));
        }
        good
    }

    fn native(&mut self, folder: Option<PathBuf>, level: Level, group: Group) {
        let Some(folder) = folder else { return };
        let roots = roots(&folder);
        let mut files: Vec<(String, usize, PathBuf)> = Vec::new();
        for entry in self.entries(&folder) {
            let ending = Path::new(&entry.name).extension().and_then(|ending| ending.to_str());
            let rank = ENDINGS.iter().position(|known| Some(*known) == ending);
            match (rank, entry.is_folder) {
                (Some(rank), false) => {
                    let stem = Path::new(&entry.name).file_stem().and_then(|stem| stem.to_str());
                    files.push((stem.unwrap_or_default().to_owned(), rank, entry.path));
                }
                (_, true) if files::is_there(&entry.path.join(FOLDER_FILE)) => {
                    files.push((entry.name, ENDINGS.len(), entry.path.join(FOLDER_FILE)));
                }
                (Some(_), true) => {
                    let trouble = Trouble::new("not-a-file", "a folder that is named like a file");
                    self.problems.push(problem(&entry.path, trouble));
                }
                (None, _) => {}
            }
        }
        files.sort_unstable();
        let files = files.into_iter().map(|(key, _, path)| Job { key, path, roots: roots.clone() });
        self.add_all(&files.collect::<Vec<_>>(), Format::Native, level, group);
    }

    fn phased(&mut self, folder: Option<PathBuf>, level: Level, group: Group) {
        let Some(folder) = folder else { return };
        let roots = roots(&folder);
        let mut nested = Vec::new();
        let mut direct = Vec::new();
        for entry in self.entries(&folder).into_iter().filter(|entry| entry.is_folder) {
            if files::is_there(&entry.path.join(FOLDER_FILE)) {
                direct.push(entry);
            } else {
                // A folder of shared ones: `_shared/review/workflow.yaml`.
                let inner = self.entries(&entry.path).into_iter();
                nested.extend(
                    inner.filter(|it| it.is_folder && files::is_there(&it.path.join(FOLDER_FILE))),
                );
            }
        }
        let jobs = direct.into_iter().chain(nested).map(|entry| {
            let mut roots = roots.clone();
            roots.extend(link_target(&entry.path));
            Job { path: entry.path.join(FOLDER_FILE), key: entry.name, roots }
        });
        self.add_all(&jobs.collect::<Vec<_>>(), Format::Phased, level, group);
    }

    fn templates(&mut self, folder: &Path) {
        let roots = roots(folder);
        let files = self.entries(folder).into_iter().filter(|entry| !entry.is_folder);
        let jobs = files.filter_map(|entry| {
            let key = entry.name.strip_suffix(".json")?.to_owned();
            Some(Job { key, path: entry.path, roots: roots.clone() })
        });
        let jobs: Vec<Job> = jobs.collect();
        self.add_all(&jobs, Format::Template, Level::Project, Group::Templates);
    }

    fn chains(&mut self, path: &Path) {
        if !files::is_there(path) {
            return;
        }
        let source = match files::source(path, "") {
            Ok(source) => source,
            Err(trouble) => return self.problems.push(problem(path, trouble)),
        };
        let (units, problems) = read_chains_upon(&self.places.limits, &source);
        self.problems.extend(problems);
        for unit in units {
            if is_key(&unit.key) {
                self.add(unit, Level::Project, Format::Chain, Group::Chains);
            } else {
                let message = format!("nothing can be called `{}`", harmless(&unit.key));
                self.problems.push(problem(path, Trouble::new("bad-name", message)));
            }
        }
    }

    fn builtin(&mut self, builtin: &'static [Builtin]) {
        for file in builtin {
            let Some((key, folder)) = builtin_key(file.path) else { continue };
            let name = format!("{PREFIX}{}", file.path);
            let source = Source { name, key: key.to_owned(), text: file.text.to_owned() };
            let mut phase = |name: &str| builtin_phase(builtin, folder, name);
            let unit = read_upon(&self.places.limits, source, Format::Native, &mut phase);
            self.add(unit, Level::Builtin, Format::Native, Group::Builtin);
        }
        debug_assert_eq!(self.places.workflows.len(), builtin.len());
    }
}

/// The key of a built-in workflow and the folder of its phases; none for a phase's file.
fn builtin_key(path: &str) -> Option<(&str, &str)> {
    match path.rsplit_once('/') {
        Some((folder, FOLDER_FILE)) => Some((folder, folder)),
        Some(_) => None,
        None => Some((path.rsplit_once('.').map_or(path, |(stem, _)| stem), "")),
    }
}

fn builtin_phase(builtin: &[Builtin], folder: &str, name: &str) -> Result<Source, Trouble> {
    let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let found = builtin.iter().find(|file| file.path == path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let file = found.ok_or_else(|| Trouble::new("not-found", "there is no such built-in file"))?;
    let (name, key) = (format!("{PREFIX}{}", file.path), stem.to_owned());
    Ok(Source { name, key, text: file.text.to_owned() })
}

/// Reads one definition from disk.
pub(super) fn unit(
    limits: &Limits,
    path: &Path,
    key: &str,
    format: Format,
    roots: &[PathBuf],
) -> Unit {
    match files::source(path, key) {
        Ok(source) => {
            let folder = files::Folder::of(path.parent().unwrap_or(path));
            read_upon(limits, source, format, &mut |name| files::phase_file(roots, &folder, name))
        }
        Err(trouble) => {
            let source =
                Source { name: Places::shown(path), key: key.to_owned(), text: String::new() };
            Unit::broken(source, trouble)
        }
    }
}

/// Where files of phases may be: below the real folder.
pub(super) fn roots(folder: &Path) -> Vec<PathBuf> {
    folder.canonicalize().into_iter().collect()
}

/// A workflow's folder may itself be a link to elsewhere; then its own files are there.
fn link_target(folder: &Path) -> Option<PathBuf> {
    folder.is_symlink().then(|| folder.canonicalize().ok()).flatten()
}

/// A key is a name, never a way out of the folder.
pub(super) fn is_key(text: &str) -> bool {
    !text.is_empty()
        && !text.contains(['/', '\\', '\u{fffd}'])
        && !text.starts_with('.')
        && !text.chars().any(char::is_control)
}

fn problem(path: &Path, trouble: Trouble) -> Problem {
    Problem::of_file(Places::shown(path), Severity::Error, trouble)
}

/// Candidates of each key, those that come first first.
type ByKey<'c> = BTreeMap<&'c str, Vec<&'c Candidate>>;

fn choose(found: &[Candidate]) -> Vec<FoundWorkflow> {
    let mut by_key = ByKey::new();
    for candidate in found {
        by_key.entry(&candidate.unit.key).or_default().push(candidate);
    }
    let mut choice: BTreeMap<&str, usize> =
        by_key.iter().map(|(key, all)| (*key, first_sound(all, 0).unwrap_or(0))).collect();
    let broken = loop {
        let broken = broken(&by_key, &choice);
        // Whatever is at the root of it is replaced first: what depends on it may then be whole.
        let next = broken
            .roots
            .iter()
            .chain(&broken.all)
            .find_map(|key| Some((*key, first_sound(by_key.get(key)?, choice.get(key)? + 1)?)));
        match next {
            Some((key, index)) => choice.insert(key, index),
            None => break broken.all,
        };
    };
    // A key whose every file is broken shows the first.
    for (key, index) in &mut choice {
        if broken.contains(key) {
            *index = 0;
        }
    }
    let chosen = |key: &str| by_key.get(key)?.get(*choice.get(key)?).copied();
    let mut listed: Vec<&Candidate> = found.iter().collect();
    listed.sort_by_key(|candidate| candidate.group);
    let mut seen = BTreeSet::new();
    listed.retain(|candidate| seen.insert(candidate.unit.key.as_str()));
    listed
        .into_iter()
        .filter_map(|candidate| {
            let key = candidate.unit.key.as_str();
            Some(described(key, &by_key, *choice.get(key)?, broken.contains(key), &chosen))
        })
        .collect()
}

/// The first candidate from an index on that is sound by itself.
fn first_sound(all: &[&Candidate], from: usize) -> Option<usize> {
    (from..all.len()).find(|index| all.get(*index).is_some_and(|it| it.unit.is_sound()))
}

/// Keys whose chosen definitions cannot run.
struct Broken<'c> {
    /// Because of themselves.
    roots: BTreeSet<&'c str>,
    /// For any cause.
    all: BTreeSet<&'c str>,
}

fn broken<'c>(by_key: &ByKey<'c>, choice: &BTreeMap<&'c str, usize>) -> Broken<'c> {
    let mut callers: BTreeMap<&str, Vec<&'c str>> = BTreeMap::new();
    let mut open: BTreeMap<&'c str, BTreeSet<&str>> = BTreeMap::new();
    let mut roots = BTreeSet::new();
    for (key, all) in by_key {
        let Some(candidate) = choice.get(key).and_then(|index| all.get(*index)) else { continue };
        let calls: BTreeSet<&str> = candidate.unit.calls().collect();
        if !candidate.unit.is_sound() || calls.iter().any(|call| !by_key.contains_key(call)) {
            roots.insert(*key);
        }
        for call in &calls {
            callers.entry(call).or_default().push(key);
        }
        open.insert(key, calls);
    }
    roots.extend(turning(&open));
    let mut all = roots.clone();
    let mut waiting: Vec<&str> = all.iter().copied().collect();
    while let Some(key) = waiting.pop() {
        for caller in callers.get(key).into_iter().flatten() {
            if all.insert(caller) {
                waiting.push(caller);
            }
        }
    }
    Broken { roots, all }
}

/// Keys that would run themselves: what is left when those that run nothing, and those that nothing runs, are taken away
/// again and again.
fn turning<'c>(calls: &BTreeMap<&'c str, BTreeSet<&str>>) -> BTreeSet<&'c str> {
    let mut left: BTreeSet<&'c str> = calls.keys().copied().collect();
    loop {
        let called: BTreeSet<&str> =
            left.iter().filter_map(|key| calls.get(key)).flatten().copied().collect();
        let before = left.len();
        let stays = |key: &&str| {
            let runs = calls.get(key).into_iter().flatten();
            called.contains(key) && runs.into_iter().any(|call| left.contains(call))
        };
        let next: BTreeSet<&'c str> = left.iter().copied().filter(|key| stays(key)).collect();
        if next.len() == before {
            return next;
        }
        left = next;
    }
}

/// Why a definition is passed over that another one stands in for.
fn why_not(candidate: &Candidate) -> Vec<Problem> {
    let mut problems = candidate.unit.problems();
    if candidate.unit.is_sound() {
        let message = "what it runs inside it is missing, broken, or itself";
        let trouble = Trouble::new("broken-inside", message);
        problems.push(Problem::of_file(&candidate.origin.path, Severity::Error, trouble));
    }
    problems
}

fn described<'c>(
    key: &str,
    by_key: &ByKey<'c>,
    index: usize,
    is_broken: bool,
    chosen: &dyn Fn(&str) -> Option<&'c Candidate>,
) -> FoundWorkflow {
    let all: &[&Candidate] = by_key.get(key).map_or(&[], Vec::as_slice);
    let used = all[index];
    let (before, after) = (&all[..index], &all[index + 1..]);
    let mut problems = if is_broken {
        assemble(&used.unit, &[], &mut |key| chosen(key).map(|it| Arc::clone(&it.unit))).problems
    } else {
        used.unit.problems()
    };
    problems.extend(before.iter().flat_map(|candidate| why_not(candidate)));
    let origins = |them: &[&Candidate]| them.iter().map(|it| it.origin.clone()).collect();
    FoundWorkflow {
        key: key.to_owned(),
        origin: used.origin.clone(),
        unit: Arc::clone(&used.unit),
        is_usable: !is_broken,
        problems,
        overrides: origins(after),
        instead_of: origins(before),
    }
}
