//! What no worker may do, whatever the rules say: change what guards it, or speak as a person.

use super::facts::{Access, Run, Whereabouts, Word};
use super::judgement::{RuleKind, RuleRef};
use super::paths::Names;
use super::texts::{git_command, told};
use crate::definition::guard::Pattern;

/// What is denied whatever the rules say, for people.
pub const PROTECTED: &[&str] = &[
    "changing Chronicle's own files: `.chronicle`, `.pi/chronicle`, your settings, and what it keeps of runs",
    "changing files of rules, and settings, hooks and extensions of agents: `.claude`, `.pi`, `.codex`, `.gemini`, `.opencode`, `opencode.json`, `.cursor`, `.mcp.json` and others",
    "changing `.git/hooks`, `.git/config`, `.git/commondir` and `.git/info/attributes`, the same of submodules and work trees, or removing the project with what is in it",
    "a person's commands: `chronicle approve`, `answer`, `go`, `run`, `resume`, `undo` and every other that does more than show something",
    "ending the supervisor",
];

/// Files and folders that guard a run, by the names that they end or go on with. Case does not count: on some disks it does not.
pub const GUARDS: &[&[&str]] = &[
    &[".chronicle"],
    &[".pi", "chronicle"],
    &[".pi", "damage-control-rules.yaml"],
    &[".pi", "damage-control-rules.yml"],
    &[".pi", "settings.json"],
    &[".pi", "extensions"],
    &[".pi", "npm"],
    &[".pi", "git"],
    &[".pi", "mcp.json"],
    &[".pi", "agent", "settings.json"],
    &[".pi", "agent", "extensions"],
    &[".pi", "agent", "mcp.json"],
    &[".claude", "settings.json"],
    &[".claude", "settings.local.json"],
    &[".claude", "hooks"],
    &[".claude", "plugins"],
    &[".claude.json"],
    &[".mcp.json"],
    &[".codex", "config.toml"],
    &[".codex", "hooks.json"],
    &[".gemini", "settings.json"],
    &[".opencode", "plugin"],
    &[".opencode", "plugins"],
    &[".config", "chronicle"],
    &[".git", "hooks"],
    &[".git", "config"],
    &[".git", "config.worktree"],
    &[".git", "info", "attributes"],
    // Says that the repository's settings and hooks are elsewhere.
    &[".git", "commondir"],
];
/// What other agents load of a project or a home and run: settings that name servers, hooks and programs, and code of extensions. They are
/// known by their names like those above; walls have a list of their own.
const LOADED: &[&[&str]] = &[
    &["opencode.json"],
    &["opencode.jsonc"],
    &[".opencode", "tool"],
    &[".opencode", "tools"],
    &[".config", "opencode"],
    &[".pi", "agent", "npm"],
    &[".pi", "agent", "git"],
    &[".codex", "rules"],
    &[".gemini", "extensions"],
    &[".gemini", "hooks"],
    &[".qwen", "settings.json"],
    &[".qwen", "extensions"],
    &[".cursor", "mcp.json"],
    &[".cursor", "hooks.json"],
    &[".cursor", "hooks"],
    &[".cursor", "cli.json"],
    &[".cursor", "cli-config.json"],
    &[".vscode", "mcp.json"],
    &[".amp", "settings.json"],
    &[".config", "amp"],
    &[".factory", "settings.json"],
    &[".factory", "mcp.json"],
    &[".factory", "hooks"],
    &[".kiro", "settings"],
    &[".kiro", "hooks"],
    &[".roo", "mcp.json"],
    &[".windsurf", "hooks.json"],
    &[".codeium", "windsurf"],
    &[".copilot", "config.json"],
    &[".copilot", "mcp-config.json"],
    &[".continue", "config.json"],
    &[".continue", "config.yaml"],
    &[".config", "goose"],
    &[".crush.json"],
    &["crush.json"],
    &[".config", "crush"],
    &[".aider.conf.yml"],
];
/// What git runs, or is told by, in the folders that it keeps of submodules and work trees.
const OF_REPOSITORIES: [&str; 4] = ["hooks", "config", "config.worktree", "commondir"];
/// Folders that hold some of them: whoever moves one away moves them too.
const HOLDERS: &[&str] = &[".pi", ".claude", ".codex", ".gemini", ".opencode", ".git"];

