//! Finds workflows: every place is searched, and everything in it is read.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

use chronicle_core::base::limits::Limits;
use chronicle_core::base::quote::is_deceptive;
use chronicle_core::definition::workflow::{
    Format, KnownPersonas, Severity, Source, Trouble, Unit, read_chains_upon, read_upon,
};

use super::builtin::{Builtin, PREFIX, builtin_key, builtin_phase};
use super::choice::{Blind, Candidate, FoundWorkflow, Group, Pool};
use super::files::{self, FolderEntry};
use super::places::{Places, harmless};
use super::problems::FileProblems;
use super::{Level, Origin};
use crate::threads;

/// Endings of a workflow file, in the order in which they are looked for.
pub(super) const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];
/// Name of the file that makes a folder a workflow. Natively it may have each of the endings.
pub(super) const FOLDER_FILE: &str = "workflow.yaml";
/// Most threads that read definitions, and fewest definitions per thread.
const THREADS_MAX: usize = 4;
const SHARE_MIN: usize = 64;
/// Most bytes of definitions that are read in all.
const TEXTS_MAX: usize = 64 * 1024 * 1024;
/// Name of the chain file; `.yml` is read too.
const CHAINS: &str = "agent-chain.yaml";

/// Every workflow in the order of the list, given these personas, and problems of files that define none.
pub(super) fn find(
    places: &Places,
    personas: KnownPersonas<'_>,
) -> (Vec<FoundWorkflow>, FileProblems) {
    let mut search = Search {
        places,
        found: Vec::new(),
        problems: FileProblems::default(),
        blind: Vec::new(),
        rank: 0,
        read: AtomicUsize::new(0),
    };
    search.native(Some(places.own(".chronicle/workflows")), Level::Project, Group::Own);
    search.phased(Some(places.own(".pi/workflows")), Level::Project, Group::PiOwn);
    search.templates(&places.own(".pi/chronicle/workflows"));
    for folder in ["agents", ".pi/agents"] {
        for path in files::yaml_or_yml(&places.own(folder).join(CHAINS)) {
            search.chains(&path);
        }
    }
    search.native(places.ours("workflows"), Level::User, Group::User);
    search.phased(places.of_pi("workflows"), Level::User, Group::PiUser);
    search.builtin(places.workflows);
    let Search { found, problems, blind, .. } = search;
    (Pool::new(&found, &blind, personas).choose(), problems)
}

/// Every folder and file in which workflows are looked for, in the order of the search.
pub(super) fn searched(places: &Places) -> Vec<PathBuf> {
    let own = [".chronicle/workflows", ".pi/workflows", ".pi/chronicle/workflows"];
    let own = own.into_iter().map(|folder| places.own(folder));
    let chains = ["agents", ".pi/agents"].map(|folder| places.own(folder).join(CHAINS));
    let users = [places.ours("workflows"), places.of_pi("workflows")];
    own.chain(chains).chain(users.into_iter().flatten()).collect()
}

struct Search<'p> {
    places: &'p Places,
    found: Vec<Candidate>,
    problems: FileProblems,
    blind: Vec<Blind>,
    /// Number of places that were searched before.
    rank: usize,
    /// Bytes of all definitions so far.
    read: AtomicUsize,
}

/// One definition to be read.
struct ReadJob {
    key: String,
    path: PathBuf,
    /// Folders that its files may be in.
    roots: Vec<PathBuf>,
}

