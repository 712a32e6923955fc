//! Commands that run in containers: paths below a folder of this machine that a container is given are those of this machine.

use std::rc::Rc;

use super::handed::is_in;
use super::invoke::Call;
use super::options::{Valued, read};
use super::shells::child;
use super::state::{State, below};
use super::value::{Field, Piece};
use super::walk::Walker;
use super::{CommandFolder, DoubtKind, TouchKind};

/// Options before the word that says what is done which take the next word.
const BEFORE: &str = "H host c context connection config l log-level f file p project-name profile env-file project-directory parallel progress ansi \
    n namespace a address url";
/// Options behind it that take none. All others do.
const FLAGS: &str = "detach interactive tty rm init privileged read-only publish-all no-healthcheck oom-kill-disable sig-proxy disable-content-trust \
    quiet help replace rmi no-hosts env-host http-proxy tls-verify passwd no-deps service-ports build quiet-pull use-aliases \
    remove-orphans no-TTY no-tty";
/// Letters of options that take none.
const LETTERS: &str = "ditPqTh";
/// Where a command runs of which only the container knows that.
const SOMEWHERE: &str = "/.somewhere";
/// What stands before a path of a container that is no path of this machine.
const OWN: &str = "container:";

/// What is known of the container that a command runs in.
#[derive(Debug, PartialEq)]
pub(super) struct Container {
    mounts: Vec<Mount>,
    /// Nothing else of this machine is in it.
    is_closed: bool,
}

/// A folder of this machine in a container.
#[derive(Debug, Clone, PartialEq)]
struct Mount {
    at: String,
    from: String,
    /// Perhaps it is there.
    is_guess: bool,
}

/// A path of a container, as one of this machine.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Placed {
    pub(super) path: Field,
    /// It may well be another one.
    pub(super) is_elsewhere: bool,
}

