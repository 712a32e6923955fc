//! The rules in force, compiled once for a worker: judging a call compiles nothing.

use super::facts::Whereabouts;
use super::judgement::{RuleKind, RuleRef};
use super::paths::PathPattern;
use super::texts::long_options;
use crate::definition::guard::{BUILT_IN_NAME, CommandRule, PathRule, Pattern, Rules};

/// The rules in force at one place.
#[derive(Debug, Clone)]
pub struct Compiled {
    pub(super) sets: Vec<RuleSet>,
    pub(super) place: Whereabouts,
    count: usize,
}

/// The rules of one file.
#[derive(Debug, Clone)]
pub(super) struct RuleSet {
    pub(super) commands: Vec<Command>,
    pub(super) zero_access: Vec<Path>,
    pub(super) read_only: Vec<Path>,
    pub(super) no_delete: Vec<Path>,
    pub(super) ask: Vec<Path>,
    pub(super) free: Vec<Path>,
    pub(super) sensitive: Vec<Sensitive>,
    /// Long options that the command rules name, each once.
    pub(super) options: Vec<String>,
}

impl RuleSet {
    /// True for the rules that are always there, and that no person wrote for this project.
    pub(super) fn is_built_in(&self) -> bool {
        self.commands.first().is_some_and(|it| it.rule.at.file == BUILT_IN_NAME)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Command {
    pub(super) pattern: Pattern,
    /// True if it means a whole command line.
    pub(super) is_wide: bool,
    pub(super) rule: CommandRule,
}

#[derive(Debug, Clone)]
pub(super) struct Path {
    pub(super) pattern: PathPattern,
    pub(super) rule: RuleRef,
}

#[derive(Debug, Clone)]
pub(super) struct Sensitive {
    pub(super) pattern: Pattern,
    pub(super) rule: RuleRef,
}

impl Compiled {
    /// Compiles the rules of each file. The error names the first one that does not compile: nothing may start without it.
    pub fn new(rules: &[Rules], place: &Whereabouts) -> Result<Self, String> {
        let sets =
            rules.iter().map(|rules| RuleSet::new(rules, place)).collect::<Result<_, _>>()?;
        Ok(Self { sets, place: place.clone(), count: rules.iter().map(Rules::count).sum() })
    }

    /// How many rules there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Where the worker works.
    pub fn place(&self) -> &Whereabouts {
        &self.place
    }

    /// True if some path may not even be read, or not unasked.
    pub(super) fn hides_paths(&self) -> bool {
        let hides = |set: &RuleSet| {
            !(set.zero_access.is_empty() && set.sensitive.is_empty() && set.ask.is_empty())
        };
        self.sets.iter().any(hides)
    }
}

impl RuleSet {
    fn new(rules: &Rules, place: &Whereabouts) -> Result<Self, String> {
        let paths = |list: &[PathRule], kind: RuleKind| -> Vec<Path> {
            let all = |rule: &PathRule| {
                let rule_ref = reference(kind, rule);
                let patterns = PathPattern::all(&rule.path, place).into_iter();
                patterns.map(move |pattern| Path { pattern, rule: rule_ref.clone() })
            };
            list.iter().flat_map(all).collect()
        };
        let commands = rules.commands.iter().map(|rule| {
            let pattern = Pattern::lazy(&rule.pattern);
            Ok(Command { is_wide: pattern.names_operators(), pattern, rule: rule.clone() })
        });
        // Patterns often spell these in two parts.
        let usual = ["--recursive", "--force", "--delete"].map(str::to_owned);
        let named = rules.commands.iter().flat_map(|rule| long_options(&rule.pattern));
        let mut options: Vec<String> = named.chain(usual).collect();
        options.sort_unstable();
        options.dedup();
        let sensitive = rules.sensitive.iter().map(|rule| {
            Ok(Sensitive {
                pattern: compile(&rule.path)?,
                rule: reference(RuleKind::Sensitive, rule),
            })
        });
        Ok(Self {
            commands: commands.collect::<Result<_, String>>()?,
            zero_access: paths(&rules.zero_access, RuleKind::ZeroAccess),
            read_only: paths(&rules.read_only, RuleKind::ReadOnly),
            no_delete: paths(&rules.no_delete, RuleKind::NoDelete),
            ask: paths(&rules.ask, RuleKind::AskPath),
            free: paths(&rules.free, RuleKind::Outside),
            sensitive: sensitive.collect::<Result<_, String>>()?,
            options,
        })
    }
}

fn compile(pattern: &str) -> Result<Pattern, String> {
    Pattern::compile(pattern)
        .map_err(|error| format!("the rule `{pattern}` does not compile: {error}"))
}

fn reference(kind: RuleKind, rule: &PathRule) -> RuleRef {
    RuleRef { kind, text: rule.path.clone(), at: Some(rule.at.clone()) }
}

impl Command {
    pub(super) fn reference(&self) -> RuleRef {
        RuleRef {
            kind: RuleKind::Command,
            text: self.rule.pattern.clone(),
            at: Some(self.rule.at.clone()),
        }
    }
}