/// Commands of Chronicle that only show something. Every other one is a person's.
const SHOWING: &[&str] = &[
    "list",
    "check",
    "graph",
    "schema",
    "doctor",
    "runs",
    "status",
    "log",
    "handover",
    "audit",
    "diff",
    "completions",
    "help",
    "guard",
];
/// Options of Chronicle that take a value, before its command.
const WITH_VALUE: &[&str] = &["-C", "--directory", "--project"];

/// What protects a path, and why.
pub(super) struct Guarded {
    what: &'static str,
    pub(super) why: String,
}

impl Guarded {
    pub(super) fn rule(&self) -> RuleRef {
        RuleRef::own(RuleKind::Protected, self.what)
    }

    /// True if it lies where the worker has no work at all.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.what != RUN_GUARD
    }
}

const RUN_GUARD: &str = "what guards this run";

/// What protects the files that guard a run.
pub(super) fn run_guard() -> RuleRef {
    RuleRef::own(RuleKind::Protected, RUN_GUARD)
}

/// Why a path may not be changed; `None` if it is not protected.
pub(super) fn guards(path: &Names, access: Access, place: &Whereabouts) -> Option<Guarded> {
    if let Some(secluded) = secluded(path, place) {
        return Some(secluded);
    }
    let names = path.names();
    // A run of its own home has it below `.chronicle`: what the worker keeps there is its own, and guards nobody.
    let own_home = place.homes.iter().find_map(|home| inside(names, home, place));
    let names = own_home.unwrap_or_else(|| in_copy(path, place));
    let names: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let is_guard = GUARDS.iter().chain(LOADED).any(|guard| {
        names.windows(guard.len()).any(|part| {
            let mut pairs = part.iter().zip(*guard);
            pairs.all(|(name, other)| path.is_same(name, other) && means(path, name, other))
        })
    });
    let is_guard = is_guard || is_of_repository(path, &names);
    let removes = access == Access::Delete;
    let holds = removes && names.last().is_some_and(|last| HOLDERS.contains(&last.as_str()));
    // The project with its `.chronicle`, or a folder above it.
    let above = removes && path.is_at_or_above(&place.project);
    let own = place.own.iter().any(|own| {
        let is_inside = path.is_at_or_below(own) && !is_workplace(path, own, place);
        is_inside || removes && path.is_at_or_above(own)
    });
    if is_guard || holds || above || own {
        let why = format!("`{}` guards this run: no worker may change it", path.text());
        return Some(Guarded { what: RUN_GUARD, why });
    }
    let is_origins = own_home.is_none() && !path.is_at_or_below(&place.project);
    let is_in =
        |origin: &String| path.is_at_or_below(origin) || removes && path.is_at_or_above(origin);
    (is_origins && place.origin.iter().any(is_in)).then(|| Guarded {
        what: "the project's own folder",
        // What to do comes first: a long path may be cut.
        why: format!(
            "work in `{}`, your own folder: only a merge changes the project (`{}`)",
            place.project,
            path.text()
        ),
    })
}

/// False for a pattern that finds a name without a dot before it among many others: `*` and `*.json` mean all of them.
fn means(path: &Names, name: &str, other: &str) -> bool {
    other.starts_with('.') || !path.is_glob() || !name.starts_with(['*', '?', '['])
}

/// What lies below the folder in which git keeps a submodule or a work tree; `None` if a path is neither of them nor below it.
fn in_repository<'n>(path: &Names, names: &'n [String]) -> Option<&'n [String]> {
    let is_kept = |pair: &[String]| {
        path.is_same(&pair[0], ".git")
            && ["modules", "worktrees"].iter().any(|it| path.is_same(&pair[1], it))
    };
    let at = names.windows(2).position(is_kept)?;
    names.get(at + 2..)
}

/// True for hooks and settings of a submodule, wherever it lies in the project, or of a work tree.
fn is_of_repository(path: &Names, names: &[String]) -> bool {
    // The first name below is that of the submodule.
    let inside = in_repository(path, names).and_then(|names| names.get(1..)).unwrap_or_default();
    let is_one = |name: &String| OF_REPOSITORIES.iter().any(|it| path.is_same(name, it));
    let is_told =
        |pair: &[String]| path.is_same(&pair[0], "info") && path.is_same(&pair[1], "attributes");
    inside.iter().any(is_one) || inside.windows(2).any(is_told)
}

