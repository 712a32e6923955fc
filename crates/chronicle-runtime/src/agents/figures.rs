//! Figures as agents report them: tokens and their price, and the numbers of failures.

use chronicle_core::base::usage::Usage;
use chronicle_core::event::CrashClass;

use super::about;

/// More dollars than any report can mean.
const USD_MAX: f64 = 1e9;

/// Converts dollars to millionths; out-of-range values count as unknown.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to lie between nothing and a billion dollars"
)]
pub(super) fn usd_micros(usd: f64) -> Result<u64, String> {
    if (0.0..=USD_MAX).contains(&usd) {
        Ok((usd * 1e6).round() as u64)
    } else {
        Err(format!("`usd` cannot be {usd}"))
    }
}

/// Tokens with the price that the agent names for them; without one they have none. Nothing for something is no price.
pub(super) fn priced(tokens: Usage, usd: Option<f64>) -> Usage {
    // Agents report 0 for a model whose price they do not know. With tokens used, that is "unknown" and not "free".
    let usd = usd.filter(|usd| *usd > 0.0 || tokens.tokens() == 0);
    let micros = usd.and_then(|usd| usd_micros(usd).ok());
    let unpriced = micros.is_none() && tokens.tokens() > 0;
    Usage { usd_micros: micros.unwrap_or(0), unpriced, ..tokens }
}

/// The class of a failure: by its status, or by its words if no answer came.
pub(super) fn class_of_failure(status: Option<u64>, words: &str) -> CrashClass {
    match status {
        Some(status) => class_of_status(status).unwrap_or(CrashClass::Other),
        None if is_unreachable(words) => CrashClass::Unreachable,
        None => CrashClass::Other,
    }
}

/// The failure class of an HTTP status, if it is known.
pub(super) fn class_of_status(status: u64) -> Option<CrashClass> {
    match status {
        401 | 403 => Some(CrashClass::Auth),
        // Also for "too many requests": without a time the run backs off and retries, which is right for both.
        429 => Some(CrashClass::Quota),
        // The request itself is wrong: a model that does not exist, an input that is not taken, a bill that nobody paid.
        400 | 402 | 404 | 405 | 422 => Some(CrashClass::Refused),
        // Too large as a whole: the same session would be refused again, a fresh one may fit.
        413 => Some(CrashClass::ContextFull),
        500..=599 => Some(CrashClass::Overload),
        _ => None,
    }
}

/// How agents and their HTTP clients say that nobody answered, in lower case.
const NO_ANSWER: [&str; 14] = [
    "econnrefused",
    "econnreset",
    "enotfound",
    "eai_again",
    "etimedout",
    "ehostunreach",
    "enetunreach",
    "enetdown",
    "connection error",
    "connection refused",
    "can't reach the api",
    "unable to connect",
    "fetch failed",
    "socket hang up",
];

/// True if a failure means that the service could not be reached. A certificate that is not accepted is no such failure:
/// it does not pass by itself.
fn is_unreachable(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    !words.contains("certificate") && NO_ANSWER.iter().any(|it| words.contains(it))
}

/// Puts advice for a person before the text of a failure that no retry can fix.
pub(super) fn advised(class: CrashClass, text: String, agent: &str) -> String {
    match about(agent).filter(|_| class == CrashClass::Auth) {
        Some(about) => format!("{}; it says: {text}", about.sign_in),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_retry_can_fix_is_told_from_what_passes() {
        for (status, class) in [
            (400, CrashClass::Refused),
            (401, CrashClass::Auth),
            (402, CrashClass::Refused),
            (403, CrashClass::Auth),
            (404, CrashClass::Refused),
            (413, CrashClass::ContextFull),
            (422, CrashClass::Refused),
            (429, CrashClass::Quota),
            (500, CrashClass::Overload),
            (529, CrashClass::Overload),
            (418, CrashClass::Other),
        ] {
            assert_eq!(class_of_failure(Some(status), "fetch failed"), class, "{status}");
        }
    }

    #[test]
    fn a_service_that_cannot_be_reached_is_told_from_other_failures() {
        for words in [
            "API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)",
            "API Error: Can't reach the API server — check your internet or DNS (ENOTFOUND)",
            "API Error: Unable to connect to API (EAI_AGAIN)",
            "Connection error.",
            "fetch failed",
            "read ECONNRESET",
        ] {
            assert!(is_unreachable(words), "{words}");
        }
        for words in [
            "Unable to connect to API: Self-signed certificate detected",
            "529 Overloaded",
            "the model does not exist",
            "",
        ] {
            assert!(!is_unreachable(words), "{words}");
        }
    }
}
