//! The rules of `rules.yaml`, compiled.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};
use serde::Deserialize;

use super::looks;

/// Start of a word: at the start of the text, after a character that no key contains, or after an escape of JSON, of an address
/// or of a terminal's colours.
const LEFT: &str = r"(?:\A|[^A-Za-z0-9_]|\\[nrtbf]|%[0-9A-Fa-f]{2}|\[[0-9;]*[mK])";
/// Name of the capture group that is the secret.
const SECRET: &str = "secret";
/// Name of the capture group that is the secret in another form of the rule.
const OTHER: &str = "other";
/// Name of the capture group for the whole match, used if nothing smaller is the secret.
const WHOLE: &str = "whole";

/// The file as it is written.
#[derive(Deserialize)]
struct RulesFile {
    rule: Vec<RuleEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleEntry {
    #[cfg_attr(not(test), expect(dead_code, reason = "names the rule for whoever reads the file"))]
    id: String,
    regex: String,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default)]
    keywords_any_case: Vec<String>,
    #[serde(default)]
    anywhere: bool,
    #[serde(default)]
    check: MatchCheck,
}

/// What must hold beside the shape.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MatchCheck {
    #[default]
    Plain,
    Random,
    Strong,
    Assigned,
    Basic,
    Address,
    Chosen,
}

struct Rule {
    regex: Regex,
    check: MatchCheck,
}

/// All rules, and one search for all of their keywords: most texts contain none.
pub(super) struct SecretRules {
    keywords: RegexSet,
    rules: Vec<Rule>,
}

/// `None` if the file cannot be read; then everything counts as secret. A test makes sure that it can be read.
pub(super) static RULES: LazyLock<Option<SecretRules>> = LazyLock::new(|| {
    let file: RulesFile = serde_saphyr::from_str(include_str!("rules.yaml")).ok()?;
    let keywords = RegexSet::new(file.rule.iter().map(keywords)).ok()?;
    let rules: Option<Vec<Rule>> = file.rule.iter().map(Rule::new).collect();
    Some(SecretRules { keywords, rules: rules? })
});

fn keywords(rule: &RuleEntry) -> String {
    let escaped = |list: &[String]| list.iter().map(|it| regex::escape(it)).collect::<Vec<_>>();
    let mut all = escaped(&rule.keywords);
    all.extend(escaped(&rule.keywords_any_case).iter().map(|it| format!("(?i:{it})")));
    all.join("|")
}

impl Rule {
    fn new(written: &RuleEntry) -> Option<Self> {
        let left = if written.anywhere { "" } else { LEFT };
        let regex = Regex::new(&format!("{left}(?P<{WHOLE}>{})", written.regex)).ok()?;
        Some(Self { regex, check: written.check })
    }

    fn find(&self, text: &str, found: &mut Vec<Range<usize>>) {
        for captures in self.regex.captures_iter(text) {
            let secret = [SECRET, OTHER, WHOLE].into_iter().find_map(|name| captures.name(name));
            let Some(secret) = secret else {
                continue;
            };
            let name = captures.name("name").map_or("", |name| name.as_str());
            let value = self.check.value(secret.as_str());
            if self.check.holds(name, value) {
                let end = secret.start() + value.len();
                let end =
                    if self.check.is_of_value() { whole(text, secret.start(), end) } else { end };
                found.push(secret.start()..end);
            }
        }
    }
}

/// Longest value in quotes that is taken as a whole.
const QUOTED_MAX: usize = 256;

/// Where a value ends that begins here: a value in quotes reaches to the closing one, over spaces and commas.
fn whole(text: &str, start: usize, end: usize) -> usize {
    let quote = text[..start].chars().next_back().filter(|it| ['"', '\'', '`'].contains(it));
    let rest = &text[end..];
    let close = quote.and_then(|quote| rest.find(quote)).filter(|at| *at <= QUOTED_MAX);
    let inner = close.map(|at| rest[..at].trim_end_matches('\\'));
    inner.filter(|inner| !inner.contains('\n')).map_or(end, |inner| end + inner.len())
}

impl MatchCheck {
    /// True if a name says that its whole value is the secret.
    fn is_of_value(self) -> bool {
        match self {
            Self::Assigned | Self::Chosen => true,
            Self::Plain | Self::Random | Self::Strong | Self::Basic | Self::Address => false,
        }
    }

    /// What of a match is the value: brackets and emphasis around an assignment are not part of it.
    fn value(self, secret: &str) -> &str {
        match self {
            Self::Assigned | Self::Strong | Self::Chosen => looks::without_closing(secret),
            Self::Plain | Self::Random | Self::Basic | Self::Address => secret,
        }
    }

    fn holds(self, name: &str, secret: &str) -> bool {
        match self {
            Self::Plain => !looks::is_placeholder(secret),
            Self::Random => looks::is_random(secret),
            Self::Strong => looks::is_strong(secret),
            Self::Assigned => looks::is_assigned(secret),
            Self::Basic => looks::is_basic(secret),
            Self::Address => looks::is_password(name, secret),
            Self::Chosen => looks::is_chosen(secret),
        }
    }
}

impl SecretRules {
    /// True if a text has a keyword of any rule.
    pub(super) fn may_match(&self, text: &str) -> bool {
        self.keywords.is_match(text)
    }

    /// Finds secrets in a text.
    pub(super) fn find(&self, text: &str, found: &mut Vec<Range<usize>>) {
        for index in &self.keywords.matches(text) {
            if let Some(rule) = self.rules.get(index) {
                rule.find(text, found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_can_be_read() {
        let file: Result<RulesFile, _> = serde_saphyr::from_str(include_str!("rules.yaml"));
        for rule in file.unwrap_or_else(|error| panic!("{error}")).rule {
            let (id, regex) = (rule.id.clone(), rule.regex.clone());
            assert!(!rule.keywords.is_empty() || !rule.keywords_any_case.is_empty(), "{id}");
            assert!(Rule::new(&rule).is_some(), "{id}: {regex}");
        }
        assert!(RULES.is_some());
    }
}
