//! The one redactor: knows the secrets of this process's environment. Everything that workers say passes it first.

use chronicle_core::redact::{Redactor, is_secret_name};

/// Takes out the values of secret variables, and whatever looks like a key.
pub(crate) fn redactor() -> Redactor {
    let secrets = std::env::vars_os().filter_map(|(name, value)| {
        is_secret_name(name.to_str()?).then(|| value.into_string().ok()).flatten()
    });
    Redactor::new(secrets)
}
