//! Takes over what the reader of commands found, in the words of the judge, and adds what the text shows beside it.

use super::acts::{
    self, CommandFolder, CommandWord, DoubtKind, ProgramRun, TouchKind, is_pruned, sieve_of_find,
};
use super::facts::{Access, Acts, Code, Extent, Folder, Run, Touch, Unclear, UnclearKind, Word};
use super::fed::fed;
use super::given::code_of;
use super::links::makes_links;
use super::quotes::Marked;

/// Shells that take a text after `-c`.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];
/// Programs that only read what they are given, whatever options they get.
const READERS: [&str; 12] = [
    "grep",
    "egrep",
    "fgrep",
    "wc",
    "cat",
    "head",
    "tail",
    "ls",
    "stat",
    "file",
    "md5sum",
    "sha256sum",
];

/// The acts of a command.
pub(super) fn taken(command: &str, found: &acts::Acts) -> Acts {
    let marked = Marked::new(command);
    let runs: Vec<Run> = found.runs.iter().map(run).collect();
    let mut texts = vec![command.to_owned()];
    texts.extend(runs.iter().filter_map(shell_text));
    let (mut code, mut unclear) = (Vec::new(), Vec::new());
    for doubt in &found.unknown {
        let is_harmless = doubt.kind == DoubtKind::Option
            && READERS
                .iter()
                .any(|name| doubt.why.starts_with(&format!("an argument of `{name}`")));
        let here = command.get(doubt.span.start..doubt.span.end).unwrap_or_default();
        if is_harmless
            || doubt.kind == DoubtKind::Search && (is_usual_path(here) || is_own_code(here))
        {
            continue;
        }
        // A program whose text is there is looked at by itself.
        if let Some(given) = code_of(doubt, &found.runs, command, &marked) {
            code.push(given);
            continue;
        }
        unclear.push(Unclear { kind: unclear_kind(doubt.kind), why: doubt.why.clone() });
    }
    for script in &found.scripts {
        let (by, text) = (script.by.clone(), script.text.clone());
        if SHELLS.contains(&by.as_str()) {
            texts.push(text);
        } else {
            let folders = script.folders.iter().map(folder).collect();
            code.push(Code { by, text, folders });
        }
    }
    let finds: Vec<&ProgramRun> = found.runs.iter().filter(|run| run.program == "find").collect();
    let mut touches: Vec<Touch> = found.touches.iter().map(|found| touch(found, &finds)).collect();
    touches.extend(finds.iter().flat_map(|find| named(find, &found.touches)));
    let mut deep = found.deep.clone();
    deep.extend(finds.iter().flat_map(|find| deep_of_find(find, &found.touches)));
    let patches = found.patches.clone();
    let fed = fed(command, &found.runs, &marked);
    let links = found.runs.iter().map(|it| (folder(&it.folder), run(it)));
    let links = links.filter(|(_, run)| makes_links(run)).collect();
    // What a script does that it writes and runs has the place of the command that runs it.
    let fetches = found.runs.iter().any(|run| {
        let here = command.get(run.span.start..run.span.end).unwrap_or(command);
        let is_here = here.contains('$') || here.contains(&run.program);
        let is_of_script = found.scripts.iter().any(|it| it.text.contains(&run.program));
        ["curl", "wget", "fetch"].contains(&run.program.as_str()) && (is_here || !is_of_script)
    });
    Acts { runs, touches, deep, patches, unclear, code, fed, texts, links, fetches }
}

/// True if a text has a language look for parts in folders of the project, which it runs anyway.
fn is_own_code(text: &str) -> bool {
    let names = ["PYTHONPATH", "NODE_PATH", "LD_LIBRARY_PATH"];
    let text = text.strip_prefix("export ").map_or(text, str::trim);
    let found = text.split_once('=').filter(|(name, _)| names.contains(name));
    let Some((name, value)) = found else { return false };
    // What it was before.
    let value = value.replace(&format!("${{{name}:-}}"), "").replace(&format!("${{{name}}}"), "");
    let before = format!("${name}");
    let is_own = |part: &str| {
        if part == before {
            return true;
        }
        let rest = ["$PWD", "${PWD}", "$(pwd)", "."].iter().find_map(|it| part.strip_prefix(it));
        let rest = rest.unwrap_or(part);
        let is_plain = rest.chars().all(|it| it.is_alphanumeric() || "_-./".contains(it));
        let is_below = rest.is_empty() || rest.starts_with('/') != (rest == part);
        is_plain && is_below && !part.contains("..")
    };
    value.trim_matches(['"', '\'']).split(':').filter(|part| !part.is_empty()).all(is_own)
}

