//! Finds out what a call would run and touch, from the call alone.

use std::collections::BTreeSet;

use serde_json::Value;

use super::acts::{self, Put, PutWhat, ShellSetting};
use super::code;
use super::commanded::commanded;
use super::facts::{
    Access, Acts, AskedCall, Code, Extent, Folder, Looked, Reach, Touch, Unclear, UnclearKind,
    Whereabouts, Word,
};
use super::links::through_links;
use super::made::MadeOf;
use super::patch_forms;
use super::paths::joined;
use super::repositories;
use super::sieve::{KnownToGit, Sieve};
use super::taken::taken;
use super::texts::untold;
use crate::base::tools::{
    Finding, ToolKind, file_address, found_in, looks_like_a_path, usual_kind,
};

/// Most runs of a command whose words are looked at one by one.
const RUNS_MAX: usize = 100;
/// Deepest nesting of code and commands that start each other.
const CODE_DEPTH_MAX: usize = 3;
/// Longest command that is looked at, in bytes.
const COMMAND_MAX: usize = 256 * 1024;

/// What a call would run and touch.
pub fn look(call: &AskedCall<'_>, place: &Whereabouts) -> Looked {
    let kind = known_kind(call);
    let mut looked = Looked::default();
    let folder = start_folder(kind, call.input, place);
    let mut found = found_in(call.tool, kind, call.input);
    if patch_forms::takes_patches(call.tool) {
        found.extend(patch_forms::named_in(call.input));
        // What cannot be read as a patch may change anything.
        let is_changed = |it: &Finding| matches!(it, Finding::Written(_) | Finding::Removed(_));
        let is_read = found.iter().any(is_changed) || patch_forms::names_a_file(call.input);
        looked.is_partial |= !is_read;
    }
    if kind == ToolKind::Search && access_of(call.tool, kind) == Access::Read {
        searched(&found, call.tool, place, &mut looked);
    }
    for found in found {
        let is_removed = matches!(found, Finding::Removed(_));
        match found {
            Finding::Command(text) => {
                let acts = read(&text, &folder, place);
                reaches_of(&acts, &folder, place, &mut looked.reaches);
                looked.is_partial |= through_links(&acts, &folder, place, &mut looked.reaches);
                looked.below(&acts, &folder, place);
                looked.below_by_code(&acts, &folder, place);
                started_by_code(&acts, &folder, place, &mut looked, CODE_DEPTH_MAX);
                emptied(&text, &acts, &folder, place, &mut looked);
                looked.acts.push(acts);
            }
            Finding::Path(path) => {
                for path in as_tools_read(&path) {
                    let reach =
                        Reach::of(access_of(call.tool, kind), path, Some(""), place, call.tool);
                    looked.reaches.push(reach);
                }
            }
            Finding::Written(path) | Finding::Removed(path) => {
                let access = if is_removed { Access::Delete } else { Access::Write };
                for path in as_tools_read(&path) {
                    let reach = Reach::of(access, path, Some(""), place, call.tool);
                    looked.reaches.push(reach);
                }
            }
            Finding::Code { language, text } => {
                let acts = read_code(&language, &text, &folder, place);
                reaches_of(&acts, &folder, place, &mut looked.reaches);
                looked.below_by_code(&acts, &folder, place);
                started_by_code(&acts, &folder, place, &mut looked, CODE_DEPTH_MAX);
                looked.acts.push(acts);
            }
            Finding::Glob(glob) => {
                // What it picks is found below where it begins, which is a path by itself.
                let from =
                    if glob.starts_with(['/', '~']) { joined(&glob, None, place) } else { None };
                let path = Word::Glob(from.unwrap_or(glob));
                let access = access_of(call.tool, kind);
                let reach = Reach::of(access, path, None, place, call.tool);
                looked.reaches.push(Reach { whole: None, extent: Extent::Named, ..reach });
            }
            Finding::Perhaps(path) => {
                let path = Word::Known(path);
                let reach = Reach::of(Access::Maybe, path, Some(""), place, call.tool);
                looked.reaches.push(Reach { is_guess: true, ..reach });
            }
            Finding::MayRun(text) => may_run(&text, &folder, place, call.tool, &mut looked),
            Finding::Hidden => looked.is_partial = true,
        }
    }
    looked
}

/// What code of a command starts that is all in its text.
fn started_by_code(
    acts: &Acts,
    start: &str,
    place: &Whereabouts,
    looked: &mut Looked,
    depth: usize,
) {
    for code in &acts.code {
        let Some(found) = commanded(&code.by, &code.text) else { continue };
        if depth == 0 {
            looked.is_partial = true;
            return;
        }
        for folder in &code.folders {
            let folder = folder.from(start).unwrap_or_else(|| start.to_owned());
            for text in &found.commands {
                let acts = read(text, &folder, place);
                reaches_of(&acts, &folder, place, &mut looked.reaches);
                looked.is_partial |= through_links(&acts, &folder, place, &mut looked.reaches);
                looked.below(&acts, &folder, place);
                looked.below_by_code(&acts, &folder, place);
                started_by_code(&acts, &folder, place, looked, depth - 1);
                looked.acts.push(acts);
            }
        }
    }
}

