//! Rules over tool calls that apply in a project.

use chronicle_core::definition::guard::{Rules, RulesRead, read_rules};
use chronicle_core::definition::workflow::{Problem, Severity, Source};

use super::files;
use super::places::Places;
use super::{Level, Origin};

/// A rules file that was found.
#[derive(Debug, Clone)]
pub struct FoundRules {
    /// Its rules and problems.
    pub read: RulesRead,
    /// The file it was read from.
    pub origin: Origin,
    /// Files that it replaces.
    pub overrides: Vec<Origin>,
    /// Its text, if it could be read.
    pub source: Option<Source>,
}

/// The project's rules, all of them; the user's when the project has none.
pub(super) fn find(places: &Places) -> Vec<FoundRules> {
    let own =
        [".chronicle/rules.yaml", ".pi/damage-control-rules.yaml"].map(|path| places.own(path));
    let user = [places.ours("rules.yaml"), places.of_home(".pi/damage-control-rules.yaml")];
    let read_all = |paths: Vec<std::path::PathBuf>, level| -> Vec<FoundRules> {
        paths
            .iter()
            .flat_map(|path| files::yaml_or_yml(path))
            .filter(|path| files::is_there(path))
            .map(|path| read(&path, level))
            .collect()
    };
    let user = read_all(user.into_iter().flatten().collect(), Level::User);
    let mut own = read_all(own.into(), Level::Project);
    match own.first_mut() {
        Some(first) => {
            // The project's rules replace the user's as a whole. Merging them could make a rule weaker than either file says.
            first.overrides = user.into_iter().map(|rules| rules.origin).collect();
            own
        }
        None => user,
    }
}

fn read(path: &std::path::Path, level: Level) -> FoundRules {
    let (read, source) = match files::source(path, "rules") {
        Ok(source) => (read_rules(&source), Some(source)),
        Err(trouble) => {
            let problem = Problem::of_file(Places::shown(path), Severity::Error, trouble);
            (RulesRead { rules: Rules::default(), problems: vec![problem] }, None)
        }
    };
    FoundRules { read, origin: Origin::of(level, path), overrides: Vec::new(), source }
}