impl ReadJob {
    /// Reads it, unless so much was read that the project must be hostile.
    fn unit(&self, places: &Places, format: Format, read: &AtomicUsize) -> Unit {
        // Bounded over all files, because each may be as large as a single definition is allowed to be. Off by a few files is
        // fine, hence the relaxed counter.
        if read.load(Ordering::Relaxed) > TEXTS_MAX {
            let message = format!("not read: there are more than {TEXTS_MAX} bytes of definitions");
            let (name, key) = (Places::shown(&self.path), self.key.clone());
            let source = Source { file: Some(self.path.clone()), name, key, text: String::new() };
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
        let file = unit.sources.first().and_then(|source| source.file.clone());
        let origin = Origin { level, path, file, format: Some(format) };
        self.found.push(Candidate { origin, unit: Arc::new(unit), group, rank: self.rank });
    }

    fn cannot_see(&mut self, path: &Path, text: Option<String>) {
        self.blind.push(Blind { rank: self.rank, path: Places::shown(path), text });
    }

    /// Reads definitions, on several threads if there are many, and adds them in order.
    fn add_all(&mut self, jobs: &[ReadJob], format: Format, level: Level, group: Group) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        // Starting a thread costs more than reading a few dozen small files.
        let share = jobs.len().div_ceil(threads).max(SHARE_MIN);
        let (places, read) = (self.places, &self.read);
        let work = |jobs: &[ReadJob]| -> Vec<Unit> {
            jobs.iter().map(|job| job.unit(places, format, read)).collect()
        };
        let units: Vec<Unit> = std::thread::scope(|scope| {
            let mut shares = jobs.chunks(share);
            let own = shares.next().unwrap_or_default();
            let begin =
                |share| (share, threads::spawn_in(scope, "definitions", move || work(share)));
            let others: Vec<_> = shares.map(begin).collect();
            let mut units = work(own);
            // Joined in order, so that the list does not depend on which thread was faster.
            for (share, thread) in others {
                match thread.map(ScopedJoinHandle::join) {
                    Ok(Ok(more)) => units.extend(more),
                    Ok(Err(panic)) => std::panic::resume_unwind(panic),
                    // Without a thread they are read here.
                    Err(_) => units.extend(work(share)),
                }
            }
            units
        });
        for unit in units {
            self.add(unit, level, format, group);
        }
    }

    fn entries(&mut self, folder: &Path) -> Vec<FolderEntry> {
        let (entries, trouble) = files::entries(folder);
        if let Some(trouble) = trouble {
            // What cannot be read may hold any workflow, so nothing with lower precedence may take its place.
            self.cannot_see(folder, None);
            self.problems.add_file(folder, trouble);
        }
        let (good, bad): (Vec<FolderEntry>, Vec<FolderEntry>) = entries
            .into_iter()
            // Editors and git leave hidden files behind: they are nobody's definitions and no problem either.
            .filter(|entry| !entry.name.starts_with('.'))
            .partition(|entry| is_key(&entry.name));
        for entry in bad {
            let message = format!("nothing can be called `{}`", harmless(&entry.name));
            self.problems.add_file(&entry.path, Trouble::new("bad-name", message));
        }
        good
    }

    fn native(&mut self, folder: Option<PathBuf>, level: Level, group: Group) {
        self.rank += 1;
        let Some(folder) = folder else { return };
        let roots = roots(&folder);
        let mut files: Vec<(String, usize, PathBuf)> = Vec::new();
        for entry in self.entries(&folder) {
            let ending = Path::new(&entry.name).extension().and_then(|ending| ending.to_str());
            // In any case: `review.YAML` must not give way to another `review`.
            let is_it = |known: &str| ending.is_some_and(|it| it.eq_ignore_ascii_case(known));
            let rank = ENDINGS.iter().position(|known| is_it(known));
            match (rank, entry.is_folder) {
                (Some(rank), false) => {
                    let stem = Path::new(&entry.name).file_stem().and_then(|stem| stem.to_str());
                    files.push((stem.unwrap_or_default().to_owned(), rank, entry.path));
                }
                (_, true) if folder_file(&entry.path).is_some() => {
                    let file = folder_file(&entry.path).unwrap_or_default();
                    files.push((entry.name, ENDINGS.len(), file));
                }
                // Read as what it is named like, so that it is told as broken and hides what comes after it.
                (Some(rank), true) => {
                    let stem = Path::new(&entry.name).file_stem().and_then(|stem| stem.to_str());
                    files.push((stem.unwrap_or_default().to_owned(), rank, entry.path));
                }
                (None, true) => self.pass_over_inside(&entry),
                (None, false) => self.pass_over_other(&entry, ending),
            }
        }
        // By name and then by ending: which of two files of one name wins must not depend on the order of the disk.
        files.sort_unstable();
        let files =
            files.into_iter().map(|(key, _, path)| ReadJob { key, path, roots: roots.clone() });
        self.add_all(&files.collect::<Vec<_>>(), Format::Native, level, group);
    }