/// What a command would do if the variables that it does not set were empty: nobody knows that they are not.
fn emptied(text: &str, acts: &Acts, folder: &str, place: &Whereabouts, looked: &mut Looked) {
    if !text.contains(['$', '`', '~']) || text.len() > COMMAND_MAX {
        return;
    }
    let emptied = read_by(acts::acts_emptied, text, folder, place);
    let mut reaches = Vec::new();
    if emptied.touches != acts.touches {
        reaches_of(&emptied, folder, place, &mut reaches);
    }
    let is_new = |reach: &Reach| !looked.reaches.contains(reach);
    let reaches: Vec<Reach> = reaches.into_iter().filter(is_new).filter_map(maybe).collect();
    looked.reaches.extend(reaches);
    let runs = emptied.runs.into_iter().filter(|run| !acts.runs.contains(run));
    looked.emptied.extend(runs);
}

/// What may be done to a path that something is surely done to if a guess is right.
fn maybe(reach: Reach) -> Option<Reach> {
    let access = match reach.access {
        Access::Read => Access::Maybe,
        Access::Meta | Access::Write | Access::Delete => Access::Likely,
        Access::List | Access::Maybe | Access::Likely => return None,
    };
    let is_used = !reach.is_guess && reach.whole.is_some();
    is_used.then_some(Reach { access, is_guess: true, extent: Extent::All, ..reach })
}

/// What may be done to a path if a text is a command. What would be removed counts as such, and a person is asked.
fn perhaps_done(reach: Reach) -> Option<Reach> {
    let is_used = !reach.is_guess && reach.whole.is_some();
    if reach.access != Access::Delete || !is_used {
        return maybe(reach);
    }
    let put = Put { is_elsewhere: true, ..reach.put.clone() };
    Some(Reach { is_guess: true, put, ..reach })
}

/// A text that may be a command, or only words: what is surely done to paths if it is one may be done.
fn may_run(text: &str, folder: &str, place: &Whereabouts, tool: &str, looked: &mut Looked) {
    let acts = read(text, folder, place);
    let mut reaches = Vec::new();
    reaches_of(&acts, folder, place, &mut reaches);
    let used = reaches.into_iter().filter_map(perhaps_done);
    looked.reaches.extend(used.map(|reach| Reach { by: tool.to_owned(), ..reach }));
    looked.perhaps.push(acts);
}

/// What a tool searches: all below the folders that it is given, or below where the worker is. The agents' own tools look at hidden
/// files, and leave out what git ignores.
fn searched(found: &[Finding], tool: &str, place: &Whereabouts, looked: &mut Looked) {
    let mut sieve = Sieve::of(KnownToGit::NotIgnored);
    let mut paths = Vec::new();
    for found in found {
        match found {
            Finding::Path(path) => paths.extend(joined(path, Some(""), place)),
            Finding::Glob(glob) => sieve.glob(glob),
            Finding::Written(_)
            | Finding::Removed(_)
            | Finding::Code { .. }
            | Finding::Command(_)
            | Finding::Perhaps(_)
            | Finding::MayRun(_)
            | Finding::Hidden => {}
        }
    }
    if paths.is_empty() {
        paths.push(place.folder.clone());
    }
    for path in paths {
        looked.searched(&path, &sieve, tool);
    }
}

/// What is known of the tool: what its adapter says, otherwise what tools of that name do everywhere.
pub(super) fn known_kind(call: &AskedCall<'_>) -> ToolKind {
    if call.kind.is_unknown() { usual_kind(call.tool) } else { call.kind }
}

/// A path as the tools of agents may read it: Pi leaves out an `@` before it, and others the blanks around it.
fn as_tools_read(path: &str) -> Vec<Word> {
    let mut all: Vec<&str> = Vec::new();
    let trimmed = path.trim();
    let plain = [path.strip_prefix('@'), trimmed.strip_prefix('@').map(str::trim)];
    for path in [Some(path), Some(trimmed)].into_iter().chain(plain).flatten() {
        if !(path.is_empty() && !all.is_empty() || all.contains(&path)) {
            all.push(path);
        }
    }
    all.into_iter().map(|path| Word::Known(path.to_owned())).collect()
}

/// Tools that search by names alone, in lower case. Every other one shows what it finds in files.
const LISTERS: [&str; 5] = ["glob", "find", "ls", "list", "list_directory"];

