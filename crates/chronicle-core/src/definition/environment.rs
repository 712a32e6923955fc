//! Which of the user's environment variables a worker gets.
//!
//! In this order: the user's environment; without the secrets of other services ([`is_foreign_secret`]), except those that the agent itself
//! needs; with what `pass` names; without what `drop` names, whoever passes it; with what `set` sets; and last Chronicle's own
//! variables, which no file can touch. Names may have `*` in them, for any characters.

use serde::{Deserialize, Serialize};

/// Prefix of Chronicle's own variables, which no file may name.
pub const OURS: &str = "CHRONICLE_";

/// Names of variables that hold secrets, whatever their case. A name that only speaks of tokens, such as `MAX_TOKENS`, is none of them.
const SECRETS: [&str; 55] = [
    "*TOKEN",
    "*_TOKEN_*",
    "*SECRET*",
    "*PASSWORD*",
    "*PASSWD*",
    "*PASSPHRASE*",
    "*_PASS",
    "*_PWD",
    "*APIKEY*",
    "*API_KEY*",
    "*_KEY",
    "*PRIVATE_KEY*",
    "*ACCESS_KEY",
    "*ENCRYPTION_KEY*",
    "*SIGNING_KEY*",
    "*CREDENTIAL*",
    "*_PAT",
    "*_AUTH",
    "*_AUTH_CONFIG",
    "*_AUTHTOKEN",
    "AUTHORIZATION",
    "*_AUTHORIZATION",
    "*_BEARER",
    "*CONNECTION_STRING*",
    "*CONNECTIONSTRING*",
    "*_CONN_STR",
    "*_DSN",
    "*WEBHOOK",
    "*WEBHOOKS",
    "*WEBHOOK_URI",
    "*WEBHOOK_URL*",
    "*WEBHOOK_ENDPOINT",
    "COOKIE",
    "COOKIES",
    "*_COOKIE",
    "*_COOKIES",
    "*_OTP",
    "*_SAS",
    "JWT",
    "*_JWT",
    "*_CREDS",
    "*_KEY_BASE64",
    "*_KEY_JSON",
    "*_KEY_PEM",
    "*SERVICE_ACCOUNT_JSON",
    "*_KEY_CONTENT",
    "*MNEMONIC",
    "*SEED_PHRASE",
    // The other half of a secret, which is of no use without it: a program that finds only one of them may even fail.
    "*ACCESS_KEY_ID",
    "*ACCESSKEYID",
    "*APPLICATION_KEY_ID",
    "AZURE_CLIENT_*",
    "ARM_CLIENT_*",
    "CF_ACCESS_CLIENT_ID",
    "VAULT_ROLE_ID",
];

/// Variables with a password in their value that the way to every service may need.
const WAYS_OUT: &str = "*_PROXY";

/// Variables of the user that a definition passes on to workers, and those that it keeps from them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvList {
    /// Passed although they look like a secret.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass: Vec<String>,
    /// Kept from workers, also where something passes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<String>,
}

/// What becomes of a variable of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EnvGiven {
    /// The worker has it: nothing speaks against it.
    Kept,
    /// The worker has it although it looks like a secret: the agent needs it, or a definition passes it.
    Passed,
    /// The worker has it not: it looks like the secret of another service.
    Secret,
    /// The worker has it not: a definition drops it.
    Dropped,
}

impl EnvGiven {
    /// Whether the worker has the variable.
    pub fn is_given(self) -> bool {
        matches!(self, Self::Kept | Self::Passed)
    }
}

impl EnvList {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.pass.is_empty() && self.drop.is_empty()
    }

    /// What both of them pass and drop.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.pass.extend(other.pass.iter().cloned());
        self.drop.extend(other.drop.iter().cloned());
        self
    }

    /// What becomes of a variable, for an agent that needs `own` variables to work at all.
    pub fn fate(&self, name: &str, value: &str, own: &[&str]) -> EnvGiven {
        let is_in = |list: &[String]| list.iter().any(|pattern| fits(pattern, name));
        if is_ours(name) {
            EnvGiven::Kept
        } else if is_in(&self.drop) {
            EnvGiven::Dropped
        } else if !is_foreign_secret(name, value) {
            EnvGiven::Kept
        } else if is_in(&self.pass) || own.iter().any(|pattern| fits(pattern, name)) {
            EnvGiven::Passed
        } else {
            EnvGiven::Secret
        }
    }
}

/// Whether a name is what a pattern stands for.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    // The first place of each part is as good as any: what follows it is longest then.
    for part in middle.split('*') {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(last)
}

/// Whether a name is one of Chronicle's own, in any spelling: one that differs from ours only in its case would be taken for ours by
/// people.
pub fn is_ours(name: &str) -> bool {
    name.get(..OURS.len()).is_some_and(|start| start.eq_ignore_ascii_case(OURS))
}