/// Why a path may not even be looked at; `None` if it is not in the work of others.
pub(super) fn secluded(path: &Names, place: &Whereabouts) -> Option<Guarded> {
    let is_theirs = place.others.iter().any(|others| path.is_at_or_below(others));
    // So is the way to the worker's own folder.
    let is_own = path.is_at_or_below(&place.project) || path.is_at_or_above(&place.project);
    let is_seen = place.seen.iter().any(|seen| path.is_at_or_below(seen));
    (is_theirs && !is_own && !is_seen).then(|| Guarded {
        what: "the work of others",
        why: format!("`{}` is the work of others, and not of this step", path.text()),
    })
}

/// The names that count of a path in a copy of the project: not those of the folders that Chronicle keeps copies in.
fn in_copy<'n>(path: &'n Names, place: &Whereabouts) -> &'n [String] {
    let names = path.names();
    let is_copy = place.own.iter().any(|own| is_workplace(path, own, place));
    let above = place.project.split('/').filter(|name| !name.is_empty()).count().saturating_sub(1);
    if is_copy { names.get(above..).unwrap_or(names) } else { names }
}

/// The names below a home that lies in the project itself; `None` if the path is not in it.
fn inside<'n>(names: &'n [String], home: &str, place: &Whereabouts) -> Option<&'n [String]> {
    let is_in = |project: &String| {
        home.starts_with(&format!("{}/.chronicle/", project.trim_end_matches('/')))
    };
    if !is_in(&place.project) && !place.origin.iter().any(is_in) {
        return None;
    }
    let home: Vec<&str> = home.split('/').filter(|name| !name.is_empty()).collect();
    let is_below =
        names.len() > home.len() && names.iter().zip(&home).all(|(one, other)| one == other);
    is_below.then(|| &names[home.len()..])
}

/// True for a path that ends with the name of a folder that holds what guards a run.
pub(super) fn is_holder(path: &str) -> bool {
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    HOLDERS.iter().any(|holder| holder.eq_ignore_ascii_case(last))
}

/// Why nothing may be picked from a folder and changed; `None` if it holds nothing that guards a run.
pub(super) fn holds(path: &Names) -> Option<String> {
    let last = path.names().last()?.to_lowercase();
    let is_holder = HOLDERS.iter().any(|holder| path.is_same(&last, holder));
    let is_repository = in_repository(path, path.names()).is_some();
    (is_holder || is_repository)
        .then(|| format!("`{}` holds what guards this run: no worker may change it", path.text()))
}

/// True if the project lies in a folder of Chronicle's own, as a work tree does, and the path in the project.
fn is_workplace(path: &Names, own: &str, place: &Whereabouts) -> bool {
    let project = format!("{}/", place.project.trim_end_matches('/'));
    project.starts_with(&format!("{}/", own.trim_end_matches('/')))
        && path.is_at_or_below(&place.project)
}

/// What is said of a person's command.
pub(super) enum Person {
    /// It is one, whatever it is wrapped in.
    Surely(String),
    /// It may be one: a program that is not known gets it.
    Perhaps(String),
}

/// A person's command, however it is wrapped.
pub(super) fn person_command(run: &Run) -> Option<Person> {
    if run.program() == "chronicle" {
        return said(&run.words[1..]);
    }
    if ["pkill", "killall", "skill"].contains(&run.program())
        && (run.known().any(means_us) || finds_us(run))
    {
        return Some(Person::Surely("it would end the supervisor of this run".to_owned()));
    }
    if run.program() == "git" && cleans_all(run) {
        let why = "it would remove what git ignores, and the record of this run with it";
        return Some(Person::Surely(why.to_owned()));
    }
    let told = told(run);
    let words = run.words.iter().enumerate().skip(1);
    // What is only printed or searched for is not run.
    let words = words.filter(|(at, _)| told.get(at - 1) != Some(&true));
    words.into_iter().find_map(|(at, word)| match word {
        // A program that Chronicle does not know may start it.
        Word::Known(text)
            if text.rsplit('/').next() == Some("chronicle") && !follows_option(run, at) =>
        {
            let person = said(run.words.get(at + 1..)?)?;
            let (Person::Surely(why) | Person::Perhaps(why)) = person;
            (run.words.len() > at + 1).then_some(Person::Perhaps(why))
        }
        Word::Known(text) => within(text),
        Word::Glob(_) | Word::Unknown { .. } => None,
    })
}

