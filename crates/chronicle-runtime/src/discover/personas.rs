//! Which personas and teams there are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chronicle_core::definition::persona::{self, Persona, Team};
use chronicle_core::definition::workflow::{
    Format, KnownPersonas, Problem, Severity, Source, Trouble,
};

use super::files::{self, FolderEntry, has_ending};
use super::places::{Places, harmless};
use super::problems::FileProblems;
use super::{Level, Origin};

/// Name of the file of teams; `.yml` is read too.
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
    /// Fields that a person may accept as not enforced.
    pub(super) unenforced: Vec<String>,
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

    /// Notes another file of the same name, which is not used. The two may allow different tools.
    fn override_with(&mut self, other: Self, format: Format) {
        if let Some(severity) = self.over(&other, format) {
            let (name, path) = (&self.persona.name, &self.origin.path);
            let message = format!("`{path}` is called `{name}` too, and comes first");
            let trouble = Trouble::new("duplicate-persona", message);
            let trouble = match severity {
                Severity::Note => trouble,
                Severity::Warning | Severity::Error => trouble.hint("rename or delete one of them"),
            };
            let problem = Problem::of_file(other.origin.path.clone(), severity, trouble);
            self.problems.push(problem.clone());
            self.unsupported.push(problem);
        }
        self.overrides.push(other.origin);
    }

    /// How bad it is that this one is used in place of another of the same name.
    fn over(&self, other: &Self, format: Format) -> Option<Severity> {
        let folder = other.folder.as_ref()?;
        Some(if self.folder.as_ref() == Some(folder) && format == Format::Native {
            // Which of two in one folder is used depends on the names of the files.
            Severity::Error
        } else if self.origin.level == other.origin.level {
            Severity::Warning
        } else {
            // A project may have its own version of what the user has.
            Severity::Note
        })
    }

    /// Reports that an earlier file which cannot be read may be the one that is meant.
    fn hide_behind(&mut self, blind: &Blind) {
        let (name, path) = (&self.persona.name, &blind.path);
        let message = format!("`{path}` comes first, cannot be read, and may be `{name}`");
        let trouble = Trouble::new("hidden-persona", message).hint("make that one readable");
        let problem = Problem::of_file(&self.origin.path, Severity::Error, trouble);
        self.problems.push(problem.clone());
        self.unsupported.push(problem);
    }
}

/// A file or folder that could not be read: no persona that comes later may be used in its place.
struct Blind {
    /// Its path, as people see it.
    path: String,
    /// Names that it may have; `None` if it may have any.
    names: Option<Vec<String>>,
}

impl Blind {
    fn may_be(&self, persona: &Persona) -> bool {
        self.names.as_ref().is_none_or(|names| names.iter().any(|name| persona.is_called(name)))
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
    let mut search = Search::default();
    for folder in folders(places) {
        for page in pages(&folder, &mut search) {
            search.file(&page, &folder);
        }
    }
    for file in places.personas {
        let name = format!("built-in {}", file.path);
        let stem = file.path.rsplit('/').next().unwrap_or(file.path);
        let key = stem.strip_suffix(".md").unwrap_or(stem).to_owned();
        let origin = Origin { level: Level::Builtin, path: name.clone(), file: None, format: None };
        let source = Source { file: None, name, key, text: file.text.to_owned() };
        search.add(source, Format::Native, origin, None);
    }
    (search.found, search.problems)
}

/// The personas so far.
#[derive(Default)]
struct Search {
    found: Vec<FoundPersona>,
    problems: FileProblems,
    blind: Vec<Blind>,
}

impl Search {
    fn file(&mut self, page: &Page, folder: &PersonaFolder) {
        let path = page.path.as_path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let origin = Origin::of(folder.level, path);
        let source = if page.is_read {
            files::source(path, stem)
        } else {
            let hint = format!("if it is one, call it `{}.md`", harmless(stem));
            Err(Trouble::new("not-read", "not read: a persona is a file `NAME.md`").hint(hint))
        };
        match source {
            Ok(source) => self.add(source, folder.format, origin, Some(&folder.path)),
            Err(trouble) => self.unreadable(path, stem, origin, trouble, folder),
        }
    }

