//! Which personas and teams there are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chronicle_core::definition::persona::{self, Persona, Team};
use chronicle_core::definition::workflow::{Format, Problem, Severity, Source, Trouble};

use super::files::{self, has_ending};
use super::places::Places;
use super::problems::FileProblems;
use super::{Level, Origin};

/// Name of the file of teams.
const TEAMS: &str = "teams.yaml";
/// Limits for folders of personas: depth, and number per depth.
const DEPTH_MAX: usize = 4;
const FOLDERS_MAX: usize = 200;

/// A persona that was found.
#[derive(Debug, Clone)]
pub struct FoundPersona {
    /// The persona as parsed from its file.
    pub persona: Persona,
    /// The file it was read from.
    pub origin: Origin,
    /// Files with the same name that are not used because this one comes first.
    pub overrides: Vec<Origin>,
    /// Problems of the file that do not stop a run.
    pub problems: Vec<Problem>,
    /// What is told of runs that use it: fields that this version cannot enforce and lists of tools that are not read, as
    /// errors; other files of the same name and folder, which are only a warning in folders of other programs.
    pub unsupported: Vec<Problem>,
    /// The text of its file.
    pub source: Source,
    is_plain: bool,
    /// The folder of personas that it was found in, at any depth; `None` if it is built in.
    folder: Option<PathBuf>,
}

impl FoundPersona {
    /// True if a worker may ask for it although no phase names it: the file declares itself a persona, and everything in it can
    /// be enforced.
    pub(super) fn can_help(&self) -> bool {
        let is_wrong = |problem: &Problem| problem.severity == Severity::Error;
        !self.is_plain && !self.unsupported.iter().any(is_wrong)
    }

    /// Notes another file of the same name. Which of two in one folder is used depends on the names of the files, and they may
    /// allow different tools.
    fn override_with(&mut self, other: Origin, folder: Option<&Path>, format: Format) {
        if folder.is_some() && self.folder.as_deref() == folder {
            let (name, path) = (&self.persona.name, &self.origin.path);
            let message = format!("`{path}` is called `{name}` too, and comes first");
            let trouble = Trouble::new("duplicate-persona", message);
            let trouble = trouble.hint("rename or delete one of them");
            let is_ours = format == Format::Native;
            let severity = if is_ours { Severity::Error } else { Severity::Warning };
            let problem = Problem::of_file(other.path.clone(), severity, trouble);
            self.problems.push(problem.clone());
            self.unsupported.push(problem);
        }
        self.overrides.push(other);
    }
}

/// A team that was found.
#[derive(Debug, Clone)]
pub struct FoundTeam {
    /// The team as parsed from its file.
    pub team: Team,
    /// The file it was read from.
    pub origin: Origin,
}

/// A folder with personas.
struct PersonaFolder {
    path: PathBuf,
    level: Level,
    /// Chronicle's own folders are strict, those of other programs are not.
    format: Format,
}

/// Folders with personas, in search order.
fn folders(places: &Places) -> Vec<PersonaFolder> {
    let own = [".chronicle/personas", "agents", ".claude/agents", ".pi/agents"];
    let own = own.into_iter().map(|folder| (Some(places.own(folder)), Level::Project));
    let user = [
        places.ours("personas"),
        places.of_home(".claude/agents"),
        places.of_pi("agents"),
        places.of_pi("agent-profiles"),
    ];
    let all = own.chain(user.map(|folder| (folder, Level::User)));
    let ours = [places.own(".chronicle/personas")].into_iter().chain(places.ours("personas"));
    let ours: Vec<PathBuf> = ours.collect();
    let folder = |(path, level): (Option<PathBuf>, Level)| {
        let path = path?;
        let format = if ours.contains(&path) { Format::Native } else { Format::Template };
        Some(PersonaFolder { path, level, format })
    };
    all.filter_map(folder).collect()
}