/// Why a text that may be only words may be a person's command: it begins with one, to the letter.
pub(super) fn perhaps_person(run: &Run) -> Option<String> {
    let is_ours =
        run.program() == "chronicle" && is_command(run.words.get(1..4.min(run.words.len()))?);
    let ends = ["pkill", "killall"].contains(&run.program()) && run.words.len() < 5;
    match person_command(run).filter(|_| is_ours || ends)? {
        Person::Surely(why) | Person::Perhaps(why) => Some(why),
    }
}

/// Why commands together would end the supervisor: one finds its process, and another ends what was found.
pub(super) fn ends_us(runs: &[Run]) -> Option<String> {
    const FINDERS: [&str; 5] = ["pgrep", "pidof", "systemctl", "launchctl", "supervisorctl"];
    const LISTERS: [&str; 4] = ["ps", "top", "lsof", "fuser"];
    const PICKERS: [&str; 9] = ["grep", "egrep", "fgrep", "rg", "ag", "awk", "gawk", "mawk", "sed"];
    let names_us = |run: &Run| run.known().any(means_us) || finds_us(run);
    let lists = runs.iter().any(|run| LISTERS.contains(&run.program()));
    let finds = |run: &Run| {
        let name = run.program();
        let is_finder = FINDERS.contains(&name) || LISTERS.contains(&name);
        (is_finder || lists && PICKERS.contains(&name)) && names_us(run)
    };
    // A process that is named by its number is no supervisor that was looked for.
    let is_open = |word: &Word| !matches!(word, Word::Known(_));
    let ends = |run: &Run| run.program() == "kill" && run.words.iter().any(is_open);
    let why = "it would end the supervisor of this run";
    (runs.iter().any(finds) && runs.iter().any(ends)).then(|| why.to_owned())
}

/// True for a word by which our process is found: our name, a part of it, or a pattern that does not find itself (`[c]hronicle`).
fn means_us(word: &str) -> bool {
    let plain = word.replace(['[', ']', '\\'], "");
    plain.contains("chronicle") || is_part_of_our_name(&plain)
}

/// True if a program looks for processes by a pattern that finds ours.
fn finds_us(run: &Run) -> bool {
    const VALUED: [&str; 15] = [
        "-u", "-U", "-P", "-g", "-G", "-s", "-t", "-F", "-O", "-d", "-H", "--signal", "--euid",
        "--parent", "-y",
    ];
    let known: Vec<&str> = run.known().collect();
    let is_pattern = match run.program() {
        "pkill" | "pgrep" | "grep" | "egrep" | "rg" | "ag" => true,
        "killall" => known.iter().any(|it| ["-r", "--regexp"].contains(it)),
        _ => false,
    };
    let is_value = |at: usize| at > 0 && VALUED.contains(&known[at - 1]);
    let mut patterns =
        known.iter().enumerate().filter(|(at, it)| !it.starts_with('-') && !is_value(*at));
    is_pattern && patterns.next().is_some_and(|(_, pattern)| is_found_by(pattern))
}

/// True if a pattern finds our name. One that nobody can read may.
fn is_found_by(pattern: &str) -> bool {
    // Longer ones are no patterns for names of programs.
    const PATTERN_MAX: usize = 200;
    const CLASSES: [(&str, &str); 7] = [
        ("[:alpha:]", "a-zA-Z"),
        ("[:lower:]", "a-z"),
        ("[:upper:]", "A-Z"),
        ("[:alnum:]", "a-zA-Z0-9"),
        ("[:digit:]", "0-9"),
        ("[:print:]", " -~"),
        ("[:graph:]", "!-~"),
    ];
    let known =
        CLASSES.iter().fold(pattern.to_owned(), |text, (class, it)| text.replace(class, it));
    known.len() > PATTERN_MAX || Pattern::compile(&known).map_or(true, |it| it.is_in("chronicle"))
}

/// True for a pattern that means us among others.
fn is_part_of_our_name(word: &str) -> bool {
    let word = word.trim_matches(['^', '$', '.', '*']);
    word.len() > 3 && "chronicle".contains(word)
}

