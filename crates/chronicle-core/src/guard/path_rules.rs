//! What the rules of one file say about a path.

use super::compiled::{Compiled, Path, RuleSet};
use super::facts::{Access, Extent, Reach, Whereabouts, Word};
use super::judgement::{Judgement, RuleRef, SHOWN_MAX};
use super::paths::{Names, emptied, relative};
use super::protected::guards;
use crate::base::quote::line;
use crate::definition::guard::Pattern;

/// The rule against a change that a file of the project has undergone, however it came about. A rule that asks is not broken by it: a
/// person may have agreed.
pub fn broken_by(rules: &Compiled, path: &str, is_removed: bool) -> Option<RuleRef> {
    let access = if is_removed { Access::Delete } else { Access::Write };
    let whole = format!("{}/{path}", rules.place.project.trim_end_matches('/'));
    let path = Word::Known(path.to_owned());
    let reach =
        Reach { whole: Some(whole.clone()), ..Reach::of(access, path, None, &rules.place, "") };
    let all = [relative(&whole)];
    if let Some(guarded) = guards(&all[0], access, &rules.place) {
        return Some(guarded.rule());
    }
    let by_set = |set: &RuleSet| match forbidden(set, &reach, &all, &rules.place, true) {
        Judgement::Deny { rule, .. } => Some(rule),
        Judgement::Ask { .. } | Judgement::Clear => None,
    };
    rules.sets.iter().find_map(by_set)
}

/// The verdict on what is done to a path, which is at all of these places. `enters` if all below it is used too.
pub(super) fn by_paths(
    set: &RuleSet,
    reach: &Reach,
    all: &[Names],
    place: &Whereabouts,
    enters: bool,
) -> Judgement {
    let worst = forbidden(set, reach, all, place, enters).or_stricter(asked(set, reach, all));
    let worst = worst.or_stricter(outside(set, reach, all, place));
    worst.or_stricter(above_hidden(set, reach, all)).or_stricter(picked_from(set, reach, all))
}

/// Whether what is picked by name, and changed, may be among what the rules keep: only the running command knows which files it finds.
fn picked_from(set: &RuleSet, reach: &Reach, all: &[Names]) -> Judgement {
    // Whatever is told by a pattern may be it; what else git changes is what it keeps.
    let is_told = reach.by != "git" || matches!(reach.path, Word::Glob(_));
    if reach.extent != Extent::Some || !reach.access.changes() || !is_told {
        return Judgement::Clear;
    }
    let fixed = set.read_only.iter().chain(&set.zero_access);
    let kept = set.no_delete.iter().filter(|_| reach.access == Access::Delete);
    // Git's own files are picked by nobody who looks for files of a project.
    let mut rules = fixed.chain(kept).filter(|it| !it.rule.text.starts_with(".git/"));
    let hit = rules.find(|it| match &reach.path {
        Word::Glob(glob) => it.pattern.may_be_named(glob),
        Word::Known(_) => all.iter().any(|names| it.pattern.is_below(names)),
        Word::Unknown { .. } => false,
    });
    let Some(hit) = hit else { return Judgement::Clear };
    let why = format!("{} may be among {}", hit.rule.text, shown(reach));
    Judgement::Ask { rule: hit.rule.clone(), why }
}

/// Programs that do nothing with a folder that they are given, unless they are told to go through it, which is looked at by itself.
const PASSING_BY: [&str; 13] = [
    "wc",
    "stat",
    "grep",
    "egrep",
    "fgrep",
    "head",
    "tail",
    "cat",
    "file",
    "md5sum",
    "sha256sum",
    "ls",
    "du",
];
/// Those among them that tell the names in it.
const LOOKING_IN: [&str; 2] = ["ls", "du"];

/// True if a program that does not enter folders is given all that lies in one.
fn is_everything(reach: &Reach) -> bool {
    let is_all = |glob: &str| glob.rsplit('/').next() == Some("*");
    let only_looks = matches!(reach.access, Access::Read | Access::List);
    let is_glob = matches!(&reach.path, Word::Glob(glob) if is_all(glob));
    is_glob && only_looks && PASSING_BY.contains(&reach.by.as_str())
}