/// True if a text sets `PATH` to where installers of languages put their programs, and to what it was.
fn is_usual_path(text: &str) -> bool {
    let Some((before, rest)) = text.split_once("PATH=") else { return false };
    let is_env = before.starts_with("env ") && before.ends_with(' ');
    // What follows in a whole command is not of it.
    let quote = rest.chars().next().filter(|it| ['"', '\''].contains(it) && is_env);
    let value = match quote {
        Some(quote) => rest[1..].split(quote).next().unwrap_or_default(),
        None if is_env => rest.split_whitespace().next().unwrap_or_default(),
        None => rest,
    };
    let value = value.trim().trim_matches(['"', '\'']);
    let is_alone = before.is_empty() || before.trim() == "export" || is_env;
    let is_usual = |part: &str| {
        let home = ["$HOME/", "${HOME}/", "~/"].iter().find_map(|home| part.strip_prefix(home));
        let own = [
            ".cargo/bin",
            ".local/bin",
            ".bun/bin",
            ".deno/bin",
            "go/bin",
            ".npm-global/bin",
            ".pyenv/bin",
        ];
        let system = [
            "$PATH",
            "${PATH}",
            "/usr/local/bin",
            "/usr/local/go/bin",
            "/opt/homebrew/bin",
            "/usr/bin",
            "/bin",
            "/usr/sbin",
            "/sbin",
        ];
        // What the project's own tools are installed to.
        let local = ["$PWD/", "${PWD}/", "./", "$(pwd)/", ""].iter().any(|start| {
            let rest = part.strip_prefix(start).unwrap_or(part);
            ["node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin"].contains(&rest)
        });
        // Where a tool says that it is installed, and where systems install them.
        let told = [
            "$(go env GOPATH)/bin",
            "$(go env GOROOT)/bin",
            "$(npm bin)",
            "$(npm prefix -g)/bin",
            "$(brew --prefix)/bin",
            "$(yarn global bin)",
            "$(python3 -m site --user-base)/bin",
        ];
        let is_name = |it: char| it.is_ascii_alphanumeric() || "_-.@/".contains(it);
        let is_installed = ["/opt/", "/usr/lib/", "/usr/local/"].iter().any(|start| {
            let rest = part.strip_prefix(start).and_then(|rest| rest.strip_suffix("/bin"));
            rest.is_some_and(|rest| rest.chars().all(is_name) && !rest.contains(".."))
        });
        local
            || is_installed
            || told.contains(&part)
            || system.contains(&part)
            || home.is_some_and(|rest| own.contains(&rest))
    };
    is_alone && value.split(':').all(is_usual)
}

fn run(found: &ProgramRun) -> Run {
    Run { words: found.words.iter().map(word).collect(), sets: found.sets.clone() }
}

pub(super) fn folder(found: &CommandFolder) -> Folder {
    match found {
        CommandFolder::Known(folder) => Folder::Known(folder.clone()),
        CommandFolder::Unknown => Folder::Unknown,
    }
}

fn touch(found: &acts::Touch, finds: &[&ProgramRun]) -> Touch {
    let access = access(found.kind);
    let folder = folder(&found.folder);
    // `find` and what it starts are at the same place.
    let is_picked = finds.iter().any(|find| find.span == found.span && is_picky(find));
    let is_some = is_picked || found.is_within || found.by == "git";
    let is_named = folder == Folder::Unknown
        && matches!(&found.path, CommandWord::Glob(path) if path.starts_with("**/"));
    let extent = match (is_named, is_some) {
        (true, _) => Extent::Named,
        (false, true) => Extent::Some,
        (false, false) => Extent::All,
    };
    let path = word(&found.path);
    let (put, made_of) = (found.put.clone(), found.made_of.clone());
    Touch { access, path, folder, by: found.by.clone(), extent, put, made_of }
}

pub(super) fn access(kind: TouchKind) -> Access {
    match kind {
        TouchKind::Read => Access::Read,
        TouchKind::List => Access::List,
        TouchKind::Write => Access::Write,
        TouchKind::Delete => Access::Delete,
        TouchKind::Meta => Access::Meta,
        TouchKind::Maybe => Access::Maybe,
        TouchKind::Likely => Access::Likely,
    }
}

fn word(found: &CommandWord) -> Word {
    match found {
        CommandWord::Known(text) => Word::Known(text.clone()),
        CommandWord::Glob(text) => Word::Glob(text.clone()),
        CommandWord::Unknown { begins, is_name } => {
            Word::Unknown { begins: begins.clone(), is_name: *is_name }
        }
    }
}

fn unclear_kind(kind: DoubtKind) -> UnclearKind {
    match kind {
        DoubtKind::Code => UnclearKind::Code,
        DoubtKind::Folder => UnclearKind::Folder,
        DoubtKind::Command
        | DoubtKind::Option
        | DoubtKind::Variable
        | DoubtKind::Search
        | DoubtKind::Number => UnclearKind::Command,
        DoubtKind::Text | DoubtKind::Unread | DoubtKind::TooLarge => UnclearKind::Text,
    }
}