    /// A file that cannot be read keeps the place of the persona that its name tells, so that no other one is used instead.
    fn unreadable(
        &mut self,
        path: &Path,
        stem: &str,
        origin: Origin,
        trouble: Trouble,
        folder: &PersonaFolder,
    ) {
        // A link that leads nowhere has no content that could name another persona, and a file that is none is known by its name
        // alone.
        let is_known = ["not-found", "not-read"].contains(&trouble.code) || path.is_dir();
        let problem = Problem::of_file(origin.path.clone(), Severity::Error, trouble);
        let found = FoundPersona {
            persona: Persona { name: harmless(stem), ..Persona::default() },
            overrides: Vec::new(),
            problems: vec![problem.clone()],
            unsupported: vec![problem],
            unenforced: Vec::new(),
            source: Source {
                file: Some(path.to_owned()),
                name: origin.path.clone(),
                key: stem.to_owned(),
                text: String::new(),
            },
            is_plain: false,
            folder: Some(folder.path.clone()),
            origin,
        };
        let blind = Blind { path: found.origin.path.clone(), names: None };
        self.push(found, folder.format);
        self.blind.extend((!is_known).then_some(blind));
    }

    fn add(&mut self, source: Source, format: Format, origin: Origin, folder: Option<&Path>) {
        let read = persona::read(&source, format);
        let Some(persona) = read.persona else {
            return self.problems.add(&source, read.problems);
        };
        let names = Some(vec![source.key.clone(), persona.name.clone()]);
        let blind = read.is_broken.then(|| Blind { path: origin.path.clone(), names });
        let found = FoundPersona {
            persona,
            origin,
            overrides: Vec::new(),
            problems: read.problems,
            unsupported: read.unsupported,
            unenforced: read.unenforced,
            source,
            is_plain: read.is_plain,
            folder: folder.map(Path::to_owned),
        };
        self.push(found, format);
        self.blind.extend(blind);
    }

    /// The first one wins: the project's before the user's, and both before those that are built in.
    fn push(&mut self, mut found: FoundPersona, format: Format) {
        let mut all = self.found.iter_mut();
        if let Some(first) = all.find(|other| other.persona.is_called(&found.persona.name)) {
            return first.override_with(found, format);
        }
        if let Some(blind) = self.blind.iter().find(|blind| blind.may_be(&found.persona)) {
            found.hide_behind(blind);
        }
        self.found.push(found);
    }
}

/// A file that is a persona, or that is named like one.
struct Page {
    path: PathBuf,
    /// False if it has another ending than personas have: it keeps the place of the persona that its name tells.
    is_read: bool,
}

/// Endings of files that people take for personas.
const ALIKE: [&str; 8] = ["md", "markdown", "mdx", "txt", "yaml", "yml", "json", "toml"];
/// Files without an ending that people keep everywhere.
const NO_PERSONAS: [&str; 4] = ["readme", "license", "changelog", "makefile"];

/// What an entry of a folder is. In folders of other programs only Markdown can have been meant.
fn page(entry: &FolderEntry, format: Format) -> Option<Page> {
    let ending = entry.path.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase);
    let is_markdown = matches!(ending.as_deref(), Some("md" | "markdown"));
    let is_meant = match ending.as_deref() {
        Some(ending) => ALIKE.contains(&ending),
        None => !NO_PERSONAS.contains(&entry.name.to_lowercase().as_str()),
    };
    let is_one = match (entry.is_folder, format) {
        (true, _) => has_ending(&entry.path, "md"),
        (false, Format::Native) => is_meant,
        (false, _) => is_markdown,
    };
    let is_read = has_ending(&entry.path, "md");
    is_one.then(|| Page { path: entry.path.clone(), is_read })
}