impl Container {
    /// The path without its place in the container, if it is below a folder that this is given.
    fn mapped(&self, path: &str) -> Option<(String, bool)> {
        let fits = |mount: &&Mount| {
            let rest = path.strip_prefix(mount.at.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let mount = self.mounts.iter().filter(fits).max_by_key(|it| it.at.len())?;
        let rest = path.get(mount.at.trim_end_matches('/').len()..).unwrap_or_default();
        Some((format!("{}{rest}", mount.from.trim_end_matches('/')), mount.is_guess))
    }

    /// The paths of this machine that a whole path of the container means, or holds.
    fn placed(&self, whole: &Field) -> Vec<Placed> {
        let (text, is_glob) = match whole.pieces.first() {
            Some(Piece::Text(text)) => (text, false),
            Some(Piece::Glob(text)) => (text, true),
            _ => return vec![Placed { path: whole.clone(), is_elsewhere: true }],
        };
        let with = |text: String| {
            let mut path = whole.clone();
            path.pieces[0] = if is_glob { Piece::Glob(text) } else { Piece::Text(text) };
            path
        };
        let mut found = Vec::new();
        let clean = cleaned(text);
        match self.mapped(&clean) {
            Some((path, is_elsewhere)) => found.push(Placed { path: with(path), is_elsewhere }),
            None if self.is_closed => {}
            None => found.push(Placed { path: with(format!("{OWN}{text}")), is_elsewhere: true }),
        }
        // Who takes a folder takes what is mounted in it.
        let is_open = whole.pieces.len() > 1 || is_glob;
        let above = if is_open { clean.rsplit_once('/').map_or("", |it| it.0) } else { &clean };
        let above = format!("{}/", above.trim_end_matches('/'));
        for mount in self.mounts.iter().filter(|it| !it.is_guess && it.at.starts_with(&above)) {
            found.push(Placed { path: Field::text(&mount.from), is_elsewhere: false });
        }
        found
    }

    /// Where a path that a program is given in a folder lies.
    pub(super) fn places(&self, path: &Field, folder: &CommandFolder) -> Vec<Placed> {
        if starts(path).starts_with('/') {
            return self.placed(path);
        }
        let CommandFolder::Known(folder) = folder else {
            return vec![Placed { path: path.clone(), is_elsewhere: true }];
        };
        let mut whole = Field::text(&format!("{}/", folder.trim_end_matches('/')));
        whole.extend(path);
        // What is not known may as well begin at the root.
        let is_open = starts(path).is_empty() && !path.is_known();
        if is_open && self.is_closed && self.mounts.is_empty() {
            return Vec::new();
        }
        self.placed(if is_open { path } else { &whole })
    }

    /// A folder of the container as one of this machine.
    pub(super) fn folder(&self, folder: &CommandFolder) -> CommandFolder {
        let CommandFolder::Known(path) = folder else { return CommandFolder::Unknown };
        let mapped = self.mapped(&cleaned(path)).map(|(path, _)| path);
        CommandFolder::Known(mapped.unwrap_or_else(|| format!("{OWN}{path}")))
    }

    /// A word of a command as it would be on this machine.
    pub(super) fn word(&self, word: &Field) -> Field {
        let mut word = word.clone();
        if let Some(Piece::Text(text) | Piece::Glob(text)) = word.pieces.first_mut()
            && text.starts_with('/')
        {
            let mapped = self.mapped(&cleaned(text)).map(|(path, _)| path);
            *text = mapped.unwrap_or_else(|| format!("{OWN}{text}"));
        }
        word
    }

    /// A whole path as one of this machine, from the root on.
    pub(super) fn place(&self, place: &str) -> String {
        let whole = format!("/{place}");
        let mapped = self.mapped(&whole).map(|(path, _)| path);
        mapped.map_or_else(|| format!("{OWN}{place}"), |it| it.trim_matches('/').to_owned())
    }
}

/// What a word begins with, be it a pattern or not.
fn starts(path: &Field) -> &str {
    match path.pieces.first() {
        Some(Piece::Text(text) | Piece::Glob(text)) => text,
        _ => "",
    }
}

/// True for a program that starts containers.
pub(super) fn runs_containers(name: &str) -> bool {
    is_in("docker podman docker-compose podman-compose nerdctl finch container", name)
}

/// A path without `.` and `..`; a slash at its end stays.
fn cleaned(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    let end = if path.ends_with('/') && !names.is_empty() { "/" } else { "" };
    format!("/{}{end}", names.join("/"))
}

/// What a container is told.
#[derive(Default)]
struct Told {
    volumes: Vec<Field>,
    mounts: Vec<Field>,
    folder: Option<Field>,
    entry: Option<Field>,
    /// How many words these options take.
    end: usize,
}

/// Reads the options before the image or the name of a container.
fn told(words: &[Field]) -> Told {
    let mut told = Told::default();
    while let Some(word) = words.get(told.end) {
        let text = word.begins();
        if text == "--" {
            told.end += 1;
            break;
        }
        if text.len() < 2 || !text.starts_with('-') {
            break;
        }
        told.end += 1;
        let next = words.get(told.end).cloned().unwrap_or_default();
        let (option, value) = if let Some(long) = text.strip_prefix("--") {
            match long.split_once('=') {
                Some((name, _)) => (name.to_owned(), word.after(name.len() + 3)),
                None if is_in(FLAGS, long) => continue,
                None => {
                    told.end += 1;
                    (long.to_owned(), next)
                }
            }
        } else {
            let letters = text.trim_start_matches('-');
            let Some(at) = letters.find(|it: char| !LETTERS.contains(it)) else { continue };
            let letter = letters.get(at..).and_then(|it| it.chars().next()).unwrap_or('-');
            let from = 1 + at + letter.len_utf8();
            let is_glued = from < text.len() || !word.is_known();
            told.end += usize::from(!is_glued);
            let skipped = usize::from(text.get(from..).is_some_and(|it| it.starts_with('=')));
            let value = if is_glued { word.after(from + skipped) } else { next };
            (letter.to_string(), value)
        };
        match option.as_str() {
            "v" | "volume" => told.volumes.push(value),
            "mount" => told.mounts.push(value),
            "w" | "workdir" => told.folder = Some(value),
            "entrypoint" => told.entry = Some(value),
            _ => {}
        }
    }
    told
}

/// The folder of this machine, its place in the container, and whether it is only read. Names are volumes.
fn parts_of_volume(text: &str) -> Option<(String, String, bool)> {
    let mut parts = text.split(':');
    let (from, at) = (parts.next()?, parts.next()?);
    let is_path = from.starts_with(['.', '~']) || from.contains('/');
    let is_read = parts.any(|it| it.split(',').any(|it| it == "ro" || it == "readonly"));
    is_path.then(|| (from.to_owned(), at.to_owned(), is_read))
}

/// The same of `type=bind,source=folder,target=place`.
fn parts_of_mount(text: &str) -> Option<(String, String, bool)> {
    let pairs: Vec<(&str, &str)> =
        text.split(',').map(|it| it.split_once('=').unwrap_or((it, "true"))).collect();
    let value = |names: &[&str]| pairs.iter().find(|(name, _)| names.contains(name)).map(|it| it.1);
    let is_read = value(&["ro", "readonly"]).is_some_and(|it| it != "false");
    let (from, at) = (value(&["source", "src"])?, value(&["target", "destination", "dst"])?);
    (value(&["type"]) == Some("bind")).then(|| (from.to_owned(), at.to_owned(), is_read))
}

/// What is done, and the words behind it; whether a service of `compose` is meant.
fn verb<'w>(name: &str, words: &'w [Field]) -> Option<(&'w str, &'w [Field], bool)> {
    let (mut rest, mut is_composed) = (words, name.ends_with("-compose"));
    loop {
        let (_, at) = read(rest, Valued(BEFORE), true);
        let word = rest.get(at)?.known()?;
        rest = rest.get(at + 1..)?;
        match word {
            "compose" => is_composed = true,
            "container" => {}
            "run" | "create" | "exec" => return Some((word, rest, is_composed)),
            _ => return None,
        }
    }
}

impl Walker<'_> {
    /// `docker run -v folder:place image command`, and what runs in a container that is there already.
    pub(super) fn contained_command(
        &mut self,
        name: &str,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        let Some((verb, rest, is_composed)) = verb(name, words) else { return };
        let told = told(rest);
        let rest = rest.get(told.end..).unwrap_or_default();
        let mut mounts = self.mounted(name, &told, state, call);
        let words = rest.get(1..).unwrap_or_default();
        let entry = told.entry.as_slice();
        let command = [entry, words].concat();
        if command.is_empty() {
            return self.read_in_container(state, call);
        }
        let is_closed = verb != "exec" && !is_composed;
        let is_open = command.first().is_some_and(|it| !it.is_known());
        // What it is told are words for a program of its own, which nothing here is given.
        let is_option = command.first().is_some_and(|it| it.begins().starts_with('-'));
        if is_option || is_open && is_closed && mounts.is_empty() {
            return;
        }
        let folder = match told.folder.as_ref().map(Field::known) {
            Some(Some(folder)) => folder.to_owned(),
            Some(None) | None => SOMEWHERE.to_owned(),
        };
        // Most images are made to work where the project is mounted.
        let here =
            if is_closed { mounts.first().map(|it| it.from.as_str()) } else { state.folder() };
        if let Some(here) = here.filter(|_| folder == SOMEWHERE) {
            let (at, from) = (folder.clone(), here.to_owned());
            mounts.push(Mount { at, from, is_guess: true });
        }
        let mut own = child(state);
        own.folders = vec![CommandFolder::Known(folder)];
        own.container = Some(Rc::new(Container { mounts, is_closed }));
        self.start(&command, &own, call);
    }