/// True if a rule is about a folder, and a path is that folder itself, not something in it.
fn is_only_met(rule: &Path, names: &Names) -> bool {
    let parent = names.names().split_last().map(|(_, parent)| parent.join("/"));
    let is_in = parent.is_some_and(|parent| rule.pattern.covers(&relative(&format!("/{parent}"))));
    rule.rule.text.ends_with('/') && !is_in
}

/// The verdict on what the rules hide; `None` if it is not among it, or not looked at.
fn hidden(set: &RuleSet, reach: &Reach, all: &[Names], enters: bool) -> Option<Judgement> {
    let covers = |it: &&Path| all.iter().any(|names| it.pattern.covers(names));
    let hits: Vec<&Path> = set.zero_access.iter().filter(covers).collect();
    let is_met = |it: &Path| {
        let mut covered = all.iter().filter(|names| it.pattern.covers(names));
        covered.all(|names| is_only_met(it, names))
    };
    let is_passed = is_everything(reach) && !enters;
    let used = hits.iter().find(|it| !(is_passed && is_met(it)));
    if let Some(hit) = used {
        return Some(Judgement::Deny { rule: hit.rule.clone(), why: String::new() });
    }
    let hit = hits.first().filter(|_| LOOKING_IN.contains(&reach.by.as_str()))?;
    let why = format!("`{}` is among {}, and the rules hide it", hit.rule.text, shown(reach));
    Some(Judgement::Ask { rule: hit.rule.clone(), why })
}

fn forbidden(
    set: &RuleSet,
    reach: &Reach,
    all: &[Names],
    place: &Whereabouts,
    enters: bool,
) -> Judgement {
    let told = |rule: &RuleRef, what: &str| {
        let why = format!("{} may not be {what}: the rules name `{}`", shown(reach), rule.text);
        if reach.is_guess && reach.access.may_change() {
            return Judgement::Ask { rule: rule.clone(), why };
        }
        Judgement::Deny { rule: rule.clone(), why }
    };
    if let Some(judged) = hidden(set, reach, all, enters) {
        return match judged {
            Judgement::Deny { rule, .. } => told(&rule, "used"),
            judged @ (Judgement::Ask { .. } | Judgement::Clear) => judged,
        };
    }
    let has = |pattern: &Pattern| {
        all.iter().filter(|names| !names.is_glob()).any(|names| {
            let mut places = std::iter::once(names.text()).chain(names.in_origin(place));
            places.any(|text| pattern.is_in(&text) || pattern.is_in(&format!("{text}/")))
        })
    };
    if let Some(hit) = set.sensitive.iter().find(|it| has(&it.pattern)) {
        return told(&hit.rule, "used");
    }
    if !reach.access.changes() && reach.access != Access::Likely {
        return Judgement::Clear;
    }
    // A file of that name that is kept for a while only is another one.
    let is_kept = |it: &&Path, names: &Names| {
        let is_brief = ["/tmp", "/var/tmp"].iter().any(|it| names.is_at_or_below(it));
        let is_elsewhere = is_brief && !names.is_at_or_below(&place.project);
        it.pattern.covers(names) && !(is_elsewhere && it.pattern.is_anywhere())
    };
    let fixed = set.read_only.iter().find(|it| all.iter().any(|names| is_kept(it, names)));
    if let Some(hit) = fixed {
        if reach.access == Access::Likely {
            let why =
                format!("{} may be changed: the rules name `{}`", shown(reach), hit.rule.text);
            return Judgement::Ask { rule: hit.rule.clone(), why };
        }
        return told(&hit.rule, "changed");
    }
    if reach.access != Access::Delete {
        return Judgement::Clear;
    }
    if reach.extent == Extent::Some {
        // What is picked from the project or the home leaves them where they are.
        let is_whole = |it: &&Path| [".", "./", "~", "~/"].contains(&it.rule.text.as_str());
        let mut kept = set.no_delete.iter().filter(|it| !is_whole(it));
        let kept = kept.find(|it| all.iter().any(|names| it.pattern.covers(names)));
        return kept.map_or(Judgement::Clear, |hit| told(&hit.rule, "removed"));
    }
    let emptied = emptied_by(reach);
    let kept = set.no_delete.iter().chain(&set.read_only).chain(&set.zero_access).find(|it| {
        let above = |names: &Names| it.pattern.is_below(names);
        all.iter().chain(&emptied).any(above)
    });
    let kept = kept.or_else(|| {
        let covers = |names: &Names, it: &Path| it.pattern.covers(names);
        set.no_delete.iter().find(|it| all.iter().chain(&emptied).any(|names| covers(names, it)))
    });
    kept.map_or(Judgement::Clear, |hit| told(&hit.rule, "removed"))
}