/// The text that a shell is told to run.
fn shell_text(run: &Run) -> Option<String> {
    if run.program() == "eval" {
        let words: Vec<&str> = run.known().collect();
        return Some(words.join(" "));
    }
    if !SHELLS.contains(&run.program()) {
        return None;
    }
    let mut words = run.known();
    words.find(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('c'))?;
    words.find(|word| !word.starts_with('-')).map(str::to_owned)
}

/// Tests of `find` by which it picks some files by their names.
const NAME_TESTS: [&str; 8] =
    ["-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex"];

/// The names that a `find` looks for, and whether each is wanted.
fn looked_for(find: &ProgramRun) -> Vec<(&str, bool)> {
    let words: Vec<&str> = find.words.iter().map(|word| word.known().unwrap_or("")).collect();
    let mut found = Vec::new();
    for (at, pair) in words.windows(2).enumerate() {
        if let [test, name] = pair
            && NAME_TESTS.contains(test)
        {
            let before = at.checked_sub(1).and_then(|at| words.get(at));
            let is_pruned = is_pruned(words.get(at + 2..).unwrap_or_default());
            let is_left_out = matches!(before, Some(&"!" | &"-not")) || is_pruned;
            found.push((*name, !is_left_out));
        }
    }
    found
}

/// True if every way through its tests picks files by a name that says something.
fn is_picky(find: &ProgramRun) -> bool {
    let is_telling = |name: &str| name.chars().any(char::is_alphanumeric);
    let wanted =
        looked_for(find).iter().filter(|(name, wanted)| *wanted && is_telling(name)).count();
    let is_or = |word: &CommandWord| matches!(word.known(), Some("-o" | "-or" | ","));
    // What stands before `-prune -o` goes round something, unless it is done something to there.
    let is_round = |pair: &[CommandWord]| pair[0].known() == Some("-prune") && is_or(&pair[1]);
    let acts = |word: &CommandWord| {
        word.known()
            .is_some_and(|it| it == "-delete" || it.starts_with("-exec") || it.starts_with("-ok"))
    };
    let start = find.words.windows(2).rposition(is_round).map_or(0, |at| at + 2);
    let (before, after) = find.words.split_at(start);
    let tests = if before.iter().any(acts) { find.words.as_slice() } else { after };
    let ors = tests.iter().filter(|word| is_or(word)).count();
    // What is empty is no loss.
    let is_empty = find.words.iter().any(|word| word.known() == Some("-empty"));
    wanted > ors || is_empty && ors == 0
}

/// What a `find` finds below its roots, where something is done to it.
fn deep_of_find<'f>(
    find: &'f ProgramRun,
    touches: &'f [acts::Touch],
) -> impl Iterator<Item = acts::DeepTouch> + 'f {
    let words: Vec<&str> = find.words.iter().map(|word| word.known().unwrap_or("")).collect();
    let sieve = sieve_of_find(&words, is_picky(find));
    // A folder is changed by what is done to it, and that is looked at by itself.
    let is_of_folders = words.windows(2).any(|pair| pair[0] == "-type" && pair[1] == "d");
    let is_used = move |touch: &&acts::Touch| {
        let uses = !matches!(touch.kind, TouchKind::List | TouchKind::Maybe);
        touch.span == find.span && uses && !(is_of_folders && touch.kind != TouchKind::Read)
    };
    touches.iter().filter(is_used).filter_map(move |touch| {
        let root = match &touch.path {
            // What is handed over is anything below a root.
            CommandWord::Glob(path) => path.strip_suffix("/**")?,
            CommandWord::Known(root) if touch.by == "find" => root,
            CommandWord::Known(_) | CommandWord::Unknown { .. } => return None,
        };
        let root = if root.is_empty() { "/" } else { root };
        let (folder, by) = (touch.folder.clone(), touch.by.clone());
        let path = CommandWord::Known(root.to_owned());
        Some(acts::DeepTouch { kind: touch.kind, path, folder, to: None, sieve: sieve.clone(), by })
    })
}

/// Whatever has a name that a `find` looks for, wherever it is: it does the same to it as to what lies below its roots.
fn named<'f>(find: &'f ProgramRun, touches: &'f [acts::Touch]) -> impl Iterator<Item = Touch> + 'f {
    let here = touches.iter().filter(|touch| touch.span == find.span);
    let most = here.map(|touch| access(touch.kind)).max().unwrap_or(Access::List);
    let names = looked_for(find).into_iter().filter(|(_, wanted)| *wanted);
    // In a pattern of paths `*` goes over folders too.
    let names = names.flat_map(|(name, _)| [name.to_owned(), name.replace('*', "/")]);
    names.map(move |name| Touch {
        access: most,
        path: Word::Glob(name),
        folder: Folder::Unknown,
        by: "find".to_owned(),
        extent: Extent::Named,
        put: acts::Put::default(),
        made_of: None,
    })
}
