//! Modules of a crate that import only from the layers below their own.

use super::source::line_of;
use super::{File, Finding, Repo, imports};

const RUNTIME: &str = "crates/chronicle-runtime/src/";

/// The runtime's modules, the lowest first. Modules of one layer do not import each other.
const RUNTIME_LAYERS: &[&[&str]] = &[
    &["clock", "cookie", "fail", "home"],
    &["ledger", "process"],
    &["project"],
    &["agents", "index", "trees"],
    &["discover"],
    &["projections", "secrets", "trust"],
    &["inbox"],
    &["driver", "link"],
    &["effects"],
    &["handle"],
];

/// Imports that point upwards, and modules that have no layer yet. Tests count too: they are compiled in the same place.
pub(super) fn upward_imports(repo: &Repo) -> Vec<Finding> {
    let layered = repo.under(RUNTIME).filter(|file| file.path != format!("{RUNTIME}lib.rs"));
    layered.flat_map(findings).collect()
}

fn findings(file: &File) -> Vec<Finding> {
    let Some(own) = file.path.strip_prefix(RUNTIME).and_then(|path| path.split(['/', '.']).next())
    else {
        return Vec::new();
    };
    let Some(height) = layer(own) else {
        let fix = "give it a place in xtask/src/tidy/layers.rs and in lib.rs";
        return vec![Finding::new(&file.path, 1, format!("`{own}` has no layer"), fix)];
    };
    let points_down = |name: &str| name == own || layer(name).is_none_or(|other| other < height);
    let upward = named(&file.source.code).into_iter().filter(|(_, name)| !points_down(name));
    upward
        .map(|(line, name)| {
            let fix = "move what both need to the lower layer: modules import downwards only";
            Finding::new(&file.path, line, format!("`{own}` imports `{name}`"), fix)
        })
        .collect()
}

fn layer(module: &str) -> Option<usize> {
    RUNTIME_LAYERS.iter().position(|layer| layer.contains(&module))
}

/// The crate's own modules that code names, in a `use` or in place.
fn named(code: &str) -> Vec<(usize, String)> {
    let first = |path: &str| path.split("::").next().unwrap_or_default().to_owned();
    let used = imports::uses(code).into_iter();
    let used = used.filter_map(|(line, path)| Some((line, first(path.strip_prefix("crate::")?))));
    let in_place = code.match_indices("crate::").map(|(at, start)| {
        let rest = &code[at + start.len()..];
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        (line_of(code, at), rest[..end.unwrap_or(rest.len())].to_owned())
    });
    let mut named: Vec<(usize, String)> = used.chain(in_place).collect();
    named.sort();
    named.dedup();
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        let findings = upward_imports(&Repo::of(&[(path, text)]));
        findings.into_iter().map(|finding| (finding.line, finding.what)).collect()
    }

    #[test]
    fn modules_import_downwards() {
        let text = "use crate::{clock, handle::Asker};\nfn a() { crate::effects::b() }\n";
        let wrong = |line, what: &str| (line, what.to_owned());
        assert_eq!(
            found("crates/chronicle-runtime/src/link/server.rs", text),
            [wrong(1, "`link` imports `handle`"), wrong(2, "`link` imports `effects`")]
        );
        assert_eq!(found("crates/chronicle-runtime/src/handle/mod.rs", text), []);
        assert_eq!(found("crates/chronicle-runtime/src/lib.rs", text), []);
    }

    #[test]
    fn modules_of_one_layer_stay_apart() {
        let path = "crates/chronicle-runtime/src/driver.rs";
        assert_eq!(found(path, "use crate::link::Client;\n").len(), 1);
        assert_eq!(found(path, "use crate::inbox::Message;\nuse crate::driver::Run;\n"), []);
    }

    #[test]
    fn a_new_module_needs_a_layer() {
        let found = found("crates/chronicle-runtime/src/pools.rs", "");
        assert_eq!(found, [(1, "`pools` has no layer".to_owned())]);
    }
}