/// True for `git clean -fdx` without a path.
fn cleans_all(run: &Run) -> bool {
    let mut words = run.words.iter().skip(1 + git_command(run));
    if words.next() != Some(&Word::Known("clean".to_owned())) {
        return false;
    }
    let (mut letters, mut has_path, mut forced) = (String::new(), false, false);
    for word in words {
        match word {
            Word::Known(text) if text == "--dry-run" => return false,
            Word::Known(text) if text == "--force" => forced = true,
            Word::Known(text) if text.starts_with("--") => {}
            Word::Known(text) if text.starts_with('-') => letters.push_str(text),
            Word::Known(text) => has_path |= ![".", "./", ":/", "*"].contains(&text.as_str()),
            Word::Glob(_) | Word::Unknown { .. } => {}
        }
    }
    let runs = (forced || letters.contains('f')) && !letters.contains('n');
    runs && letters.contains(['x', 'X']) && !has_path
}

/// `-p chronicle` names a package, not a program.
fn follows_option(run: &Run, at: usize) -> bool {
    matches!(run.words.get(at - 1), Some(Word::Known(before)) if before.starts_with('-') && before != "--")
}

/// The command of a line of words after `chronicle`.
fn said(words: &[Word]) -> Option<Person> {
    let mut skip = false;
    for word in words {
        match word {
            _ if skip => skip = false,
            Word::Known(text)
                if text == "--help" || text == "-h" || text == "--version" || text == "-V" =>
            {
                return None;
            }
            Word::Known(text) if WITH_VALUE.contains(&text.as_str()) => skip = true,
            Word::Known(text) if text.starts_with('-') => {}
            Word::Known(text) if SHOWING.contains(&text.as_str()) => return None,
            Word::Known(text) => {
                return Some(Person::Surely(format!(
                    "`chronicle {text}` is a person's command, and this is a worker"
                )));
            }
            Word::Glob(_) | Word::Unknown { .. } => {
                return Some(Person::Perhaps(
                    "it may be a person's command of `chronicle`".to_owned(),
                ));
            }
        }
    }
    None
}

/// A text of several words that another program may run.
fn within(text: &str) -> Option<Person> {
    if !text.contains("chronicle") || !text.contains(' ') {
        return None;
    }
    let mut words = text
        .split(|letter: char| letter.is_whitespace() || ";&|()'\"`".contains(letter))
        .filter(|it| !it.is_empty());
    while let Some(word) = words.next() {
        if word.rsplit('/').next() == Some("chronicle") {
            let rest: Vec<Word> =
                words.clone().take(8).map(|word| Word::Known(word.to_owned())).collect();
            if let Some(Person::Surely(why) | Person::Perhaps(why)) =
                said(&rest).filter(|_| is_command(&rest))
            {
                return Some(Person::Perhaps(why));
            }
        }
    }
    None
}

/// In a longer text only the very names of commands count: a sentence may be about Chronicle.
fn is_command(words: &[Word]) -> bool {
    const PERSONS: &[&str] = &[
        "approve", "reject", "answer", "retry", "skip", "note", "go", "cancel", "undo", "repair",
        "resume", "run", "pause", "budget", "trust", "gc", "config",
    ];
    words.iter().any(|word| matches!(word, Word::Known(text) if PERSONS.contains(&text.as_str())))
}

#[cfg(test)]
mod tests {
    use super::super::paths::relative;
    use super::*;

    fn place() -> Whereabouts {
        Whereabouts {
            project: "/state/trees/p".to_owned(),
            folder: "/state/trees/p".to_owned(),
            homes: vec!["/home/ann".to_owned()],
            own: vec!["/state".to_owned(), "/conf".to_owned()],
            origin: vec!["/home/ann/p".to_owned()],
            others: vec!["/state/trees".to_owned()],
            seen: Vec::new(),
        }
    }