    fn phased(&mut self, folder: Option<PathBuf>, level: Level, group: Group) {
        self.rank += 1;
        let Some(folder) = folder else { return };
        let roots = roots(&folder);
        let mut nested = Vec::new();
        let mut direct = Vec::new();
        for entry in self.entries(&folder) {
            if !entry.is_folder {
                self.pass_over(&entry);
            } else if files::is_there(&entry.path.join(FOLDER_FILE)) {
                direct.push(entry);
            } else {
                // A folder of shared ones: `_shared/review/workflow.yaml`.
                let inner = self.entries(&entry.path).into_iter();
                let (folders, rest): (Vec<_>, Vec<_>) = inner.partition(|it| it.is_folder);
                for file in &rest {
                    self.pass_over(file);
                }
                let is_one = |it: &FolderEntry| files::is_there(&it.path.join(FOLDER_FILE));
                let (ones, others): (Vec<_>, Vec<_>) = folders.into_iter().partition(is_one);
                nested.extend(ones);
                for file in others.iter().flat_map(|folder| files::entries(&folder.path).0) {
                    self.pass_over(&file);
                }
            }
        }
        let jobs = direct.into_iter().chain(nested).map(|entry| {
            let mut roots = roots.clone();
            roots.extend(link_target(&entry.path));
            ReadJob { path: entry.path.join(FOLDER_FILE), key: entry.name, roots }
        });
        self.add_all(&jobs.collect::<Vec<_>>(), Format::Phased, level, group);
    }

    /// Says of the files in a folder without `workflow.yaml` that they are not read, if they look like workflows.
    fn pass_over_inside(&mut self, folder: &FolderEntry) {
        let message = format!(
            "not read: a workflow is a file in `workflows`, or a folder with `{FOLDER_FILE}`"
        );
        let hint = format!("if it is one, move it one folder up, or call it `{FOLDER_FILE}`");
        let files = files::entries(&folder.path).0.into_iter().filter(|file| !file.is_folder);
        for file in files.filter(|file| is_like_workflow(&file.path)) {
            let trouble = Trouble::new("not-read", message.clone()).hint(hint.clone());
            self.problems.add_note(&file.path, trouble);
        }
    }

    /// Says of a file with an ending that people take for that of a workflow that it is not read.
    fn pass_over_other(&mut self, entry: &FolderEntry, ending: Option<&str>) {
        if matches!(ending, None | Some("toml" | "txt" | "md" | "json5" | "jsonc")) {
            let message = "not read: a workflow is a file `NAME.yaml` or `NAME.json`";
            self.problems.add_note(&entry.path, Trouble::new("not-read", message));
        }
    }

    /// Says of a file that looks like a workflow why it is not read: pi-workflows reads `workflow.yaml` in a folder of its own and
    /// nothing else. A note, because the file may belong to another program.
    fn pass_over(&mut self, entry: &FolderEntry) {
        let path = Path::new(&entry.name);
        if entry.is_folder || !is_like_workflow(path) {
            return;
        }
        let message =
            format!("not read: a workflow of pi-workflows is a folder with `{FOLDER_FILE}`");
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let hint = match stem {
            "workflow" => format!("if it is one, call it `{FOLDER_FILE}`"),
            stem => format!("if it is one, move it to `{}/{FOLDER_FILE}`", harmless(stem)),
        };
        self.problems.add_note(&entry.path, Trouble::new("not-read", message).hint(hint));
    }