/// Whether no environment can hold a variable of that name.
pub fn is_impossible(name: &str) -> bool {
    name.is_empty() || name.contains(['=', '\0'])
}

/// Whether a variable looks like a secret of some service: by its name, or because its value is an address with a password in it.
pub fn is_foreign_secret(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRETS.iter().any(|pattern| fits(pattern, &name))
        || (has_password(value) && !fits(WAYS_OUT, &name))
}

/// Whether a value is an address with a password in it, such as `postgres://me:word@host/db`, or names one among the parts of a
/// connection, such as `Server=host;Password=word`.
fn has_password(value: &str) -> bool {
    if has_named_password(value) {
        return true;
    }
    let value = value.strip_prefix("jdbc:").unwrap_or(value);
    let Some((scheme, rest)) = value.split_once("://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let user = host.rsplit_once('@').map(|(user, _)| user);
    let password = user.and_then(|user| user.split_once(':')).map(|(_, password)| password);
    // A scheme is a single word: an address somewhere in a longer text is no value of its own.
    let is_scheme = !scheme.is_empty()
        && scheme.chars().all(|it| it.is_ascii_alphanumeric() || "+-.".contains(it));
    is_scheme && password.is_some_and(|password| !password.is_empty())
}

/// Whether a list of settings for a connection has a password among them. Each has a name and a value, so that a sentence is none.
fn has_named_password(value: &str) -> bool {
    let is_address = value.contains("://") && !value.contains(char::is_whitespace);
    let parts: Vec<&str> = match value.split_once('?') {
        Some((_, query)) if is_address => query.split(['&', ';']).collect(),
        _ if is_address => return false,
        _ => value.split(';').filter(|part| !part.trim().is_empty()).collect(),
    };
    let named: Option<Vec<(&str, &str)>> = parts.iter().map(|it| it.split_once('=')).collect();
    let is_password = |(name, word): &(&str, &str)| {
        let name = name.trim().to_ascii_lowercase();
        ["password", "pwd", "passwd", "accountkey"].contains(&name.as_str())
            && !word.trim().is_empty()
    };
    let named = named.unwrap_or_default();
    (is_address || named.len() > 1) && named.iter().any(is_password)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(pass: &[&str], drop: &[&str]) -> EnvList {
        let own = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect();
        EnvList { pass: own(pass), drop: own(drop) }
    }

    #[test]
    fn secrets_of_services_are_known_by_their_names() {
        for name in [
            "GITHUB_TOKEN",
            "GH_TOKEN",
            "NPM_TOKEN",
            "TOKEN",
            "npm_config_//packages.example.org/:_authToken",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "AWS_BEARER_TOKEN_BEDROCK",
            "OPENAI_API_KEY",
            "STRIPE_KEY",
            "PGPASSWORD",
            "MYSQL_PWD",
            "DB_PASS",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "DOCKER_AUTH_CONFIG",
            "AZURE_STORAGE_CONNECTION_STRING",
            "SLACK_WEBHOOK_URL",
            "GITHUB_PAT",
            "client_secret",
            "JWT",
            "SESSION_JWT",
            "COOKIE",
            "GITLAB_SESSION_COOKIE",
            "SENTRY_DSN",
            "DB_DSN",
            "WEBHOOK_URL",
            "DISCORD_WEBHOOK",
            "TEAMS_WEBHOOK_URL_ALERTS",
            "CONNECTION_STRING",
            "ConnectionStrings__Default",
            "REDIS_CONN_STR",
            "SIGNING_PASSPHRASE",
            "HTTP_AUTHORIZATION",
            "GCP_CREDS",
            "APP_KEY_BASE64",
            "WALLET_MNEMONIC",
            "AWS_ACCESS_KEY_ID",
            "AWS_SHARED_CREDENTIALS_FILE",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            "ALIBABA_CLOUD_ACCESS_KEY_ID",
            "B2_APPLICATION_KEY_ID",
            "AZURE_CLIENT_ID",
            "AZURE_CLIENT_CERTIFICATE_PATH",
            "ARM_CLIENT_ID",
            "ARM_CLIENT_SECRET",
            "CF_ACCESS_CLIENT_ID",
            "VAULT_ROLE_ID",
            "OCI_CLI_KEY_CONTENT",
        ] {
            assert!(is_foreign_secret(name, "x"), "{name}");
        }
    }

    #[test]
    fn ordinary_variables_are_no_secrets() {
        for name in [
            "PATH",
            "PWD",
            "OLDPWD",
            "HOME",
            "KUBECONFIG",
            "SSH_AUTH_SOCK",
            "GIT_ASKPASS",
            "XAUTHORITY",
            "TOKENIZERS_PARALLELISM",
            "MAX_THINKING_TOKENS",
            "AWS_PROFILE",
            "AWS_REGION",
            "AWS_DEFAULT_REGION",
            "AWS_CONFIG_FILE",
            "AWS_ROLE_ARN",
            "AZURE_TENANT_ID",
            "AZURE_SUBSCRIPTION_ID",
            "ARM_SUBSCRIPTION_ID",
            "GOOGLE_CLOUD_PROJECT",
            "CLOUDSDK_CORE_PROJECT",
            "GOOGLE_CLIENT_ID",
            "NEXT_PUBLIC_CLIENT_ID",
            "GPG_KEY_ID",
            "ARM_CLIENTS",
            "VAULT_ADDR",
            "KEYBOARD",
            "PASSAGE",
            "COOKIE_DOMAIN",
            "COOKIE_SECURE",
            "JWT_ISSUER",
            "JWT_AUDIENCE",
            "JWT_EXPIRES_IN",
            "SENTRY_ENVIRONMENT",
            "SENTRY_RELEASE",
            "WEBHOOK_PORT",
            "STRIPE_WEBHOOK_TIMEOUT",
            "DSN_TIMEOUT",
            "CONNECTION_TIMEOUT",
            "COMPAT",
            "PATH_SEPARATOR",
            "LESSKEYIN",
        ] {
            assert!(!is_foreign_secret(name, "x"), "{name}");
        }
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        let cases = [
            ("A", "A", true),
            ("A", "AB", false),
            ("*", "", true),
            ("A*", "A", true),
            ("A*B*C", "AxBxBxC", true),
            ("A*B*C", "AxCxB", false),
            ("*AB*", "xABx", true),
            ("A*A", "A", false),
            ("A**B", "AB", true),
            ("*_TOKEN", "MY_TOKEN_TOKEN", true),
        ];
        for (pattern, name, is_meant) in cases {
            assert_eq!(fits(pattern, name), is_meant, "{pattern} {name}");
        }
    }

    #[test]
    fn an_address_with_a_password_is_a_secret_and_the_way_out_is_not() {
        for value in [
            "postgres://me:word@host/db",
            "https://u:p@h",
            "redis://:word@h:6379/0",
            "jdbc:postgresql://host/db?user=me&password=word",
            "jdbc:mysql://me:word@host/db",
            "Server=host;Database=db;User Id=me;Password=word;",
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=word",
        ] {
            assert!(is_foreign_secret("DATABASE_URL", value), "{value}");
            assert!(
                !is_foreign_secret("HTTPS_PROXY", value) && !is_foreign_secret("http_proxy", value)
            );
        }
        for value in [
            "postgres://host/db",
            "https://me@host/x:y",
            "https://h/p?a=b:c@d",
            "see postgres://me:word@host",
            "://a:b@c",
            "me:word@host",
            "jdbc:postgresql://host/db?ssl=true",
            "postgres://host/db?password=",
            "Server=host;Database=db;Integrated Security=true",
            "password=word",
            "https://h/login?next=/reset-password=1",
        ] {
            assert!(!is_foreign_secret("DATABASE_URL", value), "{value}");
        }
    }

    #[test]
    fn what_is_dropped_is_dropped_whoever_passes_it() {
        let said = names(&["GITHUB_TOKEN", "AWS_*"], &["AWS_SESSION_TOKEN", "LANG*"]);
        let own = ["ANTHROPIC_*"];
        let fate = |name: &str| said.fate(name, "x", &own);
        assert_eq!(fate("PATH"), EnvGiven::Kept);
        assert_eq!(fate("GITHUB_TOKEN"), EnvGiven::Passed);
        assert_eq!(fate("github_token"), EnvGiven::Secret, "a name counts to the letter");
        assert_eq!(fate("AWS_SECRET_ACCESS_KEY"), EnvGiven::Passed);
        assert_eq!(fate("AWS_SESSION_TOKEN"), EnvGiven::Dropped);
        assert_eq!(fate("LANGUAGE"), EnvGiven::Dropped);
        assert_eq!(fate("ANTHROPIC_API_KEY"), EnvGiven::Passed);
        assert_eq!(fate("OPENAI_API_KEY"), EnvGiven::Secret);
        assert_eq!(fate("AWS_ACCESS_KEY_ID"), EnvGiven::Passed, "both halves or none");
        let bedrock = |name: &str| EnvList::default().fate(name, "x", &["AWS_*"]);
        assert_eq!(bedrock("AWS_ACCESS_KEY_ID"), EnvGiven::Passed);
        assert_eq!(bedrock("AZURE_CLIENT_ID"), EnvGiven::Secret);
        assert_eq!(names(&[], &["*"]).fate("chronicle_token", "x", &[]), EnvGiven::Kept);
        assert_eq!(
            names(&[], &["ANTHROPIC_*"]).fate("ANTHROPIC_API_KEY", "x", &own),
            EnvGiven::Dropped
        );
    }
}