/// Whether a person must agree. Who only asks for its name learns nothing of what is in it.
fn asked(set: &RuleSet, reach: &Reach, all: &[Names]) -> Judgement {
    let hit = set.ask.iter().find(|it| all.iter().any(|names| it.pattern.covers(names)));
    let Some(hit) = hit.filter(|_| reach.access != Access::List) else { return Judgement::Clear };
    let why =
        format!("a person decides about {}: the rules name `{}`", shown(reach), hit.rule.text);
    Judgement::Ask { rule: hit.rule.clone(), why }
}

/// Whether something is changed where the worker has no work.
fn outside(set: &RuleSet, reach: &Reach, all: &[Names], place: &Whereabouts) -> Judgement {
    let Some(first) = set.free.first().filter(|_| reach.access.changes() && reach.whole.is_some())
    else {
        return Judgement::Clear;
    };
    // In code a text may well be no path.
    let is_home = |names: &Names| place.homes.iter().any(|home| names.is_at_or_below(home));
    let may_be =
        |names: &&Names| !reach.is_guess || reach.access == Access::Delete || is_home(names);
    let is_free = |names: &Names| {
        names.is_at_or_below(&place.project) || set.free.iter().any(|it| it.pattern.covers(names))
    };
    if all.iter().filter(may_be).all(is_free) {
        return Judgement::Clear;
    }
    let rule = RuleRef { text: "outside of the project".to_owned(), ..first.rule.clone() };
    let why =
        format!("{} lies outside of the project, and `{}` changes it", shown(reach), reach.by);
    Judgement::Ask { rule, why }
}

/// Whether everything below a folder is read, and some of that is hidden.
fn above_hidden(set: &RuleSet, reach: &Reach, all: &[Names]) -> Judgement {
    // A container may do anything with a folder that it gets.
    let givers = ["docker", "podman", "nerdctl", "docker-compose", "podman-compose"];
    let is_given = reach.access == Access::Maybe && givers.contains(&reach.by.as_str());
    let is_used = reach.access == Access::Read || is_given;
    let is_whole = is_used && !reach.is_guess && reach.whole.is_some();
    let hit = set.zero_access.iter().find(|it| all.iter().any(|names| it.pattern.is_below(names)));
    let Some(hit) = hit.filter(|_| is_whole) else { return Judgement::Clear };
    let why = format!("{} holds what the rules hide as `{}`", shown(reach), hit.rule.text);
    Judgement::Ask { rule: hit.rule.clone(), why }
}

/// The folder whose whole content a deletion takes.
pub(super) fn emptied_by(reach: &Reach) -> Option<Names> {
    let is_whole = reach.access == Access::Delete && reach.extent == Extent::All;
    // What is made of some names is not all that lies there.
    let is_whole = is_whole && reach.made_of.is_none();
    let whole = reach.whole.as_deref().filter(|_| is_whole)?;
    let is_glob = matches!(reach.path, Word::Glob(_));
    emptied(whole).filter(|_| is_glob).map(relative)
}

/// A path for people.
pub(super) fn shown(reach: &Reach) -> String {
    match &reach.path {
        Word::Known(path) | Word::Glob(path) => format!("`{}`", line(path, SHOWN_MAX)),
        Word::Unknown { begins, .. } => format!("`{}…`", line(begins, SHOWN_MAX)),
    }
}