    #[test]
    fn a_step_works_in_its_own_folder_alone() {
        let why = |path: &str, access| {
            guards(&relative(path), access, &place()).map(|guarded| guarded.what)
        };
        let tries = [
            ("/home/ann/p/src/main.rs", Access::Write, Some("the project's own folder")),
            ("/home/ann/p", Access::Delete, Some("the project's own folder")),
            ("/home/ann", Access::Delete, Some("the project's own folder")),
            ("/home/ann/p/.chronicle/runs/x", Access::Write, Some("what guards this run")),
            ("/home/ann/p2/x", Access::Write, None),
            ("/state/trees/q/x", Access::Write, Some("the work of others")),
            ("/state/trees/p2", Access::Read, Some("the work of others")),
            ("/state/trees/made", Access::Write, Some("the work of others")),
            ("/state/trust.json", Access::Write, Some("what guards this run")),
            ("/state/trees/p/x", Access::Write, None),
        ];
        for (path, access, expected) in tries {
            assert_eq!(why(path, access), expected, "{path}");
        }
        // Its home lies in the project, and is its own.
        let home = "/home/ann/p/.chronicle/runs/r/home".to_owned();
        let isolated = Whereabouts { homes: vec![home.clone()], ..place() };
        let file = relative(&format!("{home}/notes"));
        assert!(guards(&file, Access::Write, &isolated).is_none());
        // Where Chronicle keeps copies, names guard nothing; in the copy they do.
        let odd = Whereabouts {
            project: "/x/.config/chronicle/work/r/w1/p".to_owned(),
            own: vec!["/x/.config/chronicle".to_owned()],
            others: vec!["/x/.config/chronicle/work".to_owned()],
            ..place()
        };
        let is = |path: &str| {
            let path = format!("{}/{path}", odd.project);
            guards(&relative(&path), Access::Write, &odd).is_some()
        };
        assert!(!is("src/main.rs") && is(".chronicle/rules.yaml") && is(".config/chronicle/x"));
    }

    #[test]
    fn what_guards_a_run_is_known_by_its_place() {
        let is = |path: &str, access| guards(&relative(path), access, &place()).is_some();
        for path in [
            "/state/trees/p/.chronicle/runs/x/ledger.jsonl",
            "/state/trees/p/.Chronicle",
            "/state/trees/p/.claude/settings.local.json",
            "/state/trees/p/sub/.mcp.json",
            "/state/trees/p/.git/hooks/pre-commit",
            "/state/trees/p/.git/modules/a/b/hooks/post-checkout",
            "/state/trees/p/.git/modules/a/config",
            "/state/trees/p/.git/modules/a/info/attributes",
            "/state/trees/p/.git/worktrees/w/config.worktree",
            "/state/trees/p/opencode.json",
            "/state/trees/p/sub/.cursor/mcp.json",
            "/home/ann/.config/opencode/plugin/x.ts",
            "/home/ann/.pi/damage-control-rules.yaml",
            "/state/other",
            "/conf/config.toml",
        ] {
            assert!(is(path, Access::Write), "{path}");
        }
        for path in [
            "/state/trees/p/src/main.rs",
            "/state/trees/p/.claude/notes.md",
            "/state/trees/p/.git/index.lock",
            "/state/trees/p/.git/modules/a/index.lock",
            "/state/trees/p/.git/modules/hooks/HEAD",
            "/state/trees/p/.cursor/rules/x.mdc",
            "/state/trees/p/.pi/todos/one.md",
            "/state/trees/p/settings.json",
            "/home/ann/x",
        ] {
            assert!(!is(path, Access::Write), "{path}");
            assert!(!is(path, Access::Delete), "{path}");
        }
        for path in ["/state/trees/p", "/state/trees", "/", "/state/trees/p/.claude"] {
            assert!(is(path, Access::Delete), "{path}");
        }
    }

    #[test]
    fn persons_commands_are_known_in_any_wrapping() {
        let person = |words: &[&str]| {
            let words = words.iter().map(|word| Word::Known((*word).to_owned())).collect();
            match person_command(&Run::of(words)) {
                Some(Person::Surely(_)) => "sure",
                Some(Person::Perhaps(_)) => "perhaps",
                None => "no",
            }
        };
        for words in [
            &["chronicle", "approve", "g1"][..],
            &["/usr/local/bin/chronicle", "-C", "x", "answer", "g1", "yes"],
            &["chronicle", "--json", "go", "done"],
            &["chronicle", "brand-new-command"],
            &["pkill", "-f", "chronicle"],
        ] {
            assert_eq!(person(words), "sure", "{words:?}");
        }
        for words in [
            &["tmux", "new", "-d", "chronicle approve g1"][..],
            &["somewrapper", "chronicle", "approve", "g1"],
            &["ssh", "localhost", "cd x && chronicle -C y approve"],
        ] {
            assert_eq!(person(words), "perhaps", "{words:?}");
        }
        for words in [
            &["chronicle", "status", "--json"][..],
            &["chronicle"],
            &["cargo", "test", "-p", "chronicle", "resume"],
            &["git", "commit", "-m", "Let chronicle say more"],
            &["ls", "crates/chronicle"],
        ] {
            assert_eq!(person(words), "no", "{words:?}");
        }
    }
}