/// The personas of a folder, then those of its subfolders.
fn pages(folder: &PersonaFolder, search: &mut Search) -> Vec<Page> {
    let mut pages = Vec::new();
    let mut level = vec![folder.path.clone()];
    let format = folder.format;
    for _ in 0..DEPTH_MAX {
        let mut below = Vec::new();
        for folder in std::mem::take(&mut level) {
            let (entries, trouble) = files::entries(&folder);
            if let Some(trouble) = trouble {
                search.problems.add_file(&folder, trouble);
                // A file of that name, such as a program called `agents`, has no personas in it. Nobody else uses ours.
                if !folder.is_file() || format == Format::Native {
                    search.blind.push(Blind { path: Places::shown(&folder), names: None });
                }
            }
            for entry in entries.into_iter().filter(|entry| !entry.name.starts_with('.')) {
                pages.extend(page(&entry, format));
                // A link could lead in a circle, or to all of the disk.
                if entry.is_folder && !entry.path.is_symlink() {
                    below.push(entry.path);
                }
            }
        }
        level = below;
        // A folder of personas may sit above a large tree by mistake. Looking through all of it would delay every command.
        level.truncate(FOLDERS_MAX);
    }
    pages
}

/// Names of the personas that have a file, and of those that are built in.
pub(super) fn names(personas: &[FoundPersona]) -> (Vec<&str>, Vec<&str>) {
    let names = |is_builtin: bool| -> Vec<&str> {
        let is_one = |found: &&FoundPersona| (found.origin.level == Level::Builtin) == is_builtin;
        personas.iter().filter(is_one).map(|found| found.persona.name.as_str()).collect()
    };
    (names(false), names(true))
}

/// Every team, the first of each name, and problems of their files.
pub(super) fn teams(
    places: &Places,
    personas: KnownPersonas<'_>,
) -> (Vec<FoundTeam>, FileProblems) {
    let mut found: Vec<FoundTeam> = Vec::new();
    let mut problems = FileProblems::default();
    let own = [".chronicle", "agents", ".claude/agents", ".pi/agents"];
    let own = own.map(|folder| (places.own(folder).join(TEAMS), Level::Project));
    let ours: Vec<PathBuf> =
        [places.own(".chronicle").join(TEAMS)].into_iter().chain(places.ours(TEAMS)).collect();
    let user = [places.ours(TEAMS), places.of_pi("agents").map(|folder| folder.join(TEAMS))];
    let user = user.into_iter().flatten().map(|path| (path, Level::User));
    let all = own.into_iter().chain(user);
    let all = all.flat_map(|(path, level)| files::yaml_or_yml(&path).map(|path| (path, level)));
    let mut names = BTreeSet::new();
    for (path, level) in all.filter(|(path, _)| files::is_there(path)) {
        let source = match files::source(&path, "") {
            Ok(source) => source,
            Err(trouble) => {
                problems.add_file(&path, trouble);
                continue;
            }
        };
        // A team of another program means the files that it was written beside, and nothing that is built in here.
        let is_ours = ours.contains(&path.with_extension("yaml"));
        let builtin = if is_ours { personas.builtin } else { &[] };
        let known: Vec<&str> = personas.written.iter().chain(builtin).copied().collect();
        let (mut teams, wrong) = persona::read_teams(&source, &known);
        let is_lacking = |member: &String| {
            let is_it = |name: &&str| name.eq_ignore_ascii_case(member);
            personas.builtin.iter().any(is_it) && !known.iter().any(is_it)
        };
        for team in &mut teams {
            team.members.retain(|member| !is_lacking(member));
        }
        problems.add(&source, wrong);
        let origin = Origin::of(level, &path);
        let new = teams.into_iter().filter(|team| names.insert(team.name.to_lowercase()));
        found.extend(new.map(|team| FoundTeam { team, origin: origin.clone() }));
    }
    (found, problems)
}
