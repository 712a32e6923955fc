//! The layers of a crate: a file imports from its own layer and from lower ones.
//!
//! So no import cycle can span two layers. Files of one module may import each other as they like; modules that share a
//! layer may not form a cycle.

use super::{Finding, Repo};
use crate::code::modules::{Import, Modules};

/// The layers of one crate.
struct Layered {
    src: &'static str,
    /// Every top module, lowest layer first. `<` separates layers, `|` those on one level, which may not import each other.
    order: &'static str,
}

const CRATES: &[Layered] = &[
    Layered {
        src: "crates/chronicle-core/src/",
        order: "base < definition < guard < event < state < words < handover < engine | view",
    },
    Layered {
        src: "crates/chronicle-runtime/src/",
        order: "activity bell clock cookie fail home regular requests room threads < ledger process < project < anchor index trees agents \
            < work < discover < environment trust loaded walls secrets projections guard < inbox patience < driver link < effects < handle",
    },
];

/// Where a module stands: its level from below, and its layer on that level.
type Place = (usize, usize);

/// Imports that lead upwards, cycles within a layer, and modules that nobody placed.
pub(super) fn layers(repo: &Repo) -> Vec<Finding> {
    let is_here = |layered: &&Layered| repo.has(&format!("{}lib.rs", layered.src));
    CRATES.iter().filter(is_here).flat_map(|layered| check(repo, layered)).collect()
}

fn check(repo: &Repo, layered: &Layered) -> Vec<Finding> {
    let modules = Modules::read(repo, layered.src);
    let mut findings = misplaced(&modules, layered);
    for import in modules.imports() {
        findings.extend(wrong_way(&modules, layered, &import));
    }
    for cycle in modules.top_cycles() {
        // One between layers has an import that leads upwards, and that was told.
        let places: Vec<_> = cycle.iter().map(|module| place(layered, module)).collect();
        if places.iter().all(|place| *place == places[0]) {
            let what = format!("modules of one layer import each other: {}", cycle.join(" "));
            let fix = "let them import one way: move what both need to a lower layer";
            findings.push(Finding::new(&path_of(&modules, cycle[0]), 1, what, fix));
        }
    }
    findings
}

/// Modules without a place, and places without a module.
fn misplaced(modules: &Modules<'_>, layered: &Layered) -> Vec<Finding> {
    let tops = modules.tops();
    let unplaced = tops.iter().filter(|module| place(layered, module).is_none()).map(|module| {
        let fix = "place it in the list in xtask/src/tidy/layers.rs";
        Finding::new(&path_of(modules, module), 1, format!("`{module}` is in no layer"), fix)
    });
    let gone = names(layered).filter(|name| !tops.contains(name)).map(|name| {
        let what = format!("the layers name a module `{name}` that does not exist");
        Finding::new(layered.src, 1, what, "take it out of the list in xtask/src/tidy/layers.rs")
    });
    unplaced.chain(gone).collect()
}

/// The crate's root may import everything. Nobody imports from it: that could lead anywhere.
fn wrong_way(modules: &Modules<'_>, layered: &Layered, import: &Import) -> Option<Finding> {
    let from = modules.top(import.from)?;
    let path = &modules.files[import.from].path;
    let Some(to) = modules.top(import.to) else {
        let what = format!("`{}` leads through the crate's root", import.path);
        return Some(Finding::new(path, import.line, what, "name the module that has it"));
    };
    let (lower, upper) = (place(layered, from)?, place(layered, to)?);
    if upper.0 < lower.0 || upper == lower {
        return None;
    }
    let where_to = if upper.0 == lower.0 { "beside" } else { "above" };
    let what = format!("`{}`: `{to}` is {where_to} `{from}`", import.path);
    let fix = "move what is needed into a lower layer, or this code into a higher one";
    Some(Finding::new(path, import.line, what, fix))
}

fn place(layered: &Layered, module: &str) -> Option<Place> {
    for (level, layers) in layered.order.split('<').enumerate() {
        let layer =
            layers.split('|').position(|layer| layer.split_whitespace().any(|it| it == module));
        if let Some(layer) = layer {
            return Some((level, layer));
        }
    }
    None
}

fn names(layered: &Layered) -> impl Iterator<Item = &'static str> {
    layered.order.split(['<', '|']).flat_map(str::split_whitespace)
}

/// The first file of a module.
fn path_of(modules: &Modules<'_>, top: &str) -> String {
    let first = (0..modules.files.len()).find(|file| modules.top(*file) == Some(top));
    first.map(|file| modules.files[file].path.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Layered = Layered { src: "src/", order: "a b < c < d | e" };

    /// Each finding as `path:line`.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let all = ["src/a.rs", "src/b.rs", "src/c/mod.rs", "src/d.rs", "src/e.rs", "src/lib.rs"];
        let mut whole: Vec<(&str, &str)> = all.map(|path| (path, "")).to_vec();
        whole.retain(|(path, _)| files.iter().all(|(other, _)| other != path));
        whole.extend(files);
        let findings = check(&Repo::of(&whole), &HERE);
        findings.into_iter().map(|finding| format!("{}:{}", finding.path, finding.line)).collect()
    }

    #[test]
    fn imports_lead_down_or_stay_in_the_layer() {
        assert!(
            found(&[("src/d.rs", "use crate::{a, b, c::x};\n"), ("src/a.rs", "use crate::b;\n")])
                .is_empty()
        );
        assert_eq!(found(&[("src/a.rs", "\nfn f() { crate::c::g() }\n")]), ["src/a.rs:2"]);
        assert_eq!(found(&[("src/c/x.rs", "use super::super::d::D;\n")]), ["src/c/x.rs:1"]);
        assert!(
            found(&[("src/a.rs", "fn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::d;\n}\n")])
                .is_empty()
        );
    }

    #[test]
    fn layers_on_one_level_do_not_know_each_other() {
        assert_eq!(found(&[("src/e.rs", "use crate::d::D;\n")]), ["src/e.rs:1"]);
    }

    #[test]
    fn the_root_imports_everything_and_is_imported_by_nobody() {
        assert!(found(&[("src/lib.rs", "pub use d::D;\npub use a::A;\n")]).is_empty());
        assert_eq!(found(&[("src/a.rs", "use crate::D;\n")]), ["src/a.rs:1"]);
    }

    #[test]
    fn files_of_a_module_may_form_a_cycle_and_modules_of_a_layer_may_not() {
        assert!(
            found(&[("src/c/x.rs", "use super::y;\n"), ("src/c/y.rs", "use super::x;\n")])
                .is_empty()
        );
        assert_eq!(
            found(&[("src/a.rs", "use crate::b;\n"), ("src/b.rs", "use crate::a;\n")]),
            ["src/a.rs:1"]
        );
    }

    #[test]
    fn every_module_has_a_place_and_every_place_a_module() {
        assert_eq!(found(&[("src/f/g.rs", "use crate::d;\n")]), ["src/f/g.rs:1"]);
        let repo =
            Repo::of(&[("src/a.rs", ""), ("src/b.rs", ""), ("src/c.rs", ""), ("src/d.rs", "")]);
        assert_eq!(check(&repo, &HERE).len(), 1);
    }
}
