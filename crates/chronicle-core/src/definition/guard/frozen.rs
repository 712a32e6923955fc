//! The rules of a run, as they were when it began: what somebody writes into a file of rules later does not change it.

use serde::{Deserialize, Serialize};

use super::in_force::{BUILT_IN, BUILT_IN_NAME, built_in};
use super::rules::{Rules, read_rules};
use crate::definition::workflow::Source;

/// Every file of rules that holds for a run, as text: it is read again wherever the rules are needed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FrozenRules(Vec<RuleFile>);

/// A file of rules as it was when the run began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleFile {
    /// Its path, as people see it.
    pub name: String,
    /// How many rules it has.
    pub count: usize,
    /// All of its text, as it was read then.
    pub text: String,
}

impl FrozenRules {
    /// Freezes the files of rules that hold, and the built-in ones behind them unless the user turned these off.
    pub fn new(files: impl IntoIterator<Item = RuleFile>, with_built_in: bool) -> Self {
        let own = || RuleFile {
            name: BUILT_IN_NAME.to_owned(),
            count: built_in().count(),
            text: BUILT_IN.to_owned(),
        };
        Self(files.into_iter().chain(with_built_in.then(own)).collect())
    }

    /// The built-in rules alone: those of a run that began before there were guards.
    pub fn built_in() -> Self {
        Self::new([], true)
    }

    /// The files, in the order in which they are asked.
    pub fn files(&self) -> &[RuleFile] {
        &self.0
    }

    /// How many rules there are in all.
    pub fn count(&self) -> usize {
        self.0.iter().map(|file| file.count).sum()
    }

    /// The rules of each file, each set by itself. The error names a file whose text no longer gives the rules that it gave when
    /// the run began: with fewer, nothing may go on.
    pub fn read(&self) -> Result<Vec<Rules>, String> {
        self.0.iter().map(RuleFile::read).collect()
    }
}

impl RuleFile {
    /// A file with the rules that were read from it.
    pub fn new(source: &Source, rules: &Rules) -> Self {
        Self { name: source.name.clone(), count: rules.count(), text: source.text.clone() }
    }

    fn read(&self) -> Result<Rules, String> {
        let source = Source {
            file: None,
            name: self.name.clone(),
            key: "rules".to_owned(),
            text: self.text.clone(),
        };
        let rules = read_rules(&source).rules;
        if rules.count() < self.count {
            return Err(format!(
                "`{}` had {} rules when the run began, and this version reads {} of them",
                self.name,
                self.count,
                rules.count()
            ));
        }
        Ok(rules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> RuleFile {
        let (name, text) = ("a.yaml".to_owned(), text.to_owned());
        let source = Source { file: None, name, key: String::new(), text };
        RuleFile::new(&source, &read_rules(&source).rules)
    }

    #[test]
    fn what_is_frozen_is_read_again_as_it_was() {
        let own = file("# mine\nreadOnlyPaths: [x]\nzeroAccessPaths: [y, z]\n");
        let frozen = FrozenRules::new([own], true);
        assert_eq!(frozen.files()[0].count, 3);
        let rules = frozen.read().unwrap();
        assert_eq!(rules[0].zero_access[1].at.line, 3);
        assert_eq!(rules[1], built_in());
        assert_eq!(frozen.count(), 3 + built_in().count());
        let text = serde_json::to_string(&frozen).unwrap();
        assert_eq!(serde_json::from_str::<FrozenRules>(&text).unwrap(), frozen);
        assert_eq!(FrozenRules::new([], false).count(), 0);
    }

    #[test]
    fn a_text_that_gives_fewer_rules_is_refused() {
        let mut frozen = FrozenRules::new([file("readOnlyPaths: [x]")], false);
        frozen.0[0].text = "readOnlyPaths: []".to_owned();
        assert!(frozen.read().unwrap_err().contains("had 1 rules"));
    }
}