/// Every persona in search order, and problems of files that are not personas.
pub(super) fn find(places: &Places) -> (Vec<FoundPersona>, FileProblems) {
    let mut found: Vec<FoundPersona> = Vec::new();
    let mut problems = FileProblems::default();
    for PersonaFolder { path: folder, level, format } in folders(places) {
        for path in pages(&folder, &mut problems) {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let origin = Origin::of(level, &path);
            match files::source(&path, stem) {
                Ok(source) => {
                    let folder = Some(folder.as_path());
                    add(&mut found, &mut problems, (source, format), origin, folder);
                }
                Err(trouble) => problems.add_file(&path, trouble),
            }
        }
    }
    for file in places.personas {
        let name = format!("built-in {}", file.path);
        let stem = file.path.rsplit('/').next().unwrap_or(file.path);
        let key = stem.strip_suffix(".md").unwrap_or(stem).to_owned();
        let origin = Origin { level: Level::Builtin, path: name.clone(), file: None, format: None };
        let source = Source { file: None, name, key, text: file.text.to_owned() };
        add(&mut found, &mut problems, (source, Format::Native), origin, None);
    }
    (found, problems)
}

/// The Markdown files of a folder, then those of its subfolders.
fn pages(folder: &Path, problems: &mut FileProblems) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut level = vec![folder.to_owned()];
    for _ in 0..DEPTH_MAX {
        let mut below = Vec::new();
        for folder in std::mem::take(&mut level) {
            let (entries, trouble) = files::entries(&folder);
            if let Some(trouble) = trouble {
                problems.add_file(&folder, trouble);
            }
            for entry in entries.into_iter().filter(|entry| !entry.name.starts_with('.')) {
                match entry.is_folder {
                    // A link could lead in a circle, or to all of the disk.
                    true if !entry.path.is_symlink() => below.push(entry.path),
                    false if has_ending(&entry.path, "md") => pages.push(entry.path),
                    true | false => {}
                }
            }
        }
        level = below;
        // A folder of personas may sit above a large tree by mistake. Looking through all of it would delay every command.
        level.truncate(FOLDERS_MAX);
    }
    pages
}

fn add(
    found: &mut Vec<FoundPersona>,
    problems: &mut FileProblems,
    (source, format): (Source, Format),
    origin: Origin,
    folder: Option<&Path>,
) {
    let read = persona::read(&source, format);
    let Some(persona) = read.persona else { return problems.add(&source, read.problems) };
    match found.iter_mut().find(|other| other.persona.is_called(&persona.name)) {
        // The first one wins: the project's before the user's, and both before those that are built in.
        Some(first) => first.override_with(origin, folder, format),
        None => found.push(FoundPersona {
            persona,
            origin,
            overrides: Vec::new(),
            problems: read.problems,
            unsupported: read.unsupported,
            source,
            is_plain: read.is_plain,
            folder: folder.map(Path::to_owned),
        }),
    }
}

/// Every team, the first of each name, and problems of their files.
pub(super) fn teams(places: &Places, personas: &[&str]) -> (Vec<FoundTeam>, FileProblems) {
    let mut found: Vec<FoundTeam> = Vec::new();
    let mut problems = FileProblems::default();
    let own = [".chronicle", "agents", ".claude/agents", ".pi/agents"];
    let own = own.map(|folder| (places.own(folder).join(TEAMS), Level::Project));
    let user = [places.ours(TEAMS), places.of_pi("agents").map(|folder| folder.join(TEAMS))];
    let user = user.into_iter().flatten().map(|path| (path, Level::User));
    let mut names = BTreeSet::new();
    for (path, level) in own.into_iter().chain(user).filter(|(path, _)| files::is_there(path)) {
        let source = match files::source(&path, "") {
            Ok(source) => source,
            Err(trouble) => {
                problems.add_file(&path, trouble);
                continue;
            }
        };
        let (teams, wrong) = persona::read_teams(&source, personas);
        problems.add(&source, wrong);
        let origin = Origin::of(level, &path);
        let new = teams.into_iter().filter(|team| names.insert(team.name.to_lowercase()));
        found.extend(new.map(|team| FoundTeam { team, origin: origin.clone() }));
    }
    (found, problems)
}
