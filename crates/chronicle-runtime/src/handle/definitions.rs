//! Workflows, personas, rules and settings: what there is for a project, and what is wrong with it.

pub use crate::discover::builtin::is_builtin;
pub use crate::discover::{
    BrokenRun, Catalog, DiscoverError, FileProblems, FoundPersona, FoundRules, FoundSettings,
    FoundWorkflow, Level, OlderRun, Origin, Places, find, find_in, save_settings, settings,
    settings_files, verify_commands, workflow,
};