    /// The folders of this machine that a container is given.
    fn mounted(&mut self, name: &str, told: &Told, state: &State, call: Call<'_>) -> Vec<Mount> {
        let volumes = told.volumes.iter().map(|it| (it, it.known().and_then(parts_of_volume)));
        let mounts = told.mounts.iter().map(|it| (it, it.known().and_then(parts_of_mount)));
        let mut found = Vec::new();
        for (value, parts) in volumes.chain(mounts) {
            if value.begins().is_empty() && !value.is_known() {
                let why = "which folder a container gets is not known";
                self.doubt(DoubtKind::Option, why, call.span);
            }
            let Some((from, at, is_read)) = parts else { continue };
            let kind = if is_read { TouchKind::Read } else { TouchKind::Likely };
            self.touch(kind, &Field::text(&from), state, name, call.span);
            let from = state.folder().map_or_else(|| from.clone(), |it| below(it, &from));
            found.push(Mount { at: cleaned(&at), from, is_guess: false });
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_container_are_found_on_this_machine() {
        let mount =
            |at: &str, from: &str| Mount { at: at.into(), from: from.into(), is_guess: false };
        let mounts = vec![mount("/w", "/p"), mount("/w/x", "/q")];
        let container = Container { mounts, is_closed: true };
        let paths = |path: &str| -> Vec<String> {
            let found = container.places(&Field::text(path), &CommandFolder::Known("/w".into()));
            found.iter().filter_map(|it| Some(it.path.known()?.to_owned())).collect()
        };
        assert_eq!(paths("/w/a"), ["/p/a"]);
        assert_eq!(paths("a"), ["/p/a"]);
        assert_eq!(paths("../w/x/a"), ["/q/a"]);
        assert_eq!(paths("/tmp/a"), [""; 0]);
        assert_eq!(paths("/"), ["/p", "/q"]);
        assert_eq!(paths("."), ["/p", "/q"]);
    }

    #[test]
    fn volumes_by_their_names_are_no_folders() {
        assert_eq!(parts_of_volume("./a:/b:ro"), Some(("./a".into(), "/b".into(), true)));
        assert_eq!(parts_of_volume("data:/b"), None);
        let bind = "type=bind,src=/a,dst=/b";
        assert_eq!(parts_of_mount(bind), Some(("/a".into(), "/b".into(), false)));
        assert_eq!(parts_of_mount("type=volume,src=a,dst=/b"), None);
    }
}