    fn templates(&mut self, folder: &Path) {
        self.rank += 1;
        let roots = roots(folder);
        let mut jobs = Vec::new();
        for entry in self.entries(folder).into_iter().filter(|entry| !entry.is_folder) {
            if let Some(key) = entry.name.strip_suffix(".json") {
                let key = key.to_owned();
                jobs.push(ReadJob { key, path: entry.path, roots: roots.clone() });
            } else if is_like_workflow(&entry.path) {
                let message = "not read: a workflow of The Chronicle is a `.json` file";
                self.problems.add_note(&entry.path, Trouble::new("not-read", message));
            }
        }
        self.add_all(&jobs, Format::Template, Level::Project, Group::Templates);
    }

    fn chains(&mut self, path: &Path) {
        self.rank += 1;
        if !files::is_there(path) {
            return;
        }
        let source = match files::source(path, "") {
            Ok(source) => source,
            Err(trouble) => {
                self.cannot_see(path, None);
                return self.problems.add_file(path, trouble);
            }
        };
        let (units, problems) = read_chains_upon(&self.places.limits, &source);
        if problems.iter().any(|problem| problem.severity == Severity::Error) {
            self.cannot_see(path, Some(source.text.clone()));
        }
        self.problems.add(&source, problems);
        for unit in units {
            if is_key(&unit.key) {
                self.add(unit, Level::Project, Format::Chain, Group::Chains);
            } else {
                let message = format!("nothing can be called `{}`", harmless(&unit.key));
                self.problems.add_file(path, Trouble::new("bad-name", message));
            }
        }
    }

    fn builtin(&mut self, builtin: &'static [Builtin]) {
        self.rank += 1;
        for file in builtin {
            let Some((key, folder)) = builtin_key(file.path) else { continue };
            let name = format!("{PREFIX}{}", file.path);
            let source =
                Source { file: None, name, key: key.to_owned(), text: file.text.to_owned() };
            let mut phase = |name: &str| builtin_phase(builtin, folder, name);
            let unit = read_upon(&self.places.limits, source, Format::Native, &mut phase);
            self.add(unit, Level::Builtin, Format::Native, Group::Builtin);
        }
        debug_assert_eq!(self.places.workflows.len(), builtin.len());
    }
}

fn is_like_workflow(path: &Path) -> bool {
    ENDINGS.iter().any(|ending| files::has_ending(path, ending))
}

/// The file that makes a folder a native workflow, if there is one.
pub(super) fn folder_file(folder: &Path) -> Option<PathBuf> {
    let names = ENDINGS.map(|ending| Path::new(FOLDER_FILE).with_extension(ending));
    names.into_iter().map(|name| folder.join(name)).find(|path| files::is_there(path))
}

/// True for a chain file, by its name.
pub(super) fn is_chains(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!((stem, ending), (Some("agent-chain" | "agent-chains"), Some("yaml" | "yml")))
}

/// Every chain of a file, and what is wrong with the file as a whole.
pub(super) fn chains_of(limits: &Limits, path: &Path) -> (Vec<Unit>, FileProblems) {
    let mut told = FileProblems::default();
    let source = match files::source(path, "") {
        Ok(source) => source,
        Err(trouble) => {
            told.add_file(path, trouble);
            return (Vec::new(), told);
        }
    };
    let (units, problems) = read_chains_upon(limits, &source);
    told.add(&source, problems);
    (units, told)
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
            let source = Source {
                file: Some(path.to_owned()),
                name: Places::shown(path),
                key: key.to_owned(),
                text: String::new(),
            };
            Unit::broken(source, trouble)
        }
    }
}

/// Folders that phase files may be in: the resolved folder and what is below it.
pub(super) fn roots(folder: &Path) -> Vec<PathBuf> {
    folder.canonicalize().into_iter().collect()
}

/// If a workflow's folder is a link, its files are in the link's target.
fn link_target(folder: &Path) -> Option<PathBuf> {
    folder.is_symlink().then(|| folder.canonicalize().ok()).flatten()
}

/// A key is a plain name and cannot lead out of the folder.
pub(super) fn is_key(text: &str) -> bool {
    !text.is_empty()
        && !text.contains(['/', '\\', '\u{fffd}'])
        && !text.starts_with('.')
        && !text.contains(is_deceptive)
}