fn access_of(tool: &str, kind: ToolKind) -> Access {
    match kind {
        ToolKind::Search if !LISTERS.iter().any(|name| name.eq_ignore_ascii_case(tool)) => {
            Access::Read
        }
        ToolKind::Read | ToolKind::Fetch => Access::Read,
        ToolKind::Search | ToolKind::Run => Access::List,
        ToolKind::Delete => Access::Delete,
        // Only its name says what it does.
        ToolKind::Mcp if says_that_it_reads(tool) => Access::Read,
        // What nobody knows may do anything.
        ToolKind::Write | ToolKind::Edit | ToolKind::Mcp | ToolKind::Unknown => Access::Write,
        ToolKind::Agent | ToolKind::Other => Access::Maybe,
    }
}

/// True if a tool of a server is called by what it looks at.
fn says_that_it_reads(tool: &str) -> bool {
    const WORDS: [&str; 14] = [
        "read", "get", "list", "search", "find", "view", "show", "grep", "stat", "tree",
        "describe", "query", "diff", "info",
    ];
    let own = tool.rsplit("__").next().unwrap_or(tool).to_ascii_lowercase();
    let mut parts = own.split(['_', '-', '.']);
    parts.next().is_some_and(|first| WORDS.iter().any(|word| first.starts_with(word)))
}

/// Where the commands of a call start: where its input says, otherwise where the worker is.
fn start_folder(kind: ToolKind, input: &Value, place: &Whereabouts) -> String {
    const FIELDS: [&str; 8] = [
        "cwd",
        "workdir",
        "working_dir",
        "workingDir",
        "working_directory",
        "workingDirectory",
        "directory",
        "dir",
    ];
    let may_run = matches!(kind, ToolKind::Run | ToolKind::Mcp | ToolKind::Unknown);
    let said = FIELDS.iter().filter(|_| may_run).find_map(|field| input.get(field)?.as_str());
    let folder = said.filter(|it| !it.is_empty()).and_then(|it| joined(it, Some(""), place));
    folder.unwrap_or_else(|| place.folder.clone())
}

/// Every path of a command: those that it names, and those in programs that it hands to an interpreter.
fn reaches_of(acts: &Acts, start: &str, place: &Whereabouts, reaches: &mut Vec<Reach>) {
    for touch in &acts.touches {
        let folder = touch.folder.from(start);
        let path = touch.path.clone();
        let reach = Reach::of(touch.access, path, folder.as_deref(), place, &touch.by);
        let extent = touch.extent;
        let is_guess = extent == Extent::Named && is_end(&reach);
        let whole = reach.whole.filter(|_| extent != Extent::Named);
        let put = put_at(&touch.put, folder.as_deref(), place);
        let made_of = touch.made_of.as_ref();
        let made_of = made_of.and_then(|name| MadeOf::new(name, folder.as_deref()?, place));
        let reach = Reach { whole, is_guess, extent, put, made_of, ..reach };
        if !reaches.contains(&reach) {
            reaches.push(reach);
        }
    }
    // An address of a file is a path for whoever is given it.
    let words = acts.runs.iter().flat_map(|run| run.known().map(|word| (run.program(), word)));
    for (program, path) in words.filter_map(|(by, word)| Some((by, file_address(word)?))) {
        reaches.push(Reach::of(Access::Read, Word::Known(path), None, place, program));
    }
    let told: BTreeSet<(&str, &str)> = acts.touches.iter().filter_map(told_path).collect();
    // Whatever else looks like a path: the reader may not know each option of each program.
    for run in acts.runs.iter().take(RUNS_MAX) {
        let words = untold(run).filter(|word| looks_like_a_path(word));
        for word in words.filter(|word| !told.contains(&(run.program(), *word))) {
            let path = joined(word, None, place).unwrap_or_else(|| word.to_owned());
            let reach = Reach::of(Access::Maybe, Word::Known(path), None, place, run.program());
            let reach = Reach { whole: None, is_guess: true, extent: Extent::Named, ..reach };
            if !reaches.contains(&reach) {
                reaches.push(reach);
            }
        }
    }
    for code in &acts.code {
        reaches_of_code(acts, code, start, place, reaches);
    }
}

/// The paths in a program, from each folder that it may run in, and those that it is given.
fn reaches_of_code(
    acts: &Acts,
    code: &Code,
    start: &str,
    place: &Whereabouts,
    reaches: &mut Vec<Reach>,
) {
    let seen = code::look(&code.by, &code.text);
    let own = seen.paths.iter().map(|path| (seen.access, path));
    let all = own.chain(seen.assembled.iter().map(|path| (Access::Likely, path)));
    let all: Vec<(Access, &String)> = all.collect();
    for folder in &code.folders {
        // Where nobody knows that, most paths still begin where the command does.
        let folder = folder.from(start).unwrap_or_else(|| start.to_owned());
        for (access, path) in &all {
            let path = Word::Known((*path).clone());
            let reach = Reach::of(*access, path, Some(&folder), place, &code.by);
            reaches.push(Reach { is_guess: true, ..reach });
        }
    }
    if seen.access.changes() && code::uses_arguments(&code.text) {
        given_to_code(acts, &code.by, start, place, reaches);
    }
}

/// True for the end of a path of which nobody knows where it begins.
fn is_end(reach: &Reach) -> bool {
    let names = match &reach.path {
        Word::Glob(path) => path.strip_prefix("**/"),
        Word::Known(_) | Word::Unknown { .. } => None,
    };
    reach.access == Access::Maybe && names.is_some_and(|names| names.contains('/'))
}

/// What comes to lie somewhere, by absolute paths. Where these are not known, anything may.
fn put_at(put: &Put, folder: Option<&str>, place: &Whereabouts) -> Put {
    let whole = |path: &String| joined(path, folder, place);
    let what = match &put.what {
        PutWhat::Same(source) => whole(source).map_or(PutWhat::Anything, PutWhat::Same),
        PutWhat::Anything => PutWhat::Anything,
        PutWhat::File => PutWhat::File,
    };
    let (inside, is_made) = (put.inside.as_ref().and_then(whole), put.is_made);
    Put { inside, what, is_made, behind: None, is_elsewhere: put.is_elsewhere }
}

/// Words that code is given which changes files: it most likely changes those that they name.
fn given_to_code(
    acts: &Acts,
    interpreter: &str,
    start: &str,
    place: &Whereabouts,
    reaches: &mut Vec<Reach>,
) {
    let is_given = |touch: &&Touch| touch.access == Access::Maybe && touch.by == interpreter;
    for touch in acts.touches.iter().filter(is_given) {
        let (path, folder) = (touch.path.clone(), touch.folder.from(start));
        reaches.push(Reach::of(Access::Likely, path, folder.as_deref(), place, interpreter));
    }
}

/// A path that the reader knows, with the program that uses it.
fn told_path(touch: &Touch) -> Option<(&str, &str)> {
    match &touch.path {
        Word::Known(path) => Some((&touch.by, path)),
        Word::Glob(_) | Word::Unknown { .. } => None,
    }
}

/// What code in a language would do.
fn read_code(language: &str, text: &str, folder: &str, place: &Whereabouts) -> Acts {
    let interpreter = match language {
        "bash" | "sh" | "shell" | "zsh" | "dash" | "ksh" | "posix" | "shellscript" => {
            return read(text, folder, place);
        }
        "sql" | "postgres" | "postgresql" | "mysql" | "sqlite" => "psql",
        "javascript" | "js" | "typescript" | "ts" | "jsx" | "tsx" | "nodejs" | "node" => "node",
        "py" | "python3" => "python",
        "rb" => "ruby",
        "" => "code",
        other => other,
    };
    let (by, text_of) = (interpreter.to_owned(), text.to_owned());
    let code = vec![Code { by, text: text_of, folders: vec![Folder::Start] }];
    if language.is_empty() {
        // It may be that of a shell too. What cannot be read so is no doubt: it is most likely another one.
        let unclear = Vec::new();
        return Acts { unclear, code, ..read(text, folder, place) };
    }
    let has_own_words = ["powershell", "pwsh", "fish", "applescript", "batch", "cmd"];
    let is_shell = has_own_words.contains(&interpreter);
    let why = format!("`{interpreter}` has a language of its own");
    let unclear = is_shell.then_some(Unclear { kind: UnclearKind::Code, why });
    Acts { unclear: unclear.into_iter().collect(), code, ..Acts::default() }
}

/// What a command would do.
fn read(command: &str, folder: &str, place: &Whereabouts) -> Acts {
    read_by(acts::acts, command, folder, place)
}

fn read_by(
    reader: fn(&str, ShellSetting<'_>) -> acts::Acts,
    command: &str,
    folder: &str,
    place: &Whereabouts,
) -> Acts {
    if command.len() > COMMAND_MAX {
        let why = "it is too large to be looked at".to_owned();
        let unclear = vec![Unclear { kind: UnclearKind::Text, why }];
        return Acts { unclear, texts: vec![command.to_owned()], ..Acts::default() };
    }
    let home = place.homes.first().map(String::as_str);
    let setting = ShellSetting { folder: Some(folder), home, project: Some(&place.project) };
    let found = reader(command, setting);
    let mut acts = taken(command, &found);
    if !place.origin.is_empty() {
        acts.touches.extend(repositories::changed(&found));
    }
    acts
}
